// SPDX-License-Identifier: Apache-2.0
//
// MXNet's NumPy products, and those of its attention layers.

#include "Layers.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- NumPy -------------------------------------------------------------===//

/// Sums over pairs of axes: matrices of what stays and what is summed.
static Value contract(LoweringContext &n, Value a, Value b, const Ints &axesA,
                      const Ints &axesB) {
  Ints shapeA = n.shape(a, "an operand"), shapeB = n.shape(b, "an operand");
  if (n.b.failed())
    return {};
  if (axesA.size() != axesB.size()) {
    n.fail("expected as many axes of both operands, got " +
           Twine(axesA.size()) + " and " + Twine(axesB.size()));
    return {};
  }
  for (size_t i = 0; i < axesA.size(); ++i)
    if (shapeA[axesA[i]] != shapeB[axesB[i]]) {
      n.fail("expected extent " + Twine(shapeA[axesA[i]]) + " of axis " +
             Twine(axesB[i]) + " of 'b', got " + Twine(shapeB[axesB[i]]));
      return {};
    }
  Ints permA, permB = axesB, result;
  int64_t rows = 1, columns = 1, summed = 1;
  for (size_t i = 0; i < shapeA.size(); ++i)
    if (!llvm::is_contained(axesA, static_cast<int64_t>(i))) {
      permA.push_back(i);
      result.push_back(shapeA[i]);
      rows *= shapeA[i];
    }
  for (int64_t axis : axesA) {
    permA.push_back(axis);
    summed *= shapeA[axis];
  }
  for (size_t i = 0; i < shapeB.size(); ++i)
    if (!llvm::is_contained(axesB, static_cast<int64_t>(i))) {
      permB.push_back(i);
      result.push_back(shapeB[i]);
      columns *= shapeB[i];
    }
  auto as = [&](Value x, const Ints &perm, const Ints &shape) {
    return n.b.reshapeTo(n.b.transpose(x, perm), shape);
  };
  Value product = n.b.op("matmul", {as(a, permA, {rows, summed}),
                                    as(b, permB, {summed, columns})});
  return n.b.reshapeTo(product, result);
}

/// The last axis of a with the last but one of b; a scalar multiplies.
static void lowerDot(LoweringContext &n) {
  Value a = n.in(0), b = n.in(1);
  int64_t rankA = n.rank(a), rankB = n.rank(b);
  if (rankA == 0 || rankB == 0)
    return n.set(0, n.b.mul(a, b));
  n.set(0, contract(n, a, b, {rankA - 1}, {std::max<int64_t>(rankB - 2, 0)}));
}

/// Vectors are a row on the left and a column on the right.
static void lowerMatmul(LoweringContext &n) {
  Value a = n.in(0), b = n.in(1);
  int64_t rankA = n.rank(a), rankB = n.rank(b);
  if (rankA == 0 || rankB == 0)
    return n.fail("expected operands of at least 1 dimension, got a scalar");
  if (rankA == 1)
    a = n.b.unsqueeze(a, {0});
  if (rankB == 1)
    b = n.b.unsqueeze(b, {1});
  Value y = n.b.op("matmul", {a, b});
  Ints dropped;
  if (rankA == 1)
    dropped.push_back(-2);
  if (rankB == 1)
    dropped.push_back(-1);
  n.set(0, n.b.squeeze(y, dropped));
}

static void lowerTensordot(LoweringContext &n) {
  Ints axesA = n.axes(n.ints("a_axes_summed"), n.rank(n.in(0))),
       axesB = n.axes(n.ints("b_axes_summed"), n.rank(n.in(1)));
  if (!n.b.failed())
    n.set(0, contract(n, n.in(0), n.in(1), axesA, axesB));
}

static void lowerTensordotInt(LoweringContext &n) {
  int64_t rankA = n.rank(n.in(0)), rankB = n.rank(n.in(1)),
          count = n.p.getInt("axes");
  if (count > rankA || count > rankB)
    return n.fail("parameter 'axes': expected at most " +
                  Twine(std::min(rankA, rankB)) + ", got " + Twine(count));
  n.set(0, contract(n, n.in(0), n.in(1), range(rankA - count, rankA),
                    range(0, count)));
}

static void lowerEinsum(LoweringContext &n) {
  if (n.inputCount() == 0)
    return n.fail("expected at least 1 operand, got none");
  llvm::StringRef equation = n.p.getText("subscripts");
  n.set(0, n.b.op("einsum", n.inputs(), {{"equation", equation}}));
}

//===-- Attention ---------------------------------------------------------===//

Value symbol::headsOf(LoweringContext &n, Value x, int64_t parts,
                      int64_t part) {
  Ints shape = n.shape(x, "attention");
  int64_t heads = n.p.getInt("heads");
  if (n.b.failed())
    return {};
  if (shape.size() != 3 || shape[2] % (heads * parts)) {
    n.fail("expected data of 3 dimensions, the last one a multiple of " +
           Twine(heads * parts));
    return {};
  }
  int64_t length = shape[0], batch = shape[1], size = shape[2] / heads / parts;
  Value y = n.b.reshapeTo(x, {length, batch, heads, parts, size});
  y = n.b.squeeze(n.b.slice(y, 3, part, part + 1), {3});
  y = n.b.transpose(y, {1, 2, 0, 3});
  return n.b.reshapeTo(y, {batch * heads, length, size});
}

