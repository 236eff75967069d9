// SPDX-License-Identifier: Apache-2.0

#include "dlc-c/Storage.h"

#include "Handles.h"
#include "dlc/runtime/CAPI/Options.h"

#include <bit>

using namespace dlc::rt;

struct DlcBlockImpl {
  Allocation block;
};

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

/// Zero stands for the default, which is no bound.
static size_t toBound(uint64_t bytes) {
  return bytes ? std::min<uint64_t>(bytes, SIZE_MAX) : SIZE_MAX;
}

static Status readStorageOptions(const DlcStorageOptions &given,
                                 StorageOptions &options) {
  DlcStorageOptions known = {};
  DLC_RETURN_IF_ERROR(readOptions(given, known));
  if (unsigned(known.kind) > DLC_STORAGE_NAIVE)
    return outOfRange("a kind of storage", known.kind);
  constexpr uint32_t mostCaches = 1 << 16; // No machine has more processors.
  if (known.caches > mostCaches)
    return outOfRange("a number of caches", known.caches);
  options.kind = known.kind == DLC_STORAGE_POOLED ? StorageKind::Pooled
                                                  : StorageKind::Naive;
  options.pool.byteCap = toBound(known.byteCap);
  options.pool.keptBytes = toBound(known.keptBytes);
  options.pool.caches = known.caches;
  if (known.waitForStream)
    options.pool.waitForStream =
        [wait = known.waitForStream, data = known.waitData](
            StreamId stream) noexcept { wait(data, stream); };
  return Status::ok();
}

DlcStatus dlcStorageCreate(const DlcStorageOptions *options,
                           DlcStorage *storage) {
  if (!storage)
    return wrap(missing("a place for the storage"));
  StorageOptions known;
  if (options)
    if (Status status = readStorageOptions(*options, known); !status.isOk())
      return wrap(std::move(status));
  auto shared = makeShared<ProfiledStorage>(known);
  if (!shared)
    return wrap(noMemory("a storage"));
  return makeHandle(storage, std::move(shared));
}

void dlcStorageDestroy(DlcStorage storage) { delete storage; }

//===----------------------------------------------------------------------===//
// Memory of devices that bring their own
//===----------------------------------------------------------------------===//

namespace {

/// Memory that functions of the caller give.
class CallerSource final : public MemorySource {
public:
  explicit CallerSource(const DlcMemorySource &given) : given(given) {}
  ~CallerSource() override {
    if (given.destroy)
      given.destroy(given.sourceData);
  }

  size_t granule() const override { return given.granule; }
  size_t regionBytes() const override { return given.regionBytes; }

  Result<std::byte *> reserve(size_t bytes) noexcept override {
    void *start = nullptr;
    DLC_RETURN_IF_ERROR(unwrap(given.reserve(given.sourceData, bytes, &start)));
    if (start && reinterpret_cast<uintptr_t>(start) % given.granule == 0)
      return static_cast<std::byte *>(start);
    if (start)
      given.unreserve(given.sourceData, start, bytes);
    return makeError(StatusCode::Internal,
                     "expected addresses aligned to %zu bytes from the memory "
                     "source, got %p",
                     given.granule, start);
  }
  Status commit(std::byte *start, size_t bytes) noexcept override {
    return unwrap(given.commit(given.sourceData, start, bytes));
  }
  bool decommit(std::byte *start, size_t bytes) noexcept override {
    return given.decommit(given.sourceData, start, bytes) != 0;
  }
  void unreserve(std::byte *start, size_t bytes) noexcept override {
    given.unreserve(given.sourceData, start, bytes);
  }

private:
  const DlcMemorySource given;
};

} // namespace

static Status checkSource(const DlcMemorySource &source) {
  if (!source.reserve || !source.commit || !source.decommit ||
      !source.unreserve)
    return missing("the functions of a memory source");
  if (std::has_single_bit(source.granule) && source.granule >= DLC_ALIGNMENT &&
      source.regionBytes && source.regionBytes % source.granule == 0)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected regions of a multiple of granules of 2^n >= %d "
                   "bytes, got regions of %zu and granules of %zu",
                   DLC_ALIGNMENT, source.regionBytes, source.granule);
}

