/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API of storage managers from C, against the shared library.
 */

#include "dlc-c/Storage.h"
#include "Check.h"
#include "dlc-c/NDArray.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const DlcContext cpu = {DLC_DEVICE_CPU, 0};
static const DlcContext shared = {DLC_DEVICE_CPU_SHARED, 0};
static const size_t page = 4096;

static DlcStorage makeStorage(DlcStorageKind kind, uint64_t byteCap) {
  DlcStorageOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.kind = kind;
  options.byteCap = byteCap;
  options.caches = 1;
  DlcStorage storage = NULL;
  CHECK_OK(dlcStorageCreate(&options, &storage));
  return storage;
}

static DlcStorageStatistics look(DlcStorage storage, DlcContext context) {
  DlcStorageStatistics statistics;
  memset(&statistics, 0, sizeof(statistics));
  statistics.structSize = sizeof(statistics);
  CHECK_OK(dlcStorageGetStatistics(storage, context, &statistics));
  return statistics;
}

static DlcBlock allocate(DlcStorage storage, DlcContext context, size_t bytes,
                         uint32_t stream) {
  DlcBlock block = NULL;
  CHECK_OK(dlcStorageAllocate(storage, context, bytes, stream, &block));
  CHECK(block != NULL && dlcBlockSize(block) == bytes);
  CHECK((uintptr_t)dlcBlockData(block) % DLC_ALIGNMENT == 0);
  DlcContext place = {DLC_DEVICE_NULL, 9};
  CHECK_OK(dlcBlockGetContext(block, &place));
  CHECK(place.kind == context.kind && place.index == context.index);
  return block;
}

