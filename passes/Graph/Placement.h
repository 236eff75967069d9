// SPDX-License-Identifier: Apache-2.0
//
// Functions of Graph operations as problems of Planning/Placement.

#ifndef DLC_PASSES_GRAPH_PLACEMENT_H
#define DLC_PASSES_GRAPH_PLACEMENT_H

#include "dlc/Analysis/IndexedGraph.h"
#include "dlc/Planning/Placement/Placement.h"
#include "dlc/dialects/Base/BaseDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/SetVector.h"

namespace dlc::graph {

/// A function whose arguments are the first operations of the problem, each
/// makes one value; operation argumentCount() + i is node i. Values are the
/// entries of the graph.
struct PlacedFunction {
  explicit PlacedFunction(mlir::func::FuncOp function);

  /// The number of a device in the problem.
  uint32_t numberOf(DeviceAttr device);
  /// The operation of the problem that is node `node`.
  planning::placement::Operation &operation(uint32_t node) {
    return problem.operations[graph.argumentCount() + node];
  }

  mlir::func::FuncOp function;
  analysis::IndexedGraph graph;
  planning::placement::Problem problem; ///< No device is asked for yet.
  llvm::SetVector<DeviceAttr> devices;  ///< By number; the first is cpu:0.
};

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_PLACEMENT_H
