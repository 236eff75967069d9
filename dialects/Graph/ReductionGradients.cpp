// SPDX-License-Identifier: Apache-2.0
//
// Gradients of reductions and scans.

#include "Formula.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace dlc::graph;

namespace {

/// The dimensions that a reduction folds.
struct Reduced {
  SmallVector<int64_t> axes; ///< In order.
  SmallVector<int64_t> kept; ///< The shape of x with ones in `axes`.
};

} // namespace

/// Nullopt where they or the shapes are not known.
template <typename Op> static std::optional<Reduced> reducedBy(Op op) {
  if (!hasStaticTypes(op))
    return std::nullopt;
  auto type = Formula::typeOf(op.getX());
  Reduced reduced;
  reduced.axes = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  if (op.getAxes()) {
    auto axes = getConstantInts(op.getAxes());
    if (!axes)
      return std::nullopt;
    reduced.axes = std::move(*axes);
    for (int64_t &axis : reduced.axes)
      axis = wrapAxis(axis, type.getRank());
    llvm::sort(reduced.axes);
  }
  reduced.kept = SmallVector<int64_t>(type.getShape());
  for (int64_t axis : reduced.axes)
    reduced.kept[axis] = 1;
  return reduced;
}

static LogicalResult failUnknownAxes(Gradients &gradients) {
  return gradients.fail("expected static shapes and constant axes");
}

LogicalResult ReduceSumOp::buildGradients(Gradients &gradients) {
  auto reduced = reducedBy(*this);
  if (!reduced)
    return failUnknownAxes(gradients);
  gradients.give(0, [&] {
    Formula f(gradients);
    Value g = f.reshape(gradients.ofResult(), reduced->kept);
    return f.expand(g, Formula::typeOf(getX()).getShape());
  });
  return success();
}

/// Every element that equals the extreme gets the whole gradient, as in MXNet.
template <typename Op>
static LogicalResult giveToExtremes(Op op, Gradients &gradients) {
  auto reduced = reducedBy(op);
  if (!reduced)
    return failUnknownAxes(gradients);
  gradients.give(0, [&] {
    Formula f(gradients);
    Value isExtreme =
        f.make<EqualOp>(op.getX(), f.reshape(op.getY(), reduced->kept));
    return f.select(isExtreme, f.reshape(gradients.ofResult(), reduced->kept),
                    0);
  });
  return success();
}

LogicalResult ReduceMaxOp::buildGradients(Gradients &gradients) {
  return giveToExtremes(*this, gradients);
}

LogicalResult ReduceMinOp::buildGradients(Gradients &gradients) {
  return giveToExtremes(*this, gradients);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The product of all other elements along the last axis: of those before and
/// of those behind, so that zeros do no harm.
static Value productOfOthers(Formula &f, Value x) {
  Value axis = f.integer(-1);
  Value before = CumprodOp::create(f.builder, f.loc, x, axis,
                                   /*exclusive=*/true, /*reverse=*/false);
  Value behind = CumprodOp::create(f.builder, f.loc, x, axis,
                                   /*exclusive=*/true, /*reverse=*/true);
  return f.mul(before, behind);
}

LogicalResult ReduceProdOp::buildGradients(Gradients &gradients) {
  auto reduced = reducedBy(*this);
  if (!reduced)
    return failUnknownAxes(gradients);
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    auto type = Formula::typeOf(getX());
    // The reduced dimensions to the end, and joined.
    SmallVector<int64_t> perm, rows;
    int64_t count = 1;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (llvm::is_contained(reduced->axes, axis)) {
        count *= type.getDimSize(axis);
        continue;
      }
      perm.push_back(axis);
      rows.push_back(type.getDimSize(axis));
    }
    llvm::append_range(perm, reduced->axes);
    rows.push_back(count);
    Value x = f.transpose(getX(), perm);
    SmallVector<int64_t> moved(Formula::typeOf(x).getShape());
    Value others = f.reshape(productOfOthers(f, f.reshape(x, rows)), moved);
    others = f.transpose(others, invertPermutationVector(perm));
    return f.mul(others, f.reshape(gradients.ofResult(), reduced->kept));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

LogicalResult CumsumOp::buildGradients(Gradients &gradients) {
  gradients.give(0, [&]() -> Value {
    return CumsumOp::create(gradients.builder(), gradients.loc(),
                            gradients.ofResult(), getAxis(), getExclusive(),
                            !getReverse());
  });
  return success();
}

/// Element i of the result is the product of those up to it; without x_j it is
/// that of the elements before j times that of those between j and i. All
/// pairs (j, i) are computed, so that zeros do no harm.
LogicalResult CumprodOp::buildGradients(Gradients &gradients) {
  auto axes = getConstantInts(getAxis());
  if (!hasStaticTypes(*this) || !axes)
    return gradients.fail("expected static shapes and a constant axis");
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    auto type = Formula::typeOf(getX());
    int64_t axis = wrapAxis(axes->front(), type.getRank());
    int64_t extent = type.getDimSize(axis);
    // The axis to the end: j; after it, i.
    SmallVector<int64_t> perm;
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (i != axis)
        perm.push_back(i);
    perm.push_back(axis);
    Value x = f.transpose(getX(), perm);
    Value g = f.transpose(gradients.ofResult(), perm);
    SmallVector<int64_t> rows(Formula::typeOf(x).getShape());
    rows.insert(rows.end() - 1, 1);
    Value numbers = f.iota(extent);
    Value i = f.reshape(numbers, {1, extent});
    Value j = f.reshape(numbers, {extent, 1});
    // With `reverse` everything runs from the end.
    Value isBehind = getReverse() ? f.less(i, j) : f.greater(i, j);
    Value last = f.integer(-1);
    auto scan = [&](Value values, bool exclusive) -> Value {
      return CumprodOp::create(f.builder, f.loc, values, last, exclusive,
                               getReverse());
    };
    Value between =
        scan(f.select(isBehind, f.reshape(x, rows), 1), getExclusive());
    Value counts =
        getExclusive() ? isBehind : f.either(isBehind, f.make<EqualOp>(i, j));
    Value terms = f.select(counts, f.mul(between, f.reshape(g, rows)), 0);
    int64_t inner = type.getRank();
    Value sum = f.sumOver(terms, {inner}, /*keepdims=*/false);
    return f.transpose(f.mul(sum, scan(x, /*exclusive=*/true)),
                       invertPermutationVector(perm));
  });
  return success();
}