static Status addDevice(DlcStorage storage, DlcContext context,
                        const DlcMemorySource &known) {
  // Ends the data.
  std::unique_ptr<CallerSource> source(new (std::nothrow) CallerSource(known));
  if (!source) {
    if (known.destroy)
      known.destroy(known.sourceData);
    return noMemory("a memory source");
  }
  Context place;
  DLC_RETURN_IF_ERROR(checkSource(known));
  if (!storage)
    return missing("a storage");
  DLC_RETURN_IF_ERROR(toContext(context, place));
  const StorageOptions &options = storage->shared->options;
  StorageManagerPtr manager =
      options.kind == StorageKind::Pooled
          ? createPooledManager(place, std::move(source), options.pool)
          : createNaiveManager(place, std::move(source), options.pool.byteCap);
  if (!manager)
    return noMemory("a storage manager");
  return storage->storage().setManager(place, std::move(manager));
}

DlcStatus dlcStorageAddDevice(DlcStorage storage, DlcContext context,
                              const DlcMemorySource *source) {
  if (!source)
    return wrap(missing("a memory source"));
  DlcMemorySource known = {};
  if (Status status = readOptions(*source, known); !status.isOk()) {
    // Refused for what a newer caller set beyond: the rest is there.
    if (source->structSize >= sizeof(known) && source->destroy)
      source->destroy(source->sourceData);
    return wrap(std::move(status));
  }
  return wrap(addDevice(storage, context, known));
}

/// The manager of a device of a handle, or why there is none.
static Result<StorageManager *> find(DlcStorage storage, DlcContext context) {
  if (!storage)
    return missing("a storage");
  Context place;
  DLC_RETURN_IF_ERROR(toContext(context, place));
  return storage->storage().manager(place);
}

