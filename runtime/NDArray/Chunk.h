// SPDX-License-Identifier: Apache-2.0
//
// The memory that an array and its views share, with its variable.

#ifndef DLC_RUNTIME_NDARRAY_CHUNK_H
#define DLC_RUNTIME_NDARRAY_CHUNK_H

#include "dlc/runtime/NDArray/NDArray.h"

#include <atomic>

namespace dlc::rt {

/// Counted by the handles, not by operations: those of the last handle were
/// pushed before it went, and the memory goes after them (deleteVariable).
class Chunk {
public:
  Chunk(Engine &engine, Variable variable, Context context, size_t bytes)
      : variable(variable), context(context), bytes(bytes), engine(engine) {}
  ~Chunk();

  void retain() {
    // Whoever copies a handle has one: nothing to order.
    references.fetch_add(1, std::memory_order_relaxed);
  }
  /// Pushes the end of the chunk when it was the last reference.
  void release();

  /// The memory, for an operation that reads it, or after a wait.
  Result<std::byte *> readable() const;
  /// The memory, for an operation that writes `part` bytes of it, which comes
  /// to be when it has not yet.
  Result<std::byte *> writable(size_t part);

  const Variable variable;
  const Context context;
  const size_t bytes;

  // Set before the first handle is given out.
  std::shared_ptr<Storage> storage; ///< For operations that come later.
  ForeignMemory foreign;

private:
  Engine &engine; ///< Outlives the handles.
  std::atomic<size_t> references = 1;

  /// Set once, by the first operation that writes; the order of the engine's
  /// operations on `variable` keeps others away meanwhile. Atomic for those who
  /// look at it after a wait while another thread pushes that operation.
  std::atomic<std::byte *> memory = nullptr;
  Allocation allocation; ///< Guarded as `memory` is.

  friend class NDArray;
};

/// Elements of a chunk, as operations hold them.
struct ArrayPiece {
  explicit ArrayPiece(const NDArray &array)
      : chunk(array.chunk), offset(array.offset), bytes(array.bytes()),
        type(array.elementType), shape(array.dims) {}

  bool overlaps(const ArrayPiece &other) const {
    return chunk && chunk == other.chunk && bytes && other.bytes &&
           offset < other.offset + other.bytes && other.offset < offset + bytes;
  }

  /// The elements' address, for an operation that reads or writes them.
  Result<std::byte *> readable() const;
  Result<std::byte *> writable() const;
  TensorView view(std::byte *data) const { return {type, shape, data}; }

  Chunk *chunk;
  size_t offset, bytes;
  DataType type;
  std::vector<int64_t> shape;
};

/// The engine refuses variables that are listed twice: these are not.
void addVariable(std::vector<Variable> &list, Variable variable);

} // namespace dlc::rt

#endif // DLC_RUNTIME_NDARRAY_CHUNK_H
