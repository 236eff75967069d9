/* SPDX-License-Identifier: Apache-2.0
 *
 * The dependency engine from C: runs any function as soon as the variables that
 * it reads and writes are free.
 *
 *   DlcEngine engine;
 *   dlcEngineCreate(NULL, &engine);
 *   DlcVariable x;
 *   dlcEngineNewVariable(engine, &x);
 *   dlcEnginePushSync(engine, produce, data, NULL, cpu, NULL, 0, &x, 1, NULL);
 *   dlcEngineWaitForVariable(engine, x, DLC_USE_READ);
 *   dlcEngineDestroy(engine);
 *
 * Operations that read a variable run together; one that writes it runs alone,
 * in the order of the pushes. An error poisons the variables that its operation
 * writes; operations that use them, also those that only write them, are
 * skipped, and the first wait that meets the error returns it. It is delivered
 * once: no variable is poisoned by it from then on, and what is pushed later
 * runs, with what was there. So whoever fills a buffer again and again waits
 * for it before each time, and learns which part of the work failed.
 *
 * All functions may be called by any thread and, unless
 * they say otherwise, from inside operations; dlcEngineDestroy comes last.
 *
 * Errors of every function that returns a status: DLC_INVALID_ARGUMENT (a
 * handle that is null, of another engine, or deleted; a value out of range),
 * DLC_UNAVAILABLE (the engine is closed or stopped, or this process is a fork
 * of the engine's), DLC_OUT_OF_MEMORY. Nothing happens then.
 *
 * DlcVariable and DlcOperator are values that each function checks: one that
 * was deleted is refused even when another has its place. DlcEngine, DlcRun and
 * DlcCompletion are addresses, of which null alone is refused. It is undefined,
 * as with free(), to use one after its dlc...Destroy (a run: after its function
 * has returned), to destroy it twice or while another thread uses it, and to
 * pass what no function of this header has returned. Completions may outlive
 * their engine: they are refused then, and still to be destroyed.
 */

#ifndef DLC_C_ENGINE_H
#define DLC_C_ENGINE_H

#include "dlc-c/Common.h"

typedef struct DlcEngineImpl *DlcEngine;

/* The duty to say that an asynchronous operation is done. */
typedef struct DlcCompletionImpl *DlcCompletion;

/* What ran where and when: dlc-c/Profiler.h. */
typedef struct DlcProfilerImpl *DlcProfiler;

/* One run of an operation, while its function runs. */
typedef const struct DlcRunImpl *DlcRun;

/* Names of an engine's variables and operators: values, zero for none. */
typedef struct DlcVariable {
  uint32_t index, stamp;
} DlcVariable;
typedef struct DlcOperator {
  uint32_t index, stamp;
} DlcOperator;

typedef enum DlcEngineKind {
  DLC_ENGINE_PER_DEVICE = 0, /* pools and lanes for each device */
  DLC_ENGINE_THREADED = 1,   /* one pool for all devices */
  DLC_ENGINE_NAIVE = 2,      /* runs inside the push, for debugging: one at a
                                time, so that pushes and waits of other threads
                                wait until it has completed */
  DLC_ENGINE_KIND_LIMIT = 0x7fffffff
} DlcEngineKind;

typedef enum DlcDeviceKind {
  DLC_DEVICE_NULL = 0, /* like an accelerator, in host memory; for tests */
  DLC_DEVICE_CPU = 1,
  DLC_DEVICE_CUDA = 2,
  DLC_DEVICE_CPU_PINNED = 3,
  DLC_DEVICE_CPU_SHARED = 4,
  DLC_DEVICE_KIND_LIMIT = 0x7fffffff
} DlcDeviceKind;

/* A kind of device and a number below 2^15; zeros are DLC_DEVICE_NULL 0, not
 * the CPU. To an engine it names the lane that an operation runs in: whether
 * there is such a device it does not ask, what functions do there is theirs.
 * Memory and arrays do need one. */
typedef struct DlcContext {
  DlcDeviceKind kind;
  int32_t index;
} DlcContext;

typedef enum DlcOperationProperty {
  DLC_OPERATION_NORMAL = 0,
  DLC_OPERATION_COPY_FROM_DEVICE = 1, /* in the copy lane of its device */
  DLC_OPERATION_COPY_TO_DEVICE = 2,   /* in the copy lane of its device */
  DLC_OPERATION_CPU_PRIORITIZED = 3,  /* in the lane for urgent host work */
  DLC_OPERATION_GPU_PRIORITIZED = 4,  /* in its device's lane for urgent work */
  DLC_OPERATION_ASYNC = 5,            /* only starts work; as normal */
  DLC_OPERATION_DELETE_VARIABLE = 6,  /* runs even when its inputs failed */
  DLC_OPERATION_NO_SKIP = 7,          /* runs even when its inputs failed; what
                                         it writes stays poisoned if it was */
  DLC_OPERATION_LIMIT = 0x7fffffff
} DlcOperationProperty;

