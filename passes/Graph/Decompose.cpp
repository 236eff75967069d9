// SPDX-License-Identifier: Apache-2.0
//
// graph-decompose: operations without kernels of their own, as those that have
// fast ones.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace dlc::graph {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;

namespace {
struct Decompose : public graph::impl::DecomposePassBase<Decompose> {
  void runOnOperation() override;
  void runOnBlock(Block &block);

  int64_t decomposed = 0;
};
} // namespace

/// The results from parts that are faster; fails where there are none.
static FailureOr<SmallVector<Value>> buildParts(Operation *op,
                                                OpBuilder &builder) {
  if (auto composite = dyn_cast<graph::DecomposeOpInterface>(op);
      composite && composite.hasFasterParts())
    return composite.decompose(builder);
  if (auto reduction = dyn_cast<graph::ReductionOpInterface>(op))
    if (FailureOr<Value> value = reduction.foldInParts(builder);
        succeeded(value))
      return SmallVector<Value>{*value};
  return failure();
}

void Decompose::runOnBlock(Block &block) {
  for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        runOnBlock(inner);
    Operation *next = op->getNextNode();
    OpBuilder builder(op);
    Operation *before = op->getPrevNode();
    if (FailureOr<SmallVector<Value>> values = buildParts(op, builder);
        succeeded(values)) {
      graph::copyPlacement(op, before, builder);
      op->replaceAllUsesWith(*values);
      op->erase();
      ++decomposed;
      // Its parts may have such themselves.
      next = before ? before->getNextNode() : &block.front();
    }
    op = next;
  }
}

void Decompose::runOnOperation() {
  decomposed = 0;
  for (Block &block : getOperation().getBody())
    runOnBlock(block);
  remark::passed(
      getOperation().getLoc(),
      remark::RemarkOpts::name("Decompose").category("graph-decompose"))
      << remark::add("decomposed") << remark::metric("Operations", decomposed);
}
