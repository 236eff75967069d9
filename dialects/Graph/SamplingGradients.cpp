// SPDX-License-Identifier: Apache-2.0
//
// Gradients of resampling and of operations on images and matrices. Resampling
// is a sum with weights that depend on the place only: an operation applied to
// unit vectors gives its own weights.

#include "Correlation.h"
#include "Neighbours.h"
#include "Resizing.h"

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/Inference.h"

using namespace mlir;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

/// The sum of each block of elements that one was repeated to.
static Value sumBlocks(Formula &f, Value g, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> blocks, axes;
  for (auto [from, to] :
       llvm::zip_equal(shape, Formula::typeOf(g).getShape())) {
    axes.push_back(static_cast<int64_t>(blocks.size()) + 1);
    blocks.append({from, to / from});
  }
  return f.sumOver(f.reshape(g, blocks), axes, /*keepdims=*/false);
}

/// The weights of all elements along an axis (rows) in the result (columns):
/// the same operation along that axis alone.
static Value weightsAlong(Formula &f, ResizeOp op, const ResizedAxis &along,
                          int64_t axisCount) {
  auto type = Formula::typeOf(op.getX());
  Value unit = f.identity(type.getDimSize(along.axis), type.getElementType());
  Value roi = op.getRoi(), scales = op.getScales(), sizes = op.getSizes();
  if (!isa<NoneType>(roi.getType()))
    roi = GatherOp::create(f.builder, f.loc, roi,
                           f.ints({along.number, axisCount + along.number}),
                           /*axis=*/0);
  if (!isa<NoneType>(scales.getType()))
    scales = f.full({1}, f.builder.getF32Type(), along.scale);
  else
    sizes = f.ints(Formula::typeOf(op.getY()).getDimSize(along.axis));
  NamedAttrList attributes(op->getAttrs());
  attributes.set("axes", f.builder.getDenseI64ArrayAttr({1}));
  // What lies outside depends on no element.
  attributes.set("extrapolation_value", f.builder.getF32FloatAttr(0));
  return createInferred(f.builder, f.loc, ResizeOp::getOperationName(),
                        {unit, roi, scales, sizes}, attributes.getAttrs())
      ->getResult(0);
}

/// Axis `axis` of `g` times the columns of `weights`.
static Value contract(Formula &f, Value g, int64_t axis, Value weights) {
  SmallVector<int64_t> shape(Formula::typeOf(g).getShape());
  int64_t extent = Formula::typeOf(weights).getDimSize(0), before = 1,
          behind = 1;
  for (auto [i, dim] : llvm::enumerate(shape))
    if (static_cast<int64_t>(i) != axis)
      (static_cast<int64_t>(i) < axis ? before : behind) *= dim;
  int64_t old = shape[axis];
  shape[axis] = extent;
  if (behind == 1)
    return f.reshape(f.make<MatmulOp>(f.reshape(g, {before, old}),
                                      f.transpose(weights, {1, 0})),
                     shape);
  return f.reshape(
      f.make<MatmulOp>(weights, f.reshape(g, {before, old, behind})), shape);
}

