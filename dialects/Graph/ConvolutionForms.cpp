// SPDX-License-Identifier: Apache-2.0
//
// Convolutions made of others: transposed ones of plain ones and those over
// three dimensions of ones over two, which have fast kernels; those with a bias
// or of short floats of sums alone in f32, which code is generated for.

#include "Correlation.h"

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/Integers.h"
#include "dlc/dialects/Graph/Placement.h"

using namespace mlir;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// Three dimensions
//===----------------------------------------------------------------------===//

namespace {

/// A correlation over depth, height and width as one over two dimensions.
class Planar {
public:
  explicit Planar(const Correlation &whole);

  /// That over two dimensions.
  Correlation correlation() const { return planes; }
  Value image(Formula &f, Value x) const;   ///< N, C, D, H, W
  Value windows(Formula &f, Value g) const; ///< N, M, D, H, W
  /// The correlation's result, as of `type`.
  Value result(Formula &f, Value y, RankedTensorType type) const;
  Value weights(Formula &f, Value w) const; ///< M, C/group, D, H, W

private:
  enum class Form {
    DepthAndHeight, ///< Windows of one plane and row: images of D * H, W.
    HeightAndWidth, ///< Windows of one pixel of each plane: D, H * W.
    Slices, ///< Each position of depth is an image, its slices are channels.
  };

  bool isTrivial(size_t dim) const;

  const Correlation &whole;
  Form form;
  Correlation planes;
};

} // namespace

/// The windows of this dimension are its elements.
bool Planar::isTrivial(size_t dim) const {
  return whole.kernel[dim] == 1 && whole.strides[dim] == 1 &&
         whole.begins[dim] == 0 && whole.positions[dim] == whole.image[dim];
}

Planar::Planar(const Correlation &whole) : whole(whole), planes(whole) {
  SmallVector<int64_t> *lists[] = {&planes.image,     &planes.kernel,
                                   &planes.positions, &planes.strides,
                                   &planes.dilations, &planes.begins};
  form = isTrivial(0) && isTrivial(1)   ? Form::DepthAndHeight
         : isTrivial(1) && isTrivial(2) ? Form::HeightAndWidth
                                        : Form::Slices;
  // Of two that become one, one number of each list goes.
  size_t gone = form == Form::HeightAndWidth ? 2 : 0;
  if (form != Form::Slices)
    for (SmallVector<int64_t> *extents : {&planes.image, &planes.positions})
      (*extents)[1] *= (*extents)[gone];
  for (SmallVector<int64_t> *list : lists)
    list->erase(list->begin() + gone);
}

/// N, C, D, H, W with two dimensions as one.
static Value merged(Formula &f, Value x, ArrayRef<int64_t> extents) {
  ArrayRef<int64_t> shape = Formula::typeOf(x).getShape();
  return f.reshape(x, {shape[0], shape[1], extents[0], extents[1]});
}

Value Planar::image(Formula &f, Value x) const {
  if (form != Form::Slices)
    return merged(f, x, planes.image);
  int64_t positions = whole.positions[0], taps = whole.kernel[0];
  int64_t stride = whole.strides[0], dilation = whole.dilations[0];
  int64_t end =
      std::max<int64_t>(0, whole.span(0) - whole.image[0] - whole.begins[0]);
  // Depth in front of channels: then a slice is one piece.
  x = f.transpose(padAxes(f, x, {2}, {whole.begins[0], end}), {0, 2, 1, 3, 4});
  SmallVector<int64_t> shape(Formula::typeOf(x).getShape());
  shape[1] = positions;
  shape.insert(shape.begin() + 3, 1);
  SmallVector<Value> slices;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t first = tap * dilation;
    Value slice = f.make<SliceOp>(x, f.ints(first),
                                  f.ints(first + (positions - 1) * stride + 1),
                                  f.ints(1), f.ints(stride));
    slices.push_back(f.reshape(slice, shape));
  }
  x = slices.size() == 1 ? slices.front()
                         : ConcatOp::create(f.builder, f.loc, slices, 3);
  return f.reshape(x,
                   {shape[0] * positions, shape[2] * taps, shape[4], shape[5]});
}

Value Planar::windows(Formula &f, Value g) const {
  if (form != Form::Slices)
    return merged(f, g, planes.positions);
  g = f.transpose(g, {0, 2, 1, 3, 4});
  ArrayRef<int64_t> shape = Formula::typeOf(g).getShape();
  return f.reshape(g, {shape[0] * shape[1], shape[2], shape[3], shape[4]});
}

