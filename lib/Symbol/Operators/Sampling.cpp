// SPDX-License-Identifier: Apache-2.0
//
// Random numbers whose distributions are data: one distribution for each
// element, or row, of operands; and the order of rows.

#include "Distributions.h"
#include "Rules.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- One distribution for each element ---------------------------------===//

namespace {
/// The parameters as operands say them, each for all of its numbers: of the
/// shape of the result.
struct Sampled {
  Ints shape;
  /// What is computed in: f32, or f64 for results of that type.
  mlir::Type wide;
  mlir::Type type; ///< Of the result.
  llvm::SmallVector<Value> parameters;
};
} // namespace

/// None after a failure.
static std::optional<Sampled> readSampled(LoweringContext &n) {
  Ints each = n.shape(n.in(0), "parameters"), own = n.ints("shape");
  if (n.b.failed())
    return std::nullopt;
  Sampled sampled;
  sampled.shape = each;
  sampled.shape.append(own.begin(), own.end());
  mlir::Type given = GraphBuilder::elementOf(n.in(0));
  sampled.type = !n.p.isNone("dtype")                ? typeParameter(n, "dtype")
                 : llvm::isa<mlir::FloatType>(given) ? given
                                                     : n.b.f32();
  sampled.wide = sampled.type.isF64() ? sampled.type : n.b.f32();
  Ints behind = range(static_cast<int64_t>(each.size()),
                      static_cast<int64_t>(sampled.shape.size()));
  for (Value value : n.inputs()) {
    value = n.b.cast(value, sampled.wide);
    if (!behind.empty())
      value = n.b.unsqueeze(value, behind);
    sampled.parameters.push_back(
        n.b.op("expand", {value, n.b.ints(sampled.shape)}));
  }
  return sampled;
}

/// No gradient comes back to the parameters, as in MXNet.
static void setSampled(LoweringContext &n, const Sampled &sampled, Value y) {
  n.set(0, n.b.op("stop_gradient", {n.b.cast(y, sampled.type)}));
}

/// `numbers` where `condition` holds, and NaN elsewhere.
static Value orNan(LoweringContext &n, Value condition, Value numbers) {
  return n.b.op("select", {condition, numbers, n.scalarLike(numbers, NAN)});
}

static void sampleUniform(LoweringContext &n) {
  auto s = readSampled(n);
  if (!s)
    return;
  Value low = s->parameters[0], high = s->parameters[1];
  Value u = n.b.cast(n.randomUniform(s->shape), s->wide);
  // Their difference may be more than any number.
  Value rest = n.b.sub(n.scalarLike(u, 1), u);
  Value y = n.b.add(n.b.mul(low, rest), n.b.mul(high, u));
  y = orNan(n, n.b.op("less_equal", {low, high}), y);
  y = n.b.cast(y, s->type);
  low = n.b.cast(low, s->type);
  // Sum and type may round up to the end.
  Value isAtEnd = n.b.op("greater_equal", {y, n.b.cast(high, s->type)});
  setSampled(n, *s, n.b.op("select", {isAtEnd, low, y}));
}

static void sampleNormal(LoweringContext &n) {
  auto s = readSampled(n);
  if (!s)
    return;
  Value mean = s->parameters[0], deviation = s->parameters[1];
  Value y = n.b.cast(drawNormal(n, s->shape), s->wide);
  y = n.b.add(n.b.mul(y, deviation), mean);
  Value zero = n.scalarLike(deviation, 0);
  y = orNan(n, n.b.op("greater_equal", {deviation, zero}), y);
  setSampled(n, *s, y);
}

static void sampleExponential(LoweringContext &n) {
  auto s = readSampled(n);
  if (!s)
    return;
  Value rate = s->parameters[0];
  Value y = n.b.cast(drawExponential(n, s->shape), s->wide);
  y = n.b.div(y, rate);
  y = orNan(n, n.b.op("greater", {rate, n.scalarLike(rate, 0)}), y);
  setSampled(n, *s, y);
}

static void sampleGamma(LoweringContext &n) {
  auto s = readSampled(n);
  if (!s)
    return;
  Value alpha = s->parameters[0], beta = s->parameters[1];
  Value y = n.randomOf("random_gamma", n.b.cast(alpha, n.b.f32()));
  y = n.b.mul(n.b.cast(y, s->wide), beta);
  Value zero = n.scalarLike(alpha, 0);
  Value isOne = n.b.op("logical_and", {n.b.op("greater", {alpha, zero}),
                                       n.b.op("greater", {beta, zero})});
  setSampled(n, *s, orNan(n, isOne, y));
}

