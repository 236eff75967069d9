// SPDX-License-Identifier: Apache-2.0
//
// NumPy's random numbers. Each parameter of a distribution is a number or an
// operand; operands are broadcast, and gradients come back to them where the
// numbers are a function of them (MXNet 1.9.1: src/operator/numpy/random).

#include "Distributions.h"
#include "Rules.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Parameters --------------------------------------------------------===//

namespace {
/// What a distribution's parameter has to be, so that it is one.
enum class Domain : uint8_t { Any, FromZero, AboveZero };

struct Draw {
  Ints shape; ///< Of the result.
  /// What is computed in: f32, or f64 for results of that type.
  mlir::Type wide;
  /// One for each parameter, of any shape that is broadcast to the result's.
  llvm::SmallVector<Value> parameters;
  /// Where the operands are of a distribution; null: everywhere.
  Value isOne;
};
} // namespace

/// None for operators that give f32 only.
static mlir::Type typeOf(LoweringContext &n, bool hasType) {
  return hasType ? typeParameter(n, "dtype") : n.b.f32();
}

static bool checkDomain(LoweringContext &n, std::string_view name,
                        Domain domain) {
  if (domain != Domain::Any)
    return checkPositive(n, name, domain == Domain::FromZero);
  if (std::isfinite(n.p.getFloat(name)))
    return true;
  n.fail("parameter '" + Twine(std::string(name)) +
         "': expected a finite number, got " + toText(n.p.get(name)));
  return false;
}

/// `x` and what else has to hold.
static Value both(LoweringContext &n, Value x, Value more) {
  return x ? n.b.op("logical_and", {x, more}) : more;
}

/// The shape that operands of these shapes have together; none after a failure.
static std::optional<Ints> broadcastShapes(LoweringContext &n) {
  Ints result;
  for (auto [operand, value] : llvm::enumerate(n.inputs())) {
    Ints shape = n.shape(value, "parameters");
    if (n.b.failed())
      return std::nullopt;
    result.insert(result.begin(),
                  std::max(shape.size(), result.size()) - result.size(), 1);
    size_t offset = result.size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &extent = result[offset + i];
      if (extent != 1 && shape[i] != 1 && extent != shape[i]) {
        n.fail("input '" + n.inputName(operand) + "': expected dimensions of " +
               Twine(extent) + " or 1, got " + Twine(shape[i]));
        return std::nullopt;
      }
      extent = extent == 1 ? shape[i] : extent;
    }
  }
  return result;
}

/// That of parameter `size`, with that of the operands behind it if `isBehind`,
/// or of the operands alone.
static std::optional<Ints> resultShape(LoweringContext &n, bool isBehind) {
  std::optional<Ints> given = broadcastShapes(n);
  if (!given || n.p.isNone("size"))
    return given;
  Ints size = n.ints("size");
  if (isBehind) {
    size.append(*given);
    return size;
  }
  size_t offset = size.size() - std::min(size.size(), given->size());
  bool fits = given->size() <= size.size();
  for (size_t i = 0; fits && i < given->size(); ++i)
    fits = (*given)[i] == 1 || (*given)[i] == size[offset + i];
  if (fits)
    return size;
  n.fail("parameter 'size': expected a shape that those of the operands are "
         "broadcast to, " +
         toText(*given) + ", got " + toText(n.p.get("size")));
  return std::nullopt;
}

using Names = std::initializer_list<std::pair<std::string_view, Domain>>;

/// None after a failure.
static std::optional<Draw> readDraw(LoweringContext &n, Names names,
                                    bool hasType = false,
                                    bool isBehind = false) {
  Draw draw;
  mlir::Type type = typeOf(n, hasType);
  draw.wide = type.isF64() ? type : n.b.f32();
  size_t operand = 0;
  for (const auto &[name, domain] : names) {
    if (!n.p.isNone(name)) {
      double number = n.p.getFloat(name);
      if (!checkDomain(n, name, domain) ||
          (draw.wide.isF32() &&
           !checkHeld(n, name, number, domain != Domain::AboveZero)))
        return std::nullopt;
      draw.parameters.push_back(n.b.scalar(draw.wide, number));
      continue;
    }
    Value value = n.b.cast(n.in(operand++), draw.wide);
    draw.parameters.push_back(value);
    if (domain != Domain::Any)
      draw.isOne =
          both(n, draw.isOne,
               n.b.op(domain == Domain::FromZero ? "greater_equal" : "greater",
                      {value, n.scalarLike(value, 0)}));
  }
  std::optional<Ints> shape = resultShape(n, isBehind);
  if (!shape || n.b.failed())
    return std::nullopt;
  draw.shape = std::move(*shape);
  return draw;
}

