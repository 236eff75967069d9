// SPDX-License-Identifier: Apache-2.0
//
// Gradients of pooling. Of equal largest elements the first of a window is the
// one that counts, as in MXNet.

#include "Correlation.h"

using namespace mlir;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// What has the shape of the pooling's result.
template <typename Op> static Value pooledOf(Op op) {
  if constexpr (std::is_same_v<Op, MaxPoolGradientOp>)
    return op.getG();
  else
    return op.getY();
}

template <typename Op> static Correlation windowsOf(Op op) {
  Correlation windows =
      makeCorrelation(Formula::typeOf(op.getX()).getShape(),
                      Formula::typeOf(pooledOf(op)).getShape(),
                      op.getKernelShape(), op.getStrides(), op.getDilations());
  setBegins(windows, op.getPads(), op.getAutoPad());
  return windows;
}

/// The number of taps of each window along one dimension that lie before
/// `end`, at `first` or behind it.
static SmallVector<int64_t> countTaps(const Correlation &windows, size_t dim,
                                      int64_t first, int64_t end) {
  SmallVector<int64_t> counts;
  for (int64_t o = 0; o < windows.positions[dim]; ++o) {
    int64_t count = 0;
    for (int64_t k = 0; k < windows.kernel[dim]; ++k) {
      int64_t at = o * windows.strides[dim] + k * windows.dilations[dim] -
                   windows.begins[dim];
      count += at >= first && at < end;
    }
    counts.push_back(count);
  }
  return counts;
}

/// Some window holds nothing but padding.
static bool mayBeEmpty(const Correlation &windows) {
  return llvm::any_of(llvm::seq(windows.dims()), [&](size_t dim) {
    return llvm::is_contained(countTaps(windows, dim, 0, windows.image[dim]),
                              0);
  });
}

//===----------------------------------------------------------------------===//
// Largest elements
//===----------------------------------------------------------------------===//

/// Where the pooling of `x` found the elements of its result, as indices into
/// `x` flattened; negative for windows of nothing but padding.
template <typename Op> static Value indicesOf(Formula &f, Op op) {
  return MaxPoolWithIndicesOp::create(
             f.builder, f.loc, op.getX(), op.getKernelShape(), op.getStrides(),
             op.getPads(), op.getDilations(), op.getCeilMode(), op.getAutoPad(),
             /*storage_order=*/0)
      .getIndices();
}

template <typename Op>
static LogicalResult giveToLargest(Op op, Gradients &gradients) {
  if (!hasStaticTypes(op))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    return MaxPoolGradientOp::create(
        f.builder, f.loc, op.getX(), gradients.ofResult(), op.getKernelShape(),
        op.getStrides(), op.getPads(), op.getDilations(), op.getCeilMode(),
        op.getAutoPad());
  });
  return success();
}

LogicalResult MaxPoolOp::buildGradients(Gradients &gradients) {
  return giveToLargest(*this, gradients);
}

LogicalResult MaxPoolWithIndicesOp::buildGradients(Gradients &gradients) {
  return giveToLargest(*this, gradients);
}

/// Elements of `g` come from where windows of `x` put them; which those are
/// does not change.
LogicalResult MaxPoolGradientOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    return f.full(getX().getType(), 0);
  });
  gradients.give(1, [&]() -> Value {
    Formula f(gradients);
    Value sum = gradients.ofResult();
    auto type = Formula::typeOf(getG());
    if (Formula::typeOf(sum).getNumElements() == 0)
      return f.full(type, 0);
    Value indices = indicesOf(f, *this), none = f.less(indices, f.integer(0));
    bool isPartial = mayBeEmpty(windowsOf(*this));
    if (isPartial)
      indices = f.select(none, f.integer(0), indices);
    Value all = f.reshape(sum, {Formula::typeOf(sum).getNumElements()});
    Value taken = GatherOp::create(f.builder, f.loc, all, indices, /*axis=*/0);
    return isPartial ? f.select(none, 0, taken) : taken;
  });
  return success();
}

