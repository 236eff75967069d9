// SPDX-License-Identifier: Apache-2.0

#include "MathBuilder.h"

#include <limits>

using namespace mlir;
using namespace dlc::codegen;

/// Adding and subtracting it rounds to the nearest integer, as kRoundMagic does
/// in f32.
static constexpr double kWideMagic = 0x1.8p52;
static constexpr int64_t kWideMagicBits = 0x4338000000000000;

/// 2^(y log2 |x|) in f64, where no float is denormal and no result overflows,
/// with the signs and exceptions of IEEE 754 (9.2.1). At most 0.55 ulp.
Value MathBuilder::pow(Value x, Value y) {
  using arith::CmpFPredicate;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Type wide = shaped(builder.getF64Type());
  MathBuilder w(*this, wide);
  Value size = magnitude(x);

  // log2 of |x| = m * 2^k with m in [1/sqrt(2), sqrt(2)), of s = (m - 1) /
  // (m + 1). k has a bias, so that it is not negative.
  constexpr int64_t kBias = 1024, kSqrtHalf = 0x3FE6A09E667F3BCD;
  Value pattern = w.bits(arith::ExtFOp::create(builder, loc, wide, size));
  Value biased = w.shiftRightBits(
      w.addInt(pattern, w.integer((kBias << 52) - kSqrtHalf)), 52);
  Value m = w.fromBits(w.addInt(w.subInt(pattern, w.shiftLeft(biased, 52)),
                                w.integer(kBias << 52)));
  Value k = w.sub(w.fromBits(w.addInt(biased, w.integer(kWideMagicBits))),
                  w.real(kWideMagic + kBias));
  Value s = w.div(w.sub(m, w.real(1)), w.add(m, w.real(1)));
  Value p =
      w.horner(w.mul(s, s), {2.8853900817900862893, 0.96179667334168198498,
                             0.5770835849764047065, 0.41167271871443004189,
                             0.34073010740553298783});
  Value log = w.fma(s, p, k);
  // Infinite and NaN as |x| is.
  Value same =
      arith::ExtFOp::create(builder, loc, wide,
                            select(compare(CmpFPredicate::OEQ, size, real(0)),
                                   real(-kInfinity), size));
  Value isPlain = both(compare(CmpFPredicate::OLT, size, real(kInfinity)),
                       compare(CmpFPredicate::UNE, size, real(0)));
  log = select(isPlain, log, same);

  Value t = w.mul(arith::ExtFOp::create(builder, loc, wide, y), log);
  t = w.clamp(t, 200);
  Value shifted = w.add(t, w.real(kWideMagic));
  Value r = w.sub(t, w.sub(shifted, w.real(kWideMagic)));
  Value q = w.horner(r, {1.00000000055504802, 0.693147205767071421,
                         0.24022646886090252146, 0.055503287119397478648,
                         0.0096184892437084543756, 0.0013399957587004336268,
                         0.00015345789109373778572});
  Value scale =
      w.fromBits(w.shiftLeft(w.addInt(w.bits(shifted), w.integer(1023)), 52));
  Value power = arith::TruncFOp::create(builder, loc, type, w.mul(q, scale));

  Value yIsInteger = isInteger(y);
  Value yIsEven = isInteger(scaled(y, 0.5));
  Value isTurned = both(yIsInteger, isNot(yIsEven));
  power = select(isTurned, withSignOf(power, x), power);
  // No power of a negative number, but for integers; -inf has all of them.
  Value hasNone = both(both(compare(CmpFPredicate::OLT, x, real(0)),
                            compare(CmpFPredicate::OGT, x, real(-kInfinity))),
                       isNot(yIsInteger));
  power =
      select(hasNone, real(std::numeric_limits<double>::quiet_NaN()), power);
  // x^0 and 1^y for every x and y, also NaN, and -1 to an infinite one.
  Value isOne =
      both(compare(CmpFPredicate::OEQ, size, real(1)),
           compare(CmpFPredicate::OEQ, magnitude(y), real(kInfinity)));
  isOne = either(isOne, compare(CmpFPredicate::OEQ, x, real(1)));
  isOne = either(isOne, compare(CmpFPredicate::OEQ, y, real(0)));
  return select(isOne, real(1), power);
}

Value MathBuilder::plainPow(Value x, double exponent) {
  if (exponent == -1)
    return div(real(1), x);
  if (exponent == 0.5) { // Of -0 it is 0, and inf of -inf.
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Value isLowest = compare(arith::CmpFPredicate::OEQ, x, real(-kInfinity));
    return select(isLowest, real(kInfinity), sqrt(add(x, real(0))));
  }
  if (exponent == 1)
    return x;
  Value square = mul(x, x);
  return exponent == 2   ? square
         : exponent == 3 ? mul(square, x)
                         : mul(square, square);
}