Value symbol::multiplyByTransposed(LoweringContext &n, Value x, Value y) {
  return n.b.op("matmul", {x, n.b.transpose(y, {0, 2, 1})});
}

/// q k^T / sqrt(size).
static void setScores(LoweringContext &n, Value q, Value k) {
  if (n.b.failed())
    return;
  auto size = static_cast<double>(GraphBuilder::dimOf(q, 2));
  q = n.b.mul(q, n.scalarLike(q, 1 / std::sqrt(size)));
  n.set(0, multiplyByTransposed(n, q, k));
}

Value symbol::joinHeads(LoweringContext &n, Value x) {
  Ints shape = n.shape(x, "attention");
  int64_t heads = n.p.getInt("heads");
  if (n.b.failed())
    return {};
  int64_t batch = shape[0] / heads, length = shape[1], size = shape[2];
  x = n.b.reshapeTo(x, {batch, heads, length, size});
  x = n.b.transpose(x, {2, 0, 1, 3});
  return n.b.reshapeTo(x, {length, batch, heads * size});
}

/// Sums of values.
static void setContext(LoweringContext &n, Value values, Value attention) {
  if (!n.b.failed())
    n.set(0, joinHeads(n, n.b.op("matmul", {attention, values})));
}

static void lowerSelfScores(LoweringContext &n) {
  setScores(n, headsOf(n, n.in(0), 3, 0), headsOf(n, n.in(0), 3, 1));
}

static void lowerSelfContext(LoweringContext &n) {
  setContext(n, headsOf(n, n.in(0), 3, 2), n.in(1));
}

static void lowerCrossScores(LoweringContext &n) {
  setScores(n, headsOf(n, n.in(0), 1, 0), headsOf(n, n.in(1), 2, 0));
}

static void lowerCrossContext(LoweringContext &n) {
  setContext(n, headsOf(n, n.in(0), 2, 1), n.in(1));
}

/// x / sqrt(last extent).
static void lowerDivSqrtDim(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.shape(x, "the last dimension");
  if (n.b.failed())
    return;
  if (shape.empty())
    return n.fail("expected data of at least 1 dimension, got a scalar");
  double root = std::sqrt(static_cast<double>(shape.back()));
  n.set(0, n.b.div(x, n.scalarLike(x, root)));
}

//===-- Declarations ------------------------------------------------------===//

static Operator attention(std::string_view name, std::string_view summary,
                          std::vector<Input> inputs,
                          void (*lower)(LoweringContext &)) {
  return {.name = name,
          .summary = summary,
          .details = "Data are (length, batch, channels), whose channels are "
                     "interleaved head by head.",
          .parameters = {required("heads", ParameterKind::Int,
                                  "How many heads share the channels.")
                             .within(1, 1 << 20)},
          .inputs = std::move(inputs),
          .lower = lower};
}

std::span<const Operator> dlc::symbol::numpyContractionOperators() {
  static const std::vector<Operator> rows = {
      {.name = "_np_dot",
       .summary = "Sum over the last axis and the last but one",
       .inputs = {{"a"}, {"b"}},
       .lower = lowerDot},
      {.name = "_npi_matmul",
       .summary = "Products of matrices, whose other axes are repeated",
       .inputs = {{"a"}, {"b"}},
       .outputs = {{"out"}},
       .lower = lowerMatmul},
      {.name = "_npi_tensordot",
       .summary = "Sum over pairs of axes",
       .parameters = {required("a_axes_summed", ParameterKind::Ints,
                               "Axes of the first operand."),
                      required("b_axes_summed", ParameterKind::Ints,
                               "Axes of the second.")},
       .inputs = {{"a"}, {"b"}},
       .lower = lowerTensordot},
      {.name = "_npi_tensordot_int_axes",
       .summary = "Sum over the last axes of the one, the first of the other",
       .parameters =
           {required("axes", ParameterKind::Int, "How many.").within(0, 64)},
       .inputs = {{"a"}, {"b"}},
       .lower = lowerTensordotInt},
      {.name = "_npi_einsum",
       .summary = "Einstein summation",
       .parameters = {optional("num_args", ParameterKind::Int, "0",
                               "Number of operands; filled in when composing.")
                          .within(0, kMaxOperands),
                      optional("subscripts", ParameterKind::Text, "",
                               "Letters of axes, as in ij,jk->ik."),
                      ignored("optimize", ParameterKind::Int, "0")},
       .inputs = {},
       .inputCount = "num_args",
       .lower = lowerEinsum},
      attention("_contrib_interleaved_matmul_selfatt_qk",
                "Scores of attention to itself", {{"queries_keys_values"}},
                lowerSelfScores),
      attention("_contrib_interleaved_matmul_selfatt_valatt",
                "Values that attention to itself weights",
                {{"queries_keys_values"}, {"attention"}}, lowerSelfContext),
      attention("_contrib_interleaved_matmul_encdec_qk",
                "Scores of attention to another",
                {{"queries"}, {"keys_values"}}, lowerCrossScores),
      attention("_contrib_interleaved_matmul_encdec_valatt",
                "Values that attention to another weights",
                {{"keys_values"}, {"attention"}}, lowerCrossContext),
      {.name = "_contrib_div_sqrt_dim",
       .summary = "The data over the root of their last extent",
       .relateShapes = sameShapes,
       .lower = lowerDivSqrtDim},
  };
  return rows;
}
