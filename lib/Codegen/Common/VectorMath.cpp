// SPDX-License-Identifier: Apache-2.0
//
// Errors are in units in the last place of f32 against double, over all
// floats, with fused multiply-add. Coefficients are relative minimax fits.

#include "VectorMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::codegen;

namespace {

constexpr double kLog2E = 1.4426950408889634;
/// ln 2 in two parts; the first has 11 trailing zero bits, so that its product
/// with an exponent is exact.
constexpr double kLn2High = 0.693145751953125, kLn2Low = 1.42860677e-6;
/// Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, and the
/// low bits of the sum are that integer.
constexpr double kRoundMagic = 12582912.0;
constexpr int64_t kRoundMagicBits = 0x4B400000;

/// Values are f32 or vectors of f32 (i32 for bit patterns) of one width.
class MathBuilder {
public:
  MathBuilder(OpBuilder &builder, Location loc, Type type,
              const TargetOptions &target)
      : builder(builder), loc(loc), type(type), hasFMA(target.has("fma")),
        hasReciprocal(target.has("avx512vl")),
        flags(arith::FastMathFlagsAttr::get(builder.getContext(),
                                            arith::FastMathFlags::contract)) {
    intType = builder.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      intType = vector.clone(intType);
  }

  Value exp(Value x);
  Value expOfNegative(Value x);
  Value exp2(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value expm1(Value x);
  Value atan(Value x);
  Value asin(Value x);
  Value acos(Value x);
  Value rsqrt(Value x) {
    return div(real(1), math::SqrtOp::create(builder, loc, x));
  }
  Value scaled(Value x, double factor) { return mul(x, real(factor)); }

private:
  Value real(double value) {
    TypedAttr attr = builder.getF32FloatAttr(static_cast<float>(value));
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value integer(int64_t value) {
    TypedAttr attr = builder.getI32IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(intType))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b, flags);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b, flags);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b, flags);
  }
  Value div(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b, flags);
  }
  /// a / b within 1.5 ulp, for b from 1 to 2^64. Processors divide 16 floats in
  /// 10 to 16 cycles, in which they multiply and add 20 to 32 times.
  Value ratio(Value a, Value b) {
    if (!hasReciprocal)
      return div(a, b);
    Value near = nearReciprocal(b);
    Value rest = fma(arith::NegFOp::create(builder, loc, b), near, real(1));
    return mul(a, fma(near, rest, near));
  }
  /// Within 2^-14, and the same for each number, whatever vector it is in.
  Value nearReciprocal(Value x) {
    auto vector = dyn_cast<VectorType>(type);
    const int64_t width = vector ? vector.getNumElements() : 1;
    const int64_t lanes = width <= 4 ? 4 : width <= 8 ? 8 : 16;
    assert(width <= lanes && "no such vectors");
    auto whole = VectorType::get({lanes}, builder.getF32Type());
    if (!vector)
      x = vector::BroadcastOp::create(builder, loc, whole, x);
    else if (width < lanes)
      x = resized(x, lanes);
    Type bits = builder.getIntegerType(std::max<int64_t>(lanes, 8));
    Value all = LLVM::ConstantOp::create(builder, loc, bits, -1);
    Value none = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(whole, builder.getF32FloatAttr(0)));
    auto call = LLVM::CallIntrinsicOp::create(
        builder, loc, whole,
        builder.getStringAttr("llvm.x86.avx512.rcp14.ps." +
                              std::to_string(32 * lanes)),
        ValueRange{x, none, all});
    if (!vector)
      return vector::ExtractOp::create(builder, loc, call.getResult(0),
                                       int64_t(0));
    return width < lanes ? resized(call.getResult(0), width)
                         : call.getResult(0);
  }
  /// The first lanes, or behind them the first one again.
  Value resized(Value x, int64_t lanes) {
    const int64_t own = cast<VectorType>(x.getType()).getNumElements();
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < lanes; ++lane)
      from.push_back(lane < own ? lane : 0);
    return vector::ShuffleOp::create(builder, loc, x, x, from);
  }
  Value fma(Value a, Value b, Value c) {
    if (hasFMA)
      return math::FmaOp::create(builder, loc, a, b, c);
    return add(mul(a, b), c);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  /// min(x, bound) and max(x, bound): one instruction each, NaN stays NaN.
  Value clampBelow(Value x, double bound) {
    Value c = real(bound);
    return select(compare(arith::CmpFPredicate::OLT, c, x), c, x);
  }
  Value clampAbove(Value x, double bound) {
    Value c = real(bound);
    return select(compare(arith::CmpFPredicate::OGT, c, x), c, x);
  }
  Value clamp(Value x, double bound) {
    return clampAbove(clampBelow(x, bound), -bound);
  }
  Value bits(Value x) {
    return arith::BitcastOp::create(builder, loc, intType, x);
  }
  Value fromBits(Value x) {
    return arith::BitcastOp::create(builder, loc, type, x);
  }
  Value addInt(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value subInt(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value shiftLeft(Value a, int64_t by) {
    return arith::ShLIOp::create(builder, loc, a, integer(by));
  }
  Value shiftRight(Value a, int64_t by) {
    return arith::ShRSIOp::create(builder, loc, a, integer(by));
  }
  Value magnitude(Value x) { return math::AbsFOp::create(builder, loc, x); }
  Value withSignOf(Value x, Value sign) {
    return math::CopySignOp::create(builder, loc, x, sign);
  }
  Value asinRatio(Value z);
  /// c[0] + x * (c[1] + x * (...)).
  Value horner(Value x, ArrayRef<double> coefficients) {
    Value sum = real(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, real(c));
    return sum;
  }
  /// Given `shifted` = n + kRoundMagic: mantissa * 2^n for n in [-150, 129],
  /// by two scales of half the exponent, so that denormal results round once.
  Value scaleByPowerOfTwo(Value mantissa, Value shifted) {
    Value n = subInt(bits(shifted), integer(kRoundMagicBits));
    Value high = shiftRight(n, 1);
    Value low = subInt(n, high);
    Value first = fromBits(shiftLeft(addInt(high, integer(127)), 23));
    Value second = fromBits(shiftLeft(addInt(low, integer(127)), 23));
    return mul(mul(mantissa, first), second);
  }

  OpBuilder &builder;
  Location loc;
  Type type, intType;
  bool hasFMA, hasReciprocal;
  arith::FastMathFlagsAttr flags;
};

} // namespace

/// At most 2.2 ulp (2.5 without fused multiply-add), of denormal results too.
/// Infinities, zero and NaN are exact.
Value MathBuilder::exp(Value x) {
  x = clampAbove(clampBelow(x, 89), -104);
  Value shifted = fma(x, real(kLog2E), real(kRoundMagic));
  Value n = sub(shifted, real(kRoundMagic));
  Value r = fma(n, real(-kLn2High), x);
  r = fma(n, real(-kLn2Low), r);
  Value p = horner(r, {1, 1, 0.4999923, 0.16667115, 0.04189033, 0.0083125});
  return scaleByPowerOfTwo(p, shifted);
}

/// For x <= 0: at most 2.2 ulp (2.5 without fused multiply-add); results below
/// 2^-126 are 0. What overflows for such an x is never selected.
Value MathBuilder::expOfNegative(Value x) {
  constexpr double kLowest = -87.33654;
  // The bias of exponents is part of the number that rounds: what is left in
  // the low bits is an exponent's field.
  constexpr double kBiasedMagic = kRoundMagic + 127;
  Value isZero = compare(arith::CmpFPredicate::OLT, x, real(kLowest));
  Value shifted = fma(x, real(kLog2E), real(kBiasedMagic));
  Value n = sub(shifted, real(kBiasedMagic));
  Value r = fma(n, real(-kLn2High), x);
  r = fma(n, real(-kLn2Low), r);
  Value p = horner(r, {1, 1, 0.4999923, 0.16667115, 0.04189033, 0.0083125});
  Value scale = fromBits(shiftLeft(bits(shifted), 23));
  return select(isZero, real(0), mul(p, scale));
}

/// At most 2.1 ulp (2.4 without fused multiply-add).
Value MathBuilder::exp2(Value x) {
  x = clampAbove(clampBelow(x, 129), -150);
  Value shifted = add(x, real(kRoundMagic));
  Value r = sub(x, sub(shifted, real(kRoundMagic)));
  Value p = horner(r, {1, 0.69314697687, 0.24022241107, 0.05550734518,
                       0.00967157672, 0.00132646456});
  return scaleByPowerOfTwo(p, shifted);
}

/// At most 6 ulp (6.5 without fused multiply-add, or with a reciprocal). Never
/// beyond 1, and exactly 1 from the clamp on, where the fit is 4.5e-7 above it;
/// -0 is kept.
Value MathBuilder::tanh(Value x) {
  x = clamp(x, 9.01);
  Value u = mul(x, x);
  Value p =
      horner(u, {0.999999923883118, 0.13360179968555255, 0.0034699678726303014,
                 2.0159810771529718e-05, 1.2706490166512732e-08});
  Value q = horner(u, {1, 0.4669351349823457, 0.025781719478220725,
                       0.0003242411711949149, 7.514975730948217e-07});
  return clamp(ratio(mul(x, p), q), 1);
}

/// At most 5.6 ulp (6.7 without fused multiply-add, 6.1 with a reciprocal).
/// Never beyond 1, and exactly 1 from the clamp on, where the fit is 7e-7 above
/// it, so that GELU of a large negative number is 0; -0 is kept.
Value MathBuilder::erf(Value x) {
  x = clamp(x, 3.925);
  Value u = mul(x, x);
  Value p = horner(u, {1.1283791570330126, 0.16949944407853168,
                       0.05063888441478689, 0.00302719481739707,
                       0.00029730732714965336, 2.6175039061108333e-06});
  Value q = horner(u, {1, 0.4835484271229411, 0.10605926066046771,
                       0.013493297977097803, 0.0010355097414653284,
                       4.4544941170498035e-05});
  return clamp(ratio(mul(x, p), q), 1);
}

/// At most 0.9 ulp, denormals included. log(0) = -inf, log(x < 0) = NaN.
Value MathBuilder::log(Value x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  using arith::CmpFPredicate;
  // Denormals are scaled by 2^23 first.
  Value tiny = compare(CmpFPredicate::OLT, x, real(1.17549435e-38));
  Value normal = select(tiny, scaled(x, 8388608.0), x);
  Value bias = select(tiny, real(-23), real(0));
  // x = m * 2^k with m in [1/sqrt(2), sqrt(2)).
  Value pattern = bits(normal);
  Value k = shiftRight(subInt(pattern, integer(0x3F3504F3)), 23);
  Value m = fromBits(subInt(pattern, shiftLeft(k, 23)));
  Value exponent = arith::SIToFPOp::create(builder, loc, type, k);
  exponent = add(exponent, bias);
  // log(1 + f) = f - f^2 / 2 + f^3 P(f).
  Value f = sub(m, real(1));
  Value f2 = mul(f, f);
  Value p = horner(f, {0.33333331707494607, -0.2500082103987177,
                       0.20001226902477956, -0.16623357150757434,
                       0.14201757209700797, -0.13160183600497885,
                       0.12761583606388374, -0.076345016333681});
  Value y = mul(mul(f2, f), p);
  y = fma(exponent, real(kLn2Low), y);
  y = fma(f2, real(-0.5), y);
  y = add(y, f);
  y = fma(exponent, real(kLn2High), y);
  y = select(compare(CmpFPredicate::OLT, x, real(kInfinity)), y, x);
  y = select(compare(CmpFPredicate::OEQ, x, real(0)), real(-kInfinity), y);
  Value nan = real(std::numeric_limits<double>::quiet_NaN());
  return select(compare(CmpFPredicate::OLT, x, real(0)), nan, y);
}

/// log(u) * x / (u - 1) with u = 1 + x rounded corrects that rounding; at
/// most 3 ulp.
Value MathBuilder::log1p(Value x) {
  using arith::CmpFPredicate;
  Value one = real(1);
  // Plain operations: a contracted sum would not be the rounded u.
  Value u = arith::AddFOp::create(builder, loc, x, one);
  Value d = arith::SubFOp::create(builder, loc, u, one);
  Value y = mul(log(u), div(x, d));
  y = select(compare(CmpFPredicate::OEQ, d, real(0)), x, y);
  Value infinity = real(std::numeric_limits<double>::infinity());
  y = select(compare(CmpFPredicate::OEQ, u, infinity), u, y);
  // x = -1: u = 0, and log(0) * (-1 / -1) is -inf already.
  return y;
}

/// e^x - 1 = 2^n (e^r - 1) + 2^n - 1, of which the first is all for n = 0; by
/// halves, since 2^128 is none. At most 2.4 ulp; -0 is kept.
Value MathBuilder::expm1(Value x) {
  x = clampAbove(clampBelow(x, 89), -26);
  Value shifted = fma(x, real(kLog2E), real(kRoundMagic));
  Value n = sub(shifted, real(kRoundMagic));
  Value r = fma(n, real(-kLn2High), x);
  r = fma(n, real(-kLn2Low), r);
  Value p = mul(r, horner(r, {1, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                              1.0 / 5040}));
  Value exponent = subInt(bits(shifted), integer(kRoundMagicBits - 126));
  Value half = fromBits(shiftLeft(exponent, 23));
  Value y = scaled(fma(p, half, sub(half, real(0.5))), 2);
  return select(compare(arith::CmpFPredicate::OEQ, n, real(0)), p, y);
}

/// By atan(x) = pi / 4 + atan((x - 1) / (x + 1)) from tan(pi / 8) on, and
/// pi / 2 - atan(1 / x) from tan(3 pi / 8) on: the polynomial is that of
/// Moshier's Cephes. At most 3 ulp; -0 is kept.
Value MathBuilder::atan(Value x) {
  Value size = magnitude(x), one = real(1);
  Value isLarge =
      compare(arith::CmpFPredicate::OGT, size, real(2.414213562373095));
  Value isMiddle =
      compare(arith::CmpFPredicate::OGT, size, real(0.4142135623730950));
  Value start = select(isLarge, real(1.5707963267948966),
                       select(isMiddle, real(0.7853981633974483), real(0)));
  Value above =
      select(isLarge, real(-1), select(isMiddle, sub(size, one), size));
  Value below = select(isLarge, size, select(isMiddle, add(size, one), one));
  Value t = div(above, below);
  Value z = mul(t, t);
  Value p = horner(z, {-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1,
                       8.05374449538e-2});
  return withSignOf(add(start, fma(mul(z, p), t, t)), x);
}

/// asin(s) / s of z = s^2 up to 1 / 4, as Moshier's Cephes has it.
Value MathBuilder::asinRatio(Value z) {
  return horner(z, {1, 1.6666752422e-1, 7.4953002686e-2, 4.5470025998e-2,
                    2.4181311049e-2, 4.2163199048e-2});
}

/// From 1 / 2 on pi / 2 - 2 asin(sqrt((1 - x) / 2)). At most 3.4 ulp; NaN
/// beyond 1, -0 is kept.
Value MathBuilder::asin(Value x) {
  Value size = magnitude(x);
  Value isLarge = compare(arith::CmpFPredicate::OGT, size, real(0.5));
  Value rest = fma(size, real(-0.5), real(0.5));
  Value z = select(isLarge, rest, mul(size, size));
  Value s = select(isLarge, math::SqrtOp::create(builder, loc, rest), size);
  Value y = mul(s, asinRatio(z));
  Value large = sub(real(1.5707963267948966), scaled(y, 2));
  return withSignOf(select(isLarge, large, y), x);
}

/// pi / 2 - asin(x) up to 1 / 2, else as above, without what is the same. At
/// most 2.1 ulp; NaN beyond 1.
Value MathBuilder::acos(Value x) {
  Value size = magnitude(x);
  Value isLarge = compare(arith::CmpFPredicate::OGT, size, real(0.5));
  Value isNegative = compare(arith::CmpFPredicate::OLT, x, real(0));
  Value rest = fma(size, real(-0.5), real(0.5));
  Value z = select(isLarge, rest, mul(size, size));
  Value s = select(isLarge, math::SqrtOp::create(builder, loc, rest), x);
  Value y = mul(s, asinRatio(z));
  Value twice = scaled(y, 2);
  Value large = select(isNegative, sub(real(3.141592653589793), twice), twice);
  return select(isLarge, large, sub(real(1.5707963267948966), y));
}

/// vmaxps: b when either is NaN.
static Value buildLarger(OpBuilder &builder, Location loc, Value a, Value b) {
  Value greater =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, a, b);
  return arith::SelectOp::create(builder, loc, greater, a, b);
}

