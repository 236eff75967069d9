// SPDX-License-Identifier: Apache-2.0
//
// Quotients of extents, as torch.export writes lengths that it knows: length *
// batch / batch.

#ifndef DLC_DIALECTS_GRAPH_EXTENTQUOTIENTS_H
#define DLC_DIALECTS_GRAPH_EXTENTQUOTIENTS_H

#include "mlir/IR/Operation.h"

namespace dlc::graph {

/// a of the `graph.div` a * b / b, for extents of arguments, of which those of
/// one name are equal (`graph.dims`), or null. An extent of 0 has no such
/// quotient, and no elements.
mlir::Value findExtentFactor(mlir::Operation *quotient);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_EXTENTQUOTIENTS_H
