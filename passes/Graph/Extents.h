// SPDX-License-Identifier: Apache-2.0
//
// More or fewer elements along one dimension of a value.

#ifndef DLC_PASSES_GRAPH_EXTENTS_H
#define DLC_PASSES_GRAPH_EXTENTS_H

#include "mlir/IR/Builders.h"

namespace dlc::graph {

/// `value`, a ranked tensor, with `extent` elements along `axis`: zeros behind
/// those that it has, or the first of them; itself where it has as many. What
/// is built is placed as `model` is, if that is not null.
mlir::Value withExtent(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Operation *model, mlir::Value value, int64_t axis,
                       int64_t extent);

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_EXTENTS_H
