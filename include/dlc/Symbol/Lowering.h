// SPDX-License-Identifier: Apache-2.0
//
// From a symbol to the Graph dialect: a module with one `func.func @main`,
// whose arguments and results carry `graph.name`. The semantics are those of
// inference (batch normalisation uses its moving statistics, dropout does
// nothing unless its mode is "always") or of training.

#ifndef DLC_SYMBOL_LOWERING_H
#define DLC_SYMBOL_LOWERING_H

#include "dlc/Symbol/Inference.h"
#include "dlc/Symbol/Symbol.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstddef>

namespace dlc::symbol {

/// Elements that become part of the module: row-major, aligned for their type,
/// kept alive by `owner` or, when that is null, longer than the context.
struct Constant {
  rt::TensorType type;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

struct LoweringOptions {
  /// The file that the symbol is from, for messages.
  std::string file;
  /// What is known of variables. The element type of those that nothing is said
  /// of is float32; a number of dimensions that cannot be told is an error,
  /// their extents may stay open.
  KnownShapes shapes;
  KnownTypes types;
  /// Values of variables, which are then no inputs.
  std::map<std::string, Constant, std::less<>> constants;
  /// They are inputs after all, which carry their values (`graph.initial`).
  bool keepsConstants = false;
  /// Leaves out inputs that inference does not read, as labels; with
  /// `keepsConstants` only those of no known shape or value.
  bool dropsUnreadInputs = false;
  /// What MXNet calls is_train: batch normalisation uses the statistics of the
  /// batch and updates the moving ones, dropout acts, and layers that end a
  /// network have the gradients that their labels give.
  bool isTraining = false;
  /// The symbol is a part of a network, of which another part is at fault:
  /// variables whose shape nothing tells are no error, though there is no module
  /// then.
  bool mayLackShapes = false;
  /// What a run updates has no result: a run leaves everything as it was.
  bool dropsUpdates = false;
  /// Names of the results in place of the symbol's, which may be alike: one for
  /// each output, distinct. Empty: the symbol's.
  std::vector<std::string> outputNames;
};

/// Inputs are in the order of listArguments(), then listAuxiliaryStates(),
/// then, where operators draw random numbers, one with `graph.random`, called
/// "random" where no variable is. Results are the outputs, then the new values
/// of what each run updates: for training auxiliary states in their order, and
/// random numbers. They carry `graph.updates`, the name of the input. A
/// failure is a null module and an error for every node that cannot be lowered,
/// which names node, operator and operand (dlc/Frontend/Faults.h). Loads the
/// dialects that it needs into the context.
mlir::OwningOpRef<mlir::ModuleOp>
lowerToGraph(mlir::MLIRContext &context, const Symbol &symbol,
             const LoweringOptions &options = {});

} // namespace dlc::symbol

#endif // DLC_SYMBOL_LOWERING_H
