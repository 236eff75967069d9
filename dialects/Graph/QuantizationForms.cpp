// SPDX-License-Identifier: Apache-2.0
//
// Quantisation as elementwise operations, which are fused.

#include "ElementBuilder.h"
#include "Formula.h"

#include "dlc/dialects/Graph/Integers.h"

using namespace mlir;
using namespace dlc::graph;

namespace {

/// `x` and the operands that say what is done with it, of shapes that
/// broadcast.
struct Aligned {
  Value x, scale, zeroPoint;
};

} // namespace

/// Whether one scale and one zero point are for all of an x of known rank.
template <typename Op> static bool isOfOneScale(Op op) {
  auto isOne = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getNumElements() == 1;
  };
  auto x = dyn_cast<RankedTensorType>(op.getX().getType());
  auto y = dyn_cast<RankedTensorType>(op.getY().getType());
  return x && y && x.getShape() == y.getShape() &&
         !llvm::is_contained(x.getShape(), 0) && op.getBlockSize() == 0 &&
         isOne(op.getScale()) && isOne(op.getZeroPoint());
}

/// Nullopt where types are not known, or blocks do not divide the axis.
template <typename Op> static std::optional<Aligned> align(Formula &f, Op op) {
  Value x = op.getX();
  if (isOfOneScale(op))
    return Aligned{x, f.reshape(op.getScale(), {}),
                   f.reshape(op.getZeroPoint(), {})};
  if (!hasElements(op))
    return std::nullopt;
  auto axis = static_cast<int64_t>(op.getAxis());
  const auto block = static_cast<int64_t>(op.getBlockSize());
  ArrayRef<int64_t> extents = Formula::typeOf(x).getShape();
  const auto rank = static_cast<int64_t>(extents.size());
  SmallVector<int64_t> shape;
  if (block > 0) {
    axis = wrapAxis(axis, rank);
    if (extents[axis] % block != 0)
      return std::nullopt;
    SmallVector<int64_t> split(extents);
    split[axis] = block;
    split.insert(split.begin() + axis, extents[axis] / block);
    shape = split;
    shape[axis + 1] = 1;
    x = f.reshape(x, split);
  } else {
    axis = wrapAxis(axis, rank);
    shape.assign(rank - axis, 1);
    shape.front() = extents[axis];
  }
  return Aligned{x, f.reshape(op.getScale(), shape),
                 f.reshape(op.getZeroPoint(), shape)};
}

bool QuantizeLinearOp::hasFasterParts() { return true; }

FailureOr<SmallVector<Value>> QuantizeLinearOp::decompose(OpBuilder &builder) {
  Formula f(builder, getLoc());
  auto aligned = align(f, *this);
  if (!aligned)
    return failure();
  auto type = Formula::typeOf(getY());
  auto integer = cast<IntegerType>(type.getElementType());
  Type division = getPrecision().value_or(Formula::elementOf(getScale()));
  Value x =
      f.div(f.cast(aligned->x, division), f.cast(aligned->scale, division));
  // Of short floats the sum may need more bits than the quotient.
  x = f.cast(x, computeType(division));
  // NaN becomes the zero point. What is rounded is read by what follows alone,
  // which so is one kernel with it also where shapes are open.
  x = f.make<RoundOp>(x);
  x = f.select(f.make<IsNanOp>(x), 0.0, x);
  x = f.add(x, f.cast(aligned->zeroPoint, Formula::elementOf(x)));
  const auto [least, most] = limitsOf(integer);
  x = f.make<MaxOp>(x, f.number(x, least));
  x = f.make<MinOp>(x, f.number(x, most));
  return SmallVector<Value>{f.reshape(f.cast(x, integer), type.getShape())};
}

bool DequantizeLinearOp::hasFasterParts() { return true; }

FailureOr<SmallVector<Value>>
DequantizeLinearOp::decompose(OpBuilder &builder) {
  Formula f(builder, getLoc());
  auto aligned = align(f, *this);
  if (!aligned)
    return failure();
  auto type = Formula::typeOf(getY());
  // Differences are exact: those of 16 bits in f32.
  const unsigned bits = Formula::elementOf(getX()).getIntOrFloatBitWidth();
  Type compute =
      bits < 32 ? computeType(type.getElementType()) : builder.getF64Type();
  Value x =
      f.sub(f.cast(aligned->x, compute), f.cast(aligned->zeroPoint, compute));
  x = f.mul(x, f.cast(aligned->scale, compute));
  return SmallVector<Value>{
      f.reshape(f.cast(x, type.getElementType()), type.getShape())};
}

Value RequantizeOp::buildElement(OpBuilder &builder, Location loc,
                                 ValueRange scalars) {
  ElementBuilder e(builder, loc);
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  auto integer = cast<IntegerType>(Formula::elementOf(getZeroPoint()));
  Value x = e.convert(scalars[0], i32, f32);
  x = e.addf(e.mulf(x, scalars[1]), scalars[2]);
  Value isNan = e.compare(ElementBuilder::Float::UNO, x, x);
  x = e.select(isNan, e.number(x, 0), e.make<math::RoundEvenOp>(x));
  x = e.addf(x, e.convert(scalars[3], integer, f32));
  const auto [least, most] = limitsOf(integer);
  x = e.make<arith::MaximumFOp>(x, e.number(x, least));
  x = e.make<arith::MinimumFOp>(x, e.number(x, most));
  // It fits: no conversion has to ask.
  x = arith::FPToSIOp::create(builder, loc, ElementBuilder::shapedLike(x, i32),
                              x);
  return arith::TruncIOp::create(
      builder, loc, ElementBuilder::shapedLike(x, builder.getI8Type()), x);
}
