// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations of one operand: the computation of an element.

#include "Assembly.h"
#include "ElementBuilder.h"

#include "dlc/dialects/Graph/GraphDialect.h"

#include <numbers>

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphUnary.h.inc"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphUnary.cpp.inc"

void GraphDialect::addUnaryOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphUnary.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Functions of floats
//===----------------------------------------------------------------------===//

/// Defines Op::buildElement as `expression` of the builder `e` and the float
/// `x`, which is f32 or f64.
#define DLC_FLOAT_FUNCTION(Op, expression)                                     \
  Value Op::buildElement(OpBuilder &builder, Location loc,                     \
                         ValueRange scalars) {                                 \
    return buildFloat(builder, loc, scalars,                                   \
                      [&](ElementBuilder &e, ValueRange operands) -> Value {   \
                        Value x = operands[0];                                 \
                        return expression;                                     \
                      });                                                      \
  }
#define DLC_MATH_FUNCTION(Op) DLC_FLOAT_FUNCTION(Op, e.make<math::Op>(x))

DLC_MATH_FUNCTION(CeilOp)
DLC_MATH_FUNCTION(FloorOp)
DLC_FLOAT_FUNCTION(RoundOp, e.make<math::RoundEvenOp>(x))
DLC_MATH_FUNCTION(SqrtOp)
DLC_FLOAT_FUNCTION(RsqrtOp, e.divf(e.number(x, 1), e.make<math::SqrtOp>(x)))
DLC_FLOAT_FUNCTION(ReciprocalOp, e.divf(e.number(x, 1), x))

DLC_MATH_FUNCTION(ExpOp)
DLC_MATH_FUNCTION(LogOp)
DLC_MATH_FUNCTION(SinOp)
DLC_MATH_FUNCTION(CosOp)
DLC_MATH_FUNCTION(TanOp)
DLC_MATH_FUNCTION(AsinOp)
DLC_MATH_FUNCTION(AcosOp)
DLC_MATH_FUNCTION(AtanOp)
DLC_MATH_FUNCTION(SinhOp)
DLC_MATH_FUNCTION(CoshOp)
DLC_MATH_FUNCTION(TanhOp)
DLC_MATH_FUNCTION(AsinhOp)
DLC_MATH_FUNCTION(AcoshOp)
DLC_MATH_FUNCTION(AtanhOp)
DLC_MATH_FUNCTION(ErfOp)

DLC_FLOAT_FUNCTION(SigmoidOp, e.sigmoid(x))
DLC_FLOAT_FUNCTION(SoftplusOp, e.softplus(x))
DLC_FLOAT_FUNCTION(SoftsignOp, e.divf(x, e.addf(e.make<math::AbsFOp>(x), 1)))
// x * sigmoid(x) with one operation less.
DLC_FLOAT_FUNCTION(SiluOp,
                   e.divf(x, e.addf(e.exp(e.make<arith::NegFOp>(x)), 1)))
DLC_FLOAT_FUNCTION(MishOp, e.mulf(x, e.make<math::TanhOp>(e.softplus(x))))
DLC_FLOAT_FUNCTION(HardSwishOp,
                   e.mulf(x, e.clampToUnit(e.addf(e.divf(x, e.number(x, 6)),
                                                  0.5))))

/// x < 0 ? negative : x, so that NaN and -0 stay.
static Value rectify(ElementBuilder &e, Value x, Value negative) {
  return e.select(e.less(x, 0), negative, x);
}

DLC_FLOAT_FUNCTION(EluOp, rectify(e, x,
                                  e.mulf(e.make<math::ExpM1Op>(x),
                                         getAlpha().convertToDouble())))
DLC_FLOAT_FUNCTION(SeluOp, e.mulf(rectify(e, x,
                                          e.mulf(e.make<math::ExpM1Op>(x),
                                                 getAlpha().convertToDouble())),
                                  getGamma().convertToDouble()))
DLC_FLOAT_FUNCTION(LeakyReluOp,
                   rectify(e, x, e.mulf(x, getAlpha().convertToDouble())))
