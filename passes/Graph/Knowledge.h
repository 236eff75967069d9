// SPDX-License-Identifier: Apache-2.0
//
// What is known of values while a function is read from its beginning.

#ifndef DLC_PASSES_GRAPH_KNOWLEDGE_H
#define DLC_PASSES_GRAPH_KNOWLEDGE_H

#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace dlc::graph {

/// What is known of values, beyond constants in the IR.
class Knowledge {
public:
  /// The value when all of it is known, else null.
  mlir::ElementsAttr elementsOf(mlir::Value value) const;

  /// The integers of a value as far as they are known, else null.
  const PartialInts *intsOf(mlir::Value value);

  /// Finds out what there is to know of the results of `op`, whose types are as
  /// precise as they get: short ones of known operands, and shape arithmetic.
  void learn(mlir::Operation *op);
  /// The same of all operations of a function of one block.
  void learn(mlir::func::FuncOp function);

private:
  void setInts(mlir::Value value, PartialInts known);
  void evaluate(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, mlir::ElementsAttr> elements;
  // Not a DenseMap: entries are referred to while others are added.
  struct ByValue {
    bool operator()(mlir::Value a, mlir::Value b) const {
      return a.getAsOpaquePointer() < b.getAsOpaquePointer();
    }
  };
  std::map<mlir::Value, PartialInts, ByValue> ints;
};

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_KNOWLEDGE_H
