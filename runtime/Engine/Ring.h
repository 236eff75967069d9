// SPDX-License-Identifier: Apache-2.0
//
// The queue between those that push and those that schedule: a bounded ring of
// records of one cache line, or two. The place in the ring is the order of the
// engine.

#ifndef DLC_RUNTIME_ENGINE_RING_H
#define DLC_RUNTIME_ENGINE_RING_H

#include "HandleTable.h"
#include "Operation.h"

#include <bit>
#include <memory>

namespace dlc::rt {

/// A line of the ring: the head of a record, or the rest of one.
union alignas(64) Slot {
  static constexpr uint32_t headVariables = 4;
  static constexpr uint32_t restWords = 15;
  static constexpr uint32_t extensionWords = 4; ///< See Extension.
  /// Variables of an operation that a record holds, and of one with an
  /// extension; one that has more is made by the push.
  static constexpr uint32_t mostVariables = OperationPool::largeUses;
  static constexpr uint32_t extendedVariables =
      headVariables + restWords - extensionWords;
  static_assert(headVariables + restWords >= mostVariables &&
                extendedVariables <= mostVariables);

  struct Head {
    uint32_t lap; ///< Atomic, through Ring.
    uint8_t reads, writes, lane, flags;
    int32_t priority;
    DeviceKind kind;
    OperationProperty property;
    int16_t index;
    Task::Thunk thunk;
    std::byte payload[Task::payloadSize];
    const char *name;
    uint32_t variables[headVariables]; ///< The written ones first.
  } head;
  struct Rest {
    uint32_t lap; ///< Left from when the line was a head.
    uint32_t words[restWords];
  } rest;
};
static_assert(sizeof(Slot) == 64);

/// What few operations have; the first words of the rest.
struct Extension {
  const char *origin;
  uint64_t bytes;
};
static_assert(sizeof(Extension) <= Slot::extensionWords * sizeof(uint32_t));

/// A variable in a record: its index and as much of the stamp as fits, to find
/// out that it was deleted between the push and the registration.
inline uint32_t packVariable(Variable variable) {
  constexpr uint32_t bits = HandleTable<CoreVariable>::indexBits;
  return variable.index | variable.stamp << bits;
}
inline uint32_t packedIndex(uint32_t packed) {
  constexpr uint32_t bits = HandleTable<CoreVariable>::indexBits;
  return packed & ((1u << bits) - 1);
}

/// The lines. Who owns which ticket is decided elsewhere.
class Ring {
public:
  bool create(unsigned slots) {
    count = std::bit_ceil(uint64_t(slots));
    shift = unsigned(std::countr_zero(count));
    lines.reset(new (std::nothrow) Slot[count]());
    return lines != nullptr;
  }

  uint64_t size() const { return count; }
  Slot &operator[](uint64_t ticket) const {
    return lines[ticket & (count - 1)];
  }

  /// Release: the record comes with its lap.
  void publish(uint64_t ticket) const {
    std::atomic_ref<uint32_t>((*this)[ticket].head.lap)
        .store(lapOf(ticket), std::memory_order_release);
  }
  bool isPublished(uint64_t ticket) const {
    return std::atomic_ref<uint32_t>((*this)[ticket].head.lap)
               .load(std::memory_order_acquire) == lapOf(ticket);
  }

private:
  /// Never 0 before the ring was used 2^32 - 1 times.
  uint32_t lapOf(uint64_t ticket) const {
    return uint32_t(ticket >> shift) + 1;
  }

  std::unique_ptr<Slot[]> lines;
  uint64_t count = 0;
  unsigned shift = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_RING_H
