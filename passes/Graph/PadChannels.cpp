// SPDX-License-Identifier: Apache-2.0
//
// graph-pad-channels: images of few channels, with as many as a block has, and
// values between convolutions, with whole blocks.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

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

/// `value` with zeros behind what it has along `axis`.
static Value pad(OpBuilder &builder, Operation *op, Value value, int64_t axis,
                 int64_t extent) {
  Location loc = op->getLoc();
  MLIRContext *context = builder.getContext();
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  const int64_t missing = extent - shape[axis];
  shape[axis] = extent;
  auto ints = [&](ArrayRef<int64_t> values) -> Value {
    return ConstantOp::create(builder, loc, makeInts(context, values));
  };
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(DenseElementsAttr::get(
          scalar, builder.getZeroAttr(type.getElementType()))));
  auto padded = PadOp::create(builder, loc, type.clone(shape), value,
                              ints({0, missing}), zero, ints({axis}));
  copyPlacement(op, padded);
  return padded.getY();
}

//===----------------------------------------------------------------------===//
// Between convolutions
//===----------------------------------------------------------------------===//

/// Whether the number of channels is that of some weights alone.
static bool hasConstantWeights(ConvOp conv) {
  return hasStaticTypes(conv) && conv.getGroup() == 1 &&
         !conv.getChannelBlock() && getConstantElements(conv.getW()) &&
         (!conv.getBias() || isa<NoneType>(conv.getBias().getType()) ||
          getConstantElements(conv.getBias()));
}

static bool isSumOfEqualTypes(Operation *op) {
  auto add = dyn_cast<AddOp>(op);
  return add && add.getOperand(0).getType() == add.getResult().getType() &&
         add.getOperand(1).getType() == add.getResult().getType();
}

/// Whether only convolutions, and sums, make and read the value, and whole
/// blocks of channels are at most a third more.
static bool isBetween(Value value, int64_t block) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isF32() ||
      type.getRank() < 3 || value.use_empty())
    return false;
  const int64_t channels = type.getDimSize(1);
  if (channels % block == 0 || llvm::divideCeil(channels, block) * block * 3 >
                                   static_cast<uint64_t>(channels) * 4)
    return false;
  Operation *maker = value.getDefiningOp();
  auto conv = dyn_cast_or_null<ConvOp>(maker);
  if (!maker || !(conv ? hasConstantWeights(conv) : isSumOfEqualTypes(maker)))
    return false;
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<ConvOp>(use.getOwner());
    return reader ? hasConstantWeights(reader) && use.getOperandNumber() == 0
                  : isSumOfEqualTypes(use.getOwner());
  });
}

static void padBetween(func::FuncOp function, int64_t block) {
  llvm::SetVector<Value> values;
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isBetween(result, block))
        values.insert(result);
  });
  // Operands and result of a sum go together.
  auto isSplit = [&](Value value) {
    auto differs = [&](Operation *op) {
      return isSumOfEqualTypes(op) && !(values.contains(op->getOperand(0)) &&
                                        values.contains(op->getOperand(1)) &&
                                        values.contains(op->getResult(0)));
    };
    return differs(value.getDefiningOp()) ||
           llvm::any_of(value.getUsers(), differs);
  };
  while (values.remove_if(isSplit)) {
  }
  OpBuilder builder(function.getContext());
  for (Value value : values) {
    RankedTensorType type = typeOf(value);
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = static_cast<int64_t>(llvm::alignTo(shape[1], block));
    auto padWeights = [&](ConvOp conv, OpOperand &operand, int64_t axis) {
      builder.setInsertionPoint(conv);
      operand.set(pad(builder, conv, operand.get(), axis, shape[1]));
    };
    if (auto conv = value.getDefiningOp<ConvOp>()) {
      padWeights(conv, conv.getWMutable(), 0);
      if (conv.getBias() && !isa<NoneType>(conv.getBias().getType()))
        padWeights(conv, conv->getOpOperand(2), 0);
    }
    for (OpOperand &use : value.getUses())
      if (auto conv = dyn_cast<ConvOp>(use.getOwner()))
        padWeights(conv, conv.getWMutable(), 1);
    value.setType(type.clone(shape));
  }
}

namespace {

struct PadChannels : graph::impl::PadChannelsPassBase<PadChannels> {
  using PadChannelsPassBase::PadChannelsPassBase;
  void runOnOperation() override {
    if (isBetween)
      return padBetween(getOperation(), block);
    getOperation().walk([&](ConvOp conv) {
      if (!isWorthPadding(conv, block))
        return;
      OpBuilder builder(conv);
      Value x = pad(builder, conv, conv.getX(), 1, block),
            w = pad(builder, conv, conv.getW(), 1, block);
      conv.getXMutable().assign(x);
      conv.getWMutable().assign(w);
    });
  }
};

} // namespace
