// SPDX-License-Identifier: Apache-2.0
//
// Reductions over axes, plain and composite, and running sums.

#include "Simple.h"

using namespace dlc::onnx;
using mlir::Type;
using mlir::Value;

namespace {
/// The axes of one node in Graph's form, where an absent operand means all
/// axes and an empty vector means none.
struct Axes {
  Value operand;
};
} // namespace

/// Axes were an attribute up to opset 12 (ReduceSum) or 17 (the others).
static Axes axesOf(NodeContext &n, bool areInput) {
  Value x = n.in(0);
  std::optional<int64_t> rank = GraphBuilder::rankOf(x);
  bool emptyMeansNone =
      areInput ? n.getBool("noop_with_empty_axes", false) : false;
  Value operand;
  if (areInput && n.has(1)) {
    operand = n.asI64(n.in(1));
    int64_t length = NodeContext::lengthOf(operand);
    if (length < 0 && !emptyMeansNone)
      n.unsupported("axes of unknown length");
    if (length == 0)
      operand = {};
  } else if (!areInput) {
    Ints axes = n.getInts("axes");
    if (!axes.empty())
      operand = n.b.ints(axes);
  }
  if (operand)
    return {operand};
  if (emptyMeansNone)
    return {n.b.ints({})};
  if (rank)
    return {n.b.ints(firstInts(*rank))};
  return {};
}

static Value reduce(NodeContext &n, llvm::StringRef mnemonic, Value x,
                    const Axes &axes, bool keepDims) {
  llvm::SmallVector<Value> operands = {x};
  if (axes.operand)
    operands.push_back(axes.operand);
  return n.b.op(mnemonic, operands, {{"keepdims", keepDims}});
}

static bool keepsDims(NodeContext &n) { return n.getBool("keepdims", true); }

/// Root and logarithm of integers go through f64.
static Value asFloat(NodeContext &n, Value x) {
  Type element = GraphBuilder::elementOf(x);
  if (!element || mlir::isa<mlir::FloatType>(element))
    return n.b.widen(x);
  return n.b.cast(x, mlir::Float64Type::get(n.b.context()));
}

static Value reduceLogSumExp(NodeContext &n, const Axes &axes) {
  Value x = asFloat(n, n.in(0));
  // The largest element is taken out, unless it is infinite.
  auto shift = [&](bool keepDims) {
    Value largest = reduce(n, "reduce_max", x, axes, keepDims);
    return n.b.op("select", {n.b.op("is_inf", {largest}),
                             n.b.scalarLike(largest, 0), largest});
  };
  bool keepDims = keepsDims(n);
  Value exps = n.b.op("exp", {n.b.sub(x, shift(true))});
  Value sum = reduce(n, "reduce_sum", exps, axes, keepDims);
  return n.b.add(n.b.op("log", {sum}), shift(keepDims));
}

namespace {
enum class Kind {
  Sum,
  Mean,
  Max,
  Min,
  Prod,
  L1,
  L2,
  LogSum,
  LogSumExp,
  SumSquare
};
} // namespace

static Value reduceKind(NodeContext &n, Kind kind, const Axes &axes) {
  Value x = n.in(0);
  auto sum = [&](Value value) {
    return reduce(n, "reduce_sum", value, axes, keepsDims(n));
  };
  switch (kind) {
  case Kind::Sum:
    return sum(x);
  case Kind::Mean:
    return reduce(n, "reduce_mean", x, axes, keepsDims(n));
  case Kind::Max:
    return reduce(n, "reduce_max", x, axes, keepsDims(n));
  case Kind::Min:
    return reduce(n, "reduce_min", x, axes, keepsDims(n));
  case Kind::Prod:
    return reduce(n, "reduce_prod", x, axes, keepsDims(n));
  case Kind::L1:
    return sum(n.b.op("abs", {n.b.widen(x)}));
  case Kind::L2:
    x = asFloat(n, x);
    return n.b.op("sqrt", {sum(n.b.mul(x, x))});
  case Kind::LogSum:
    return n.b.op("log", {sum(asFloat(n, x))});
  case Kind::LogSumExp:
    return reduceLogSumExp(n, axes);
  case Kind::SumSquare:
    x = n.b.widen(x);
    return sum(n.b.mul(x, x));
  }
  return {};
}

template <Kind kind, bool axesAreInput>
static void importReduce(NodeContext &n) {
  Axes axes = axesOf(n, axesAreInput);
  n.set(0, n.b.castLike(reduceKind(n, kind, axes), n.in(0)));
}

template <Mnemonic name> static void importArg(NodeContext &n) {
  bool last = n.opset >= 12 && n.getBool("select_last_index", false);
  n.set(0, n.b.op(name.str(), {n.in(0)},
                  {{"axis", n.getInt("axis", 0)},
                   {"keepdims", keepsDims(n)},
                   {"select_last_index", last}}));
}

template <Mnemonic name> static void importCumulative(NodeContext &n) {
  n.set(0, n.b.op(name.str(), {n.in(0), asScalar(n, n.asI64(n.in(1)))},
                  {{"exclusive", n.getBool("exclusive", false)},
                   {"reverse", n.getBool("reverse", false)}}));
}

static constexpr Operator rows[] = {
    {"ArgMax", 1, 1, 1, 1, importArg<"arg_max">},
    {"ArgMin", 1, 1, 1, 1, importArg<"arg_min">},
    {"CumProd", 26, 2, 2, 1, importCumulative<"cumprod">},
    {"CumSum", 11, 2, 2, 1, importCumulative<"cumsum">},
    {"ReduceL1", 1, 1, 1, 1, importReduce<Kind::L1, false>},
    {"ReduceL1", 18, 1, 2, 1, importReduce<Kind::L1, true>},
    {"ReduceL2", 1, 1, 1, 1, importReduce<Kind::L2, false>},
    {"ReduceL2", 18, 1, 2, 1, importReduce<Kind::L2, true>},
    {"ReduceLogSum", 1, 1, 1, 1, importReduce<Kind::LogSum, false>},
    {"ReduceLogSum", 18, 1, 2, 1, importReduce<Kind::LogSum, true>},
    {"ReduceLogSumExp", 1, 1, 1, 1, importReduce<Kind::LogSumExp, false>},
    {"ReduceLogSumExp", 18, 1, 2, 1, importReduce<Kind::LogSumExp, true>},
    {"ReduceMax", 1, 1, 1, 1, importReduce<Kind::Max, false>},
    {"ReduceMax", 18, 1, 2, 1, importReduce<Kind::Max, true>},
    {"ReduceMean", 1, 1, 1, 1, importReduce<Kind::Mean, false>},
    {"ReduceMean", 18, 1, 2, 1, importReduce<Kind::Mean, true>},
    {"ReduceMin", 1, 1, 1, 1, importReduce<Kind::Min, false>},
    {"ReduceMin", 18, 1, 2, 1, importReduce<Kind::Min, true>},
    {"ReduceProd", 1, 1, 1, 1, importReduce<Kind::Prod, false>},
    {"ReduceProd", 18, 1, 2, 1, importReduce<Kind::Prod, true>},
    {"ReduceSum", 1, 1, 1, 1, importReduce<Kind::Sum, false>},
    {"ReduceSum", 13, 1, 2, 1, importReduce<Kind::Sum, true>},
    {"ReduceSumSquare", 1, 1, 1, 1, importReduce<Kind::SumSquare, false>},
    {"ReduceSumSquare", 18, 1, 2, 1, importReduce<Kind::SumSquare, true>},
};

llvm::ArrayRef<Operator> dlc::onnx::reductionOperators() { return rows; }
