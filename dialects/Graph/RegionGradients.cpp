// SPDX-License-Identifier: Apache-2.0
//
// Gradients of pooling over regions of interest.

#include "Formula.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::graph;

static constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// Column `number` of regions, in the type that coordinates are computed in.
static Value columnOf(Formula &f, Value rois, int64_t number) {
  Value column = f.make<SliceOp>(rois, f.ints(number), f.ints(number + 1),
                                 f.ints(1), f.ints(1));
  return f.cast(column, computeType(Formula::elementOf(rois)));
}

/// The numbers from 0 on, as floats like those of `like`.
static Value numbersLike(Formula &f, Value like, int64_t count) {
  return f.cast(f.iota(count), Formula::elementOf(like));
}

/// The number in `x` (N x C x H x W), flattened, of an element of image `batch`
/// (a number for each region) in each channel.
static Value placeIn(Formula &f, Value x, Value batch, Value row,
                     Value column) {
  ArrayRef<int64_t> shape = Formula::typeOf(x).getShape();
  int64_t rank = Formula::typeOf(row).getRank();
  SmallVector<int64_t> channels(rank, 1), regions(rank, 1);
  channels[1] = shape[1];
  regions[0] = Formula::typeOf(batch).getNumElements();
  auto append = [&](Value place, int64_t extent, Value next) {
    return f.add(f.mul(place, f.integer(extent)), next);
  };
  Value plane = append(f.reshape(batch, regions), shape[1],
                       f.reshape(f.iota(shape[1]), channels));
  return append(append(plane, shape[2], row), shape[3], column);
}

/// Zeros like `x` with each number of `g` added at its place.
static Value addAt(Formula &f, Value x, Value places, Value g) {
  auto type = Formula::typeOf(x);
  int64_t count = Formula::typeOf(g).getNumElements();
  Value zeros = f.full({type.getNumElements()}, type.getElementType(), 0);
  Value sum = ScatterElementsOp::create(
      f.builder, f.loc, zeros, f.reshape(places, {count}),
      f.reshape(g, {count}), /*axis=*/0, "add");
  return f.reshape(sum, type.getShape());
}

//===----------------------------------------------------------------------===//
// The largest elements of bins
//===----------------------------------------------------------------------===//

/// To the nearest whole number, from halves away from 0: as the kernel does.
static Value roundAway(Formula &f, Value x) {
  Value size = f.make<AbsOp>(x);
  Value below = f.make<FloorOp>(size);
  Value isUp = f.make<GreaterEqualOp>(f.sub(size, below), f.number(x, 0.5));
  return f.mul(f.make<SignOp>(x),
               f.add(below, f.cast(isUp, Formula::elementOf(x))));
}

/// Whether a row or a column (last dimension) is in a bin (the one before) of
/// a region.
static Value binsOf(Formula &f, MaxRoiPoolOp op, bool ofRows) {
  int64_t extent = Formula::typeOf(op.getX()).getDimSize(ofRows ? 2 : 3);
  int64_t bins = op.getPooledShape()[ofRows ? 0 : 1];
  auto corner = [&](int64_t number) {
    Value at = columnOf(f, op.getRois(), number);
    return roundAway(f, f.scale(at, op.getSpatialScale().convertToDouble()));
  };
  Value first = corner(ofRows ? 2 : 1), last = corner(ofRows ? 4 : 3);
  Value size =
      f.make<MaxOp>(f.shift(f.sub(last, first), 1), f.number(first, 1));
  size = f.div(size, f.number(size, static_cast<double>(bins)));
  Value bin = numbersLike(f, size, bins);
  Value begin = f.add(f.make<FloorOp>(f.mul(bin, size)), first);
  Value end = f.add(f.make<CeilOp>(f.mul(f.shift(bin, 1), size)), first);
  SmallVector<int64_t> shape(Formula::typeOf(begin).getShape());
  shape.push_back(1);
  Value at = numbersLike(f, size, extent);
  return f.both(f.make<GreaterEqualOp>(at, f.reshape(begin, shape)),
                f.less(at, f.reshape(end, shape)));
}

