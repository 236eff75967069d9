// SPDX-License-Identifier: Apache-2.0
//
// Deformable convolution as gathers and a matrix product, of which it has its
// gradients.

#include "Correlation.h"
#include "Neighbours.h"

#include "dlc/dialects/Base/BaseDialect.h"

using namespace mlir;
using namespace dlc::graph;

/// Where taps (rows) lie at positions (columns) along dimension `dim` without
/// an offset.
static Value tapsAlong(Formula &f, const Correlation &windows, size_t dim,
                       Type element) {
  int64_t taps = windows.kernel[dim], positions = windows.positions[dim];
  Value tap = f.mul(f.iota(taps), f.integer(windows.dilations[dim]));
  tap = f.add(tap, f.integer(-windows.begins[dim]));
  Value position = f.mul(f.iota(positions), f.integer(windows.strides[dim]));
  return f.cast(f.add(f.reshape(tap, {taps, 1}), position), element);
}

/// The neighbours of all sampling points along dimension `dim`; `offset` is
/// planes x taps x 2 x positions, where planes share it.
static SmallVector<Neighbour>
neighboursOf(Formula &f, const Correlation &windows, Value offset, size_t dim) {
  int64_t planes = Formula::typeOf(offset).getDimSize(0);
  ArrayRef<int64_t> kernel = windows.kernel, positions = windows.positions;
  Value moved = GatherOp::create(f.builder, f.loc, offset,
                                 f.integer(static_cast<int64_t>(dim)),
                                 /*axis=*/2);
  moved = f.reshape(moved,
                    {planes, kernel[0], kernel[1], positions[0], positions[1]});
  SmallVector<int64_t> shape(4, 1);
  shape[dim] = kernel[dim];
  shape[dim + 2] = positions[dim];
  Value places =
      f.reshape(tapsAlong(f, windows, dim, Formula::elementOf(offset)), shape);
  // Places are whole: a fraction of the offset alone is not rounded away where
  // they are large.
  Value below = f.make<FloorOp>(moved);
  auto flat = [&](Value x) {
    return f.reshape(x,
                     {planes, 1, Formula::typeOf(x).getNumElements() / planes});
  };
  return neighboursInside(f, flat(f.add(below, places)),
                          flat(f.sub(moved, below)), windows.image[dim]);
}

/// Within a kernel it stays one operation.
FailureOr<SmallVector<Value>> DeformConvOp::decompose(OpBuilder &builder) {
  if (!hasStaticTypes(*this) || isInKernel(*this) ||
      Formula::typeOf(getY()).getNumElements() == 0 ||
      Formula::typeOf(getW()).getNumElements() == 0 ||
      Formula::typeOf(getX()).getNumElements() == 0)
    return failure();
  Formula f(builder, getLoc());
  ArrayRef<int64_t> image = Formula::typeOf(getX()).getShape();
  ArrayRef<int64_t> weights = Formula::typeOf(getW()).getShape();
  ArrayRef<int64_t> result = Formula::typeOf(getY()).getShape();
  Type element = Formula::elementOf(getX()), compute = computeType(element);
  Correlation windows = makeCorrelation(image, result, weights.drop_front(2),
                                        getStrides(), getDilations());
  setBegins(windows, getPads(), "NOTSET");
  int64_t batch = image[0], channels = image[1];
  int64_t taps = weights[2] * weights[3], positions = result[2] * result[3];
  int64_t groups = getGroup(), shared = getOffsetGroup();
  int64_t planes = batch * shared, depth = weights[1] * taps;

  Value x = f.reshape(f.cast(getX(), compute),
                      {planes, channels / shared, image[2] * image[3]});
  Value offset =
      f.reshape(f.cast(getOffset(), compute), {planes, taps, 2, positions});
  Value columns = sumNeighbours(f, x,
                                {neighboursOf(f, windows, offset, 0),
                                 neighboursOf(f, windows, offset, 1)},
                                windows.image);
  if (!isa<NoneType>(getMask().getType()))
    columns = f.mul(columns, f.reshape(f.cast(getMask(), compute),
                                       {planes, 1, taps * positions}));
  columns = f.reshape(columns, {batch, groups, depth, positions});
  Value w =
      f.reshape(f.cast(getW(), compute), {groups, weights[0] / groups, depth});
  Value y = f.reshape(f.make<MatmulOp>(w, columns), result);
  if (!isa<NoneType>(getBias().getType()))
    y = f.add(y, f.reshape(f.cast(getBias(), compute), {weights[0], 1, 1}));
  return SmallVector<Value>{f.cast(y, element)};
}
