// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations of two and three operands: the computation of an
// element, and folds that neutral constants allow.

#include "Assembly.h"
#include "ElementBuilder.h"
#include "ExtentQuotients.h"

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Plain.h"

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphBinary.h.inc"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphBinary.cpp.inc"

void GraphDialect::addBinaryOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphBinary.cpp.inc"
      >();
}

using Float = ElementBuilder::Float;
using Int = ElementBuilder::Int;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntOp>
static Value buildArithmetic(OpBuilder &builder, Location loc,
                             ValueRange scalars, Type type) {
  if (!isFloat(type))
    return ElementBuilder(builder, loc).make<IntOp>(scalars[0], scalars[1]);
  return buildFloat(builder, loc, scalars,
                    [](ElementBuilder &e, ValueRange operands) {
                      return e.make<FloatOp>(operands[0], operands[1]);
                    });
}

Value AddOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  return buildArithmetic<arith::AddFOp, arith::AddIOp>(builder, loc, scalars,
                                                       elementOf(*this));
}

Value SubOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  return buildArithmetic<arith::SubFOp, arith::SubIOp>(builder, loc, scalars,
                                                       elementOf(*this));
}

Value MulOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  return buildArithmetic<arith::MulFOp, arith::MulIOp>(builder, loc, scalars,
                                                       elementOf(*this));
}

Value MaxOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  Type type = elementOf(*this);
  if (isUnsigned(type))
    return buildArithmetic<arith::MaximumFOp, arith::MaxUIOp>(builder, loc,
                                                              scalars, type);
  return buildArithmetic<arith::MaximumFOp, arith::MaxSIOp>(builder, loc,
                                                            scalars, type);
}

Value MinOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  Type type = elementOf(*this);
  if (isUnsigned(type))
    return buildArithmetic<arith::MinimumFOp, arith::MinUIOp>(builder, loc,
                                                              scalars, type);
  return buildArithmetic<arith::MinimumFOp, arith::MinSIOp>(builder, loc,
                                                            scalars, type);
}

Value DivOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  Type type = elementOf(*this);
  if (!isFloat(type))
    return ElementBuilder(builder, loc)
        .divide(scalars[0], scalars[1], isUnsigned(type));
  return buildFloat(builder, loc, scalars,
                    [](ElementBuilder &e, ValueRange operands) {
                      return e.divf(operands[0], operands[1]);
                    });
}

/// Adds the divisor to a remainder of the other sign.
static Value moduloOfFloat(ElementBuilder &e, Value rest, Value b) {
  Value zero = e.number(b, 0);
  Value negative = e.compare(Float::OLT, rest, zero);
  Value otherSign =
      e.make<arith::XOrIOp>(negative, e.compare(Float::OLT, b, zero));
  Value isRest = e.compare(Float::UNE, rest, zero);
  return e.select(e.make<arith::AndIOp>(isRest, otherSign), e.addf(rest, b),
                  rest);
}

static Value moduloOfInt(ElementBuilder &e, Value rest, Value b) {
  Value zero = e.integer(b, 0);
  Value negative = e.compare(Int::slt, rest, zero);
  Value otherSign =
      e.make<arith::XOrIOp>(negative, e.compare(Int::slt, b, zero));
  Value isRest = e.compare(Int::ne, rest, zero);
  return e.select(e.make<arith::AndIOp>(isRest, otherSign),
                  e.make<arith::AddIOp>(rest, b), rest);
}

Value ModOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  Type type = elementOf(*this);
  bool asDividend = getFmod();
  if (isFloat(type))
    return buildFloat(builder, loc, scalars,
                      [=](ElementBuilder &e, ValueRange operands) {
                        Value b = operands[1];
                        Value rest = e.make<arith::RemFOp>(operands[0], b);
                        return asDividend ? rest : moduloOfFloat(e, rest, b);
                      });
  ElementBuilder e(builder, loc);
  Value rest = e.remainder(scalars[0], scalars[1], isUnsigned(type));
  return asDividend || isUnsigned(type) ? rest
                                        : moduloOfInt(e, rest, scalars[1]);
}

