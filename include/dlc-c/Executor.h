/* SPDX-License-Identifier: Apache-2.0
 *
 * Executors from C: a network, forward and backward, on arrays. Runs are pushed
 * to the engine of the arrays and return at once; their errors arrive where
 * somebody waits for what they write.
 *
 *   DlcNetwork network;
 *   dlcSymbolMakeNetwork(symbol, NULL, &network);        dlc-c/Symbol.h
 *   DlcExecutor executor;
 *   dlcExecutorSimpleBind(network, runtime, cpu, known, 2, DLC_GRADIENT_WRITE,
 *                         NULL, NULL, 0, NULL, &executor);
 *   dlcExecutorForward(executor, 1);
 *   dlcExecutorBackward(executor, NULL, 0);
 *   dlcExecutorFind(executor, DLC_ARRAYS_GRADIENT, "A", &gradient);
 *
 * An executor runs on one device (or on those of the network's groups), or on
 * several, each of which computes a part of the batch (data-parallel); both are
 * run and read by the same functions.
 *
 * A network is immutable, for any number of threads; an executor is for one at
 * a time, and so are all that share memory. Handles may be destroyed in any
 * order, also while runs are under way.
 *
 * In the child of a fork executors of the parent do not run
 * (DLC_UNAVAILABLE); bind others there.
 *
 * Errors of every function that returns a status: DLC_INVALID_ARGUMENT (a null
 * handle or place) and those of the engine (see dlc-c/Engine.h). Results are
 * written on success only.
 */

#ifndef DLC_C_EXECUTOR_H
#define DLC_C_EXECUTOR_H

#include "dlc-c/NDArray.h"
#include "dlc-c/Runtime.h"

typedef struct DlcNetworkImpl *DlcNetwork;
typedef struct DlcExecutorImpl *DlcExecutor;

/*===-- Networks ----------------------------------------------------------===*/

/* For libdlc.so of the same version only, which hands a network over: a
 * `std::shared_ptr<const dlc::rt::Network> *`, which is copied. Applications
 * use dlcSymbolMakeNetwork. DLC_UNSUPPORTED for another version.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNetworkAdopt(const void *network, const char *version,
                                  DlcNetwork *handle);

/* Since 0.1 (unstable) */
DLC_API void dlcNetworkDestroy(DlcNetwork network);

/*===-- Binding -----------------------------------------------------------===*/

/* What becomes of the gradient of an argument. */
typedef enum DlcGradientRequest {
  DLC_GRADIENT_NULL = 0,  /* it is not computed */
  DLC_GRADIENT_WRITE = 1, /* it replaces what its array holds */
  DLC_GRADIENT_ADD = 2,   /* it is added to that */
  DLC_GRADIENT_LIMIT = 0x7fffffff
} DlcGradientRequest;

typedef struct DlcExecutorOptions {
  size_t structSize;
  DlcPool pool;       /* shares large kernels; outlives the executor and its
                         runs; null: one thread for each device and stream */
  DlcExecutor shared; /* whose memory for transient values is used, too; null:
                         memory of its own */
  uint64_t seed;      /* where random numbers of runs for training begin */
  int32_t releasesEarly; /* a run gives each array back when it is over with
                            it, so that what waits for one starts before the
                            run ends */
  int64_t memoryBudget;  /* bytes that each program may keep transient values
                            in: what does not fit is computed again; 0: no
                            limit, as has what tells a monitor of all. What
                            dlcExecutorForward saves for dlcExecutorBackward
                            counts for both; dlcExecutorForwardBackward needs
                            less. A run without a program
                            within it is DLC_INVALID_ARGUMENT, which names the
                            least budget */
} DlcExecutorOptions;

/* Arrays for the variables of a network, in the order of their names. */
typedef struct DlcBindings {
  size_t structSize;
  const DlcNDArray *arguments;
  size_t argumentCount;
  const DlcNDArray *gradients; /* one for each argument, null for none; or no
                                  list at all */
  const DlcGradientRequest *requests; /* one for each argument; or null: write
                                         where there is an array */
  const DlcNDArray *auxiliaryStates;
  size_t auxiliaryStateCount;
} DlcBindings;

