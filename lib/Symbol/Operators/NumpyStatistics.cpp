// SPDX-License-Identifier: Apache-2.0
//
// NumPy's statistics of data: weighted means, percentiles, histograms, and the
// norm of everything.

#include "Rules.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

static Ints reducedAxes(LoweringContext &n, int64_t rank) {
  return n.p.isNone("axis") ? range(0, rank) : n.axes(n.ints("axis"), rank);
}

//===-- Means -------------------------------------------------------------===//

/// Weights along the one axis that is reduced, with a shape that is broadcast
/// to the data's; null after a failure.
static Value alongAxis(LoweringContext &n, Value weights, const Ints &shape,
                       const Ints &axes) {
  Ints given = n.shape(weights, "weights");
  if (n.b.failed())
    return {};
  if (given.size() == shape.size()) {
    if (given != shape)
      n.fail("input 'weights': expected " + toText(shape) + ", got " +
             toText(given));
    return weights;
  }
  if (n.p.isNone("axis") || axes.size() != 1)
    n.fail("parameter 'axis': expected one axis where weights have another "
           "shape than the data, got " +
           toText(n.p.get("axis")));
  else if (given != Ints{shape[axes[0]]})
    n.fail("input 'weights': expected (" + Twine(shape[axes[0]]) +
           ",) or the shape of the data, got " + toText(given));
  if (n.b.failed())
    return {};
  Ints ones(shape.size(), 1);
  ones[axes[0]] = shape[axes[0]];
  return n.b.reshapeTo(weights, ones);
}

/// What sums and quotients of elements are computed in: halves and small
/// integers soon come to the end of their own type.
static mlir::Type typeOfSums(LoweringContext &n, Value x) {
  bool isFloat = llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(x));
  return isFloat ? n.b.wideFloat(x) : n.b.i64();
}

static void lowerAverage(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.shape(x, "an average"), axes = reducedAxes(n, n.rank(x));
  if (n.b.failed())
    return;
  mlir::Type type = typeOfSums(n, x);
  auto sum = [&](Value value, const Ints &along) {
    return n.b.reduce("reduce_sum", value, along, /*keepDims=*/false);
  };
  Value wide = n.b.cast(x, type), total, weight;
  if (n.p.getBool("weighted")) {
    Value given = n.b.cast(n.in(1), type);
    Value weights = alongAxis(n, given, shape, axes);
    if (n.b.failed())
      return;
    total = sum(n.b.mul(wide, weights), axes);
    bool isRow = n.rank(given) != static_cast<int64_t>(shape.size());
    weight = sum(given, isRow ? Ints{0} : axes);
  } else {
    double count = 1;
    for (int64_t axis : axes)
      count *= static_cast<double>(shape[axis]);
    total = sum(wide, axes);
    weight = n.scalarLike(wide, count);
  }
  n.set(0, n.b.castLike(n.b.div(total, weight), x));
  if (n.p.getBool("returned"))
    n.set(1, n.b.castLike(weight, x));
}

/// Which norm the parameter `flag` says that `ord` is of.
enum NormKind : int64_t { OfAll = -2, OfVectors = -1, OfSquares = 1 };

/// Root of the sum of squares, or another root of as many powers. Other norms
/// of matrices are of their singular values.
static void lowerNorm(LoweringContext &n) {
  Value x = n.in(0);
  Ints axes = reducedAxes(n, n.rank(x));
  int64_t flag = n.p.getInt("flag");
  double order = n.p.getFloat("ord");
  if (n.b.failed())
    return;
  if (flag == OfAll || flag == OfSquares)
    order = 2;
  else if (flag != OfVectors || axes.size() > 1)
    return n.unsupported("a norm of matrices by singular values or sums: "
                         "expected parameter 'flag' of -2 or 1, or one 'axis', "
                         "got " +
                         Twine(flag));
  if (!std::isfinite(order))
    return n.fail("parameter 'ord': expected a finite number, got " +
                  toText(n.p.get("ord")));
  if (flag == OfAll)
    axes = range(0, n.rank(x));
  auto sum = [&](Value value) {
    return n.b.reduce("reduce_sum", value, axes, n.p.getBool("keepdims"));
  };
  if (order == 2)
    return n.set(0, n.b.op("sqrt", {sum(n.b.mul(x, x))}));
  Value size = n.b.op("abs", {x});
  if (order == 0) {
    Value isZero = n.b.op("equal", {x, n.scalarLike(x, 0)});
    return n.set(0, sum(n.b.castLike(n.b.op("logical_not", {isZero}), x)));
  }
  if (order == 1)
    return n.set(0, sum(size));
  auto powerOf = [&](Value value, double exponent) {
    Value power = n.scalarLike(x, exponent);
    if (order > 0)
      return n.b.op("pow", {value, power});
    // MXNet's sum leaves zeros out, and of zeros alone it is 0. Neither have
    // they a gradient.
    Value zero = n.scalarLike(x, 0), isZero = n.b.op("equal", {value, zero});
    value = n.b.op("select", {isZero, n.scalarLike(x, 1), value});
    return n.b.op("select", {isZero, zero, n.b.op("pow", {value, power})});
  };
  n.set(0, powerOf(sum(powerOf(size, order)), 1 / order));
}

