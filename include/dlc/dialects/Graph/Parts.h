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
/// rows or by itself. What runs is one whose arguments have the shapes at hand.
inline constexpr llvm::StringLiteral kByShapeAttr = "graph.by_shape";
/// Of an argument or result of such a declaration: of each dimension the number
/// of an extent that may be smaller than in the functions, or -1. They take the
/// size of extent number i, of type tensor<i64>, as argument number i behind
/// those of the declaration. What lies behind the elements that there are is
/// any, finite or not, of arguments and of results.
inline constexpr llvm::StringLiteral kPaddedAttr = "graph.padded";

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
