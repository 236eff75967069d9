// SPDX-License-Identifier: Apache-2.0
//
// Reductions over axes. Over all of them the result has shape (1,).

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

/// The axes of parameter `axis`: None and () mean all, `exclude` the others.
static Ints reducedAxes(LoweringContext &n, int64_t rank) {
  Ints axes;
  if (!n.p.isNone("axis"))
    axes = n.axes(n.ints("axis"), rank);
  if (axes.empty())
    return range(0, rank);
  if (!n.p.getBool("exclude"))
    return axes;
  Ints others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  return others;
}

/// A result without dimensions has one instead, but for NumPy.
static Value atLeastVector(LoweringContext &n, Value y) {
  return GraphBuilder::rankOf(y) == 0 && !n.hasNumpyShapes()
             ? n.b.reshape(y, {1})
             : y;
}

static Value reduce(LoweringContext &n, llvm::StringRef mnemonic, Value x) {
  Ints axes = reducedAxes(n, n.rank(x));
  return atLeastVector(n,
                       n.b.reduce(mnemonic, x, axes, n.p.getBool("keepdims")));
}

template <Mnemonic name> static void lowerReduce(LoweringContext &n) {
  n.set(0, reduce(n, name.str(), n.in(0)));
}

/// NaN counts as `neutral`.
template <Mnemonic name, int neutral>
static void lowerWithoutNan(LoweringContext &n) {
  Value x = n.in(0);
  Value clean =
      n.b.op("select", {n.b.op("is_nan", {x}), n.scalarLike(x, neutral), x});
  n.set(0, reduce(n, name.str(), clean));
}

static void relateNormTypes(TypeRelation &r) {
  if (r.parameters.isNone("out_dtype"))
    r.equate(0, 0);
  else
    r.setOutput(0, r.parameters.getType("out_dtype"));
}

/// In the wider one of the data's type and the result's, as MXNet with
/// MXNET_SAFE_ACCUMULATION; without it MXNet refuses to change the type.
static void lowerNorm(LoweringContext &n) {
  Value x = n.in(0);
  mlir::Type from = GraphBuilder::elementOf(x), to = from;
  if (!n.p.isNone("out_dtype"))
    to = typeParameter(n, "out_dtype");
  if (to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
    x = n.b.cast(x, to);
  Ints axes;
  if (!n.p.isNone("axis"))
    axes = n.axes(n.ints("axis"), n.rank(x));
  if (axes.empty())
    axes = range(0, n.rank(x));
  bool isSquare = n.p.getInt("ord") == 2;
  Value terms = isSquare ? n.b.mul(x, x) : n.b.op("abs", {x});
  Value y = n.b.reduce("reduce_sum", terms, axes, n.p.getBool("keepdims"));
  if (isSquare)
    y = n.b.op("sqrt", {y});
  n.set(0, atLeastVector(n, n.b.cast(y, to)));
}

//===-- Places ------------------------------------------------------------===//

/// The place is a number of the data's type; without an axis it is that in the
/// elements in a row.
template <Mnemonic name> static void lowerArg(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  bool keeps = n.p.getBool("keepdims");
  if (n.p.isNone("axis")) {
    Value row = n.b.reshape(x, {-1});
    Value y = n.b.op(name.str(), {row}, {{"axis", 0}, {"keepdims", true}});
    Ints ones(keeps ? rank : 1, 1);
    return n.set(0, n.b.reshape(n.b.castLike(y, x), ones));
  }
  int64_t axis = n.axisOf("axis", rank);
  Value y = n.b.op(name.str(), {x}, {{"axis", axis}, {"keepdims", keeps}});
  n.set(0, atLeastVector(n, n.b.castLike(y, x)));
}

static void lowerArgMaxChannel(LoweringContext &n) {
  Value x = n.in(0);
  if (n.rank(x) < 2)
    return n.fail("expected data of at least 2 dimensions, got " +
                  Twine(n.rank(x)));
  Value y = n.b.op("arg_max", {x}, {{"axis", 1}, {"keepdims", false}});
  n.set(0, n.b.castLike(y, x));
}

//===-- Declarations ------------------------------------------------------===//

static std::vector<Parameter> reductionParameters(bool hasExclude) {
  std::vector<Parameter> parameters = {
      optional("axis", ParameterKind::Ints, "None",
               "The axes; None and () mean all."),
      optional("keepdims", ParameterKind::Bool, "False",
               "Leave reduced dimensions, with extent 1.")};
  if (hasExclude)
    parameters.push_back(optional("exclude", ParameterKind::Bool, "False",
                                  "Reduce the other axes instead."));
  return parameters;
}

static Operator reduction(std::string_view name,
                          std::vector<std::string_view> aliases,
                          std::string_view summary,
                          void (*lower)(LoweringContext &)) {
  return {.name = name,
          .aliases = std::move(aliases),
          .summary = summary,
          .parameters = reductionParameters(true),
          .lower = lower};
}

static Operator argument(std::string_view name, std::string_view summary,
                         void (*lower)(LoweringContext &)) {
  return {.name = name,
          .summary = summary,
          .details = "The first of equal ones; a number of the data's type.",
          .parameters = {optional("axis", ParameterKind::Int, "None",
                                  "The axis; None: all elements in a row."),
                         optional("keepdims", ParameterKind::Bool, "False",
                                  "Leave the dimension, with extent 1.")},
          .lower = lower};
}

std::span<const Operator> dlc::symbol::reductionOperators() {
  static const std::vector<Operator> rows = {
      argument("argmax", "Place of the largest element", lowerArg<"arg_max">),
      {.name = "argmax_channel",
       .summary = "Place of the largest element along axis 1",
       .lower = lowerArgMaxChannel},
      argument("argmin", "Place of the smallest element", lowerArg<"arg_min">),
      reduction("max", {"max_axis"}, "Largest element",
                lowerReduce<"reduce_max">),
      reduction("mean", {}, "Mean of elements", lowerReduce<"reduce_mean">),
      reduction("min", {"min_axis"}, "Smallest element",
                lowerReduce<"reduce_min">),
      reduction("nanprod", {}, "Product of elements that are numbers",
                lowerWithoutNan<"reduce_prod", 1>),
      reduction("nansum", {}, "Sum of elements that are numbers",
                lowerWithoutNan<"reduce_sum", 0>),
      {.name = "norm",
       .summary = "Norm of elements",
       .parameters = {optional("ord", ParameterKind::Int, "2",
                               "2: Euclidean; 1: sum of absolute values.")
                          .within(1, 2),
                      optional("axis", ParameterKind::Ints, "None",
                               "The axes; None and () mean all."),
                      optional("out_dtype", ParameterKind::Type, "None",
                               "Type of the result; None: that of the data."),
                      optional("keepdims", ParameterKind::Bool, "False",
                               "Leave reduced dimensions, with extent 1.")},
       .relateTypes = relateNormTypes,
       .lower = lowerNorm},
      reduction("prod", {}, "Product of elements", lowerReduce<"reduce_prod">),
      reduction("sum", {"sum_axis"}, "Sum of elements",
                lowerReduce<"reduce_sum">),
  };
  return rows;
}
