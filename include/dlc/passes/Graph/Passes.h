// SPDX-License-Identifier: Apache-2.0
//
// Passes over the Graph dialect: factories, options and registration, generated
// from Passes.td.

#ifndef DLC_PASSES_GRAPH_PASSES_H
#define DLC_PASSES_GRAPH_PASSES_H

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dlc::graph {

/// The phases that end in functions of Graph operations, in order.
enum class VerifiedPhase { Import, Graph, Placed, Fused };

/// As the number of channels of a block (graph-alter-layout): all of a value.
inline constexpr int64_t kAllChannels = -1;

/// The parts of a function that was differentiated.
enum class GradientPart { Forward, Backward };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dlc/passes/Graph/Passes.h.inc"

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_PASSES_H
