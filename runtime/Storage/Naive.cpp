// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Storage/Manager.h"

#include <algorithm>
#include <mutex>

using namespace dlc::rt;

StorageManager::~StorageManager() = default;
void StorageManager::synchronized(StreamId) {}

namespace {

class NaiveManager final : public StorageManager {
public:
  NaiveManager(Context context, std::unique_ptr<MemorySource> source)
      : StorageManager(context), source(std::move(source)) {}

  Result<Allocation> allocate(size_t bytes, StreamId stream) override;
  void trim() override {} // Nothing is kept.
  StorageStatistics statistics() const override;
  void resetPeaks() override;

private:
  size_t rounded(size_t bytes) const {
    return alignUp(std::max<size_t>(bytes, 1), source->granule());
  }
  void release(void *start, size_t bytes, void *record) override;
  void abandon() override;

  mutable std::mutex mutex; ///< Guards everything below.
  std::unique_ptr<MemorySource> source;
  StorageStatistics counts;
  bool isAbandoned = false;
};

} // namespace

Result<Allocation> NaiveManager::allocate(size_t bytes, StreamId stream) {
  if (stream >= maxStreams)
    return makeError(StatusCode::InvalidArgument,
                     "expected a stream below %u, got %u", maxStreams, stream);
  std::lock_guard lock(mutex);
  Status status(StatusCode::OutOfMemory, "the size is too large");
  if (bytes <= SIZE_MAX / 4) {
    Result<std::byte *> start = source->reserve(rounded(bytes));
    status = start.isOk() ? source->commit(*start, rounded(bytes))
                          : std::move(start.status());
    if (status.isOk()) {
      ++counts.allocations;
      ++counts.systemCalls;
      ++counts.liveBlocks;
      counts.liveBytes += bytes;
      counts.usedBytes += rounded(bytes);
      counts.peakUsedBytes = std::max(counts.peakUsedBytes, counts.usedBytes);
      return makeBlock(*start, bytes, nullptr);
    }
    if (start.isOk())
      source->unreserve(*start, rounded(bytes));
  }
  ++counts.failures;
  return std::move(status).withContext("cannot allocate " +
                                       std::to_string(bytes) + " bytes on " +
                                       toString(context()));
}

void NaiveManager::release(void *start, size_t bytes, void *) {
  std::unique_lock lock(mutex);
  source->unreserve(static_cast<std::byte *>(start), rounded(bytes));
  ++counts.systemCalls;
  counts.liveBytes -= bytes;
  counts.usedBytes -= rounded(bytes);
  if (--counts.liveBlocks || !isAbandoned)
    return;
  lock.unlock();
  delete this;
}

void NaiveManager::abandon() {
  std::unique_lock lock(mutex);
  isAbandoned = true;
  if (counts.liveBlocks)
    return;
  lock.unlock();
  delete this;
}

StorageStatistics NaiveManager::statistics() const {
  std::lock_guard lock(mutex);
  StorageStatistics statistics = counts;
  statistics.reservedBytes = statistics.usedBytes;
  statistics.peakReservedBytes = statistics.peakUsedBytes;
  return statistics;
}

void NaiveManager::resetPeaks() {
  std::lock_guard lock(mutex);
  counts.peakUsedBytes = counts.usedBytes;
}

StorageManagerPtr
dlc::rt::createNaiveManager(Context context,
                            std::unique_ptr<MemorySource> source) {
  return StorageManagerPtr(new NaiveManager(context, std::move(source)));
}
