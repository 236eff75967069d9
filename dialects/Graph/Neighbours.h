// SPDX-License-Identifier: Apache-2.0
//
// Interpolation as gathers: the elements around points between them, and their
// weights.

#ifndef DLC_DIALECTS_GRAPH_NEIGHBOURS_H
#define DLC_DIALECTS_GRAPH_NEIGHBOURS_H

#include "Formula.h"

namespace dlc::graph {

/// Neighbours of points along one dimension: as many numbers as points, each.
struct Neighbour {
  mlir::Value index, weight;
};

/// The number of the element at a whole coordinate, which is cut to
/// [0, extent).
mlir::Value indexAt(Formula &f, mlir::Value x, int64_t extent);

/// The element at a whole coordinate, with no weight where it lies outside of
/// [0, extent).
Neighbour neighbourInside(Formula &f, mlir::Value x, mlir::Value weight,
                          int64_t extent);

/// The two elements around each coordinate, which is the sum of a whole number
/// `base` and `t` from 0 to 1; what is outside counts nothing.
llvm::SmallVector<Neighbour> neighboursInside(Formula &f, mlir::Value base,
                                              mlir::Value t, int64_t extent);

/// The sums over neighbours along all dimensions, which have these extents:
/// `planes` is N x C x elements, indices and weights are N x 1 x points. Of N x
/// C x points.
mlir::Value sumNeighbours(Formula &f, mlir::Value planes,
                          llvm::ArrayRef<llvm::SmallVector<Neighbour>> dims,
                          llvm::ArrayRef<int64_t> extents);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_NEIGHBOURS_H
