// SPDX-License-Identifier: Apache-2.0
//
// graph-pad-channels: images of few channels, with as many as a block has, and
// values between convolutions, with whole blocks.

#include "Extents.h"
#include "LayoutForms.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Evaluate.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
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

/// Whether each element of the result is one of all operands', but for numbers,
/// and finite where these are zeros: what weights of zeros then make nothing
/// of.
static bool isElementwise(Operation *op) {
  if (!isa<ElementwiseOpInterface>(op) || op->getNumResults() != 1)
    return false;
  Type type = op->getResult(0).getType();
  SmallVector<ElementsAttr> zeros;
  for (Value operand : op->getOperands()) {
    ElementsAttr number = getConstantElements(operand);
    const bool isNumber = number && number.getNumElements() == 1;
    if (!isNumber && operand.getType() != type)
      return false;
    zeros.push_back(
        isNumber
            ? number
            : cast<ElementsAttr>(Builder(type.getContext()).getZeroAttr(type)));
  }
  SmallVector<ElementsAttr> results = evaluateSplat(op, zeros);
  return !results.empty() && areFiniteFloats(results.front());
}

/// Whether only convolutions, and elementwise operations, make and read the
/// value, and whole blocks of channels, several, are at most a third more.
static bool isBetween(Value value, int64_t block) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isF32() ||
      type.getRank() < 3 || value.use_empty())
    return false;
  const int64_t channels = type.getDimSize(1);
  if (channels < block || channels % block == 0 ||
      llvm::divideCeil(channels, block) * block * 3 >
          static_cast<uint64_t>(channels) * 4)
    return false;
  Operation *maker = value.getDefiningOp();
  auto conv = dyn_cast_or_null<ConvOp>(maker);
  if (!maker || !(conv ? hasConstantWeights(conv) : isElementwise(maker)))
    return false;
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<ConvOp>(use.getOwner());
    return reader ? hasConstantWeights(reader) && use.getOperandNumber() == 0
                  : isElementwise(use.getOwner());
  });
}

/// Drops values of which convolutions take longer for whole blocks, each alone
/// and then all that hang together: rounded floats are those of whole blocks,
/// others are less to multiply.
static void dropSlower(llvm::SetVector<Value> &values,
                       llvm::function_ref<bool(Value)> isSplit, int64_t block) {
  const ConvOptions options = {.block = block, .bf16Parts = library::kRounded};
  // Whether convolutions of some values take longer with these padded.
  auto areSlower = [&](const llvm::SetVector<Value> &some) {
    llvm::SetVector<ConvOp> convs;
    for (Value value : some) {
      if (auto conv = value.getDefiningOp<ConvOp>())
        convs.insert(conv);
      for (Operation *user : value.getUsers())
        if (auto conv = dyn_cast<ConvOp>(user))
          convs.insert(conv);
    }
    uint64_t padded = 0, plain = 0;
    for (ConvOp conv : convs) {
      auto channelsOf = [&](Value side, bool isPadded) {
        const int64_t channels = typeOf(side).getDimSize(1);
        const bool isWhole =
            values.contains(side) && (isPadded || !some.contains(side));
        return isWhole ? static_cast<int64_t>(llvm::alignTo(channels, block))
                       : channels;
      };
      auto timeOf = [&](bool isPadded) {
        return timeOfChannels(conv, channelsOf(conv.getX(), isPadded),
                              channelsOf(conv.getY(), isPadded), options)
            .value_or(0);
      };
      padded += timeOf(true);
      plain += timeOf(false);
    }
    return padded > plain;
  };
  auto isSlower = [&](Value value) {
    llvm::SetVector<Value> alone;
    alone.insert(value);
    return areSlower(alone);
  };
  while (values.remove_if(isSplit) || values.remove_if(isSlower)) {
  }
  llvm::EquivalenceClasses<Value> together;
  for (Value value : values) {
    together.insert(value);
    for (Operation *user : value.getUsers())
      for (Value result : user->getResults())
        if (values.contains(result))
          together.unionSets(value, result);
  }
  llvm::SetVector<Value> slower;
  for (const auto &first : together) {
    if (!first->isLeader())
      continue;
    llvm::SetVector<Value> all;
    for (Value value : together.members(*first))
      all.insert(value);
    if (areSlower(all))
      slower.insert_range(all);
  }
  values.set_subtract(slower);
}

static void padBetween(func::FuncOp function, int64_t block) {
  llvm::SetVector<Value> values;
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isBetween(result, block))
        values.insert(result);
  });
  // Operands and result of an elementwise operation go together.
  auto isSplit = [&](Value value) {
    auto differs = [&](Operation *op) {
      if (isa<ConvOp>(op))
        return false;
      auto isKept = [&](Value other) {
        return values.contains(other) || other.getType() != value.getType();
      };
      return !isKept(op->getResult(0)) ||
             !llvm::all_of(op->getOperands(), isKept);
    };
    return differs(value.getDefiningOp()) ||
           llvm::any_of(value.getUsers(), differs);
  };
  dropSlower(values, isSplit, block);
  OpBuilder builder(function.getContext());
  for (Value value : values) {
    RankedTensorType type = typeOf(value);
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = static_cast<int64_t>(llvm::alignTo(shape[1], block));
    auto padWeights = [&](ConvOp conv, OpOperand &operand, int64_t axis) {
      builder.setInsertionPoint(conv);
      operand.set(withExtent(builder, conv.getLoc(), conv, operand.get(), axis,
                             shape[1]));
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
    if (block < 1) {
      emitError(getOperation().getLoc())
          << "expected a block of at least one channel, got " << int64_t(block);
      return signalPassFailure();
    }
    if (isBetween)
      return padBetween(getOperation(), block);
    getOperation().walk([&](ConvOp conv) {
      if (!isWorthPadding(conv, block))
        return;
      OpBuilder builder(conv);
      auto padded = [&](Value value) {
        return withExtent(builder, conv.getLoc(), conv, value, 1, block);
      };
      Value x = padded(conv.getX()), w = padded(conv.getW());
      conv.getXMutable().assign(x);
      conv.getWMutable().assign(w);
    });
  }
};

} // namespace
