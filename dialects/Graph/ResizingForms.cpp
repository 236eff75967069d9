// SPDX-License-Identifier: Apache-2.0
//
// Resizing along one dimension after the other: of 8 by 8 elements that two by
// two make, most are made of two. Along the last one, places and weights are
// constants.

#include "Chain.h"
#include "Resizing.h"

#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace dlc::graph;

static RankedTensorType operandType(ResizeOp op) {
  return cast<RankedTensorType>(op.getX().getType());
}

/// Of floats that are not rounded in between, without a filter.
static bool isPlain(ResizeOp op) {
  if (!hasStaticTypes(op) || !hasElements(op))
    return false;
  Type type = operandType(op).getElementType();
  return (type.isF32() || type.isF64()) && op.getMode() != "nearest" &&
         op.getKeepAspectRatioPolicy() == "stretch" && !op.getAntialias() &&
         !op.getExcludeOutside() &&
         op.getCoordinateTransformationMode() != "tf_crop_and_resize";
}

/// Dimensions that change, in the order of least work: first what becomes
/// smaller, then the last one, whose elements do not lie side by side for a
/// vector of them, while there are few. None where weights are written out.
static SmallVector<ResizedAxis> changedAxes(ResizeOp op) {
  auto all = isPlain(op) ? resizedBy(op) : std::nullopt;
  if (!all)
    return {};
  SmallVector<ResizedAxis> axes;
  int64_t phases = 1;
  for (const ResizedAxis &along : *all) {
    if (along.from == along.to && along.scale == 1)
      continue;
    axes.push_back(along);
    phases = std::min(phases * phasesOf(op, along), kMostPhases + 1);
  }
  if (op.getMode() == "linear" && phases <= kMostPhases)
    return {};
  int64_t last = operandType(op).getRank() - 1;
  auto turnOf = [&](const ResizedAxis &along) {
    bool isLast = along.axis == last;
    return along.to < along.from ? isLast : 3 - isLast;
  };
  llvm::sort(axes, [&](const ResizedAxis &a, const ResizedAxis &b) {
    return std::pair(turnOf(a), a.axis) < std::pair(turnOf(b), b.axis);
  });
  return axes;
}

/// True for linear weights along the last dimension, unless channels may come
/// to lie in blocks: then elements of a block have the same ones.
static bool hasTable(ResizeOp op, const ResizedAxis &along) {
  constexpr int64_t longestTable = 1 << 16;
  auto type = operandType(op);
  bool mayHaveBlocks = type.getRank() > 2 && type.getDimSize(1) % 16 == 0;
  return along.axis == type.getRank() - 1 && op.getMode() == "linear" &&
         along.to <= longestTable && !mayHaveBlocks && coordinatesOf(op, along);
}

static DenseElementsAttr makeVector(Type element, ArrayRef<double> values) {
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  if (element.isF64())
    return DenseElementsAttr::get(type, values);
  return DenseElementsAttr::get(
      type, ArrayRef(SmallVector<float>(values.begin(), values.end())));
}

/// The sum of two gathers with weights, by the arithmetic of the Reference
/// kernel. What has no weight may be infinite or nan.
static Value sumTable(ResizeOp op, const ResizedAxis &along, Value x,
                      OpBuilder &builder) {
  Chain chain{builder, op.getLoc()};
  Type element = operandType(op).getElementType();
  const Coordinates coordinates = *coordinatesOf(op, along);
  const auto last = static_cast<double>(along.from - 1);
  SmallVector<int64_t> places[2];
  SmallVector<double> weights[2];
  for (int64_t i = 0; i < along.to; ++i) {
    double source = coordinates.at(static_cast<double>(i));
    source = std::clamp(source, -1.0, last + 1);
    double left = std::ceil(source) - 1, ratio = source - left;
    for (int64_t side : {0, 1}) {
      places[side].push_back(
          static_cast<int64_t>(std::clamp(left + double(side), 0.0, last)));
      weights[side].push_back(side ? ratio : 1 - ratio);
    }
  }
  Value sum;
  for (int64_t side : {0, 1}) {
    Value term = GatherOp::create(builder, op.getLoc(), x,
                                  chain.ints(places[side]), along.axis);
    auto isNothing = [](double weight) { return weight == 0; };
    if (llvm::any_of(weights[side], isNothing)) {
      SmallVector<bool> counts;
      for (double weight : weights[side])
        counts.push_back(!isNothing(weight));
      Value mask = chain.constant(DenseElementsAttr::get(
          RankedTensorType::get({along.to}, builder.getI1Type()), counts));
      term = chain.make<SelectOp>(mask, term, chain.scalar(element, 0));
    }
    term = chain.make<MulOp>(
        term, chain.constant(makeVector(element, weights[side])));
    sum = sum ? chain.make<AddOp>(sum, term) : term;
  }
  return sum;
}

/// `op` along one dimension alone.
static Value resizeAlong(ResizeOp op, const ResizedAxis &along, Value x,
                         OpBuilder &builder) {
  Chain chain{builder, op.getLoc()};
  Value none = chain.make<NoneOp>(), scales = none, sizes = none;
  if (isa<NoneType>(op.getScales().getType()))
    sizes = chain.ints(along.to);
  else
    scales = chain.constant(makeSplat(
        RankedTensorType::get({1}, builder.getF32Type()), along.scale));
  NamedAttrList attributes(op->getAttrs());
  attributes.set("axes", builder.getDenseI64ArrayAttr(along.axis));
  return createInferred(builder, op.getLoc(), ResizeOp::getOperationName(),
                        {x, none, scales, sizes}, attributes.getAttrs())
      ->getResult(0);
}

bool ResizeOp::hasFasterParts() {
  SmallVector<ResizedAxis> axes = changedAxes(*this);
  return axes.size() > 1 || (axes.size() == 1 && hasTable(*this, axes[0]));
}

FailureOr<SmallVector<Value>> ResizeOp::decompose(OpBuilder &builder) {
  if (!hasFasterParts())
    return failure();
  Value x = getX();
  for (const ResizedAxis &along : changedAxes(*this))
    x = hasTable(*this, along) && phasesOf(*this, along) > kMostPhases
            ? sumTable(*this, along, x, builder)
            : resizeAlong(*this, along, x, builder);
  return SmallVector<Value>{x};
}
