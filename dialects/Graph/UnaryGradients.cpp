// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of elementwise operations of one operand. Where a function has a
// corner the derivative is that of one side, as MXNet and PyTorch have it; of
// |x| it is 0. Functions of steps have the derivative 0.

#include "Formula.h"

#include <numbers>

using namespace mlir;
using namespace dlc::graph;

/// Defines Op::buildGradients as the gradient of the result times
/// `expression`, the derivative at `x`, where the function is `y`.
#define DLC_DERIVATIVE(Op, expression)                                         \
  LogicalResult Op::buildGradients(Gradients &gradients) {                     \
    gradients.give(0, [&]() -> Value {                                         \
      Formula f(gradients);                                                    \
      [[maybe_unused]] Value x = getX(), y = getY();                           \
      return f.mul(gradients.ofResult(), expression);                          \
    });                                                                        \
    return success();                                                          \
  }

/// The same where the gradient of the result passes where `condition` holds,
/// and counts nothing elsewhere.
#define DLC_PASSES_WHERE(Op, condition)                                        \
  LogicalResult Op::buildGradients(Gradients &gradients) {                     \
    gradients.give(0, [&]() -> Value {                                         \
      Formula f(gradients);                                                    \
      [[maybe_unused]] Value x = getX(), y = getY();                           \
      return f.select(condition, gradients.ofResult(), 0);                     \
    });                                                                        \
    return success();                                                          \
  }

#define DLC_STEPS(Op)                                                          \
  LogicalResult Op::buildGradients(Gradients &) { return success(); }

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult NegOp::buildGradients(Gradients &gradients) {
  gradients.give(0,
                 [&] { return Formula(gradients).neg(gradients.ofResult()); });
  return success();
}

DLC_DERIVATIVE(AbsOp, f.make<SignOp>(x))
DLC_STEPS(SignOp)
DLC_STEPS(CeilOp)
DLC_STEPS(FloorOp)
DLC_STEPS(RoundOp)
DLC_DERIVATIVE(SqrtOp, f.div(f.number(y, 0.5), y))
DLC_DERIVATIVE(RsqrtOp, f.scale(f.mul(y, f.square(y)), -0.5))
DLC_DERIVATIVE(ReciprocalOp, f.neg(f.square(y)))

DLC_DERIVATIVE(ExpOp, y)
DLC_DERIVATIVE(LogOp, f.reciprocal(x))
DLC_DERIVATIVE(SinOp, f.make<CosOp>(x))
DLC_DERIVATIVE(CosOp, f.neg(f.make<SinOp>(x)))
DLC_DERIVATIVE(TanOp, f.shift(f.square(y), 1))
DLC_DERIVATIVE(AsinOp, f.rsqrt(f.from(1, f.square(x))))
DLC_DERIVATIVE(AcosOp, f.neg(f.rsqrt(f.from(1, f.square(x)))))
DLC_DERIVATIVE(AtanOp, f.reciprocal(f.shift(f.square(x), 1)))
DLC_DERIVATIVE(SinhOp, f.make<CoshOp>(x))
DLC_DERIVATIVE(CoshOp, f.make<SinhOp>(x))
DLC_DERIVATIVE(TanhOp, f.from(1, f.square(y)))
DLC_DERIVATIVE(AsinhOp, f.rsqrt(f.shift(f.square(x), 1)))
DLC_DERIVATIVE(AcoshOp, f.rsqrt(f.shift(f.square(x), -1)))
DLC_DERIVATIVE(AtanhOp, f.reciprocal(f.from(1, f.square(x))))
DLC_DERIVATIVE(ErfOp,
               f.scale(f.exp(f.neg(f.square(x))), 2 * std::numbers::inv_sqrtpi))

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

DLC_PASSES_WHERE(ReluOp, f.greater(y, 0))
DLC_DERIVATIVE(SigmoidOp, f.mul(y, f.from(1, y)))
DLC_DERIVATIVE(SoftplusOp, f.sigmoid(x))
DLC_DERIVATIVE(SoftsignOp, f.reciprocal(f.square(f.shift(f.make<AbsOp>(x), 1))))

/// Of x * sigmoid(alpha * x), which is `y`.
static Value swishDerivative(Formula &f, Value x, Value y, double alpha) {
  Value s = f.sigmoid(alpha == 1 ? x : f.scale(x, alpha));
  Value slope = f.mul(y, f.from(1, s));
  return f.add(s, alpha == 1 ? slope : f.scale(slope, alpha));
}