Value Planar::result(Formula &f, Value y, RankedTensorType type) const {
  ArrayRef<int64_t> shape = type.getShape();
  if (form != Form::Slices)
    return f.reshape(y, shape);
  y = f.reshape(y, {shape[0], shape[2], shape[1], shape[3], shape[4]});
  return f.transpose(y, {0, 2, 1, 3, 4});
}

Value Planar::weights(Formula &f, Value w) const {
  ArrayRef<int64_t> shape = Formula::typeOf(w).getShape();
  int64_t channels = form == Form::Slices ? shape[1] * shape[2] : shape[1];
  return f.reshape(w, {shape[0], channels, planes.kernel[0], planes.kernel[1]});
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Weights of three spatial dimensions.
static bool isDeep(Value weights) {
  auto type = dyn_cast<RankedTensorType>(weights.getType());
  return type && type.getRank() == 5 && isa<FloatType>(type.getElementType());
}

/// Several results of each channel over two dimensions: kernels have one.
static bool isMultiplied(ConvOp op) {
  auto x = dyn_cast<RankedTensorType>(op.getX().getType());
  auto w = dyn_cast<RankedTensorType>(op.getW().getType());
  constexpr int64_t block = 16; // Of channels, as kernels take them.
  return x && w && x.getRank() == 4 && w.getRank() == 4 &&
         w.getElementType().isF32() && hasElements(op) &&
         w.getDimSize(1) == 1 && w.getDimSize(0) > x.getDimSize(1) &&
         x.getDimSize(1) > 1 && w.getDimSize(0) % block == 0;
}

/// Of an image in which each channel comes so many times.
static FailureOr<SmallVector<Value>> repeatChannels(ConvOp op,
                                                    OpBuilder &builder) {
  Formula f(builder, op.getLoc());
  SmallVector<int64_t> shape(Formula::typeOf(op.getX()).getShape());
  const int64_t channels = Formula::typeOf(op.getW()).getDimSize(0);
  SmallVector<int64_t> split(shape);
  split.insert(split.begin() + 2, 1);
  Value x = f.reshape(op.getX(), split);
  split[2] = channels / shape[1];
  shape[1] = channels;
  x = f.reshape(f.expand(x, split), shape);
  ConvOp depthwise = cast<ConvOp>(builder.clone(*op));
  depthwise.getXMutable().assign(x);
  depthwise.setGroup(channels);
  return SmallVector<Value>{depthwise.getY()};
}

namespace {

/// The taps of a dimension between those that lie outside of the image wherever
/// windows are.
struct LiveTaps {
  int64_t first, end;
};

} // namespace

/// All taps where none of them meets the image, or what is left would begin
/// within it.
static LiveTaps liveTapsOf(const Correlation &whole, size_t dim) {
  const int64_t taps = whole.kernel[dim], dilation = whole.dilations[dim];
  auto isLive = [&](int64_t tap) {
    for (int64_t o = 0; o < whole.positions[dim]; ++o) {
      const int64_t at =
          o * whole.strides[dim] + tap * dilation - whole.begins[dim];
      if (at >= 0 && at < whole.image[dim])
        return true;
    }
    return false;
  };
  LiveTaps live = {0, taps};
  while (live.first < taps && !isLive(live.first))
    ++live.first;
  if (live.first == taps || whole.begins[dim] < live.first * dilation)
    return {0, taps};
  while (!isLive(live.end - 1))
    --live.end;
  return live;
}

/// Windows that reach beyond the image on both sides, as dilated ones of small
/// images, without the taps that meet nothing there.
static std::optional<SmallVector<LiveTaps>> findDeadTaps(ConvOp op) {
  // Of more there is none that nobody meets.
  constexpr int64_t mostTaps = 64, mostPositions = 4096;
  auto w = dyn_cast<RankedTensorType>(op.getW().getType());
  if (!w || !isa<FloatType>(w.getElementType()) || !hasElements(op))
    return std::nullopt;
  std::optional<Correlation> whole = correlationOf(op);
  if (!whole)
    return std::nullopt;
  SmallVector<LiveTaps> live;
  bool isAny = false;
  for (size_t dim = 0; dim < whole->dims(); ++dim) {
    if (whole->kernel[dim] > mostTaps || whole->positions[dim] > mostPositions)
      return std::nullopt;
    live.push_back(liveTapsOf(*whole, dim));
    isAny |= live[dim].end - live[dim].first < whole->kernel[dim];
  }
  return isAny ? std::optional(live) : std::nullopt;
}

static Value withoutDeadTaps(ConvOp op, ArrayRef<LiveTaps> live,
                             OpBuilder &builder) {
  Formula f(builder, op.getLoc());
  Correlation rest = *correlationOf(op);
  SmallVector<int64_t> axes, firsts, ends;
  for (size_t dim = 0; dim < rest.dims(); ++dim) {
    axes.push_back(static_cast<int64_t>(dim) + 2);
    firsts.push_back(live[dim].first);
    ends.push_back(live[dim].end);
    rest.kernel[dim] = live[dim].end - live[dim].first;
    rest.begins[dim] -= live[dim].first * rest.dilations[dim];
  }
  SmallVector<int64_t> steps(axes.size(), 1);
  Value w = f.make<SliceOp>(op.getW(), f.ints(firsts), f.ints(ends),
                            f.ints(axes), f.ints(steps));
  return rest.correlate(f, op.getX(), w, op.getBias());
}

/// Parts read planes of zeros in front of the image and behind it, which no
/// weight may meet that is known not to be finite: there are no terms there.
bool ConvOp::hasFasterParts() {
  if (isMultiplied(*this) || findDeadTaps(*this))
    return true;
  if (!isDeep(getW()))
    return false;
  ElementsAttr known = getConstantElements(getW());
  const bool isPadded =
      getAutoPad() != "NOTSET" ||
      llvm::any_of(getPads(), [](int64_t pad) { return pad != 0; });
  return !isPadded || !known || areFiniteFloats(known);
}

/// `op` of its first two operands, in f32 where floats are short.
static Value createWide(Chain &chain, Operation *op, Type wide) {
  return createInferred(chain.builder, chain.loc, op->getName().getStringRef(),
                        {chain.cast(op->getOperand(0), wide),
                         chain.cast(op->getOperand(1), wide)},
                        op->getAttrs())
      ->getResult(0);
}

/// Each product of centered bytes is less than 2^16, and floats hold integers
/// of 24 bits. On the host a library multiplies bytes of some groups.
bool IntegerConvOp::hasFasterParts() {
  constexpr int64_t mostTerms = 1 << 8;
  auto type = dyn_cast<RankedTensorType>(getW().getType());
  if (getGroup() == 1 || getChannelBlock() != 0 || !type ||
      !type.hasStaticShape())
    return false;
  auto image = dyn_cast<RankedTensorType>(getX().getType());
  if (image && image.getRank() != type.getRank())
    return false;
  const bool isOfLibrary =
      hasHostMemory(getDevice(getOperation())) &&
      areBytesMultiplied(type.getShape(), static_cast<int64_t>(getGroup()));
  return !isOfLibrary && isStatic(getWZeroPoint().getType()) &&
         ShapedType::getNumElements(type.getShape().drop_front()) <= mostTerms;
}

/// In groups floats have fast kernels, and their sums are exact.
FailureOr<SmallVector<Value>> IntegerConvOp::decompose(OpBuilder &builder) {
  if (!hasFasterParts())
    return failure();
  Formula f(builder, getLoc());
  Type wide = builder.getF32Type();
  auto centered = [&](Value x, Value zero) {
    return f.sub(f.cast(x, wide), f.cast(zero, wide));
  };
  // Zero points of output channels are along the first dimension.
  SmallVector<int64_t> shape(Formula::typeOf(getW()).getRank(), 1);
  shape.front() = Formula::typeOf(getWZeroPoint()).getNumElements();
  Value w = centered(getW(), f.reshape(getWZeroPoint(), shape));
  Operation *conv = createInferred(
      builder, getLoc(), ConvOp::getOperationName(),
      {centered(getX(), getXZeroPoint()), w}, (*this)->getAttrs());
  return SmallVector<Value>{f.cast(conv->getResult(0), builder.getI32Type())};
}

/// The sums alone and then the bias, rounded once where floats are short.
static FailureOr<SmallVector<Value>> addBiasApart(ConvOp op,
                                                  OpBuilder &builder) {
  Type element = cast<TensorType>(op.getW().getType()).getElementType();
  if ((!isShortFloat(element) && !op.getBias()) || !hasStaticTypes(op))
    return failure();
  Type wide = isShortFloat(element) ? computeType(element) : element;
  Chain chain{builder, op.getLoc()};
  Value y = createWide(chain, op, wide);
  if (Value bias = op.getBias()) {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(y.getType()).getRank() - 1, 1);
    shape[0] = cast<RankedTensorType>(bias.getType()).getNumElements();
    if (auto block = static_cast<int64_t>(op.getChannelBlock())) {
      if (shape[0] % block != 0)
        return failure();
      shape[0] /= block;
      shape.back() = block;
    }
    bias = chain.make<ReshapeOp>(chain.cast(bias, wide), chain.ints(shape));
    y = chain.make<AddOp>(y, bias);
  }
  return SmallVector<Value>{chain.cast(y, element)};
}