//===-- Percentiles -------------------------------------------------------===//

/// The reduced axes in order, as the last dimension; `extent` is how many
/// elements that has, `kept` the extents of the others.
static Value orderedAlong(LoweringContext &n, const Ints &axes, Ints &kept,
                          int64_t &extent) {
  Ints shape = n.shape(n.in(0), "percentiles"), order, last;
  if (n.b.failed())
    return {};
  extent = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    if (llvm::is_contained(axes, i)) {
      last.push_back(i);
      extent *= shape[i];
      continue;
    }
    order.push_back(i);
    kept.push_back(shape[i]);
  }
  if (extent == 0) {
    n.fail("expected data of at least one element along 'axis', got " +
           toText(shape));
    return {};
  }
  order.append(last);
  Ints rows = kept;
  rows.push_back(extent);
  Value x = n.b.reshapeTo(n.b.transpose(n.in(0), order), rows);
  return n.b.ops(
      "top_k", {x, n.b.ints({extent})},
      {{"axis", static_cast<int64_t>(kept.size())}, {"largest", false}})[0];
}

/// Percentages as a vector; null after a failure.
static Value percentages(LoweringContext &n) {
  if (n.p.isNone("q_scalar")) {
    if (int64_t rank = n.rank(n.in(1)); rank > 1)
      return n.b.fail("input 'q': expected at most 1 dimension, got " +
                      Twine(rank));
    Value q = n.b.reshapeTo(n.in(1), {-1});
    return n.b.cast(q, n.b.opBuilder().getF64Type());
  }
  double q = n.p.getFloat("q_scalar");
  if (!(q >= 0 && q <= 100))
    return n.b.fail("parameter 'q_scalar': expected at least 0 and at most "
                    "100, got " +
                    toText(n.p.get("q_scalar")));
  return n.b.splat({1}, n.b.opBuilder().getF64Type(), q);
}

