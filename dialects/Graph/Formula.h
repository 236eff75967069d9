// SPDX-License-Identifier: Apache-2.0
//
// What gradients, and decompositions that have theirs of what they are made of,
// are written with: formulas over whole tensors.

#ifndef DLC_DIALECTS_GRAPH_FORMULA_H
#define DLC_DIALECTS_GRAPH_FORMULA_H

#include "Chain.h"

#include "dlc/dialects/Graph/Gradients.h"
#include "dlc/dialects/Graph/Shapes.h"

namespace dlc::graph {

/// Elementwise operations by short names; operands broadcast.
struct Formula : Chain {
  explicit Formula(Gradients &gradients)
      : Chain{gradients.builder(), gradients.loc()} {}
  Formula(mlir::OpBuilder &builder, mlir::Location loc) : Chain{builder, loc} {}

  static mlir::RankedTensorType typeOf(Value x) {
    return graph::typeOf(x);
  }
  static mlir::Type elementOf(Value x) {
    return llvm::cast<mlir::TensorType>(x.getType()).getElementType();
  }

  /// A scalar of the element type of `like`.
  Value number(Value like, double value) {
    return scalar(elementOf(like), value);
  }
  /// A splat of a static type.
  Value full(mlir::Type type, double value) {
    return constant(makeSplat(llvm::cast<mlir::RankedTensorType>(type), value));
  }
  Value full(llvm::ArrayRef<int64_t> shape, mlir::Type element, double value) {
    return full(mlir::RankedTensorType::get(shape, element), value);
  }

  Value add(Value a, Value b) { return make<AddOp>(a, b); }
  Value sub(Value a, Value b) { return make<SubOp>(a, b); }
  Value mul(Value a, Value b) { return make<MulOp>(a, b); }
  Value div(Value a, Value b) { return make<DivOp>(a, b); }
  Value neg(Value x) { return make<NegOp>(x); }
  Value exp(Value x) { return make<ExpOp>(x); }
  Value square(Value x) { return make<MulOp>(x, x); }
  Value scale(Value x, double factor) { return mul(x, number(x, factor)); }
  /// x + value
  Value shift(Value x, double value) { return add(x, number(x, value)); }
  /// value - x
  Value from(double value, Value x) { return sub(number(x, value), x); }
  Value reciprocal(Value x) { return make<ReciprocalOp>(x); }
  Value rsqrt(Value x) { return make<RsqrtOp>(x); }
  Value sigmoid(Value x) { return make<SigmoidOp>(x); }
  Value less(Value a, Value b) { return make<LessOp>(a, b); }
  Value less(Value a, double b) { return less(a, number(a, b)); }
  Value greater(Value a, Value b) { return make<GreaterOp>(a, b); }
  Value greater(Value a, double b) { return greater(a, number(a, b)); }
  Value both(Value a, Value b) { return make<LogicalAndOp>(a, b); }
  Value either(Value a, Value b) { return make<LogicalOrOp>(a, b); }
  Value select(Value condition, Value a, Value b) {
    return make<SelectOp>(condition, a, b);
  }
  Value select(Value condition, Value a, double b) {
    return select(condition, a, number(a, b));
  }
  Value select(Value condition, double a, Value b) {
    return select(condition, number(b, a), b);
  }

  /// The matrix with ones on its diagonal.
  Value identity(int64_t extent, mlir::Type element) {
    Value numbers = iota(extent);
    return cast(make<EqualOp>(reshape(numbers, {extent, 1}), numbers), element);
  }
  Value reshape(Value x, llvm::ArrayRef<int64_t> shape) {
    if (typeOf(x).getShape() == shape)
      return x;
    // Dimensions of 0 are meant.
    return ReshapeOp::create(builder, loc, x, ints(shape), /*allowzero=*/true);
  }
  Value transpose(Value x, llvm::ArrayRef<int64_t> perm) {
    return TransposeOp::create(builder, loc, x, perm);
  }
  /// The matrices in the last two dimensions transposed.
  Value turned(Value x) {
    auto perm = llvm::to_vector(llvm::seq<int64_t>(typeOf(x).getRank()));
    std::swap(perm[perm.size() - 2], perm.back());
    return transpose(x, perm);
  }
  Value expand(Value x, llvm::ArrayRef<int64_t> shape) {
    return make<ExpandOp>(x, ints(shape));
  }
  /// `step - 1` zeros behind each element along `axis`.
  Value interleave(Value x, int64_t axis, int64_t step) {
    if (step == 1)
      return x;
    llvm::SmallVector<int64_t> shape(typeOf(x).getShape());
    shape.insert(shape.begin() + axis + 1, 1);
    x = make<PadOp>(reshape(x, shape), ints({0, step - 1}), number(x, 0),
                    ints(axis + 1));
    shape.erase(shape.begin() + axis + 1);
    shape[axis] *= step;
    return reshape(x, shape);
  }
  Value sumOver(Value x, llvm::ArrayRef<int64_t> axes, bool keepdims) {
    return ReduceSumOp::create(builder, loc, x, ints(axes), keepdims);
  }
};

/// Fails with the reason that shapes must be static.
llvm::LogicalResult failDynamic(Gradients &gradients);

/// Zeros of type `x` with the elements of `gradient` added where `op`, whose
/// results hold nothing but elements of operand 0, took them from: `op` is
/// applied to the numbers of the elements.
mlir::Value buildSelectionGradient(Formula &f, mlir::Operation *op,
                                   unsigned result, mlir::Value gradient);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_FORMULA_H