typedef enum DlcVariableKind {
  DLC_VARIABLE_VALUE = 0,    /* what operations hand on, with its errors */
  DLC_VARIABLE_RESOURCE = 1, /* what each operation uses anew, as temporary
                                space: bears no errors */
  DLC_VARIABLE_KIND_LIMIT = 0x7fffffff
} DlcVariableKind;

typedef enum DlcVariableUse {
  DLC_USE_READ = 0,  /* after all writes before it */
  DLC_USE_WRITE = 1, /* after all uses before it */
  DLC_USE_LIMIT = 0x7fffffff
} DlcVariableUse;

/* Whether threads of the application run operations of host devices while the
 * engine makes them wait. Any that is ready may run there: where such a thread
 * holds a lock that an operation takes, choose DLC_HELP_NEVER. */
typedef enum DlcCallerHelp {
  DLC_HELP_WAITING = 0, /* in waits for variables and for all */
  DLC_HELP_NEVER = 1,
  DLC_HELP_WAITING_AND_PUSHING = 2, /* and in pushes that find maxOperations or
                                       maxBytes used up */
  DLC_CALLER_HELP_LIMIT = 0x7fffffff
} DlcCallerHelp;

/* One operation, as observers see it; the texts may be null. All of it lives
 * during the call. */
typedef struct DlcOperationInfo {
  uint64_t id; /* ascends in the order of pushes, with gaps; each part of a bulk
                  has its own */
  const char *name;
  const char *origin;
  DlcContext context;
  DlcOperationProperty property;
  int32_t priority;
  uint32_t worker; /* as dlcRunWorker */
} DlcOperationInfo;

/* 0 is the default everywhere. */
typedef struct DlcEngineOptions {
  size_t structSize;
  DlcEngineKind kind;
  uint32_t cpuWorkers;    /* of each host device; 0: all processors */
  uint32_t deviceWorkers; /* of each other device; 0: one */
  uint32_t copyWorkers;   /* of each copy lane; 0: one */
  uint32_t maxOperations; /* pushed and not completed, at least 16; 0: 4096; one
                             with more than 4 variables, an origin or bytes
                             counts as two or more */
  uint64_t maxBytes;      /* the same in bytes; 0: no limit; a larger operation
                             runs when no others have bytes in flight */
  DlcCallerHelp callerHelp;
  uint32_t spinMicroseconds;          /* before a thread sleeps; 0: 30 */
  uint32_t closePatienceMilliseconds; /* 0: as long as it takes */
  uint32_t watchdogMilliseconds;      /* operations that take longer are
                                         reported, each once; 0: none */
  /* Receives the watchdog's reports, on its thread; null: they go to stderr. It
   * may look at the engine (dlcEngineDump), but not wait for it. */
  void (*onStall)(void *stallData, const char *report);
  void *stallData;
  uint32_t priorityWorkers; /* of the lane for urgent host work; 0: one */
  uint32_t maxSpareWorkers; /* that stand in for operations that wait inside; 0:
                               64 */
  uint32_t queueSlots;  /* for operations that no thread has looked at, at least
                           16; 0: 4096 */
  uint64_t fuzzSeed;    /* not 0: random pauses and choices, to provoke rare
                           orders; with one thread a seed replays its order */
  DlcProfiler profiler; /* is told of all operations; may be null and destroyed
                           before the engine */
  /* Called around the function of each operation by the thread that runs it, by
   * several at once; either may be null. An asynchronous operation goes on
   * after `onFinish`; `code` and `message` are what its function returned. Must
   * not use the engine. */
  void (*onStart)(void *observerData, const DlcOperationInfo *operation);
  void (*onFinish)(void *observerData, const DlcOperationInfo *operation,
                   DlcStatusCode code, const char *message);
  void *observerData;
} DlcEngineOptions;

/* What goes with an operation; zero is usual. Texts may be null; they are
 * copied, equal ones once, and kept as long as the engine: name what is pushed
 * again and again ("decode", "slot 2"), not each of a million records. */
typedef struct DlcPushOptions {
  size_t structSize;
  DlcOperationProperty property;
  int32_t priority; /* among ready operations of a lane the higher goes first */
  const char *name;
  const char *origin;
  uint64_t bytes; /* counted for maxBytes while it is in flight */
} DlcPushOptions;

