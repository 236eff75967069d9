// SPDX-License-Identifier: Apache-2.0

#include "Correlation.h"

#include "ElementBuilder.h"

using namespace mlir;
using namespace dlc::graph;

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

Value Correlation::correlate(Formula &f, Value image, Value weights,
                             Value bias) const {
  auto pads = padsOf(*this, [&](size_t dim) {
    return std::max<int64_t>(0, span(dim) - this->image[dim] - begins[dim]);
  });
  // Elements at the end that no window reads may be room for one more.
  Value y = ConvOp::create(f.builder, f.loc, image, weights, bias, strides,
                           pads, dilations, group, "NOTSET");
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

Value dlc::graph::padAxes(Formula &f, Value x, ArrayRef<int64_t> axes,
                          ArrayRef<int64_t> pads) {
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return x;
  return f.make<PadOp>(x, f.ints(pads), f.number(x, 0), f.ints(axes));
}

Value Correlation::spreadDensely(Formula &f, Value windows, Value weights,
                                 Value bias) const {
  SmallVector<int64_t> pads(2 * dims(), 0), edges(2 * dims(), 0), axes;
  for (size_t dim = 0; dim < dims(); ++dim) {
    int64_t reach = (kernel[dim] - 1) * dilations[dim];
    int64_t begin = reach - begins[dim];
    int64_t end = image[dim] + begins[dim] - positions[dim];
    pads[dim] = std::max<int64_t>(begin, 0);
    pads[dim + dims()] = std::max<int64_t>(end, 0);
    // What lies outside of the image is cut off.
    edges[dim] = std::min<int64_t>(begin, 0);
    edges[dim + dims()] = std::min<int64_t>(end, 0);
    axes.push_back(static_cast<int64_t>(dim) + 2);
  }
  return ConvOp::create(f.builder, f.loc, padAxes(f, windows, axes, edges),
                        turned(f, weights, group), bias, strides, pads,
                        dilations, group, "NOTSET");
}

/// Of the weights along `axis`, the taps whose number modulo `stride` is from
/// `first` to below `last`; there are as many of each remainder. The remainders
/// become channels: M, C/group * (last - first), ...
static Value takeTaps(Formula &f, Value weights, int64_t axis, int64_t stride,
                      int64_t first, int64_t last) {
  SmallVector<int64_t> shape(Formula::typeOf(weights).getShape());
  if (shape[axis] == 1)
    return weights; // It is the first and all.
  auto taps =
      static_cast<int64_t>(llvm::divideCeil(shape[axis] - first, stride));
  weights = padAxes(f, weights, axis, {0, taps * stride - shape[axis]});
  shape[axis] = taps;
  shape.insert(shape.begin() + axis + 1, stride);
  weights =
      padAxes(f, f.reshape(weights, shape), axis + 1, {-first, last - stride});
  auto perm =
      llvm::to_vector(llvm::seq<int64_t>(static_cast<int64_t>(shape.size())));
  perm.erase(perm.begin() + axis + 1);
  perm.insert(perm.begin() + 2, axis + 1);
  weights = f.transpose(weights, perm);
  shape.erase(shape.begin() + axis + 1);
  shape[1] *= last - first;
  return f.reshape(weights, shape);
}

/// Each element `count` times.
static Value repeated(Formula &f, Value x, int64_t count) {
  int64_t extent = Formula::typeOf(x).getNumElements();
  if (count == 1)
    return x;
  return f.reshape(f.expand(f.reshape(x, {extent, 1}), {extent, count}),
                   {extent * count});
}

/// Of what `spreadApart` gives.
static int64_t axisOfRemainders(size_t dim) {
  return 3 + 2 * static_cast<int64_t>(dim);
}

/// N, C * remainders, D1..Dn as N, C, D1, R1..Dn, Rn. Where each dimension has
/// one remainder nothing moves, and channels may be in blocks.
static Value withRemainders(Formula &f, Value y, ArrayRef<int64_t> remainders) {
  SmallVector<int64_t> shape(Formula::typeOf(y).getShape());
  ArrayRef<int64_t> extents = ArrayRef(shape).drop_front(2);
  SmallVector<int64_t> apart(shape.begin(), shape.begin() + 2), perm = {0, 1};
  int64_t count = llvm::product_of(remainders);
  apart[1] /= count;
  if (count == 1) {
    for (int64_t extent : extents)
      apart.append({extent, 1});
    return f.reshape(y, apart);
  }
  llvm::append_range(apart, remainders);
  llvm::append_range(apart, extents);
  auto dims = static_cast<int64_t>(remainders.size());
  for (int64_t dim = 2; dim < 2 + dims; ++dim)
    perm.append({dim + dims, dim});
  return f.transpose(f.reshape(y, apart), perm);
}

/// Zeros between taps make them neighbours.
static Value withoutDilation(Formula &f, Value weights, int64_t axis,
                             int64_t dilation) {
  return padAxes(f, f.interleave(weights, axis, dilation), axis,
                 {0, 1 - dilation});
}

/// `bias`, if there is one, added to each channel.
static Value addBias(Formula &f, Value y, Value bias) {
  if (!bias)
    return y;
  ArrayRef<int64_t> shape = Formula::typeOf(y).getShape();
  SmallVector<int64_t> perChannel(shape.size() - 1, 1);
  perChannel.front() = shape[1];
  return f.add(y, f.reshape(bias, perChannel));
}

Value Correlation::spreadWindow(Formula &f, Value windows, Value weights,
                                Value bias) const {
  SmallVector<int64_t> axes, pads(2 * dims());
  for (size_t dim = 0; dim < dims(); ++dim) {
    axes.push_back(static_cast<int64_t>(dim) + 2);
    weights = withoutDilation(f, weights, axes.back(), dilations[dim]);
    pads[dim] = -begins[dim];
    pads[dim + dims()] = image[dim] + begins[dim] -
                         Formula::typeOf(weights).getDimSize(axes.back());
  }
  SmallVector<int64_t> shape(Formula::typeOf(weights).getShape());
  const int64_t terms = shape.front(),
                batch = Formula::typeOf(windows).getDimSize(0);
  Value y = MatmulOp::create(
      f.builder, f.loc, f.reshape(windows, {batch, terms}),
      f.reshape(weights,
                {terms, llvm::product_of(ArrayRef(shape).drop_front())}));
  shape.front() = batch;
  return addBias(f, padAxes(f, f.reshape(y, shape), axes, pads), bias);
}

SmallVector<Correlation::Remainders>
Correlation::remaindersOf(size_t dim, bool isEach) const {
  const int64_t stride = strides[dim], taps = kernel[dim];
  SmallVector<Remainders> result;
  if (isEach) {
    // Element `e * stride + i` meets taps from (i + begin) % stride on.
    for (int64_t i = begins[dim]; i < begins[dim] + stride; ++i)
      result.push_back({i % stride, i % stride + 1, i / stride});
    return result;
  }
  // The first remainders have one tap more where not all have as many.
  const int64_t more = taps % stride;
  for (auto [first, last] :
       {std::pair(int64_t(0), more), std::pair(more, std::min(taps, stride))})
    if (first != last)
      result.push_back({first, last, 0});
  return result;
}

/// The taps of the remainder that has most.
static int64_t mostTaps(int64_t taps, int64_t stride) {
  return static_cast<int64_t>(llvm::divideCeil(taps, stride));
}

bool Correlation::gainsByEach() const {
  // Each convolution reads all windows, and takes time to compile and to start.
  constexpr double worthwhile = 1.2;
  constexpr int64_t mostConvolutions = 9;
  double more = 1;
  int64_t convolutions = 1;
  for (size_t dim = 0; dim < dims(); ++dim) {
    if (strides[dim] == 1)
      continue;
    const auto elements =
        static_cast<int64_t>(llvm::divideCeil(image[dim], strides[dim]));
    if (kernel[dim] < strides[dim] || begins[dim] < 0 || elements == 0 ||
        strides[dim] > mostConvolutions / convolutions)
      return false;
    convolutions *= strides[dim];
    more *= static_cast<double>(positions[dim] +
                                mostTaps(kernel[dim], strides[dim]) - 1) /
            static_cast<double>(elements);
  }
  return more >= worthwhile;
}

Value Correlation::spreadApart(Formula &f, Value windows, Value weights,
                               Value bias, ArrayRef<int64_t> remainders,
                               bool isEach) const {
  size_t dim = remainders.size();
  if (dim == dims()) {
    if (bias)
      bias = repeated(f, bias, llvm::product_of(remainders));
    return withRemainders(f, spreadDensely(f, windows, weights, bias),
                          remainders);
  }
  int64_t stride = strides[dim];
  SmallVector<int64_t> counts(remainders);
  counts.push_back(1);
  if (stride == 1)
    return spreadApart(f, windows, weights, bias, counts, isEach);
  auto axis = static_cast<int64_t>(dim) + 2;
  SmallVector<Value> parts;
  for (const Remainders &own : remaindersOf(dim, isEach)) {
    Correlation part = *this;
    part.kernel[dim] = mostTaps(kernel[dim] - own.firstTap, stride);
    part.strides[dim] = 1;
    part.begins[dim] = own.begin;
    counts.back() = own.lastTap - own.firstTap;
    parts.push_back(part.spreadApart(
        f, windows,
        takeTaps(f, weights, axis, stride, own.firstTap, own.lastTap), bias,
        counts, isEach));
  }
  return parts.size() == 1
             ? parts.front()
             : ConcatOp::create(f.builder, f.loc, parts, axisOfRemainders(dim));
}

/// A convolution with the weights turned round: there are fast kernels for
/// those. Along a dimension with a stride, taps with the same number modulo the
/// stride reach the same elements of the image, so that each remainder is a
/// convolution without a stride, and its image comes between the others'.
Value Correlation::spread(Formula &f, Value windows, Value weights,
                          Value bias) const {
  auto isOne = [](int64_t number) { return number == 1; };
  if (group == 1 && llvm::all_of(positions, isOne))
    return spreadWindow(f, windows, weights, bias);
  if (llvm::all_of(strides, isOne))
    return spreadDensely(f, windows, weights, bias);
  Correlation apart = *this;
  SmallVector<int64_t> axes, remainderAxes;
  SmallVector<int64_t> missing(2 * dims(), 0), edges(2 * dims(), 0);
  SmallVector<int64_t> shape(Formula::typeOf(windows).getShape().take_front(2));
  shape[1] = group * Formula::typeOf(weights).getDimSize(1);
  for (size_t dim = 0; dim < dims(); ++dim) {
    auto axis = static_cast<int64_t>(dim) + 2;
    axes.push_back(axis);
    remainderAxes.push_back(axisOfRemainders(dim));
    if (strides[dim] == 1)
      continue;
    int64_t &taps = apart.kernel[dim];
    taps = (taps - 1) * dilations[dim] + 1;
    weights = withoutDilation(f, weights, axis, dilations[dim]);
    apart.dilations[dim] = 1;
  }
  const bool isEach = apart.gainsByEach();
  for (size_t dim = 0; dim < dims(); ++dim) {
    int64_t stride = strides[dim], begin = begins[dim];
    if (stride == 1) {
      shape.push_back(image[dim]);
      continue;
    }
    if (isEach) {
      begin = 0;
      apart.image[dim] =
          static_cast<int64_t>(llvm::divideCeil(image[dim], stride));
    } else {
      apart.begins[dim] = 0;
      apart.image[dim] =
          positions[dim] + mostTaps(apart.kernel[dim], stride) - 1;
      missing[dim + dims()] = std::max<int64_t>(0, stride - apart.kernel[dim]);
    }
    shape.push_back(apart.image[dim] * stride);
    edges[dim] = -begin;
    edges[dim + dims()] = image[dim] + begin - shape.back();
  }
  // Convolutions add the bias, unless there are elements that none computes.
  auto isMore = [](int64_t pad) { return pad > 0; };
  bool isPadded = llvm::any_of(missing, isMore) || llvm::any_of(edges, isMore);
  Value parts = apart.spreadApart(f, windows, weights,
                                  isPadded ? Value() : bias, {}, isEach);
  parts = padAxes(f, parts, remainderAxes, missing);
  Value y = padAxes(f, f.reshape(parts, shape), axes, edges);
  return isPadded ? addBias(f, y, bias) : y;
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
        std::max<int64_t>(0, correlation.span(dim) - correlation.image[dim]);
    begin = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
}

//===----------------------------------------------------------------------===//
// Of operations
//===----------------------------------------------------------------------===//

std::optional<Correlation> dlc::graph::correlationOf(ConvOp op) {
  size_t rank = shapeOf(op.getW()).size();
  if (shapeOf(op.getX()).size() != rank || shapeOf(op.getY()).size() != rank)
    return std::nullopt;
  return unblockedCorrelationOf(op);
}

template <typename Op> static Correlation unblockedOf(Op op) {
  ArrayRef<int64_t> weights = shapeOf(op.getW());
  Correlation correlation = makeCorrelation(
      shapeOf(op.getX()).take_front(weights.size()),
      shapeOf(op.getY()).take_front(weights.size()), weights.drop_front(2),
      op.getStrides(), op.getDilations());
  correlation.group = op.getGroup();
  setBegins(correlation, op.getPads(), op.getAutoPad());
  return correlation;
}

Correlation dlc::graph::unblockedCorrelationOf(ConvOp op) {
  return unblockedOf(op);
}

Correlation dlc::graph::unblockedCorrelationOf(IntegerConvOp op) {
  return unblockedOf(op);
}

std::optional<Correlation> dlc::graph::correlationOf(ConvTransposeOp op) {
  StringRef autoPad = op.getAutoPad();
  bool isSame = autoPad.starts_with("SAME");
  bool hasShape = !op.getOutputShape().empty();
  if (llvm::any_of(op.getOutputPadding(), [](int64_t n) { return n != 0; }) &&
      (hasShape || isSame))
    return std::nullopt;
  Correlation correlation = makeCorrelation(
      shapeOf(op.getY()), shapeOf(op.getX()), shapeOf(op.getW()).drop_front(2),
      op.getStrides(), op.getDilations());
  correlation.group = op.getGroup();
  // Given the image's shape, what windows reach beyond it is shared out as for
  // SAME.
  if (hasShape && !isSame)
    setBegins(correlation, {}, "SAME_LOWER");
  else
    setBegins(correlation, op.getPads(), autoPad);
  return correlation;
}

std::optional<Correlation> dlc::graph::correlationOf(ConvWeightGradientOp op) {
  size_t rank = shapeOf(op.getW()).size();
  if (shapeOf(op.getX()).size() != rank || shapeOf(op.getG()).size() != rank)
    return std::nullopt;
  return unblockedCorrelationOf(op);
}

Correlation dlc::graph::unblockedCorrelationOf(ConvWeightGradientOp op) {
  size_t rank = shapeOf(op.getW()).size();
  Correlation correlation = makeCorrelation(
      shapeOf(op.getX()).take_front(rank), shapeOf(op.getG()).take_front(rank),
      op.getKernelShape(), op.getStrides(), op.getDilations());
  correlation.group = op.getGroup();
  setBegins(correlation, op.getPads(), "NOTSET");
  return correlation;
}