Value PreluOp::buildElement(OpBuilder &builder, Location loc,
                            ValueRange scalars) {
  Type type = elementOf(*this);
  if (isUnsigned(type))
    return scalars[0];
  if (isFloat(type))
    return buildFloat(
        builder, loc, scalars, [](ElementBuilder &e, ValueRange operands) {
          Value x = operands[0];
          return e.select(e.less(x, 0), e.mulf(x, operands[1]), x);
        });
  ElementBuilder e(builder, loc);
  Value x = scalars[0];
  return e.select(e.compare(Int::slt, x, e.integer(x, 0)),
                  e.make<arith::MulIOp>(x, scalars[1]), x);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// base^exponent modulo 2^n by squaring, one step per bit of the exponent, as
/// vectors have no loops. Most steps fold when the exponent is constant.
static Value powerOfInt(ElementBuilder &e, Value base, Value exponent,
                        Type exponentType) {
  unsigned bits = exponentType.getIntOrFloatBitWidth();
  Value power = e.integer(base, 1);
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value isSet = e.compare(
        Int::ne,
        e.make<arith::AndIOp>(exponent,
                              e.integer(exponent, int64_t(uint64_t(1) << bit))),
        e.integer(exponent, 0));
    power = e.select(isSet, e.make<arith::MulIOp>(power, base), power);
    base = e.make<arith::MulIOp>(base, base);
  }
  return power;
}

/// The truncated reciprocal of a power: of 1 and -1 only it is not 0.
static Value inversePower(ElementBuilder &e, Value base, Value exponent,
                          bool isSigned) {
  Value one = e.integer(base, 1), zero = e.integer(base, 0);
  Value result = e.select(e.compare(Int::eq, base, one), one, zero);
  if (!isSigned)
    return result;
  Value isEven =
      e.isZero(e.make<arith::AndIOp>(exponent, e.integer(exponent, 1)));
  Value sign = e.select(isEven, one, e.integer(base, -1));
  Value isMinusOne = e.compare(Int::eq, base, e.integer(base, -1));
  return e.select(isMinusOne, sign, result);
}