/// NaN where the parameters are of no distribution.
static void setDraw(LoweringContext &n, const Draw &draw, Value y,
                    bool hasType = false) {
  if (draw.isOne)
    y = n.b.op("select", {draw.isOne, y, n.scalarLike(y, NAN)});
  n.set(0, n.b.cast(y, typeOf(n, hasType)));
}

/// Of mean 1 and never 0, so that they have a logarithm.
static Value drawTime(LoweringContext &n, const Draw &draw) {
  Value y = drawExponential(n, draw.shape);
  return n.b.cast(n.b.op("max", {y, n.scalarLike(y, 0x1p-25)}), draw.wide);
}

//===-- Distributions -----------------------------------------------------===//

template <bool isBehind> static void lowerNormal(LoweringContext &n) {
  auto draw = readDraw(n, {{"loc", Domain::Any}, {"scale", Domain::FromZero}},
                       /*hasType=*/true, isBehind);
  if (!draw)
    return;
  Value y = n.b.cast(drawNormal(n, draw->shape), draw->wide);
  y = n.b.add(n.b.mul(y, draw->parameters[1]), draw->parameters[0]);
  setDraw(n, *draw, y, /*hasType=*/true);
}

/// From `low` to `high`, which may be the smaller one.
template <bool isBehind> static void lowerUniform(LoweringContext &n) {
  auto draw = readDraw(n, {{"low", Domain::Any}, {"high", Domain::Any}},
                       /*hasType=*/true, isBehind);
  if (!draw)
    return;
  Value low = draw->parameters[0], high = draw->parameters[1];
  Value u = n.b.cast(n.randomUniform(draw->shape), draw->wide);
  // Their difference may be more than any number.
  Value rest = n.b.sub(n.scalarLike(u, 1), u);
  Value y = n.b.add(n.b.mul(low, rest), n.b.mul(high, u));
  mlir::Type type = typeParameter(n, "dtype");
  y = n.b.cast(y, type);
  low = n.b.cast(low, type);
  high = n.b.cast(high, type);
  // Sum and type may round up to the end.
  Value isAtEnd = n.b.op("select", {n.b.op("less_equal", {low, high}),
                                    n.b.op("greater_equal", {y, high}),
                                    n.b.op("less_equal", {y, high})});
  y = n.b.op("select", {isAtEnd, low, y});
  n.set(0, n.b.op("stop_gradient", {y}));
}

/// Differences of two, and those of the logarithm of one, by a scale.
template <bool isGumbel> static void lowerLocated(LoweringContext &n) {
  auto draw = readDraw(n, {{"loc", Domain::Any}, {"scale", Domain::FromZero}});
  if (!draw)
    return;
  Value y = n.b.op("log", {drawTime(n, *draw)});
  y = isGumbel ? n.b.op("neg", {y})
               : n.b.sub(n.b.op("log", {drawTime(n, *draw)}), y);
  y = n.b.add(n.b.mul(y, draw->parameters[1]), draw->parameters[0]);
  setDraw(n, *draw, y);
}

static void lowerExponential(LoweringContext &n) {
  if (auto draw = readDraw(n, {{"scale", Domain::FromZero}})) {
    Value y = n.b.cast(drawExponential(n, draw->shape), draw->wide);
    setDraw(n, *draw, n.b.mul(y, draw->parameters[0]));
  }
}

static void lowerRayleigh(LoweringContext &n) {
  if (auto draw = readDraw(n, {{"scale", Domain::FromZero}})) {
    Value y = drawTime(n, *draw);
    y = n.b.op("sqrt", {n.b.mul(y, n.scalarLike(y, 2))});
    setDraw(n, *draw, n.b.mul(y, draw->parameters[0]));
  }
}