/* Does the work; an error that it returns is the engine's. */
typedef DlcStatus (*DlcFunction)(void *data, DlcContext context);

/* Starts the work, which ends with the completion, from any thread. The
 * completion is the function's, to end with dlcCompletionDestroy. */
typedef void (*DlcAsyncFunction)(void *data, DlcContext context,
                                 DlcCompletion completion);

/* Ends `data`, once, after the last run, and also when the function was skipped
 * or its push refused. Null: nothing to end. */
typedef void (*DlcDataDestroy)(void *data);

/*===-- Life --------------------------------------------------------------===*/

/* Starts an engine, the caller's to end with dlcEngineDestroy. Null options:
 * the defaults. DLC_UNAVAILABLE: the system has no thread for it.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineCreate(const DlcEngineOptions *options,
                                  DlcEngine *engine);

/* Closes the engine and ends it; null is ignored. Arrays may outlive it; their
 * operations are refused then, but waits still tell what poisons them. Other
 * errors of operations that nobody was told of are lost: dlcEngineClose before
 * it returns them. Inside one of its operations, where it cannot end, it ends
 * the process with a line on stderr. Since 0.1 (unstable) */
DLC_API void dlcEngineDestroy(DlcEngine engine);

/* Refuses further pushes, runs what was pushed, and joins all threads. After
 * closePatienceMilliseconds it gives up what has not started and asynchronous
 * operations that have not completed, and returns DLC_UNAVAILABLE with the
 * names of those that hang and the number of those that had not started: nobody
 * is told of them again. Otherwise it returns the first error of an operation
 * that was not returned before, as dlcEngineWaitForAll, which may follow. Not
 * inside an operation. Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineClose(DlcEngine engine);

/* Waits until nothing is in flight and ends the threads; pushes are refused
 * until dlcEngineStart. Errors of operations stay for waits, which may come
 * before that. Not inside an operation. Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineStop(DlcEngine engine);

/* Starts the threads again; in the child of a fork a fresh engine. Not inside
 * an operation. Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineStart(DlcEngine engine);

/*===-- Variables and operators -------------------------------------------===*/

/* Lives until dlcEngineDeleteVariable, or with the engine.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineNewVariable(DlcEngine engine, DlcVariable *variable);

/* The same for what the variable stands for. Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineNewVariableOfKind(DlcEngine engine,
                                             DlcVariableKind kind,
                                             DlcVariable *variable);

/* Forgets the variable after its last user and then calls `function`, which may
 * be null and is called also after errors of operations, but not when this is
 * refused: `data` is the caller's then. Further uses are refused at once. Never
 * refused because the engine stops or closes; on one that has, all that happens
 * at once, in the caller.
 * Errors: DLC_INVALID_ARGUMENT (also for the variable of an array or a
 * resource, which ends with that). Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineDeleteVariable(DlcEngine engine,
                                          DlcFunction function, void *data,
                                          DlcContext context,
                                          DlcVariable variable);

/* How many operations have completed a write, skipped ones not among them.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineVersion(DlcEngine engine, DlcVariable variable,
                                   uint64_t *version);

/* An operation to push many times, until dlcEngineDeleteOperator or the end of
 * the engine. `function` must bear calls from several threads at once, unless
 * it writes a variable. Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineNewOperator(
    DlcEngine engine, DlcFunction function, void *data, DlcDataDestroy destroy,
    const DlcVariable *reads, int32_t readCount, const DlcVariable *writes,
    int32_t writeCount, const DlcPushOptions *options, DlcOperator *operation);

/* The same for a function that only starts the work.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineNewAsyncOperator(
    DlcEngine engine, DlcAsyncFunction function, void *data,
    DlcDataDestroy destroy, const DlcVariable *reads, int32_t readCount,
    const DlcVariable *writes, int32_t writeCount,
    const DlcPushOptions *options, DlcOperator *operation);

/* Forgets the operator after its last run. Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineDeleteOperator(DlcEngine engine,
                                          DlcOperator operation);

/*===-- Pushing -----------------------------------------------------------===*/