/// Of whole numbers; parameters go to `draw` as f32.
template <size_t count, typename Draw>
static void sampleCounts(LoweringContext &n, Draw &&draw) {
  auto s = readSampled(n);
  if (!s)
    return;
  Value parameters[count];
  for (size_t i = 0; i < count; ++i)
    parameters[i] = n.b.cast(s->parameters[i], n.b.f32());
  setSampled(n, *s, draw(parameters));
}

static void samplePoisson(LoweringContext &n) {
  sampleCounts<1>(n,
                  [&](Value *p) { return n.randomOf("random_poisson", p[0]); });
}

static void sampleNegativeBinomial(LoweringContext &n) {
  sampleCounts<2>(n, [&](Value *p) {
    Value isOne = n.b.op("logical_and",
                         {n.b.op("greater", {p[1], n.scalarLike(p[1], 0)}),
                          n.b.op("less_equal", {p[1], n.scalarLike(p[1], 1)})});
    return orNan(n, isOne, drawNegativeBinomial(n, p[0], p[1]));
  });
}

static void sampleGeneralizedNegativeBinomial(LoweringContext &n) {
  sampleCounts<2>(n, [&](Value *p) {
    Value zero = n.scalarLike(p[0], 0);
    Value isOne =
        n.b.op("logical_and", {n.b.op("greater_equal", {p[0], zero}),
                               n.b.op("greater_equal", {p[1], zero})});
    return orNan(n, isOne, drawGeneralizedNegativeBinomial(n, p[0], p[1]));
  });
}

//===-- One distribution for each row -------------------------------------===//

/// How many classes a type can tell apart by whole numbers from 0.
static int64_t mostClasses(mlir::Type type) {
  if (auto real = llvm::dyn_cast<mlir::FloatType>(type))
    return (int64_t(1) << real.getFPMantissaWidth()) + 1;
  unsigned bits = type.getIntOrFloatBitWidth() - !type.isUnsignedInteger();
  return int64_t(1) << std::min(bits, 62u);
}

static void sampleMultinomial(LoweringContext &n) {
  Ints shape = n.shape(n.in(0), "data"), own = n.ints("shape");
  if (n.b.failed())
    return;
  if (shape.empty() || shape.back() == 0)
    return n.fail(
        "expected data with rows of at least one class, got " +
        toText(Shape(std::vector<int64_t>(shape.begin(), shape.end()))));
  int64_t classes = shape.pop_back_val(), draws = 1;
  if (classes > mostClasses(typeParameter(n, "dtype")))
    return n.fail("parameter 'dtype': expected a type for " + Twine(classes) +
                  " classes, got " + toText(n.p.get("dtype")));
  for (int64_t extent : own)
    draws *= extent;
  Value index = drawClasses(n, n.in(0), shape, draws);
  Ints result = shape;
  result.append(own.begin(), own.end());
  if (result.empty())
    result.push_back(1);
  n.set(0, n.b.reshape(n.b.cast(index, typeParameter(n, "dtype")), result));
  if (!n.p.getBool("get_prob"))
    return;
  auto axis = static_cast<int64_t>(shape.size());
  Value chosen = n.b.op("gather_elements", {n.in(0), index}, {{"axis", axis}});
  n.set(1, n.b.reshape(n.b.op("log", {chosen}), result));
}

/// In the order of one random number for each row.
static void lowerShuffle(LoweringContext &n) {
  Ints shape = n.shape(n.in(0), "data");
  if (n.b.failed())
    return;
  if (shape.empty())
    return n.fail("expected data of at least 1 dimension, got 0");
  Value keys = drawFine(n, shape.front());
  Value order =
      n.b.ops("top_k", {keys, n.b.ints(shape.front())}, {{"axis", 0}})[1];
  n.set(0, n.b.op("gather", {n.in(0), order}, {{"axis", 0}}));
}

/// Logarithms of numbers of (0, 1].
static Value drawLogarithm(LoweringContext &n, llvm::ArrayRef<int64_t> shape) {
  Value u = drawFine(n, shape);
  return n.b.op("log", {n.b.sub(n.scalarLike(u, 1), u)});
}

