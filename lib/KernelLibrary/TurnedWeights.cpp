// SPDX-License-Identifier: Apache-2.0

#include "TurnedWeights.h"

using namespace mlir;
using namespace dlc;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The extents but ones.
static SmallVector<int64_t> extentsOf(Value value) {
  SmallVector<int64_t> extents(shapeOf(value));
  llvm::erase(extents, 1);
  return extents;
}

/// True if `transpose` exchanges two dimensions, where those of extent one do
/// not count.
static bool isExchange(graph::TransposeOp transpose) {
  ArrayRef<int64_t> shape = shapeOf(transpose.getX());
  SmallVector<int64_t> moved(transpose.getPerm());
  llvm::erase_if(moved, [&](int64_t dim) { return shape[dim] == 1; });
  return moved.size() == 2 && moved[0] > moved[1];
}

Value library::findTurned(graph::ConvOp conv, ArrayRef<Operation *> front) {
  SmallVector<int64_t> before = extentsOf(conv.getW());
  auto isOne = [](int64_t tap) { return tap == 1; };
  if (before.size() != 2 ||
      !llvm::all_of(shapeOf(conv.getW()).drop_front(2), isOne))
    return {};
  std::swap(before[0], before[1]);
  Value value = conv.getW();
  bool isTurned = false;
  for (Operation *op : llvm::reverse(front)) {
    if (value.getDefiningOp() != op || !value.hasOneUse())
      return {};
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      if (isTurned || !isExchange(transpose) ||
          extentsOf(transpose.getX()) != before)
        return {};
      isTurned = true;
    } else if (!isa<graph::ReshapeOp>(op)) {
      return {};
    }
    value = op->getOperand(0);
  }
  return isTurned && extentsOf(value) == before ? value : Value();
}