Value dlc::codegen::buildMaximum(OpBuilder &builder, Location loc, Value a,
                                 Value b) {
  using arith::CmpFPredicate;
  Value larger = buildLarger(builder, loc, a, b);
  Value isNaN = arith::CmpFOp::create(builder, loc, CmpFPredicate::UNO, a, a);
  return arith::SelectOp::create(builder, loc, isNaN, a, larger);
}

Value dlc::codegen::buildMinimum(OpBuilder &builder, Location loc, Value a,
                                 Value b) {
  using arith::CmpFPredicate;
  Value less = arith::CmpFOp::create(builder, loc, CmpFPredicate::OLT, a, b);
  Value smaller = arith::SelectOp::create(builder, loc, less, a, b);
  Value isNaN = arith::CmpFOp::create(builder, loc, CmpFPredicate::UNO, a, a);
  return arith::SelectOp::create(builder, loc, isNaN, a, smaller);
}

/// x^c for exponents that need no transcendental function.
static Value expandPow(OpBuilder &builder, Location loc, Operation *op,
                       ValueRange operands) {
  FloatAttr exponent;
  if (!matchPattern(op->getOperand(1), m_Constant(&exponent)))
    return {};
  Value x = operands[0];
  double c = exponent.getValueAsDouble();
  if (c == 1)
    return x;
  Value square = arith::MulFOp::create(builder, loc, x, x);
  if (c == 2)
    return square;
  if (c == 3)
    return arith::MulFOp::create(builder, loc, square, x);
  return {};
}

