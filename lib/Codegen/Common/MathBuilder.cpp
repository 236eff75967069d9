// SPDX-License-Identifier: Apache-2.0

#include "MathBuilder.h"

#include "RoundedQuotient.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc::codegen;

MathBuilder::MathBuilder(OpBuilder &builder, Location loc, Type type,
                         const TargetOptions &target)
    : builder(builder), loc(loc), type(type), hasFMA(target.has("fma")),
      hasReciprocal(target.has("avx512vl")),
      flags(arith::FastMathFlagsAttr::get(builder.getContext(),
                                          arith::FastMathFlags::contract)) {
  intType = shaped(builder.getI32Type());
}

MathBuilder::MathBuilder(const MathBuilder &other, Type type)
    : builder(other.builder), loc(other.loc), type(type), hasFMA(other.hasFMA),
      hasReciprocal(other.hasReciprocal), flags(other.flags) {
  intType = shaped(builder.getIntegerType(
      getElementTypeOrSelf(type).getIntOrFloatBitWidth()));
}

Type MathBuilder::shaped(Type element) const {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

Value MathBuilder::constant(TypedAttr attr) {
  if (auto vector = dyn_cast<VectorType>(shaped(attr.getType())))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

Value MathBuilder::real(double value) {
  return constant(builder.getFloatAttr(getElementTypeOrSelf(type), value));
}

Value MathBuilder::integer(int64_t value) {
  return constant(builder.getIntegerAttr(getElementTypeOrSelf(intType), value));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value MathBuilder::add(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b, flags);
}

Value MathBuilder::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b, flags);
}

Value MathBuilder::mul(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b, flags);
}

Value MathBuilder::div(Value a, Value b) {
  return arith::DivFOp::create(builder, loc, a, b, flags);
}

Value MathBuilder::ratio(Value a, Value b) {
  if (!hasReciprocal)
    return div(a, b);
  Value near = nearReciprocal(b);
  Value rest = fma(arith::NegFOp::create(builder, loc, b), near, real(1));
  return mul(a, fma(near, rest, near));
}

Value MathBuilder::nearReciprocal(Value x) {
  auto vector = dyn_cast<VectorType>(type);
  const int64_t width = vector ? vector.getNumElements() : 1;
  const int64_t lanes = width <= 4 ? 4 : width <= 8 ? 8 : 16;
  assert(width <= lanes && "no such vectors");
  auto whole = VectorType::get({lanes}, builder.getF32Type());
  if (!vector)
    x = vector::BroadcastOp::create(builder, loc, whole, x);
  else if (width < lanes)
    x = resized(x, lanes);
  Type mask = builder.getIntegerType(std::max<int64_t>(lanes, 8));
  Value all = LLVM::ConstantOp::create(builder, loc, mask, -1);
  Value none = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(whole, builder.getF32FloatAttr(0)));
  auto call = LLVM::CallIntrinsicOp::create(
      builder, loc, whole,
      builder.getStringAttr("llvm.x86.avx512.rcp14.ps." +
                            std::to_string(32 * lanes)),
      ValueRange{x, none, all});
  if (!vector)
    return vector::ExtractOp::create(builder, loc, call.getResult(0),
                                     int64_t(0));
  return width < lanes ? resized(call.getResult(0), width) : call.getResult(0);
}

Value MathBuilder::resized(Value x, int64_t lanes) {
  const int64_t own = cast<VectorType>(x.getType()).getNumElements();
  SmallVector<int64_t> from;
  for (int64_t lane = 0; lane < lanes; ++lane)
    from.push_back(lane < own ? lane : 0);
  return vector::ShuffleOp::create(builder, loc, x, x, from);
}

Value MathBuilder::roundedQuotient(Value x, float divisor) {
  auto quotient = hasFMA ? RoundedQuotient::of(divisor) : std::nullopt;
  if (!quotient)
    return {};
  if (quotient->low == 0)
    return mul(x, real(quotient->high));
  return fma(x, real(quotient->high), mul(x, real(quotient->low)));
}

Value MathBuilder::fma(Value a, Value b, Value c) {
  if (hasFMA)
    return math::FmaOp::create(builder, loc, a, b, c);
  return add(mul(a, b), c);
}

Value MathBuilder::sqrt(Value x) {
  return math::SqrtOp::create(builder, loc, x);
}

Value MathBuilder::horner(Value x, ArrayRef<double> coefficients) {
  Value sum = real(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, real(c));
  return sum;
}

Value MathBuilder::rsqrt(Value x) { return div(real(1), sqrt(x)); }

Value MathBuilder::scaled(Value x, double factor) {
  return mul(x, real(factor));
}

//===----------------------------------------------------------------------===//
// Conditions and signs
//===----------------------------------------------------------------------===//

Value MathBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}

Value MathBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value MathBuilder::both(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}

Value MathBuilder::either(Value a, Value b) {
  return arith::OrIOp::create(builder, loc, a, b);
}

Value MathBuilder::isNot(Value condition) {
  return arith::XOrIOp::create(builder, loc, condition,
                               constant(builder.getBoolAttr(true)));
}

Value MathBuilder::clampBelow(Value x, double bound) {
  Value c = real(bound);
  return select(compare(arith::CmpFPredicate::OLT, c, x), c, x);
}

Value MathBuilder::clampAbove(Value x, double bound) {
  Value c = real(bound);
  return select(compare(arith::CmpFPredicate::OGT, c, x), c, x);
}

Value MathBuilder::clamp(Value x, double bound) {
  return clampAbove(clampBelow(x, bound), -bound);
}

Value MathBuilder::magnitude(Value x) {
  return math::AbsFOp::create(builder, loc, x);
}

Value MathBuilder::withSignOf(Value x, Value sign) {
  return math::CopySignOp::create(builder, loc, x, sign);
}

Value MathBuilder::isInteger(Value x) {
  return compare(arith::CmpFPredicate::OEQ, x,
                 math::FloorOp::create(builder, loc, x));
}

//===----------------------------------------------------------------------===//
// Bit patterns
//===----------------------------------------------------------------------===//

Value MathBuilder::bits(Value x) {
  return arith::BitcastOp::create(builder, loc, intType, x);
}

Value MathBuilder::fromBits(Value x) {
  return arith::BitcastOp::create(builder, loc, type, x);
}

Value MathBuilder::addInt(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}

Value MathBuilder::subInt(Value a, Value b) {
  return arith::SubIOp::create(builder, loc, a, b);
}

Value MathBuilder::shiftLeft(Value a, int64_t by) {
  return arith::ShLIOp::create(builder, loc, a, integer(by));
}

Value MathBuilder::shiftRight(Value a, int64_t by) {
  return arith::ShRSIOp::create(builder, loc, a, integer(by));
}

Value MathBuilder::shiftRightBits(Value a, int64_t by) {
  return arith::ShRUIOp::create(builder, loc, a, integer(by));
}
