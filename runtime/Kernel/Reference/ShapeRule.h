// SPDX-License-Identifier: Apache-2.0
//
// What shape rules share: checks of operands and attributes, and arithmetic on
// shapes with unknown dimensions. A rule calls checkOperands() first and
// addResult() last; between the two, every operand has a valid type, at most
// DLC_MAX_RANK dimensions and a size that fits int64_t.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_SHAPERULE_H
#define DLC_RUNTIME_KERNEL_REFERENCE_SHAPERULE_H

#include "dlc/runtime/Kernel/Reference/Reference.h"

namespace dlc::rt::ref {

/// A set of element types and its name in messages.
struct TypeSet {
  uint32_t bits;
  const char *description;

  bool contains(DataType type) const { return bits >> type & 1; }
};

inline constexpr TypeSet anyType{0x3ffe, "a plain type"};
inline constexpr TypeSet boolType{1u << DLC_BOOL, "bool"};
inline constexpr TypeSet integerTypes{0x03fc, "an integer type"};
inline constexpr TypeSet floatTypes{0x3c00, "a float type"};
inline constexpr TypeSet numericTypes{0x3ffc, "a numeric type"};
inline constexpr TypeSet indexTypes{1u << DLC_I32 | 1u << DLC_I64,
                                    "i32 or i64"};
inline constexpr TypeSet i64Type{1u << DLC_I64, "i64"};

/// Checks the number of operands, that the first `least` are present, and the
/// types, ranks and sizes of all. Variadic operations give SIZE_MAX as `most`.
Status checkOperands(const InferContext &context, size_t least, size_t most);
inline Status checkOperands(const InferContext &context, size_t count) {
  return checkOperands(context, count, count);
}

/// Absent operands pass all of these; so do unknown ranks and dimensions.
Status checkType(const InferContext &context, size_t index, TypeSet types);
Status checkSameType(const InferContext &context, size_t a, size_t b);
Status checkRank(const InferContext &context, size_t index, int64_t rank);
Status checkRankAtLeast(const InferContext &context, size_t index,
                        int64_t least);

/// Brings an axis from [-rank, rank) into [0, rank).
Status normalizeAxis(int64_t &axis, int64_t rank);
/// As normalizeAxis() for each; no axis may come twice. Keeps the order.
Status normalizeAxes(std::span<int64_t> axes, int64_t rank);

/// Makes `dim` the known one of the two; false when both are known and differ.
bool mergeDim(int64_t &dim, int64_t other);
/// Checks that `type` has shape `shape` as far as both are known.
bool mayHaveShape(const TensorType &type, std::span<const int64_t> shape);

/// NumPy broadcasting of one dimension into another; false when it cannot be.
/// A known extent other than 1 wins over an unknown one.
bool broadcastDim(int64_t &dim, int64_t other);

/// a * b and a + b, kUnknownDim when a factor is unknown; nullopt on overflow.
std::optional<int64_t> multiplyDims(int64_t a, int64_t b);
std::optional<int64_t> addDims(int64_t a, int64_t b);

TensorType unrankedOf(DataType type);

/// Appends a result, after checking its rank, dimensions and size.
Status addResult(std::vector<TensorType> &results, TensorType type);

/// The shape rule of operations whose result is like operand 0.
Status addResultLike(const InferContext &context,
                     std::vector<TensorType> &results);

/// The rule of an operation on floats along attribute `axis`, the last one
/// without it, whose result is like its operand.
Status inferAlongAxis(const InferContext &context,
                      std::vector<TensorType> &results);

/// InvalidArgument, printf-like.
#define DLC_INVALID(...)                                                       \
  ::dlc::rt::makeError(::dlc::rt::StatusCode::InvalidArgument, __VA_ARGS__)

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_SHAPERULE_H
