// SPDX-License-Identifier: Apache-2.0
//
// Functions of angles, and their inverses.

#include "MathBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <array>
#include <numbers>

using namespace mlir;
using namespace dlc::codegen;

/// The first bits of 2 / pi, behind 32 zeros.
static constexpr std::array<uint32_t, 8> kTwoOverPi = {
    0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
    0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

/// Of numbers below 2^16 a multiple of pi / 2 is subtracted in parts: the first
/// difference is exact (Cody and Waite), 2^13 where products round by
/// themselves. If any lane is beyond, reduceLargeAngle() has those.
MathBuilder::Angle MathBuilder::reduceAngle(Value size) {
  Value shifted = fma(size, real(2 / std::numbers::pi), real(kRoundMagic));
  Value n = sub(shifted, real(kRoundMagic));
  // Without fused multiply-add parts have 11 bits, so that products are exact.
  static constexpr double kFused[] = {1.5707963705062866, -4.371138828673793e-8,
                                      -1.715124510005882e-15};
  static constexpr double kPlain[] = {1.5703125, 4.8375129699707031e-4,
                                      7.5495336204767227e-8,
                                      2.5633440682570896e-12};
  Value rest = size;
  for (double part : hasFMA ? ArrayRef(kFused) : ArrayRef(kPlain))
    rest = fma(n, real(-part), rest);

  Value isLarge =
      compare(arith::CmpFPredicate::OGT, size, real(hasFMA ? 0x1p16 : 0x1p13));
  Value isAnyLarge = isLarge;
  if (isa<VectorType>(type))
    isAnyLarge = vector::ReductionOp::create(
        builder, loc, vector::CombiningKind::OR, isLarge);
  auto branch = scf::IfOp::create(builder, loc, TypeRange{type, intType},
                                  isAnyLarge, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Angle large = reduceLargeAngle(size);
  scf::YieldOp::create(
      builder, loc,
      ValueRange{select(isLarge, large.rest, rest),
                 select(isLarge, large.quadrant, bits(shifted))});
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, ValueRange{rest, bits(shifted)});
  return {branch.getResult(0), branch.getResult(1)};
}

/// For x = m * 2^e with an integer m (Payne and Hanek, 1983): of x * 2 / pi,
/// modulo 4, m times 96 bits of 2 / pi are enough, from the one on whose
/// product with 2^e is 2. The first 64 bits of that are the quadrant and 62
/// bits behind it.
MathBuilder::Angle MathBuilder::reduceLargeAngle(Value size) {
  Type wide = shaped(builder.getI64Type());
  auto integer64 = [&](int64_t value) {
    return constant(builder.getI64IntegerAttr(value));
  };
  auto widen = [&](Value x) -> Value {
    return arith::ExtUIOp::create(builder, loc, wide, x);
  };
  auto left = [&](Value x, Value by) -> Value {
    return arith::ShLIOp::create(builder, loc, x, by);
  };
  auto right = [&](Value x, Value by) -> Value {
    return arith::ShRUIOp::create(builder, loc, x, by);
  };
  Value pattern = bits(size);
  Value mantissa =
      widen(either(both(pattern, integer(0x7fffff)), integer(0x800000)));
  // e is 150 less than the exponent's field; the table has 32 zeros in front.
  Value first = subInt(shiftRight(pattern, 23), integer(150 - 30));
  Value word = shiftRight(first, 5), bit = widen(both(first, integer(31)));

  // Words of the table from `word` on, which is 4 at most.
  constexpr int kWords = 4;
  std::array<Value, kWords> words;
  for (int i = 0; i < kWords; ++i)
    words[i] = integer64(kTwoOverPi[i]);
  for (int at = 1; at + kWords <= int(kTwoOverPi.size()); ++at) {
    Value isHere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         word, integer(at));
    for (int i = 0; i < kWords; ++i)
      words[i] = select(isHere, integer64(kTwoOverPi[at + i]), words[i]);
  }
  Value half = integer64(32);
  // 32 of the 96 bits, times m.
  auto product = [&](int index) -> Value {
    Value words64 = either(left(words[index], half), words[index + 1]);
    Value factor = right(left(words64, bit), half);
    return arith::MulIOp::create(builder, loc, factor, mantissa);
  };
  Value sum = addInt(addInt(left(product(0), half), product(1)),
                     right(product(2), half));
  Value quadrant =
      right(addInt(sum, integer64(int64_t(1) << 61)), integer64(62));
  Value fraction = subInt(sum, left(quadrant, integer64(62)));
  Type real64 = shaped(builder.getF64Type());
  Value rest = arith::SIToFPOp::create(builder, loc, real64, fraction);
  rest = arith::MulFOp::create(
      builder, loc, rest,
      constant(builder.getF64FloatAttr(std::numbers::pi / 2 * 0x1p-62)));
  rest = arith::TruncFOp::create(builder, loc, type, rest);
  // inf - inf is NaN, which stays NaN.
  return {add(rest, sub(size, size)),
          arith::TruncIOp::create(builder, loc, intType, quadrant)};
}

Value MathBuilder::isOdd(const Angle &angle) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                               both(angle.quadrant, integer(1)), integer(0));
}

Value MathBuilder::withSignTurned(Value y, Value signs) {
  return fromBits(arith::XOrIOp::create(builder, loc, bits(y),
                                        both(signs, integer(INT32_MIN))));
}

/// The polynomials of Moshier's Cephes.
Value MathBuilder::sinOfRest(Value rest) {
  Value z = mul(rest, rest);
  Value p = horner(z, {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4});
  return fma(mul(z, p), rest, rest);
}

Value MathBuilder::cosOfRest(Value rest) {
  Value z = mul(rest, rest);
  Value p = horner(
      z, {4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5});
  return fma(mul(z, z), p, fma(z, real(-0.5), real(1)));
}

/// At most 1.6 ulp (2.4 without fused multiply-add), as cos; -0 is kept.
Value MathBuilder::sin(Value x) {
  Angle angle = reduceAngle(magnitude(x));
  Value y = select(isOdd(angle), cosOfRest(angle.rest), sinOfRest(angle.rest));
  // The second and the third quadrant are below 0.
  Value signs = arith::XOrIOp::create(builder, loc, bits(x),
                                      shiftLeft(angle.quadrant, 30));
  return withSignTurned(y, signs);
}

Value MathBuilder::cos(Value x) {
  Angle angle = reduceAngle(magnitude(x));
  Value y = select(isOdd(angle), sinOfRest(angle.rest), cosOfRest(angle.rest));
  Value next = addInt(angle.quadrant, integer(1));
  return withSignTurned(y, shiftLeft(next, 30));
}

/// At most 3.1 ulp (3.5 without fused multiply-add); -0 is kept.
Value MathBuilder::tan(Value x) {
  Angle angle = reduceAngle(magnitude(x));
  Value z = mul(angle.rest, angle.rest);
  Value p = horner(z, {3.33331568548e-1, 1.33387994085e-1, 5.34112807005e-2,
                       2.44301354525e-2, 3.11992232697e-3, 9.38540185543e-3});
  Value t = fma(mul(z, p), angle.rest, angle.rest);
  return withSignTurned(select(isOdd(angle), div(real(-1), t), t), bits(x));
}
//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

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
  Value s = select(isLarge, sqrt(rest), size);
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
  Value s = select(isLarge, sqrt(rest), x);
  Value y = mul(s, asinRatio(z));
  Value twice = scaled(y, 2);
  Value large = select(isNegative, sub(real(3.141592653589793), twice), twice);
  return select(isLarge, large, sub(real(1.5707963267948966), y));
}
