// SPDX-License-Identifier: Apache-2.0
//
// Contractions as sums of products: what is generated for devices whose
// libraries have no call for them.

#include "Chain.h"
#include "Correlation.h"
#include "ElementBuilder.h"

#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Position.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc::graph;

static Value add(Type element, OpBuilder &builder, Location loc, Value a,
                 Value b) {
  return foldAs<arith::AddFOp, arith::AddIOp, arith::AddIOp>(element, builder,
                                                             loc, a, b);
}

/// Null if either factor is.
static Value multiply(Type element, ElementReader &reader, Value a, Value b) {
  if (!a || !b)
    return {};
  return foldAs<arith::MulFOp, arith::MulIOp, arith::MulIOp>(
      element, reader.getBuilder(), reader.getLoc(), a, b);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

TypedAttr MatmulOp::getIdentity() { return numberOf(elementOf(*this), 0); }

Value MatmulOp::buildFold(OpBuilder &builder, Location loc, Value a, Value b) {
  return add(elementOf(*this), builder, loc, a, b);
}

std::optional<SmallVector<int64_t>> MatmulOp::getFoldedExtents() {
  return SmallVector<int64_t>{shapeOf(getA()).back()};
}

/// All rows of a product `y` meet one matrix `b`, unless there are several.
static FactorDims factorDimsOf(Value y, Value b) {
  auto rank = static_cast<unsigned>(shapeOf(y).size());
  FactorDims dims{{rank - 2}, {rank - 1}};
  if (llvm::all_of(shapeOf(b).drop_back(2),
                   [](int64_t extent) { return extent == 1; }))
    dims.rows = llvm::to_vector(llvm::seq(rank - 1));
  return dims;
}

std::optional<FactorDims> MatmulOp::getFactorDims() {
  return factorDimsOf(getY(), getB());
}

/// They have no sums of their own: decompose() makes them f32.
static Value failOfShortFloats(ElementReader &reader) {
  return reader.fail("sums in short floats");
}

Value MatmulOp::buildTermAt(ElementReader &reader, ArrayRef<Index> position,
                            ArrayRef<Index> folded) {
  if (isShortFloat(elementOf(*this)))
    return failOfShortFloats(reader);
  SmallVector<Index> a(position), b(position);
  a.back() = folded[0];
  b[b.size() - 2] = folded[0];
  return multiply(elementOf(*this), reader,
                  reader.read(getA(), reader.broadcast(a, shapeOf(getA()))),
                  reader.read(getB(), reader.broadcast(b, shapeOf(getB()))));
}

/// Sums of short floats are rounded once.
FailureOr<SmallVector<Value>> MatmulOp::decompose(OpBuilder &builder) {
  Type element = elementOf(*this);
  if (!isShortFloat(element))
    return failure();
  Chain chain{builder, getLoc()};
  Type wide = computeType(element);
  Value y =
      chain.make<MatmulOp>(chain.cast(getA(), wide), chain.cast(getB(), wide));
  return SmallVector<Value>{chain.cast(y, element)};
}

//===----------------------------------------------------------------------===//
// Matrix products of small integers
//===----------------------------------------------------------------------===//

TypedAttr IntegerMatmulOp::getIdentity() {
  return numberOf(getElementTypeOrSelf(getY().getType()), 0);
}

Value IntegerMatmulOp::buildFold(OpBuilder &builder, Location loc, Value a,
                                 Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}

std::optional<SmallVector<int64_t>> IntegerMatmulOp::getFoldedExtents() {
  return SmallVector<int64_t>{shapeOf(getA()).back()};
}

std::optional<FactorDims> IntegerMatmulOp::getFactorDims() {
  return factorDimsOf(getY(), getB());
}

/// `element` of `factor` - `zero` in i32; null where either is.
static Value centered(ElementReader &reader, Value factor, Value element,
                      Value zero) {
  if (!element || !zero)
    return {};
  Type narrow = getElementTypeOrSelf(factor.getType());
  ElementBuilder f(reader.getBuilder(), reader.getLoc());
  Type wide = reader.getBuilder().getI32Type();
  return f.make<arith::SubIOp>(f.convert(element, narrow, wide),
                               f.convert(zero, narrow, wide));
}

Value IntegerMatmulOp::buildTermAt(ElementReader &reader,
                                   ArrayRef<Index> position,
                                   ArrayRef<Index> folded) {
  SmallVector<Index> a(position), b(position);
  a.back() = folded[0];
  b[b.size() - 2] = folded[0];
  auto read = [&](Value factor, Value zero, ArrayRef<Index> at) {
    auto valueOf = [&](Value tensor) {
      return reader.read(tensor, reader.broadcast(at, shapeOf(tensor)));
    };
    return centered(reader, factor, valueOf(factor), valueOf(zero));
  };
  return multiply(reader.getBuilder().getI32Type(), reader,
                  read(getA(), getAZeroPoint(), a),
                  read(getB(), getBZeroPoint(), b));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// A channel of an image: number `channel` of group `of / perGroup`.
struct Channel {
  Index channel;
  int64_t perGroup; ///< Channels of the image.
  Index of;         ///< Among the channels of another tensor,
  int64_t ofGroup;  ///< of which each group has so many.
};
} // namespace

/// The coordinate of a channel, as far as it is linear.
static std::optional<Index> coordinateOf(const Channel &at,
                                         ElementReader &reader) {
  auto parts = reader.divideWhole(at.of, at.ofGroup);
  if (!parts)
    return std::nullopt;
  return parts->first * at.perGroup + at.channel;
}

namespace {
/// An element of an image, and whether it is there; null for always.
struct Tap {
  Value element, isThere;
};
} // namespace

/// What elementwise operations, as the widening of short floats, make of an
/// element in memory.
static Value load(ElementReader &reader, Value tensor, ValueRange coordinates) {
  auto unary = tensor.getDefiningOp<ElementwiseOpInterface>();
  if (!unary || unary->getNumOperands() != 1)
    return reader.load(tensor, coordinates);
  Value x = load(reader, unary->getOperand(0), coordinates);
  return x ? unary.buildElement(reader.getBuilder(), reader.getLoc(), x)
           : Value();
}

/// The element of `image` under a tap; null on failure. Where it cannot be told
/// before whether that is inside, all coordinates are moved there. Channels are
/// in blocks of `block`, unless that is 0.
static Tap buildTap(ElementReader &reader, Value image, int64_t block,
                    const Index &batch, const Channel &channel,
                    ArrayRef<Index> taps) {
  ArrayRef<int64_t> shape = shapeOf(image);
  SmallVector<Index> position = {batch};
  std::optional<Index> linear = coordinateOf(channel, reader);
  std::optional<Index> inBlock;
  if (block) {
    auto parts = linear ? reader.divideWhole(*linear, block) : std::nullopt;
    if (!parts)
      return {reader.fail("channels of groups in blocks"), {}};
    linear = parts->first;
    inBlock = parts->second;
  }
  if (linear)
    position.push_back(*linear);
  llvm::append_range(position, taps);
  if (inBlock)
    position.push_back(*inBlock);
  auto isInside = [&](auto pair) {
    auto [index, extent] = pair;
    auto [low, high] = reader.rangeOf(index);
    return low >= 0 && high < extent;
  };
  ArrayRef<int64_t> space = shape.slice(2, taps.size());
  if (linear && llvm::all_of(llvm::zip_equal(taps, space), isInside))
    return {reader.read(image, position), {}};

  OpBuilder &builder = reader.getBuilder();
  Location loc = reader.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  SmallVector<Value> coordinates = {reader.materialize(batch)};
  if (linear) {
    coordinates.push_back(reader.materialize(*linear));
  } else {
    Value group = arith::DivUIOp::create(
        builder, loc, reader.materialize(channel.of), number(channel.ofGroup));
    Value begin =
        arith::MulIOp::create(builder, loc, group, number(channel.perGroup));
    coordinates.push_back(arith::AddIOp::create(
        builder, loc, begin, reader.materialize(channel.channel)));
  }
  Tap tap;
  for (auto pair : llvm::zip_equal(taps, space)) {
    auto [index, extent] = pair;
    Value at = reader.materialize(index);
    if (!isInside(pair)) {
      // Below zero is far above, without a sign.
      Value isHere = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, at, number(extent));
      at = arith::SelectOp::create(builder, loc, isHere, at, number(0));
      tap.isThere =
          tap.isThere ? arith::AndIOp::create(builder, loc, tap.isThere, isHere)
                      : isHere;
    }
    coordinates.push_back(at);
  }
  if (inBlock)
    coordinates.push_back(reader.materialize(*inBlock));
  tap.element = load(reader, image, coordinates);
  return tap;
}

