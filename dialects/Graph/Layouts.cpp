// SPDX-License-Identifier: Apache-2.0
//
// Operations whose dimensions come in another order, or whose channels come in
// blocks: their axes follow.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dlc::graph;

/// Where dimension `axis`, which may count from the end, goes.
static int64_t permuted(int64_t axis, ArrayRef<int64_t> perm) {
  auto rank = static_cast<int64_t>(perm.size());
  return llvm::find(perm, axis < 0 ? axis + rank : axis) - perm.begin();
}

std::optional<PermutedOp>
dlc::graph::detail::permuteAxis(Operation *op, ArrayRef<int64_t> perm) {
  int64_t axis =
      permuted(op->getAttrOfType<IntegerAttr>("axis").getInt(), perm);
  Builder builder(op->getContext());
  PermutedOp result;
  result.attributes.push_back(
      builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis)));
  return result;
}

std::optional<PermutedOp>
dlc::graph::detail::permuteAxes(OpOperand &axes, ArrayRef<int64_t> perm) {
  auto values = getConstantInts(axes.get());
  if (!values)
    return std::nullopt;
  for (int64_t &axis : *values)
    axis = permuted(axis, perm);
  PermutedOp result;
  result.constants.emplace_back(
      axes.getOperandNumber(),
      makeInts(axes.getOwner()->getContext(), *values));
  return result;
}

std::optional<PermutedOp> ConcatOp::permute(ArrayRef<int64_t> perm) {
  return detail::permuteAxis(*this, perm);
}

std::optional<PermutedOp> SplitOp::permute(ArrayRef<int64_t> perm) {
  return detail::permuteAxis(*this, perm);
}

std::optional<PermutedOp> SliceOp::permute(ArrayRef<int64_t> perm) {
  return detail::permuteAxes(getAxesMutable(), perm);
}

std::optional<PermutedOp> PadOp::permute(ArrayRef<int64_t> perm) {
  return detail::permuteAxes(getAxesMutable(), perm);
}

//===----------------------------------------------------------------------===//
// Channels in blocks
//===----------------------------------------------------------------------===//

// N, C, D1..Dn becomes N, C/b, D1..Dn, b: axes that count from the front stay.

static constexpr int64_t kChannels = 1;

static int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

static PermutedOp withAxis(Operation *op, int64_t axis) {
  Builder builder(op->getContext());
  PermutedOp result;
  result.attributes.push_back(
      builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis)));
  return result;
}

/// What `axes`, a vector, lists of a tensor of that rank, counted from the
/// front; nullopt unless it is known.
static std::optional<SmallVector<int64_t>> wrappedAxes(Value axes,
                                                       int64_t rank) {
  auto values = getConstantInts(axes);
  if (values)
    for (int64_t &axis : *values)
      axis = wrapAxis(axis, rank);
  return values;
}

/// Of an operation that does something along `axes`, but not to channels.
static std::optional<PermutedOp> blockAxes(OpOperand &axes) {
  Operation *op = axes.getOwner();
  auto values = wrappedAxes(axes.get(), rankOf(op->getOperand(0)));
  if (!values || llvm::is_contained(*values, kChannels))
    return std::nullopt;
  PermutedOp result;
  result.constants.emplace_back(axes.getOperandNumber(),
                                makeInts(op->getContext(), *values));
  return result;
}

std::optional<PermutedOp> dlc::graph::detail::blockReduction(OpOperand &axes,
                                                             bool keepdims) {
  int64_t rank = rankOf(axes.getOwner()->getOperand(0));
  auto result = blockAxes(axes);
  if (!result || keepdims)
    return result;
  // All but the channels: the result, N, C or C, is there as it was.
  auto values = wrappedAxes(axes.get(), rank);
  auto spatial = llvm::count_if(*values, [](int64_t axis) { return axis > 1; });
  return spatial == rank - 2 ? result : std::nullopt;
}