static Value firstLargest(Formula &f, Value x, int64_t axis, bool keepdims) {
  return ArgMaxOp::create(f.builder, f.loc, x, axis, keepdims,
                          /*select_last_index=*/false);
}

/// Of the image, at the first of a bin's largest elements; regions have a
/// gradient of zero, as in MXNet. The largest of each row of a bin are found
/// first, then the largest of these.
LogicalResult MaxRoiPoolOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    Value g = gradients.ofResult();
    if (Formula::typeOf(g).getNumElements() == 0)
      return f.full(getX().getType(), 0);
    ArrayRef<int64_t> shape = Formula::typeOf(getX()).getShape();
    int64_t channels = shape[1], height = shape[2], width = shape[3];
    int64_t regions = Formula::typeOf(getRois()).getDimSize(0);
    int64_t down = getPooledShape()[0], across = getPooledShape()[1];
    Value batch = f.cast(f.reshape(columnOf(f, getRois(), 0), {regions}),
                         f.builder.getI64Type());
    Value image = GatherOp::create(f.builder, f.loc, getX(), batch, /*axis=*/0);
    Value rows = binsOf(f, *this, /*ofRows=*/true);
    Value columns = binsOf(f, *this, /*ofRows=*/false);
    // Regions, channels, rows, bins across, columns.
    Value inRow = f.select(
        f.reshape(columns, {regions, 1, 1, across, width}),
        f.reshape(image, {regions, channels, height, 1, width}), kLowest);
    Value best = ReduceMaxOp::create(f.builder, f.loc, inRow, f.ints(4),
                                     /*keepdims=*/false);
    Value column = firstLargest(f, inRow, /*axis=*/4, /*keepdims=*/false);
    // Regions, channels, bins down, rows, bins across.
    Value inBin = f.select(
        f.reshape(rows, {regions, 1, down, height, 1}),
        f.reshape(best, {regions, channels, 1, height, across}), kLowest);
    Value row = firstLargest(f, inBin, /*axis=*/3, /*keepdims=*/false);
    column =
        GatherElementsOp::create(f.builder, f.loc, column, row, /*axis=*/2);
    // Bins of nothing are 0.
    auto isAny = [&](Value mask, ArrayRef<int64_t> shape) {
      Value any = ReduceMaxOp::create(f.builder, f.loc, mask, f.ints(2),
                                      /*keepdims=*/false);
      return f.reshape(any, shape);
    };
    Value isFull = f.both(isAny(rows, {regions, 1, down, 1}),
                          isAny(columns, {regions, 1, 1, across}));
    return addAt(f, getX(), placeIn(f, getX(), batch, row, column),
                 f.select(isFull, g, 0));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Means of samples
//===----------------------------------------------------------------------===//

