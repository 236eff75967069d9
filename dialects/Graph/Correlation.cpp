// SPDX-License-Identifier: Apache-2.0

#include "Correlation.h"

using namespace mlir;
using namespace dlc::graph;

/// How far the taps of all windows along a dimension reach from the first.
static int64_t spanOf(const Correlation &c, size_t dim) {
  return (c.positions[dim] - 1) * c.strides[dim] +
         (c.kernel[dim] - 1) * c.dilations[dim] + 1;
}

/// `begins`, then for each dimension what `end` gives.
static SmallVector<int64_t> padsOf(const Correlation &c,
                                   function_ref<int64_t(size_t)> end) {
  SmallVector<int64_t> pads(c.begins);
  for (size_t dim = 0; dim < c.dims(); ++dim)
    pads.push_back(end(dim));
  return pads;
}

/// The elements of `x` up to `extents` of its spatial dimensions.
static Value crop(Formula &f, Value x, ArrayRef<int64_t> extents) {
  ArrayRef<int64_t> shape = Formula::typeOf(x).getShape();
  if (shape.drop_front(2) == extents)
    return x;
  SmallVector<int64_t> zeros(extents.size(), 0), ones(extents.size(), 1);
  auto axes = llvm::to_vector(
      llvm::seq<int64_t>(2, static_cast<int64_t>(shape.size())));
  return f.make<SliceOp>(x, f.ints(zeros), f.ints(extents), f.ints(axes),
                         f.ints(ones));
}

Value Correlation::correlate(Formula &f, Value image, Value weights) const {
  auto pads = padsOf(*this, [&](size_t dim) {
    return std::max<int64_t>(0, spanOf(*this, dim) - this->image[dim] -
                                    begins[dim]);
  });
  // Elements at the end that no window reads may be room for one more.
  Value y = ConvOp::create(f.builder, f.loc, image, weights, /*bias=*/Value(),
                           strides, pads, dilations, group, "NOTSET");
  return crop(f, y, positions);
}

/// The same weights for the way back: M, C/group, ... as C, M/group, ..., the
/// taps in the opposite order.
static Value turned(Formula &f, Value weights, int64_t group) {
  SmallVector<int64_t> shape(Formula::typeOf(weights).getShape());
  SmallVector<int64_t> axes, last, before, back;
  for (int64_t axis = 2; axis < static_cast<int64_t>(shape.size()); ++axis) {
    if (shape[axis] == 1)
      continue;
    axes.push_back(axis);
    last.push_back(-1);
    before.push_back(INT64_MIN);
    back.push_back(-1);
  }
  if (!axes.empty())
    weights = f.make<SliceOp>(weights, f.ints(last), f.ints(before),
                              f.ints(axes), f.ints(back));
  int64_t outputs = shape[0] / group, inputs = shape[1];
  shape[0] = outputs;
  shape.insert(shape.begin(), group);
  auto perm =
      llvm::to_vector(llvm::seq<int64_t>(static_cast<int64_t>(shape.size())));
  std::swap(perm[1], perm[2]);
  weights = f.transpose(f.reshape(weights, shape), perm);
  shape.erase(shape.begin());
  shape[0] = group * inputs;
  shape[1] = outputs;
  return f.reshape(weights, shape);
}

/// A convolution of windows with zeros between them, with the weights turned
/// round: there are fast kernels for those.
Value Correlation::spread(Formula &f, Value windows, Value weights) const {
  for (auto [dim, stride] : llvm::enumerate(strides))
    windows = f.interleave(windows, static_cast<int64_t>(dim) + 2, stride);
  SmallVector<int64_t> pads(2 * dims(), 0), edges(2 * dims(), 0), axes;
  for (size_t dim = 0; dim < dims(); ++dim) {
    int64_t reach = (kernel[dim] - 1) * dilations[dim];
    int64_t begin = reach - begins[dim];
    int64_t end = image[dim] + begins[dim] - positions[dim] * strides[dim];
    pads[dim] = std::max<int64_t>(begin, 0);
    pads[dim + dims()] = std::max<int64_t>(end, 0);
    // What lies outside of the image, and the last zeros, are cut off.
    edges[dim] = std::min<int64_t>(begin, 0);
    edges[dim + dims()] = std::min<int64_t>(end, 0);
    axes.push_back(static_cast<int64_t>(dim) + 2);
  }
  if (llvm::any_of(edges, [](int64_t edge) { return edge != 0; }))
    windows = f.make<PadOp>(windows, f.ints(edges), f.number(windows, 0),
                            f.ints(axes));
  SmallVector<int64_t> ones(dims(), 1);
  return ConvOp::create(f.builder, f.loc, windows, turned(f, weights, group),
                        /*bias=*/Value(), /*strides=*/ones, pads, dilations,
                        group, "NOTSET");
}

Value Correlation::weightGradient(Formula &f, Value image,
                                  Value windows) const {
  auto pads = padsOf(*this, [](size_t) { return 0; });
  return ConvWeightGradientOp::create(f.builder, f.loc, image, windows, kernel,
                                      strides, pads, dilations, group);
}

static SmallVector<int64_t> orOnes(ArrayRef<int64_t> list, size_t dims) {
  return list.empty() ? SmallVector<int64_t>(dims, 1)
                      : SmallVector<int64_t>(list);
}

Correlation dlc::graph::makeCorrelation(ArrayRef<int64_t> image,
                                        ArrayRef<int64_t> positions,
                                        ArrayRef<int64_t> kernel,
                                        ArrayRef<int64_t> strides,
                                        ArrayRef<int64_t> dilations) {
  Correlation correlation;
  correlation.image = SmallVector<int64_t>(image.drop_front(2));
  correlation.positions = SmallVector<int64_t>(positions.drop_front(2));
  correlation.kernel = SmallVector<int64_t>(kernel);
  correlation.strides = orOnes(strides, kernel.size());
  correlation.dilations = orOnes(dilations, kernel.size());
  correlation.begins.assign(kernel.size(), 0);
  return correlation;
}

void dlc::graph::setBegins(Correlation &correlation, ArrayRef<int64_t> pads,
                           StringRef autoPad) {
  for (size_t dim = 0; dim < correlation.dims(); ++dim) {
    int64_t &begin = correlation.begins[dim];
    begin = autoPad == "NOTSET" && !pads.empty() ? pads[dim] : 0;
    if (!autoPad.starts_with("SAME"))
      continue;
    int64_t total =
        std::max<int64_t>(0, spanOf(correlation, dim) - correlation.image[dim]);
    begin = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
}