/// Between two elements, or one of them, as MXNet computes it: places are f32.
static void lowerPercentile(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0)), extent = 0;
  Ints kept, axes = reducedAxes(n, rank);
  if (n.b.failed())
    return;
  Value sorted = orderedAlong(n, axes, kept, extent), q = percentages(n);
  if (n.b.failed())
    return;
  auto last = static_cast<double>(extent - 1);
  // f32 may have rounded the last place up, and NaN is no place.
  auto placeOf = [&](Value value) {
    Value place =
        n.b.op("min", {n.b.cast(value, n.b.i64()), n.b.intScalar(extent - 1)});
    return n.b.op("max", {place, n.b.intScalar(0)});
  };
  Value place =
      n.b.div(n.b.mul(q, n.scalarLike(q, last)), n.scalarLike(q, 100));
  place = n.b.cast(place, n.b.f32());
  Value bounded =
      n.b.op("max", {n.b.op("min", {place, n.scalarLike(place, last)}),
                     n.scalarLike(place, 0)});
  Value isInside = n.b.op("equal", {bounded, place});
  const std::string &kind = n.p.getText("interpolation");
  Value low = n.b.op("floor", {bounded}), high = n.b.op("ceil", {bounded});
  if (kind == "midpoint")
    bounded = n.b.mul(n.b.add(low, high), n.scalarLike(low, 0.5));
  else if (kind ==
           "nearest") // Not floor(x + 0.5): large numbers round the sum.
    low = high =
        n.b.op("select",
               {n.b.op("less", {n.b.sub(bounded, low), n.scalarLike(low, 0.5)}),
                low, high});
  else if (kind == "lower")
    high = low;
  else if (kind == "higher")
    low = high;
  auto axis = static_cast<int64_t>(kept.size());
  mlir::Type type = n.b.wideFloat(sorted);
  auto take = [&](Value places) {
    Value y = n.b.op("gather", {sorted, placeOf(places)}, {{"axis", axis}});
    return n.b.cast(y, type);
  };
  Value y = take(low);
  if (kind == "linear" || kind == "midpoint") {
    Value above = n.b.sub(bounded, low);
    Value below = n.b.sub(n.scalarLike(above, 1), above);
    Value between = n.b.add(n.b.mul(y, n.b.cast(below, type)),
                            n.b.mul(take(high), n.b.cast(above, type)));
    // 0 times infinity is not 0.
    Value isLow = n.b.op("equal", {above, n.scalarLike(above, 0)});
    y = n.b.op("select", {isLow, y, between});
  }
  y = n.b.op("select", {isInside, y, n.scalarLike(y, NAN)});
  // One for each percentage in front.
  Ints order = {axis}, shape;
  order.append(range(0, axis));
  y = n.b.transpose(y, order);
  if (n.p.isNone("q_scalar") && n.rank(n.in(1)) == 1)
    shape.push_back(GraphBuilder::dimOf(y, 0));
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    bool isReduced = llvm::is_contained(axes, i);
    if (!isReduced)
      shape.push_back(kept[next++]);
    else if (n.p.getBool("keepdims"))
      shape.push_back(1);
  }
  n.set(0, n.b.reshapeTo(y, shape));
}

//===-- Histograms --------------------------------------------------------===//

static Value wideNumbers(LoweringContext &n, llvm::ArrayRef<double> values) {
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())},
                                          n.b.opBuilder().getF64Type());
  return n.b.constant(mlir::DenseElementsAttr::get(type, values));
}

/// Where bins begin and end; the second result are those that data are compared
/// with, f64: ends as they are given, others in the type of the data.
static std::pair<Value, Value> equalBins(LoweringContext &n) {
  const std::vector<double> &given = n.p.getFloats("range");
  int64_t count = n.p.getInt("bin_cnt");
  if (given.size() != 2 || !(given[0] <= given[1]) ||
      !std::isfinite(given[1] - given[0])) {
    n.fail("parameter 'range': expected a number and one that is not less, "
           "got " +
           toText(n.p.get("range")));
    return {};
  }
  double low = given[0], high = given[1];
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  std::vector<double> edges;
  auto bins = static_cast<double>(count);
  for (int64_t i = 0; i <= count; ++i) {
    auto at = static_cast<double>(i);
    double edge = (high * at + (bins - at) * low) / bins;
    edges.push_back(std::isfinite(edge) ? edge
                                        : low + (high - low) * (at / bins));
  }
  Value all = n.b.castLike(wideNumbers(n, edges), n.in(0));
  Value inner =
      n.b.slice(n.b.cast(all, n.b.opBuilder().getF64Type()), 0, 1, count);
  return {all,
          n.b.concat({wideNumbers(n, low), inner, wideNumbers(n, high)}, 0)};
}

/// How many elements are at an edge or past it, less those at the next one or
/// past it; the last bin has its end.
static void lowerHistogram(LoweringContext &n) {
  if (n.p.isNone("bin_cnt") != n.p.isNone("range"))
    return n.fail(
        "parameters 'bin_cnt' and 'range': expected both or none, got " +
        toText(n.p.get("bin_cnt")) + " and " + toText(n.p.get("range")));
  Value edges, bounds;
  if (n.p.isNone("bin_cnt")) {
    Ints shape = n.shape(n.in(1), "bins");
    if (!n.b.failed() && (shape.size() != 1 || shape[0] < 2))
      n.fail("input 'bins': expected a vector of at least 2 edges, got " +
             toText(shape));
    edges = bounds = n.in(1);
  } else {
    std::tie(edges, bounds) = equalBins(n);
  }
  if (n.b.failed())
    return;
  Value x =
      n.b.unsqueeze(n.b.castLike(n.b.reshapeTo(n.in(0), {-1}), bounds), {1});
  int64_t last = GraphBuilder::dimOf(bounds, 0) - 1;
  Value isPast = n.b.op("greater_equal", {x, n.b.slice(bounds, 0, 0, last)});
  Value isBehind = n.b.op("greater", {x, n.b.slice(bounds, 0, last, last + 1)});
  Value past = n.b.reduce(
      "reduce_sum", n.b.cast(n.b.concat({isPast, isBehind}, 1), n.b.i64()), {0},
      /*keepDims=*/false);
  Value counts =
      n.b.sub(n.b.slice(past, 0, 0, last), n.b.slice(past, 0, 1, last + 1));
  // Nothing is in a bin that ends before it begins.
  n.set(0, n.b.op("max", {counts, n.b.intScalar(0)}));
  n.set(1, edges);
}

