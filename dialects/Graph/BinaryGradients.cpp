// SPDX-License-Identifier: Apache-2.0
//
// Gradients of elementwise operations of two and three operands. What an
// operand was repeated for is summed when it is given.

#include "Formula.h"

using namespace mlir;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

LogicalResult AddOp::buildGradients(Gradients &gradients) {
  gradients.give(0, gradients.ofResult());
  gradients.give(1, gradients.ofResult());
  return success();
}

LogicalResult SubOp::buildGradients(Gradients &gradients) {
  Formula f(gradients);
  gradients.give(0, gradients.ofResult());
  gradients.give(1, [&] { return f.neg(gradients.ofResult()); });
  return success();
}

LogicalResult MulOp::buildGradients(Gradients &gradients) {
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(0, [&] { return f.mul(g, getB()); });
  gradients.give(1, [&] { return f.mul(g, getA()); });
  return success();
}

LogicalResult DivOp::buildGradients(Gradients &gradients) {
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(0, [&] { return f.div(g, getB()); });
  gradients.give(1, [&] { return f.neg(f.div(f.mul(g, getY()), getB())); });
  return success();
}

/// a - b * floor(a / b), where the quotient is a step; with `fmod` it is
/// rounded towards zero.
LogicalResult ModOp::buildGradients(Gradients &gradients) {
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(0, g);
  gradients.give(1, [&] {
    Value steps = f.make<RoundOp>(f.div(f.sub(getA(), getY()), getB()));
    return f.neg(f.mul(g, steps));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Of equals the first operand is the one chosen, as in MXNet.
template <typename ChoosesFirst>
static void giveChosen(Gradients &gradients, Value a, Value b) {
  Formula f(gradients);
  Value g = gradients.ofResult();
  Value first = f.make<ChoosesFirst>(a, b);
  gradients.give(0, [&] { return f.select(first, g, 0); });
  gradients.give(1, [&] { return f.select(first, 0, g); });
}

LogicalResult MaxOp::buildGradients(Gradients &gradients) {
  giveChosen<GreaterEqualOp>(gradients, getA(), getB());
  return success();
}

LogicalResult MinOp::buildGradients(Gradients &gradients) {
  giveChosen<LessEqualOp>(gradients, getA(), getB());
  return success();
}

LogicalResult SelectOp::buildGradients(Gradients &gradients) {
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(1, [&] { return f.select(getCond(), g, 0); });
  gradients.give(2, [&] { return f.select(getCond(), 0, g); });
  return success();
}

/// min(max(x, lo), hi); x counts as chosen where it equals a limit, as in
/// MXNet.
LogicalResult ClampOp::buildGradients(Gradients &gradients) {
  Formula f(gradients);
  Value g = gradients.ofResult();
  Value low = f.less(getX(), getLo());
  Value high = f.greater(f.make<MaxOp>(getX(), getLo()), getHi());
  gradients.give(0, [&] { return f.select(f.either(low, high), 0, g); });
  gradients.give(1, [&] {
    return f.select(f.both(low, f.make<LogicalNotOp>(high)), g, 0);
  });
  gradients.give(2, [&] { return f.select(high, g, 0); });
  return success();
}

bool ReplaceGradientOp::passesGradientTo(unsigned operand) {
  return operand == 1;
}

LogicalResult ReplaceGradientOp::buildGradients(Gradients &gradients) {
  gradients.give(1, [&]() -> Value {
    Formula f(gradients);
    return getScaled() ? f.mul(gradients.ofResult(), getGradient())
                       : getGradient();
  });
  return success();
}

LogicalResult PreluOp::buildGradients(Gradients &gradients) {
  Formula f(gradients);
  Value g = gradients.ofResult();
  Value isPositive = f.greater(getA(), 0);
  gradients.give(0, [&] { return f.select(isPositive, g, f.mul(g, getB())); });
  gradients.give(1, [&] { return f.select(isPositive, 0, f.mul(g, getA())); });
  return success();
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// b a^(b - 1), which is 0 for b = 0 even where a is, and ln(a) a^b, which is
/// taken to be 0 where a is.
LogicalResult PowOp::buildGradients(Gradients &gradients) {
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(0, [&] {
    Value b = getB();
    Value lower = f.make<PowOp>(getA(), f.shift(b, -1));
    Value slope = f.mul(f.cast(b, Formula::elementOf(getA())), lower);
    return f.select(f.make<EqualOp>(b, f.number(b, 0)), 0, f.mul(g, slope));
  });
  gradients.give(1, [&] {
    Value slope = f.mul(getY(), f.make<LogOp>(getA()));
    Value isZero = f.make<EqualOp>(getA(), f.number(getA(), 0));
    Value ofB = f.select(isZero, 0, f.mul(g, slope));
    return f.cast(ofB, Formula::elementOf(getB()));
  });
  return success();
}
