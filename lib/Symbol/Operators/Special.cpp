// SPDX-License-Identifier: Apache-2.0
//
// Functions of one operand that Graph does not have, out of those that it has,
// in f64: what they are off by is lost when the result becomes f32.

#include "Rules.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace dlc;
using namespace dlc::symbol;
using mlir::Value;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static Value asDouble(LoweringContext &n, Value x) {
  return n.b.cast(x, n.b.elementType(DLC_F64));
}

static Value choose(LoweringContext &n, Value condition, Value a, Value b) {
  return n.b.op("select", {condition, a, b});
}

//===-- Gamma -------------------------------------------------------------===//

/// ln of gamma(x) for x of at least 1/2 (C. Lanczos, A precision approximation
/// of the gamma function, 1964, with g = 7 and 9 terms: 1e-15 of the result).
static Value logGammaAbove(LoweringContext &n, Value x) {
  constexpr double terms[] = {676.5203681218851,     -1259.1392167224028,
                              771.32342877765313,    -176.61502916214059,
                              12.507343278686905,    -0.13857109526572012,
                              9.9843695780195716e-6, 1.5056327351493116e-7};
  auto number = [&](double value) { return n.scalarLike(x, value); };
  Value sum = number(0.99999999999980993);
  for (int i = 0; i < 8; ++i)
    sum = n.b.add(sum, n.b.div(number(terms[i]), n.b.add(x, number(i))));
  Value t = n.b.add(x, number(6.5));
  Value power = n.b.mul(n.b.sub(x, number(0.5)), n.b.op("log", {t}));
  Value rest = n.b.add(n.b.op("log", {sum}),
                       number(0.5 * std::log(2 * std::numbers::pi)));
  Value y = n.b.add(n.b.sub(power, t), rest);
  Value isInfinite = n.b.op("equal", {x, number(kInfinity)});
  return choose(n, isInfinite, number(kInfinity), y);
}

namespace {
/// What both functions are made of: gamma(x) is exp(log), or, below 1/2,
/// pi / (sine exp(log)), where sine is that of pi x.
struct GammaParts {
  Value isLow, log, sine;
  Value isPole; ///< 0, -1, -2, ...
};
} // namespace

/// Branches that are not taken have operands whose gradients are numbers.
static GammaParts gammaParts(LoweringContext &n, Value x) {
  auto number = [&](double value) { return n.scalarLike(x, value); };
  GammaParts parts;
  parts.isLow = n.b.op("less", {x, number(0.5)});
  Value high = choose(n, parts.isLow, n.b.sub(number(1), x), x);
  parts.log = logGammaAbove(n, high);
  Value low = choose(n, parts.isLow, x, number(0.25));
  Value below = n.b.op("floor", {low});
  Value fraction = n.b.sub(low, below);
  Value half = n.b.mul(below, number(0.5));
  Value isOdd = n.b.op("less", {n.b.op("floor", {half}), half});
  Value sine = n.b.op("sin", {n.b.mul(fraction, number(std::numbers::pi))});
  parts.sine = choose(n, isOdd, n.b.op("neg", {sine}), sine);
  parts.isPole = n.b.op("equal", {fraction, number(0)});
  return parts;
}

static void lowerGammaln(LoweringContext &n) {
  Value x = asDouble(n, n.in(0));
  GammaParts parts = gammaParts(n, x);
  Value ratio =
      n.b.div(n.scalarLike(x, std::numbers::pi), n.b.op("abs", {parts.sine}));
  Value low = n.b.sub(n.b.op("log", {ratio}), parts.log);
  n.set(0, n.b.castLike(choose(n, parts.isLow, low, parts.log), n.in(0)));
}

/// Negative integers have no gamma, zeros an infinite one of their sign.
static void lowerGamma(LoweringContext &n) {
  Value x = asDouble(n, n.in(0));
  GammaParts parts = gammaParts(n, x);
  Value high = n.b.op("exp", {parts.log});
  Value low =
      n.b.div(n.b.div(n.scalarLike(x, std::numbers::pi), parts.sine), high);
  Value zero = n.scalarLike(x, 0);
  Value ofPole =
      choose(n, n.b.op("less", {x, zero}), n.scalarLike(x, std::nan("")),
             n.b.div(n.scalarLike(x, 1), x));
  low = choose(n, parts.isPole, ofPole, low);
  n.set(0, n.b.castLike(choose(n, parts.isLow, low, high), n.in(0)));
}

//===-- Inverse error function --------------------------------------------===//

static Value polynomial(LoweringContext &n, Value x,
                        llvm::ArrayRef<double> terms) {
  Value sum = n.scalarLike(x, terms.front());
  for (double term : terms.drop_front())
    sum = n.b.add(n.b.mul(sum, x), n.scalarLike(x, term));
  return sum;
}

/// M. Giles, Approximating the erfinv function, 2010: 24 bits, which a step of
/// Newton's method doubles.
static void lowerErfinv(LoweringContext &n) {
  Value given = asDouble(n, n.in(0));
  auto number = [&](double value) { return n.scalarLike(given, value); };
  Value magnitude = n.b.op("abs", {given});
  Value isInside = n.b.op("less", {magnitude, number(1)});
  Value x = choose(n, isInside, given, number(0));
  Value w = n.b.op(
      "neg",
      {n.b.op("log", {n.b.mul(n.b.sub(number(1), x), n.b.add(number(1), x))})});
  Value isCentral = n.b.op("less", {w, number(5)});
  Value central = polynomial(n, n.b.sub(w, number(2.5)),
                             {2.81022636e-08, 3.43273939e-07, -3.5233877e-06,
                              -4.39150654e-06, 0.00021858087, -0.00125372503,
                              -0.00417768164, 0.246640727, 1.50140941});
  Value far = choose(n, isCentral, number(5), w);
  Value tail = polynomial(n, n.b.sub(n.b.op("sqrt", {far}), number(3)),
                          {-0.000200214257, 0.000100950558, 0.00134934322,
                           -0.00367342844, 0.00573950773, -0.0076224613,
                           0.00943887047, 1.00167406, 2.83297682});
  Value y = n.b.mul(choose(n, isCentral, central, tail), x);
  Value slope = n.b.mul(n.b.op("exp", {n.b.op("neg", {n.b.mul(y, y)})}),
                        number(2 * std::numbers::inv_sqrtpi));
  y = n.b.sub(y, n.b.div(n.b.sub(n.b.op("erf", {y}), x), slope));
  Value ofOne = n.b.mul(n.b.op("sign", {given}), number(kInfinity));
  Value isOne = n.b.op("equal", {magnitude, number(1)});
  Value outside = choose(n, isOne, ofOne, number(std::nan("")));
  n.set(0, n.b.castLike(choose(n, isInside, y, outside), n.in(0)));
}

//===-- Declarations ------------------------------------------------------===//

std::span<const Operator> dlc::symbol::specialOperators() {
  static const std::vector<Operator> rows = {
      {.name = "gamma",
       .aliases = {"_npx_gamma"},
       .summary = "The gamma function",
       .relateShapes = sameShapes,
       .lower = lowerGamma},
      {.name = "gammaln",
       .aliases = {"_npx_gammaln"},
       .summary = "Natural logarithm of the gamma function's absolute value",
       .relateShapes = sameShapes,
       .lower = lowerGammaln},
      {.name = "erfinv",
       .aliases = {"_npx_erfinv"},
       .summary = "Inverse of the error function",
       .relateShapes = sameShapes,
       .lower = lowerErfinv},
  };
  return rows;
}
