// SPDX-License-Identifier: Apache-2.0
//
// Gradients of movement: the way back, and sums of what was repeated.

#include "Formula.h"
#include "Slices.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace dlc::graph;

LogicalResult dlc::graph::detail::buildViewGradient(Operation *op,
                                                    Gradients &gradients) {
  if (!hasStaticTypes(op))
    return failDynamic(gradients);
  gradients.give(0, [&] {
    Formula f(gradients);
    return f.reshape(gradients.ofResult(),
                     Formula::typeOf(op->getOperand(0)).getShape());
  });
  return success();
}

LogicalResult TransposeOp::buildGradients(Gradients &gradients) {
  gradients.give(0, [&] {
    return Formula(gradients).transpose(gradients.ofResult(),
                                        invertPermutationVector(getPerm()));
  });
  return success();
}

/// What was repeated is summed when it is given.
LogicalResult ExpandOp::buildGradients(Gradients &gradients) {
  gradients.give(0, gradients.ofResult());
  return success();
}

LogicalResult TileOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    ArrayRef<int64_t> x = Formula::typeOf(getX()).getShape();
    ArrayRef<int64_t> y = Formula::typeOf(getY()).getShape();
    if (Formula::typeOf(getY()).getNumElements() == 0)
      return f.full(getX().getType(), 0);
    SmallVector<int64_t> split, axes;
    for (auto [from, to] : llvm::zip_equal(x, y)) {
      axes.push_back(static_cast<int64_t>(split.size()));
      split.append({to / from, from});
    }
    return f.sumOver(f.reshape(gradients.ofResult(), split), axes,
                     /*keepdims=*/false);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The elements of `x` from `begin` on along one axis.
static Value sliceAt(Formula &f, Value x, int64_t axis, int64_t begin,
                     int64_t extent) {
  return f.make<SliceOp>(x, f.ints(begin), f.ints(begin + extent), f.ints(axis),
                         f.ints(1));
}

LogicalResult ConcatOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  Formula f(gradients);
  int64_t axis = wrapAxis(getAxis(), Formula::typeOf(getY()).getRank());
  int64_t begin = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    int64_t extent = Formula::typeOf(input).getDimSize(axis);
    gradients.give(i, [&] {
      return sliceAt(f, gradients.ofResult(), axis, begin, extent);
    });
    begin += extent;
  }
  return success();
}

LogicalResult SplitOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    SmallVector<Value> parts;
    for (OpResult part : getResults()) {
      Value g = gradients.ofResult(part.getResultNumber());
      parts.push_back(g ? g : f.full(part.getType(), 0));
    }
    return ConcatOp::create(f.builder, f.loc, parts, getAxis());
  });
  return success();
}

/// Zeros between and around the elements of `g`, so that they stand where the
/// slice took them from an axis of `extent` elements.
static Value unslice(Formula &f, Value g, AxisSlice slice, int64_t extent) {
  int64_t axis = slice.axis, count = Formula::typeOf(g).getDimSize(axis);
  int64_t step = count == 1 ? 1 : slice.step, begin = slice.begin;
  if (step < 0) { // The same elements forwards.
    g = f.make<SliceOp>(g, f.ints(-1), f.ints(INT64_MIN), f.ints(axis),
                        f.ints(-1));
    begin += (count - 1) * step;
    step = -step;
  }
  g = f.interleave(g, axis, step);
  // The last zeros may be cut off.
  int64_t behind = extent - begin - count * step;
  if (begin == 0 && behind == 0)
    return g;
  return f.make<PadOp>(g, f.ints({begin, behind}), f.number(g, 0),
                       f.ints(axis));
}

LogicalResult SliceOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  Formula f(gradients);
  if (Formula::typeOf(getY()).getNumElements() == 0) {
    gradients.give(0, [&] { return f.full(getX().getType(), 0); });
    return success();
  }
  auto slices = slicesOf(*this);
  if (!slices)
    return gradients.fail("expected constant starts, axes and steps");
  gradients.give(0, [&]() -> Value {
    auto type = Formula::typeOf(getX());
    Value g = gradients.ofResult();
    for (AxisSlice slice : *slices)
      g = unslice(f, g, slice, type.getDimSize(slice.axis));
    return g;
  });
  return success();
}

/// Element i is start + i delta; how many there are, the limit only decides.
LogicalResult RangeOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(0, [&] { return f.sumOver(g, 0, /*keepdims=*/false); });
  gradients.give(2, [&] {
    Value places = f.cast(f.iota(Formula::typeOf(g).getNumElements()),
                          Formula::elementOf(g));
    return f.sumOver(f.mul(g, places), 0, /*keepdims=*/false);
  });
  return success();
}

LogicalResult PadOp::buildGradients(Gradients &gradients) {
  auto pads = getConstantInts(getPads());
  if (!hasStaticTypes(*this) || !pads)
    return gradients.fail("expected static shapes and constant pads");
  Formula f(gradients);
  Value g = gradients.ofResult();
  if (getMode() != "constant") {
    gradients.give(0, [&] { return buildSelectionGradient(f, *this, 0, g); });
    return success();
  }
  for (int64_t &pad : *pads)
    pad = -pad;
  auto unpadded = [&]() -> Value {
    return f.make<PadOp>(g, f.ints(*pads), f.number(g, 0), getAxes());
  };
  gradients.give(0, unpadded);
  // What was cropped comes back as zeros, so that it is not counted.
  gradients.give(2, [&]() -> Value {
    auto all = [&](Value x) -> Value {
      return ReduceSumOp::create(f.builder, f.loc, x, /*axes=*/Value(),
                                 /*keepdims=*/false);
    };
    return f.sub(all(g), all(unpadded()));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Other places
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult giveBySelection(Op op, Gradients &gradients) {
  if (!hasStaticTypes(op))
    return failDynamic(gradients);
  gradients.give(0, [&] {
    Formula f(gradients);
    return buildSelectionGradient(f, op, 0, gradients.ofResult());
  });
  return success();
}

LogicalResult DepthToSpaceOp::buildGradients(Gradients &gradients) {
  if (getMode() != "DCR")
    return giveBySelection(*this, gradients);
  gradients.give(0, [&]() -> Value {
    return SpaceToDepthOp::create(gradients.builder(), gradients.loc(),
                                  gradients.ofResult(), getBlocksize());
  });
  return success();
}

LogicalResult SpaceToDepthOp::buildGradients(Gradients &gradients) {
  gradients.give(0, [&]() -> Value {
    return DepthToSpaceOp::create(gradients.builder(), gradients.loc(),
                                  gradients.ofResult(), getBlocksize(), "DCR");
  });
  return success();
}

/// Its own inverse.
LogicalResult ReverseSequenceOp::buildGradients(Gradients &gradients) {
  gradients.give(0, [&]() -> Value {
    return ReverseSequenceOp::create(gradients.builder(), gradients.loc(),
                                     gradients.ofResult(), getLens(),
                                     getBatchAxis(), getTimeAxis());
  });
  return success();
}

LogicalResult TriluOp::buildGradients(Gradients &gradients) {
  gradients.give(0, [&]() -> Value {
    return TriluOp::create(gradients.builder(), gradients.loc(),
                           gradients.ofResult(), getK(), getUpper());
  });
  return success();
}
