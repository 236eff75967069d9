// SPDX-License-Identifier: Apache-2.0
//
// A heap behind a lock, and in front of it a cache of small blocks for each
// processor.

#include "Poison.h"
#include "SizeClass.h"
#include "dlc/runtime/Storage/Manager.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <sched.h>
#include <thread>

using namespace dlc::rt;

namespace {

/// Released blocks of stream 0 for the next request of the same class. The
/// heap counts them as used.
struct alignas(128) Cache { // Two lines: processors fetch them in pairs.
  /// What a cache holds at most: enough for the small values of a program, and
  /// little beside the pool of one.
  static constexpr size_t capacity = size_t(256) << 10;

  /// Guards the rest. A holder never waits and never calls out, so whoever
  /// finds it taken goes to the heap, or spins when it must have the cache.
  std::atomic_flag isBusy;
  bool isClosed = false; ///< The manager is abandoned: holds nothing.
  size_t heldBytes = 0;
  HeapBlock *lists[SizeClass::count] = {}; ///< Linked by `next`.
  /// The changes made here; a block may be released at another cache.
  size_t liveBytes = 0, liveBlocks = 0;
  uint64_t allocations = 0;

  // Acquire and release: what the last holder wrote is seen by the next.
  bool tryLock() { return !isBusy.test_and_set(std::memory_order_acquire); }
  void lock() {
    while (!tryLock())
      std::this_thread::yield();
  }
  void unlock() { isBusy.clear(std::memory_order_release); }
};

class PooledManager final : public StorageManager {
public:
  PooledManager(Context context, std::unique_ptr<MemorySource> source,
                const PoolOptions &options, std::unique_ptr<Cache[]> caches,
                unsigned cacheCount)
      : StorageManager(context), caches(std::move(caches)),
        cacheCount(cacheCount), options(options), source(std::move(source)),
        heap(*this->source, options.byteCap) {}

  Result<Allocation> allocate(size_t bytes, StreamId stream) override;
  void trim() override;
  void synchronized(StreamId stream) override;
  StorageStatistics statistics() const override;
  void resetPeaks() override;

private:
  Cache &cacheHere() const;
  HeapBlock *takeCached(size_t bytes, size_t size);
  bool putCached(HeapBlock *block, size_t bytes);
  Result<Allocation> allocateFromHeap(size_t bytes, size_t size,
                                      StreamId stream);
  void flushCaches(bool closes);
  void releaseMemory();
  Allocation finish(HeapBlock *block, size_t bytes);

  void release(void *start, size_t bytes, void *record) override;
  void abandon() override;

  const std::unique_ptr<Cache[]> caches;
  const unsigned cacheCount;
  const PoolOptions options;

  /// Guards everything below. Taken before a cache's lock, never after.
  mutable std::mutex mutex;
  std::unique_ptr<MemorySource> source;
  Heap heap;
  /// Of blocks that came from, or went to, the heap; see Cache::liveBytes.
  StorageStatistics counts;
  bool isAbandoned = false;
};

} // namespace