static void lowerWeibull(LoweringContext &n) {
  if (auto draw = readDraw(n, {{"a", Domain::AboveZero}})) {
    Value power = n.b.op("reciprocal", {draw->parameters[0]});
    setDraw(n, *draw, n.b.op("pow", {drawTime(n, *draw), power}));
  }
}

/// Of Lomax, as NumPy's: from 0.
static void lowerPareto(LoweringContext &n) {
  if (auto draw = readDraw(n, {{"a", Domain::AboveZero}})) {
    Value y = n.b.div(drawTime(n, *draw), draw->parameters[0]);
    y = n.b.op("exp", {y});
    setDraw(n, *draw, n.b.sub(y, n.scalarLike(y, 1)));
  }
}

static void lowerPower(LoweringContext &n) {
  if (auto draw = readDraw(n, {{"a", Domain::AboveZero}})) {
    Value y = n.b.cast(drawPositive(n, draw->shape), draw->wide);
    Value power = n.b.op("reciprocal", {draw->parameters[0]});
    setDraw(n, *draw, n.b.op("stop_gradient", {n.b.op("pow", {y, power})}));
  }
}

static void lowerGamma(LoweringContext &n) {
  if (!n.p.isNone("shape") && checkPositive(n, "shape") &&
      !checkHeld(n, "shape", n.p.getFloat("shape")))
    return;
  auto draw =
      readDraw(n, {{"shape", Domain::AboveZero}, {"scale", Domain::AboveZero}},
               /*hasType=*/true);
  if (!draw)
    return;
  Value alpha = n.b.cast(draw->parameters[0], n.b.f32());
  alpha = n.b.op("expand", {alpha, n.b.ints(draw->shape)});
  Value y = n.b.cast(n.randomOf("random_gamma", alpha), draw->wide);
  setDraw(n, *draw, n.b.mul(y, draw->parameters[1]), /*hasType=*/true);
}

/// 1 with a probability, or that of which the logarithm of its odds is given.
static void lowerBernoulli(LoweringContext &n) {
  // Of two numbers MXNet takes the probability.
  bool isLogit = n.inputCount() ? n.p.getBool("is_logit") : n.p.isNone("prob");
  const char *name = isLogit ? "logit" : "prob";
  if (isLogit && !n.inputCount() && !checkDomain(n, name, Domain::Any))
    return;
  Value chance;
  if (n.inputCount())
    chance = n.b.cast(n.in(0), n.b.f32());
  else
    chance = n.b.scalar(n.b.f32(), n.p.getFloat(name));
  if (!isLogit && !n.inputCount() &&
      !(n.p.getFloat(name) >= 0 && n.p.getFloat(name) <= 1))
    return n.fail("parameter 'prob': expected at least 0 and at most 1, got " +
                  toText(n.p.get(name)));
  std::optional<Ints> shape = resultShape(n, /*isBehind=*/false);
  if (!shape)
    return;
  if (isLogit)
    chance = n.b.op("sigmoid", {chance});
  Value isOne = n.b.op("less", {n.randomUniform(*shape), chance});
  mlir::Type type = typeParameter(n, "dtype");
  Value y = n.b.cast(isOne, type);
  if (n.inputCount() && llvm::isa<mlir::FloatType>(type)) {
    Value isChance =
        n.b.op("logical_and",
               {n.b.op("greater_equal", {chance, n.scalarLike(chance, 0)}),
                n.b.op("less_equal", {chance, n.scalarLike(chance, 1)})});
    y = n.b.op("select", {isChance, y, n.scalarLike(y, NAN)});
  }
  n.set(0, y);
}

//===-- Classes -----------------------------------------------------------===//

static Ints sizeOrScalar(LoweringContext &n) {
  return n.p.isNone("size") ? Ints() : n.ints("size");
}

