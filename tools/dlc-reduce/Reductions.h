// SPDX-License-Identifier: Apache-2.0
//
// What dlc-reduce may do to Graph operations besides leaving functions out.

#ifndef DLC_TOOLS_DLC_REDUCE_REDUCTIONS_H
#define DLC_TOOLS_DLC_REDUCE_REDUCTIONS_H

#include "mlir/IR/DialectRegistry.h"

namespace dlc {

/// Lets the pass `reduction-tree` put zeros in place of what Graph operations
/// compute.
void registerGraphReductions(mlir::DialectRegistry &registry);

} // namespace dlc

#endif // DLC_TOOLS_DLC_REDUCE_REDUCTIONS_H
