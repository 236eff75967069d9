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

/// The second value is at the places that indices name, the first elsewhere.
LogicalResult OneHotOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(2, [&]() -> Value {
    Formula f(gradients);
    Value g = gradients.ofResult();
    auto type = Formula::typeOf(getValues());
    auto i1 = f.builder.getI1Type();
    Value isNamed = OneHotOp::create(
        f.builder, f.loc, Formula::typeOf(g).clone(i1), getIndices(),
        getDepth(), f.cast(f.ints({0, 1}), i1), getAxis());
    SmallVector<int64_t> all =
        llvm::to_vector(llvm::seq<int64_t>(Formula::typeOf(g).getRank()));
    // Two sums: a difference loses small ones beside large ones.
    SmallVector<Value> parts;
    for (Value each : {f.select(isNamed, 0, g), f.select(isNamed, g, 0)})
      parts.push_back(f.reshape(f.sumOver(each, all, /*keepdims=*/false), {1}));
    return ConcatOp::create(f.builder, f.loc, type, parts, /*axis=*/0);
  });
  return success();
}

/// What was left out reads a slice of zeros behind the kept ones.
LogicalResult CompressOp::buildGradients(Gradients &gradients) {
  // How long the gradient of an unknown number of elements is, nobody checks.
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    auto type = Formula::typeOf(getX());
    int64_t axis = getAxis() ? wrapAxis(*getAxis(), type.getRank()) : 0;
    int64_t extent = getAxis() ? type.getDimSize(axis) : type.getNumElements();
    int64_t more = extent - Formula::typeOf(getCondition()).getNumElements();
    Value kept = f.cast(getCondition(), f.builder.getI64Type());
    if (more > 0)
      kept = f.make<PadOp>(kept, f.ints({0, more}), f.integer(0), f.ints(0));
    Value places = CumsumOp::create(f.builder, f.loc, kept, f.integer(0),
                                    /*exclusive=*/true, /*reverse=*/false);
    // -1 counts from the end.
    places = f.select(f.make<EqualOp>(kept, f.integer(1)), places, -1);
    Value g = gradients.ofResult();
    Value padded =
        f.make<PadOp>(g, f.ints({0, 1}), f.number(g, 0), f.ints(axis));
    Value taken = GatherOp::create(f.builder, f.loc, padded, places, axis);
    return f.reshape(taken, type.getShape());
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

namespace {

/// How a scatter and the gather of the same places are built.
template <typename Op> struct Places;

template <> struct Places<ScatterElementsOp> {
  Formula &f;
  ScatterElementsOp op;

  Value gather(Value x) {
    return GatherElementsOp::create(f.builder, f.loc, x, op.getIndices(),
                                    op.getAxis());
  }
  Value scatter(Value x, Value updates, StringRef reduction) {
    return ScatterElementsOp::create(f.builder, f.loc, x, op.getIndices(),
                                     updates, op.getAxis(), reduction);
  }
};

template <> struct Places<ScatterNDOp> {
  Formula &f;
  ScatterNDOp op;

  Value gather(Value x) {
    return GatherNDOp::create(f.builder, f.loc, x, op.getIndices());
  }
  Value scatter(Value x, Value updates, StringRef reduction) {
    return ScatterNDOp::create(f.builder, f.loc, x, op.getIndices(), updates,
                               reduction);
  }
};

} // namespace

/// The product of all factors of a place but one, where `others` is that of
/// those that are not 0, of which there are `zeros`.
static Value withoutFactor(Formula &f, Value factor, Value others,
                           Value zeros) {
  Value isZero = f.make<EqualOp>(factor, f.number(factor, 0));
  Value quotient = f.div(others, f.select(isZero, 1, factor));
  // It may be the only one that is 0.
  Value left = f.sub(zeros, f.cast(isZero, Formula::elementOf(zeros)));
  return f.select(f.make<EqualOp>(left, f.number(left, 0)), quotient, 0);
}

/// Each factor's gradient is the product of the others: quotients, which zeros
/// are counted apart for.
template <typename Op> static void giveFactors(Op op, Gradients &gradients) {
  Formula f(gradients);
  Places<Op> places{f, op};
  Value g = gradients.ofResult();
  auto withoutZeros = [&](Value x) {
    return f.select(f.make<EqualOp>(x, f.number(x, 0)), 1, x);
  };
  auto zerosOf = [&](Value x) {
    return f.cast(f.make<EqualOp>(x, f.number(x, 0)), f.builder.getI64Type());
  };
  Value product = places.scatter(withoutZeros(op.getX()),
                                 withoutZeros(op.getUpdates()), "mul");
  Value zeros =
      places.scatter(zerosOf(op.getX()), zerosOf(op.getUpdates()), "add");
  gradients.give(
      0, [&] { return f.mul(g, withoutFactor(f, op.getX(), product, zeros)); });
  gradients.give(2, [&] {
    return f.mul(places.gather(g),
                 withoutFactor(f, op.getUpdates(), places.gather(product),
                               places.gather(zeros)));
  });
}

/// What is written over counts nothing; what is added to counts; of extremes
/// all that equal the result do. Of several updates of one place, which ONNX
/// leaves undefined where they are just written, each gets the gradient.
template <typename Op>
static LogicalResult giveScattered(Op op, Gradients &gradients) {
  if (!hasStaticTypes(op))
    return failDynamic(gradients);
  StringRef reduction = op.getReduction();
  if (reduction == "mul") {
    giveFactors(op, gradients);
    return success();
  }
  Formula f(gradients);
  Places<Op> places{f, op};
  Value g = gradients.ofResult();
  auto chosen = [&](Value x, Value y, Value g) {
    return f.select(f.make<EqualOp>(x, y), g, 0);
  };
  bool isExtreme = reduction == "max" || reduction == "min";
  gradients.give(0, [&] {
    if (isExtreme)
      return chosen(op.getX(), op.getY(), g);
    return reduction == "add"
               ? g
               : places.scatter(g, zerosLike(f, op.getUpdates()), "none");
  });
  gradients.give(2, [&] {
    Value taken = places.gather(g);
    return isExtreme ? chosen(op.getUpdates(), places.gather(op.getY()), taken)
                     : taken;
  });
  return success();
}

LogicalResult ScatterElementsOp::buildGradients(Gradients &gradients) {
  return giveScattered(*this, gradients);
}

LogicalResult ScatterNDOp::buildGradients(Gradients &gradients) {
  return giveScattered(*this, gradients);
}

/// The cache's places that were written count nothing; the update's elements
/// are read where they went.
LogicalResult TensorScatterOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(0, [&]() -> Value {
    return TensorScatterOp::create(f.builder, f.loc, g,
                                   zerosLike(f, getUpdate()), getWriteIndices(),
                                   getAxis(), getMode());
  });
  gradients.give(1, [&]() -> Value {
    auto type = Formula::typeOf(getUpdate());
    int64_t axis = wrapAxis(getAxis(), type.getRank());
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[axis] = type.getDimSize(axis);
    Value places = f.reshape(f.iota(shape[axis]), shape);
    if (getWriteIndices()) {
      SmallVector<int64_t> batches(type.getRank(), 1);
      batches.front() = type.getDimSize(0);
      places = f.add(f.reshape(getWriteIndices(), batches), places);
    }
    if (getMode() == "circular") {
      int64_t extent = Formula::typeOf(g).getDimSize(axis);
      places = ModOp::create(f.builder, f.loc, places, f.integer(extent),
                             /*fmod=*/false);
    }
    return GatherElementsOp::create(f.builder, f.loc, g,
                                    f.expand(places, type.getShape()), axis);
  });
  return success();
}
