// SPDX-License-Identifier: Apache-2.0
//
// Densities of samples under distributions whose parameters are data. As in
// MXNet there is no check whether a sample is one of the distribution, and
// those of whole numbers have no gradient.

#include "Distributions.h"
#include "Rules.h"

#include <cmath>
#include <numbers>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

namespace {
/// f64 numbers: the logarithms of gamma functions nearly cancel. Parameters
/// have the sample's rank.
struct Density {
  LoweringContext &n;
  Value sample;
  llvm::SmallVector<Value> parameters;

  Value log(Value x) { return n.b.op("log", {x}); }
  Value plus(Value x, double number) {
    return n.b.add(x, n.scalarLike(x, number));
  }
  Value times(Value x, double number) {
    return n.b.mul(x, n.scalarLike(x, number));
  }
  Value inverse(Value x) { return n.b.div(n.scalarLike(x, 1), x); }
  Value negative(Value x) { return n.b.op("neg", {x}); }
  Value logGamma(Value x);
  /// Of `count` failures in front of `limit` successes of probability p, given
  /// the logarithms of that and of 1 - p.
  Value failures(Value count, Value limit, Value logP, Value logRest);
};
} // namespace

/// Stirling's series for x + 8, and how often x is a factor less: within 1e-12
/// for x above 0, as is the derivative that gradients make of it.
Value Density::logGamma(Value x) {
  constexpr int steps = 8;
  Value product = x;
  for (int i = 1; i < steps; ++i)
    product = n.b.mul(product, plus(x, i));
  Value far = plus(x, steps);
  // B(2k) / (2k (2k - 1)) of Bernoulli's numbers, the last first.
  constexpr double terms[] = {-1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
  Value one = inverse(far), square = n.b.mul(one, one), series;
  for (double term : terms)
    series = series ? plus(n.b.mul(series, square), term)
                    : n.scalarLike(square, term);
  Value stirling = n.b.sub(n.b.mul(plus(far, -0.5), log(far)), far);
  stirling = plus(stirling, 0.5 * std::log(2 * std::numbers::pi));
  return n.b.sub(n.b.add(stirling, n.b.mul(series, one)), log(product));
}

Value Density::failures(Value count, Value limit, Value logP, Value logRest) {
  Value ways = n.b.sub(logGamma(n.b.add(count, limit)),
                       n.b.add(logGamma(plus(count, 1)), logGamma(limit)));
  return n.b.add(ways, n.b.add(n.b.mul(limit, logP), n.b.mul(count, logRest)));
}

//===-- Logarithms of densities -------------------------------------------===//

static Value uniform(Density &d) {
  Value extent = d.n.b.sub(d.parameters[1], d.parameters[0]);
  Value y = d.negative(d.log(extent));
  return d.n.b.op("expand", {y, d.n.b.ints(d.n.shape(d.sample, "sample"))});
}

static Value normal(Density &d) {
  Value mean = d.parameters[0], deviation = d.parameters[1];
  Value place = d.n.b.div(d.n.b.sub(d.sample, mean), deviation);
  Value y = d.times(d.n.b.mul(place, place), -0.5);
  return d.plus(d.n.b.sub(y, d.log(deviation)),
                -0.5 * std::log(2 * std::numbers::pi));
}

/// Of shape alpha and rate beta, unlike random_gamma's scale.
static Value gammaOf(Density &d) {
  Value alpha = d.parameters[0], beta = d.parameters[1];
  Value y = d.n.b.mul(d.plus(alpha, -1), d.log(d.sample));
  y = d.n.b.add(d.n.b.mul(alpha, d.log(beta)), y);
  return d.n.b.sub(d.n.b.sub(y, d.n.b.mul(beta, d.sample)), d.logGamma(alpha));
}

static Value exponential(Density &d) {
  Value rate = d.parameters[0];
  return d.n.b.sub(d.log(rate), d.n.b.mul(rate, d.sample));
}

static Value poisson(Density &d) {
  Value mean = d.parameters[0];
  Value y = d.n.b.mul(d.sample, d.log(mean));
  return d.n.b.sub(d.n.b.sub(y, d.logGamma(d.plus(d.sample, 1))), mean);
}

static Value negativeBinomial(Density &d) {
  Value p = d.parameters[1];
  return d.failures(d.sample, d.parameters[0], d.log(p),
                    d.log(d.plus(d.negative(p), 1)));
}

/// 1 / alpha successes of probability 1 / (mu alpha + 1).
static Value generalizedNegativeBinomial(Density &d) {
  Value product = d.n.b.mul(d.parameters[0], d.parameters[1]);
  Value logP = d.negative(d.log(d.plus(product, 1)));
  return d.failures(d.sample, d.inverse(d.parameters[1]), logP,
                    d.n.b.add(d.log(product), logP));
}

/// Along the last dimension.
static Value dirichlet(Density &d) {
  Value alpha = d.parameters[0];
  int64_t last = d.n.rank(d.sample) - 1;
  auto sum = [&](Value x) {
    return d.n.b.reduce("reduce_sum", x, {last}, /*keepDims=*/false);
  };
  Value y = sum(d.n.b.mul(d.plus(alpha, -1), d.log(d.sample)));
  Value parts = d.n.b.sub(d.logGamma(sum(alpha)), sum(d.logGamma(alpha)));
  return d.n.b.add(y, parts);
}

//===-- Lowering ----------------------------------------------------------===//

namespace {
/// What a distribution is of.
enum class Samples { Real, Whole, Rows };
} // namespace

static bool startsWith(const Ints &shape, const Ints &begin) {
  return begin.size() <= shape.size() &&
         std::equal(begin.begin(), begin.end(), shape.begin());
}

/// The sample's dimensions are those of the parameters, and others behind them;
/// rows have theirs at the end of both.
template <Samples samples, Value (*logDensity)(Density &)>
static void lowerDensity(LoweringContext &n) {
  Ints shape = n.shape(n.in(0), "sample"), own = n.shape(n.in(1), "parameters");
  if (n.b.failed())
    return;
  Ints begin = own;
  constexpr bool hasRows = samples == Samples::Rows;
  bool fits = true;
  if (hasRows) {
    fits = !own.empty() && !shape.empty() && own.back() == shape.back();
    if (!begin.empty())
      begin.pop_back();
  }
  if (!fits || !startsWith(shape, begin) || own.size() > shape.size())
    return n.fail(
        "expected a sample of the parameters' dimensions " +
        toText(Shape(std::vector<int64_t>(own.begin(), own.end()))) +
        (hasRows ? " with others in front of the last, got "
                 : " and others behind them, got ") +
        toText(Shape(std::vector<int64_t>(shape.begin(), shape.end()))));
  mlir::Type type = GraphBuilder::elementOf(n.in(0));
  mlir::Type wide = n.b.opBuilder().getF64Type();
  Density d{n, n.b.cast(n.in(0), wide), {}};
  if (samples == Samples::Whole)
    d.sample = n.b.op("stop_gradient", {d.sample});
  auto first = static_cast<int64_t>(begin.size());
  auto more = static_cast<int64_t>(shape.size() - own.size());
  for (Value value : n.inputs().drop_front()) {
    value = n.b.cast(value, wide);
    d.parameters.push_back(
        more > 0 ? n.b.unsqueeze(value, range(first, first + more)) : value);
  }
  Value y = logDensity(d);
  if (!n.p.getBool("is_log"))
    y = n.b.op("exp", {y});
  y = n.b.cast(y, type);
  bool isScalar = hasRows && shape.size() == 1;
  n.set(0, isScalar && !n.hasNumpyShapes() ? n.b.reshape(y, 1) : y);
}

//===-- Declarations ------------------------------------------------------===//

/// All operands and the result have one type, a float.
static void relateTypes(TypeRelation &r) {
  r.equateAll();
  if (r.input(0) != DLC_INVALID_TYPE && !rt::isFloat(r.input(0)))
    r.fail("expected a sample of floats, got " + toText(r.input(0)));
}

static void relateShapes(ShapeRelation &r) {
  for (size_t i = 2; i < r.inputCount(); ++i)
    r.equateInputs(1, i);
}

template <Samples samples, Value (*logDensity)(Density &)>
static Operator density(std::string_view name, std::string_view alias,
                        std::string_view summary,
                        std::vector<std::string_view> parameters) {
  std::vector<Input> inputs = {{"sample"}};
  for (std::string_view parameter : parameters)
    inputs.push_back({parameter});
  return {.name = name,
          .aliases = {alias},
          .summary = summary,
          .details = "The sample has the dimensions of the parameters and "
                     "further ones behind them. What is no sample of the "
                     "distribution is not refused.",
          .parameters = {optional("is_log", ParameterKind::Bool, "False",
                                  "The logarithm of the density.")},
          .inputs = std::move(inputs),
          .relateShapes = relateShapes,
          .relateTypes = relateTypes,
          .lower = lowerDensity<samples, logDensity>};
}

std::vector<Operator> dlc::symbol::densityOperators() {
  using enum Samples;
  return {density<Real, uniform>("_random_pdf_uniform", "random_pdf_uniform",
                                 "Densities under uniform distributions",
                                 {"low", "high"}),
          density<Real, normal>("_random_pdf_normal", "random_pdf_normal",
                                "Densities under normal distributions of mean "
                                "mu and deviation sigma",
                                {"mu", "sigma"}),
          density<Real, gammaOf>("_random_pdf_gamma", "random_pdf_gamma",
                                 "Densities under gamma distributions of shape "
                                 "alpha and rate beta",
                                 {"alpha", "beta"}),
          density<Real, exponential>(
              "_random_pdf_exponential", "random_pdf_exponential",
              "Densities under exponential distributions of rate lam", {"lam"}),
          density<Whole, poisson>(
              "_random_pdf_poisson", "random_pdf_poisson",
              "Probabilities under Poisson distributions of mean lam", {"lam"}),
          density<Whole, negativeBinomial>(
              "_random_pdf_negative_binomial", "random_pdf_negative_binomial",
              "Probabilities of failures before k successes of probability p",
              {"k", "p"}),
          density<Whole, generalizedNegativeBinomial>(
              "_random_pdf_generalized_negative_binomial",
              "random_pdf_generalized_negative_binomial",
              "Probabilities under negative binomial distributions of mean mu "
              "and dispersion alpha",
              {"mu", "alpha"}),
          density<Rows, dirichlet>(
              "_random_pdf_dirichlet", "random_pdf_dirichlet",
              "Densities of rows under Dirichlet distributions", {"alpha"})};
}
