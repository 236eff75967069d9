// SPDX-License-Identifier: Apache-2.0
//
// The memory that an array and its views share, with its variable.

#ifndef DLC_RUNTIME_NDARRAY_CHUNK_H
#define DLC_RUNTIME_NDARRAY_CHUNK_H

#include "dlc/runtime/Base/Text.h"
#include "dlc/runtime/NDArray/Access.h"

#include <atomic>
#include <memory>

namespace dlc::rt {

/// The bytes: from the storage or foreign. Tensors that were handed out keep
/// them when the chunk, and its engine, are gone.
struct ChunkMemory {
  ChunkMemory() = default;
  ChunkMemory(const ChunkMemory &) = delete;
  ~ChunkMemory() {
    std::ranges::destroy(texts);
    if (foreign.release)
      foreign.release(foreign.owner);
  }

  Allocation block;
  std::span<Text> texts; ///< The elements in `block`, when they are that.
  ForeignMemory foreign;
};

/// Counted by the handles, not by operations: those of the last handle were
/// pushed before it went, and the chunk goes after them (deleteVariable).
class Chunk {
public:
  Chunk(Engine &engine, Variable variable, Context context, size_t bytes,
        bool holdsText, std::shared_ptr<Storage> storage)
      : variable(variable), context(context), bytes(bytes),
        holdsText(holdsText), engine(engine), storage(std::move(storage)) {}

  /// Before the first handle is given out. Errors: OutOfMemory.
  Status adopt(const ForeignMemory &foreign);

  void retain() {
    // Whoever copies a handle has one: nothing to order.
    references.fetch_add(1, std::memory_order_relaxed);
  }
  /// Pushes the end of the chunk when it was the last reference.
  void release(ArrayRuntime &home);

  /// The memory, for an operation that reads it, or after a wait.
  Result<std::byte *> readable() const;
  /// The memory, for an operation that writes `part` bytes of it, which comes
  /// to be when it has not yet.
  Result<std::byte *> writable(size_t part);
  /// Keeps what readable() answered.
  std::shared_ptr<const void> owner() const;

  bool isReadOnly() const { return locked; }
  bool isInherited() const { return generation != engine.generation(); }

  // What operations do not write. Relaxed: whoever writes and pushes an
  // operation then, orders the two himself.
  void noteHostWrite() { hostWrites.fetch_add(1, std::memory_order_relaxed); }
  void noteSharing() { shared.store(true, std::memory_order_relaxed); }
  /// ArrayPiece::hostWrites().
  std::optional<uint64_t> countHostWrites() const;

  const Variable variable;
  const Context context;
  const size_t bytes;
  const bool holdsText;

private:
  friend class ArrayRuntime;
  Status pushEnd();

  Engine &engine; ///< Outlives the handles.
  const uint64_t generation = engine.generation();
  std::shared_ptr<Storage> storage;
  bool locked = false;
  std::atomic<uint64_t> hostWrites = 0;
  std::atomic<bool> shared = false; ///< Others write when they like.
  std::atomic<size_t> references = 1;
  Chunk *next = nullptr; ///< Among those that ArrayRuntime keeps.

  /// Set once, by the first operation that writes; the order of the engine's
  /// operations on `variable` keeps others away meanwhile. Atomic for those who
  /// look at it after a wait while another thread pushes that operation.
  std::atomic<std::byte *> start = nullptr;
  std::shared_ptr<ChunkMemory> memory; ///< Set before `start`.
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_NDARRAY_CHUNK_H