static Result<SharedManager *> findShared(DlcStorage storage, Context place) {
  if (!storage)
    return missing("a storage");
  return storage->storage().sharedManager(place);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static DlcStatus handOut(Result<Allocation> result, DlcBlock *block) {
  if (!result.isOk())
    return wrap(std::move(result.status()));
  return makeHandle(block, std::move(*result));
}

DlcStatus dlcStorageAllocate(DlcStorage storage, DlcContext context,
                             size_t bytes, uint32_t stream, DlcBlock *block) {
  if (!block)
    return wrap(missing("a place for the block"));
  Result<StorageManager *> manager = find(storage, context);
  if (!manager.isOk())
    return wrap(std::move(manager.status()));
  return handOut((*manager)->allocate(bytes, stream), block);
}

void dlcBlockDestroy(DlcBlock block) { delete block; }

void *dlcBlockData(DlcBlock block) {
  return block ? block->block.data() : nullptr;
}

size_t dlcBlockSize(DlcBlock block) { return block ? block->block.bytes() : 0; }

DlcStatus dlcBlockGetContext(DlcBlock block, DlcContext *context) {
  if (!block || !context)
    return wrap(missing("a block and a place for its device"));
  *context = fromContext(block->block.context());
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Giving back, looking
//===----------------------------------------------------------------------===//

DlcStatus dlcStorageTrim(DlcStorage storage) {
  if (!storage)
    return wrap(missing("a storage"));
  storage->storage().trim();
  return nullptr;
}

DlcStatus dlcStorageTrimDevice(DlcStorage storage, DlcContext context) {
  Result<StorageManager *> manager = find(storage, context);
  if (manager.isOk())
    (*manager)->trim();
  return wrap(std::move(manager.status()));
}

DlcStatus dlcStorageSynchronized(DlcStorage storage, DlcContext context,
                                 uint32_t stream) {
  Result<StorageManager *> manager = find(storage, context);
  if (!manager.isOk())
    return wrap(std::move(manager.status()));
  if (stream >= maxStreams)
    return wrap(makeError(StatusCode::InvalidArgument,
                          "expected a stream below %u, got %u", maxStreams,
                          stream));
  (*manager)->synchronized(stream);
  return nullptr;
}

DlcStatus dlcStorageGetStatistics(DlcStorage storage, DlcContext context,
                                  DlcStorageStatistics *statistics) {
  if (!statistics)
    return wrap(missing("a place for the statistics"));
  Result<StorageManager *> manager = find(storage, context);
  if (!manager.isOk())
    return wrap(std::move(manager.status()));
  StorageStatistics now = (*manager)->statistics();
  return wrap(fillStruct(statistics,
                         {sizeof(DlcStorageStatistics), now.liveBytes,
                          now.liveBlocks, now.usedBytes, now.peakUsedBytes,
                          now.reservedBytes, now.peakReservedBytes,
                          now.largestFreeBytes, now.allocations, now.failures,
                          now.retries, now.systemCalls, now.fragmentation()}));
}

DlcStatus dlcStorageResetPeaks(DlcStorage storage, DlcContext context) {
  Result<StorageManager *> manager = find(storage, context);
  if (manager.isOk())
    (*manager)->resetPeaks();
  return wrap(std::move(manager.status()));
}

DlcStatus dlcStorageSetProfiler(DlcStorage storage, DlcProfiler profiler) {
  if (!storage)
    return wrap(missing("a storage"));
  if (profiler)
    if (Status status = checkProfiler(profiler); !status.isOk())
      return wrap(std::move(status));
  storage->shared->setProfiler(profiler ? profiler->profiler : nullptr);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Memory between processes
//===----------------------------------------------------------------------===//

static Result<SharedManager *> findShared(DlcStorage storage,
                                          DlcContext context) {
  Context place;
  DLC_RETURN_IF_ERROR(toContext(context, place));
  return findShared(storage, place);
}

/// The manager that a block of such memory is of.
static Result<SharedManager *> findShared(DlcStorage storage, DlcBlock block) {
  if (!block)
    return missing("a block");
  return findShared(storage, block->block.context());
}

DlcStatus dlcStorageShare(DlcStorage storage, DlcBlock block,
                          DlcSharedHandle *handle) {
  if (!handle)
    return wrap(missing("a place for the handle"));
  Result<SharedManager *> manager = findShared(storage, block);
  if (!manager.isOk())
    return wrap(std::move(manager.status()));
  Result<SharedHandle> shared = (*manager)->share(block->block);
  if (!shared.isOk())
    return wrap(std::move(shared.status()));
  *handle = {shared->process, shared->descriptor, shared->inode};
  return nullptr;
}

DlcStatus dlcStorageOpen(DlcStorage storage, DlcContext context,
                         DlcSharedHandle handle, DlcBlock *block) {
  if (!block)
    return wrap(missing("a place for the block"));
  Result<SharedManager *> manager = findShared(storage, context);
  if (!manager.isOk())
    return wrap(std::move(manager.status()));
  return handOut(
      (*manager)->open({handle.process, handle.descriptor, handle.inode}),
      block);
}

DlcStatus dlcStorageDuplicateDescriptor(DlcStorage storage, DlcBlock block,
                                        int32_t *descriptor) {
  if (!descriptor)
    return wrap(missing("a place for the descriptor"));
  Result<SharedManager *> manager = findShared(storage, block);
  if (!manager.isOk())
    return wrap(std::move(manager.status()));
  Result<int> copy = (*manager)->duplicateDescriptor(block->block);
  if (!copy.isOk())
    return wrap(std::move(copy.status()));
  *descriptor = *copy;
  return nullptr;
}

DlcStatus dlcStorageOpenDescriptor(DlcStorage storage, DlcContext context,
                                   int32_t descriptor, DlcBlock *block) {
  if (!block)
    return wrap(missing("a place for the block"));
  Result<SharedManager *> manager = findShared(storage, context);
  if (!manager.isOk())
    return wrap(std::move(manager.status()));
  return handOut((*manager)->openDescriptor(descriptor), block);
}

DlcStatus dlcStorageReferences(DlcStorage storage, DlcBlock block,
                               uint32_t *count) {
  if (!count)
    return wrap(missing("a place for the count"));
  Result<SharedManager *> manager = findShared(storage, block);
  if (!manager.isOk())
    return wrap(std::move(manager.status()));
  uint32_t references = (*manager)->references(block->block);
  if (!references)
    return wrap(makeError(StatusCode::InvalidArgument,
                          "expected a block of this storage"));
  *count = references;
  return nullptr;
}
