// SPDX-License-Identifier: Apache-2.0
//
// Operations and variables inside the threaded engines. All of it is guarded
// by the core's lock unless it says otherwise: dependencies are plain memory.

#ifndef DLC_RUNTIME_ENGINE_OPERATION_H
#define DLC_RUNTIME_ENGINE_OPERATION_H

#include "Check.h"
#include "Failure.h"

#include "dlc/runtime/Engine/Engine.h"

#include <atomic>
#include <bit>
#include <new>
#include <utility>

namespace dlc::rt {

struct CoreOperation;
struct CoreOperator;

/// One variable of one operation, and its place in the variable's queue.
struct Use {
  static constexpr uint32_t none = UINT32_MAX; ///< The variable went before.
  Use *next;
  CoreOperation *operation;
  uint32_t variable;
  bool writes;
  bool isGranted;
};

/// Operations that were granted the variable hold it: one writer, or readers.
/// The others queue in the order of their registration.
struct alignas(64) CoreVariable {
  uint32_t stamp = 0, nextFree = 0;
  uint32_t readers = 0;
  CoreOperation *writer = nullptr;
  Use *first = nullptr, *last = nullptr;
  Poison *poison = nullptr;
  uint64_t version = 0;
  bool isDoomed = false;   ///< Its deletion is registered.
  bool isResource = false; ///< Errors do not travel along it.
  bool isOfRuntime = false;
};

enum OperationFlag : uint8_t {
  isAsyncFlag = 1,
  isDeletionFlag = 2, ///< Of a variable.
  isWaitFlag = 4,     ///< A Waiter: has no function.
  isSharedFlag = 8,   ///< Function and variables are those of an operator.
  isOperatorDeletionFlag = 16,
  isExtendedFlag = 32, ///< In the queue: the next slot has more of it.
  isPreparedFlag = 64, ///< In the queue: names an operation made by the push.
  isBulkFlag = 128,    ///< See Bulk.h.
};

/// An asynchronous operation has ended when its function has returned and its
/// completion has come, in either order.
enum AsyncBits : uint64_t {
  claimedBit = 1,   ///< Somebody completes it.
  completedBit = 2, ///< Its result is set.
  returnedBit = 4,  ///< Its function has returned.
};

/// An operation from its registration to its completion; its uses follow it.
struct CoreOperation {
  Task::Thunk thunk;
  alignas(8) std::byte payload[Task::payloadSize];
  const char *name;
  CoreOperation *next; ///< Among ready or free ones.
  uint32_t waiting; ///< Uses that are not granted, and one while registering.
  uint32_t useCount;
  int32_t priority;
  Context context;
  OperationProperty property;
  uint8_t lane;
  uint8_t flags;
  uint8_t slots;     ///< Of the queue, for the budget.
  uint8_t sizeClass; ///< See OperationPool.
  uint32_t capacity; ///< Uses, when it was made alone.
  bool isLive;
  bool isRunning; ///< Taken by a thread.
  bool isSkipped; ///< Decided when it was taken.
  bool isGivenUp; ///< Its completion did not come before the close.
  uint64_t id;
  Poison *poison;
  CoreOperation *child; ///< In the heap of its lane.
  /// Among those made alone that are registered.
  CoreOperation *previousSingle, *nextSingle;
  const char *origin;
  uint64_t bytes;
  CoreOperator *shared;
  /// id << 3 and the AsyncBits; meets the completing thread.
  std::atomic<uint64_t> async;
  Status result; ///< Written by the thread that runs or completes it.
  uint64_t mark; ///< Of the last search that came by.
  uint64_t seenId, seenTick; ///< Of the watchdog.

  Use *uses() { return reinterpret_cast<Use *>(this + 1); }
  bool is(OperationFlag flag) const { return flags & flag; }

  /// Waits for its completion only.
  bool hasReturned() const {
    return is(isAsyncFlag) &&
           (async.load(std::memory_order_relaxed) & returnedBit);
  }

  /// Runs whatever became of its inputs.
  bool isNeverSkipped() const { return rt::isNeverSkipped(property); }
};
static_assert(sizeof(CoreOperation) % alignof(Use) == 0);

/// Blocks for operations of up to 4 and up to 16 variables, from slabs that
/// live as long as the pool. Others are made one by one, by the push, for a
/// power of two, and kept as well, each for operations of its own size: no
/// small one holds a large block, so that of each size there are as many as
/// were in flight at a time.
class OperationPool {
public:
  static constexpr uint32_t smallUses = 4, largeUses = 16;

