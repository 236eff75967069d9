/* SPDX-License-Identifier: Apache-2.0
 *
 * What operations of an engine borrow while they run, from C: temporary space
 * and random numbers. Space and the ordinary random numbers are guarded by a
 * variable, which an operation that uses them lists among those it writes.
 *
 *   DlcResources resources;
 *   dlcResourcesCreate(engine, storage, NULL, &resources);
 *   DlcTemporarySpace space;
 *   DlcVariable variable;
 *   dlcResourcesTemporarySpace(resources, cpu, &space);
 *   dlcTemporarySpaceVariable(space, &variable);
 *   dlcEnginePushSync(engine, function, space, NULL, cpu, &x, 1, &variable, 1,
 *                     NULL);
 *   ... in the function: dlcTemporarySpaceReserve(space, bytes, &memory);
 *
 * Numbers are functions of a seed and a position (Philox 4x32-10): they depend
 * neither on the number of threads nor on the order in which these compute.
 *
 * All functions may be called by any thread, and by operations. What resources
 * give out belongs to them: it is good until dlcResourcesDestroy, and in
 * operations pushed before that to their end; to use it later is undefined.
 *
 * In the child of a fork resources start anew, from their last seed, once the
 * engine was started there; what they gave out before gives nothing there
 * (DLC_UNAVAILABLE).
 *
 * Errors of every function that returns a status: DLC_INVALID_ARGUMENT (a null
 * handle or place, no device, a value out of range).
 */

#ifndef DLC_C_RESOURCE_H
#define DLC_C_RESOURCE_H

#include "dlc-c/Storage.h"

typedef struct DlcResourcesImpl *DlcResources;
typedef struct DlcTemporarySpaceImpl *DlcTemporarySpace;
typedef struct DlcRandomImpl *DlcRandom;
typedef struct DlcParallelRandomImpl *DlcParallelRandom;
typedef struct DlcDropoutStateImpl *DlcDropoutState;

/* 0 is the default everywhere. */
typedef struct DlcResourceOptions {
  size_t structSize;
  uint32_t hostSpaces;   /* temporary spaces of each device whose memory the
                            host reads; 0: 4 */
  uint32_t deviceSpaces; /* of each other device; 0: 1 */
  uint64_t seed;
} DlcResourceOptions;

/*===-- Life --------------------------------------------------------------===*/

/* Resources of the devices of `storage` for operations of `engine`; both
 * handles may be destroyed before. Null options: the defaults.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcResourcesCreate(DlcEngine engine, DlcStorage storage,
                                     const DlcResourceOptions *options,
                                     DlcResources *resources);

/* Gives everything back after the operations pushed before; null is ignored.
 * Since 0.1 (unstable) */
DLC_API void dlcResourcesDestroy(DlcResources resources);

/* Starts the sequences of all devices, also of those yet to come, from the
 * beginning of another seed. Operations pushed before keep theirs. Errors:
 * those of dlcEnginePushSync. Since 0.1 (unstable) */
DLC_API DlcStatus dlcResourcesSeed(DlcResources resources, uint64_t seed);

/* The same for one device, with what is yet to come there. Since 0.1 (unstable)
 */
DLC_API DlcStatus dlcResourcesSeedDevice(DlcResources resources,
                                         DlcContext context, uint64_t seed);

/* Gives the memory of all temporary spaces back to the storage after the
 * operations pushed before. Errors: those of dlcEnginePushSync.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcResourcesTrim(DlcResources resources);

/*===-- Temporary space ---------------------------------------------------===*/

/* Memory for the time of one operation, kept for the next; requests get the
 * spaces of a device in turn. Errors: DLC_UNSUPPORTED (a device without
 * memory), those of dlcEngineNewVariable. Since 0.1 (unstable) */
DLC_API DlcStatus dlcResourcesTemporarySpace(DlcResources resources,
                                             DlcContext context,
                                             DlcTemporarySpace *space);

/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcTemporarySpaceVariable(DlcTemporarySpace space,
                                            DlcVariable *variable);

/* At least `bytes` of the device, the same for all calls of one operation until
 * one asks for more; not initialised. Only in an operation that writes the
 * variable: DLC_INVALID_ARGUMENT in others, and in threads that are in none
 * unless one that writes it runs, which then may be whose work they do. Good
 * until that has completed; to use it later is undefined: others have the same
 * memory then. Other errors: those of dlcStorageAllocate.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcTemporarySpaceReserve(DlcTemporarySpace space,
                                           size_t bytes, void **memory);

/* The same in memory of the host, for what goes to the device and back.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcTemporarySpaceReserveHost(DlcTemporarySpace space,
                                               size_t bytes, void **memory);

/*===-- Random numbers ----------------------------------------------------===*/

/* From where a computation draws: a plain value. The same draws give the same
 * numbers, to any threads that share them. It does not hold how many blocks
 * were taken: numbers past them are those of later draws, which is not checked.
 * Will not grow. */
