// SPDX-License-Identifier: Apache-2.0
//
// Builds the computation of one element, or a vector of elements, from arith
// and math operations. Private to the dialect.

#ifndef DLC_DIALECTS_GRAPH_ELEMENTBUILDER_H
#define DLC_DIALECTS_GRAPH_ELEMENTBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace dlc::graph {

/// Every operand and result is a scalar or a vector; constants take the form of
/// the value they meet.
class ElementBuilder {
public:
  using Value = mlir::Value;

  ElementBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Any operation whose result has the type of its operands.
  template <typename Op, typename... Values> Value make(Values... values) {
    return Op::create(builder, loc, values...);
  }

  /// `number` in the type of `like`; integers are truncated to its width.
  Value number(Value like, double number);
  Value integer(Value like, int64_t number);

  Value addf(Value a, Value b) { return make<mlir::arith::AddFOp>(a, b); }
  Value subf(Value a, Value b) { return make<mlir::arith::SubFOp>(a, b); }
  Value mulf(Value a, Value b) { return make<mlir::arith::MulFOp>(a, b); }
  Value divf(Value a, Value b) { return make<mlir::arith::DivFOp>(a, b); }
  Value addf(Value a, double b) { return addf(a, number(a, b)); }
  Value mulf(Value a, double b) { return mulf(a, number(a, b)); }
  Value exp(Value x) { return make<mlir::math::ExpOp>(x); }
  Value select(Value condition, Value a, Value b) {
    return make<mlir::arith::SelectOp>(condition, a, b);
  }

  Value less(Value a, double b) { return compare(Float::OLT, a, number(a, b)); }
  Value greater(Value a, double b) {
    return compare(Float::OGT, a, number(a, b));
  }

  using Float = mlir::arith::CmpFPredicate;
  using Int = mlir::arith::CmpIPredicate;
  Value compare(Float predicate, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value compare(Int predicate, Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value isZero(Value x) { return compare(Int::eq, x, integer(x, 0)); }

  /// 1 / (1 + e^-x), ln(1 + e^x), min(max(x, 0), 1) that keeps NaN.
  Value sigmoid(Value x);
  Value softplus(Value x);
  Value clampToUnit(Value x);

  /// Integer division and remainder that never trap, see graph.div.
  Value divide(Value a, Value b, bool isUnsigned);
  Value remainder(Value a, Value b, bool isUnsigned);

  /// Converts as graph.cast does; `from` and `to` are element types of tensors,
  /// with their signedness.
  Value convert(Value x, mlir::Type from, mlir::Type to);

  /// `type` as element of a value shaped as `like`.
  static mlir::Type shapedLike(Value like, mlir::Type type);
  /// The type arith uses for an element type of tensors.
  static mlir::Type signless(mlir::Type type);

private:
  Value convertFloat(Value x, mlir::Type to);
  Value convertToInteger(Value x, mlir::IntegerType to);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// Element types of an operand and the result of an operation, with signedness.
mlir::Type elementOf(mlir::Operation *op, unsigned operand = 0);
/// 0 or 1 of the signless type of `elementType`.
mlir::TypedAttr numberOf(mlir::Type elementType, int64_t number);
llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor);
bool isFloat(mlir::Type elementType);
bool isUnsigned(mlir::Type elementType);

/// Builds the one of three operations that is for elements of `type`; bool
/// counts as signed, or has the operation `Bool`.
template <typename Float, typename Signed, typename Unsigned,
          typename Bool = Signed>
mlir::Value foldAs(mlir::Type type, mlir::OpBuilder &builder,
                   mlir::Location loc, mlir::Value a, mlir::Value b) {
  if (isFloat(type))
    return Float::create(builder, loc, a, b);
  if (type.isInteger(1))
    return Bool::create(builder, loc, a, b);
  if (isUnsigned(type))
    return Unsigned::create(builder, loc, a, b);
  return Signed::create(builder, loc, a, b);
}

/// Calls `compute` with the floats in `scalars`, where f16 and bf16 are f32,
/// and rounds its result back to the type of the first when it is a float.
mlir::Value
buildFloat(mlir::OpBuilder &builder, mlir::Location loc,
           mlir::ValueRange scalars,
           llvm::function_ref<mlir::Value(ElementBuilder &, mlir::ValueRange)>
               compute);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_ELEMENTBUILDER_H
