// SPDX-License-Identifier: Apache-2.0
//
// What the handles of an engine name: an index into a table, and a stamp that
// tells the present owner of a place from earlier ones and from those of other
// engines.

#ifndef DLC_RUNTIME_ENGINE_HANDLETABLE_H
#define DLC_RUNTIME_ENGINE_HANDLETABLE_H

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Wait.h"

#include <atomic>
#include <cstdint>
#include <new>

namespace dlc::rt {

/// Stamps of an engine: they ascend in a fixed stride, so that each comes back
/// after 2^32 - 1 others; never 0. Each engine starts elsewhere. Guarded by the
/// engine's lock.
class StampSource {
public:
  explicit StampSource(const void *engine) {
    uint64_t seed = reinterpret_cast<uintptr_t>(engine) * 0x9e3779b97f4a7c15u ^
                    nowNanoseconds();
    last = uint32_t(seed ^ seed >> 32);
  }
  uint32_t next() {
    last += 0x9e3779b1u;
    if (!last)
      last += 0x9e3779b1u;
    return last;
  }

private:
  uint32_t last;
};

/// A table that grows in chunks, which never move. `State` has a member
/// `uint32_t stamp`, the owner's copy of the stamp, and `uint32_t nextFree`.
/// All but isCurrent() is guarded by the engine's lock.
template <typename State> class HandleTable {
  static constexpr uint32_t chunkShift = 10;
  static constexpr uint32_t chunkSize = 1u << chunkShift;
  static constexpr uint32_t chunkCount = 4096;

  struct Chunk {
    State states[chunkSize];
    /// Apart from the states: these are read by all that push and rarely
    /// written, those are written for each operation.
    std::atomic<uint32_t> stamps[chunkSize] = {};
  };

public:
  static constexpr uint32_t maxHandles = chunkSize * chunkCount;
  static constexpr uint32_t indexBits = 22;
  static_assert(maxHandles == 1u << indexBits);

  HandleTable() = default;
  HandleTable(const HandleTable &) = delete;
  HandleTable &operator=(const HandleTable &) = delete;
  ~HandleTable() {
    for (std::atomic<Chunk *> &chunk : chunks)
      delete chunk.load(std::memory_order_relaxed);
  }

  /// Whether `stamp` is that of the present owner of place `index`. For any
  /// thread. Acquire pairs with the release of a new chunk; the stamp itself
  /// orders nothing, since who has a handle was given it after its creation.
  bool isCurrent(uint32_t index, uint32_t stamp) const {
    if (index >= maxHandles || !stamp)
      return false;
    Chunk *chunk = chunks[index >> chunkShift].load(std::memory_order_acquire);
    return chunk && chunk->stamps[index & (chunkSize - 1)].load(
                        std::memory_order_relaxed) == stamp;
  }

  State &operator[](uint32_t index) const {
    return chunks[index >> chunkShift]
        .load(std::memory_order_relaxed)
        ->states[index & (chunkSize - 1)];
  }

  /// Gives a place to `stamp`. Errors: OutOfMemory.
  Status add(uint32_t stamp, uint32_t &index) {
    if (firstFree != none) {
      index = firstFree;
      firstFree = (*this)[index].nextFree;
    } else {
      if (used == maxHandles)
        return makeError(StatusCode::OutOfMemory,
                         "expected at most %u handles at a time", maxHandles);
      if (used % chunkSize == 0 && !addChunk())
        return makeError(StatusCode::OutOfMemory,
                         "no memory for %u more handles", chunkSize);
      index = used++;
    }
    (*this)[index].stamp = stamp;
    publish(index, stamp);
    ++count;
    return Status::ok();
  }

  /// From now on the handle is refused; the place stays taken until remove().
  void retire(uint32_t index) { publish(index, 0); }

  /// Takes retire() back.
  void restore(uint32_t index) { publish(index, (*this)[index].stamp); }

  void remove(uint32_t index) {
    publish(index, 0);
    (*this)[index].stamp = 0;
    (*this)[index].nextFree = firstFree;
    firstFree = index;
    --count;
  }

  uint32_t size() const { return count; } ///< Places taken.
  uint32_t end() const { return used; }   ///< Places were taken below it.

private:
  static constexpr uint32_t none = UINT32_MAX;

  bool addChunk() {
    Chunk *chunk = new (std::nothrow) Chunk;
    // Release: the chunk's initial values come with the pointer.
    chunks[used >> chunkShift].store(chunk, std::memory_order_release);
    return chunk;
  }
  void publish(uint32_t index, uint32_t stamp) {
    chunks[index >> chunkShift]
        .load(std::memory_order_relaxed)
        ->stamps[index & (chunkSize - 1)]
        .store(stamp, std::memory_order_relaxed);
  }

  /// Read for each push: not on a line with what is written for each.
  alignas(64) std::atomic<Chunk *> chunks[chunkCount] = {};
  alignas(64) uint32_t used = 0, count = 0, firstFree = none;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_HANDLETABLE_H