/// Outside of an image there is no term, whatever the other factor is: it may
/// be infinite.
static Value multiply(Type element, ElementReader &reader, const Tap &tap,
                      Value factor) {
  Value product = multiply(element, reader, tap.element, factor);
  if (!product || !tap.isThere)
    return product;
  OpBuilder &builder = reader.getBuilder();
  Value zero =
      arith::ConstantOp::create(builder, reader.getLoc(), numberOf(element, 0));
  return arith::SelectOp::create(builder, reader.getLoc(), tap.isThere, product,
                                 zero);
}

/// Where tap `tap` of the window at `position` is, along each dimension.
static SmallVector<Index> tapsOf(const Correlation &windows,
                                 ArrayRef<Index> position,
                                 ArrayRef<Index> tap) {
  SmallVector<Index> taps;
  for (size_t dim = 0; dim < windows.dims(); ++dim)
    taps.push_back(position[dim] * windows.strides[dim] +
                   tap[dim] * windows.dilations[dim] + -windows.begins[dim]);
  return taps;
}

TypedAttr ConvOp::getIdentity() { return numberOf(elementOf(*this), 0); }

Value ConvOp::buildFold(OpBuilder &builder, Location loc, Value a, Value b) {
  return add(elementOf(*this), builder, loc, a, b);
}