/// The weights of rows, or of columns, in the bins of all regions: regions x
/// extent x bins. A bin's weight of an element is the product of its row's and
/// its column's, so that the same operation on an image of one column, whose
/// channels are unit vectors, gives those of rows.
static Value weightsOf(Formula &f, RoiAlignOp op, bool ofRows) {
  auto type = Formula::typeOf(op.getX());
  int64_t regions = Formula::typeOf(op.getRois()).getDimSize(0);
  int64_t extent = type.getDimSize(ofRows ? 2 : 3);
  Value unit = f.identity(extent, type.getElementType());
  SmallVector<int64_t> image = {1, extent, extent, 1};
  if (!ofRows)
    std::swap(image[2], image[3]);
  // Along the other dimension one bin of one element: all of it is inside, and
  // no rounding makes it more than one sample.
  double scale = op.getSpatialScale().convertToDouble();
  double offset =
      op.getCoordinateTransformationMode() == "half_pixel" ? 0.5 : 0;
  auto side = [&](double at) {
    return f.full({regions, 1}, type.getElementType(), (at + offset) / scale);
  };
  auto column = [&](int64_t number) -> Value {
    return f.make<SliceOp>(op.getRois(), f.ints(number), f.ints(number + 1),
                           f.ints(1), f.ints(1));
  };
  SmallVector<Value> sides = {side(-0.5), column(1), side(0.25), column(3)};
  if (!ofRows)
    sides = {column(0), side(-0.5), column(2), side(0.25)};
  Value rois = ConcatOp::create(f.builder, f.loc, sides, /*axis=*/1);
  int64_t bins = ofRows ? op.getOutputHeight() : op.getOutputWidth();
  Value weights = RoiAlignOp::create(
      f.builder, f.loc, f.reshape(unit, image), rois,
      f.full({regions}, f.builder.getI64Type(), 0), "avg", ofRows ? bins : 1,
      ofRows ? 1 : bins, op.getSamplingRatio(), op.getSpatialScale(),
      op.getCoordinateTransformationMode());
  return f.reshape(weights, {regions, extent, bins});
}

/// The bins' rows times the weights of columns, and those summed over all
/// regions by one product with the weights of rows, which are 0 in the images
/// of others.
static Value giveToAll(Formula &f, RoiAlignOp op, Value g) {
  ArrayRef<int64_t> shape = Formula::typeOf(op.getX()).getShape();
  int64_t batch = shape[0], channels = shape[1], height = shape[2],
          width = shape[3];
  int64_t regions = Formula::typeOf(op.getRois()).getDimSize(0);
  int64_t bins = op.getOutputHeight(), binsAcross = op.getOutputWidth();
  // regions, channels, bins, width
  Value columns = f.transpose(weightsOf(f, op, /*ofRows=*/false), {0, 2, 1});
  columns = f.reshape(columns, {regions, 1, binsAcross, width});
  g = f.make<MatmulOp>(g, columns);
  g = f.reshape(f.transpose(g, {0, 2, 1, 3}),
                {regions * bins, channels * width});
  // batch, height, regions, bins
  Value rows = f.transpose(weightsOf(f, op, /*ofRows=*/true), {1, 0, 2});
  if (batch > 1) {
    Value numbers = f.reshape(f.iota(batch), {batch, 1, 1, 1});
    Value isOwn = f.make<EqualOp>(
        f.reshape(op.getBatchIndices(), {1, 1, regions, 1}), numbers);
    rows = f.select(isOwn, f.reshape(rows, {1, height, regions, bins}), 0);
  }
  rows = f.reshape(rows, {batch * height, regions * bins});
  Value sum =
      f.reshape(f.make<MatmulOp>(rows, g), {batch, height, channels, width});
  return f.transpose(sum, {0, 2, 1, 3});
}

//===----------------------------------------------------------------------===//
// The largest of samples
//===----------------------------------------------------------------------===//

namespace {
/// The samples of all bins of all regions along one dimension: the elements
/// below and above, and the weight of that above, each of regions x bins x
/// samples.
struct SampleAxis {
  Value low, high, weight;
  Value isInside;  ///< In the image; outside, an element of weight 0 counts.
  Value isCounted; ///< A region may have fewer samples than others.
};

/// Where regions begin along a dimension, and the size of their bins: regions x
/// 1 x 1.
struct RegionAxis {
  Value start, binSize;
};
} // namespace

/// As the kernel computes it.
static RegionAxis regionAxis(Formula &f, RoiAlignOp op, bool ofRows) {
  int64_t bins = ofRows ? op.getOutputHeight() : op.getOutputWidth();
  bool isHalf = op.getCoordinateTransformationMode() == "half_pixel";
  double scale = op.getSpatialScale().convertToDouble();
  int64_t regions = Formula::typeOf(op.getRois()).getDimSize(0);
  auto corner = [&](int64_t number) {
    Value at = f.scale(columnOf(f, op.getRois(), number), scale);
    at = isHalf ? f.shift(at, -0.5) : at;
    return f.reshape(at, {regions, 1, 1});
  };
  Value start = corner(ofRows ? 1 : 0), end = corner(ofRows ? 3 : 2);
  Value extent = f.sub(end, start);
  if (!isHalf)
    extent = f.make<MaxOp>(extent, f.number(extent, 1));
  return {start, f.div(extent, f.number(extent, static_cast<double>(bins)))};
}

