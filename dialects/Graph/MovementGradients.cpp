// SPDX-License-Identifier: Apache-2.0
//
// Gradients of movement: the way back, and sums of what was repeated.

#include "Formula.h"

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

namespace {

/// A slice along one axis: elements `begin`, `begin + step`, ...
struct AxisSlice {
  int64_t axis, begin, step;
};

} // namespace

/// The slice as ONNX limits it; nullopt when it is not known.
static std::optional<SmallVector<AxisSlice>> slicesOf(SliceOp op) {
  auto starts = getConstantInts(op.getStarts());
  auto axes = getConstantInts(op.getAxes());
  auto steps = getConstantInts(op.getSteps());
  if (!hasStaticTypes(op) || !starts || !axes || !steps)
    return std::nullopt;
  auto type = Formula::typeOf(op.getX());
  SmallVector<AxisSlice> slices;
  for (auto [start, axis, step] : llvm::zip_equal(*starts, *axes, *steps)) {
    int64_t at = wrapAxis(axis, type.getRank());
    int64_t extent = type.getDimSize(at);
    int64_t begin = std::clamp<int64_t>(start < 0 ? start + extent : start, 0,
                                        step > 0 ? extent : extent - 1);
    slices.push_back({at, begin, step});
  }
  return slices;
}

/// Zeros between and around the elements of `g`, so that they stand where the
/// slice took them from an axis of `extent` elements.
static Value unslice(Formula &f, Value g, AxisSlice slice, int64_t extent) {
  SmallVector<int64_t> shape(Formula::typeOf(g).getShape());
  int64_t axis = slice.axis, count = shape[axis];
  int64_t step = slice.step, begin = slice.begin;
  if (step < 0) { // The same elements forwards.
    g = f.make<SliceOp>(g, f.ints(-1), f.ints(INT64_MIN), f.ints(axis),
                        f.ints(-1));
    begin += (count - 1) * step;
    step = -step;
  }
  Value zero = f.number(g, 0);
  auto pad = [&](Value x, int64_t before, int64_t behind, int64_t at) -> Value {
    return f.make<PadOp>(x, f.ints({before, behind}), zero, f.ints(at));
  };
  if (step > 1) {
    shape.insert(shape.begin() + axis + 1, 1);
    g = pad(f.reshape(g, shape), 0, step - 1, axis + 1);
    shape.erase(shape.begin() + axis + 1);
    shape[axis] = count * step;
    g = f.reshape(g, shape);
  }
  int64_t behind = extent - begin - count * step;
  return begin || behind ? pad(g, begin, behind, axis) : g;
}

LogicalResult SliceOp::buildGradients(Gradients &gradients) {
  auto slices = slicesOf(*this);
  if (!slices)
    return gradients.fail("expected static shapes and constant starts, axes "
                          "and steps");
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    auto type = Formula::typeOf(getX());
    Value g = gradients.ofResult();
    if (Formula::typeOf(g).getNumElements() == 0)
      return f.full(type, 0);
    for (AxisSlice slice : *slices)
      g = unslice(f, g, slice, type.getDimSize(slice.axis));
    return g;
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
