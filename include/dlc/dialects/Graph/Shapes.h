// SPDX-License-Identifier: Apache-2.0
//
// Small questions about the shapes of tensors.

#ifndef DLC_DIALECTS_GRAPH_SHAPES_H
#define DLC_DIALECTS_GRAPH_SHAPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace dlc::graph {

/// True for tensors of static shape, and for an operand that is left out.
bool isStatic(mlir::Type type);
/// True when all operands and results of `op` are.
bool hasStaticTypes(mlir::Operation *op);
/// The same, and all tensors have elements: what is empty is not worth a rule.
bool hasElements(mlir::Operation *op);
/// The type of a tensor of known rank.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
/// The bytes of a tensor; 0 where shape or element type are not known, or too
/// many to count, and of types that are no tensor.
int64_t bytesOf(mlir::Type type);

/// A dimension of a tensor of that rank, where negative ones count from the
/// back, counted from the front.
inline int64_t wrapAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_SHAPES_H
