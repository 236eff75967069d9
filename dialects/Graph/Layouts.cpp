// SPDX-License-Identifier: Apache-2.0
//
// Operations whose dimensions come in another order: their axes follow.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dlc::graph;

/// Where dimension `axis`, which may count from the end, goes.
static int64_t permuted(int64_t axis, ArrayRef<int64_t> perm) {
  auto rank = static_cast<int64_t>(perm.size());
  return llvm::find(perm, axis < 0 ? axis + rank : axis) - perm.begin();
}

std::optional<PermutedOp>
dlc::graph::detail::permuteAxis(Operation *op, ArrayRef<int64_t> perm) {
  int64_t axis =
      permuted(op->getAttrOfType<IntegerAttr>("axis").getInt(), perm);
  Builder builder(op->getContext());
  PermutedOp result;
  result.attributes.push_back(
      builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis)));
  return result;
}

std::optional<PermutedOp>
dlc::graph::detail::permuteAxes(OpOperand &axes, ArrayRef<int64_t> perm) {
  auto values = getConstantInts(axes.get());
  if (!values)
    return std::nullopt;
  for (int64_t &axis : *values)
    axis = permuted(axis, perm);
  PermutedOp result;
  result.constants.emplace_back(
      axes.getOperandNumber(),
      makeInts(axes.getOwner()->getContext(), *values));
  return result;
}

std::optional<PermutedOp> ConcatOp::permute(ArrayRef<int64_t> perm) {
  return detail::permuteAxis(*this, perm);
}

std::optional<PermutedOp> SplitOp::permute(ArrayRef<int64_t> perm) {
  return detail::permuteAxis(*this, perm);
}

std::optional<PermutedOp> SliceOp::permute(ArrayRef<int64_t> perm) {
  return detail::permuteAxes(getAxesMutable(), perm);
}

std::optional<PermutedOp> PadOp::permute(ArrayRef<int64_t> perm) {
  return detail::permuteAxes(getAxesMutable(), perm);
}