/// How many of `n` fall into each class: those past all in front of it, less
/// those past it, too. What probabilities leave of 1 is of the last class.
static void lowerMultinomial(LoweringContext &n) {
  Value chances;
  if (n.inputCount()) {
    Ints shape = n.shape(n.in(0), "probabilities");
    if (n.b.failed())
      return;
    if (shape.size() != 1)
      return n.fail("input 'a': expected 1 dimension, got " +
                    Twine(shape.size()));
    chances = n.b.op("max", {n.in(0), n.scalarLike(n.in(0), 0)});
  } else {
    const std::vector<double> &given = n.p.getFloats("pvals");
    double sum = 0;
    for (double each : given) {
      sum += each;
      if (!(each >= 0 && sum <= 1 + 1e-12))
        return n.fail("parameter 'pvals': expected probabilities of at most 1 "
                      "together, got " +
                      toText(n.p.get("pvals")));
    }
    chances = floats(n, {static_cast<int64_t>(given.size())},
                     std::vector<float>(given.begin(), given.end()));
  }
  int64_t classes = GraphBuilder::dimOf(chances, 0), count = n.p.getInt("n");
  Ints shape = sizeOrScalar(n);
  auto axis = static_cast<int64_t>(shape.size());
  if (classes == 0)
    return n.fail(n.inputCount()
                      ? "input 'a': expected at least one class, got none"
                      : "parameter 'pvals': expected at least one class, got "
                        "none");
  Value ends = n.b.slice(chances, 0, 0, classes - 1);
  ends = n.b.op("cumsum", {n.b.cast(ends, n.b.f32()), n.b.intScalar(0)});
  Ints draws = shape;
  draws.append({count, 1});
  Value isPast = n.b.op("less_equal", {ends, n.randomUniform(draws)});
  Value past = n.b.reduce("reduce_sum", n.b.cast(isPast, n.b.i64()), {axis},
                          /*keepDims=*/false);
  Ints edge = shape;
  edge.push_back(1);
  Value before =
      n.b.concat({n.b.splat(edge, n.b.i64(), double(count)), past}, axis);
  Value behind = n.b.concat({past, n.b.splat(edge, n.b.i64(), 0)}, axis);
  n.set(0, n.b.sub(before, behind));
}

/// The first ones in the order of exponential numbers with their weights as
/// rates (Efraimidis and Spirakis, "Weighted random sampling with a reservoir",
/// 2006), or of any numbers.
static Value drawDistinct(LoweringContext &n, Value weights, int64_t classes,
                          int64_t draws) {
  Value keys = drawFine(n, {classes});
  if (weights) {
    Value u = n.b.sub(n.scalarLike(keys, 1), keys);
    keys =
        n.b.div(n.b.op("neg", {n.b.op("log", {u})}), n.b.castLike(weights, u));
  }
  return n.b.ops("top_k", {keys, n.b.ints(draws)},
                 {{"axis", 0}, {"largest", false}})[1];
}

static void lowerChoice(LoweringContext &n) {
  bool isWeighted = n.p.getBool("weighted");
  Value weights = isWeighted ? n.in(n.inputCount() - 1) : Value();
  int64_t classes = n.p.isNone("a") ? 0 : n.p.getInt("a"), draws = 1;
  if (n.p.isNone("a")) {
    Ints shape = n.shape(n.in(0), "data");
    if (n.b.failed())
      return;
    if (shape.size() != 1)
      return n.fail("input 'input1': expected 1 dimension, got " +
                    Twine(shape.size()));
    classes = shape[0];
  }
  if (weights) {
    Ints shape = n.shape(weights, "weights");
    if (!n.b.failed() && shape != Ints{classes})
      n.fail("input 'input2': expected (" + Twine(classes) + ",), got " +
             toText(shape));
  }
  if (n.b.failed())
    return;
  Ints shape = sizeOrScalar(n);
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(draws, extent, &draws))
      return n.fail("parameter 'size': expected fewer than 2^63 numbers, got " +
                    toText(n.p.get("size")));
  bool isReplaced = n.p.getBool("replace");
  if (classes < 1)
    return n.fail("input 'input1': expected at least 1 place, got none");
  if (!isReplaced && draws > classes)
    return n.fail("parameter 'size': expected at most " + Twine(classes) +
                  " different classes, got " + Twine(draws));
  Value y = !isReplaced ? drawDistinct(n, weights, classes, draws)
            : weights   ? drawClasses(n, weights, {}, draws)
                        : drawInteger(n, shape, classes);
  n.set(0, n.b.reshapeTo(y, shape));
}

