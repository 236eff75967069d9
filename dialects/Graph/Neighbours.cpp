// SPDX-License-Identifier: Apache-2.0
//
// Interpolation as gathers, which have the gradients of what they gather and of
// its weights.

#include "Neighbours.h"

using namespace mlir;
using namespace dlc::graph;

Value dlc::graph::indexAt(Formula &f, Value x, int64_t extent) {
  Value last = f.number(x, static_cast<double>(extent - 1));
  Value inside = f.make<ClampOp>(x, f.number(x, 0), last);
  return f.cast(inside, f.builder.getI64Type());
}

Neighbour dlc::graph::neighbourInside(Formula &f, Value x, Value weight,
                                      int64_t extent) {
  Value last = f.number(x, static_cast<double>(extent - 1));
  // Written so that NaN is outside, too.
  Value isInside = f.both(f.make<GreaterEqualOp>(x, f.number(x, 0)),
                          f.make<LessEqualOp>(x, last));
  return {indexAt(f, x, extent), f.select(isInside, weight, 0)};
}

SmallVector<Neighbour> dlc::graph::neighboursInside(Formula &f, Value base,
                                                    Value t, int64_t extent) {
  return {neighbourInside(f, base, f.from(1, t), extent),
          neighbourInside(f, f.shift(base, 1), t, extent)};
}

/// The sum over all neighbours along dimensions from `dim` on; `place` numbers
/// elements of planes, or is null where there is nothing yet.
static Value sumFrom(Formula &f, Value planes,
                     ArrayRef<SmallVector<Neighbour>> neighbours,
                     ArrayRef<int64_t> extents, size_t dim, Value place) {
  auto type = Formula::typeOf(planes);
  if (dim == neighbours.size()) {
    SmallVector<int64_t> shape(Formula::typeOf(place).getShape());
    shape[1] = type.getDimSize(1);
    return GatherElementsOp::create(f.builder, f.loc, planes,
                                    f.expand(place, shape), /*axis=*/2);
  }
  Value sum;
  for (const Neighbour &each : neighbours[dim]) {
    Value index = each.index;
    if (place)
      index = f.add(f.mul(place, f.integer(extents[dim])), index);
    Value term = f.mul(sumFrom(f, planes, neighbours, extents, dim + 1, index),
                       each.weight);
    sum = sum ? f.add(sum, term) : term;
  }
  return sum;
}

Value dlc::graph::sumNeighbours(Formula &f, Value planes,
                                ArrayRef<SmallVector<Neighbour>> dims,
                                ArrayRef<int64_t> extents) {
  return sumFrom(f, planes, dims, extents, /*dim=*/0, /*place=*/{});
}