/// Channels of a block, the last dimension of what has one more than weights;
/// else 0.
template <typename Op> static int64_t blockOf(Op op, Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return shape.size() > shapeOf(op.getW()).size() ? shape.back() : 0;
}

/// Channels of the image within a group, taps, and, where there are blocks,
/// channels of one.
template <typename Op> static SmallVector<int64_t> foldedExtentsOf(Op op) {
  SmallVector<int64_t> extents(shapeOf(op.getW()).drop_front());
  const int64_t block = blockOf(op, op.getX());
  if (block && extents[0] % block == 0) {
    extents[0] /= block;
    extents.push_back(block);
  }
  return extents;
}

/// Whether channels of the result leave places in their last block, for which
/// there are no weights.
template <typename Op> static bool hasPlacesLeft(Op op) {
  const int64_t block = blockOf(op, op.getY());
  return block && shapeOf(op.getW())[0] % block != 0;
}

static Value failOfPlacesLeft(ElementReader &reader) {
  return reader.fail("channels of a result that do not fill their blocks");
}

template <typename Op> static FactorDims convFactorDimsOf(Op op) {
  FactorDims dims{{0}, {1}};
  const auto rank = static_cast<unsigned>(shapeOf(op.getW()).size());
  llvm::append_range(dims.rows, llvm::seq(2u, rank));
  if (blockOf(op, op.getY()))
    dims.columns.push_back(rank);
  else
    std::swap(dims.rows, dims.columns);
  return dims;
}

namespace {
/// Where the factors of one term of a convolution are.
struct ConvTerm {
  template <typename Op>
  ConvTerm(Op op, ArrayRef<Index> position, ArrayRef<Index> folded);

  Index output; ///< The channel of the result.
  SmallVector<Index> weight;
  Channel channel;
  int64_t block; ///< Of the image's channels, or 0.
  SmallVector<Index> taps;
};
} // namespace

template <typename Op>
ConvTerm::ConvTerm(Op op, ArrayRef<Index> position, ArrayRef<Index> folded)
    : output(position[1]), block(blockOf(op, op.getX())) {
  const Correlation windows = unblockedCorrelationOf(op);
  ArrayRef<int64_t> weights = shapeOf(op.getW());
  if (int64_t blockOfY = blockOf(op, op.getY()))
    output = output * blockOfY + position.back();
  Index input = folded[0];
  if (folded.size() + 1 > weights.size())
    input = input * block + folded.back();
  ArrayRef<Index> tap = folded.slice(1, windows.dims());
  channel = {input, weights[1], output, weights[0] / windows.group};
  weight = {output, input};
  llvm::append_range(weight, tap);
  taps = tapsOf(windows, position.slice(2, windows.dims()), tap);
}

