// SPDX-License-Identifier: Apache-2.0
//
// Normalisations, and how simpler operations express them.

#include "Assembly.h"
#include "Chain.h"

#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphNormalization.cpp.inc"

void GraphDialect::addNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphNormalization.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

/// The dimensions from `axis` on; empty when the rank is not known.
static SmallVector<int64_t> axesFrom(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> axes;
  for (int64_t i = wrapAxis(axis, type.getRank()); i < type.getRank(); ++i)
    axes.push_back(i);
  return axes;
}

/// x minus its largest element, and the sum of the exponentials of that.
static std::pair<Value, Value> shiftedExp(Chain chain, Value x, int64_t axis) {
  Value axes = chain.ints(axis);
  Value largest = ReduceMaxOp::create(chain.builder, chain.loc, x, axes, true);
  Value shifted = chain.make<SubOp>(x, largest);
  return {shifted, chain.make<ExpOp>(shifted)};
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  Chain chain{builder, getLoc()};
  Type element = getX().getType().getElementType();
  Value x = chain.cast(getX(), computeType(element));
  auto [shifted, powers] = shiftedExp(chain, x, getAxis());
  Value y = chain.make<DivOp>(powers, chain.sum(powers, getAxis()));
  return SmallVector<Value>{chain.cast(y, element)};
}

FailureOr<SmallVector<Value>> LogSoftmaxOp::decompose(OpBuilder &builder) {
  Chain chain{builder, getLoc()};
  Type element = getX().getType().getElementType();
  Value x = chain.cast(getX(), computeType(element));
  auto [shifted, powers] = shiftedExp(chain, x, getAxis());
  Value sum = chain.sum(powers, getAxis());
  Value y = chain.make<SubOp>(shifted, chain.make<LogOp>(sum));
  return SmallVector<Value>{chain.cast(y, element)};
}

/// x minus its mean, divided by its standard deviation over `axes`. What a mean
/// of floats rounds away may be more than elements differ by. It is left in the
/// mean of the differences, which are summed along with their squares.
static Value standardize(Chain chain, Value x, ArrayRef<int64_t> axes,
                         int64_t count, double epsilon) {
  Type element = cast<TensorType>(x.getType()).getElementType();
  Value near = chain.make<SubOp>(x, chain.mean(x, axes, count));
  Value rest = chain.mean(near, axes, count);
  Value squares = chain.mean(chain.make<MulOp>(near, near), axes, count);
  Value variance = chain.make<SubOp>(squares, chain.make<MulOp>(rest, rest));
  Value shifted = chain.make<AddOp>(variance, chain.scalar(element, epsilon));
  return chain.make<MulOp>(chain.make<SubOp>(near, rest),
                           chain.make<RsqrtOp>(shifted));
}

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type)
    return failure();
  SmallVector<int64_t> axes = axesFrom(type, getAxis());
  auto count = countOf(type, axes);
  if (!count)
    return failure();
  Chain chain{builder, getLoc()};
  Type element = type.getElementType(), wide = computeType(element);
  Value y = standardize(chain, chain.cast(getX(), wide), axes, *count,
                        getEpsilon().convertToDouble());
  y = chain.make<MulOp>(y, chain.cast(getScale(), wide));
  if (getBias())
    y = chain.make<AddOp>(y, chain.cast(getBias(), wide));
  return SmallVector<Value>{chain.cast(y, element)};
}

FailureOr<SmallVector<Value>> RmsNormOp::decompose(OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type)
    return failure();
  SmallVector<int64_t> axes = axesFrom(type, getAxis());
  auto count = countOf(type, axes);
  if (!count)
    return failure();
  Chain chain{builder, getLoc()};
  Type wide = computeType(type.getElementType());
  Value x = chain.cast(getX(), wide);
  Value mean = chain.mean(chain.make<MulOp>(x, x), axes, *count);
  Value shifted = chain.make<AddOp>(
      mean, chain.scalar(wide, getEpsilon().convertToDouble()));
  Value y = chain.make<MulOp>(x, chain.make<RsqrtOp>(shifted));
  y = chain.make<MulOp>(y, chain.cast(getScale(), wide));
  return SmallVector<Value>{chain.cast(y, getY().getType().getElementType())};
}