Value dlc::codegen::expandMath(OpBuilder &builder, Operation *op,
                               ValueRange operands,
                               const TargetOptions &target) {
  if (operands.empty())
    return {};
  Location loc = op->getLoc();
  if (auto maximum = dyn_cast<arith::MaximumFOp>(op)) {
    if (arith::bitEnumContainsAll(maximum.getFastmath(),
                                  arith::FastMathFlags::nnan))
      return buildLarger(builder, loc, operands[0], operands[1]);
    return buildMaximum(builder, loc, operands[0], operands[1]);
  }
  if (isa<arith::MinimumFOp>(op))
    return buildMinimum(builder, loc, operands[0], operands[1]);
  Type type = operands[0].getType();
  if (!getElementTypeOrSelf(type).isF32())
    return {};
  MathBuilder b(builder, loc, type, target);
  Value x = operands[0];
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp exp) {
        // convert-kernel-to-linalg marks e^(x - max) of a softmax.
        bool isNegative = arith::bitEnumContainsAll(exp.getFastmath(),
                                                    arith::FastMathFlags::afn);
        return isNegative ? b.expOfNegative(x) : b.exp(x);
      })
      .Case([&](math::Exp2Op) { return b.exp2(x); })
      .Case([&](math::TanhOp) { return b.tanh(x); })
      .Case([&](math::ErfOp) { return b.erf(x); })
      .Case([&](math::LogOp) { return b.log(x); })
      .Case([&](math::Log2Op) { return b.scaled(b.log(x), kLog2E); })
      .Case([&](math::Log10Op) {
        return b.scaled(b.log(x), 0.43429448190325176);
      })
      .Case([&](math::Log1pOp) { return b.log1p(x); })
      .Case([&](math::ExpM1Op) { return b.expm1(x); })
      .Case([&](math::AtanOp) { return b.atan(x); })
      .Case([&](math::AsinOp) { return b.asin(x); })
      .Case([&](math::AcosOp) { return b.acos(x); })
      .Case([&](math::RsqrtOp) { return b.rsqrt(x); })
      .Case([&](math::PowFOp) { return expandPow(builder, loc, op, operands); })
      .Default([](Operation *) { return Value(); });
}