/* Runs an operator once. One that another thread deletes meanwhile is refused
 * here or, when the deletion overtakes the push, ends with an error.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcEnginePush(DlcEngine engine, DlcOperator operation,
                                DlcContext context, int32_t priority);

/* Runs `function` when its variables are free. A variable that appears twice is
 * refused: what is written may be read, and is listed in `writes` alone. Waits
 * while the budget is used up, except inside an operation. Null options: none.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcEnginePushSync(DlcEngine engine, DlcFunction function,
                                    void *data, DlcDataDestroy destroy,
                                    DlcContext context,
                                    const DlcVariable *reads, int32_t readCount,
                                    const DlcVariable *writes,
                                    int32_t writeCount,
                                    const DlcPushOptions *options);

/* The same for a function that only starts the work.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcEnginePushAsync(
    DlcEngine engine, DlcAsyncFunction function, void *data,
    DlcDataDestroy destroy, DlcContext context, const DlcVariable *reads,
    int32_t readCount, const DlcVariable *writes, int32_t writeCount,
    const DlcPushOptions *options);

/* Ends the operation, from any thread; `result` is null or an error, which is
 * the engine's from then on. A second time is refused with
 * DLC_INVALID_ARGUMENT; when the engine has closed, which leaves no operation
 * that is not completed or given up, and in the child of a fork, with
 * DLC_UNAVAILABLE.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcCompletionComplete(DlcCompletion completion,
                                        DlcStatus result);

/* Ends the handle; an operation that is not completed then ends with an error,
 * DLC_INVALID_ARGUMENT. May come after the engine is gone.
 * Since 0.1 (unstable) */
DLC_API void dlcCompletionDestroy(DlcCompletion completion);

/* The operation whose function this thread is in: good while that runs, for any
 * thread that the function hands it to. Null outside.
 * Since 0.1 (unstable) */
DLC_API DlcRun dlcRunCurrent(void);

/* Tells the threads of one engine apart; those that an application lends while
 * it waits come after the engine's own. 0 for null. Since 0.1 (unstable) */
DLC_API uint32_t dlcRunWorker(DlcRun run);

/* Gives a variable back before the end of the operation: what waits for it may
 * start. From then on the operation does not touch what the variable stands
 * for, and an error that it returns does not poison it. Errors:
 * DLC_INVALID_ARGUMENT (null, a bulk, the deletion of a variable, or a variable
 * that the operation does not hold); it then holds what it held.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcRunRelease(DlcRun run, DlcVariable variable);

/* Joins up to `operations` consecutive calls of dlcEnginePushSync of this
 * thread, in one context and without property and priority, into one operation:
 * at most 4096, with at most 256 variables in all and what maxBytes has room
 * for; 0 or 1: none. Order, errors and versions are as without, but none runs
 * before they are pushed together: when there are as many; by other calls of
 * this thread that push, delete or wait; by those of other threads that
 * conflict over a variable; by dlcEngineWaitForAll, Stop and Close; and when
 * the thread ends, before functions of its pthread keys. Then the variables of
 * all are held from the first part to the last: no part may wait for another.
 * Inside an operation it is for the pushes of that operation, and ends with it.
 * `previous` (may be null) gets the number before, 0 for none; a
 * DLC_ENGINE_NAIVE has none. DLC_UNAVAILABLE only where joining would begin: on
 * a stopped or closed engine, and when the thread ends and has pushed what it
 * had. After an error the number is as before. Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineSetBulkSize(DlcEngine engine, uint32_t operations,
                                       uint32_t *previous);

/*===-- Waiting and looking -----------------------------------------------===*/

/* Waits until the operations pushed before that `use` conflicts with have
 * completed, and returns the error that poisons the variable, which ends it. A
 * wait inside an operation for what waits for that operation is refused with
 * DLC_INVALID_ARGUMENT. Each engine knows its own waits only: operations of two
 * engines that wait for each other do so for ever (a watchdog tells of them).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineWaitForVariable(DlcEngine engine,
                                           DlcVariable variable,
                                           DlcVariableUse use);

/* Waits until nothing is in flight; returns the first error that was not
 * returned before and how many more there are, which count as returned, too:
 * who wants the text of each waits for variables. Not inside an operation.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineWaitForAll(DlcEngine engine);

/* Hands `write` a text for people: who runs and who waits for whom. It lives
 * during the call. Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineDump(DlcEngine engine,
                                void (*write)(void *data, const char *text),
                                void *data);

/* Numbers of an engine at one moment. */
typedef struct DlcEngineStatistics {
  size_t structSize;
  uint64_t completed; /* operations, with the failed and the skipped */
  uint64_t failed;
  uint64_t skipped;
  uint64_t inFlight; /* pushed and not completed; a bulk counts as one, and
                        not before it is pushed */
  uint64_t bytesInFlight;
  uint64_t variables;
  uint64_t operators;
  uint64_t threads;
} DlcEngineStatistics;

/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcEngineGetStatistics(DlcEngine engine,
                                         DlcEngineStatistics *statistics);

#endif /* DLC_C_ENGINE_H */
