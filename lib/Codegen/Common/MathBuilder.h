// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions of f32 as operations of arith on f32 or on vectors of
// it. Errors are in units in the last place of f32 against double, over all
// floats, with fused multiply-add. Coefficients are relative minimax fits.

#ifndef DLC_LIB_CODEGEN_COMMON_MATHBUILDER_H
#define DLC_LIB_CODEGEN_COMMON_MATHBUILDER_H

#include "dlc/Codegen/CPU/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace dlc::codegen {

/// Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, and the
/// low bits of the sum are that integer.
constexpr double kRoundMagic = 12582912.0;
constexpr int64_t kRoundMagicBits = 0x4B400000;

/// Values are of `type`, f32 or a vector of f32, and bit patterns i32 in the
/// same shape; inside pow they are f64 and i64.
class MathBuilder {
public:
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
              const TargetOptions &target);

  mlir::Value exp(mlir::Value x);
  mlir::Value expOfNegative(mlir::Value x);
  mlir::Value exp2(mlir::Value x);
  mlir::Value expm1(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value sinh(mlir::Value x);
  mlir::Value cosh(mlir::Value x);
  mlir::Value asinh(mlir::Value x);
  mlir::Value acosh(mlir::Value x);
  mlir::Value atanh(mlir::Value x);
  mlir::Value sin(mlir::Value x);
  mlir::Value cos(mlir::Value x);
  mlir::Value tan(mlir::Value x);
  mlir::Value asin(mlir::Value x);
  mlir::Value acos(mlir::Value x);
  mlir::Value atan(mlir::Value x);
  mlir::Value pow(mlir::Value x, mlir::Value y);
  /// x^c for exponents that plainExponentOf() names.
  mlir::Value plainPow(mlir::Value x, double exponent);
  mlir::Value rsqrt(mlir::Value x);
  mlir::Value scaled(mlir::Value x, double factor);
  /// x / divisor, to be rounded to an integer; null where it takes a division.
  mlir::Value roundedQuotient(mlir::Value x, float divisor);

private:
  /// The same for another type.
  MathBuilder(const MathBuilder &other, mlir::Type type);

  /// `element`, or vectors of it as wide as those of `type`.
  mlir::Type shaped(mlir::Type element) const;
  mlir::Value constant(mlir::TypedAttr attr);
  mlir::Value real(double value);
  mlir::Value integer(int64_t value);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  /// a / b within 1.5 ulp, for b from 1 to 2^64. Processors divide 16 floats in
  /// 10 to 16 cycles, in which they multiply and add 20 to 32 times.
  mlir::Value ratio(mlir::Value a, mlir::Value b);
  /// Within 2^-14, and the same for each number, whatever vector it is in.
  mlir::Value nearReciprocal(mlir::Value x);
  /// The first lanes, or behind them the first one again.
  mlir::Value resized(mlir::Value x, int64_t lanes);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value sqrt(mlir::Value x);
  /// c[0] + x * (c[1] + x * (...)).
  mlir::Value horner(mlir::Value x, llvm::ArrayRef<double> coefficients);

  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Of conditions or patterns.
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value either(mlir::Value a, mlir::Value b);
  mlir::Value isNot(mlir::Value condition);
  /// min(x, bound) and max(x, bound): one instruction each, NaN stays NaN.
  mlir::Value clampBelow(mlir::Value x, double bound);
  mlir::Value clampAbove(mlir::Value x, double bound);
  mlir::Value clamp(mlir::Value x, double bound);
  mlir::Value magnitude(mlir::Value x);
  mlir::Value withSignOf(mlir::Value x, mlir::Value sign);
  mlir::Value isInteger(mlir::Value x);

  mlir::Value bits(mlir::Value x);
  mlir::Value fromBits(mlir::Value x);
  mlir::Value addInt(mlir::Value a, mlir::Value b);
  mlir::Value subInt(mlir::Value a, mlir::Value b);
  mlir::Value shiftLeft(mlir::Value a, int64_t by);
  mlir::Value shiftRight(mlir::Value a, int64_t by);
  /// With zeros from the left.
  mlir::Value shiftRightBits(mlir::Value a, int64_t by);

  /// n of `shifted` = n + kRoundMagic, and r of x = n ln 2 + r.
  struct Exponent {
    mlir::Value shifted, rest;
  };
  Exponent reduceExponent(mlir::Value x, double magic);
  /// Given `shifted` = n + kRoundMagic: mantissa * 2^(n - halvings) for n in
  /// [-150, 129], by two scales of half the exponent, so that denormal results
  /// round once.
  mlir::Value scaleByPowerOfTwo(mlir::Value mantissa, mlir::Value shifted,
                                int halvings = 0);
  mlir::Value halfOfExp(mlir::Value x);
  mlir::Value asinRatio(mlir::Value z);

  /// x = quadrant * pi / 2 + rest, with |rest| hardly more than pi / 4.
  struct Angle {
    mlir::Value rest;
    mlir::Value quadrant; ///< The low two bits count.
  };
  Angle reduceAngle(mlir::Value size);
  Angle reduceLargeAngle(mlir::Value size);
  mlir::Value sinOfRest(mlir::Value rest);
  mlir::Value cosOfRest(mlir::Value rest);
  mlir::Value isOdd(const Angle &angle);
  /// y with the other sign where `signs` has its highest bit.
  mlir::Value withSignTurned(mlir::Value y, mlir::Value signs);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type, intType;
  bool hasFMA, hasReciprocal;
  mlir::arith::FastMathFlagsAttr flags;
};

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_MATHBUILDER_H
