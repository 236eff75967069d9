// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes at places given by data.

#include "../Operators.h"

#include "mlir/IR/Builders.h"

using namespace dlc::exporter;

// That indices are known to be in bounds is no part of ONNX.

static void writeGather(NodeContext &n) {
  n.result("Gather", n.inputs(), n.attributes({"in_bounds"}));
}

static void writeGatherElements(NodeContext &n) {
  n.result("GatherElements", n.inputs(), n.attributes({"in_bounds"}));
}

static void writeGatherND(NodeContext &n) {
  n.result("GatherND", n.inputs(), n.attributes({"in_bounds"}));
}

/// Reductions came one by one.
static bool checkReduction(NodeContext &n) {
  std::string reduction = n.getString("reduction", "none");
  return (reduction != "max" && reduction != "min") ||
         n.needs(18, "scattering with reduction " + reduction);
}

static void writeScatterElements(NodeContext &n) {
  if (checkReduction(n))
    n.result("ScatterElements", n.inputs(), n.attributes());
}

static void writeScatterND(NodeContext &n) {
  if (checkReduction(n))
    n.result("ScatterND", n.inputs(), n.attributes());
}

/// i + extent where i is negative.
static void writeResolveIndices(NodeContext &n) {
  Ints extents = n.ints("extents");
  std::string added = n.ints(extents);
  mlir::Type i64 = mlir::IntegerType::get(n.op->getContext(), 64);
  if (n.elementOf(0) != i64)
    added = n.node("Cast", {added},
                   {{"to", int64_t(elementNumber(n.elementOf(0)))}});
  std::string isNegative = n.node("Less", {n.in(0), n.scalarLike(0, 0)});
  n.result("Where", {isNegative, n.node("Add", {n.in(0), added}), n.in(0)});
}

static constexpr Row rows[] = {
    {"compress", "Compress"},
    {"gather", "Gather", 17, writeGather},
    {"gather_elements", "GatherElements", 17, writeGatherElements},
    {"gather_nd", "GatherND", 17, writeGatherND},
    {"non_max_suppression", "NonMaxSuppression"},
    {"non_zero", "NonZero"},
    {"one_hot", "OneHot"},
    {"resolve_indices", "Where", 17, writeResolveIndices},
    {"scatter_elements", "ScatterElements", 17, writeScatterElements},
    {"scatter_nd", "ScatterND", 17, writeScatterND},
    {"tensor_scatter", "TensorScatter", 24},
    {"top_k", "TopK"},
    {"unique", "Unique"},
};

llvm::ArrayRef<Row> dlc::exporter::indexingRows() { return rows; }