/// Windows have one dimension more, along which they cover one element.
static PermutedOp blockWindow(Operation *op) {
  Builder builder(op->getContext());
  PermutedOp result;
  auto set = [&](StringRef name, ArrayRef<int64_t> values) {
    result.attributes.push_back(
        builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values)));
  };
  auto listed = [&](StringRef name) {
    auto list = op->getAttrOfType<DenseI64ArrayAttr>(name);
    return SmallVector<int64_t>(list ? list.asArrayRef() : ArrayRef<int64_t>());
  };
  for (StringRef name : {"kernel_shape", "strides", "dilations"}) {
    SmallVector<int64_t> values = listed(name);
    if (values.empty())
      continue;
    values.push_back(1);
    set(name, values);
  }
  SmallVector<int64_t> pads = listed("pads");
  if (!pads.empty()) {
    pads.insert(pads.begin() + static_cast<ptrdiff_t>(pads.size() / 2), 0);
    pads.push_back(0);
    set("pads", pads);
  }
  return result;
}

/// Whether windows have one element along the last dimension, and all of these.
template <typename Op> static bool isLastApart(Op op) {
  auto isOne = [](ArrayRef<int64_t> values) {
    return values.empty() || values.back() == 1;
  };
  ArrayRef<int64_t> pads = op.getPads();
  const bool isPadded =
      !pads.empty() && (pads[pads.size() / 2 - 1] != 0 || pads.back() != 0);
  return isOne(op.getKernelShape()) && isOne(op.getStrides()) && !isPadded;
}

bool MaxPoolOp::keepsChannelsApart() { return true; }
bool AvgPoolOp::keepsChannelsApart() { return true; }
bool SliceOp::keepsChannelsApart() { return true; }
bool PadOp::keepsChannelsApart() { return true; }
bool ResizeOp::keepsChannelsApart() { return true; }

bool MaxPoolOp::hasAnyBlocks() { return isLastApart(*this); }
bool AvgPoolOp::hasAnyBlocks() { return isLastApart(*this); }

std::optional<PermutedOp> MaxPoolOp::permute(ArrayRef<int64_t>) {
  return std::nullopt;
}

std::optional<PermutedOp> MaxPoolOp::block(int64_t) {
  return blockWindow(*this);
}

std::optional<PermutedOp> AvgPoolOp::permute(ArrayRef<int64_t>) {
  return std::nullopt;
}

std::optional<PermutedOp> AvgPoolOp::block(int64_t) {
  return blockWindow(*this);
}

std::optional<PermutedOp> MaxPoolGradientOp::permute(ArrayRef<int64_t>) {
  return std::nullopt;
}

std::optional<PermutedOp> MaxPoolGradientOp::block(int64_t) {
  return blockWindow(*this);
}

static int64_t channelsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getDimSize(kChannels);
}

std::optional<PermutedOp> ConcatOp::block(int64_t size) {
  int64_t rank = rankOf(getY()), axis = wrapAxis(getAxis(), rank);
  // Along channels a single one is not repeated, as it is elsewhere.
  auto isWhole = [&](Value operand) { return channelsOf(operand) % size == 0; };
  if (axis != kChannels || llvm::all_of(getOperands(), isWhole))
    return withAxis(*this, axis);
  // Each operand is one block.
  if (channelsOf(getY()) == size)
    return withAxis(*this, rank);
  return std::nullopt;
}

std::optional<PermutedOp> SplitOp::block(int64_t size) {
  int64_t rank = rankOf(getX()), axis = wrapAxis(getAxis(), rank);
  PermutedOp result = withAxis(*this, axis);
  if (axis != kChannels)
    return result;
  auto sizes = getConstantInts(getSizes());
  auto isWhole = [&](int64_t part) { return part % size == 0; };
  if (!sizes)
    return std::nullopt;
  if (!llvm::all_of(*sizes, isWhole))
    return channelsOf(getX()) == size // Each result is one block.
               ? std::optional(withAxis(*this, rank))
               : std::nullopt;
  for (int64_t &part : *sizes)
    part /= size;
  result.constants.emplace_back(getSizesMutable().getOperandNumber(),
                                makeInts(getContext(), *sizes));
  return result;
}

