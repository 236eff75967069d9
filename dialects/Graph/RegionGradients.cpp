// SPDX-License-Identifier: Apache-2.0
//
// Gradients of pooling over regions of interest.

#include "Formula.h"

using namespace mlir;
using namespace dlc::graph;

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

/// Of the image; regions have a gradient of zero, as in MXNet. The bins' rows
/// times the weights of columns, and those summed over all regions by one
/// product with the weights of rows, which are 0 in the images of others.
LogicalResult RoiAlignOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  if (getMode() != "avg")
    return gradients.fail("expected the mode avg, got " + getMode());
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    ArrayRef<int64_t> shape = Formula::typeOf(getX()).getShape();
    int64_t batch = shape[0], channels = shape[1], height = shape[2],
            width = shape[3];
    int64_t regions = Formula::typeOf(getRois()).getDimSize(0);
    int64_t bins = getOutputHeight(), binsAcross = getOutputWidth();
    if (Formula::typeOf(getY()).getNumElements() == 0)
      return f.full(getX().getType(), 0);
    // regions, channels, bins, width
    Value columns =
        f.transpose(weightsOf(f, *this, /*ofRows=*/false), {0, 2, 1});
    columns = f.reshape(columns, {regions, 1, binsAcross, width});
    Value g = f.make<MatmulOp>(gradients.ofResult(), columns);
    g = f.reshape(f.transpose(g, {0, 2, 1, 3}),
                  {regions * bins, channels * width});
    // batch, height, regions, bins
    Value rows = f.transpose(weightsOf(f, *this, /*ofRows=*/true), {1, 0, 2});
    if (batch > 1) {
      Value numbers = f.reshape(f.iota(batch), {batch, 1, 1, 1});
      Value isOwn = f.make<EqualOp>(
          f.reshape(getBatchIndices(), {1, 1, regions, 1}), numbers);
      rows = f.select(isOwn, f.reshape(rows, {1, height, regions, bins}), 0);
    }
    rows = f.reshape(rows, {batch * height, regions * bins});
    Value sum =
        f.reshape(f.make<MatmulOp>(rows, g), {batch, height, channels, width});
    return f.transpose(sum, {0, 2, 1, 3});
  });
  return success();
}