//===-- Types -------------------------------------------------------------===//

static void checkOperands(TypeRelation &r) {
  for (size_t i = 0; i < r.inputCount(); ++i)
    if (r.input(i) != DLC_INVALID_TYPE && !rt::isFloat(r.input(i)))
      r.fail("expected parameters of floats, got " + toText(r.input(i)));
}

static void givesF32(TypeRelation &r) {
  checkOperands(r);
  r.setOutput(0, DLC_F32);
}

static void givesFloats(TypeRelation &r) {
  checkOperands(r);
  r.setOutput(0, r.parameters.getType("dtype"));
  if (!rt::isFloat(r.parameters.getType("dtype")))
    r.fail("parameter 'dtype': expected float16, float32 or float64, got " +
           toText(r.parameters.getType("dtype")));
}

static void givesDtype(TypeRelation &r) {
  checkOperands(r);
  r.setOutput(0, r.parameters.getType("dtype"));
}

static void givesClasses(TypeRelation &r) { r.setOutput(0, DLC_I64); }

static void givesCounts(TypeRelation &r) {
  checkOperands(r);
  r.setOutput(0, DLC_I64);
}

//===-- Declarations ------------------------------------------------------===//

static constexpr std::string_view kDetails =
    "Other ones in each run, for training or not. A parameter of None is an "
    "operand; operands are broadcast. Where their elements are parameters of "
    "no distribution, the result is NaN, in types that have one.";

static Parameter numberOrNone(std::string_view name, std::string_view summary) {
  return required(name, ParameterKind::Float, summary).orNone();
}

static Parameter numberOr(std::string_view name, std::string_view fallback,
                          std::string_view summary) {
  return optional(name, ParameterKind::Float, fallback, summary).orNone();
}

static Parameter sizeParameter(std::string_view summary) {
  return optional("size", ParameterKind::Ints, "None", summary)
      .within(0, kMaxExtent);
}

namespace {
enum class Has : uint8_t { F32, Dtype };
} // namespace

/// `own` are the distribution's parameters, one operand for each that is None.
static Operator distribution(std::string_view name, std::string_view summary,
                             std::vector<Parameter> own, Has type,
                             void (*lower)(LoweringContext &),
                             bool isBehind = false) {
  Operator op = {.name = name,
                 .summary = summary,
                 .details = kDetails,
                 .inputs = {},
                 .relateTypes = type == Has::F32 ? givesF32 : givesFloats,
                 .lower = lower};
  constexpr std::string_view names[] = {"input1", "input2"};
  for (size_t i = 0; i < own.size(); ++i)
    op.inputs.push_back({names[i], whenNone(own[i].name)});
  op.parameters = std::move(own);
  op.parameters.push_back(sizeParameter(
      isBehind ? "Dimensions in front of the operands'; None: no others."
               : "The shape of the result; None: that of the operands."));
  op.parameters.push_back(ignored("ctx", ParameterKind::Text, "cpu"));
  if (type == Has::Dtype)
    op.parameters.push_back(optional("dtype", ParameterKind::Type, "float32",
                                     "Type of the elements."));
  return op;
}