/// The bytes of the block for a request, which is at most SIZE_MAX / 4.
static size_t sizeFor(size_t bytes) {
  size_t size = bytes + redZoneBytes;
  return size <= SizeClass::largestCached
             ? SizeClass::bytes(SizeClass::ofRequest(size))
             : size;
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

/// Any cache is right; that of this processor is most likely free and warm.
Cache &PooledManager::cacheHere() const {
  if (cacheCount == 1)
    return caches[0];
  int processor = sched_getcpu();
  return caches[processor < 0 ? 0 : unsigned(processor) % cacheCount];
}

HeapBlock *PooledManager::takeCached(size_t bytes, size_t size) {
  Cache &cache = cacheHere();
  if (!cache.tryLock())
    return nullptr;
  HeapBlock *&list = cache.lists[SizeClass::ofBlock(size)];
  HeapBlock *block = list;
  if (block) {
    list = block->next;
    cache.heldBytes -= block->bytes;
    cache.liveBytes += bytes;
    ++cache.liveBlocks;
    ++cache.allocations;
  }
  cache.unlock();
  return block;
}

/// False when the block must go to the heap.
bool PooledManager::putCached(HeapBlock *block, size_t bytes) {
  Cache &cache = cacheHere();
  if (!cache.tryLock())
    return false;
  bool fits =
      !cache.isClosed && cache.heldBytes + block->bytes <= Cache::capacity;
  if (fits) {
    HeapBlock *&list = cache.lists[SizeClass::ofBlock(block->bytes)];
    block->next = list;
    list = block;
    cache.heldBytes += block->bytes;
    cache.liveBytes -= bytes;
    --cache.liveBlocks;
  }
  cache.unlock();
  return fits;
}

/// Moves what the caches hold into the heap. The mutex is held.
void PooledManager::flushCaches(bool closes) {
  for (unsigned i = 0; i != cacheCount; ++i) {
    Cache &cache = caches[i];
    cache.lock();
    for (HeapBlock *&list : cache.lists)
      while (HeapBlock *block = list) {
        list = block->next;
        heap.release(block, options.keptBytes);
      }
    cache.heldBytes = 0;
    cache.isClosed |= closes;
    cache.unlock();
  }
}

//===----------------------------------------------------------------------===//
// The heap
//===----------------------------------------------------------------------===//

/// Gives all free memory back to the system. The mutex is held.
void PooledManager::releaseMemory() {
  flushCaches(/*closes=*/false);
  if (options.waitForStream)
    for (StreamId stream = 1; stream != maxStreams; ++stream)
      if (heap.hasFree(stream)) {
        options.waitForStream(stream);
        heap.synchronized(stream);
      }
  heap.trim();
}

Allocation PooledManager::finish(HeapBlock *block, size_t bytes) {
  unpoison(block->start, bytes);
  return makeBlock(block->start, bytes, block);
}

Result<Allocation> PooledManager::allocateFromHeap(size_t bytes, size_t size,
                                                   StreamId stream) {
  std::lock_guard lock(mutex);
  Status whyNot;
  HeapBlock *block = heap.allocate(size, stream, whyNot);
  if (!block) {
    ++counts.retries;
    releaseMemory();
    block = heap.allocate(size, stream, whyNot);
  }
  if (!block) {
    ++counts.failures;
    return std::move(whyNot).withContext("cannot allocate " +
                                         std::to_string(bytes) + " bytes on " +
                                         toString(context()));
  }
  ++counts.allocations;
  ++counts.liveBlocks;
  counts.liveBytes += bytes;
  return finish(block, bytes);
}

Result<Allocation> PooledManager::allocate(size_t bytes, StreamId stream) {
  if (stream >= maxStreams)
    return makeError(StatusCode::InvalidArgument,
                     "expected a stream below %u, got %u", maxStreams, stream);
  size_t size = sizeFor(std::min(bytes, SIZE_MAX / 2));
  if (size <= SizeClass::largestCached && stream == 0)
    if (HeapBlock *block = takeCached(bytes, size))
      return finish(block, bytes);
  return allocateFromHeap(bytes, size, stream);
}

void PooledManager::release(void *, size_t bytes, void *record) {
  auto *block = static_cast<HeapBlock *>(record);
  poison(block->start, block->bytes);
  if (block->bytes <= SizeClass::largestCached && block->stream == 0 &&
      putCached(block, bytes))
    return;
  std::unique_lock lock(mutex);
  counts.liveBytes -= bytes;
  --counts.liveBlocks;
  heap.release(block, options.keptBytes);
  bool isLast = isAbandoned && !heap.usedBlocks();
  lock.unlock();
  if (isLast)
    delete this;
}

void PooledManager::abandon() {
  std::unique_lock lock(mutex);
  isAbandoned = true;
  flushCaches(/*closes=*/true);
  bool isLast = !heap.usedBlocks();
  lock.unlock();
  if (isLast)
    delete this;
}

void PooledManager::trim() {
  std::lock_guard lock(mutex);
  releaseMemory();
}

void PooledManager::synchronized(StreamId stream) {
  std::lock_guard lock(mutex);
  heap.synchronized(stream);
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

StorageStatistics PooledManager::statistics() const {
  std::lock_guard lock(mutex);
  StorageStatistics statistics = counts;
  for (unsigned i = 0; i != cacheCount; ++i) {
    caches[i].lock();
    // Unsigned sums: a cache that released more than it gave out is below 0.
    statistics.liveBytes += caches[i].liveBytes;
    statistics.liveBlocks += caches[i].liveBlocks;
    statistics.allocations += caches[i].allocations;
    caches[i].unlock();
  }
  HeapStatistics pool = heap.statistics();
  statistics.usedBytes = pool.usedBytes;
  statistics.peakUsedBytes = pool.peakUsedBytes;
  statistics.reservedBytes = pool.committedBytes;
  statistics.peakReservedBytes = pool.peakCommittedBytes;
  statistics.largestFreeBytes = pool.largestFreeBytes;
  statistics.systemCalls = pool.commits + pool.decommits;
  return statistics;
}

void PooledManager::resetPeaks() {
  std::lock_guard lock(mutex);
  heap.resetPeaks();
}

StorageManagerPtr
dlc::rt::createPooledManager(Context context,
                             std::unique_ptr<MemorySource> source,
                             const PoolOptions &options) {
  unsigned count = options.caches;
  if (!count)
    count = std::max(1u, std::thread::hardware_concurrency());
  return StorageManagerPtr(
      new PooledManager(context, std::move(source), options,
                        std::make_unique<Cache[]>(count), count));
}
