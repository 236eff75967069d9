/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of devices from C: a manager for each, made when it is first asked
 * for. What a manager is depends on the device: pinned memory on
 * DLC_DEVICE_CPU_PINNED, memory between processes on DLC_DEVICE_CPU_SHARED, and
 * pools (or, for debugging, the system's allocator) on all others.
 *
 *   DlcStorage storage;
 *   dlcStorageCreate(NULL, &storage);
 *   DlcBlock block;
 *   dlcStorageAllocate(storage, cpu, 4096, 0, &block);
 *   memset(dlcBlockData(block), 0, dlcBlockSize(block));
 *   dlcBlockDestroy(block);                       back into the pool
 *   dlcStorageTrim(storage);                      back to the system
 *   dlcStorageDestroy(storage);
 *
 * All functions may be called by any thread; a block is for one at a time.
 * Blocks, arrays and resources may outlive the handle of their storage. In the
 * child of a fork a storage starts anew; blocks of the parent can be read and
 * destroyed there, which gives nothing back.
 *
 * Errors of every function that returns a status: DLC_INVALID_ARGUMENT (a null
 * handle or place, no device, a value out of range), DLC_UNSUPPORTED (a device
 * that has no memory in this process). Nothing happens then. Handles are
 * addresses: it is undefined, as with free(), to use one after its
 * dlc...Destroy.
 */

#ifndef DLC_C_STORAGE_H
#define DLC_C_STORAGE_H

#include "dlc-c/Engine.h"

typedef struct DlcStorageImpl *DlcStorage;
typedef struct DlcBlockImpl *DlcBlock;

typedef enum DlcStorageKind {
  DLC_STORAGE_POOLED = 0, /* freed blocks are split, joined and used again */
  DLC_STORAGE_NAIVE = 1,  /* every block from the system and back at once */
  DLC_STORAGE_KIND_LIMIT = 0x7fffffff
} DlcStorageKind;

/* 0 is the default everywhere. For each device by itself. */
typedef struct DlcStorageOptions {
  size_t structSize;
  DlcStorageKind kind;
  uint32_t caches;    /* of small blocks, at most 2^16; 0: one for each
                         processor */
  uint64_t byteCap;   /* most memory taken from the system; 0: no limit */
  uint64_t keptBytes; /* most free memory kept for later; 0: all of it */
  /* Waits until the work that is queued on `stream` is over, so that a request
   * that finds no memory gets what was released there; called by the thread
   * that allocates or trims, by several at once, and must not allocate for
   * another stream. Null: only dlcStorageSynchronized frees that. */
  void (*waitForStream)(void *waitData, uint32_t stream);
  void *waitData;
} DlcStorageOptions;

/*===-- Life --------------------------------------------------------------===*/

/* Null options: the defaults. Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageCreate(const DlcStorageOptions *options,
                                   DlcStorage *storage);

/* Ends the handle; null is ignored. Since 0.1 (unstable) */
DLC_API void dlcStorageDestroy(DlcStorage storage);

/* Where the memory of a device comes from: addresses first, memory behind them
 * later, piece by piece, and back again, as CUDA's virtual memory calls and
 * mmap() have it. Called by one thread at a time for each device, with a lock
 * of the device held: the functions must not use its memory or its figures.
 * Addresses need not be the host's: nothing is written there. */
typedef struct DlcMemorySource {
  size_t structSize;
  void *sourceData;
  size_t granule;     /* of what follows: a power of two, at least 64 bytes */
  size_t regionBytes; /* of addresses that are worth reserving at once: a
                         multiple of the granule */
  /* Addresses, a multiple of the granule, without memory. Others are given
   * back at once. */
  DlcStatus (*reserve)(void *sourceData, size_t bytes, void **start);
  /* Puts memory behind a piece that has none; on error it is as before. */
  DlcStatus (*commit)(void *sourceData, void *start, size_t bytes);
  /* Gives the memory of a piece back and keeps its addresses; 0 when that is
   * not possible now: nothing changed. */
  int32_t (*decommit)(void *sourceData, void *start, size_t bytes);
  /* Gives a whole reservation back, with its memory. */
  void (*unreserve)(void *sourceData, void *start, size_t bytes);
  /* Ends the data, once, after the last block, and also when it was refused
   * (unless structSize was not set). Null: nothing to end. */
  void (*destroy)(void *sourceData);
} DlcMemorySource;

/* Gives a device its memory, managed as the options of the storage say: how a
 * device that has none here gets some. A device of the host takes its own when
 * somebody first asks for it (a block, an array, statistics; resources, for
 * which DLC_DEVICE_CPU 0 takes its own too); before that it gets this in its
 * place, which the host must be able to read and write. DLC_INVALID_ARGUMENT
 * for a device that has its memory, and for DLC_DEVICE_CPU_SHARED. The child of
 * a fork() does not have it. Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageAddDevice(DlcStorage storage, DlcContext context,
                                      const DlcMemorySource *source);

/*===-- Blocks ------------------------------------------------------------===*/

/* At least `bytes`, which may be 0, of a device, for work on `stream`, a queue
 * of the device below 64; 0: the host. The bytes are not initialised. When
 * there is no memory, what is free is given back and the system asked once
 * more. Errors: DLC_OUT_OF_MEMORY, DLC_UNAVAILABLE (memory that may not be
 * locked). Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageAllocate(DlcStorage storage, DlcContext context,
                                     size_t bytes, uint32_t stream,
                                     DlcBlock *block);

/* Releases the block: its memory goes to later requests, or back to the system.
 * Null is ignored. Since 0.1 (unstable) */
DLC_API void dlcBlockDestroy(DlcBlock block);

/* The address, aligned to DLC_ALIGNMENT, also of a block of 0 bytes; null for
 * null. Since 0.1 (unstable) */
DLC_API void *dlcBlockData(DlcBlock block);

/* In bytes, as asked for; 0 for null. Since 0.1 (unstable) */
DLC_API size_t dlcBlockSize(DlcBlock block);

/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcBlockGetContext(DlcBlock block, DlcContext *context);

/*===-- Giving back, looking ----------------------------------------------===*/

/* Gives the free memory of all devices back to the system.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageTrim(DlcStorage storage);

/* The same of one device. Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageTrimDevice(DlcStorage storage, DlcContext context);

/* The work of `stream` on blocks released so far is over, so that other streams
 * may have their memory. Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageSynchronized(DlcStorage storage, DlcContext context,
                                         uint32_t stream);

/* Figures of a device at one moment. */
typedef struct DlcStorageStatistics {
  size_t structSize;
  uint64_t liveBytes; /* as asked for, in blocks that exist */
  uint64_t liveBlocks;
  uint64_t usedBytes;     /* the same rounded up, and what caches hold */
  uint64_t peakUsedBytes; /* the high-water mark */
  uint64_t reservedBytes; /* memory taken from the system */
  uint64_t peakReservedBytes;
  uint64_t largestFreeBytes; /* the largest free piece */
  uint64_t allocations;      /* that succeeded */
  uint64_t failures;         /* that did not, after the retry */
  uint64_t retries;          /* that gave free memory back first */
  uint64_t systemCalls;      /* to take memory or give it back */
  double fragmentation;      /* the part of the free memory outside of the
                                largest free piece, 0 to 1 */
} DlcStorageStatistics;

/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageGetStatistics(DlcStorage storage,
                                          DlcContext context,
                                          DlcStorageStatistics *statistics);

/* Peaks of a device are those from now on. Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageResetPeaks(DlcStorage storage, DlcContext context);

/* Tells a profiler what is allocated and released from now on, on all devices;
 * null ends that. The profiler may be destroyed before the storage. Errors:
 * DLC_UNAVAILABLE (a profiler from before a fork).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageSetProfiler(DlcStorage storage,
                                        DlcProfiler profiler);

/*===-- Memory between processes ------------------------------------------===*/

/* How another process of the same user finds a block of a
 * DLC_DEVICE_CPU_SHARED device: plain numbers, to send. Good as long as the
 * process that made it has the block. Will not grow. */
typedef struct DlcSharedHandle {
  int32_t process;
  int32_t descriptor;
  uint64_t inode;
} DlcSharedHandle;

/* Describes a block of `storage`. DLC_INVALID_ARGUMENT for other blocks.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageShare(DlcStorage storage, DlcBlock block,
                                  DlcSharedHandle *handle);

/* The same memory as a block of its own, here or in another process. What it
 * holds comes from there: check it. Errors: DLC_NOT_FOUND (the process or the
 * block is gone), DLC_INVALID_ARGUMENT (not such a block), DLC_UNAVAILABLE.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageOpen(DlcStorage storage, DlcContext context,
                                 DlcSharedHandle handle, DlcBlock *block);

/* A new file descriptor of the memory, the caller's to close, to be sent over a
 * socket (SCM_RIGHTS) to a process that may not look into this one.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageDuplicateDescriptor(DlcStorage storage,
                                                DlcBlock block,
                                                int32_t *descriptor);

/* The memory of such a descriptor, which stays the caller's. Errors: as
 * dlcStorageOpen. Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageOpenDescriptor(DlcStorage storage,
                                           DlcContext context,
                                           int32_t descriptor, DlcBlock *block);

/* How many blocks of all processes have this memory; one that died counts on.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcStorageReferences(DlcStorage storage, DlcBlock block,
                                       uint32_t *count);

#endif /* DLC_C_STORAGE_H */
