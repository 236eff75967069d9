/* SPDX-License-Identifier: Apache-2.0
 *
 * Running compiled programs from C.
 *
 *   DlcProgram program;            immutable, for any number of threads
 *   dlcProgramLoad("m.dlc", &program);
 *   DlcExecution execution;        one for each thread
 *   dlcExecutionCreate(program, NULL, &execution);
 *   dlcExecutionBindInput(execution, 0, &input);
 *   dlcExecutionRun(execution);
 *   dlcExecutionOutput(execution, 0, &output);
 *
 * A program and a pool outlive the executions that use them.
 *
 * In the child of a fork a program is what it was, and an execution runs on the
 * thread that calls it, since the threads of the pool are not there. One of a
 * program with values of unknown shapes refuses (DLC_UNAVAILABLE), and one that
 * another thread was running is not to be used: the child creates its own.
 */

#ifndef DLC_C_RUNTIME_H
#define DLC_C_RUNTIME_H

#include "dlc-c/Engine.h"

typedef struct DlcProgramImpl *DlcProgram;
typedef struct DlcPoolImpl *DlcPool;
typedef struct DlcExecutionImpl *DlcExecution;

/*===-- Programs ----------------------------------------------------------===*/

/* Maps and checks the compiled program at `path`: all that it says, and the
 * checksum of its machine code. Weights stay in the file and are not read here;
 * `dlc dump FILE` compares their checksum too, at some gigabytes a second. The
 * file must not be rewritten in place while the program lives. Its machine code
 * is trusted like a library of this process. Since 0.1 (unstable) */
DLC_API DlcStatus dlcProgramLoad(const char *path, DlcProgram *program);

/* The same from the bytes of a file: borrowed, aligned to DLC_ALIGNMENT, and
 * alive and unchanged as long as the program. Since 0.1 (unstable) */
DLC_API DlcStatus dlcProgramLoadMemory(const void *bytes, size_t size,
                                       DlcProgram *program);

/* Since 0.1 (unstable) */
DLC_API void dlcProgramDestroy(DlcProgram program);

/* Since 0.1 (unstable) */
DLC_API size_t dlcProgramInputCount(DlcProgram program);
/* Since 0.1 (unstable) */
DLC_API size_t dlcProgramOutputCount(DlcProgram program);

/* An input or an output. All pointers belong to the program. */
typedef struct DlcPort {
  size_t structSize;
  const char *name;
  DlcDataType type;
  int32_t rank;         /* -1 when it differs from run to run */
  const int64_t *shape; /* -1 for dimensions that differ from run to run */
} DlcPort;

/* Describes input `index`. Since 0.1 (unstable) */
DLC_API DlcStatus dlcProgramInput(DlcProgram program, size_t index,
                                  DlcPort *port);
/* Describes output `index`. Since 0.1 (unstable) */
DLC_API DlcStatus dlcProgramOutput(DlcProgram program, size_t index,
                                   DlcPort *port);

/* The position of the input of that name; DLC_NOT_FOUND.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcProgramFindInput(DlcProgram program, const char *name,
                                      size_t *index);
/* The position of the output of that name; DLC_NOT_FOUND.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcProgramFindOutput(DlcProgram program, const char *name,
                                       size_t *index);

/* What a program takes; sizes in bytes. */
typedef struct DlcProgramStatistics {
  size_t structSize;
  uint64_t arenaBytes;      /* planned for transient values */
  uint64_t lowerBoundBytes; /* peak of live bytes: no plan is below */
  uint64_t constantBytes;   /* weights, mapped from the file */
  uint64_t codeBytes;       /* machine code */
  uint64_t launches;        /* kernels started in one run */
} DlcProgramStatistics;

/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcProgramGetStatistics(DlcProgram program,
                                          DlcProgramStatistics *statistics);

/*===-- Worker pools ------------------------------------------------------===*/

typedef struct DlcPoolOptions {
  size_t structSize;
  uint32_t threads; /* that compute, the caller among them; at most 1024;
                       0: one for each core of the memory node that the caller
                       runs on, as far as the process may use them and its
                       control groups give it the time */
  uint32_t spinMicroseconds; /* before an idle worker sleeps; 50 is usual, and
                                what null options mean; 0: it sleeps at once,
                                unlike in DlcEngineOptions */
  uint32_t pinsWorkers; /* not 0: each worker stays on a processor of its own,
                           a core as long as there are any */
} DlcPoolOptions;

/* Starts the workers of a pool, which any number of executions may share: runs
 * at the same time count as threads, and the workers that are left are spread
 * over them. Null options: threads and spinMicroseconds as usual.
 * DLC_UNSUPPORTED: options that this version does not know. DLC_UNAVAILABLE:
 * the system has no thread, or does not let a worker stay on its processor.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcPoolCreate(const DlcPoolOptions *options, DlcPool *pool);

/* Stops and joins the workers. Since 0.1 (unstable) */
DLC_API void dlcPoolDestroy(DlcPool pool);

/*===-- Executions --------------------------------------------------------===*/

/* Allocates all that a run needs. `pool` may be null: then the calling thread
 * computes alone. A program of several streams has threads of its own for
 * them, at most as many as the pool. An execution is for one thread at a time.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutionCreate(DlcProgram program, DlcPool pool,
                                     DlcExecution *execution);

/* Since 0.1 (unstable) */
DLC_API void dlcExecutionDestroy(DlcExecution execution);

/* Sets the memory of input `index` for this and later runs. The data is
 * borrowed, dense, row-major and aligned for its element type; it is read
 * while running, and written where an output of the program updates the input,
 * as steps of training do with parameters. The shape is copied.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutionBindInput(DlcExecution execution, size_t index,
                                        const DlcTensor *tensor);

/* Sets the memory of output `index` for this and later runs; borrowed,
 * and apart from all other memory that is bound. Its shape must be static, or
 * open because the program takes any batch or several shapes: then the tensor
 * has the shape that the run comes to. A null `tensor` goes back to memory
 * of the execution, which is used at first. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutionBindOutput(DlcExecution execution, size_t index,
                                         const DlcTensor *tensor);

/* Runs the program once. Every input is bound. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutionRun(DlcExecution execution);

/* Pushes one run, as one operation of `engine`, and returns at once. `reads`
 * and `writes` stand for the bound memory; one of `writes` stands for the
 * execution, so that its runs follow each other. Until the run has completed
 * nothing else is done with the execution. Its failure poisons `writes`. Null
 * options: none. Errors: those of dlcEnginePushSync. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutionPush(DlcExecution execution, DlcEngine engine,
                                   DlcContext context, const DlcVariable *reads,
                                   int32_t readCount, const DlcVariable *writes,
                                   int32_t writeCount,
                                   const DlcPushOptions *options);

/* Tells a profiler (dlc-c/Profiler.h) of the launches, copies, waits and memory
 * of later runs; null ends that. The profiler may be destroyed before.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutionSetProfiler(DlcExecution execution,
                                          DlcProfiler profiler);

/* Output `index` of the last run. Shape and memory (unless bound) belong to the
 * execution and stay valid until its next run. DLC_INVALID_ARGUMENT before the
 * first run and after a failed one. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutionOutput(DlcExecution execution, size_t index,
                                     DlcTensor *tensor);

#endif /* DLC_C_RUNTIME_H */
