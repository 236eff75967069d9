/* SPDX-License-Identifier: Apache-2.0
 *
 * What ran where and when, from C: operations of engines, launches of compiled
 * programs, copies, waits and memory, as a trace for chrome://tracing and
 * Perfetto and as a table.
 *
 *   DlcProfiler profiler;
 *   dlcProfilerCreate(0, &profiler);
 *   options.profiler = profiler;                  DlcEngineOptions
 *   dlcStorageSetProfiler(storage, profiler);
 *   dlcExecutionSetProfiler(execution, profiler);
 *   ... run, and wait for what ran ...
 *   dlcProfilerWriteTrace(profiler, "trace.json");
 *
 * The event of an engine's operation is the run of its function. What an
 * asynchronous one started goes on behind that and can be added with
 * dlcProfilerAdd; a skipped one has no event. Counters of storage are those of
 * the blocks that it gave out, without arrays over memory of others.
 *
 * Whoever has no profiler pays one branch and reads no clock. A profiler may be
 * destroyed before those that tell it. In the child of a fork it keeps nothing
 * and has nothing; functions that would use it, also those of other headers
 * that are given it, refuse there (DLC_UNAVAILABLE).
 *
 * Errors of every function that returns a status: DLC_INVALID_ARGUMENT (a null
 * handle or place, a value out of range).
 */

#ifndef DLC_C_PROFILER_H
#define DLC_C_PROFILER_H

#include "dlc-c/Engine.h"

/*===-- Recording: by any thread ------------------------------------------===*/

/* Keeps at most `capacity` events, and as many figures of memory; 0: 65536.
 * Later ones are counted, not kept. Recording. Errors: DLC_OUT_OF_MEMORY.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcProfilerCreate(size_t capacity, DlcProfiler *profiler);

/* Ends the handle; null is ignored. Since 0.1 (unstable) */
DLC_API void dlcProfilerDestroy(DlcProfiler profiler);

/* From now on nothing is kept. Since 0.1 (unstable) */
DLC_API DlcStatus dlcProfilerStop(DlcProfiler profiler);

/* Keeps what begins from now on. Since 0.1 (unstable) */
DLC_API DlcStatus dlcProfilerStart(DlcProfiler profiler);

typedef enum DlcProfileKind {
  DLC_PROFILE_OPERATION = 0,
  DLC_PROFILE_LAUNCH = 1,
  DLC_PROFILE_COPY = 2,
  DLC_PROFILE_WAIT = 3,
  DLC_PROFILE_KIND_LIMIT = 0x7fffffff
} DlcProfileKind;

/* A span of time of the application's own. Texts are copied. */
typedef struct DlcProfileEvent {
  size_t structSize;
  const char *name;
  const char *row;    /* of the trace, where events do not overlap; null:
                         "application" */
  const char *detail; /* shown with the event; null: none */
  uint64_t begin;     /* of dlcProfilerNow, as the end, which is not before */
  uint64_t end;
  DlcProfileKind kind;
  DlcContext device; /* the trace's process; zeros are DLC_DEVICE_NULL 0 */
  int32_t hasFailed;
} DlcProfileEvent;

/* One that begins while nothing is kept, or before the last start after a stop,
 * is passed over without an error; profilers start when they are created.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcProfilerAdd(DlcProfiler profiler,
                                 const DlcProfileEvent *event);

/* Nanoseconds of the monotonic clock. Since 0.1 (unstable) */
DLC_API uint64_t dlcProfilerNow(void);

/* Events and figures of memory that found no room; 0 for null.
 * Since 0.1 (unstable) */
DLC_API size_t dlcProfilerDropped(DlcProfiler profiler);

/*===-- Reading: for one thread, when those that record have been waited for,
       as by dlcEngineWaitForAll ------------------------------------------===*/

/* Events kept; 0 for null. Since 0.1 (unstable) */
DLC_API size_t dlcProfilerEventCount(DlcProfiler profiler);

/* Forgets all events. Since 0.1 (unstable) */
DLC_API DlcStatus dlcProfilerClear(DlcProfiler profiler);

/* A JSON object with "traceEvents": a process for each device, a thread for
 * each row, complete events ("X") in microseconds from the first, and counters
 * ("C") of memory. The text belongs to the profiler and lives until it hands
 * out the next. `size`, without the closing zero, may be null.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcProfilerTrace(DlcProfiler profiler, const char **text,
                                   size_t *size);

/* Writes that to a file. Errors: DLC_UNAVAILABLE. Since 0.1 (unstable) */
DLC_API DlcStatus dlcProfilerWriteTrace(DlcProfiler profiler, const char *path);

/* Times by name, kind and device, the longest total first, and the most memory
 * in use, as text for people; as dlcProfilerTrace. Since 0.1 (unstable) */
DLC_API DlcStatus dlcProfilerTable(DlcProfiler profiler, const char **text);

/* All events of one name, kind and device, in nanoseconds. The caller sets
 * structSize; the name lives as long as the profiler. */
typedef struct DlcProfileSummary {
  size_t structSize;
  const char *name;
  DlcProfileKind kind;
  DlcContext device;
  uint64_t count;
  uint64_t total;
  uint64_t least;
  uint64_t most;
} DlcProfileSummary;

/* Line `index` of the table. DLC_NOT_FOUND past the last.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcProfilerSummary(DlcProfiler profiler, size_t index,
                                     DlcProfileSummary *summary);

#endif /* DLC_C_PROFILER_H */
