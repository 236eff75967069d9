// SPDX-License-Identifier: Apache-2.0
//
// Functions that are computed by others, each for some sizes.

#ifndef DLC_DIALECTS_GRAPH_PARTS_H
#define DLC_DIALECTS_GRAPH_PARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc::graph {

/// Of a declaration: the functions that compute a batch of any size, the
/// largest first, and of these the number of examples. The first dimension of
/// an argument or result is the batch where the declaration leaves it open, and
/// there are as many rows for each example in all of them.
inline constexpr llvm::StringLiteral kByRowsAttr = "graph.by_rows";
inline constexpr llvm::StringLiteral kRowsAttr = "graph.rows";

/// Of a declaration: functions for some sizes of what it leaves open, each by
/// rows or by itself. What runs is the first whose arguments have the shapes at
/// hand.
inline constexpr llvm::StringLiteral kByShapeAttr = "graph.by_shape";

/// Whether others compute `function`: it has no body.
inline bool isMadeOfParts(mlir::Operation *function) {
  return function->hasAttr(kByRowsAttr) || function->hasAttr(kByShapeAttr);
}

/// Leaves of `function` the signature, with `results` in the place of its own,
/// and under `attribute` the names of the functions that compute it.
void declareByParts(mlir::func::FuncOp function, mlir::TypeRange results,
                    llvm::StringRef attribute,
                    llvm::ArrayRef<mlir::func::FuncOp> parts);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_PARTS_H
