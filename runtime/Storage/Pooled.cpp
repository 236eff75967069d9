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

/// A thread that waits for the work of a stream, and the blocks that are free
/// once that is over.
struct Waiter {
  StreamId stream;
  HeapBlock *blocks; ///< Linked by `next`; for who holds the manager's mutex.
  Waiter *next = nullptr;
};

/// Released blocks of stream 0 for the next request of the same class. The
/// heap counts them as used.
struct alignas(128) Cache { // Two lines: processors fetch them in pairs.
  /// What a cache holds at most: enough for the small values of a program, and
  /// little beside the pool of one.
  static constexpr size_t capacity = size_t(256) << 10;

  /// Guards the rest. A holder never calls out, and waits for other caches
  /// only where it has the mutex, so whoever finds it taken goes to the heap,
  /// or spins when it must have the cache.
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
        heap(*this->source, options.byteCap, options.repeats) {}

private:
  using Lock = std::unique_lock<std::mutex>;

  Cache &cacheHere() const;
  HeapBlock *takeCached(size_t bytes, size_t size);
  bool putCached(HeapBlock *block, size_t bytes);
  Result<Allocation> allocateFromHeap(size_t bytes, size_t size,
                                      StreamId stream);
  Status refuse(Status status);
  void flushCaches(bool closes);
  bool isAwaited(StreamId stream) const;
  void waitForStream(StreamId stream, Lock &lock);
  void releaseMemory(Lock &lock);
  Allocation finish(HeapBlock *block, size_t bytes);

  Result<Allocation> take(size_t bytes, StreamId stream) override;
  void giveFreeBack() override;
  void serveAll(StreamId stream) override;
  StorageStatistics count() const override;
  void restartPeaks() override;
  void giveBack(void *start, size_t bytes, void *record) override;
  void end() override;

  const std::unique_ptr<Cache[]> caches;
  const unsigned cacheCount;
  const PoolOptions options;

  /// Guards everything below. Taken before a cache's lock, never after.
  mutable std::mutex mutex;
  std::unique_ptr<MemorySource> source;
  Heap heap;
  Waiter *waiters = nullptr; ///< The earliest first.
  /// Of blocks that came from, or went to, the heap; see Cache::liveBytes.
  StorageStatistics counts;
  bool isAbandoned = false;
};

} // namespace

/// The bytes of the block for a request, which is at most SIZE_MAX / 4: then
/// no rounding overflows.
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
    HeapBlock *held[SizeClass::count] = {};
    cache.lock();
    std::swap(held, cache.lists);
    cache.heldBytes = 0;
    cache.isClosed |= closes;
    cache.unlock();
    for (HeapBlock *list : held)
      while (HeapBlock *block = list) {
        list = block->next;
        heap.release(block, options.keptBytes);
      }
  }
}

//===----------------------------------------------------------------------===//
// The heap
//===----------------------------------------------------------------------===//

/// Whether somebody waits for work that keeps blocks of `stream`.
bool PooledManager::isAwaited(StreamId stream) const {
  for (const Waiter *waiter = waiters; waiter; waiter = waiter->next)
    if (waiter->stream == stream && waiter->blocks)
      return true;
  return false;
}

/// Waits, without the lock, for the work on the free blocks of `stream`, which
/// then serve all. What is released meanwhile is not among them: its work may
/// have been queued later.
void PooledManager::waitForStream(StreamId stream, Lock &lock) {
  Waiter self{stream, heap.takeFree(stream)};
  Waiter **last = &waiters;
  while (*last)
    last = &(*last)->next;
  *last = &self;
  lock.unlock();
  options.waitForStream(stream);
  lock.lock();
  // Those who began before wait for less.
  Waiter **link = &waiters;
  for (; *link != &self; link = &(*link)->next)
    if ((*link)->stream == stream)
      heap.putBack(std::exchange((*link)->blocks, nullptr));
  heap.putBack(self.blocks);
  *link = self.next;
}

/// Gives all free memory back to the system.
void PooledManager::releaseMemory(Lock &lock) {
  flushCaches(/*closes=*/false);
  if (options.waitForStream)
    for (StreamId stream = 1; stream != maxStreams; ++stream)
      if (heap.hasFree(stream) || isAwaited(stream))
        waitForStream(stream, lock);
  heap.trim();
}