Value PowOp::buildElement(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  ElementBuilder e(builder, loc);
  Type base = elementOf(*this, 0), exponent = elementOf(*this, 1);
  Value x = scalars[0], y = scalars[1];
  if (!isFloat(base) && !isFloat(exponent)) {
    Value power = powerOfInt(e, x, y, exponent);
    if (isUnsigned(exponent))
      return power;
    return e.select(e.compare(Int::slt, y, e.integer(y, 0)),
                    inversePower(e, x, y, !isUnsigned(base)), power);
  }
  // At least f32; f64 for integers, of which f32 would lose the last bit: it
  // decides the sign.
  bool isExact = isFloat(base) &&
                 (isFloat(exponent) || exponent.getIntOrFloatBitWidth() <= 16);
  Type type = isExact ? base : Type(builder.getF64Type());
  if (type.getIntOrFloatBitWidth() == 16)
    type = builder.getF32Type();
  Value power = e.make<math::PowFOp>(e.convert(x, base, type),
                                     e.convert(y, exponent, type));
  return e.convert(power, type, base);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

#define DLC_BIT_FUNCTION(Op, ArithOp)                                          \
  Value Op::buildElement(OpBuilder &builder, Location loc,                     \
                         ValueRange scalars) {                                 \
    return ElementBuilder(builder, loc)                                        \
        .make<arith::ArithOp>(scalars[0], scalars[1]);                         \
  }
DLC_BIT_FUNCTION(LogicalAndOp, AndIOp)
DLC_BIT_FUNCTION(LogicalOrOp, OrIOp)
DLC_BIT_FUNCTION(LogicalXorOp, XOrIOp)
DLC_BIT_FUNCTION(BitwiseAndOp, AndIOp)
DLC_BIT_FUNCTION(BitwiseOrOp, OrIOp)
DLC_BIT_FUNCTION(BitwiseXorOp, XOrIOp)
#undef DLC_BIT_FUNCTION

Value ShiftLeftOp::buildElement(OpBuilder &builder, Location loc,
                                ValueRange scalars) {
  ElementBuilder e(builder, loc);
  Value x = scalars[0], amount = scalars[1], zero = e.integer(x, 0);
  Value width = e.integer(x, elementOf(*this).getIntOrFloatBitWidth());
  Value isInside = e.compare(Int::ult, amount, width);
  Value safe = e.select(isInside, amount, zero);
  return e.select(isInside, e.make<arith::ShLIOp>(x, safe), zero);
}

Value ShiftRightOp::buildElement(OpBuilder &builder, Location loc,
                                 ValueRange scalars) {
  ElementBuilder e(builder, loc);
  Type type = elementOf(*this);
  Value x = scalars[0], amount = scalars[1], zero = e.integer(x, 0);
  unsigned bits = type.getIntOrFloatBitWidth();
  Value isInside = e.compare(Int::ult, amount, e.integer(x, bits));
  if (!isUnsigned(type)) {
    Value safe = e.select(isInside, amount, e.integer(x, bits - 1));
    return e.make<arith::ShRSIOp>(x, safe);
  }
  Value safe = e.select(isInside, amount, zero);
  return e.select(isInside, e.make<arith::ShRUIOp>(x, safe), zero);
}

//===----------------------------------------------------------------------===//
// Comparisons and choices
//===----------------------------------------------------------------------===//

static Value buildCompare(OpBuilder &builder, Location loc, ValueRange scalars,
                          Type type, Float ordered, Int signedInts,
                          Int unsignedInts) {
  ElementBuilder e(builder, loc);
  Value a = scalars[0], b = scalars[1];
  if (isFloat(type))
    return buildFloat(builder, loc, scalars,
                      [=](ElementBuilder &e, ValueRange operands) {
                        return e.compare(ordered, operands[0], operands[1]);
                      });
  return e.compare(isUnsigned(type) ? unsignedInts : signedInts, a, b);
}

#define DLC_COMPARISON(Op, floats, signedInts, unsignedInts)                   \
  Value Op::buildElement(OpBuilder &builder, Location loc,                     \
                         ValueRange scalars) {                                 \
    return buildCompare(builder, loc, scalars, elementOf(*this),               \
                        Float::floats, Int::signedInts, Int::unsignedInts);    \
  }
DLC_COMPARISON(EqualOp, OEQ, eq, eq)
DLC_COMPARISON(LessOp, OLT, slt, ult)
DLC_COMPARISON(LessEqualOp, OLE, sle, ule)
DLC_COMPARISON(GreaterOp, OGT, sgt, ugt)
DLC_COMPARISON(GreaterEqualOp, OGE, sge, uge)
#undef DLC_COMPARISON

Value SelectOp::buildElement(OpBuilder &builder, Location loc,
                             ValueRange scalars) {
  return ElementBuilder(builder, loc)
      .select(scalars[0], scalars[1], scalars[2]);
}

Value ClampOp::buildElement(OpBuilder &builder, Location loc,
                            ValueRange scalars) {
  Type type = elementOf(*this);
  auto clamp = [=](ElementBuilder &e, ValueRange operands) {
    Value x = operands[0], lo = operands[1], hi = operands[2];
    auto isLess = [&](Value a, Value b) {
      if (isFloat(type))
        return e.compare(Float::OLT, a, b);
      return e.compare(isUnsigned(type) ? Int::ult : Int::slt, a, b);
    };
    Value raised = e.select(isLess(x, lo), lo, x);
    return e.select(isLess(hi, raised), hi, raised);
  };
  return buildFloat(builder, loc, scalars, clamp);
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// True when `attribute` is a constant all of whose elements are `value`; zeros
/// of floats must have the sign of `value`.
static bool isSplatOf(Attribute attribute, double value) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return false;
  Attribute expected = makeSplat(
      RankedTensorType::get(dense.getType().getShape(), dense.getElementType()),
      value);
  return dense == expected;
}

static bool isFloatOp(Operation *op) { return isFloat(elementOf(op)); }

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // x + 0 turns -0 into 0; only -0 is neutral for floats.
  double zero = isFloatOp(*this) ? -0.0 : 0.0;
  if (getA().getType() == getY().getType() && isSplatOf(adaptor.getB(), zero))
    return getA();
  if (getB().getType() == getY().getType() && isSplatOf(adaptor.getA(), zero))
    return getB();
  return {};
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (getA().getType() == getY().getType() && isSplatOf(adaptor.getB(), 0.0))
    return getA();
  return {};
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (getA().getType() == getY().getType() && isSplatOf(adaptor.getB(), 1))
    return getA();
  if (getB().getType() == getY().getType() && isSplatOf(adaptor.getA(), 1))
    return getB();
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (Value factor = findExtentFactor(*this))
    return factor;
  if (getA().getType() == getY().getType() && isSplatOf(adaptor.getB(), 1))
    return getA();
  return {};
}

Value ReplaceGradientOp::buildElement(OpBuilder &, Location,
                                      ValueRange scalars) {
  return scalars[0];
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  for (bool condition : {true, false}) {
    Value chosen = condition ? getA() : getB();
    if (chosen.getType() == getY().getType() &&
        (isSplatOf(adaptor.getCond(), condition) || getA() == getB()))
      return chosen;
  }
  return {};
}