/// Elements went to their indices in the image that the window implies, which
/// is the beginning of the result.
LogicalResult MaxUnpoolOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    ArrayRef<int64_t> shape = Formula::typeOf(getX()).getShape();
    Correlation windows = makeCorrelation(shape, shape, getKernelShape(),
                                          getStrides(), /*dilations=*/{});
    SmallVector<int64_t> starts, ends, axes, steps;
    int64_t count = shape[0] * shape[1];
    for (size_t dim = 0; dim < windows.dims(); ++dim) {
      int64_t extent =
          (shape[dim + 2] - 1) * windows.strides[dim] + windows.kernel[dim];
      if (!getPads().empty())
        extent -= getPads()[dim] + getPads()[dim + windows.dims()];
      starts.push_back(0);
      ends.push_back(extent);
      axes.push_back(static_cast<int64_t>(dim) + 2);
      steps.push_back(1);
      count *= extent;
    }
    Value image = f.make<SliceOp>(gradients.ofResult(), f.ints(starts),
                                  f.ints(ends), f.ints(axes), f.ints(steps));
    return GatherOp::create(f.builder, f.loc, f.reshape(image, {count}),
                            getIndices(), /*axis=*/0);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Each window's number added to all of its elements, every plane on its own.
static Value spreadOnes(Formula &f, Correlation windows, Value g) {
  auto type = Formula::typeOf(g);
  SmallVector<int64_t> weights = {type.getDimSize(1), 1};
  llvm::append_range(weights, windows.kernel);
  windows.group = type.getDimSize(1);
  return windows.spread(f, g, f.full(weights, type.getElementType(), 1));
}

/// The number of elements that each mean is of, as a tensor that broadcasts
/// over positions: the padding counts for `count_include_pad`, what windows
/// reach beyond it never.
static Value countsOf(Formula &f, AvgPoolOp op, const Correlation &windows) {
  Type element = Formula::elementOf(op.getX());
  Value counts = f.scalar(element, 1);
  for (size_t dim = 0; dim < windows.dims(); ++dim) {
    int64_t first = 0, end = windows.image[dim];
    if (op.getCountIncludePad()) {
      int64_t span = (windows.positions[dim] - 1) * windows.strides[dim] +
                     (windows.kernel[dim] - 1) * windows.dilations[dim] + 1;
      first = -windows.begins[dim];
      if (op.getAutoPad().starts_with("SAME"))
        end = std::max(end, span + first);
      else if (op.getAutoPad() == "NOTSET" && !op.getPads().empty())
        end += op.getPads()[dim + windows.dims()];
    }
    SmallVector<int64_t> taps = countTaps(windows, dim, first, end);
    for (int64_t &count : taps) // A mean of nothing is 0, whatever it is of.
      count = std::max<int64_t>(count, 1);
    SmallVector<int64_t> shape(windows.dims() - dim, 1);
    shape[0] = windows.positions[dim];
    bool isSame = llvm::all_equal(taps);
    Value factor = isSame ? f.scalar(element, static_cast<double>(taps[0]))
                          : f.cast(f.reshape(f.ints(taps), shape), element);
    counts = f.mul(counts, factor);
  }
  return counts;
}

/// One window over all elements of each plane.
static bool isWholeImage(const Correlation &windows) {
  return windows.kernel == windows.image &&
         llvm::all_of(windows.positions, [](int64_t n) { return n == 1; }) &&
         llvm::all_of(windows.dilations, [](int64_t n) { return n == 1; }) &&
         llvm::all_of(windows.begins, [](int64_t n) { return n == 0; });
}

LogicalResult AvgPoolOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&] {
    Formula f(gradients);
    Correlation windows = windowsOf(*this);
    Value g = f.div(gradients.ofResult(), countsOf(f, *this, windows));
    if (isWholeImage(windows))
      return f.expand(g, Formula::typeOf(getX()).getShape());
    return spreadOnes(f, windows, g);
  });
  return success();
}

/// sign(x) |x|^(p - 1) times the sum of what windows pass on, which is
/// g y^(1 - p), and nothing where all of a window is 0.
LogicalResult LpPoolOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    Value x = getX(), g = gradients.ofResult();
    double p = static_cast<double>(getP());
    Value power = f.make<PowOp>(getY(), f.number(x, 1 - p));
    g = f.select(f.greater(getY(), 0), f.mul(g, power), 0);
    Value sum = spreadOnes(f, windowsOf(*this), g);
    Value size = f.make<PowOp>(f.make<AbsOp>(x), f.number(x, p - 1));
    return f.mul(sum, f.mul(f.make<SignOp>(x), size));
  });
  return success();
}