typedef struct DlcRandomDraws {
  uint64_t seed;
  uint64_t position; /* of its block 0, in blocks of four 32-bit words */
  uint32_t stream;   /* independent sequences of a seed */
} DlcRandomDraws;

/* The sequence of a device that operations draw from while they run: what one
 * draws depends on the seed and the operations pushed before. Errors: as
 * dlcResourcesTemporarySpace. Since 0.1 (unstable) */
DLC_API DlcStatus dlcResourcesRandom(DlcResources resources, DlcContext context,
                                     DlcRandom *random);
/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcRandomVariable(DlcRandom random, DlcVariable *variable);
/* Takes the next `blocks`, one for each element of any distribution. Only in an
 * operation that writes the variable, as dlcTemporarySpaceReserve.
 * DLC_INVALID_ARGUMENT for more than 2^64 in all since the last seed: their
 * numbers would come again. Since 0.1 (unstable) */
DLC_API DlcStatus dlcRandomTake(DlcRandom random, uint64_t blocks,
                                DlcRandomDraws *draws);

/* A sequence of the caller's own, drawn while operations are pushed, so that
 * these need not wait for each other. Each request gets another one: its
 * numbers depend on the seed and on how many requests came before. Errors: as
 * dlcResourcesTemporarySpace. Since 0.1 (unstable) */
DLC_API DlcStatus dlcResourcesParallelRandom(DlcResources resources,
                                             DlcContext context,
                                             DlcParallelRandom *random);
/* Takes the next `blocks` at any time. DLC_INVALID_ARGUMENT for more than 2^40
 * in all since the last seed. Since 0.1 (unstable) */
DLC_API DlcStatus dlcParallelRandomTake(DlcParallelRandom random,
                                        uint64_t blocks, DlcRandomDraws *draws);

/* Distributions, with their parameters a and b. */
typedef enum DlcDistribution {
  DLC_UNIFORM = 0,           /* in [a, b), a < b, b - a finite in the type */
  DLC_NORMAL = 1,            /* mean a, deviation b >= 0 */
  DLC_EXPONENTIAL = 2,       /* rate a > 0; f32 only, as all that follow */
  DLC_GAMMA = 3,             /* shape a > 0, scale b > 0 */
  DLC_POISSON = 4,           /* mean a >= 0 */
  DLC_NEGATIVE_BINOMIAL = 5, /* failures before a > 0 successes of probability
                                b in (0, 1] */
  DLC_BERNOULLI = 6,         /* 1 with probability a in [0, 1], else 0; bool */
  DLC_DISTRIBUTION_LIMIT = 0x7fffffff
} DlcDistribution;

/* Writes elements [first, first + count) of the sequence that draws,
 * distribution and parameters name, as DLC_F32, DLC_F64 (uniform, normal) or
 * DLC_BOOL (Bernoulli). What lies beyond the range of the type is its largest
 * number. The parameters of the first three are rounded to DLC_F32 for it, and
 * have to be parameters then. Errors: DLC_INVALID_ARGUMENT (parameters; no type
 * at all), DLC_UNSUPPORTED (another type). Since 0.1 (unstable) */
DLC_API DlcStatus dlcRandomFill(DlcRandomDraws draws,
                                DlcDistribution distribution, double a,
                                double b, uint64_t first, DlcDataType type,
                                void *out, size_t count);

/* The same for integers of [low, high), each with the same probability.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcRandomFillIntegers(DlcRandomDraws draws, int64_t low,
                                        int64_t high, uint64_t first,
                                        int64_t *out, size_t count);

/* The four words of block `index`. Since 0.1 (unstable) */
DLC_API DlcStatus dlcRandomBlock(DlcRandomDraws draws, uint64_t index,
                                 uint32_t words[4]);

/*===-- Dropout -----------------------------------------------------------===*/

/* Which elements a dropout keeps, for the forward and the backward pass: a
 * plain value. Will not grow. */
typedef struct DlcDropoutMask {
  DlcRandomDraws draws;
  double keepProbability;
} DlcDropoutMask;

/* Makes masks, from a sequence of its own as dlcResourcesParallelRandom.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcResourcesDropoutState(DlcResources resources,
                                           DlcContext context,
                                           DlcDropoutState *state);

/* The mask for the next tensor, of `count` elements, which keeps each with a
 * probability in (0, 1]. Since 0.1 (unstable) */
DLC_API DlcStatus dlcDropoutStateNext(DlcDropoutState state, uint64_t count,
                                      double keepProbability,
                                      DlcDropoutMask *mask);

/* out[i] = kept ? in[i] / keepProbability : 0 for `count` elements of the
 * tensor from `first` on; `in` may be `out`. Threads may share a tensor in any
 * way. Since 0.1 (unstable) */
DLC_API DlcStatus dlcDropoutMaskApply(DlcDropoutMask mask, uint64_t first,
                                      const float *in, float *out,
                                      size_t count);

#endif /* DLC_C_RESOURCE_H */
