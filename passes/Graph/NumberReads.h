// SPDX-License-Identifier: Apache-2.0
//
// Integers that follow from where they lie in their tensor.

#ifndef DLC_PASSES_GRAPH_NUMBERREADS_H
#define DLC_PASSES_GRAPH_NUMBERREADS_H

#include "Knowledge.h"

#include "dlc/dialects/Graph/Position.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace dlc::graph {

/// An integer of a tensor in loops over some of its places.
struct NumberRead {
  Index number;
  llvm::SmallVector<Index> position;
  int64_t low, high; ///< The least and the largest.
};

/// The integer at any place of `value` that is `fixed` in some dimensions (not
/// -1), in pieces where it is another for some places; empty where it is not
/// linear.
llvm::SmallVector<NumberRead, 1> readNumber(mlir::Value value,
                                            const Knowledge &knowledge,
                                            llvm::ArrayRef<int64_t> fixed);

/// Integers that are linear in where they lie in their tensor, along dimensions
/// that are not fixed, for each size alike.
struct LinearNumbers {
  int64_t first;
  llvm::SmallVector<int64_t> steps; ///< Of each dimension.
  bool isSized;
};

/// Those of a tensor of rank `rank` along all dimensions that pieces have loops
/// over, or several places in, in all of them alike.
std::optional<LinearNumbers> linearOf(llvm::ArrayRef<NumberRead> pieces,
                                      size_t rank);

/// An operation of a function with known shapes that cannot run.
struct OutsideIndex {
  mlir::Operation *op;
  int64_t index, extent;
};

/// Finds an index that follows from shapes alone, as the number of a place
/// does, and is not one of what it points into.
std::optional<OutsideIndex> findOutsideIndex(mlir::func::FuncOp function);

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_NUMBERREADS_H
