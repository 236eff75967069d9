// SPDX-License-Identifier: Apache-2.0

#include "ElementBuilder.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace dlc::graph;

TypedAttr dlc::graph::numberOf(Type elementType, int64_t number) {
  Builder builder(elementType.getContext());
  Type signless = ElementBuilder::signless(elementType);
  return number ? builder.getOneAttr(signless) : builder.getZeroAttr(signless);
}

ArrayRef<int64_t> dlc::graph::shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

Type dlc::graph::elementOf(Operation *op, unsigned operand) {
  return getElementTypeOrSelf(op->getOperand(operand).getType());
}

bool dlc::graph::isFloat(Type type) { return isa<FloatType>(type); }

bool dlc::graph::isUnsigned(Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}

Type ElementBuilder::shapedLike(Value like, Type type) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(vector.clone(type)) : type;
}

Type ElementBuilder::signless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth())
                 : type;
}

static TypedAttr splat(Type type, TypedAttr element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? TypedAttr(DenseElementsAttr::get(vector, element)) : element;
}

Value ElementBuilder::number(Value like, double number) {
  Type element = getElementTypeOrSelf(like.getType());
  TypedAttr value = builder.getFloatAttr(element, number);
  return arith::ConstantOp::create(builder, loc, splat(like.getType(), value));
}

Value ElementBuilder::integer(Value like, int64_t number) {
  Type element = getElementTypeOrSelf(like.getType());
  APInt bits(element.getIntOrFloatBitWidth(), number, /*isSigned=*/true,
             /*implicitTrunc=*/true);
  TypedAttr value = builder.getIntegerAttr(element, bits);
  return arith::ConstantOp::create(builder, loc, splat(like.getType(), value));
}

Value ElementBuilder::sigmoid(Value x) {
  Value one = number(x, 1);
  return divf(one, addf(one, exp(make<arith::NegFOp>(x))));
}

Value ElementBuilder::softplus(Value x) {
  Value small = exp(make<arith::NegFOp>(make<math::AbsFOp>(x)));
  Value positive = select(less(x, 0), number(x, 0), x);
  return addf(positive, make<math::Log1pOp>(small));
}

Value ElementBuilder::clampToUnit(Value x) {
  Value raised = select(less(x, 0), number(x, 0), x);
  return select(greater(raised, 1), number(x, 1), raised);
}

Value ElementBuilder::divide(Value a, Value b, bool isUnsigned) {
  Value byZero = isZero(b), zero = integer(b, 0), one = integer(b, 1);
  if (isUnsigned)
    return select(byZero, zero,
                  make<arith::DivUIOp>(a, select(byZero, one, b)));
  Value byMinusOne = compare(Int::eq, b, integer(b, -1));
  Value unsafe = make<arith::OrIOp>(byZero, byMinusOne);
  Value quotient = make<arith::DivSIOp>(a, select(unsafe, one, b));
  quotient = select(byMinusOne, make<arith::SubIOp>(zero, a), quotient);
  return select(byZero, zero, quotient);
}

Value ElementBuilder::remainder(Value a, Value b, bool isUnsigned) {
  Value unsafe = isZero(b);
  if (!isUnsigned)
    unsafe = make<arith::OrIOp>(unsafe, compare(Int::eq, b, integer(b, -1)));
  // Anything modulo 1 is 0, as is to be modulo 0 and -1.
  Value safe = select(unsafe, integer(b, 1), b);
  return isUnsigned ? make<arith::RemUIOp>(a, safe)
                    : make<arith::RemSIOp>(a, safe);
}

Value ElementBuilder::convertFloat(Value x, Type to) {
  Type from = getElementTypeOrSelf(x.getType());
  if (from == to)
    return x;
  unsigned fromBits = from.getIntOrFloatBitWidth();
  unsigned toBits = to.getIntOrFloatBitWidth();
  // Between f64 and the 16-bit types, and between those, by way of f32: targets
  // without such instructions would call functions that kernels do not have.
  if (fromBits + toBits != 48 && fromBits + toBits != 96)
    x = convertFloat(x, builder.getF32Type());
  fromBits = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  Type type = shapedLike(x, to);
  if (fromBits < toBits)
    return arith::ExtFOp::create(builder, loc, type, x);
  return arith::TruncFOp::create(builder, loc, type, x);
}