/// The most samples that a bin has along a dimension; nullopt where regions
/// that are not constant decide.
static std::optional<int64_t> mostSamples(RoiAlignOp op, bool ofRows) {
  if (op.getSamplingRatio() > 0)
    return op.getSamplingRatio();
  auto rois =
      dyn_cast_or_null<DenseElementsAttr>(getConstantElements(op.getRois()));
  if (!rois)
    return std::nullopt;
  auto corners = llvm::to_vector(rois.getValues<APFloat>());
  double scale = op.getSpatialScale().convertToDouble(), most = 1;
  int64_t bins = ofRows ? op.getOutputHeight() : op.getOutputWidth();
  auto number = [](APFloat value) {
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return value.convertToDouble();
  };
  for (size_t i = ofRows ? 1 : 0; i < corners.size(); i += 4) {
    double extent = (number(corners[i + 2]) - number(corners[i])) * scale;
    // One more than the kernel may round to.
    most = std::max(most, std::ceil(extent / static_cast<double>(bins)) + 1);
  }
  constexpr double limit =
      1 << 10; // Of candidates there are four times its square.
  if (!(most <= limit))
    return std::nullopt;
  return static_cast<int64_t>(most);
}

static SampleAxis sampleAxis(Formula &f, RoiAlignOp op, bool ofRows,
                             int64_t samples) {
  auto [start, binSize] = regionAxis(f, op, ofRows);
  int64_t extent = Formula::typeOf(op.getX()).getDimSize(ofRows ? 2 : 3);
  int64_t bins = ofRows ? op.getOutputHeight() : op.getOutputWidth();
  Value count = f.number(start, static_cast<double>(op.getSamplingRatio()));
  if (op.getSamplingRatio() == 0)
    count = f.make<CeilOp>(binSize);
  Value sample = numbersLike(f, start, samples);
  Value bin = f.reshape(numbersLike(f, start, bins), {bins, 1});
  Value within = f.div(f.mul(f.shift(sample, 0.5), binSize),
                       f.make<MaxOp>(count, f.number(count, 1)));
  Value at = f.add(f.add(start, f.mul(bin, binSize)), within);
  SampleAxis axis;
  auto last = static_cast<double>(extent - 1);
  axis.isInside = f.both(f.make<GreaterEqualOp>(at, f.number(at, -1)),
                         f.make<LessEqualOp>(at, f.number(at, last + 1)));
  axis.isCounted = f.less(sample, count);
  at = f.make<MaxOp>(at, f.number(at, 0));
  Value low = f.make<MinOp>(f.make<FloorOp>(at), f.number(at, last));
  Value high = f.make<MinOp>(f.shift(low, 1), f.number(at, last));
  axis.weight = f.select(f.greater(high, low), f.sub(at, low), 0);
  axis.low = f.cast(low, f.builder.getI64Type());
  axis.high = f.cast(high, f.builder.getI64Type());
  return axis;
}

namespace {
/// All weighted elements that bins take the largest of: regions x channels x
/// bins x bins across x elements.
struct Candidates {
  Value places, weights, isCounted;
};
} // namespace

