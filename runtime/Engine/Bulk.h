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
  Task task;
  const char *name = nullptr;
  const char *origin = nullptr;
  uint32_t writeCount = 0, count = 0;
  bool isSkipped = false; ///< Known when its turn was.

  /// Without its function; null when there is no memory.
  static BulkPart *make(VariableList reads, VariableList writes,
                        const PushOptions &options) {
    size_t count = reads.size() + writes.size();
    void *memory = ::operator new(sizeof(BulkPart) + count * sizeof(uint32_t),
                                  std::nothrow);
    if (!memory)
      return nullptr;
    auto *part = new (memory) BulkPart;
    part->name = options.name;
    part->origin = options.origin;
    part->writeCount = uint32_t(writes.size());
    part->count = uint32_t(count);
    uint32_t *next = part->variables();
    for (const VariableList &list : {writes, reads})
      for (const Variable &variable : list)
        *next++ = variable.index;
    return part;
  }
  static void end(BulkPart *part) {
    if (!part)
      return;
    part->~BulkPart();
    ::operator delete(part);
  }

  /// The written ones first.
  uint32_t *variables() { return reinterpret_cast<uint32_t *>(this + 1); }
  std::span<uint32_t> all() { return {variables(), count}; }
  std::span<uint32_t> written() { return {variables(), writeCount}; }
};
static_assert(sizeof(BulkPart) % alignof(uint32_t) == 0);

/// In the payload of an operation that is a bulk.
struct BulkParts {
  BulkPart *first;   ///< Null when all have run. Guarded by the core's lock.
  BulkPart *running; ///< Null before the first one. Atomic.

  static BulkParts &of(CoreOperation &operation) {
    return *std::launder(reinterpret_cast<BulkParts *>(operation.payload));
  }
  BulkPart *now() {
    return std::atomic_ref(running).load(std::memory_order_relaxed);
  }
};
static_assert(sizeof(BulkParts) <= Task::payloadSize);

/// What one thread collects outside of operations, or inside one.
struct BulkState {
  /// Variables of a bulk: so many are looked through fast, and an operation
  /// that has more is not small.
  static constexpr uint32_t mostVariables = 256;
  /// Parts: their end is told with the core's lock held.
  static constexpr unsigned mostParts = 4096;

  BulkState *next = nullptr; ///< In the list of all, which only grows.
  std::atomic<bool> isUsed = true;
  std::atomic<uint64_t> owner = 0; ///< Number of its thread; 0 for none.
  uint64_t scope = 0;              ///< As EngineCore::bulkScope(). Its own.
  unsigned limit = 0;              ///< Its own.

  /// Guards what follows: any thread may push what was collected. What it does
  /// with the lock held waits for no operation. Taken before the core's lock.
  SpinLock lock;
  bool isLeft = false; ///< Its thread or operation ended before it was pushed.
  std::atomic<uint32_t> count = 0; ///< Parts; also read without the lock.
  BulkPart *first = nullptr, *last = nullptr;
  Lane *lane = nullptr;
  uint64_t bytes = 0;
  /// What it will be pushed as: with each variable once, as written if a part
  /// writes it. Null while there are no parts.
  CoreOperation *operation = nullptr;
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
  bool mayHoldAny(VariableList variables) const {
    for (const Variable &variable : variables)
      if (mayHold(variable))
        return true;
    return false;
  }
  /// Whether an operation with these variables has to come after a part.
  bool conflictsWith(VariableList reads, VariableList writes) const {
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

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_BULK_H
