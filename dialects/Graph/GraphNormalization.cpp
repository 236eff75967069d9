// SPDX-License-Identifier: Apache-2.0
//
// Reductions and normalisations, and how simpler operations express them.

#include "Assembly.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphNormalization.cpp.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphReduction.cpp.inc"

void GraphDialect::addNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphNormalization.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphReduction.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

namespace {

/// Graph operations in a row, with their types inferred.
struct Chain {
  OpBuilder &builder;
  Location loc;

  template <typename Op, typename... Operands>
  Value make(Operands... operands) {
    return Op::create(builder, loc, operands...);
  }
  Value constant(ElementsAttr value) {
    return ConstantOp::create(builder, loc, value);
  }
  Value scalar(Type elementType, double value) {
    return constant(makeSplat(RankedTensorType::get({}, elementType), value));
  }
  Value ints(ArrayRef<int64_t> values) {
    return constant(makeInts(builder.getContext(), values));
  }
  Value cast(Value x, Type elementType) {
    auto type = llvm::cast<TensorType>(x.getType());
    if (type.getElementType() == elementType)
      return x;
    return CastOp::create(builder, loc, type.clone(elementType), x, elementType,
                          /*saturate=*/true);
  }
  Value sum(Value x, ArrayRef<int64_t> axes) {
    return ReduceSumOp::create(builder, loc, x, ints(axes), /*keepdims=*/true);
  }
  Value mean(Value x, ArrayRef<int64_t> axes, int64_t count) {
    Type element = llvm::cast<TensorType>(x.getType()).getElementType();
    return make<MulOp>(sum(x, axes),
                       scalar(element, 1.0 / static_cast<double>(count)));
  }
};

} // namespace

/// The type to compute in: f32 for narrower floats.
static Type computeType(Type elementType) {
  return elementType.getIntOrFloatBitWidth() < 32
             ? Float32Type::get(elementType.getContext())
             : elementType;
}

/// The dimensions from `axis` on; empty when the rank is not known.
static SmallVector<int64_t> axesFrom(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> axes;
  for (int64_t i = axis < 0 ? axis + type.getRank() : axis; i < type.getRank();
       ++i)
    axes.push_back(i);
  return axes;
}

/// Number of elements in `axes`; nullopt when it is not known or zero.
static std::optional<int64_t> countOf(RankedTensorType type,
                                      ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes) {
    if (type.isDynamicDim(axis) || type.getDimSize(axis) == 0)
      return std::nullopt;
    count *= type.getDimSize(axis);
  }
  return count;
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

FailureOr<SmallVector<Value>> ReduceMeanOp::decompose(OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return failure();
  SmallVector<int64_t> axes = axesFrom(type, 0);
  if (getAxes()) {
    auto values = getConstantInts(getAxes());
    if (!values)
      return failure();
    axes = *values;
    for (int64_t &axis : axes)
      axis += axis < 0 ? type.getRank() : 0;
  }
  auto count = countOf(type, axes);
  if (!count)
    return failure();
  Chain chain{builder, getLoc()};
  Type element = type.getElementType(), wide = computeType(element);
  Value sum = ReduceSumOp::create(builder, getLoc(), chain.cast(getX(), wide),
                                  chain.ints(axes), getKeepdims());
  Value y = chain.make<MulOp>(
      sum, chain.scalar(wide, 1.0 / static_cast<double>(*count)));
  return SmallVector<Value>{chain.cast(y, element)};
}

/// x minus its mean, divided by its standard deviation over `axes`.
static Value standardize(Chain chain, Value x, ArrayRef<int64_t> axes,
                         int64_t count, double epsilon) {
  Type element = cast<TensorType>(x.getType()).getElementType();
  Value centered = chain.make<SubOp>(x, chain.mean(x, axes, count));
  Value squares = chain.make<MulOp>(centered, centered);
  Value variance = chain.mean(squares, axes, count);
  Value shifted = chain.make<AddOp>(variance, chain.scalar(element, epsilon));
  return chain.make<MulOp>(centered, chain.make<RsqrtOp>(shifted));
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
