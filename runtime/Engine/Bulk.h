// SPDX-License-Identifier: Apache-2.0
//
// What bulks are made of: parts, and what a thread has collected of them.

#ifndef DLC_RUNTIME_ENGINE_BULK_H
#define DLC_RUNTIME_ENGINE_BULK_H

#include "Lane.h"
#include "Ring.h"
#include "Sync.h"

#include <new>

namespace dlc::rt {

/// One operation of a bulk; the numbers of its variables follow it.
struct BulkPart {
  BulkPart *next = nullptr;
  Task task = {}; ///< Empty when it has run.
  const char *name = nullptr;
  const char *origin = nullptr;
  uint16_t number = 0; ///< In its bulk.
  uint16_t writeCount = 0, count = 0;
  bool isSkipped = false; ///< Known when its turn was.

  /// The written ones first.
  uint32_t *variables() { return reinterpret_cast<uint32_t *>(this + 1); }
  std::span<uint32_t> all() { return {variables(), count}; }
  std::span<uint32_t> written() { return {variables(), writeCount}; }
};
static_assert(sizeof(BulkPart) % alignof(uint32_t) == 0);

/// Parts that lie one after another: to take memory for each, and to give it
/// back in another thread, would cost more than to run a small one.
struct BulkBlock {
  /// For some tens of parts, and for the largest.
  static constexpr size_t bytes = 2048;

  BulkBlock *next = nullptr;
  uint32_t partCount = 0; ///< Of the whole bulk; in its first block.
  uint32_t used = 0;
  alignas(BulkPart) std::byte parts[bytes - 2 * sizeof(void *)];

  BulkBlock() {} // Leaves the parts as they are.
  static constexpr size_t bytesOf(size_t variables) {
    size_t bytes = sizeof(BulkPart) + variables * sizeof(uint32_t);
    return (bytes + alignof(BulkPart) - 1) & ~(alignof(BulkPart) - 1);
  }
  bool hasRoom(size_t variables) const {
    return used + bytesOf(variables) <= sizeof(parts);
  }
  /// There must be room.
  BulkPart *add(const VariableList &reads, const VariableList &writes) {
    size_t count = reads.size() + writes.size();
    auto *part = new (parts + used) BulkPart;
    used += uint32_t(bytesOf(count));
    part->writeCount = uint16_t(writes.size());
    part->count = uint16_t(count);
    uint32_t *next = part->variables();
    for (const VariableList *list : {&writes, &reads})
      for (const Variable &variable : *list)
        *next++ = variable.index;
    return part;
  }
  BulkPart *first() {
    return std::launder(reinterpret_cast<BulkPart *>(parts));
  }
};
static_assert(sizeof(BulkBlock) == BulkBlock::bytes);

/// Blocks that no bulk has. Guarded by the core's lock.
class BulkBlockPool {
public:
  BulkBlockPool() = default;
  BulkBlockPool(const BulkBlockPool &) = delete;
  BulkBlockPool &operator=(const BulkBlockPool &) = delete;
  ~BulkBlockPool() { end(free); }

  /// Null when there is no memory.
  BulkBlock *take() {
    BulkBlock *block = free;
    if (!block)
      return new (std::nothrow) BulkBlock;
    free = block->next;
    --count;
    return new (block) BulkBlock;
  }
  /// Takes a list back. Returns what is too much to be kept, for end(), which
  /// needs no lock.
  BulkBlock *give(BulkBlock *list) {
    for (; list && count != most; ++count) {
      BulkBlock *block = std::exchange(list, list->next);
      block->next = free;
      free = block;
    }
    return list;
  }
  static void end(BulkBlock *list) {
    while (list)
      delete std::exchange(list, list->next);
  }

private:
  static constexpr size_t most = 2048; ///< 4 MiB.
  BulkBlock *free = nullptr;
  size_t count = 0;
};

/// In the payload of an operation that is a bulk.
struct BulkParts {
  BulkBlock *blocks; ///< Null when all have run. Guarded by the core's lock.
  BulkPart *running; ///< Null before the first one. Atomic.

  static BulkParts &of(CoreOperation &operation) {
    return *std::launder(reinterpret_cast<BulkParts *>(operation.payload));
  }
  BulkPart *now() {
    return std::atomic_ref(running).load(std::memory_order_relaxed);
  }
  void enter(BulkPart *part) {
    std::atomic_ref(running).store(part, std::memory_order_relaxed);
  }
};
static_assert(sizeof(BulkParts) <= Task::payloadSize);

/// What one thread collects outside of operations, or inside one.
struct BulkState {
  /// Variables of a bulk: so many are looked through fast, and an operation
  /// that has more is not small.
  static constexpr uint32_t mostVariables = 256;
  static_assert(BulkBlock::bytesOf(mostVariables) <= sizeof(BulkBlock::parts));
  /// Parts: their end is told with the core's lock held.
  static constexpr unsigned mostParts = 4096;

