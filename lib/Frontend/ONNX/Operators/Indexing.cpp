// SPDX-License-Identifier: Apache-2.0
//
// Operators that address elements by index, and those that find indices.

#include "Simple.h"

#include <limits>

using namespace dlc::onnx;
using mlir::Value;

template <Mnemonic name> static void importAlongAxis(NodeContext &n) {
  n.set(0, n.b.op(name.str(), {n.in(0), n.in(1)},
                  {{"axis", n.getInt("axis", 0)}}));
}

static void importGatherND(NodeContext &n) {
  int64_t batchDims = n.opset >= 12 ? n.getInt("batch_dims", 0) : 0;
  n.set(0,
        n.b.op("gather_nd", {n.in(0), n.in(1)}, {{"batch_dims", batchDims}}));
}

static llvm::StringRef reduction(NodeContext &n) {
  if (n.opset < 16)
    return "none";
  if (n.opset < 18)
    return n.getChoice("reduction", "none", {"none", "add", "mul"});
  return n.getChoice("reduction", "none", {"none", "add", "mul", "max", "min"});
}

static void importScatterElements(NodeContext &n) {
  n.set(0,
        n.b.op("scatter_elements", {n.in(0), n.in(1), n.in(2)},
               {{"axis", n.getInt("axis", 0)}, {"reduction", reduction(n)}}));
}

static void importScatterND(NodeContext &n) {
  n.set(0, n.b.op("scatter_nd", {n.in(0), n.in(1), n.in(2)},
                  {{"reduction", reduction(n)}}));
}

static void importTensorScatter(NodeContext &n) {
  llvm::SmallVector<Value> operands = {n.in(0), n.in(1)};
  if (n.has(2))
    operands.push_back(n.asI64(n.in(2)));
  llvm::StringRef mode = n.getChoice("mode", "linear", {"linear", "circular"});
  n.set(0, n.b.op("tensor_scatter", operands,
                  {{"axis", n.getInt("axis", -2)}, {"mode", mode}}));
}

static void importOneHot(NodeContext &n) {
  n.set(0, n.b.op("one_hot",
                  {n.asI64(n.in(0)), asScalar(n, n.asI64(n.in(1))), n.in(2)},
                  {{"axis", n.getInt("axis", -1)}}));
}

static void topK(NodeContext &n, Value k) {
  bool hasOrder = n.opset >= 11;
  bool largest = hasOrder ? n.getBool("largest", true) : true;
  bool sorted = hasOrder ? n.getBool("sorted", true) : true;
  n.setAll(n.b.ops("top_k", {n.in(0), k},
                   {{"axis", n.getInt("axis", -1)},
                    {"largest", largest},
                    {"sorted", sorted}}));
}

static void importTopKV1(NodeContext &n) {
  if (!n.hasAttr("k"))
    return n.fail("expected attribute 'k'");
  topK(n, n.b.ints({n.getInt("k", 0)}));
}

static void importTopK(NodeContext &n) { topK(n, n.asI64(n.in(1))); }

static void importUnique(NodeContext &n) {
  llvm::SmallVector<NamedValue> attributes = {
      {"sorted", n.getBool("sorted", true)}};
  if (n.hasAttr("axis"))
    attributes.push_back({"axis", n.getInt("axis", 0)});
  n.setAll(n.b.ops("unique", {n.in(0)}, attributes));
}

static void importCompress(NodeContext &n) {
  llvm::SmallVector<NamedValue> attributes;
  if (n.hasAttr("axis"))
    attributes.push_back({"axis", n.getInt("axis", 0)});
  n.set(0, n.b.op("compress", {n.in(0), n.in(1)}, attributes));
}

static void importNonMaxSuppression(NodeContext &n) {
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  Value count = n.has(2) ? asScalar(n, n.in(2)) : n.b.intScalar(0);
  Value overlap = n.has(3) ? asScalar(n, n.in(3)) : n.b.scalar(n.b.f32(), 0);
  Value score = n.has(4) ? asScalar(n, n.in(4)) : n.b.scalar(n.b.f32(), lowest);
  n.set(0,
        n.b.op("non_max_suppression", {n.in(0), n.in(1), count, overlap, score},
               {{"center_point_box", n.getInt("center_point_box", 0)}}));
}

static constexpr Operator rows[] = {
    {"Compress", 9, 2, 2, 1, importCompress},
    {"Gather", 1, 2, 2, 1, importAlongAxis<"gather">},
    {"GatherElements", 11, 2, 2, 1, importAlongAxis<"gather_elements">},
    {"GatherND", 11, 2, 2, 1, importGatherND},
    {"NonMaxSuppression", 10, 2, 5, 1, importNonMaxSuppression},
    {"NonZero", 9, 1, 1, 1, importSimple<"non_zero">},
    {"OneHot", 9, 3, 3, 1, importOneHot},
    {"Scatter", 9, 3, 3, 1, importScatterElements},
    {"Scatter", 11, 0, kAny, kAny, nullptr},
    {"ScatterElements", 11, 3, 3, 1, importScatterElements},
    {"ScatterND", 11, 3, 3, 1, importScatterND},
    {"TensorScatter", 24, 2, 3, 1, importTensorScatter},
    {"TopK", 1, 1, 1, 2, importTopKV1},
    {"TopK", 10, 2, 2, 2, importTopK},
    {"Unique", 11, 1, 1, 4, importUnique},
};

llvm::ArrayRef<Operator> dlc::onnx::indexingOperators() { return rows; }