/* Pages of this process in memory. */
static size_t resident(void) {
  long total = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%ld %ld", &total, &pages) == 2);
  if (file)
    fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void testBlocks(DlcStorageKind kind) {
  DlcStorage storage = makeStorage(kind, 0);
  const DlcContext devices[] = {
      cpu, {DLC_DEVICE_NULL, 3}, {DLC_DEVICE_CPU_PINNED, 0}, shared};
  for (size_t i = 0; i != sizeof(devices) / sizeof(*devices); ++i) {
    DlcBlock block = allocate(storage, devices[i], page, 0);
    DlcBlock empty = allocate(storage, devices[i], 0, 0);
    memset(dlcBlockData(block), 7, page);
    CHECK(dlcBlockData(empty) != NULL);
    DlcStorageStatistics now = look(storage, devices[i]);
    CHECK(now.liveBytes == page && now.liveBlocks == 2 && now.allocations == 2);
    CHECK(now.reservedBytes >= page && now.failures == 0);
    dlcBlockDestroy(block);
    dlcBlockDestroy(empty);
    now = look(storage, devices[i]);
    CHECK(now.liveBytes == 0 && now.liveBlocks == 0);
    CHECK(now.peakReservedBytes >= page);
  }
  DlcBlock late = allocate(storage, cpu, 100, 0);
  dlcStorageDestroy(storage);
  memset(dlcBlockData(late), 1, 100);
  dlcBlockDestroy(late);
}

/* What is released stays in the pool until it is given back. */
static void testRelease(void) {
  const size_t bytes = (size_t)64 << 20;
  DlcStorage storage = makeStorage(DLC_STORAGE_POOLED, 0);
  size_t before = resident();
  DlcBlock block = allocate(storage, cpu, bytes, 0);
  memset(dlcBlockData(block), 1, bytes);
  dlcBlockDestroy(block);
  CHECK(look(storage, cpu).reservedBytes >= bytes);
  CHECK(resident() >= before + bytes / 2);
  DlcContext other = {DLC_DEVICE_NULL, 0};
  CHECK_OK(dlcStorageTrimDevice(storage, other));
  CHECK(look(storage, cpu).reservedBytes >= bytes);
  CHECK_OK(dlcStorageTrimDevice(storage, cpu));
  CHECK(look(storage, cpu).reservedBytes == 0);
  CHECK(resident() < before + bytes / 2);
  block = allocate(storage, cpu, bytes, 0);
  dlcBlockDestroy(block);
  CHECK_OK(dlcStorageTrim(storage));
  DlcStorageStatistics now = look(storage, cpu);
  CHECK(now.reservedBytes == 0 && now.fragmentation == 0);
  CHECK(now.peakUsedBytes >= bytes);
  CHECK_OK(dlcStorageResetPeaks(storage, cpu));
  CHECK(look(storage, cpu).peakUsedBytes == 0);
  dlcStorageDestroy(storage);
}

/* A lack of memory is a status, after what is free was given back. */
static void testCap(DlcStorageKind kind) {
  const size_t cap = (size_t)8 << 20;
  DlcStorage storage = makeStorage(kind, cap);
  DlcBlock block = allocate(storage, shared, cap / 2, 0), none = NULL;
  CHECK_ERROR(dlcStorageAllocate(storage, shared, cap, 0, &none),
              DLC_OUT_OF_MEMORY, "cannot allocate 8388608 bytes on cpu_shared");
  dlcBlockDestroy(block);
  block = allocate(storage, cpu, cap / 2, 0);
  CHECK_ERROR(dlcStorageAllocate(storage, cpu, cap, 0, &none),
              DLC_OUT_OF_MEMORY, "cannot allocate 8388608 bytes on cpu");
  dlcBlockDestroy(block);
  DlcStorageStatistics now = look(storage, cpu);
  CHECK(now.failures == 1 && now.reservedBytes <= cap);
  dlcBlockDestroy(allocate(storage, cpu, cap / 2, 0));
  CHECK_ERROR(dlcStorageAllocate(storage, cpu, SIZE_MAX, 0, &none),
              DLC_OUT_OF_MEMORY, "cannot allocate");
  CHECK(none == NULL);
  dlcStorageDestroy(storage);
}

/* What was released on a stream serves that stream, and others when its work is
 * over. */
static void testStreams(void) {
  DlcStorage storage = makeStorage(DLC_STORAGE_POOLED, 0);
  const size_t bytes = (size_t)4 << 20;
  DlcBlock block = allocate(storage, cpu, bytes, 5);
  void *start = dlcBlockData(block);
  dlcBlockDestroy(block);
  block = allocate(storage, cpu, bytes, 0);
  CHECK(dlcBlockData(block) != start);
  dlcBlockDestroy(block);
  block = allocate(storage, cpu, bytes, 5);
  CHECK(dlcBlockData(block) == start);
  dlcBlockDestroy(block);
  CHECK_OK(dlcStorageTrim(storage));
  CHECK(look(storage, cpu).reservedBytes >= bytes);
  CHECK_OK(dlcStorageSynchronized(storage, cpu, 5));
  CHECK_OK(dlcStorageTrim(storage));
  CHECK(look(storage, cpu).reservedBytes == 0);
  dlcStorageDestroy(storage);
}

static void noteStream(void *data, uint32_t stream) {
  *(uint32_t *)data = stream;
}

static void testWaitingForStreams(void) {
  uint32_t waited = 0;
  DlcStorageOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.byteCap = (uint64_t)8 << 20;
  options.waitForStream = noteStream;
  options.waitData = &waited;
  DlcStorage storage = NULL;
  CHECK_OK(dlcStorageCreate(&options, &storage));
  const size_t bytes = (size_t)6 << 20;
  dlcBlockDestroy(allocate(storage, cpu, bytes, 3));
  DlcBlock block = allocate(storage, cpu, bytes, 4);
  CHECK(waited == 3 && look(storage, cpu).retries == 1);
  dlcBlockDestroy(block);
  dlcStorageDestroy(storage);
}

/* Another process opens the block and writes what this one reads. */
static void testProcesses(void) {
  DlcStorage storage = makeStorage(DLC_STORAGE_POOLED, 0);
  DlcBlock block = allocate(storage, shared, page, 0), copy = NULL;
  DlcSharedHandle handle = {0, 0, 0};
  uint32_t references = 0;
  CHECK_OK(dlcStorageShare(storage, block, &handle));
  CHECK(handle.process == (int32_t)getpid() && handle.descriptor >= 0);
  int *numbers = dlcBlockData(block);
  numbers[0] = 41;
  pid_t child = fork();
  if (child == 0) {
    DlcStorage own = NULL;
    DlcBlock there = NULL;
    failures = 0;
    CHECK_OK(dlcStorageCreate(NULL, &own));
    CHECK_OK(dlcStorageOpen(own, shared, handle, &there));
    if (there)
      ++*(int *)dlcBlockData(there);
    dlcBlockDestroy(there);
    dlcStorageDestroy(own);
    _exit(failures);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(numbers[0] == 42);
  int32_t descriptor = -1;
  CHECK_OK(dlcStorageDuplicateDescriptor(storage, block, &descriptor));
  CHECK_OK(dlcStorageOpenDescriptor(storage, shared, descriptor, &copy));
  CHECK_OK(dlcStorageReferences(storage, block, &references));
  CHECK(references == 2 && ((int *)dlcBlockData(copy))[0] == 42);
  close(descriptor);
  dlcBlockDestroy(copy);
  DlcBlock private = allocate(storage, cpu, page, 0), none = NULL;
  CHECK_ERROR(dlcStorageShare(storage, private, &handle), DLC_INVALID_ARGUMENT,
              "expected a cpu_shared device, got cpu");
  CHECK_ERROR(dlcStorageReferences(storage, private, &references),
              DLC_INVALID_ARGUMENT, "cpu_shared");
  DlcStorage other = makeStorage(DLC_STORAGE_POOLED, 0);
  CHECK_ERROR(dlcStorageShare(other, block, &handle), DLC_INVALID_ARGUMENT,
              "expected a block");
  CHECK_ERROR(dlcStorageDuplicateDescriptor(other, block, &descriptor),
              DLC_INVALID_ARGUMENT, "expected a block");
  CHECK_ERROR(dlcStorageReferences(other, block, &references),
              DLC_INVALID_ARGUMENT, "expected a block");
  dlcStorageDestroy(other);
  dlcBlockDestroy(private);
  dlcBlockDestroy(block);
  CHECK_ERROR(dlcStorageOpen(storage, shared, handle, &none), DLC_NOT_FOUND,
              "cannot open shared:");
  CHECK_ERROR(dlcStorageOpenDescriptor(storage, shared, -1, &none),
              DLC_INVALID_ARGUMENT, "");
  CHECK_ERROR(dlcStorageOpen(storage, cpu, handle, &none), DLC_INVALID_ARGUMENT,
              "expected a cpu_shared device, got cpu");
  CHECK(none == NULL);
  dlcStorageDestroy(storage);
}

/* A device whose memory functions of the application give. */
typedef struct {
  size_t reserved, committed;
  int ends, failsToCommit, isCrooked;
} Device;

static DlcStatus reserve(void *data, size_t bytes, void **start) {
  Device *device = data;
  if (device->isCrooked == 1)
    return NULL; /* which is no address */
  *start = aligned_alloc((size_t)1 << 16, bytes);
  device->reserved += bytes;
  if (*start && device->isCrooked)
    *start = (char *)*start + 64;
  return *start ? NULL : dlcStatusCreate(DLC_OUT_OF_MEMORY, "no addresses");
}

static DlcStatus commit(void *data, void *start, size_t bytes) {
  Device *device = data;
  CHECK((uintptr_t)start % ((size_t)1 << 16) == 0);
  CHECK(bytes % ((size_t)1 << 16) == 0);
  if (device->failsToCommit)
    return dlcStatusCreate(DLC_OUT_OF_MEMORY, "the device is full");
  device->committed += bytes;
  return NULL;
}

static int32_t decommit(void *data, void *start, size_t bytes) {
  (void)start;
  ((Device *)data)->committed -= bytes;
  return 1;
}

static void unreserve(void *data, void *start, size_t bytes) {
  Device *device = data;
  device->reserved -= bytes;
  free(device->isCrooked ? (char *)start - 64 : start);
}

static void endDevice(void *data) { ++((Device *)data)->ends; }

static void testDevices(DlcStorageKind kind) {
  const DlcStatusCode bad = DLC_INVALID_ARGUMENT;
  const DlcContext far = {DLC_DEVICE_CUDA, 1};
  Device device = {0, 0, 0, 0, 0}, refused = {0, 0, 0, 0, 0};
  DlcMemorySource source = {sizeof(source),  &device,   (size_t)1 << 16,
                            (size_t)1 << 20, reserve,   commit,
                            decommit,        unreserve, endDevice};
  DlcStorage storage = makeStorage(kind, 0);
  DlcBlock block = NULL, none = NULL;
  CHECK_OK(dlcStorageAddDevice(storage, far, &source));
  block = allocate(storage, far, 100000, 0);
  CHECK(device.reserved >= 100000 && device.committed >= 100000);
  device.failsToCommit = 1;
  CHECK_ERROR(dlcStorageAllocate(storage, far, (size_t)1 << 24, 0, &none),
              DLC_OUT_OF_MEMORY, "the device is full");
  device.failsToCommit = 0;
  dlcBlockDestroy(block);
  CHECK_OK(dlcStorageTrimDevice(storage, far));
  CHECK(device.committed == 0 || kind == DLC_STORAGE_NAIVE);

  source.sourceData = &refused;
  CHECK_ERROR(dlcStorageAddDevice(storage, far, &source), bad,
              "cuda:1 already has a storage manager");
  CHECK_ERROR(dlcStorageAddDevice(storage, shared, &source), bad,
              "other than cpu_shared");
  CHECK_ERROR(dlcStorageAddDevice(NULL, far, &source), bad, "a storage");
  source.granule = 48;
  CHECK_ERROR(dlcStorageAddDevice(storage, far, &source), bad,
              "got regions of 1048576 and granules of 48");
  source.granule = (size_t)1 << 16;
  source.reserve = NULL;
  CHECK_ERROR(dlcStorageAddDevice(storage, far, &source), bad,
              "the functions of a memory source");
  CHECK(refused.ends == 5 && device.ends == 0);
  source.structSize = 0;
  CHECK_ERROR(dlcStorageAddDevice(storage, far, &source), bad, "structSize");
  CHECK_ERROR(dlcStorageAddDevice(storage, far, NULL), bad, "a memory source");
  CHECK(refused.ends == 5);
  struct {
    DlcMemorySource source;
    size_t newer;
  } larger = {source, 1};
  larger.source.structSize = sizeof(larger);
  CHECK_ERROR(dlcStorageAddDevice(storage, far, &larger.source),
              DLC_UNSUPPORTED, "it needs a newer version");
  CHECK(refused.ends == 6);
  block = allocate(storage, far, 100, 0);
  dlcStorageDestroy(storage);
  CHECK(device.ends == 0);
  dlcBlockDestroy(block); /* And with it the manager. */
  CHECK(device.ends == 1 && device.reserved == 0);

  Device crooked = {0, 0, 0, 0, 1};
  DlcMemorySource odd = {sizeof(odd),     &crooked,  (size_t)1 << 16,
                         (size_t)1 << 20, reserve,   commit,
                         decommit,        unreserve, NULL};
  storage = makeStorage(kind, 0);
  CHECK_OK(dlcStorageAddDevice(storage, far, &odd));
  for (; crooked.isCrooked != 3; ++crooked.isCrooked)
    CHECK_ERROR(dlcStorageAllocate(storage, far, 100, 0, &none), DLC_INTERNAL,
                "expected addresses aligned to 65536 bytes from the memory");
  CHECK(none == NULL && crooked.reserved == 0);
  dlcStorageDestroy(storage);
}

/* A device of the host has memory of its own from the first look on; before
 * that it takes another's. */
static void testDevicesOfTheHost(DlcStorageKind kind) {
  const DlcContext unseen[] = {
      {DLC_DEVICE_CPU, 3}, {DLC_DEVICE_CPU_PINNED, 20}, {DLC_DEVICE_NULL, 0}};
  Device device = {0, 0, 0, 0, 0};
  DlcMemorySource source = {sizeof(source),  &device,   (size_t)1 << 16,
                            (size_t)1 << 20, reserve,   commit,
                            decommit,        unreserve, endDevice};
  DlcStorage storage = makeStorage(kind, 0);
  int ends = 0;
  for (int i = 0; i != 3; ++i) {
    size_t before = device.committed;
    CHECK_OK(dlcStorageAddDevice(storage, unseen[i], &source));
    DlcBlock block = allocate(storage, unseen[i], 1000, 0);
    CHECK(device.committed > before);
    memset(dlcBlockData(block), 1, 1000);
    dlcBlockDestroy(block);
    CHECK_ERROR(dlcStorageAddDevice(storage, unseen[i], &source),
                DLC_INVALID_ARGUMENT, "already has a storage manager");
    CHECK(device.ends == ++ends);
  }
  CHECK(look(storage, cpu).reservedBytes == 0); /* That is a look. */
  CHECK_ERROR(dlcStorageAddDevice(storage, cpu, &source), DLC_INVALID_ARGUMENT,
              "cpu:0 already has a storage manager");
  CHECK(device.ends == ++ends);
  dlcStorageDestroy(storage);
  CHECK(device.ends == ends + 3 && device.reserved == 0);
}

/* So does one for which there is an array, though it has no memory yet, or
 * resources, which use cpu:0 too. */
static void testDevicesInUse(void) {
  const DlcContext fourth = {DLC_DEVICE_CPU, 4}, fifth = {DLC_DEVICE_CPU, 5};
  const DlcContext used[] = {fifth, fourth, cpu};
  const int64_t shape = 3;
  Device device = {0, 0, 0, 0, 0};
  DlcMemorySource source = {sizeof(source),  &device,   (size_t)1 << 16,
                            (size_t)1 << 20, reserve,   commit,
                            decommit,        unreserve, endDevice};
  DlcStorage storage = makeStorage(DLC_STORAGE_POOLED, 0);
  DlcEngine engine = NULL;
  DlcArrayRuntime runtime = NULL;
  DlcNDArray array = NULL;
  DlcResources resources = NULL;
  DlcRandom random = NULL;
  CHECK_OK(dlcEngineCreate(NULL, &engine));
  CHECK_OK(dlcArrayRuntimeCreateWith(engine, storage, NULL, &runtime));
  CHECK_OK(dlcNDArrayCreate(runtime, DLC_F32, &shape, 1, fifth, &array));
  CHECK_OK(dlcResourcesCreate(engine, storage, NULL, &resources));
  CHECK_OK(dlcResourcesRandom(resources, fourth, &random));
  for (int i = 0; i != 3; ++i)
    CHECK_ERROR(dlcStorageAddDevice(storage, used[i], &source),
                DLC_INVALID_ARGUMENT, "already has a storage manager");
  CHECK(device.ends == 3);
  dlcNDArrayDestroy(array);
  dlcResourcesDestroy(resources);
  dlcArrayRuntimeDestroy(runtime);
  dlcEngineDestroy(engine);
  dlcStorageDestroy(storage);
}

static void testBadCalls(void) {
  DlcStorage storage = makeStorage(DLC_STORAGE_POOLED, 0), none = NULL;
  DlcBlock block = NULL;
  DlcContext nowhere = {DLC_DEVICE_CPU, -1}, far = {DLC_DEVICE_CUDA, 0};
  DlcContext place;
  DlcSharedHandle handle = {0, 0, 0};
  DlcStorageStatistics statistics;
  int32_t descriptor = 0;
  uint32_t count = 0;
  memset(&statistics, 0, sizeof(statistics));
  const DlcStatusCode bad = DLC_INVALID_ARGUMENT;
  CHECK_ERROR(dlcStorageCreate(NULL, NULL), bad, "a place for the storage");
  CHECK_ERROR(dlcStorageAllocate(NULL, cpu, 1, 0, &block), bad, "a storage");
  CHECK_ERROR(dlcStorageAllocate(storage, cpu, 1, 0, NULL), bad, "a place");
  CHECK_ERROR(dlcStorageAllocate(storage, nowhere, 1, 0, &block), bad,
              "number -1");
  CHECK_ERROR(dlcStorageAllocate(storage, far, 1, 0, &block), DLC_UNSUPPORTED,
              "cuda:0");
  CHECK_ERROR(dlcStorageAllocate(storage, cpu, 1, 64, &block), bad,
              "expected a stream below 64, got 64");
  CHECK_ERROR(dlcStorageSynchronized(storage, cpu, 64), bad,
              "expected a stream below 64, got 64");
  CHECK_ERROR(dlcStorageSynchronized(NULL, cpu, 0), bad, "a storage");
  CHECK_ERROR(dlcStorageTrim(NULL), bad, "a storage");
  CHECK_ERROR(dlcStorageTrimDevice(NULL, cpu), bad, "a storage");
  CHECK_ERROR(dlcStorageTrimDevice(storage, nowhere), bad, "number -1");
  CHECK_ERROR(dlcStorageGetStatistics(storage, cpu, &statistics), bad,
              "structSize");
  CHECK_ERROR(dlcStorageGetStatistics(storage, cpu, NULL), bad, "a place");
  CHECK_ERROR(dlcStorageGetStatistics(NULL, cpu, &statistics), bad,
              "a storage");
  CHECK_ERROR(dlcStorageResetPeaks(NULL, cpu), bad, "a storage");
  CHECK_ERROR(dlcStorageSetProfiler(NULL, NULL), bad, "a storage");
  CHECK_ERROR(dlcStorageShare(storage, NULL, &handle), bad, "a block");
  CHECK_ERROR(dlcStorageShare(storage, block, NULL), bad, "a place");
  CHECK_ERROR(dlcStorageOpen(NULL, shared, handle, &block), bad, "a storage");
  CHECK_ERROR(dlcStorageOpen(storage, shared, handle, NULL), bad, "a place");
  CHECK_ERROR(dlcStorageDuplicateDescriptor(storage, NULL, &descriptor), bad,
              "a block");
  CHECK_ERROR(dlcStorageOpenDescriptor(storage, shared, 0, NULL), bad,
              "a place");
  CHECK_ERROR(dlcStorageReferences(storage, NULL, &count), bad, "a block");
  CHECK_ERROR(dlcBlockGetContext(NULL, &place), bad, "a block");
  CHECK(dlcBlockData(NULL) == NULL && dlcBlockSize(NULL) == 0);
  CHECK(block == NULL);
  dlcBlockDestroy(NULL);
  dlcStorageDestroy(NULL);
  DlcStorageOptions options;
  memset(&options, 0, sizeof(options));
  CHECK_ERROR(dlcStorageCreate(&options, &none), bad, "structSize");
  options.structSize = sizeof(options);
  options.kind = (DlcStorageKind)2;
  CHECK_ERROR(dlcStorageCreate(&options, &none), bad,
              "expected a kind of storage, got 2");
  options.kind = DLC_STORAGE_POOLED;
  options.caches = UINT32_MAX;
  CHECK_ERROR(dlcStorageCreate(&options, &none), bad,
              "expected a number of caches, got 4294967295");
  CHECK(none == NULL);
  dlcStorageDestroy(storage);
}

int main(void) {
  for (int kind = DLC_STORAGE_POOLED; kind <= DLC_STORAGE_NAIVE; ++kind) {
    testBlocks((DlcStorageKind)kind);
    testCap((DlcStorageKind)kind);
    testDevices((DlcStorageKind)kind);
    testDevicesOfTheHost((DlcStorageKind)kind);
  }
  testDevicesInUse();
  testRelease();
  testStreams();
  testWaitingForStreams();
  testProcesses();
  testBadCalls();
  return failures != 0;
}
