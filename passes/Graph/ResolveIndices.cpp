// SPDX-License-Identifier: Apache-2.0
//
// graph-resolve-indices: kernels cannot fail, so that indices are checked in
// front of them.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ranges.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace dlc::graph {
#define GEN_PASS_DEF_RESOLVEINDICESPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;

/// The indices counted from the beginning; nullopt when one is out of range.
static std::optional<SmallVector<int64_t>> resolve(ArrayRef<int64_t> indices,
                                                   ArrayRef<int64_t> extents) {
  SmallVector<int64_t> resolved;
  for (auto [i, index] : llvm::enumerate(indices)) {
    int64_t extent = extents[i % extents.size()];
    if (index < -extent || index >= extent)
      return std::nullopt;
    resolved.push_back(index < 0 ? index + extent : index);
  }
  return resolved;
}

/// `indices` as a constant of `type`, i32 or i64.
static ElementsAttr makeIndices(RankedTensorType type,
                                ArrayRef<int64_t> indices) {
  if (type.getElementType().isInteger(64))
    return DenseIntElementsAttr::get(type, indices);
  SmallVector<int32_t> narrow(indices.begin(), indices.end());
  return DenseIntElementsAttr::get(type, ArrayRef<int32_t>(narrow));
}

/// True when `op` is in bounds now.
static bool resolveIndices(graph::IndexedOpInterface op) {
  std::optional<SmallVector<int64_t>> extents = op.getIndexedExtents();
  if (!extents || extents->empty() || !graph::hasStaticTypes(op))
    return false;
  OpBuilder builder(op);
  OpOperand &operand = op.getIndicesOperand();
  auto type = cast<RankedTensorType>(operand.get().getType());
  auto replace = [&](auto built) {
    graph::copyPlacement(op, built);
    operand.set(built);
  };
  if (auto known = graph::getConstantInts(operand.get())) {
    std::optional<SmallVector<int64_t>> resolved = resolve(*known, *extents);
    if (!resolved)
      return false; // The Reference kernel says so when it runs.
    if (*resolved != *known)
      replace(graph::ConstantOp::create(builder, op.getLoc(),
                                        makeIndices(type, *resolved)));
  } else if (!graph::areWithin(operand.get(), *extents,
                               graph::kStepsToDecide)) {
    replace(graph::ResolveIndicesOp::create(builder, op.getLoc(), operand.get(),
                                            *extents));
  }
  op.markInBounds();
  return true;
}

namespace {
struct ResolveIndices
    : public graph::impl::ResolveIndicesPassBase<ResolveIndices> {
  void runOnOperation() override {
    int64_t resolved = 0;
    getOperation().walk([&](graph::IndexedOpInterface op) {
      if (!op.isInBounds())
        resolved += resolveIndices(op);
    });
    remark::passed(getOperation().getLoc(),
                   remark::RemarkOpts::name("ResolveIndices")
                       .category("graph-resolve-indices"))
        << remark::add("resolved") << remark::metric("Operations", resolved);
  }
};
} // namespace
