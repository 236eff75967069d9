// SPDX-License-Identifier: Apache-2.0
//
// Exponentials, logarithms and what is made of them.

#include "MathBuilder.h"

#include "mlir/IR/BuiltinTypes.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace dlc::codegen;

/// ln 2 in two parts; the first has 11 trailing zero bits, so that its product
/// with an exponent is exact.
static constexpr double kLn2High = 0.693145751953125, kLn2Low = 1.42860677e-6;
/// e^r for |r| <= ln 2 / 2.
static constexpr double kExpOfRest[] = {1,          1,          0.4999923,
                                        0.16667115, 0.04189033, 0.0083125};

//===----------------------------------------------------------------------===//
// Powers of e and of 2
//===----------------------------------------------------------------------===//

/// With a bias of exponents in `magic`, the low bits of what is shifted are an
/// exponent's field.
MathBuilder::Exponent MathBuilder::reduceExponent(Value x, double magic) {
  Value shifted = fma(x, real(std::numbers::log2e), real(magic));
  Value n = sub(shifted, real(magic));
  Value r = fma(n, real(-kLn2High), x);
  return {shifted, fma(n, real(-kLn2Low), r)};
}

Value MathBuilder::scaleByPowerOfTwo(Value mantissa, Value shifted,
                                     int halvings) {
  Value n = subInt(bits(shifted), integer(kRoundMagicBits + halvings));
  Value high = shiftRight(n, 1);
  Value low = subInt(n, high);
  Value first = fromBits(shiftLeft(addInt(high, integer(127)), 23));
  Value second = fromBits(shiftLeft(addInt(low, integer(127)), 23));
  return mul(mul(mantissa, first), second);
}

/// At most 2.2 ulp (2.5 without fused multiply-add), of denormal results too.
/// Infinities, zero and NaN are exact.
Value MathBuilder::exp(Value x) {
  x = clampAbove(clampBelow(x, 89), -104);
  auto [shifted, r] = reduceExponent(x, kRoundMagic);
  return scaleByPowerOfTwo(horner(r, kExpOfRest), shifted);
}

/// For x <= 0: at most 2.2 ulp (2.5 without fused multiply-add); results below
/// 2^-126 are 0. What overflows for such an x is never selected.
Value MathBuilder::expOfNegative(Value x) {
  constexpr double kLowest = -87.33654;
  Value isZero = compare(arith::CmpFPredicate::OLT, x, real(kLowest));
  auto [shifted, r] = reduceExponent(x, kRoundMagic + 127);
  Value p = horner(r, kExpOfRest);
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
  auto [shifted, r] = reduceExponent(x, kRoundMagic);
  Value p = mul(r, horner(r, {1, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                              1.0 / 5040}));
  Value exponent = subInt(bits(shifted), integer(kRoundMagicBits - 126));
  Value half = fromBits(shiftLeft(exponent, 23));
  Value y = scaled(fma(p, half, sub(half, real(0.5))), 2);
  Value isAll = compare(arith::CmpFPredicate::OEQ, shifted, real(kRoundMagic));
  return select(isAll, p, y);
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions and their inverses, near 0 by Moshier's Cephes
//===----------------------------------------------------------------------===//

/// Finite as long as sinh and cosh are.
Value MathBuilder::halfOfExp(Value x) {
  auto [shifted, r] = reduceExponent(clampBelow(x, 90), kRoundMagic);
  return scaleByPowerOfTwo(horner(r, kExpOfRest), shifted, 1);
}

/// At most 2.9 ulp (3 without fused multiply-add); -0 is kept.
Value MathBuilder::sinh(Value x) {
  Value size = magnitude(x), z = mul(x, x);
  Value p = horner(z, {1.66667160211e-1, 8.33028376239e-3, 2.03721912945e-4});
  Value small = fma(mul(z, p), size, size);
  Value half = halfOfExp(size);
  Value large = sub(half, div(real(0.25), half));
  Value isSmall = compare(arith::CmpFPredicate::OLT, size, real(1));
  return withSignOf(select(isSmall, small, large), x);
}

/// At most 2.7 ulp (2.9 without fused multiply-add).
Value MathBuilder::cosh(Value x) {
  Value half = halfOfExp(magnitude(x));
  return add(half, div(real(0.25), half));
}

/// From here on the square of a number is as good as that and 1 more.
static constexpr double kLargeSquare = 4096;

/// log(x + sqrt(x^2 + 1)) from 1 / 2 on. At most 3.8 ulp; -0 is kept.
Value MathBuilder::asinh(Value x) {
  Value size = magnitude(x), z = mul(x, x);
  Value p = horner(z, {-1.6666288134e-1, 7.4847586088e-2, -4.2699340972e-2,
                       2.0122003309e-2});
  Value small = fma(mul(z, p), size, size);
  Value root = sqrt(add(z, real(1)));
  Value isLarge = compare(arith::CmpFPredicate::OGT, size, real(kLargeSquare));
  Value y = log(select(isLarge, size, add(size, root)));
  y = add(y, select(isLarge, real(std::numbers::ln2), real(0)));
  Value isSmall = compare(arith::CmpFPredicate::OLT, size, real(0.5));
  return withSignOf(select(isSmall, small, y), x);
}

/// log(x + sqrt(x^2 - 1)) from 3 / 2 on. At most 2.4 ulp; NaN below 1.
Value MathBuilder::acosh(Value x) {
  Value z = sub(x, real(1));
  Value p = horner(z, {1.4142135263, -1.1784741703e-1, 2.6454905019e-2,
                       -7.5272886713e-3, 1.7596881071e-3});
  Value small = mul(p, sqrt(z));
  Value root = sqrt(mul(z, add(x, real(1))));
  Value isLarge = compare(arith::CmpFPredicate::OGT, x, real(kLargeSquare));
  Value y = log(select(isLarge, x, add(x, root)));
  y = add(y, select(isLarge, real(std::numbers::ln2), real(0)));
  Value isSmall = compare(arith::CmpFPredicate::OLT, z, real(0.5));
  return select(isSmall, small, y);
}

/// log((1 + x) / (1 - x)) / 2 from 1 / 2 on. At most 1.4 ulp; NaN beyond 1, -0
/// is kept.
Value MathBuilder::atanh(Value x) {
  Value size = magnitude(x), z = mul(x, x), one = real(1);
  Value p = horner(z, {3.33337300303e-1, 1.99782164500e-1, 1.46691431730e-1,
                       8.24370301058e-2, 1.81740078349e-1});
  Value small = fma(mul(z, p), size, size);
  Value y = scaled(log(div(add(one, size), sub(one, size))), 0.5);
  Value isSmall = compare(arith::CmpFPredicate::OLT, size, real(0.5));
  return withSignOf(select(isSmall, small, y), x);
}
