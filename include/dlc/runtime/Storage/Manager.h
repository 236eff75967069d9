// SPDX-License-Identifier: Apache-2.0
//
// Memory of one device: who gives it out, and a block of it.

#ifndef DLC_RUNTIME_STORAGE_MANAGER_H
#define DLC_RUNTIME_STORAGE_MANAGER_H

#include "dlc/runtime/Base/ForkGuard.h"
#include "dlc/runtime/Device/Context.h"
#include "dlc/runtime/Storage/Heap.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace dlc::rt {

class StorageManager;

/// A block of memory, released when this is destroyed; the manager that gave
/// it lives at least as long, whatever its owner does. For one thread at a
/// time; any thread may release it.
class Allocation {
public:
  Allocation() = default;
  Allocation(Allocation &&other) noexcept { swap(other); }
  Allocation &operator=(Allocation &&other) noexcept {
    Allocation(std::move(other)).swap(*this);
    return *this;
  }
  ~Allocation() { reset(); }

  /// Not null in a block, even in one of 0 bytes; aligned to DLC_ALIGNMENT.
  /// The bytes are not initialised.
  void *data() const { return start; }
  size_t bytes() const { return length; } ///< As asked for.
  explicit operator bool() const { return start; }
  Context context() const; ///< Of a block.

  inline void reset(); ///< Releases the block, if there is one.

private:
  friend class StorageManager;
  void swap(Allocation &other) {
    std::swap(owner, other.owner);
    std::swap(start, other.start);
    std::swap(length, other.length);
    std::swap(record, other.record);
  }

  StorageManager *owner = nullptr;
  void *start = nullptr;
  size_t length = 0;
  void *record = nullptr; ///< What the manager knows the block by.
};

/// Figures of a manager at one moment. Peaks are since its start or since
/// resetPeaks().
struct StorageStatistics {
  size_t liveBytes = 0; ///< As asked for, in blocks that exist.
  size_t liveBlocks = 0;
  size_t usedBytes = 0;     ///< The same rounded up, and what caches hold.
  size_t peakUsedBytes = 0; ///< The high-water mark.
  size_t reservedBytes = 0; ///< Memory taken from the system.
  size_t peakReservedBytes = 0;
  size_t largestFreeBytes = 0; ///< The largest free piece.
  uint64_t allocations = 0;    ///< That succeeded.
  uint64_t failures = 0;       ///< That did not, after the retry.
  uint64_t retries = 0;        ///< That gave free memory back first.
  uint64_t systemCalls = 0;    ///< To take memory or give it back.

  size_t freeBytes() const { return reservedBytes - usedBytes; }
  /// How much of the free memory is outside of the largest free piece: 0 when
  /// it is all one, near 1 when it is in crumbs.
  double fragmentation() const {
    return freeBytes() ? 1 - double(largestFreeBytes) / double(freeBytes()) : 0;
  }
};

/// Told of the memory of managers by the threads that take it and give it
/// back, by those of one manager one after the other. Asks no manager.
class StorageObserver {
public:
  virtual ~StorageObserver() = default;
  /// The figures of `device` after an allocation or before the end of a
  /// release, as StorageStatistics has them.
  virtual void onStorage(Context device, uint64_t liveBytes,
                         uint64_t reservedBytes) = 0;
};

/// Gives out memory of one device. All functions may be called from any thread.
///
/// A manager is for the process that made it. In the child of a fork() its
/// locks may be held by threads that are not there: allocate() fails with
/// Unavailable, blocks that are released stay as they are, and the other
/// functions do nothing.
class StorageManager {
public:
  StorageManager(const StorageManager &) = delete;
  StorageManager &operator=(const StorageManager &) = delete;

  /// `bytes`, which may be 0, for work on `stream` (see StreamId). When there
  /// is no memory, what is free is given back and the system asked once more,
  /// unless that cannot help. Errors: OutOfMemory, Unavailable (memory that may
  /// not be locked, the child of a fork()), InvalidArgument (no such stream).
  Result<Allocation> allocate(size_t bytes, StreamId stream = 0);

  /// Gives free memory back to the system.
  void trim();

