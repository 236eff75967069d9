// SPDX-License-Identifier: Apache-2.0
//
// Functions that are computed by others, each for some sizes.

#ifndef DLC_DIALECTS_GRAPH_PARTS_H
#define DLC_DIALECTS_GRAPH_PARTS_H

#include "mlir/IR/Operation.h"

namespace dlc::graph {

/// Of a declaration: the functions that compute a batch of any size, the
/// largest first, and of these the number of examples. The first dimension of
/// an argument or result is the batch where the declaration leaves it open, and
/// there are as many rows for each example in all of them.
inline constexpr llvm::StringLiteral kByRowsAttr = "graph.by_rows";
inline constexpr llvm::StringLiteral kRowsAttr = "graph.rows";

/// Of a declaration: functions for some sizes of what it leaves open, each by
/// rows or by itself. What runs is the first whose arguments have the shapes at
/// hand. An artifact has at most so many.
inline constexpr llvm::StringLiteral kByShapeAttr = "graph.by_shape";
inline constexpr int64_t kMostShapes = 1024;

/// Whether others compute `function`: it has no body.
inline bool isMadeOfParts(mlir::Operation *function) {
  return function->hasAttr(kByRowsAttr) || function->hasAttr(kByShapeAttr);
}

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_PARTS_H
