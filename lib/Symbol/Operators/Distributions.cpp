// SPDX-License-Identifier: Apache-2.0

#include "Distributions.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/Twine.h"

#include <cmath>
#include <numbers>

using namespace dlc;
using namespace dlc::symbol;
using llvm::ArrayRef;
using llvm::Twine;
using mlir::Value;

Value symbol::drawPositive(LoweringContext &n, ArrayRef<int64_t> shape) {
  Value u = n.randomUniform(shape);
  return n.b.sub(n.scalarLike(u, 1), u);
}

/// The length and the angle of a vector of two.
Value symbol::drawNormal(LoweringContext &n, ArrayRef<int64_t> shape) {
  Value u = drawPositive(n, shape), v = n.randomUniform(shape);
  Value angle = n.b.mul(v, n.scalarLike(v, 2 * std::numbers::pi));
  Value square = n.b.mul(n.b.op("log", {u}), n.scalarLike(u, -2));
  return n.b.mul(n.b.op("sqrt", {square}), n.b.op("cos", {angle}));
}

Value symbol::drawExponential(LoweringContext &n, ArrayRef<int64_t> shape) {
  return n.b.op("neg", {n.b.op("log", {drawPositive(n, shape)})});
}

Value symbol::drawNegativeBinomial(LoweringContext &n, Value k, Value p) {
  Value scale = n.b.div(n.b.sub(n.scalarLike(p, 1), p), p);
  Value rate = n.b.mul(n.randomOf("random_gamma", k), scale);
  return n.randomOf("random_poisson", rate);
}

Value symbol::drawGeneralizedNegativeBinomial(LoweringContext &n, Value mu,
                                              Value alpha) {
  Value k = n.b.op("reciprocal", {alpha});
  // The first product is about 1, whatever alpha is.
  Value spread = n.b.mul(n.b.mul(n.randomOf("random_gamma", k), alpha), mu);
  Value rate = n.b.op("select", {n.b.op("is_inf", {k}), mu, spread});
  return n.randomOf("random_poisson", rate);
}

/// One draw has 24 bits, so that two reach all numbers of 48.
Value symbol::drawInteger(LoweringContext &n, ArrayRef<int64_t> shape,
                          int64_t count) {
  Value u = count > 1 << 16 ? drawFine(n, shape)
                            : n.b.cast(n.randomUniform(shape),
                                       n.b.opBuilder().getF64Type());
  Value place = n.b.op("floor", {n.b.mul(u, n.scalarLike(u, double(count)))});
  return n.b.cast(place, n.b.i64());
}

Value symbol::drawFine(LoweringContext &n, ArrayRef<int64_t> shape) {
  mlir::Type wide = n.b.opBuilder().getF64Type();
  Value high = n.b.cast(n.randomUniform(shape), wide);
  Value low = n.b.cast(n.randomUniform(shape), wide);
  return n.b.add(high, n.b.mul(low, n.scalarLike(low, 0x1p-24)));
}

Value symbol::drawClasses(LoweringContext &n, Value weights,
                          ArrayRef<int64_t> rows, int64_t draws) {
  auto rank = static_cast<int64_t>(rows.size()) + 1;
  int64_t classes = GraphBuilder::dimOf(weights, rank - 1);
  Value wide = n.b.cast(weights, n.b.opBuilder().getF64Type());
  Value sums = n.b.op("cumsum", {wide, n.b.intScalar(rank - 1)});
  Value sum = n.b.slice(sums, rank - 1, classes - 1, classes);
  Ints shape(rows);
  shape.push_back(draws);
  Value u = n.b.castLike(n.randomUniform(shape), wide);
  Value place = n.b.unsqueeze(n.b.mul(u, sum), {rank});
  Value isPast = n.b.op("less_equal", {n.b.unsqueeze(sums, {rank - 1}), place});
  Value index = n.b.reduce("reduce_sum", n.b.cast(isPast, n.b.i64()), {rank},
                           /*keepDims=*/false);
  return n.b.op("min", {index, n.b.intScalar(classes - 1)});
}

//===-- Checks ------------------------------------------------------------===//

bool symbol::checkPositive(LoweringContext &n, std::string_view parameter,
                           bool allowsZero) {
  double value = n.p.getFloat(parameter);
  if (std::isfinite(value) && (value > 0 || (allowsZero && value == 0)))
    return true;
  n.fail("parameter '" + Twine(std::string(parameter)) + "': expected " +
         (allowsZero ? "at least 0" : "more than 0") + ", got " +
         toText(n.p.get(parameter)));
  return false;
}

bool symbol::checkHeld(LoweringContext &n, std::string_view parameter,
                       double number, bool allowsZero) {
  auto type = n.b.opBuilder().getF32Type();
  llvm::APFloat held(number);
  bool losesInfo;
  (void)held.convert(type.getFloatSemantics(),
                     llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  if (held.isFinite() && (allowsZero || held.isZero() == (number == 0)))
    return true;
  n.fail("parameter '" + Twine(std::string(parameter)) +
         "': expected a number in the range of f32, got " +
         toText(n.p.get(parameter)));
  return false;
}
