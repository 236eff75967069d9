// SPDX-License-Identifier: Apache-2.0
//
// graph-pad-channels: images of few channels, with as many as a block has.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc::graph {
#define GEN_PASS_DEF_PADCHANNELSPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

/// Whether each element is read for many taps, and has too few neighbours.
static bool isWorthPadding(ConvOp conv, int64_t block) {
  constexpr int64_t leastTaps = 9;
  if (!hasStaticTypes(conv) || conv.getGroup() != 1 || conv.getChannelBlock() ||
      !getConstantElements(conv.getW()))
    return false;
  RankedTensorType x = typeOf(conv.getX()), w = typeOf(conv.getW());
  Type element = x.getElementType();
  return (element.isF32() || element.isF16() || element.isBF16()) &&
         x.getRank() == w.getRank() && x.getNumElements() > 0 &&
         x.getDimSize(1) < block &&
         typeOf(conv.getY()).getDimSize(1) % block == 0 &&
         llvm::product_of(w.getShape().drop_front(2)) >= leastTaps;
}

/// `value` with zeros behind its channels.
static Value pad(OpBuilder &builder, ConvOp conv, Value value, int64_t block) {
  Location loc = conv.getLoc();
  MLIRContext *context = builder.getContext();
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  const int64_t missing = block - shape[1];
  shape[1] = block;
  auto ints = [&](ArrayRef<int64_t> values) -> Value {
    return ConstantOp::create(builder, loc, makeInts(context, values));
  };
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(DenseElementsAttr::get(
          scalar, builder.getZeroAttr(type.getElementType()))));
  auto padded = PadOp::create(builder, loc, type.clone(shape), value,
                              ints({0, missing}), zero, ints({1}));
  copyPlacement(conv, padded);
  return padded.getY();
}

namespace {

struct PadChannels : graph::impl::PadChannelsPassBase<PadChannels> {
  using PadChannelsPassBase::PadChannelsPassBase;
  void runOnOperation() override {
    getOperation().walk([&](ConvOp conv) {
      if (!isWorthPadding(conv, block))
        return;
      OpBuilder builder(conv);
      Value x = pad(builder, conv, conv.getX(), block),
            w = pad(builder, conv, conv.getW(), block);
      conv.getXMutable().assign(x);
      conv.getWMutable().assign(w);
    });
  }
};

} // namespace