/* Binds arrays. Checks all that can be without running, and writes no array.
 * Auxiliary states and gradients that are added to overlap nothing else that is
 * bound, other gradients at most arguments.
 * A network without variables takes dlcExecutorSimpleBind.
 * Null options: none. DLC_INVALID_ARGUMENT names the variable or the node, what
 * was expected and found; DLC_UNSUPPORTED what has no program or no gradient
 * here. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorBind(DlcNetwork network,
                                  const DlcBindings *bindings,
                                  const DlcExecutorOptions *options,
                                  DlcExecutor *executor);

/* What is known of a variable; each is named once. Will not grow. */
typedef struct DlcKnownVariable {
  const char *name;
  const int64_t *dims; /* below 0: open */
  int32_t rank;        /* -1: nothing is known of the shape */
  DlcDataType type;    /* DLC_INVALID_TYPE: nothing is known of it */
} DlcKnownVariable;

/* Binds new arrays of zeros on a device, of the types that follow from `known`.
 * `names` and `requests` say which gradients there are; arguments that are not
 * named get `otherwise`, those that are not of floats none. Errors as above.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorSimpleBind(
    DlcNetwork network, DlcArrayRuntime runtime, DlcContext context,
    const DlcKnownVariable *known, size_t knownCount,
    DlcGradientRequest otherwise, const char *const *names,
    const DlcGradientRequest *requests, size_t requestCount,
    const DlcExecutorOptions *options, DlcExecutor *executor);

typedef struct DlcParallelOptions {
  size_t structSize;
  const DlcContext *devices;  /* where parts run; the first has the arrays */
  size_t deviceCount;         /* at least 1 */
  const double *workloads;    /* one for each device: its share of the batch, 0
                                 excluded; null: equal ones */
  const char *const *batched; /* arguments with the batch in their first
                                 dimension, each once */
  size_t batchedCount;        /* at least 1 */
  DlcPool pool;               /* as in DlcExecutorOptions */
  uint64_t seed;              /* that of device i is seed + i */
  int64_t memoryBudget;       /* as in DlcExecutorOptions, of each device */
} DlcParallelOptions;

/* Binds arrays of the whole batch, on the first device, to an executor whose
 * devices compute parts of it. Writes no array. Runs send values to the other
 * devices, those that were written since the last run (memory that was adopted
 * or handed on as DLPack's: each time), and bring the rows of outputs back;
 * they sum gradients in the order of the devices, each as soon as its terms are
 * there, that of the argument in front first; and auxiliary states become the
 * mean of those of the devices after each run for training. What options point
 * to is copied.
 * DLC_INVALID_ARGUMENT says what was expected and found: devices, workloads,
 * `batched`, a device without rows, arrays; DLC_UNSUPPORTED: devices that are
 * not the host's, an output that has no row for each of the batch, a network
 * whose groups have devices. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorBindParallel(DlcNetwork network,
                                          const DlcBindings *bindings,
                                          const DlcParallelOptions *options,
                                          DlcExecutor *executor);

/* The same with new arrays of zeros, as dlcExecutorSimpleBind; `known` tells
 * the types of the whole. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorSimpleBindParallel(
    DlcNetwork network, DlcArrayRuntime runtime, const DlcKnownVariable *known,
    size_t knownCount, DlcGradientRequest otherwise, const char *const *names,
    const DlcGradientRequest *requests, size_t requestCount,
    const DlcParallelOptions *options, DlcExecutor *executor);

/* The rows of the batch that a device computes, `end` not included.
 * DLC_INVALID_ARGUMENT: no such device; DLC_UNSUPPORTED: an executor without
 * parts. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorPartRows(DlcExecutor executor, size_t device,
                                      int64_t *begin, int64_t *end);

typedef struct DlcReshapeOptions {
  size_t structSize;
  int32_t allowsOthers; /* shapes of variables change that were not given */
  int32_t allowsGrowth; /* an array grows; it is a new one then */
} DlcReshapeOptions;

