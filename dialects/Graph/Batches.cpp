// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Batches.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc::graph;

#include "dlc/dialects/Graph/Batches.cpp.inc"

namespace {

template <typename Rule, typename Op>
using Model = BatchOpInterface::ExternalModel<Rule, Op>;

/// Images, weights and biases; windows.
template <typename Op> struct OfFirst : Model<OfFirst<Op>, Op> {
  std::optional<Batched> getBatched(Operation *) const {
    return Batched{{0}, false};
  }
};

struct WeightGradient : Model<WeightGradient, ConvWeightGradientOp> {
  std::optional<Batched> getBatched(Operation *) const {
    return Batched{{0, 1}, true};
  }
};

struct PoolGradient : Model<PoolGradient, MaxPoolGradientOp> {
  std::optional<Batched> getBatched(Operation *) const {
    return Batched{{0, 1}, false};
  }
};

struct Transpose : Model<Transpose, TransposeOp> {
  std::optional<Batched> getBatched(Operation *op) const {
    ArrayRef<int64_t> perm = cast<TransposeOp>(op).getPerm();
    if (perm.empty() || perm.front() != 0)
      return std::nullopt;
    return Batched{{0}, false};
  }
};

/// Whether known axes have the first dimension among them.
std::optional<bool> hasFirst(Value axes, Value x) {
  auto known = getConstantInts(axes);
  if (!known)
    return std::nullopt;
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  return llvm::any_of(*known,
                      [&](int64_t axis) { return wrapAxis(axis, rank) == 0; });
}

struct ReduceSum : Model<ReduceSum, ReduceSumOp> {
  std::optional<Batched> getBatched(Operation *op) const {
    auto sum = cast<ReduceSumOp>(op);
    if (!sum.getAxes())
      return Batched{{0}, true};
    std::optional<bool> isSummed = hasFirst(sum.getAxes(), sum.getX());
    if (!isSummed)
      return std::nullopt;
    return Batched{{0}, *isSummed};
  }
};

struct Pad : Model<Pad, PadOp> {
  std::optional<Batched> getBatched(Operation *op) const {
    auto pad = cast<PadOp>(op);
    auto pads = getConstantInts(pad.getPads());
    const auto rank = cast<RankedTensorType>(pad.getX().getType()).getRank();
    auto axes = getConstantInts(pad.getAxes());
    if (!pads || !axes || pads->size() != 2 * axes->size())
      return std::nullopt;
    for (auto [i, axis] : llvm::enumerate(*axes))
      if (wrapAxis(axis, rank) == 0 &&
          ((*pads)[i] != 0 || (*pads)[axes->size() + i] != 0))
        return std::nullopt;
    return Batched{{0}, false};
  }
};

/// Along another dimension than the first.
template <typename Op> struct Scan : Model<Scan<Op>, Op> {
  std::optional<Batched> getBatched(Operation *op) const {
    auto scan = cast<Op>(op);
    std::optional<bool> isAlongFirst = hasFirst(scan.getAxis(), scan.getX());
    if (!isAlongFirst || *isAlongFirst)
      return std::nullopt;
    return Batched{{0}, false};
  }
};

/// The largest of each row.
struct TopKOfRows : Model<TopKOfRows, TopKOp> {
  std::optional<Batched> getBatched(Operation *) const { return std::nullopt; }
  std::optional<BatchDims> getBatchDims(Operation *op) const {
    auto top = cast<TopKOp>(op);
    auto rank = cast<RankedTensorType>(top.getX().getType()).getRank();
    if (rank == 0 || wrapAxis(top.getAxis(), rank) == 0)
      return std::nullopt;
    return BatchDims{{0, -1}, {0, 0}};
  }
};

/// With a scale for all, or along another dimension.
template <typename Op> struct Quantized : Model<Quantized<Op>, Op> {
  std::optional<Batched> getBatched(Operation *op) const {
    auto own = cast<Op>(op);
    auto type = dyn_cast<RankedTensorType>(own.getX().getType());
    auto scale = dyn_cast<RankedTensorType>(own.getScale().getType());
    if (!type || !scale || type.getRank() == 0 ||
        (scale.getRank() > 0 && wrapAxis(own.getAxis(), type.getRank()) == 0))
      return std::nullopt;
    return Batched{{0}, false};
  }
};

/// Sequences; weights are the same for all.
template <typename Op> struct Recurrent : Model<Recurrent<Op>, Op> {
  std::optional<Batched> getBatched(Operation *) const { return std::nullopt; }
  std::optional<BatchDims> getBatchDims(Operation *op) const {
    // (steps, batch, input) and (steps, directions, batch, hidden), or with the
    // batch in front.
    const bool isFront = cast<Op>(op).getLayout() == 1;
    const int input = isFront ? 0 : 1, output = isFront ? 0 : 2;
    BatchDims dims{{input, -1, -1, -1, 0, input}, {output, input}};
    if (isa<LstmOp>(op)) {
      dims.operands.append({input, -1});
      dims.results.push_back(input);
    }
    return dims;
  }
};

} // namespace

template <typename... Ops> static void attachOfFirst(MLIRContext *context) {
  (Ops::template attachInterface<OfFirst<Ops>>(*context), ...);
}

void dlc::graph::attachBatches(MLIRContext *context) {
  attachOfFirst<ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp, LpPoolOp>(
      context);
  ConvWeightGradientOp::attachInterface<WeightGradient>(*context);
  MaxPoolGradientOp::attachInterface<PoolGradient>(*context);
  TransposeOp::attachInterface<Transpose>(*context);
  ReduceSumOp::attachInterface<ReduceSum>(*context);
  PadOp::attachInterface<Pad>(*context);
  CumsumOp::attachInterface<Scan<CumsumOp>>(*context);
  CumprodOp::attachInterface<Scan<CumprodOp>>(*context);
  TopKOp::attachInterface<TopKOfRows>(*context);
  RnnOp::attachInterface<Recurrent<RnnOp>>(*context);
  GruOp::attachInterface<Recurrent<GruOp>>(*context);
  LstmOp::attachInterface<Recurrent<LstmOp>>(*context);
  QuantizeLinearOp::attachInterface<Quantized<QuantizeLinearOp>>(*context);
  DequantizeLinearOp::attachInterface<Quantized<DequantizeLinearOp>>(*context);
}

/// Operands that do not broadcast along the first dimension.
static std::optional<Batched> batchedOfElements(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() == 0)
    return std::nullopt;
  Batched batched;
  for (OpOperand &operand : op->getOpOperands()) {
    auto own = dyn_cast<RankedTensorType>(operand.get().getType());
    if (own && own.getRank() == type.getRank() &&
        own.getDimSize(0) == type.getDimSize(0))
      batched.operands.push_back(operand.getOperandNumber());
  }
  if (batched.operands.empty())
    return std::nullopt;
  return batched;
}

std::optional<Batched> dlc::graph::batchedOf(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() > 0)
    return std::nullopt;
  if (auto rule = dyn_cast<BatchOpInterface>(op))
    return rule.getBatched();
  if (isa<ElementwiseOpInterface>(op))
    return batchedOfElements(op);
  return std::nullopt;
}
