// SPDX-License-Identifier: Apache-2.0
//
// What families of operators share: rules of shapes and types, and lowerings
// that one Graph operation expresses.

#ifndef DLC_LIB_SYMBOL_OPERATORS_RULES_H
#define DLC_LIB_SYMBOL_OPERATORS_RULES_H

#include "../Extents.h"
#include "../LoweringContext.h"
#include "Families.h"

#include "dlc/Symbol/Relation.h"

#include <algorithm>

namespace dlc::symbol {

/// A string as a template argument: the mnemonic of a Graph operation.
template <size_t N> struct Mnemonic {
  constexpr Mnemonic(const char (&text)[N]) { std::copy_n(text, N, chars); }
  llvm::StringRef str() const { return llvm::StringRef(chars, N - 1); }
  char chars[N];
};

/// All operands in order, no attributes, one result.
template <Mnemonic name> void lowerSimple(LoweringContext &n) {
  n.set(0, n.b.op(name.str(), n.inputs()));
}

/// The first operand as it is.
void lowerIdentity(LoweringContext &n);

/// Operands and results have one shape.
void sameShapes(ShapeRelation &r);

/// The first operand and the first result have one shape.
void keepsShape(ShapeRelation &r);

/// Operand `index`, where it exists, has `shape` unless what is known of it
/// says otherwise: of several forms that the operator takes, the usual one.
void suggestInput(ShapeRelation &r, size_t index, const Shape &shape);

/// The same, and any other form has as many rows of as many elements: what is
/// transposed, or is of another size, is wrong.
void suggestElements(ShapeRelation &r, size_t index, const Shape &shape);

/// The results have the type of parameter `dtype`; operands have any.
void convertsToDtype(TypeRelation &r);

/// The first operand and the results have one type; others have any.
void keepsType(TypeRelation &r);

/// The Graph element type of a parameter.
mlir::Type typeParameter(LoweringContext &n, std::string_view name);

/// Fails unless the list is empty or has `count` values.
bool checkLength(LoweringContext &n, std::string_view parameter, size_t count);

/// The product of dimensions [begin, end); unknown when one is.
int64_t product(const Shape &shape, size_t begin, size_t end);

/// Of extents that may be unknown, as a result is that is none.
int64_t multiplied(int64_t extent, int64_t by);
int64_t divided(int64_t extent, int64_t by);

/// Dimension `axis` of `rank`, negative ones from the end; none, if there is no
/// such one, which the lowering says.
std::optional<size_t> axisWithin(int64_t axis, size_t rank);

/// An extent of `x`, as an i64 scalar.
mlir::Value extentOf(LoweringContext &n, mlir::Value x, int64_t axis);

/// `x` where its place along `axis` is below `lengths`, which has its rank, and
/// `outside` elsewhere.
mlir::Value maskByLength(LoweringContext &n, mlir::Value x, int64_t axis,
                         mlir::Value lengths, double outside);

/// Softmax over everything behind the first dimension.
mlir::Value softmaxOfSamples(LoweringContext &n, mlir::Value x);

/// A constant of f32.
mlir::Value floats(LoweringContext &n, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<float> values);

/// Fails the node unless `x` has 4 dimensions.
bool isImage(LoweringContext &n, mlir::Value x);

/// Where the operator's axis `axis` becomes dimension 1, and back.
mlir::Value moveAxis(LoweringContext &n, mlir::Value x, int64_t from,
                     int64_t to);

/// A matrix that is true where the column is `k` more than the row.
mlir::Value onDiagonal(LoweringContext &n, int64_t rows, int64_t columns,
                       int64_t k);

/// The matrices in the last two dimensions transposed; fails the node where
/// there are fewer.
mlir::Value turned(LoweringContext &n, mlir::Value x);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_RULES_H