FailureOr<SmallVector<Value>> ConvOp::decompose(OpBuilder &builder) {
  if (auto live = findDeadTaps(*this))
    return SmallVector<Value>{withoutDeadTaps(*this, *live, builder)};
  if (isMultiplied(*this))
    return repeatChannels(*this, builder);
  if (!isDeep(getW()))
    return addBiasApart(*this, builder);
  if (!hasElements(*this))
    return failure();
  std::optional<Correlation> whole = correlationOf(*this);
  if (!whole)
    return failure();
  Planar planar(*whole);
  Formula f(builder, getLoc());
  Value y = planar.correlation().correlate(
      f, planar.image(f, getX()), planar.weights(f, getW()), getBias());
  return SmallVector<Value>{planar.result(f, y, Formula::typeOf(getY()))};
}

bool ConvWeightGradientOp::hasFasterParts() { return isDeep(getW()); }

FailureOr<SmallVector<Value>>
ConvWeightGradientOp::decompose(OpBuilder &builder) {
  if (!hasElements(*this))
    return failure();
  if (!isDeep(getW())) {
    Type element = cast<TensorType>(getW().getType()).getElementType();
    if (!isShortFloat(element))
      return failure();
    Chain chain{builder, getLoc()};
    Value w = createWide(chain, *this, computeType(element));
    return SmallVector<Value>{chain.cast(w, element)};
  }
  std::optional<Correlation> whole = correlationOf(*this);
  if (!whole)
    return failure();
  Planar planar(*whole);
  Formula f(builder, getLoc());
  Value w = planar.correlation().weightGradient(f, planar.image(f, getX()),
                                                planar.windows(f, getG()));
  return SmallVector<Value>{f.reshape(w, Formula::typeOf(getW()).getShape())};
}