DLC_DERIVATIVE(SiluOp, swishDerivative(f, x, y, 1))
DLC_DERIVATIVE(SwishOp, swishDerivative(f, x, y, getAlpha().convertToDouble()))

static Value mishDerivative(Formula &f, Value x) {
  Value t = f.make<TanhOp>(f.make<SoftplusOp>(x));
  Value slope = f.mul(f.from(1, f.square(t)), f.sigmoid(x));
  return f.add(t, f.mul(x, slope));
}

DLC_DERIVATIVE(MishOp, mishDerivative(f, x))

static Value hardSwishDerivative(Formula &f, Value x) {
  Value middle = f.shift(f.scale(x, 1.0 / 3), 0.5);
  Value upTo3 = f.select(f.greater(x, 3), 1, middle);
  return f.select(f.less(x, -3), 0, upTo3);
}

DLC_DERIVATIVE(HardSwishOp, hardSwishDerivative(f, x))

/// slope above 0 and factor * e^(x / width) elsewhere. The exponent is kept
/// from overflowing where it does not count, and times 0 would be NaN in the
/// derivative of this.
static Value expDerivative(Formula &f, Value x, double slope, double factor,
                           double width = 1) {
  Value low = f.make<MinOp>(x, f.number(x, 0));
  Value power = f.exp(width == 1 ? low : f.div(low, f.number(x, width)));
  return f.select(f.greater(x, 0), slope,
                  factor == 1 ? power : f.scale(power, factor));
}

DLC_DERIVATIVE(EluOp, expDerivative(f, x, 1, getAlpha().convertToDouble()))
DLC_DERIVATIVE(SeluOp, expDerivative(f, x, getGamma().convertToDouble(),
                                     getAlpha().convertToDouble() *
                                         getGamma().convertToDouble()))
DLC_DERIVATIVE(CeluOp, expDerivative(f, x, 1, 1, getAlpha().convertToDouble()))
DLC_DERIVATIVE(LeakyReluOp, f.select(f.greater(x, 0), 1,
                                     f.number(x, getAlpha().convertToDouble())))
DLC_DERIVATIVE(HardSigmoidOp,
               f.select(f.both(f.greater(y, 0), f.less(y, 1)),
                        f.number(y, getAlpha().convertToDouble()), 0))
DLC_PASSES_WHERE(ThresholdedReluOp, f.greater(x, getAlpha().convertToDouble()))
DLC_PASSES_WHERE(ShrinkOp, f.either(f.less(x, -getLambd().convertToDouble()),
                                    f.greater(x, getLambd().convertToDouble())))

/// The normal distribution up to x, and x times its density.
static Value geluDerivative(Formula &f, Value x) {
  double root = std::numbers::sqrt2;
  Value phi = f.scale(f.shift(f.make<ErfOp>(f.scale(x, 1 / root)), 1), 0.5);
  Value density = f.scale(f.exp(f.scale(f.square(x), -0.5)),
                          std::numbers::inv_sqrtpi / root);
  return f.add(phi, f.mul(x, density));
}

static Value tanhGeluDerivative(Formula &f, Value x) {
  double factor = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  double cubic = 0.044715;
  // From 100 on it is 0 or 1; powers overflow only there, in f16 first.
  x = f.make<ClampOp>(x, f.number(x, -100), f.number(x, 100));
  Value xx = f.square(x);
  Value inner = f.mul(f.scale(x, factor), f.shift(f.scale(xx, cubic), 1));
  Value t = f.make<TanhOp>(inner);
  Value slope = f.mul(f.from(1, f.square(t)),
                      f.scale(f.shift(f.scale(xx, 3 * cubic), 1), factor));
  return f.scale(f.add(f.shift(t, 1), f.mul(x, slope)), 0.5);
}

DLC_DERIVATIVE(GeluOp, getApproximate() == "tanh" ? tanhGeluDerivative(f, x)
                                                  : geluDerivative(f, x))

//===----------------------------------------------------------------------===//
// Conversion and identity
//===----------------------------------------------------------------------===//

/// Between floats; from integers there is no way back.
LogicalResult CastOp::buildGradients(Gradients &gradients) {
  gradients.give(0, [&] {
    Formula f(gradients);
    return f.cast(gradients.ofResult(), Formula::elementOf(getX()));
  });
  return success();
}

LogicalResult StopGradientOp::buildGradients(Gradients &) { return success(); }
bool StopGradientOp::passesGradientTo(unsigned) { return false; }
