// SPDX-License-Identifier: Apache-2.0
//
// Tensors behind operations that move no element.

#ifndef DLC_DIALECTS_GRAPH_VIEWS_H
#define DLC_DIALECTS_GRAPH_VIEWS_H

#include "mlir/IR/Value.h"

namespace dlc::graph {

/// The tensor that view operations on the way to `value` started from.
mlir::Value skipViews(mlir::Value value);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_VIEWS_H
