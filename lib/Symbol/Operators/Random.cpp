// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of one distribution, other ones in each run: functions of the
// network's state of random numbers, so not those of MXNet, but of the same
// distributions.

#include "Distributions.h"
#include "Rules.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

/// That of operand `data`, or parameter `shape`; none after a failure.
static std::optional<Ints> shapeOf(LoweringContext &n) {
  if (n.inputCount()) {
    Ints shape = n.shape(n.in(0), "data");
    return n.b.failed() ? std::nullopt : std::optional(shape);
  }
  Ints shape = n.ints("shape");
  // Of NumPy's shapes these are known, too.
  if (n.hasNumpyShapes() || (!shape.empty() && !llvm::is_contained(shape, 0)))
    return shape;
  n.unsupported("a shape with unknown dimensions");
  return std::nullopt;
}

/// That of operand `data`, or parameter `dtype`, or f32.
static mlir::Type typeOf(LoweringContext &n) {
  if (n.inputCount())
    return GraphBuilder::elementOf(n.in(0));
  return n.p.isNone("dtype") ? n.b.f32() : typeParameter(n, "dtype");
}

static void setNumbers(LoweringContext &n, Value numbers) {
  n.set(0, n.b.cast(numbers, typeOf(n)));
}

/// Numbers in the type that they are computed with further on: f64 where the
/// result has it.
static Value widened(LoweringContext &n, Value numbers) {
  return typeOf(n).isF64() ? n.b.cast(numbers, typeOf(n)) : numbers;
}

/// A parameter, one for each number.
static Value repeated(LoweringContext &n, std::string_view parameter,
                      const Ints &shape) {
  Value one = n.b.scalar(n.b.f32(), n.p.getFloat(parameter));
  return n.b.op("expand", {one, n.b.ints(shape)});
}

/// `value` as `type` has it.
static llvm::APFloat round(double value, mlir::FloatType type,
                           llvm::APFloat::roundingMode mode) {
  llvm::APFloat rounded(value);
  bool losesInfo;
  (void)rounded.convert(type.getFloatSemantics(), mode, &losesInfo);
  return rounded;
}

static bool holds(mlir::FloatType type, double value) {
  return round(value, type, llvm::APFloat::rmNearestTiesToEven).isFinite();
}

/// The largest number of `type` in front of `high`, but not less than `low` is
/// in `type`.
static double lastOf(double low, double high, mlir::FloatType type) {
  llvm::APFloat first = round(low, type, llvm::APFloat::rmNearestTiesToEven);
  llvm::APFloat last = round(high, type, llvm::APFloat::rmTowardNegative);
  if (last.convertToDouble() >= high)
    (void)last.next(/*nextDown=*/true);
  return std::max(first.convertToDouble(), last.convertToDouble());
}

static void lowerUniform(LoweringContext &n) {
  double low = n.p.getFloat("low"), high = n.p.getFloat("high");
  auto type = llvm::cast<mlir::FloatType>(typeOf(n));
  mlir::FloatType wide = n.b.opBuilder().getF32Type();
  if (type.getWidth() > wide.getWidth())
    wide = type;
  auto got = ", got " + toText(n.p.get("high"));
  if (!holds(type, low))
    return n.fail("parameter 'low': expected a number of the type, got " +
                  toText(n.p.get("low")));
  if (!holds(type, high) || !holds(wide, high - low))
    return n.fail("parameter 'high': expected a number of the type, as its "
                  "difference to 'low', " +
                  toText(n.p.get("low")) + got);
  if (!(low <= high))
    return n.fail("parameter 'high': expected at least 'low', " +
                  toText(n.p.get("low")) + got);
  std::optional<Ints> shape = shapeOf(n);
  if (!shape)
    return;
  Value u = n.b.cast(n.randomUniform(*shape), wide);
  Value y =
      n.b.add(n.b.mul(u, n.scalarLike(u, high - low)), n.scalarLike(u, low));
  y = n.b.cast(y, type);
  // Sum and type round up to the end.
  n.set(0, n.b.op("min", {y, n.scalarLike(y, lastOf(low, high, type))}));
}

static void lowerNormal(LoweringContext &n) {
  if (!checkPositive(n, "scale"))
    return;
  std::optional<Ints> shape = shapeOf(n);
  if (!shape)
    return;
  Value y = widened(n, drawNormal(n, *shape));
  setNumbers(n, n.b.add(n.b.mul(y, n.scalarLike(y, n.p.getFloat("scale"))),
                        n.scalarLike(y, n.p.getFloat("loc"))));
}

static void lowerExponential(LoweringContext &n) {
  if (!checkPositive(n, "lam"))
    return;
  if (std::optional<Ints> shape = shapeOf(n)) {
    Value y = widened(n, drawExponential(n, *shape));
    setNumbers(n, n.b.mul(y, n.scalarLike(y, 1 / n.p.getFloat("lam"))));
  }
}