static std::vector<Operator> distributions() {
  std::vector<Parameter> location = {
      numberOrNone("loc", "Its place."),
      numberOrNone("scale", "Its width, at least 0.")};
  std::vector<Parameter> normal = {
      numberOrNone("loc", "Its mean."),
      numberOrNone("scale", "Its standard deviation, at least 0.")};
  std::vector<Parameter> interval = {
      numberOrNone("low", "Where it begins."),
      numberOrNone("high", "Where it ends, exclusive.")};
  std::vector<Parameter> scale = {numberOr("scale", "1", "At least 0.")};
  std::vector<Parameter> exponent = {numberOr("a", "None", "Above 0.")};
  return {
      distribution("_npi_normal", "Random numbers of normal distributions",
                   normal, Has::Dtype, lowerNormal<false>),
      distribution("_npi_normal_n",
                   "Random numbers of normal distributions, some of each",
                   normal, Has::Dtype, lowerNormal<true>, /*isBehind=*/true),
      distribution("_npi_uniform", "Random numbers of intervals", interval,
                   Has::Dtype, lowerUniform<false>),
      distribution("_npi_uniform_n",
                   "Random numbers of intervals, some of each", interval,
                   Has::Dtype, lowerUniform<true>,
                   /*isBehind=*/true),
      distribution("_npi_gumbel", "Random numbers of Gumbel's distribution",
                   location, Has::F32, lowerLocated<true>),
      distribution("_npi_logistic",
                   "Random numbers of the logistic distribution", location,
                   Has::F32, lowerLocated<false>),
      distribution("_npi_exponential",
                   "Random numbers of exponential distributions, by their mean",
                   scale, Has::F32, lowerExponential),
      distribution("_npi_rayleigh", "Random numbers of Rayleigh's distribution",
                   scale, Has::F32, lowerRayleigh),
      distribution("_npi_weibull", "Random numbers of Weibull's distribution",
                   exponent, Has::F32, lowerWeibull),
      distribution("_npi_pareto",
                   "Random numbers of Lomax's distribution: Pareto's less 1",
                   exponent, Has::F32, lowerPareto),
      distribution("_npi_powerd",
                   "Random numbers of [0, 1] with a power as density", exponent,
                   Has::F32, lowerPower),
      distribution("_npi_gamma", "Random numbers of gamma distributions",
                   {numberOrNone("shape", "Above 0."),
                    numberOrNone("scale", "Above 0.")},
                   Has::Dtype, lowerGamma)};
}

std::span<const Operator> dlc::symbol::numpyRandomOperators() {
  static const std::vector<Operator> rows = [] {
    std::vector<Operator> rows = distributions();
    rows.push_back(
        {.name = "_npi_bernoulli",
         .summary = "1 with a probability, or 0",
         .details = kDetails,
         .parameters = {numberOrNone("prob", "The probability, from 0 to 1."),
                        numberOrNone("logit", "The logarithm of its odds."),
                        required("is_logit", ParameterKind::Bool,
                                 "The operand has logarithms of odds."),
                        sizeParameter(
                            "The shape of the result; None: that of the "
                            "operand."),
                        ignored("ctx", ParameterKind::Text, "cpu"),
                        optional("dtype", ParameterKind::Type, "float32",
                                 "Type of the elements.")},
         .inputs = {{"input1", whenNone("prob", "logit")}},
         .relateTypes = givesDtype,
         .lower = lowerBernoulli});
    rows.push_back(
        {.name = "_npi_multinomial",
         .summary = "How often each class comes in some draws",
         .details = "Other numbers in each run, for training or not, int64. "
                    "The classes are the last dimension; what their "
                    "probabilities leave of 1 is of the last class.",
         .parameters = {required("n", ParameterKind::Int, "The draws.")
                            .within(0, kMaxExtent),
                        optional("pvals", ParameterKind::Floats, "None",
                                 "Probabilities; None: an operand."),
                        sizeParameter("Dimensions in front of the classes.")},
         .inputs = {{"a", whenNone("pvals")}},
         .relateTypes = givesCounts,
         .lower = lowerMultinomial});
    rows.push_back(
        {.name = "_npi_choice",
         .summary = "Random places of a row",
         .details = "Other ones in each run, for training or not, int64. "
                    "Weights need not add up to 1.",
         .parameters =
             {required("a", ParameterKind::Int,
                       "How many places there are; None: as an operand has.")
                  .within(1, kMaxExtent)
                  .orNone(),
              required("size", ParameterKind::Ints,
                       "The shape of the result; None: a scalar.")
                  .within(0, kMaxExtent)
                  .orNone(),
              ignored("ctx", ParameterKind::Text, "cpu"),
              optional("replace", ParameterKind::Bool, "True",
                       "A place may come more than once."),
              optional("weighted", ParameterKind::Bool, "False",
                       "An operand says how often each place comes.")},
         .inputs = {{"input1", whenNone("a")}, {"input2", when("weighted")}},
         .relateTypes = givesClasses,
         .lower = lowerChoice});
    return rows;
  }();
  return rows;
}