/// A vector of one element per channel in the shape [channels, 1, ...] with
/// `trailing` ones, that broadcasts over x.
static Value perChannel(Chain chain, Value vector, int64_t channels,
                        int64_t trailing, Type elementType) {
  SmallVector<int64_t> shape(trailing + 1, 1);
  shape[0] = channels;
  Value column = chain.make<ReshapeOp>(vector, chain.ints(shape));
  return chain.cast(column, elementType);
}

FailureOr<SmallVector<Value>> BatchNormOp::decompose(OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type || type.getRank() < 2 || type.isDynamicDim(1))
    return failure();
  Chain chain{builder, getLoc()};
  Type element = type.getElementType(), wide = computeType(element);
  auto column = [&](Value vector) {
    return perChannel(chain, vector, type.getDimSize(1), type.getRank() - 2,
                      wide);
  };
  Value shifted = chain.make<AddOp>(
      column(getVar()), chain.scalar(wide, getEpsilon().convertToDouble()));
  Value factor =
      chain.make<MulOp>(column(getScale()), chain.make<RsqrtOp>(shifted));
  Value centered =
      chain.make<SubOp>(chain.cast(getX(), wide), column(getMean()));
  Value y =
      chain.make<AddOp>(chain.make<MulOp>(centered, factor), column(getBias()));
  return SmallVector<Value>{chain.cast(y, element)};
}

FailureOr<SmallVector<Value>> GroupNormOp::decompose(OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  int64_t groups = getNumGroups();
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0 ||
      type.getRank() < 2)
    return failure();
  Chain chain{builder, getLoc()};
  Type element = type.getElementType(), wide = computeType(element);
  int64_t batch = type.getDimSize(0), channels = type.getDimSize(1);
  int64_t count = type.getNumElements() / (batch * groups);
  Value x = chain.make<ReshapeOp>(chain.cast(getX(), wide),
                                  chain.ints({batch, groups, count}));
  Value y = standardize(chain, x, {2}, count, getEpsilon().convertToDouble());
  y = chain.make<ReshapeOp>(y, chain.ints(type.getShape()));
  auto column = [&](Value vector) {
    return perChannel(chain, vector, channels, type.getRank() - 2, wide);
  };
  y = chain.make<MulOp>(y, column(getScale()));
  y = chain.make<AddOp>(y, column(getBias()));
  return SmallVector<Value>{chain.cast(y, element)};
}

/// A sum over channels is one over windows of an image whose rows are the
/// channels: with its padding, the mean has a divisor of `size` everywhere.
FailureOr<SmallVector<Value>> LrnOp::decompose(OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
    return failure();
  Chain chain{builder, getLoc()};
  Type element = type.getElementType(), wide = computeType(element);
  int64_t size = getSize(), batch = type.getDimSize(0);
  int64_t channels = type.getDimSize(1);
  int64_t inner = type.getNumElements() / (batch * channels);
  Value x = chain.cast(getX(), wide);
  Value rows = chain.make<ReshapeOp>(chain.make<MulOp>(x, x),
                                     chain.ints({batch, 1, channels, inner}));
  Value mean = AvgPoolOp::create(
      builder, getLoc(), rows, /*kernel_shape=*/{size, 1}, /*strides=*/{},
      /*pads=*/{(size - 1) / 2, 0, size / 2, 0}, /*dilations=*/{},
      /*ceil_mode=*/false, "NOTSET", /*count_include_pad=*/true);
  mean = chain.make<ReshapeOp>(mean, chain.ints(type.getShape()));
  Value base = chain.make<AddOp>(
      chain.make<MulOp>(mean, chain.scalar(wide, getAlpha().convertToDouble())),
      chain.scalar(wide, getBias().convertToDouble()));
  double beta = getBeta().convertToDouble();
  Value divisor;
  if (beta == 0.75) {
    Value root = chain.make<SqrtOp>(base);
    divisor = chain.make<MulOp>(root, chain.make<SqrtOp>(root));
  } else {
    divisor = chain.make<PowOp>(base, chain.scalar(wide, beta));
  }
  return SmallVector<Value>{chain.cast(chain.make<DivOp>(x, divisor), element)};
}