static void lowerGamma(LoweringContext &n) {
  if (!checkPositive(n, "alpha") || !checkPositive(n, "beta") ||
      !checkHeld(n, "alpha", n.p.getFloat("alpha")))
    return;
  if (std::optional<Ints> shape = shapeOf(n)) {
    Value y =
        widened(n, n.randomOf("random_gamma", repeated(n, "alpha", *shape)));
    setNumbers(n, n.b.mul(y, n.scalarLike(y, n.p.getFloat("beta"))));
  }
}

static void lowerPoisson(LoweringContext &n) {
  if (!checkPositive(n, "lam", /*allowsZero=*/true) ||
      !checkHeld(n, "lam", n.p.getFloat("lam")))
    return;
  if (std::optional<Ints> shape = shapeOf(n))
    setNumbers(n, n.randomOf("random_poisson", repeated(n, "lam", *shape)));
}

static void lowerNegativeBinomial(LoweringContext &n) {
  double p = n.p.getFloat("p");
  if (!(p > 0 && p <= 1))
    return n.fail("parameter 'p': expected more than 0 and at most 1, got " +
                  toText(n.p.get("p")));
  if (!checkHeld(n, "p", (1 - p) / p))
    return;
  std::optional<Ints> shape = shapeOf(n);
  if (!shape)
    return;
  Value one = n.b.scalar(n.b.f32(), static_cast<double>(n.p.getInt("k")));
  Value k = n.b.op("expand", {one, n.b.ints(*shape)});
  setNumbers(n, drawNegativeBinomial(n, k, repeated(n, "p", *shape)));
}

static void lowerGeneralizedNegativeBinomial(LoweringContext &n) {
  if (!checkPositive(n, "mu", /*allowsZero=*/true) ||
      !checkPositive(n, "alpha", /*allowsZero=*/true) ||
      !checkHeld(n, "mu", n.p.getFloat("mu")) ||
      !checkHeld(n, "alpha", n.p.getFloat("alpha")))
    return;
  if (std::optional<Ints> shape = shapeOf(n))
    setNumbers(n,
               drawGeneralizedNegativeBinomial(n, repeated(n, "mu", *shape),
                                               repeated(n, "alpha", *shape)));
}

static void lowerInteger(LoweringContext &n) {
  int64_t low = n.p.getInt("low"), high = n.p.getInt("high"), count = 0;
  if (low >= high)
    return n.fail("parameter 'high': expected more than 'low', " + Twine(low) +
                  ", got " + Twine(high));
  if (__builtin_sub_overflow(high, low, &count) || count > kMostIntegers)
    return n.unsupported("integers from " + Twine(low) + " to " + Twine(high) +
                         ", which are more than 2^48");
  mlir::Type type = n.p.isNone("dtype") ? n.b.elementType(DLC_I32)
                                        : typeParameter(n, "dtype");
  if (type.isInteger(32) && (low < INT32_MIN || high - 1 > INT32_MAX))
    return n.fail("expected integers of int32, got those from " + Twine(low) +
                  " to " + Twine(high));
  std::optional<Ints> shape = shapeOf(n);
  if (!shape)
    return;
  Value integer = drawInteger(n, *shape, count);
  n.set(0, n.b.cast(n.b.add(integer, n.b.intScalar(low)), type));
}

//===-- Types -------------------------------------------------------------===//

static void setDtype(TypeRelation &r, rt::DataType otherwise) {
  r.setOutput(0, r.parameters.isNone("dtype") ? otherwise
                                              : r.parameters.getType("dtype"));
}

static void relateFloats(TypeRelation &r) {
  setDtype(r, DLC_F32);
  if (r.outputCount() && !rt::isFloat(r.output(0)))
    r.fail("parameter 'dtype': expected float16, float32 or float64, got " +
           toText(r.output(0)));
}

static void relateIntegers(TypeRelation &r) {
  setDtype(r, DLC_I32);
  if (r.outputCount() && r.output(0) != DLC_I32 && r.output(0) != DLC_I64)
    r.fail("parameter 'dtype': expected int32 or int64, got " +
           toText(r.output(0)));
}

/// Those of the operand, floats.
static void relateLike(TypeRelation &r) {
  keepsType(r);
  if (r.inputCount() && r.input(0) != DLC_INVALID_TYPE &&
      !rt::isFloat(r.input(0)))
    r.fail("expected data of floats, got " + toText(r.input(0)));
}

//===-- Declarations ------------------------------------------------------===//

static constexpr std::string_view kDetails =
    "Other ones in each run, for training or not.";