/// How much of [0, log(end)] rounding exp() to the next class + 1 gives to
/// each of `classes`.
static Value zipfianMass(LoweringContext &n, Value classes, double end) {
  Value x = n.b.cast(classes, n.b.opBuilder().getF64Type());
  Value high =
      n.b.op("min", {n.b.add(x, n.scalarLike(x, 1.5)), n.scalarLike(x, end)});
  Value low =
      n.b.op("max", {n.b.add(x, n.scalarLike(x, 0.5)), n.scalarLike(x, 1)});
  return n.b.op("log", {n.b.div(high, low)});
}

/// Draws that are thrown away where they are there already find classes in the
/// order of exponential numbers with their masses as rates (Efraimidis and
/// Spirakis, "Weighted random sampling with a reservoir", 2006), and however
/// long each of them takes tells nothing about which one it is: a geometric
/// number, by the masses of those in front of it.
static void sampleUniqueZipfian(LoweringContext &n) {
  Ints shape = n.ints("shape");
  int64_t classes = n.p.getInt("range_max");
  if (shape.size() != 2)
    return n.fail("parameter 'shape': expected 2 dimensions, got " +
                  toText(n.p.get("shape")));
  int64_t rows = shape[0], draws = shape[1];
  if (draws > classes)
    return n.fail("parameter 'shape': expected at most 'range_max', " +
                  Twine(classes) + ", classes a row, got " + Twine(draws));
  // One class has all of an interval, of any width.
  double end = std::max(static_cast<double>(classes), 1.5);
  Value all = n.b.op(
      "range", {n.b.intScalar(0), n.b.intScalar(classes), n.b.intScalar(1)});
  Value times = n.b.op("neg", {n.b.div(drawLogarithm(n, {rows, classes}),
                                       zipfianMass(n, all, end))});
  Value drawn = n.b.ops("top_k", {times, n.b.ints(draws)},
                        {{"axis", 1}, {"largest", false}})[1];
  n.set(0, drawn);

  Value masses = zipfianMass(n, drawn, end);
  masses = n.b.div(masses, n.scalarLike(masses, std::log(end)));
  Value before =
      n.b.op("cumsum", {masses, n.b.intScalar(1)}, {{"exclusive", true}});
  // A sum must not round up to 1: the last class is always left.
  double least = std::log(end / (end - 0.5)) / std::log(end);
  before = n.b.op("min", {before, n.scalarLike(before, 1 - least)});
  Value more = n.b.op(
      "floor", {n.b.div(drawLogarithm(n, shape), n.b.op("log", {before}))});
  Value trials = n.b.add(more, n.scalarLike(more, 1));
  trials = n.b.reduce("reduce_sum", trials, {1}, /*keepDims=*/false);
  n.set(1, n.b.cast(trials, n.b.i64()));
}

//===-- Shapes and types --------------------------------------------------===//

static void relateParameterShapes(ShapeRelation &r) { r.equateInputs(0, 1); }

/// Operands have one type; the numbers have it too where it is of floats.
static void relateSample(TypeRelation &r) {
  r.equateInputs(0, 1);
  if (!r.parameters.isNone("dtype"))
    r.setOutput(0, r.parameters.getType("dtype"));
  else if (r.input(0) != DLC_INVALID_TYPE)
    r.setOutput(0, rt::isFloat(r.input(0)) ? r.input(0) : DLC_F32);
  if (r.output(0) != DLC_INVALID_TYPE && !rt::isFloat(r.output(0)))
    r.fail("parameter 'dtype': expected float16, float32 or float64, got " +
           toText(r.output(0)));
}

static void relateClasses(TypeRelation &r) {
  r.setOutput(0, DLC_I64);
  r.setOutput(1, DLC_I64);
}

static void relateMultinomial(TypeRelation &r) {
  r.setOutput(0, r.parameters.getType("dtype"));
  r.equate(0, 1);
  if (r.input(0) != DLC_INVALID_TYPE && !rt::isFloat(r.input(0)))
    r.fail("expected data of floats, got " + toText(r.input(0)));
}

//===-- Declarations ------------------------------------------------------===//

static constexpr std::string_view kDetails =
    "Other ones in each run, for training or not. The result has the "
    "dimensions of the operands and those of shape behind them. Where the "
    "operands' elements are parameters of no distribution, it is NaN.";

static Parameter ownShape() {
  return optional("shape", ParameterKind::Ints, "()",
                  "Numbers of each distribution; (): one.")
      .within(1, kMaxExtent);
}

