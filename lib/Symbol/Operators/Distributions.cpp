// SPDX-License-Identifier: Apache-2.0

#include "Distributions.h"

#include <numbers>

using namespace dlc;
using namespace dlc::symbol;
using llvm::ArrayRef;
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
