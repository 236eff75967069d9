// SPDX-License-Identifier: Apache-2.0
//
// Element types and borrowed tensors as the runtime sees them.

#ifndef DLC_RUNTIME_BASE_TENSOR_H
#define DLC_RUNTIME_BASE_TENSOR_H

#include "dlc/abi/Tensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::rt {

using DataType = DlcDataType;

/// The last one that there is.
inline constexpr DataType kLastType = DLC_TEXT;

/// Bits of one element; 0 for an invalid type.
size_t bitsOf(DataType type);

/// Elements of less than a byte, which share one with others.
inline bool isPacked(DataType type) { return bitsOf(type) % 8 != 0; }

/// Bytes of one element; 0 for an invalid type and for packed elements. A text
/// (Text.h) is a reference.
size_t sizeOf(DataType type);

/// Bytes of that many elements, or of a dense tensor; nullopt for an invalid
/// type, a negative number, and when the result overflows int64_t.
std::optional<int64_t> byteCount(DataType type, int64_t count);
std::optional<int64_t> byteCount(DataType type, std::span<const int64_t> shape);

/// What the address of an element is a multiple of; 0 for an invalid type.
size_t alignmentOf(DataType type);

/// The name of a type as messages print it: "f32", "i64", "bool", ...
std::string_view nameOf(DataType type);

/// The type of that name, or DLC_INVALID_TYPE.
DataType dataTypeOf(std::string_view name);

/// A type that programs and operations of arrays compute with.
inline bool isComputable(DataType type) {
  return type > DLC_INVALID_TYPE && type <= DLC_F64;
}
bool isFloat(DataType type); ///< A computable one.
bool isSignedInteger(DataType type);
bool isUnsignedInteger(DataType type);

/// A dimension whose extent is not known (before the run).
inline constexpr int64_t kUnknownDim = -1;

/// A type and a shape; dimensions may be kUnknownDim, the rank may be unknown.
struct TensorType {
  DataType type = DLC_INVALID_TYPE;
  std::vector<int64_t> shape;
  bool hasRank = true;

  bool isStatic() const;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};

/// "2x?xf32", "*xf32" or "f32".
std::string toString(const TensorType &type);

/// Product of the dimensions; nullopt when one is negative, and when that of
/// those that are not 0 overflows int64_t, as strides would.
std::optional<int64_t> elementCount(std::span<const int64_t> shape);

/// A dense row-major tensor in memory that someone else owns.
struct TensorView {
  DataType type = DLC_INVALID_TYPE;
  std::span<const int64_t> shape;
  void *data = nullptr;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t size() const; ///< Number of elements; the shape must be static.
  size_t bytes() const { return byteCount(type, size()).value_or(0); }
  template <typename T> T *as() const { return static_cast<T *>(data); }
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_TENSOR_H