DLC_FLOAT_FUNCTION(HardSigmoidOp,
                   e.clampToUnit(e.addf(e.mulf(x, getAlpha().convertToDouble()),
                                        getBeta().convertToDouble())))
DLC_FLOAT_FUNCTION(ThresholdedReluOp,
                   e.select(e.greater(x, getAlpha().convertToDouble()), x,
                            e.number(x, 0)))

static Value celu(ElementBuilder &e, Value x, double alpha) {
  Value scaled = e.divf(x, e.number(x, alpha));
  return rectify(e, x, e.mulf(e.make<math::ExpM1Op>(scaled), alpha));
}
DLC_FLOAT_FUNCTION(CeluOp, celu(e, x, getAlpha().convertToDouble()))

static Value swish(ElementBuilder &e, Value x, double alpha) {
  return e.mulf(x, e.sigmoid(e.mulf(x, alpha)));
}
DLC_FLOAT_FUNCTION(SwishOp, swish(e, x, getAlpha().convertToDouble()))

static Value gelu(ElementBuilder &e, Value x, bool byTanh) {
  Value half = e.mulf(x, 0.5);
  Value inner;
  if (byTanh) {
    Value cube = e.mulf(e.mulf(e.mulf(x, x), x), 0.044715);
    inner = e.make<math::TanhOp>(
        e.mulf(e.addf(x, cube), std::sqrt(2 / std::numbers::pi)));
  } else {
    inner = e.make<math::ErfOp>(e.mulf(x, 1 / std::numbers::sqrt2));
  }
  // The sum first: it is exact near -1, and -0 stays.
  return e.mulf(half, e.addf(inner, 1));
}
DLC_FLOAT_FUNCTION(GeluOp, gelu(e, x, getApproximate() == "tanh"))

DLC_FLOAT_FUNCTION(IsNanOp, e.compare(ElementBuilder::Float::UNO, x, x))

static Value isInf(ElementBuilder &e, Value x, bool positive, bool negative) {
  auto equals = [&](double infinity) {
    return e.compare(ElementBuilder::Float::OEQ, x, e.number(x, infinity));
  };
  if (positive && negative) {
    Value magnitude = e.make<math::AbsFOp>(x);
    return e.compare(ElementBuilder::Float::OEQ, magnitude,
                     e.number(x, HUGE_VAL));
  }
  if (positive || negative)
    return equals(positive ? HUGE_VAL : -HUGE_VAL);
  return e.integer(equals(HUGE_VAL), 0);
}
DLC_FLOAT_FUNCTION(IsInfOp,
                   isInf(e, x, getDetectPositive(), getDetectNegative()))

#undef DLC_FLOAT_FUNCTION
#undef DLC_MATH_FUNCTION

//===----------------------------------------------------------------------===//
// Numbers of both kinds
//===----------------------------------------------------------------------===//

Value AbsOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  ElementBuilder e(builder, loc);
  Type type = elementOf(*this);
  if (isFloat(type))
    return e.make<math::AbsFOp>(scalars[0]);
  return isUnsigned(type) ? scalars[0] : e.make<math::AbsIOp>(scalars[0]);
}

Value NegOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  ElementBuilder e(builder, loc);
  Value x = scalars[0];
  if (isFloat(elementOf(*this)))
    return e.make<arith::NegFOp>(x);
  return e.make<arith::SubIOp>(e.integer(x, 0), x);
}

static Value signOfFloat(ElementBuilder &e, Value x) {
  // NaN fails every comparison and stays.
  Value isZero = e.compare(ElementBuilder::Float::OEQ, x, e.number(x, 0));
  Value rest = e.select(isZero, e.number(x, 0), x);
  rest = e.select(e.less(x, 0), e.number(x, -1), rest);
  return e.select(e.greater(x, 0), e.number(x, 1), rest);
}