std::optional<SmallVector<int64_t>> ConvOp::getFoldedExtents() {
  return foldedExtentsOf(*this);
}

std::optional<FactorDims> ConvOp::getFactorDims() {
  return convFactorDimsOf(*this);
}

Value ConvOp::buildTermAt(ElementReader &reader, ArrayRef<Index> position,
                          ArrayRef<Index> folded) {
  if (getBias())
    return reader.fail("a bias within the sum");
  if (isShortFloat(elementOf(*this)))
    return failOfShortFloats(reader);
  if (hasPlacesLeft(*this))
    return failOfPlacesLeft(reader);
  const ConvTerm term(*this, position, folded);
  return multiply(elementOf(*this), reader,
                  buildTap(reader, getX(), term.block, position[0],
                           term.channel, term.taps),
                  reader.read(getW(), term.weight));
}

TypedAttr IntegerConvOp::getIdentity() {
  return numberOf(getElementTypeOrSelf(getY().getType()), 0);
}

Value IntegerConvOp::buildFold(OpBuilder &builder, Location loc, Value a,
                               Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}

std::optional<SmallVector<int64_t>> IntegerConvOp::getFoldedExtents() {
  return foldedExtentsOf(*this);
}

std::optional<FactorDims> IntegerConvOp::getFactorDims() {
  return convFactorDimsOf(*this);
}

Value IntegerConvOp::buildTermAt(ElementReader &reader,
                                 ArrayRef<Index> position,
                                 ArrayRef<Index> folded) {
  if (hasPlacesLeft(*this))
    return failOfPlacesLeft(reader);
  const ConvTerm term(*this, position, folded);
  // Zero points of output channels are a vector.
  auto zeroOf = [&](Value zero) {
    return reader.read(zero, reader.broadcast(term.output, shapeOf(zero)));
  };
  Tap image = buildTap(reader, getX(), term.block, position[0], term.channel,
                       term.taps);
  image.element = centered(reader, getX(), image.element,
                           zeroOf(getXZeroPoint()));
  return multiply(reader.getBuilder().getI32Type(), reader, image,
                  centered(reader, getW(), reader.read(getW(), term.weight),
                           zeroOf(getWZeroPoint())));
}

TypedAttr ConvWeightGradientOp::getIdentity() {
  return numberOf(elementOf(*this), 0);
}

Value ConvWeightGradientOp::buildFold(OpBuilder &builder, Location loc, Value a,
                                      Value b) {
  return add(elementOf(*this), builder, loc, a, b);
}

std::optional<SmallVector<int64_t>> ConvWeightGradientOp::getFoldedExtents() {
  SmallVector<int64_t> extents(
      shapeOf(getG()).take_front(shapeOf(getW()).size()));
  extents.erase(extents.begin() + 1);
  return extents;
}

std::optional<FactorDims> ConvWeightGradientOp::getFactorDims() {
  auto rank = static_cast<unsigned>(shapeOf(getW()).size());
  return FactorDims{{0}, llvm::to_vector(llvm::seq(1u, rank))};
}

Value ConvWeightGradientOp::buildTermAt(ElementReader &reader,
                                        ArrayRef<Index> position,
                                        ArrayRef<Index> folded) {
  if (isShortFloat(elementOf(*this)))
    return failOfShortFloats(reader);
  const Correlation windows = unblockedCorrelationOf(*this);
  ArrayRef<int64_t> weights = shapeOf(getW());
  Channel channel = {position[1], weights[1], position[0],
                     weights[0] / windows.group};
  SmallVector<Index> g = {folded[0], position[0]};
  llvm::append_range(g, folded.drop_front());
  if (int64_t block = blockOf(*this, getG())) {
    auto parts = reader.divideWhole(position[0], block);
    if (!parts)
      return reader.fail("channels in several blocks");
    g[1] = parts->first;
    g.push_back(parts->second);
  }
  return multiply(
      elementOf(*this), reader,
      buildTap(reader, getX(), blockOf(*this, getX()), folded[0], channel,
               tapsOf(windows, folded.drop_front(), position.drop_front(2))),
      reader.read(getG(), g));
}