std::optional<PermutedOp> SliceOp::block(int64_t) {
  return blockAxes(getAxesMutable());
}

std::optional<PermutedOp> PadOp::block(int64_t) {
  return blockAxes(getAxesMutable());
}

std::optional<PermutedOp> ResizeOp::permute(ArrayRef<int64_t>) {
  return std::nullopt;
}

/// Where `axes` names the dimensions that are resized, channels not among them.
std::optional<PermutedOp> ResizeOp::block(int64_t) {
  SmallVector<int64_t> axes(getAxes());
  for (int64_t &axis : axes)
    axis = wrapAxis(axis, rankOf(getX()));
  if (axes.empty() || llvm::is_contained(axes, kChannels))
    return std::nullopt;
  Builder builder(getContext());
  PermutedOp result;
  result.attributes.push_back(
      builder.getNamedAttr("axes", builder.getDenseI64ArrayAttr(axes)));
  return result;
}

std::optional<PermutedOp> ShapeOp::permute(ArrayRef<int64_t>) {
  return std::nullopt;
}

/// Where channels are not among the dimensions that are asked for.
std::optional<PermutedOp> ShapeOp::block(int64_t) {
  const int64_t first = getFirst(), last = getLast();
  if (first <= kChannels && last > kChannels)
    return std::nullopt;
  Builder builder(getContext());
  PermutedOp result;
  result.attributes.push_back(
      builder.getNamedAttr("start", builder.getI64IntegerAttr(first)));
  result.attributes.push_back(
      builder.getNamedAttr("end", builder.getI64IntegerAttr(last)));
  return result;
}

//===----------------------------------------------------------------------===//
// Channels in blocks of shapes that are given
//===----------------------------------------------------------------------===//

/// `shape` is a list of the dimensions of `y`, a tensor of static shape.
static PermutedOp blockShape(OpOperand &shape, Value y, int64_t size) {
  SmallVector<int64_t> to(cast<RankedTensorType>(y.getType()).getShape());
  to[kChannels] /= size;
  to.push_back(size);
  PermutedOp result;
  result.constants.emplace_back(shape.getOperandNumber(),
                                makeInts(y.getContext(), to));
  return result;
}

std::optional<PermutedOp> ReshapeOp::permute(ArrayRef<int64_t>) {
  return std::nullopt;
}

/// Where the batch and the channels stay what they are.
std::optional<PermutedOp> ReshapeOp::block(int64_t size) {
  ArrayRef<int64_t> from = cast<RankedTensorType>(getX().getType()).getShape();
  ArrayRef<int64_t> to = cast<RankedTensorType>(getY().getType()).getShape();
  if (from.size() < 3 || to.size() < 3 || !isStatic(getX().getType()) ||
      !isStatic(getY().getType()) || from.take_front(2) != to.take_front(2))
    return std::nullopt;
  return blockShape(getShapeMutable(), getY(), size);
}

std::optional<PermutedOp> ExpandOp::permute(ArrayRef<int64_t> perm) {
  auto y = dyn_cast<RankedTensorType>(getY().getType());
  if (!y || !y.hasStaticShape())
    return std::nullopt;
  PermutedOp result;
  result.constants.emplace_back(
      getShapeMutable().getOperandNumber(),
      makeInts(getContext(), applyPermutation(y.getShape(), perm)));
  return result;
}

/// Where there are as many dimensions as before, each at its place.
std::optional<PermutedOp> ExpandOp::block(int64_t size) {
  if (rankOf(getX()) != rankOf(getY()) || !isStatic(getY().getType()))
    return std::nullopt;
  return blockShape(getShapeMutable(), getY(), size);
}
