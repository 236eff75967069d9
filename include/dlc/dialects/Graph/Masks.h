// SPDX-License-Identifier: Apache-2.0
//
// Which operations can leave elements out, and by which number.

#ifndef DLC_DIALECTS_GRAPH_MASKS_H
#define DLC_DIALECTS_GRAPH_MASKS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"

namespace dlc::graph {

/// Gives operations their rules; for the dialect, when it is loaded.
void attachMasks(mlir::MLIRContext *context);

} // namespace dlc::graph

#include "dlc/dialects/Graph/Masks.h.inc"

#endif // DLC_DIALECTS_GRAPH_MASKS_H
