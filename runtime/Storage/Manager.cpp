// SPDX-License-Identifier: Apache-2.0
//
// What all managers do in front of their own work: they check, refuse after a
// fork() and tell their observer.

#include "dlc/runtime/Storage/Manager.h"

using namespace dlc::rt;

StorageManager::~StorageManager() = default;

Result<Allocation> StorageManager::allocate(size_t bytes, StreamId stream) {
  if (stream >= maxStreams)
    return makeError(StatusCode::InvalidArgument,
                     "expected a stream below %u, got %u", maxStreams, stream);
  if (isInherited()) [[unlikely]]
    return makeError(StatusCode::Unavailable,
                     "the memory of %s belongs to another process, of which "
                     "this is a fork(); make a manager of its own",
                     toString(place).c_str());
  Result<Allocation> block = take(bytes, stream);
  if (!block.isOk()) [[unlikely]]
    return std::move(block.status())
        .withContext("cannot allocate " + std::to_string(bytes) + " bytes on " +
                     toString(place));
  // Relaxed: the mutex orders what an observer is told.
  if (observer.load(std::memory_order_relaxed)) [[unlikely]] {
    std::lock_guard lock(*reports);
    if (StorageObserver *known = observer.load(std::memory_order_relaxed)) {
      StorageStatistics now = count();
      known->onStorage(place, now.liveBytes, now.reservedBytes);
    }
  }
  return block;
}

void StorageManager::release(void *start, size_t bytes, void *record) {
  if (isInherited()) [[unlikely]]
    return dropInherited(start, bytes, record);
  if (observer.load(std::memory_order_relaxed)) [[unlikely]] {
    // Before: without its last block the manager may be gone, of which this
    // keeps the mutex.
    std::shared_ptr<std::mutex> held = reports;
    std::lock_guard lock(*held);
    if (StorageObserver *known = observer.load(std::memory_order_relaxed)) {
      StorageStatistics now = count();
      known->onStorage(place, now.liveBytes - bytes, now.reservedBytes);
    }
    giveBack(start, bytes, record);
    return;
  }
  giveBack(start, bytes, record);
}

void StorageManager::setObserver(StorageObserver *observer) {
  if (isInherited())
    return; // Who held the mutex may not be here.
  std::lock_guard lock(*reports);
  this->observer.store(observer, std::memory_order_relaxed);
}

void StorageManager::trim() {
  if (!isInherited())
    giveFreeBack();
}

void StorageManager::synchronized(StreamId stream) {
  if (stream < maxStreams && !isInherited())
    serveAll(stream);
}

StorageStatistics StorageManager::statistics() const {
  return isInherited() ? StorageStatistics() : count();
}

void StorageManager::resetPeaks() {
  if (!isInherited())
    restartPeaks();
}

void StorageManager::abandon() {
  if (!isInherited())
    end();
}
