// SPDX-License-Identifier: Apache-2.0
//
// The gradient of the Fourier transform: its conjugate transpose, which is the
// transform the other way round; and what transforms it is made of over time.

#include "Formula.h"

#include "dlc/dialects/Base/BaseDialect.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace dlc::graph;

/// Cut or filled up with zeros at the end of `axis`.
static Value resized(Formula &f, Value x, int64_t axis, int64_t extent) {
  int64_t more = extent - Formula::typeOf(x).getDimSize(axis);
  if (more == 0)
    return x;
  return f.make<PadOp>(x, f.ints({0, more}), f.number(x, 0), f.ints(axis));
}

static Value transform(Formula &f, Value x, int64_t axis, bool isInverse,
                       bool isOneSided) {
  Value none = NoneOp::create(f.builder, f.loc);
  return DftOp::create(f.builder, f.loc, x, none, f.integer(axis), isInverse,
                       isOneSided);
}

/// Of a real signal of `n` elements out of half its spectrum: the other half
/// was the same once more, but for what has no partner.
static Value halfSpectrumOf(Formula &f, Value g, int64_t axis, int64_t n) {
  Value spectrum = transform(f, g, axis, /*isInverse=*/false,
                             /*isOneSided=*/true);
  SmallVector<int64_t> counts(n / 2 + 1, 2);
  counts.front() = 1;
  if (n % 2 == 0)
    counts.back() = 1;
  SmallVector<int64_t> shape(Formula::typeOf(g).getRank() - axis, 1);
  shape.front() = n / 2 + 1;
  Value factors =
      f.cast(f.reshape(f.ints(counts), shape), Formula::elementOf(g));
  return f.scale(f.mul(spectrum, factors), 1 / static_cast<double>(n));
}

LogicalResult DftOp::buildGradients(Gradients &gradients) {
  auto isNone = [](Value x) { return isa<NoneType>(x.getType()); };
  auto axes =
      isNone(getAxis()) ? SmallVector<int64_t>{-2} : getConstantInts(getAxis());
  if (!hasStaticTypes(*this) || !axes)
    return gradients.fail("expected static shapes and a constant axis");
  auto type = Formula::typeOf(getX());
  int64_t axis = wrapAxis(axes->front(), type.getRank());
  bool fromHalf = getInverse() && getOnesided();
  int64_t n = Formula::typeOf(fromHalf ? getY() : getX()).getDimSize(axis);
  if (!isNone(getDftLength())) {
    auto lengths = getConstantInts(getDftLength());
    if (!lengths)
      return gradients.fail("expected a constant dft_length");
    n = lengths->front();
  }
  gradients.give(0, [&] {
    Formula f(gradients);
    Value g = gradients.ofResult();
    if (fromHalf) {
      g = halfSpectrumOf(f, g, axis, n);
    } else {
      g = transform(f, resized(f, g, axis, n), axis, !getInverse(),
                    /*isOneSided=*/false);
      auto count = static_cast<double>(n);
      g = f.scale(g, getInverse() ? 1 / count : count);
    }
    g = resized(f, g, axis, type.getDimSize(axis));
    // Of real input the real part.
    return resized(f, g, type.getRank() - 1, type.getShape().back());
  });
  return success();
}

bool StftOp::hasFasterParts() { return true; }

/// The number of elements of a frame, where it is known.
static std::optional<int64_t> frameLengthOf(StftOp op) {
  if (!isa<NoneType>(op.getFrameLength().getType())) {
    auto lengths = getConstantInts(op.getFrameLength());
    return lengths ? std::optional(lengths->front()) : std::nullopt;
  }
  const bool hasWindow = !isa<NoneType>(op.getWindow().getType());
  auto type = dyn_cast<RankedTensorType>(hasWindow ? op.getWindow().getType()
                                                   : op.getSignal().getType());
  const int64_t dim = hasWindow ? 0 : 1;
  if (!type || type.isDynamicDim(dim))
    return std::nullopt;
  return type.getDimSize(dim);
}