Allocation PooledManager::finish(HeapBlock *block, size_t bytes) {
  unpoison(*source, block->start, bytes);
  return makeBlock(block->start, bytes, block);
}

/// Counts a failure. The mutex is held.
Status PooledManager::refuse(Status status) {
  ++counts.failures;
  return status;
}

Result<Allocation> PooledManager::allocateFromHeap(size_t bytes, size_t size,
                                                   StreamId stream) {
  Lock lock(mutex);
  Status whyNot;
  HeapBlock *block = heap.allocate(size, stream, whyNot);
  if (!block && size <= source->mostBytes()) {
    ++counts.retries;
    releaseMemory(lock);
    block = heap.allocate(size, stream, whyNot);
  }
  if (!block)
    return refuse(std::move(whyNot));
  ++counts.allocations;
  ++counts.liveBlocks;
  counts.liveBytes += bytes;
  return finish(block, bytes);
}

Result<Allocation> PooledManager::take(size_t bytes, StreamId stream) {
  // What can never be had must not empty the pool first.
  if (size_t most = std::min(SIZE_MAX / 4, options.byteCap); bytes > most) {
    Lock lock(mutex);
    return refuse(
        makeError(StatusCode::OutOfMemory, "expected at most %zu bytes", most));
  }
  size_t size = sizeFor(bytes);
  if (size <= SizeClass::largestCached && stream == 0)
    if (HeapBlock *block = takeCached(bytes, size))
      return finish(block, bytes);
  return allocateFromHeap(bytes, size, stream);
}

void PooledManager::giveBack(void *, size_t bytes, void *record) {
  auto *block = static_cast<HeapBlock *>(record);
  poison(*source, block->start, block->bytes);
  if (block->bytes <= SizeClass::largestCached && block->stream == 0 &&
      putCached(block, bytes))
    return;
  Lock lock(mutex);
  counts.liveBytes -= bytes;
  --counts.liveBlocks;
  heap.release(block, options.keptBytes);
  bool isLast = isAbandoned && !heap.usedBlocks();
  lock.unlock();
  if (isLast)
    delete this;
}

void PooledManager::end() {
  Lock lock(mutex);
  isAbandoned = true;
  flushCaches(/*closes=*/true);
  bool isLast = !heap.usedBlocks();
  lock.unlock();
  if (isLast)
    delete this;
}

void PooledManager::giveFreeBack() {
  Lock lock(mutex);
  releaseMemory(lock);
}

void PooledManager::serveAll(StreamId stream) {
  std::lock_guard lock(mutex);
  heap.synchronized(stream);
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

StorageStatistics PooledManager::count() const {
  std::lock_guard lock(mutex);
  StorageStatistics statistics = counts;
  // All at once: a block that goes from one cache to another in between would
  // be released before it was allocated.
  for (unsigned i = 0; i != cacheCount; ++i)
    caches[i].lock();
  for (unsigned i = 0; i != cacheCount; ++i) {
    // Unsigned sums: a cache that released more than it gave out is below 0.
    statistics.liveBytes += caches[i].liveBytes;
    statistics.liveBlocks += caches[i].liveBlocks;
    statistics.allocations += caches[i].allocations;
  }
  for (unsigned i = 0; i != cacheCount; ++i)
    caches[i].unlock();
  HeapStatistics pool = heap.statistics();
  statistics.usedBytes = pool.usedBytes;
  statistics.peakUsedBytes = pool.peakUsedBytes;
  statistics.reservedBytes = pool.committedBytes;
  statistics.peakReservedBytes = pool.peakCommittedBytes;
  statistics.largestFreeBytes = pool.largestFreeBytes;
  statistics.systemCalls = pool.commits + pool.decommits;
  return statistics;
}

void PooledManager::restartPeaks() {
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
  std::unique_ptr<Cache[]> caches(new (std::nothrow) Cache[count]);
  if (!caches || !source)
    return nullptr;
  return StorageManagerPtr(new (std::nothrow) PooledManager(
      context, std::move(source), options, std::move(caches), count));
}