/// Whether `x` is NaN for no operands.
static bool isNumber(Value x) {
  FloatAttr::ValueType number(0.0f);
  if (matchPattern(x, m_ConstantFloat(&number)))
    return number.isFinite();
  if (auto sum = x.getDefiningOp<arith::AddFOp>()) // Of one infinity at most.
    return matchPattern(sum.getRhs(), m_ConstantFloat(&number)) &&
           number.isFinite() && isNumber(sum.getLhs());
  auto choice = x.getDefiningOp<arith::SelectOp>();
  auto compare =
      choice ? choice.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  auto rounded = choice
                     ? choice.getFalseValue().getDefiningOp<math::RoundEvenOp>()
                     : nullptr;
  return compare && rounded &&
         compare.getPredicate() == arith::CmpFPredicate::UNO &&
         compare.getLhs() == compare.getRhs() &&
         compare.getLhs() == rounded.getOperand() &&
         isNumber(choice.getTrueValue());
}

/// Whether `x` is a number that was limited to what is more than `below` and
/// less than `past`.
static bool isLimited(Value x, double below, double past) {
  auto minimum = x.getDefiningOp<arith::MinimumFOp>();
  auto maximum =
      minimum ? minimum.getLhs().getDefiningOp<arith::MaximumFOp>() : nullptr;
  FloatAttr::ValueType low(0.0f), high(0.0f);
  return maximum && matchPattern(minimum.getRhs(), m_ConstantFloat(&high)) &&
         matchPattern(maximum.getRhs(), m_ConstantFloat(&low)) &&
         low.convertToDouble() > below && high.convertToDouble() < past &&
         low.convertToDouble() <= high.convertToDouble() &&
         isNumber(maximum.getLhs());
}

/// The nearest integer towards zero that the type holds, 0 for NaN. The result
/// of fptosi is poison outside of the range, but then it is not selected.
Value ElementBuilder::convertToInteger(Value x, IntegerType to) {
  if (to.getWidth() == 1)
    return compare(Float::UNE, x, number(x, 0));
  if (getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth() == 16)
    x = convertFloat(x, builder.getF32Type());
  bool isUnsigned = to.isUnsigned();
  Type type = shapedLike(x, signless(to));
  Value result;
  if (isUnsigned)
    result = arith::FPToUIOp::create(builder, loc, type, x);
  else
    result = arith::FPToSIOp::create(builder, loc, type, x);
  unsigned digits = to.getWidth() - !isUnsigned;
  double past = std::ldexp(1.0, digits), least = isUnsigned ? 0 : -past;
  if (isLimited(x, least - 1, past))
    return result;
  int64_t largest =
      isUnsigned ? -1 : static_cast<int64_t>((uint64_t(1) << digits) - 1);
  int64_t smallest = isUnsigned ? 0 : -largest - 1;
  result = select(compare(Float::OGE, x, number(x, past)),
                  integer(result, largest), result);
  result = select(compare(Float::OLE, x, number(x, least)),
                  integer(result, smallest), result);
  return select(compare(Float::UNO, x, x), integer(result, 0), result);
}

Value ElementBuilder::convert(Value x, Type from, Type to) {
  if (isFloat(from))
    return isFloat(to) ? convertFloat(x, to)
                       : convertToInteger(x, cast<IntegerType>(to));
  if (isFloat(to)) {
    bool isNarrow = to.getIntOrFloatBitWidth() == 16;
    Type step = shapedLike(x, isNarrow ? builder.getF32Type() : to);
    Value result;
    if (isUnsigned(from))
      result = arith::UIToFPOp::create(builder, loc, step, x);
    else
      result = arith::SIToFPOp::create(builder, loc, step, x);
    return convertFloat(result, to);
  }
  if (to.isInteger(1))
    return compare(Int::ne, x, integer(x, 0));
  unsigned fromBits = from.getIntOrFloatBitWidth();
  unsigned toBits = to.getIntOrFloatBitWidth();
  Type type = shapedLike(x, signless(to));
  if (fromBits > toBits)
    return arith::TruncIOp::create(builder, loc, type, x);
  if (fromBits == toBits)
    return x;
  if (isUnsigned(from))
    return arith::ExtUIOp::create(builder, loc, type, x);
  return arith::ExtSIOp::create(builder, loc, type, x);
}

Value dlc::graph::buildFloat(
    OpBuilder &builder, Location loc, ValueRange scalars,
    function_ref<Value(ElementBuilder &, ValueRange)> compute) {
  ElementBuilder build(builder, loc);
  Type element = getElementTypeOrSelf(scalars.front().getType());
  Type f32 = builder.getF32Type();
  SmallVector<Value> wide;
  for (Value scalar : scalars) {
    Type type = getElementTypeOrSelf(scalar.getType());
    bool isNarrow = isFloat(type) && type.getIntOrFloatBitWidth() == 16;
    wide.push_back(isNarrow ? build.convert(scalar, type, f32) : scalar);
  }
  Value result = compute(build, wide);
  Type type = getElementTypeOrSelf(result.getType());
  return isFloat(type) ? build.convert(result, type, element) : result;
}