/// Cosines and negative sines of `bins` frequencies, 2 * bins x 1 x length.
static Value makeWaves(Formula &f, int64_t bins, int64_t length) {
  SmallVector<float> waves;
  for (int64_t k = 0; k < bins; ++k)
    for (bool isSine : {false, true})
      for (int64_t t = 0; t < length; ++t) {
        // Whole turns are left out before they are rounded.
        const double angle = 2 * std::numbers::pi *
                             static_cast<double>(k * t % length) /
                             static_cast<double>(length);
        waves.push_back(
            static_cast<float>(isSine ? -std::sin(angle) : std::cos(angle)));
      }
  auto type =
      RankedTensorType::get({2 * bins, 1, length}, f.builder.getF32Type());
  return f.constant(DenseElementsAttr::get(type, ArrayRef(waves)));
}

/// Of a real signal of any length a convolution with waves, each of which is
/// weighted as frames are. A fast transform has fewer terms, but is made for
/// shapes that are known.
static FailureOr<Value> convolveWaves(StftOp op, Formula &f) {
  constexpr int64_t longest = 1024;
  auto signal = dyn_cast<RankedTensorType>(op.getSignal().getType());
  auto steps = getConstantInts(op.getFrameStep());
  std::optional<int64_t> length = frameLengthOf(op);
  if (!signal || signal.getRank() != 3 || signal.getDimSize(2) != 1 ||
      !signal.getElementType().isF32() || !steps || !length || *length < 1 ||
      *length > longest || steps->front() < 1)
    return failure();
  const int64_t bins = op.getOnesided() ? *length / 2 + 1 : *length;
  Value waves = makeWaves(f, bins, *length);
  if (!isa<NoneType>(op.getWindow().getType())) {
    auto window = dyn_cast<RankedTensorType>(op.getWindow().getType());
    if (!window || window.getShape() != ArrayRef(*length))
      return failure();
    waves = f.mul(waves, f.reshape(op.getWindow(), {1, 1, *length}));
  }
  Value x = f.transpose(op.getSignal(), {0, 2, 1});
  Value y =
      ConvOp::create(f.builder, f.loc, x, waves, /*bias=*/Value(),
                     ArrayRef<int64_t>{steps->front()}, ArrayRef<int64_t>{0, 0},
                     ArrayRef<int64_t>{1}, 1, "NOTSET");
  // N x frames x 2 * bins, of which the last are frequencies and components.
  return ReshapeOp::create(f.builder, f.loc, f.transpose(y, {0, 2, 1}),
                           f.ints({0, 0, bins, 2}), /*allowzero=*/false)
      .getResult();
}

/// Frames are gathered, weighted and transformed. Within a kernel it stays one
/// operation.
FailureOr<SmallVector<Value>> StftOp::decompose(OpBuilder &builder) {
  Formula f(builder, getLoc());
  if (isInKernel(*this))
    return failure();
  if (!hasStaticTypes(*this)) {
    FailureOr<Value> y = convolveWaves(*this, f);
    if (failed(y))
      return failure();
    return SmallVector<Value>{*y};
  }
  auto steps = getConstantInts(getFrameStep());
  std::optional<int64_t> frame = frameLengthOf(*this);
  if (!steps || !frame || Formula::typeOf(getY()).getNumElements() == 0)
    return failure();
  auto type = Formula::typeOf(getSignal());
  bool hasWindow = !isa<NoneType>(getWindow().getType());
  const int64_t length = *frame;
  Type compute = computeType(type.getElementType());
  int64_t count = Formula::typeOf(getY()).getDimSize(1);
  Value first =
      f.reshape(f.mul(f.iota(count), f.integer(steps->front())), {count, 1});
  Value places = f.add(first, f.iota(length));
  // N x frames x length x components
  Value frames = GatherOp::create(builder, f.loc, f.cast(getSignal(), compute),
                                  places, /*axis=*/1);
  if (hasWindow)
    frames =
        f.mul(frames, f.reshape(f.cast(getWindow(), compute), {length, 1}));
  Value y =
      transform(f, frames, /*axis=*/2, /*isInverse=*/false, getOnesided());
  return SmallVector<Value>{f.cast(y, type.getElementType())};
}