static Candidates candidatesOf(Formula &f, RoiAlignOp op, int64_t down,
                               int64_t across) {
  SampleAxis rows = sampleAxis(f, op, /*ofRows=*/true, down);
  SampleAxis columns = sampleAxis(f, op, /*ofRows=*/false, across);
  int64_t regions = Formula::typeOf(op.getRois()).getDimSize(0);
  int64_t bins = op.getOutputHeight(), binsAcross = op.getOutputWidth();
  // Regions, 1, bins, bins across, samples, samples across, four elements.
  auto shaped = [&](Value x, bool ofRows) {
    ArrayRef<int64_t> shape = Formula::typeOf(x).getShape();
    SmallVector<int64_t> own(shape.size() < 3 ? 3 - shape.size() : 0, 1);
    llvm::append_range(own, shape);
    return ofRows ? f.reshape(x, {own[0], 1, own[1], 1, own[2], 1, 1})
                  : f.reshape(x, {own[0], 1, 1, own[1], 1, own[2], 1});
  };
  auto joined = [&](ArrayRef<Value> parts, bool ofRows) -> Value {
    SmallVector<Value> four;
    for (Value part : parts)
      four.push_back(shaped(part, ofRows));
    return ConcatOp::create(f.builder, f.loc, four, /*axis=*/6);
  };
  Value up = f.from(1, rows.weight), left = f.from(1, columns.weight);
  Value row = joined({rows.low, rows.low, rows.high, rows.high}, true);
  Value column =
      joined({columns.low, columns.high, columns.low, columns.high}, false);
  Value weights =
      f.mul(joined({up, up, rows.weight, rows.weight}, true),
            joined({left, columns.weight, left, columns.weight}, false));
  auto both = [&](Value ofRows, Value ofColumns) {
    return f.both(shaped(ofRows, true), shaped(ofColumns, false));
  };
  weights = f.select(both(rows.isInside, columns.isInside), weights, 0);
  int64_t channels = Formula::typeOf(op.getX()).getDimSize(1);
  int64_t count = down * across * 4;
  auto flat = [&](Value x) {
    SmallVector<int64_t> full = {regions, channels, bins, binsAcross,
                                 down,    across,   4};
    return f.reshape(f.expand(x, full),
                     {regions, channels, bins, binsAcross, count});
  };
  Value batch = f.cast(op.getBatchIndices(), f.builder.getI64Type());
  return {flat(placeIn(f, op.getX(), batch, row, column)), flat(weights),
          flat(both(rows.isCounted, columns.isCounted))};
}

static Value giveToLargest(Formula &f, RoiAlignOp op, Value g, int64_t down,
                           int64_t across) {
  Candidates all = candidatesOf(f, op, down, across);
  auto type = Formula::typeOf(op.getX());
  Value x = f.reshape(op.getX(), {type.getNumElements()});
  Value values = GatherOp::create(f.builder, f.loc, x, all.places, /*axis=*/0);
  Value weights =
      f.select(all.isCounted, f.cast(all.weights, type.getElementType()), 0);
  values = f.select(all.isCounted, f.mul(values, weights), kLowest);
  Value first = ArgMaxOp::create(f.builder, f.loc, values, /*axis=*/4,
                                 /*keepdims=*/true,
                                 /*select_last_index=*/false);
  auto chosen = [&](Value of) -> Value {
    return f.reshape(
        GatherElementsOp::create(f.builder, f.loc, of, first, /*axis=*/4),
        Formula::typeOf(g).getShape());
  };
  return addAt(f, op.getX(), chosen(all.places), f.mul(g, chosen(weights)));
}

/// Of the image; regions have a gradient of zero, as in MXNet.
LogicalResult RoiAlignOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  std::optional<int64_t> down = mostSamples(*this, /*ofRows=*/true);
  std::optional<int64_t> across = mostSamples(*this, /*ofRows=*/false);
  if (getMode() == "max" && !(down && across))
    return gradients.fail("expected a sampling_ratio or constant regions in "
                          "the mode max, which say how many samples there are");
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    if (Formula::typeOf(getY()).getNumElements() == 0)
      return f.full(getX().getType(), 0);
    return getMode() == "max"
               ? giveToLargest(f, *this, gradients.ofResult(), *down, *across)
               : giveToAll(f, *this, gradients.ofResult());
  });
  return success();
}
