// SPDX-License-Identifier: Apache-2.0
//
// What operations of the engine hold of arrays, and what functions that push
// such operations ask of them.

#ifndef DLC_RUNTIME_NDARRAY_ACCESS_H
#define DLC_RUNTIME_NDARRAY_ACCESS_H

#include "dlc/runtime/NDArray/NDArray.h"

#include <optional>

namespace dlc::rt {

/// The elements of an array as an operation holds them: no handle, which it
/// must not, but what stays valid while the operation has the array's variable
/// among those that it reads or writes.
struct ArrayPiece {
  explicit ArrayPiece(const NDArray &array)
      : chunk(array.chunk), offset(array.offset), bytes(array.bytes()),
        type(array.elementType), shape(array.dims) {}

  /// Some byte belongs to both.
  bool overlaps(const ArrayPiece &other) const {
    return chunk && chunk == other.chunk && bytes && other.bytes &&
           offset < other.offset + other.bytes && other.offset < offset + bytes;
  }

  /// The elements' address, for an operation that reads or writes them. Errors:
  /// InvalidArgument (a read of what was never written), OutOfMemory.
  Result<std::byte *> readable() const;
  Result<std::byte *> writable() const;
  TensorView view(std::byte *data) const { return {type, shape, data}; }
  /// Those of an array of text, whose address that is.
  std::span<Text> textsAt(std::byte *data) const {
    return {reinterpret_cast<Text *>(data), bytes / sizeof(Text)};
  }
  /// How often hostAccess() let somebody write the memory, which
  /// Engine::version() does not count; nullopt where somebody may write at any
  /// time: adopted memory, and such as NDArray::memory() keeps.
  std::optional<uint64_t> hostWrites() const;

  Chunk *chunk;
  size_t offset, bytes;
  DataType type;
  std::vector<int64_t> shape;
};

// What functions expect of their arrays.
Status checkPresent(const NDArray &array);  ///< Not null.
Status checkWritable(const NDArray &array); ///< Not null, not read-only.
Status checkHost(Context context);
Status checkComputable(const NDArray &array); ///< Its elements are; not null.
/// The bytes of elements are all there is to them: no text.
Status checkPlain(const NDArray &array);
/// One engine knows the variables of both, which are not null.
Status checkSameEngine(const NDArray &one, const NDArray &other);

TensorType typeOf(const NDArray &array);

/// The engine refuses variables that are listed twice: these are not.
void addVariable(std::vector<Variable> &list, Variable variable);

} // namespace dlc::rt

#endif // DLC_RUNTIME_NDARRAY_ACCESS_H