/// `own` parameters come in front of those that all have.
static Operator random(std::string_view name,
                       std::vector<std::string_view> aliases,
                       std::string_view summary, std::vector<Parameter> own,
                       void (*lower)(LoweringContext &)) {
  own.push_back(optional("shape", ParameterKind::Ints, "()", "The shape.")
                    .within(0, kMaxExtent));
  own.push_back(ignored("ctx", ParameterKind::Text, ""));
  own.push_back(optional("dtype", ParameterKind::Type, "None",
                         "Type of the elements; None: float32, or int32 of "
                         "integers."));
  return {.name = name,
          .aliases = std::move(aliases),
          .summary = summary,
          .details = kDetails,
          .parameters = std::move(own),
          .inputs = {},
          .relateTypes = relateFloats,
          .lower = lower};
}

namespace {
/// A distribution with parameters that are numbers.
struct Distribution {
  std::string_view name, likeName;
  std::vector<std::string_view> aliases;
  std::string_view summary, likeSummary;
  std::vector<Parameter> parameters;
  void (*lower)(LoweringContext &);
};
} // namespace

static Parameter number(std::string_view name, std::string_view fallback,
                        std::string_view summary) {
  return optional(name, ParameterKind::Float, fallback, summary);
}

static std::vector<Distribution> distributions() {
  return {
      {"_random_uniform",
       "_random_uniform_like",
       {"uniform", "random_uniform"},
       "Random numbers of an interval",
       "As many random numbers of an interval as there is data",
       {number("low", "0", "Where it begins."),
        number("high", "1", "Where it ends, exclusive.")},
       lowerUniform},
      {"_random_normal",
       "_random_normal_like",
       {"normal", "random_normal"},
       "Random numbers of a normal distribution",
       "As many random numbers of a normal distribution as there is data",
       {number("loc", "0", "Its mean."),
        number("scale", "1", "Its standard deviation, above 0.")},
       lowerNormal},
      {"_random_exponential",
       "_random_exponential_like",
       {"random_exponential"},
       "Random numbers of an exponential distribution",
       "As many random numbers of an exponential distribution as there is data",
       {number("lam", "1", "Its rate, above 0.")},
       lowerExponential},
      {"_random_gamma",
       "_random_gamma_like",
       {"random_gamma"},
       "Random numbers of a gamma distribution",
       "As many random numbers of a gamma distribution as there is data",
       {number("alpha", "1", "Its shape, above 0."),
        number("beta", "1", "Its scale, above 0: the mean is alpha * beta.")},
       lowerGamma},
      {"_random_poisson",
       "_random_poisson_like",
       {"random_poisson"},
       "Random numbers of a Poisson distribution",
       "As many random numbers of a Poisson distribution as there is data",
       {number("lam", "1", "Its mean, at least 0.")},
       lowerPoisson},
      {"_random_negative_binomial",
       "_random_negative_binomial_like",
       {"random_negative_binomial"},
       "Random numbers of failures before some successes",
       "As many random numbers of failures before some successes as there is "
       "data",
       {optional("k", ParameterKind::Int, "1", "The successes.")
            .within(0, kMaxExtent),
        number("p", "1", "Their probability, above 0 and at most 1.")},
       lowerNegativeBinomial},
      {"_random_generalized_negative_binomial",
       "_random_generalized_negative_binomial_like",
       {"random_generalized_negative_binomial"},
       "Random numbers of a negative binomial distribution by its mean",
       "As many random numbers of a negative binomial distribution, by its "
       "mean, as there is data",
       {number("mu", "1", "Its mean, at least 0."),
        number(
            "alpha", "1",
            "Its dispersion, at least 0: the variance is mu + alpha * mu^2.")},
       lowerGeneralizedNegativeBinomial}};
}

std::span<const Operator> dlc::symbol::randomOperators() {
  static const std::vector<Operator> rows = [] {
    Operator integer =
        random("_random_randint", {"_npi_random_randint", "random_randint"},
               "Random integers of an interval, their probabilities equal up "
               "to one part in 256",
               {required("low", ParameterKind::Int, "The smallest."),
                required("high", ParameterKind::Int,
                         "One more than the "
                         "largest.")},
               lowerInteger);
    integer.relateTypes = relateIntegers;
    std::vector<Operator> all = {integer};
    for (const Distribution &each : distributions()) {
      all.push_back(random(each.name, each.aliases, each.summary,
                           each.parameters, each.lower));
      all.push_back({.name = each.likeName,
                     .summary = each.likeSummary,
                     .details = kDetails,
                     .parameters = each.parameters,
                     .relateShapes = keepsShape,
                     .relateTypes = relateLike,
                     .lower = each.lower});
    }
    return all;
  }();
  return rows;
}