//===-- Types -------------------------------------------------------------===//

static void percentileTypes(TypeRelation &r) {
  if (r.input(0) != DLC_INVALID_TYPE)
    r.setOutput(0, r.input(0) == DLC_F64 ? DLC_F64 : DLC_F32);
}

static void histogramTypes(TypeRelation &r) {
  r.equateInputs(0, 1);
  r.setOutput(0, DLC_I64);
  r.equate(0, 1);
}

//===-- Declarations ------------------------------------------------------===//

static Parameter axisParameter() {
  return optional("axis", ParameterKind::Ints, "None",
                  "The axes; None means all.");
}

std::span<const Operator> dlc::symbol::numpyStatisticsOperators() {
  static const std::vector<Operator> rows = {
      {.name = "_npi_average",
       .summary = "Weighted mean of elements",
       .details = "Weights have the shape of the data, or the extent of the "
                  "one axis. Sums are float32, float64 for float64, or int64, "
                  "where MXNet has those of the data's type.",
       .parameters = {axisParameter(),
                      optional("returned", ParameterKind::Bool, "False",
                               "Give the sum of weights, too."),
                      optional("weighted", ParameterKind::Bool, "True",
                               "There are weights; else all are 1.")},
       .inputs = {{"a"}, {"weights", when("weighted")}},
       .outputs = {{"output0"}, {"output1", when("returned")}},
       .lower = lowerAverage},
      {.name = "_npi_norm",
       .summary = "Norm of vectors, or root of the sum of squares",
       .parameters = {optional("ord", ParameterKind::Float, "2",
                               "Of vectors: the power that is summed up; 0 "
                               "counts, those below leave zeros out. Infinite "
                               "ones are errors, as in MXNet."),
                      axisParameter(),
                      optional("keepdims", ParameterKind::Bool, "False",
                               "Leave reduced dimensions, with extent 1."),
                      optional("flag", ParameterKind::Int, "-1",
                               "-2: of all elements; 1: of squares; -1: of "
                               "vectors. Others are not supported.")},
       .outputs = {{"output0"}},
       .lower = lowerNorm},
      {.name = "_npi_percentile",
       .summary = "Elements that a part of all is less than",
       .details = "Percentages are in front of the other dimensions; of those "
                  "outside of 0 to 100 the result is NaN.",
       .parameters = {axisParameter(),
                      choice(
                          "interpolation",
                          {"linear", "lower", "higher", "midpoint", "nearest"},
                          "linear", "What is taken of the two next elements."),
                      optional("keepdims", ParameterKind::Bool, "False",
                               "Leave reduced dimensions, with extent 1."),
                      optional("q_scalar", ParameterKind::Float, "None",
                               "The percentage; None: an operand has some.")},
       .inputs = {{"a"}, {"q", whenNone("q_scalar")}},
       .relateTypes = percentileTypes,
       .lower = lowerPercentile},
      {.name = "_histogram",
       .aliases = {"_npi_histogram"},
       .summary = "How many elements fall into each bin",
       .details = "int64, and the edges of the bins. Bins begin with their "
                  "first edge, and the last one has both. Edges ascend; a bin "
                  "that ends before it begins has nothing.",
       .parameters = {optional("bin_cnt", ParameterKind::Int, "None",
                               "How many bins; None: an operand has their "
                               "edges.")
                          .within(1, 1 << 20),
                      optional("range", ParameterKind::Floats, "None",
                               "Where the first bin begins and the last one "
                               "ends.")},
       .inputs = {{"data"}, {"bins", whenNone("bin_cnt")}},
       .outputs = {{"output0"}, {"output1"}},
       .relateTypes = histogramTypes,
       .lower = lowerHistogram},
  };
  return rows;
}