/// As of a ConvOp, which it becomes.
bool ConvTransposeOp::hasFasterParts() {
  ElementsAttr known = isDeep(getW()) ? getConstantElements(getW()) : nullptr;
  return !known || areFiniteFloats(known);
}

/// A transposed convolution without strides, of images whose extents are not
/// known, is one with the weights turned round.
static FailureOr<Value> turnRound(ConvTransposeOp op, OpBuilder &builder) {
  auto w = dyn_cast<RankedTensorType>(op.getW().getType());
  auto isOne = [](int64_t number) { return number == 1; };
  auto isZero = [](int64_t number) { return number == 0; };
  if (!w || !w.hasStaticShape() || w.getNumElements() == 0 ||
      op.getGroup() != 1 || op.getAutoPad() != "NOTSET" ||
      !op.getOutputShape().empty() || !llvm::all_of(op.getStrides(), isOne) ||
      !llvm::all_of(op.getOutputPadding(), isZero))
    return failure();
  const int64_t dims = w.getRank() - 2;
  SmallVector<int64_t> ones(dims, 1), dilations(op.getDilations());
  if (dilations.empty())
    dilations = ones;
  SmallVector<int64_t> pads(2 * dims), axes, firsts, lasts, steps;
  for (int64_t dim = 0; dim < dims; ++dim) {
    const int64_t reach = (w.getDimSize(dim + 2) - 1) * dilations[dim];
    int64_t left = reach; // Of what an image of one element is enlarged by.
    for (int64_t end : {dim, dims + dim}) {
      const int64_t pad = op.getPads().empty() ? 0 : op.getPads()[end];
      pads[end] = reach - pad;
      left -= pad;
    }
    if (left < 0) // Of a small image nothing would be left.
      return failure();
    axes.push_back(dim + 2);
    firsts.push_back(w.getDimSize(dim + 2) - 1);
    lasts.push_back(INT64_MIN);
    steps.push_back(-1);
  }
  Formula f(builder, op.getLoc());
  auto order = llvm::to_vector(llvm::seq<int64_t>(w.getRank()));
  std::swap(order[0], order[1]);
  Value turned =
      f.transpose(f.make<SliceOp>(op.getW(), f.ints(firsts), f.ints(lasts),
                                  f.ints(axes), f.ints(steps)),
                  order);
  return ConvOp::create(builder, op.getLoc(), op.getX(), turned, op.getBias(),
                        ones, pads, dilations, 1, "NOTSET")
      .getY();
}

FailureOr<SmallVector<Value>> ConvTransposeOp::decompose(OpBuilder &builder) {
  if (!hasStaticTypes(*this)) {
    FailureOr<Value> turned = turnRound(*this, builder);
    if (failed(turned))
      return failure();
    return SmallVector<Value>{*turned};
  }
  if (!hasElements(*this))
    return failure();
  std::optional<Correlation> correlation = correlationOf(*this);
  if (!correlation)
    return failure();
  Formula f(builder, getLoc());
  return SmallVector<Value>{correlation->spread(f, getX(), getW(), getBias())};
}
