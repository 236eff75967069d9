// SPDX-License-Identifier: Apache-2.0
//
// Functions of Graph operations as problems of Planning/Placement.

#ifndef DLC_PASSES_GRAPH_PLACEMENT_H
#define DLC_PASSES_GRAPH_PLACEMENT_H

#include "dlc/Analysis/IndexedGraph.h"
#include "dlc/Planning/Placement/Placement.h"
#include "dlc/dialects/Base/BaseDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"

namespace dlc::graph {

/// The name and the device of a group, of a text like head=cpu:1; null where it
/// names none.
std::pair<llvm::StringRef, DeviceAttr> readGroup(mlir::MLIRContext *context,
                                                 llvm::StringRef text);

/// A function whose arguments are the first operations of the problem, each
/// makes one value; operation argumentCount() + i is node i. Values are the
/// entries of the graph. Behind the nodes, each result that updates an argument
/// reads that and its new value, which are wanted on one device.
struct PlacedFunction {
  explicit PlacedFunction(mlir::func::FuncOp function);

  /// The operation of the problem that is node `node`.
  planning::placement::Operation &operation(uint32_t node) {
    return problem.operations[graph.argumentCount() + node];
  }

  mlir::func::FuncOp function;
  analysis::IndexedGraph graph;
  planning::placement::Problem problem; ///< No device is asked for yet.
  llvm::SmallVector<unsigned> updated;  ///< The arguments that are, in order.
};

/// Numbers things from 0 in the order in which they are first seen.
template <typename T> class Numbering {
public:
  explicit Numbering(T first) { (void)numberOf(first); }
  uint32_t numberOf(T thing) {
    auto [at, isNew] = numbers.try_emplace(thing, things.size());
    if (isNew)
      things.push_back(thing);
    return at->second;
  }
  const T &operator[](uint32_t number) const { return things[number]; }
  size_t size() const { return things.size(); }

private:
  llvm::SmallVector<T> things;
  llvm::DenseMap<T, uint32_t> numbers;
};

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_PLACEMENT_H