LogicalResult ResizeOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  if (getKeepAspectRatioPolicy() != "stretch")
    return gradients.fail("expected a keep_aspect_ratio_policy of stretch, "
                          "got " +
                          getKeepAspectRatioPolicy());
  ArrayRef<int64_t> shape = Formula::typeOf(getX()).getShape();
  Formula f(gradients);
  if (Formula::typeOf(getY()).getNumElements() == 0) {
    gradients.give(0, [&] { return f.full(getX().getType(), 0); });
    return success();
  }
  auto resized = resizedBy(*this);
  if (!resized)
    return gradients.fail("expected constant scales");
  gradients.give(0, [&]() -> Value {
    Value g = gradients.ofResult();
    if (isRepetition(*this, *resized))
      return sumBlocks(f, g, shape);
    for (const ResizedAxis &each : *resized)
      if (each.scale != 1 ||
          getCoordinateTransformationMode() == "tf_crop_and_resize")
        g = contract(f, g, each.axis,
                     weightsAlong(f, *this, each,
                                  static_cast<int64_t>(resized->size())));
    return g;
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// Folds coordinates at both borders until they lie between them.
static Value reflect(Formula &f, Value x, double low, double high) {
  double range = high - low;
  if (range <= 0)
    return f.add(f.scale(x, 0), f.number(x, low));
  Value distance = f.make<AbsOp>(f.shift(x, -low));
  Value period = f.number(x, 2 * range);
  Value turns = f.make<FloorOp>(f.div(distance, period));
  Value folded = f.sub(distance, f.mul(turns, period));
  // Up, then down again.
  return f.shift(f.from(range, f.make<AbsOp>(f.shift(folded, -range))), low);
}

/// `x` as the padding mode has it outside of the borders.
static Value padCoordinate(Formula &f, GridSampleOp op, Value x,
                           int64_t extent) {
  double last = static_cast<double>(extent - 1);
  double low = op.getAlignCorners() ? 0 : -0.5;
  double high = op.getAlignCorners() ? last : last + 0.5;
  if (op.getPaddingMode() == "zeros")
    return x;
  Value isOutside = f.either(f.less(x, low), f.greater(x, high));
  Value inside = op.getPaddingMode() == "border"
                     ? f.make<ClampOp>(x, f.number(x, 0), f.number(x, last))
                     : reflect(f, x, low, high);
  return f.select(isOutside, inside, x);
}

/// The element at a whole coordinate; what is outside of a padding of zeros
/// loses its weight.
static Neighbour neighbourAt(Formula &f, GridSampleOp op, Value x, Value weight,
                             int64_t extent) {
  if (op.getPaddingMode() == "zeros")
    return neighbourInside(f, x, weight, extent);
  // A cell's centre may lie in the image where its neighbours do not.
  Value inside =
      op.getPaddingMode() == "reflection" ? padCoordinate(f, op, x, extent) : x;
  return {indexAt(f, inside, extent), weight};
}

/// Those of the normalised coordinates `grid` along a dimension.
static SmallVector<Neighbour> neighboursOf(Formula &f, GridSampleOp op,
                                           Value grid, int64_t extent) {
  auto size = static_cast<double>(extent);
  bool isNearest = op.getMode() == "nearest";
  Value ones = f.full(grid.getType(), 1);
  if (isNearest)
    grid = f.cast(grid, f.builder.getF64Type());
  Value x = op.getAlignCorners()
                ? f.scale(f.shift(grid, 1), (size - 1) / 2)
                : f.scale(f.shift(f.scale(f.shift(grid, 1), size), -1), 0.5);
  auto at = [&](Value place, Value weight) {
    return neighbourAt(f, op, place, weight, extent);
  };
  if (isNearest) {
    // As the kernel does: a tie decides.
    x = f.make<RoundOp>(f.cast(x, f.builder.getF32Type()));
    return {at(padCoordinate(f, op, x, extent), ones)};
  }
  x = padCoordinate(f, op, x, extent);
  Value base = f.make<FloorOp>(x);
  Value t = f.sub(x, base);
  if (op.getMode() == "linear")
    return {at(base, f.from(1, t)), at(f.shift(base, 1), t)};
  // Keys' cubic.
  constexpr double a = -0.75;
  auto inner = [&](Value d) {
    Value slope = f.shift(f.scale(d, a + 2), -(a + 3));
    return f.shift(f.mul(f.mul(slope, d), d), 1);
  };
  auto outer = [&](Value d) {
    Value slope = f.shift(f.scale(d, a), -5 * a);
    return f.shift(f.mul(f.shift(f.mul(slope, d), 8 * a), d), -4 * a);
  };
  return {at(f.shift(base, -1), outer(f.shift(t, 1))), at(base, inner(t)),
          at(f.shift(base, 1), inner(f.from(1, t))),
          at(f.shift(base, 2), outer(f.from(2, t)))};
}

/// Of 16 neighbours at most a kernel is made; more take too long to compile.
bool GridSampleOp::hasFasterParts() {
  return hasStaticTypes(*this) && hasElements(*this) &&
         (getMode() != "cubic" || Formula::typeOf(getX()).getRank() <= 4) &&
         Formula::typeOf(getX()).getRank() <= 6;
}

/// Gathers the neighbours of all points and sums them with their weights; the
/// gradients of both operands are those of that. Within a kernel it stays one
/// operation.
FailureOr<SmallVector<Value>> GridSampleOp::decompose(OpBuilder &builder) {
  // Of n dimensions there are up to 4^n neighbours.
  constexpr int64_t mostDims = 4;
  if (!hasStaticTypes(*this) ||
      Formula::typeOf(getX()).getRank() - 2 > mostDims || isInKernel(*this) ||
      Formula::typeOf(getY()).getNumElements() == 0)
    return failure();
  Formula f(builder, getLoc());
  auto type = Formula::typeOf(getX());
  Type compute = computeType(type.getElementType());
  ArrayRef<int64_t> extents = type.getShape().drop_front(2);
  int64_t batch = type.getDimSize(0), channels = type.getDimSize(1), points = 1,
          elements = 1;
  auto dims = static_cast<int64_t>(extents.size());
  for (auto [extent, count] : llvm::zip_equal(
           extents, Formula::typeOf(getY()).getShape().drop_front(2))) {
    elements *= extent;
    points *= count;
  }
  Value planes =
      f.reshape(f.cast(getX(), compute), {batch, channels, elements});
  Value grid = f.reshape(f.cast(getGrid(), compute), {batch, 1, points, dims});
  SmallVector<SmallVector<Neighbour>> neighbours;
  for (int64_t dim = 0; dim < dims; ++dim) {
    // The grid names the last dimension first.
    Value along = GatherOp::create(f.builder, f.loc, grid,
                                   f.integer(dims - 1 - dim), /*axis=*/3);
    neighbours.push_back(neighboursOf(f, *this, along, extents[dim]));
  }
  Value y = sumNeighbours(f, planes, neighbours, extents);
  y = f.reshape(y, Formula::typeOf(getY()).getShape());
  return SmallVector<Value>{f.cast(y, type.getElementType())};
}

/// Coordinates are products of the matrices with places, which are the
/// coordinates that the identity gives.
LogicalResult AffineGridOp::buildGradients(Gradients &gradients) {
  auto sizes = getConstantInts(getSize());
  if (!hasStaticTypes(*this) || !sizes)
    return gradients.fail("expected static shapes and a constant size");
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    auto type = Formula::typeOf(getTheta());
    int64_t batch = type.getDimSize(0), dims = type.getDimSize(1), points = 1;
    for (int64_t extent : ArrayRef(*sizes).drop_front(2))
      points *= extent;
    Type element = type.getElementType();
    Value unit = f.make<PadOp>(f.identity(dims, element), f.ints({0, 1}),
                               f.scalar(element, 0), f.ints(1));
    sizes->front() = 1;
    Value places = AffineGridOp::create(f.builder, f.loc,
                                        f.reshape(unit, {1, dims, dims + 1}),
                                        f.ints(*sizes), getAlignCorners());
    places = ConcatOp::create(f.builder, f.loc,
                              ValueRange{f.reshape(places, {points, dims}),
                                         f.full({points, 1}, element, 1)},
                              /*axis=*/1);
    Value g = f.reshape(gradients.ofResult(), {batch, points, dims});
    return f.make<MatmulOp>(f.transpose(g, {0, 2, 1}), places);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Each element went to one place of the image, or nowhere: a convolution with
/// one tap for each element of a block takes it back.
LogicalResult Col2ImOp::buildGradients(Gradients &gradients) {
  auto block = getConstantInts(getBlockShape());
  if (!hasStaticTypes(*this) || !block)
    return gradients.fail("expected static shapes and a constant block_shape");
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    auto type = Formula::typeOf(getX());
    ArrayRef<int64_t> image = Formula::typeOf(getY()).getShape();
    int64_t channels = image[1], taps = type.getDimSize(1) / channels;
    SmallVector<int64_t> pads(getPads()), dilations(getDilations()),
        strides(getStrides());
    SmallVector<int64_t> shape = {taps, 1};
    llvm::append_range(shape, *block);
    Value weights = f.reshape(f.identity(taps, type.getElementType()), shape);
    if (channels > 1) {
      SmallVector<int64_t> repeats(shape.size(), 1);
      repeats.front() = channels;
      weights = f.make<TileOp>(weights, f.ints(repeats));
    }
    Value y = ConvOp::create(f.builder, f.loc, gradients.ofResult(), weights,
                             /*bias=*/Value(), strides, pads, dilations,
                             channels, "NOTSET");
    return f.reshape(y, type.getShape());
  });
  return success();
}
