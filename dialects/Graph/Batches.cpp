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

/// Along known dimensions, none of which is the first.
template <typename Op> struct Along : Model<Along<Op>, Op> {
  std::optional<Batched> getBatched(Operation *op) const {
    auto own = cast<Op>(op);
    if (!own.getAxes() || hasFirst(own.getAxes(), own.getX()).value_or(true))
      return std::nullopt;
    return Batched{{0}, false};
  }
};

/// Operands that do not broadcast along the first dimension.
std::optional<Batched> batchedOfElements(Operation *op) {
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

/// Along one dimension, an attribute, which is not the first.
template <typename Op> struct Row : Model<Row<Op>, Op> {
  std::optional<Batched> getBatched(Operation *op) const {
    const int64_t rank = typeOf(op->getOperand(0)).getRank();
    if (rank == 0 || wrapAxis(cast<Op>(op).getAxis(), rank) == 0)
      return std::nullopt;
    // Factors and biases of norms broadcast.
    return batchedOfElements(op);
  }
};

struct Concat : Model<Concat, ConcatOp> {
  std::optional<Batched> getBatched(Operation *op) const {
    if (wrapAxis(cast<ConcatOp>(op).getAxis(),
                 typeOf(op->getResult(0)).getRank()) == 0)
      return std::nullopt;
    auto all = llvm::seq(op->getNumOperands());
    return Batched{{all.begin(), all.end()}, false};
  }
};

/// Writes `examples` in the place of the first number of an operand that is
/// known and not 0 or -1, which stand for what is there.
void setFirst(Operation *op, unsigned operand, OpBuilder &builder,
              int64_t examples) {
  SmallVector<int64_t> numbers = *getConstantInts(op->getOperand(operand));
  if (numbers.front() <= 0)
    return;
  numbers.front() = examples;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  op->setOperand(operand,
                 ConstantOp::create(builder, op->getLoc(),
                                    makeInts(builder.getContext(), numbers)));
}

/// Whether the first dimension of an operation's tensor is that of its result.
/// A batch of none, and of what has no elements, is said in other ways.
bool keepsFirst(Operation *op) {
  auto from = typeOf(op->getOperand(0)), to = typeOf(op->getResult(0));
  return from.getRank() > 0 && to.getRank() > 0 && from.getNumElements() > 0 &&
         from.getDimSize(0) == to.getDimSize(0);
}

/// The elements of each example in another shape, by an attribute or axes.
template <typename Op> struct View : Model<View<Op>, Op> {
  std::optional<Batched> getBatched(Operation *op) const {
    // Without axes a batch of one is squeezed, too.
    if (!keepsFirst(op) || (isa<SqueezeOp>(op) && op->getNumOperands() < 2))
      return std::nullopt;
    return Batched{{0}, false};
  }
};

/// The same, or more of them, by a shape that is known.
template <typename Op> struct Shaped : Model<Shaped<Op>, Op> {
  static constexpr unsigned kShape = 1;
  std::optional<Batched> getBatched(Operation *op) const {
    if (!keepsFirst(op) || !getConstantInts(op->getOperand(kShape)) ||
        (isa<ExpandOp>(op) && typeOf(op->getOperand(0)).getRank() !=
                                  typeOf(op->getResult(0)).getRank()))
      return std::nullopt;
    return Batched{{0}, false};
  }
  void setExamples(Operation *op, OpBuilder &builder, int64_t examples) const {
    // What an expansion says of fewer dimensions is not of the first.
    if (!isa<ExpandOp>(op) || typeOf(op->getOperand(kShape)).getDimSize(0) ==
                                  typeOf(op->getResult(0)).getRank())
      setFirst(op, kShape, builder, examples);
  }
};

/// To sizes, or by known factors of which that of the first dimension is one.
struct Resize : Model<Resize, ResizeOp> {
  static constexpr unsigned kSizes = 3;
  /// All dimensions have a size, the first, too.
  static bool hasAllSizes(ResizeOp resize) {
    return resize.getAxes().empty() && getConstantInts(resize.getSizes());
  }
  std::optional<Batched> getBatched(Operation *op) const {
    auto resize = cast<ResizeOp>(op);
    if (!keepsFirst(op))
      return std::nullopt;
    const bool isOfOthers =
        !resize.getAxes().empty() &&
        llvm::none_of(resize.getAxes(), [&](int64_t axis) {
          return wrapAxis(axis, typeOf(resize.getX()).getRank()) == 0;
        });
    const bool isStretched =
        hasAllSizes(resize) && resize.getKeepAspectRatioPolicy() == "stretch";
    ElementsAttr scales = getConstantElements(resize.getScales());
    const bool isByOne = resize.getAxes().empty() && scales &&
                         (*scales.value_begin<APFloat>()).convertToFloat() == 1;
    const bool crops =
        resize.getCoordinateTransformationMode() == "tf_crop_and_resize";
    if (crops || !(isOfOthers || isStretched || isByOne))
      return std::nullopt;
    return Batched{{0}, false};
  }
  void setExamples(Operation *op, OpBuilder &builder, int64_t examples) const {
    if (hasAllSizes(cast<ResizeOp>(op)))
      setFirst(op, kSizes, builder, examples);
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

template <template <typename> typename Rule, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Rule<Ops>>(*context), ...);
}

void dlc::graph::attachBatches(MLIRContext *context) {
  attach<OfFirst, ConvOp, IntegerConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp,
         LpPoolOp, DepthToSpaceOp, SpaceToDepthOp, GroupNormOp>(context);
  attach<Along, SliceOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp>(
      context);
  attach<Row, SoftmaxOp, LogSoftmaxOp, LayerNormOp, RmsNormOp>(context);
  ConcatOp::attachInterface<Concat>(*context);
  attach<View, UnsqueezeOp, SqueezeOp, FlattenOp>(context);
  attach<Shaped, ReshapeOp, ExpandOp>(context);
  ResizeOp::attachInterface<Resize>(*context);
  ConvWeightGradientOp::attachInterface<WeightGradient>(*context);
  MaxPoolGradientOp::attachInterface<PoolGradient>(*context);
  TransposeOp::attachInterface<Transpose>(*context);
  ReduceSumOp::attachInterface<ReduceSum>(*context);
  PadOp::attachInterface<Pad>(*context);
  attach<Scan, CumsumOp, CumprodOp>(context);
  TopKOp::attachInterface<TopKOfRows>(*context);
  attach<Recurrent, RnnOp, GruOp, LstmOp>(context);
  attach<Quantized, QuantizeLinearOp, DequantizeLinearOp>(context);
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
