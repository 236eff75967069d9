// SPDX-License-Identifier: Apache-2.0
//
// graph-arrange-weights: weights in the order in which generated convolutions
// read them.

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Evaluate.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace dlc::graph {
#define GEN_PASS_DEF_ARRANGEWEIGHTSPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

/// Whether neighbouring channels are apart that are read side by side.
static bool areApart(ConvOp conv) {
  auto type = dyn_cast<RankedTensorType>(conv.getW().getType());
  return type && type.hasStaticShape() && type.getNumElements() > 0 &&
         isa<FloatType>(type.getElementType()) && type.getDimSize(1) > 1 &&
         llvm::product_of(type.getShape().drop_front(2)) > 1 &&
         !hasHostMemory(getDevice(conv.getOperation()));
}

/// Weights with their channels last, as a constant; null where their bytes are
/// missing.
static Value arrange(OpBuilder &builder, ConvOp conv, ElementsAttr weights,
                     ArrayRef<int64_t> perm) {
  auto transpose =
      TransposeOp::create(builder, conv.getLoc(), conv.getW(), perm);
  SmallVector<ElementsAttr> results;
  rt::Status status = evaluateOperation(transpose, weights, results);
  transpose->erase();
  if (!status.isOk())
    return {};
  auto arranged =
      ConstantOp::create(builder, conv.getLoc(), results.front());
  copyPlacement(conv.getW().getDefiningOp(), arranged);
  return arranged;
}

namespace {

struct ArrangeWeights : graph::impl::ArrangeWeightsPassBase<ArrangeWeights> {
  using ArrangeWeightsPassBase::ArrangeWeightsPassBase;
  void runOnOperation() override;
};

} // namespace

void ArrangeWeights::runOnOperation() {
  DenseMap<Value, Value> known; // By the weights as they were, on their device.
  if (!getOperation().getBody().hasOneBlock())
    return;
  Block &body = getOperation().front();
  for (auto conv : llvm::make_early_inc_range(body.getOps<ConvOp>())) {
    ElementsAttr weights = getConstantElements(conv.getW());
    if (!weights || !areApart(conv))
      continue;
    auto rank = weights.getShapedType().getRank();
    SmallVector<int64_t> perm = {0};
    llvm::append_range(perm, llvm::seq<int64_t>(2, rank));
    perm.push_back(1);
    Value &arranged = known[conv.getW()];
    if (!arranged) {
      OpBuilder first = OpBuilder::atBlockBegin(&body);
      arranged = arrange(first, conv, weights, perm);
    }
    if (!arranged)
      continue;
    OpBuilder builder(conv);
    auto back = TransposeOp::create(builder, conv.getLoc(), arranged,
                                    invertPermutationVector(perm));
    copyPlacement(conv, back);
    conv.getWMutable().assign(back.getY());
  }
}