  OperationPool() = default;
  OperationPool(const OperationPool &) = delete;
  OperationPool &operator=(const OperationPool &) = delete;
  ~OperationPool() {
    while (slabs) {
      Slab *next = slabs->next;
      ::operator delete(slabs, std::align_val_t(64));
      slabs = next;
    }
    for (CoreOperation *&kept : freeSingles)
      while (kept)
        ::operator delete(std::exchange(kept, kept->next));
  }

  /// Makes the first slab of each class; false when there is no memory.
  bool prepare() { return grow(0) && grow(1); }

  /// For at most largeUses; null when there is no memory.
  CoreOperation *take(uint32_t uses) {
    int sizeClass = uses > smallUses;
    if (!free[sizeClass] && !grow(sizeClass))
      return nullptr;
    CoreOperation *operation = free[sizeClass];
    free[sizeClass] = operation->next;
    return operation;
  }

  /// For any number; null when there is no memory. The caller gives it back or
  /// adds it when it is registered.
  CoreOperation *takeSingle(uint32_t uses) {
    uint32_t capacity = std::bit_ceil(uses);
    if (CoreOperation *&kept = keptSingles(capacity))
      return std::exchange(kept, kept->next);
    void *memory = ::operator new(
        sizeof(CoreOperation) + size_t(capacity) * sizeof(Use), std::nothrow);
    if (!memory)
      return nullptr;
    ++allocationCount;
    auto *operation = new (memory) CoreOperation();
    operation->sizeClass = singleClass;
    operation->capacity = capacity;
    return operation;
  }
  void addSingle(CoreOperation *operation) {
    operation->previousSingle = nullptr;
    operation->nextSingle = singles;
    if (singles)
      singles->previousSingle = operation;
    singles = operation;
  }
  /// Keeps the memory: a late completion may look at it.
  void giveSingle(CoreOperation *operation) {
    CoreOperation *&kept = keptSingles(operation->capacity);
    operation->next = kept;
    kept = operation;
  }

  void give(CoreOperation *operation) {
    operation->isLive = false;
    if (operation->sizeClass != singleClass) {
      operation->next = free[operation->sizeClass];
      free[operation->sizeClass] = operation;
      return;
    }
    CoreOperation *previous = operation->previousSingle;
    CoreOperation *next = operation->nextSingle;
    (previous ? previous->nextSingle : singles) = next;
    if (next)
      next->previousSingle = previous;
    giveSingle(operation);
  }

  /// Calls `function` with each operation that is registered.
  template <typename Function> void forEach(Function function) {
    for (Slab *slab = slabs; slab; slab = slab->next)
      for (uint32_t i = 0; i != slab->count; ++i)
        if (CoreOperation *operation = slab->at(i); operation->isLive)
          function(*operation);
    for (CoreOperation *operation = singles; operation;
         operation = operation->nextSingle)
      function(*operation);
  }

  uint64_t allocations() const { return allocationCount; }

private:
  static constexpr uint8_t singleClass = 2;
  static constexpr size_t slabBytes = 64 << 10;

  struct alignas(64) Slab {
    Slab *next;
    uint32_t count;
    size_t blockBytes;
    CoreOperation *at(uint32_t i) {
      return reinterpret_cast<CoreOperation *>(
          reinterpret_cast<std::byte *>(this + 1) + i * blockBytes);
    }
  };

  CoreOperation *&keptSingles(uint32_t capacity) {
    return freeSingles[std::countr_zero(capacity)];
  }

  bool grow(int sizeClass) {
    uint32_t uses = sizeClass ? largeUses : smallUses;
    size_t bytes = (sizeof(CoreOperation) + uses * sizeof(Use) + 63) & ~63;
    void *memory =
        ::operator new(slabBytes, std::align_val_t(64), std::nothrow);
    if (!memory)
      return false;
    uint32_t count = (slabBytes - sizeof(Slab)) / bytes;
    slabs = new (memory) Slab{slabs, count, bytes};
    ++allocationCount;
    for (uint32_t i = count; i--;) {
      auto *operation = new (slabs->at(i)) CoreOperation();
      operation->sizeClass = uint8_t(sizeClass);
      give(operation);
    }
    return true;
  }

  Slab *slabs = nullptr;
  CoreOperation *free[2] = {};
  CoreOperation *singles = nullptr;
  /// By the logarithm of their capacity; most are reads and writes at once.
  CoreOperation *freeSingles[std::bit_width(2 * maxVariables)] = {};
  uint64_t allocationCount = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_OPERATION_H