  /// The work of `stream` on blocks released so far is over, so that other
  /// streams may have their memory.
  void synchronized(StreamId stream);

  StorageStatistics statistics() const;
  void resetPeaks();

  /// Tells `observer` of what is allocated and released from now on; null stops
  /// that. Borrowed until it is replaced: when this returns, nobody is in a
  /// call of the one before. Not by an observer. Without one nothing is counted
  /// for it.
  void setObserver(StorageObserver *observer);

  Context context() const { return place; }

protected:
  explicit StorageManager(Context context) : place(context) {}
  virtual ~StorageManager();
  bool isInherited() const { return guard.isChild(); }

  Allocation makeBlock(void *start, size_t bytes, void *record) {
    Allocation block;
    block.owner = this;
    block.start = start;
    block.length = bytes;
    block.record = record;
    return block;
  }
  static void *recordOf(const Allocation &block) { return block.record; }
  static StorageManager *ownerOf(const Allocation &block) {
    return block.owner;
  }

  // The functions above, in the process that made the manager. `stream` is
  // below maxStreams.
  virtual Result<Allocation> take(size_t bytes, StreamId stream) = 0;
  virtual void giveFreeBack() = 0;
  virtual void serveAll(StreamId /*stream*/) {}
  virtual StorageStatistics count() const = 0;
  virtual void restartPeaks() = 0;

  /// Takes back a block of makeBlock(). Never fails. The manager may be gone
  /// when it returns.
  virtual void giveBack(void *start, size_t bytes, void *record) = 0;
  /// The same in the child of a fork(), for memory that the parent does not
  /// see the end of.
  virtual void dropInherited(void * /*start*/, size_t /*bytes*/,
                             void * /*record*/) {}
  /// The owner is gone: ends the manager, at once or with its last block.
  virtual void end() = 0;

private:
  friend class Allocation;
  friend struct AbandonManager;
  void release(void *start, size_t bytes, void *record);
  void abandon();

  const Context place;
  const ForkGuard guard;
  /// Written and called with the mutex held; whether there is one is asked
  /// without.
  std::atomic<StorageObserver *> observer = nullptr;
  /// One report at a time, so that the last one holds the last figures.
  const std::shared_ptr<std::mutex> reports = std::make_shared<std::mutex>();
};

struct AbandonManager {
  void operator()(StorageManager *manager) const { manager->abandon(); }
};
/// Owns a manager. Blocks may outlive it.
using StorageManagerPtr = std::unique_ptr<StorageManager, AbandonManager>;

struct PoolOptions {
  /// Most memory that the pool takes from the system.
  size_t byteCap = SIZE_MAX;
  /// Free memory that the pool keeps for later requests; what is released
  /// beyond it goes back to the system.
  size_t keptBytes = SIZE_MAX;
  /// The same requests come again and again, as those of a program do: the pool
  /// holds more free memory rather than take it from the system each time.
  bool repeats = false;
  /// Processors that have a cache of small blocks each, so that their threads
  /// do not wait for each other; 0 means one for each processor.
  unsigned caches = 0;
  /// Waits until the work that is queued on a stream is over. With it, a
  /// request that finds no memory gets that of other streams; without it,
  /// only what synchronized() freed. Called without a lock, by the thread that
  /// allocates or trims, maybe by several at once; so work that others wait for
  /// like this must not allocate for another stream.
  std::function<void(StreamId)> waitForStream = {};
};

// Null from these: there is no memory for a manager, and `source` is gone.

/// Every block straight from `source`, and straight back. For debugging.
/// `byteCap` bounds the memory taken from it.
StorageManagerPtr createNaiveManager(Context context,
                                     std::unique_ptr<MemorySource> source,
                                     size_t byteCap = SIZE_MAX);

/// Blocks from a Heap over `source`, small ones through caches of size classes.
StorageManagerPtr createPooledManager(Context context,
                                      std::unique_ptr<MemorySource> source,
                                      const PoolOptions &options = {});

inline Context Allocation::context() const { return owner->place; }

inline void Allocation::reset() {
  if (owner)
    std::exchange(owner, nullptr)
        ->release(std::exchange(start, nullptr), std::exchange(length, 0),
                  record);
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_STORAGE_MANAGER_H
