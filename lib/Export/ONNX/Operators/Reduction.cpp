// SPDX-License-Identifier: Apache-2.0
//
// Reductions, places of extremes, running sums.

#include "../Operators.h"

using namespace dlc::exporter;

/// Axes were an attribute before opset 18, of all reductions but sums.
template <bool isSum>
static void writeReduce(NodeContext &n, llvm::StringRef type) {
  Attributes attributes = {{"keepdims", int64_t(n.getBool("keepdims", true))}};
  if (n.elementOf(0).isInteger(1) && !n.needs(20, type + " of bool"))
    return;
  if (!n.has(1))
    return n.result(type, {n.in(0)}, attributes);
  if (isSum || n.opset() >= 18) {
    attributes.push_back({"noop_with_empty_axes", int64_t(1)});
    return n.result(type, {n.in(0), n.in(1)}, attributes);
  }
  std::optional<Ints> axes = n.constantInts(1);
  if (!axes) {
    n.needs(18, type + " over axes that are not constant");
    return;
  }
  if (axes->empty()) // No axes mean all of them to that ONNX.
    return n.result("Identity", {n.in(0)});
  attributes.push_back({"axes", *axes});
  n.result(type, {n.in(0)}, attributes);
}

static void writeSum(NodeContext &n) { writeReduce<true>(n, "ReduceSum"); }
static void writeMean(NodeContext &n) { writeReduce<false>(n, "ReduceMean"); }
static void writeMax(NodeContext &n) { writeReduce<false>(n, "ReduceMax"); }
static void writeMin(NodeContext &n) { writeReduce<false>(n, "ReduceMin"); }
static void writeProd(NodeContext &n) { writeReduce<false>(n, "ReduceProd"); }

static constexpr Row rows[] = {
    {"arg_max", "ArgMax"},
    {"arg_min", "ArgMin"},
    {"cumprod", "CumProd", 26},
    {"cumsum", "CumSum"},
    {"reduce_max", "ReduceMax", 17, writeMax},
    {"reduce_mean", "ReduceMean", 17, writeMean},
    {"reduce_min", "ReduceMin", 17, writeMin},
    {"reduce_prod", "ReduceProd", 17, writeProd},
    {"reduce_sum", "ReduceSum", 17, writeSum},
};

llvm::ArrayRef<Row> dlc::exporter::reductionRows() { return rows; }
