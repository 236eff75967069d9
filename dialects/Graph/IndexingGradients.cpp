// SPDX-License-Identifier: Apache-2.0
//
// Gradients of gathers, which add to where they read, and of scatters.

#include "Formula.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace dlc::graph;

static Value zerosLike(Formula &f, Value x) { return f.full(x.getType(), 0); }

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// The gathered dimensions of `g` first, then those before the axis and those
/// behind it: what a scatter of slices takes.
static Value indicesFirst(Formula &f, Value g, int64_t axis, int64_t count) {
  SmallVector<int64_t> perm;
  for (int64_t i = 0; i < count; ++i)
    perm.push_back(axis + i);
  for (int64_t i = 0; i < Formula::typeOf(g).getRank(); ++i)
    if (i < axis || i >= axis + count)
      perm.push_back(i);
  return f.transpose(g, perm);
}

LogicalResult GatherOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    auto type = Formula::typeOf(getX());
    auto indexType = Formula::typeOf(getIndices());
    int64_t axis = wrapAxis(getAxis(), type.getRank());
    // The axis to the front: dimension i of the sum is perm[i] of x.
    SmallVector<int64_t> perm = {axis}, shape, rows(indexType.getShape());
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (i != axis)
        perm.push_back(i);
    for (int64_t i : perm)
      shape.push_back(type.getDimSize(i));
    rows.push_back(1);
    Value indices =
        f.cast(f.reshape(getIndices(), rows), f.builder.getI64Type());
    Value updates =
        indicesFirst(f, gradients.ofResult(), axis, indexType.getRank());
    Value sum = ScatterNDOp::create(f.builder, f.loc,
                                    f.full(shape, type.getElementType(), 0),
                                    indices, updates, "add");
    return f.transpose(sum, invertPermutationVector(perm));
  });
  return success();
}

LogicalResult GatherElementsOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    return ScatterElementsOp::create(f.builder, f.loc, zerosLike(f, getX()),
                                     getIndices(), gradients.ofResult(),
                                     getAxis(), "add");
  });
  return success();
}

LogicalResult GatherNDOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    // A scatter has no batch dimensions.
    if (getBatchDims() > 0)
      return buildSelectionGradient(f, *this, 0, gradients.ofResult());
    return ScatterNDOp::create(f.builder, f.loc, zerosLike(f, getX()),
                               getIndices(), gradients.ofResult(), "add");
  });
  return success();
}

/// Indices of the chosen elements are distinct.
LogicalResult TopKOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    return ScatterElementsOp::create(f.builder, f.loc, zerosLike(f, getX()),
                                     getIndices(), gradients.ofResult(),
                                     getAxis(), "none");
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// What is written over counts nothing; what is added to counts. Of several
/// updates of one place, which ONNX leaves undefined, each gets the gradient.
template <typename Op>
static LogicalResult
giveScattered(Op op, Gradients &gradients,
              function_ref<Value(Formula &, Value)> gather,
              function_ref<Value(Formula &, Value)> clear) {
  if (!hasStaticTypes(op))
    return failDynamic(gradients);
  StringRef reduction = op.getReduction();
  if (reduction != "none" && reduction != "add")
    return gradients.fail("expected a reduction of none or add, got " +
                          reduction);
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(0, [&] { return reduction == "add" ? g : clear(f, g); });
  gradients.give(2, [&] { return gather(f, g); });
  return success();
}

LogicalResult ScatterElementsOp::buildGradients(Gradients &gradients) {
  return giveScattered(
      *this, gradients,
      [&](Formula &f, Value g) -> Value {
        return GatherElementsOp::create(f.builder, f.loc, g, getIndices(),
                                        getAxis());
      },
      [&](Formula &f, Value g) -> Value {
        return ScatterElementsOp::create(f.builder, f.loc, g, getIndices(),
                                         zerosLike(f, getUpdates()), getAxis(),
                                         "none");
      });
}

LogicalResult ScatterNDOp::buildGradients(Gradients &gradients) {
  return giveScattered(
      *this, gradients,
      [&](Formula &f, Value g) -> Value {
        return GatherNDOp::create(f.builder, f.loc, g, getIndices());
      },
      [&](Formula &f, Value g) -> Value {
        return ScatterNDOp::create(f.builder, f.loc, g, getIndices(),
                                   zerosLike(f, getUpdates()), "none");
      });
}
