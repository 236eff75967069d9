// SPDX-License-Identifier: Apache-2.0
//
// What managers share that take every block from the system by itself and keep
// none: their figures, and their end with the last block.

#ifndef DLC_LIB_RUNTIME_STORAGE_SINGLEBLOCKS_H
#define DLC_LIB_RUNTIME_STORAGE_SINGLEBLOCKS_H

#include "dlc/runtime/Storage/Manager.h"

#include <algorithm>
#include <mutex>

namespace dlc::rt {

/// `Base` is StorageManager or derived from it. Objects are made by new.
template <typename Base> class SingleBlocks : public Base {
protected:
  SingleBlocks(Context context, size_t byteCap)
      : Base(context), byteCap(byteCap) {}

  /// Whether `usedBytes` more stay within the cap. The mutex is held.
  Status checkCap(size_t usedBytes) const {
    if (byteCap - std::min(byteCap, counts.usedBytes) >= usedBytes)
      return Status::ok();
    return makeError(StatusCode::OutOfMemory,
                     "of a limit of %zu bytes, %zu are in use, and %zu more "
                     "are needed",
                     byteCap, counts.usedBytes, usedBytes);
  }

  /// Counts a block that takes `usedBytes`. The mutex is held.
  void countBlock(size_t bytes, size_t usedBytes, unsigned systemCalls) {
    ++counts.allocations;
    ++counts.liveBlocks;
    counts.liveBytes += bytes;
    counts.usedBytes += usedBytes;
    counts.peakUsedBytes = std::max(counts.peakUsedBytes, counts.usedBytes);
    counts.systemCalls += systemCalls;
  }

  /// Counts the end of a block; `lock` is on the mutex. The manager is gone
  /// after this when it was the last one.
  void countRelease(std::unique_lock<std::mutex> lock, size_t bytes,
                    size_t usedBytes, unsigned systemCalls) {
    counts.systemCalls += systemCalls;
    counts.liveBytes -= bytes;
    counts.usedBytes -= usedBytes;
    --counts.liveBlocks;
    endWithTheLast(std::move(lock));
  }

  void giveFreeBack() final {} // Nothing is kept.

  StorageStatistics count() const final {
    std::lock_guard lock(mutex);
    StorageStatistics statistics = counts;
    statistics.reservedBytes = statistics.usedBytes;
    statistics.peakReservedBytes = statistics.peakUsedBytes;
    return statistics;
  }

  void restartPeaks() final {
    std::lock_guard lock(mutex);
    counts.peakUsedBytes = counts.usedBytes;
  }

  void end() final {
    std::unique_lock lock(mutex);
    isAbandoned = true;
    endWithTheLast(std::move(lock));
  }

  const size_t byteCap;
  mutable std::mutex mutex; ///< Guards everything below.
  StorageStatistics counts;

private:
  void endWithTheLast(std::unique_lock<std::mutex> lock) {
    if (counts.liveBlocks || !isAbandoned)
      return;
    lock.unlock();
    delete this;
  }

  bool isAbandoned = false;
};

} // namespace dlc::rt

#endif // DLC_LIB_RUNTIME_STORAGE_SINGLEBLOCKS_H
