// SPDX-License-Identifier: Apache-2.0
//
// The gradient of the Fourier transform: its conjugate transpose, which is the
// transform the other way round; and what transforms it is made of over time.

#include "Formula.h"

#include "dlc/dialects/Base/BaseDialect.h"

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

/// Frames are gathered, weighted and transformed. Within a kernel it stays one
/// operation.
FailureOr<SmallVector<Value>> StftOp::decompose(OpBuilder &builder) {
  auto steps = getConstantInts(getFrameStep());
  if (!hasStaticTypes(*this) || !steps ||
      isa<dlc::LaunchableOpInterface>((*this)->getParentOp()) ||
      Formula::typeOf(getY()).getNumElements() == 0)
    return failure();
  auto type = Formula::typeOf(getSignal());
  bool hasWindow = !isa<NoneType>(getWindow().getType());
  int64_t length = hasWindow ? Formula::typeOf(getWindow()).getDimSize(0)
                             : type.getDimSize(1);
  if (!isa<NoneType>(getFrameLength().getType())) {
    auto lengths = getConstantInts(getFrameLength());
    if (!lengths)
      return failure();
    length = lengths->front();
  }
  Formula f(builder, getLoc());
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
