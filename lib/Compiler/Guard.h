// SPDX-License-Identifier: Apache-2.0
//
// Runs the work of one phase so that a fault of the compiler can be repeated.

#ifndef DLC_LIB_COMPILER_GUARD_H
#define DLC_LIB_COMPILER_GUARD_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace dlc {

/// A module before a phase, and the passes that were to run on it.
class Reproducer {
public:
  /// Keeps a copy of the module: operations only, constants are shared.
  Reproducer(mlir::ModuleOp module, std::string pipeline)
      : snapshot(module.clone()), pipeline(std::move(pipeline)) {}

  /// Writes what `dlc-opt FILE --run-reproducer` takes: to `path`, or to a new
  /// file in the folder for temporary files when that is empty. Returns what to
  /// tell the user: where it is, or why there is none.
  std::string write(std::string path);

private:
  mlir::OwningOpRef<mlir::ModuleOp> snapshot;
  std::string pipeline;
};

/// Calls `work`; with `catchCrashes`, a fatal signal in it ends the call
/// instead of the process and sets `crashed`. Whatever the work had in hand is
/// leaked then, and its data is not to be used again.
llvm::LogicalResult runGuarded(bool catchCrashes, bool &crashed,
                               llvm::function_ref<llvm::LogicalResult()> work);

} // namespace dlc

#endif // DLC_LIB_COMPILER_GUARD_H