/* Makes an executor for other shapes of some variables, whose element types
 * stay. Shapes of the others are inferred from those: give also those that stay
 * and that nothing else tells. Arrays whose shape stays are the same, those
 * that fit are views of the former memory; programs and memory for transient
 * values are shared, so that both executors are for one thread at a time. That
 * of parts divides its batch anew. DLC_INVALID_ARGUMENT for changes that the
 * options do not allow. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorReshape(DlcExecutor executor,
                                     const DlcKnownVariable *shapes,
                                     size_t count,
                                     const DlcReshapeOptions *options,
                                     DlcExecutor *reshaped);

/* Since 0.1 (unstable) */
DLC_API void dlcExecutorDestroy(DlcExecutor executor);

/*===-- Running -----------------------------------------------------------===*/

/* Pushes a run forward. For training, auxiliary states are updated, and what
 * the run backward needs is saved. With gradients, a gamma that fix_gamma fixes
 * is filled with ones. The first run compiles. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorForward(DlcExecutor executor, int isTraining);

/* Pushes a run backward from the last one forward for training. `heads` are the
 * gradients of the outputs, null where these are not of floats; a count of 0
 * stands for ones. DLC_INVALID_ARGUMENT: there was no such run, heads that do
 * not fit. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorBackward(DlcExecutor executor,
                                      const DlcNDArray *heads, size_t count);

/* Both at once, as one program: it needs less memory and time.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorForwardBackward(DlcExecutor executor,
                                             const DlcNDArray *heads,
                                             size_t count);

/*===-- Arrays ------------------------------------------------------------===*/

typedef enum DlcExecutorArrays {
  DLC_ARRAYS_OUTPUT = 0,
  DLC_ARRAYS_ARGUMENT = 1,
  DLC_ARRAYS_GRADIENT = 2, /* by the names of the arguments */
  DLC_ARRAYS_AUXILIARY_STATE = 3,
  DLC_ARRAYS_LIMIT = 0x7fffffff
} DlcExecutorArrays;

/* How many arrays there are of a kind; 0 for null. Since 0.1 (unstable) */
DLC_API size_t dlcExecutorArrayCount(DlcExecutor executor,
                                     DlcExecutorArrays kind);

/* The name of one, which belongs to the executor; "" past the last.
 * Since 0.1 (unstable) */
DLC_API const char *dlcExecutorArrayName(DlcExecutor executor,
                                         DlcExecutorArrays kind, size_t index);

/* A handle of one, which the caller destroys. DLC_NOT_FOUND for a gradient that
 * was not requested. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorArray(DlcExecutor executor, DlcExecutorArrays kind,
                                   size_t index, DlcNDArray *array);

/* The same by name. DLC_NOT_FOUND. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorFind(DlcExecutor executor, DlcExecutorArrays kind,
                                  const char *name, DlcNDArray *array);

/* Copies values into the arrays of a kind, arguments or auxiliary states, all
 * of which are checked before one is written. DLC_INVALID_ARGUMENT (another
 * type or shape), DLC_NOT_FOUND (an unknown name, unless `allowsUnknown`).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorCopyParameters(DlcExecutor executor,
                                            DlcExecutorArrays kind,
                                            const char *const *names,
                                            const DlcNDArray *values,
                                            size_t count, int allowsUnknown);

/*===-- Looking inside ----------------------------------------------------===*/

/* Is told of an output of a node; `array` is valid during the call. */
typedef void (*DlcMonitor)(void *data, const char *name, DlcNDArray array);

/* Calls `monitor` for the outputs of every node in each run forward, as soon as
 * they are pushed; for variables too when `tellsVariables`. They come from one
 * more program, which computes what the run computes, to rounding. An executor
 * of parts tells of each part, in the order of the devices; its arrays are on
 * the part's device. Null ends that. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorSetMonitor(DlcExecutor executor,
                                        DlcMonitor monitor, void *data,
                                        int tellsVariables);

/* The network and what is planned for it, as text for people, which belongs to
 * the executor until the next call. Since 0.1 (unstable) */
DLC_API DlcStatus dlcExecutorDescribe(DlcExecutor executor, const char **text);

#endif /* DLC_C_EXECUTOR_H */
