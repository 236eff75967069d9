// SPDX-License-Identifier: Apache-2.0
//
// Arguments and results of functions: their names, what a result updates, new
// ones, and what is left in a body that nothing reads.

#ifndef DLC_DIALECTS_GRAPH_PORTS_H
#define DLC_DIALECTS_GRAPH_PORTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <string>

namespace dlc::graph {

/// The name of an argument or result, or "#3".
std::string nameOf(mlir::StringAttr name, unsigned number);

/// The name that the model gives argument or result `number`, or null.
mlir::StringAttr givenName(mlir::FunctionOpInterface function, unsigned number,
                           bool isResult);

/// Of each result: the argument that it updates (`graph.updates`), or null,
/// also where no argument has the name.
llvm::SmallVector<mlir::BlockArgument>
findUpdates(mlir::FunctionOpInterface function);

/// Takes from extents of arguments and results that are known by now the names
/// of unknown ones (`graph.dims`).
void nameOpenDims(mlir::FunctionOpInterface function);

/// Adds arguments behind the others, each under its name or one made of it that
/// no other has. Takes time in all arguments, however many are new.
llvm::SmallVector<mlir::BlockArgument>
addArguments(mlir::FunctionOpInterface function, mlir::TypeRange types,
             llvm::ArrayRef<std::string> names);

/// The same for one.
mlir::BlockArgument addArgument(mlir::FunctionOpInterface function,
                                mlir::Type type, const std::string &name);

/// What the state of random numbers is called where no other input is.
inline constexpr llvm::StringLiteral kRandomName = "random";

/// The same for the state of random numbers (`graph.random`), `kRandomName`.
mlir::BlockArgument addRandom(mlir::FunctionOpInterface function);

/// Adds results behind the others, which the terminator of the one block
/// returns. `updates` has the names of arguments that they update, or null, of
/// as many of the first ones as there are. Takes time in all results, however
/// many are new.
void addResults(mlir::FunctionOpInterface function, mlir::ValueRange values,
                llvm::ArrayRef<std::string> names,
                llvm::ArrayRef<mlir::StringAttr> updates = {});

/// The same for one that updates nothing.
void addResult(mlir::FunctionOpInterface function, mlir::Value value,
               const std::string &name);

/// An argument with a name, and its new value.
using Update = std::pair<mlir::BlockArgument, mlir::Value>;

/// The same for new values of arguments, called "new NAME".
void addUpdates(mlir::FunctionOpInterface function,
                llvm::ArrayRef<Update> updates);

/// Erases operations without effects whose results nothing reads, and those
/// that only they read; returns how many.
size_t eraseDead(mlir::Block &block);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_PORTS_H
