// SPDX-License-Identifier: Apache-2.0

#include "Extents.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

Value dlc::graph::withExtent(OpBuilder &builder, Location loc, Operation *model,
                             Value value, int64_t axis, int64_t extent) {
  auto type = cast<RankedTensorType>(value.getType());
  const int64_t own = type.getDimSize(static_cast<unsigned>(axis));
  if (own == extent)
    return value;
  auto ints = [&](int64_t number) -> Value {
    return ConstantOp::create(builder, loc,
                              makeInts(builder.getContext(), {number}));
  };
  auto placed = [&](Operation *op) {
    if (model)
      copyPlacement(model, op);
    return op->getResult(0);
  };
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = extent;
  if (extent < own)
    return placed(SliceOp::create(builder, loc, type.clone(shape), value,
                                  ints(0), ints(extent), ints(axis), ints(1)));
  SmallVector<int64_t> behind = {0, extent - own};
  Value pads =
      ConstantOp::create(builder, loc, makeInts(builder.getContext(), behind));
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(DenseElementsAttr::get(
          scalar, builder.getZeroAttr(type.getElementType()))));
  return placed(PadOp::create(builder, loc, type.clone(shape), value, pads,
                              zero, ints(axis)));
}