Value SignOp::buildElement(OpBuilder &builder, Location loc,
                           ValueRange scalars) {
  Type type = elementOf(*this);
  if (isFloat(type))
    return buildFloat(builder, loc, scalars,
                      [](ElementBuilder &e, ValueRange operands) {
                        return signOfFloat(e, operands[0]);
                      });
  ElementBuilder e(builder, loc);
  Value x = scalars[0], zero = e.integer(x, 0), one = e.integer(x, 1);
  if (isUnsigned(type))
    return e.select(e.isZero(x), zero, one);
  Value notPositive = e.select(e.isZero(x), zero, e.integer(x, -1));
  return e.select(e.compare(ElementBuilder::Int::sgt, x, zero), one,
                  notPositive);
}

Value ReluOp::buildElement(OpBuilder &builder, Location loc,
                           ValueRange scalars) {
  ElementBuilder e(builder, loc);
  Value x = scalars[0];
  if (isFloat(elementOf(*this)))
    return buildFloat(builder, loc, scalars,
                      [](ElementBuilder &e, ValueRange operands) {
                        Value x = operands[0];
                        return rectify(e, x, e.number(x, 0));
                      });
  return isUnsigned(elementOf(*this))
             ? x
             : e.make<arith::MaxSIOp>(x, e.integer(x, 0));
}

static Value shrink(ElementBuilder &e, Value x, double bias, double lambda) {
  Value above =
      e.select(e.greater(x, lambda), e.addf(x, -bias), e.number(x, 0));
  return e.select(e.less(x, -lambda), e.addf(x, bias), above);
}

Value ShrinkOp::buildElement(OpBuilder &builder, Location loc,
                             ValueRange scalars) {
  double bias = getBias().convertToDouble();
  double lambda = getLambd().convertToDouble();
  Type type = elementOf(*this), f64 = builder.getF64Type();
  ElementBuilder e(builder, loc);
  if (!isFloat(type)) {
    Value x = e.convert(scalars[0], type, f64);
    return e.convert(shrink(e, x, bias, lambda), f64, type);
  }
  return buildFloat(builder, loc, scalars,
                    [&](ElementBuilder &e, ValueRange operands) {
                      return shrink(e, operands[0], bias, lambda);
                    });
}

//===----------------------------------------------------------------------===//
// Bits and conversions
//===----------------------------------------------------------------------===//

static Value invert(OpBuilder &builder, Location loc, Value x) {
  ElementBuilder e(builder, loc);
  return e.make<arith::XOrIOp>(x, e.integer(x, -1));
}

Value LogicalNotOp::buildElement(OpBuilder &builder, Location loc,
                                 ValueRange scalars) {
  return invert(builder, loc, scalars[0]);
}

Value BitwiseNotOp::buildElement(OpBuilder &builder, Location loc,
                                 ValueRange scalars) {
  return invert(builder, loc, scalars[0]);
}

Value StopGradientOp::buildElement(OpBuilder &, Location, ValueRange scalars) {
  return scalars[0];
}

Value CastOp::buildElement(OpBuilder &builder, Location loc,
                           ValueRange scalars) {
  return ElementBuilder(builder, loc)
      .convert(scalars[0], elementOf(*this), getTo());
}

Value BitCastOp::buildElement(OpBuilder &builder, Location loc,
                              ValueRange scalars) {
  ElementBuilder e(builder, loc);
  Type from = elementOf(*this), to = getTo();
  Value x = scalars[0];
  // A bool is a byte of which only the last bit counts.
  if (to.isInteger(1)) {
    if (from.isInteger(1))
      return x;
    return arith::TruncIOp::create(builder, loc, e.shapedLike(x, to), x);
  }
  if (from.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, e.shapedLike(x, e.signless(to)),
                                  x);
  Type type = e.shapedLike(x, e.signless(to));
  if (type == x.getType())
    return x;
  return arith::BitcastOp::create(builder, loc, type, x);
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getX().getType() == getY().getType() ? getX() : OpFoldResult();
}

OpFoldResult BitCastOp::fold(FoldAdaptor) {
  return getX().getType() == getY().getType() ? getX() : OpFoldResult();
}
