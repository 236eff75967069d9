// SPDX-License-Identifier: Apache-2.0
//
// Arguments and results of functions, which passes find by name and add to.

#ifndef DLC_LIB_PASSES_GRAPH_PORTS_H
#define DLC_LIB_PASSES_GRAPH_PORTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc::graph {

/// The name of an argument or result, or "#3".
std::string nameOf(mlir::StringAttr name, unsigned number);

/// The name that the model gives argument or result `number`, or null.
mlir::StringAttr givenName(mlir::func::FuncOp function, unsigned number,
                           bool isResult);

/// The argument that result `number` updates, or null.
mlir::BlockArgument updatedArgument(mlir::func::FuncOp function,
                                    unsigned number);

/// Adds an argument behind the others, under `name` or one made of it that no
/// other has.
mlir::Value addArgument(mlir::func::FuncOp function, mlir::Type type,
                        const std::string &name);

/// The same for a result, which the terminator of the one block returns.
void addResult(mlir::func::FuncOp function, mlir::Value value,
               const std::string &name);

} // namespace dlc::graph

#endif // DLC_LIB_PASSES_GRAPH_PORTS_H