  BulkState *next = nullptr; ///< In the list of all, which only grows.
  std::atomic<bool> isUsed = true;
  unsigned limit = 0; ///< Its thread's own.

  /// Guards what follows: any thread may push what was collected. What it does
  /// with the lock held waits for no operation. Taken before the core's lock.
  BiasedLock lock;
  bool isLeft = false; ///< Its thread or operation ended before it was pushed.
  std::atomic<uint32_t> count = 0; ///< Parts; also read without the lock.
  BulkBlock *firstBlock = nullptr, *lastBlock = nullptr;
  BulkPart *last = nullptr;
  Lane *lane = nullptr;
  uint64_t bytes = 0;
  /// What it will be pushed as: with each variable once, as written if a part
  /// writes it. Of no meaning while there are no parts.
  CoreOperation *operation = nullptr;
  uint32_t usualUses = 0; ///< Of the one before.
  /// By the last byte of a variable: which ones there may be, also read without
  /// the lock; and where one was put.
  std::atomic<uint64_t> filter[4] = {};
  uint8_t places[256] = {};

  /// Where `variable` is among the uses; mostVariables for nowhere.
  uint32_t find(Variable variable) const {
    if (!count.load(std::memory_order_relaxed) || !mayHold(variable))
      return mostVariables;
    uint32_t packed = packVariable(variable), used = operation->useCount;
    const Use *uses = operation->uses();
    uint32_t place = places[variable.index & 255];
    if (place < used && uses[place].variable == packed)
      return place;
    for (place = 0; place != used; ++place)
      if (uses[place].variable == packed)
        return place;
    return mostVariables;
  }
  void add(Variable variable, bool writes) {
    if (uint32_t place = find(variable); place != mostVariables) {
      operation->uses()[place].writes |= writes;
      return;
    }
    uint32_t place = operation->useCount++;
    operation->uses()[place] = {nullptr, operation, packVariable(variable),
                                writes, false};
    places[variable.index & 255] = uint8_t(place);
    std::atomic<uint64_t> &word = filter[variable.index >> 6 & 3];
    // Release: who sees it comes after the bulk that went before.
    word.store(word.load(std::memory_order_relaxed) |
                   uint64_t(1) << (variable.index & 63),
               std::memory_order_release);
  }

  /// Without the lock. Acquire: when it has gone with its bulk, that was pushed
  /// before what the caller does next.
  bool mayHold(Variable variable) const {
    return filter[variable.index >> 6 & 3].load(std::memory_order_acquire) >>
               (variable.index & 63) &
           1;
  }
  bool mayHoldAny(const VariableList &variables) const {
    for (const Variable &variable : variables)
      if (mayHold(variable))
        return true;
    return false;
  }
  /// Whether an operation with these variables has to come after a part.
  bool conflictsWith(const VariableList &reads,
                     const VariableList &writes) const {
    for (const Variable &variable : writes)
      if (find(variable) != mostVariables)
        return true;
    for (const Variable &variable : reads)
      if (uint32_t place = find(variable);
          place != mostVariables && operation->uses()[place].writes)
        return true;
    return false;
  }
};

/// Holds the lock of a bulk, as its owner or as another thread.
class BulkGuard {
public:
  enum Side : bool { Owner, Other };
  BulkGuard(BulkState &bulk, const AsymmetricFence &fence, Side side)
      : bulk(bulk), fence(fence), side(side) {
    lock();
  }
  BulkGuard(const BulkGuard &) = delete;
  BulkGuard &operator=(const BulkGuard &) = delete;
  ~BulkGuard() {
    if (isHeld)
      unlock();
  }
  void lock() {
    isHeld = true;
    if (side == Owner)
      bulk.lock.lockAsOwner(fence);
    else
      bulk.lock.lock(fence);
  }
  void unlock() {
    isHeld = false;
    if (side == Owner)
      bulk.lock.unlockAsOwner();
    else
      bulk.lock.unlock();
  }

private:
  BulkState &bulk;
  const AsymmetricFence &fence;
  const Side side;
  bool isHeld = false;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_BULK_H