static Operator sample(std::string_view name, std::string_view alias,
                       std::string_view summary, std::vector<Input> inputs,
                       void (*lower)(LoweringContext &)) {
  return {.name = name,
          .aliases = {alias},
          .summary = summary,
          .details = kDetails,
          .parameters = {ownShape(),
                         optional("dtype", ParameterKind::Type, "None",
                                  "Type of the elements; None: that of the "
                                  "operands, or float32.")},
          .inputs = std::move(inputs),
          .relateShapes = relateParameterShapes,
          .relateTypes = relateSample,
          .lower = lower};
}

static std::vector<Operator> makeOperators() {
  std::vector<Operator> rows = {
      sample(
          "_sample_uniform", "sample_uniform",
          "Random numbers of intervals [low, high), of which MXNet may round "
          "some up to high",
          {{"low"}, {"high"}}, sampleUniform),
      sample("_sample_normal", "sample_normal",
             "Random numbers of normal distributions of mean mu and deviation "
             "sigma",
             {{"mu"}, {"sigma"}}, sampleNormal),
      sample("_sample_exponential", "sample_exponential",
             "Random numbers of exponential distributions of rate lam",
             {{"lam"}}, sampleExponential),
      sample("_sample_gamma", "sample_gamma",
             "Random numbers of gamma distributions of shape alpha and scale "
             "beta",
             {{"alpha"}, {"beta"}}, sampleGamma),
      sample("_sample_poisson", "sample_poisson",
             "Random numbers of Poisson distributions of mean lam", {{"lam"}},
             samplePoisson),
      sample("_sample_negative_binomial", "sample_negative_binomial",
             "Random numbers of failures before k successes of probability p",
             {{"k"}, {"p"}}, sampleNegativeBinomial),
      sample("_sample_generalized_negative_binomial",
             "sample_generalized_negative_binomial",
             "Random numbers of negative binomial distributions of mean mu and "
             "dispersion alpha",
             {{"mu"}, {"alpha"}}, sampleGeneralizedNegativeBinomial),
      {.name = "_sample_multinomial",
       .aliases = {"sample_multinomial"},
       .summary = "Random classes by rows of probabilities",
       .details =
           "Other ones in each run, for training or not. Classes come in "
           "proportion to their row, which need not add up to 1 (MXNet "
           "gives what is missing of 1 to the last class, and nothing "
           "to what is beyond 1); one of zeros gives the last class.",
       .parameters = {ownShape(),
                      optional("get_prob", ParameterKind::Bool, "False",
                               "Also give the logarithms of the data of what "
                               "was drawn, which have a gradient."),
                      optional("dtype", ParameterKind::Type, "int32",
                               "Type of the classes.")},
       .outputs = {{"output", unless("get_prob")},
                   {"output0", when("get_prob")},
                   {"output1", when("get_prob")}},
       .relateTypes = relateMultinomial,
       .lower = sampleMultinomial},
      {.name = "_sample_unique_zipfian",
       .summary = "Random classes, different ones in each row, the first ones "
                  "more often",
       .details =
           "Other ones in each run, for training or not, and how many draws "
           "it takes until a row has them, of which those that are there "
           "already do not count. A class is what a draw, exp(u * "
           "log(range_max)) with u uniform in [0, 1), is nearest to, less 1; "
           "the law of MXNet's code, not of its documentation. Each row takes "
           "work and memory in proportion to range_max.",
       .parameters = {required("range_max", ParameterKind::Int,
                               "The number of classes.")
                          .within(1, INT32_MAX),
                      optional("shape", ParameterKind::Ints, "()",
                               "Rows and classes in each.")
                          .within(1, kMaxExtent)},
       .inputs = {},
       .outputs = {{"output0"}, {"output1"}},
       .relateTypes = relateClasses,
       .lower = sampleUniqueZipfian},
      {.name = "_shuffle",
       .aliases = {"_npi_shuffle", "shuffle"},
       .summary = "The rows in random order",
       .details = "Another one in each run, for training or not.",
       .relateShapes = keepsShape,
       .relateTypes = keepsType,
       .lower = lowerShuffle}};
  llvm::append_range(rows, densityOperators());
  return rows;
}

std::span<const Operator> dlc::symbol::samplingOperators() {
  static const std::vector<Operator> rows = makeOperators();
  return rows;
}
