// SPDX-License-Identifier: Apache-2.0
//
// From MXNet's files to the Graph dialect: a network (*-symbol.json, of any
// release since 0.8) and, beside it, the values of its parameters (*.params).
// Both may come from anyone.
//
// Parameters become constants, which are views of the mapped file where it
// aligns them; variables without a value become inputs, except labels, which
// inference does not read.

#ifndef DLC_FRONTEND_MXNET_IMPORT_H
#define DLC_FRONTEND_MXNET_IMPORT_H

#include "dlc/Frontend/MXNet/LayerHints.h"
#include "dlc/Symbol/Symbol.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace dlc::mxnet {

struct ImportOptions {
  /// Shapes of variables by name; -1 leaves a dimension open. Those of others
  /// follow from them.
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// The file with the parameters; empty: none have a value.
  std::string params;
  LayerHints layers;
  /// LoweringOptions::keepsConstants
  bool keepsParameters = false;
  /// LoweringOptions::isTraining; labels are then read, and what variables say
  /// with __lr_mult__ and __wd_mult__ becomes `graph.rate_factor` and
  /// `graph.decay_factor`, which is 0 for variables without the latter that are
  /// called neither a weight nor a gamma; __init__ becomes
  /// `graph.initializer`; a gamma that fix_gamma fixes is
  /// `graph.fixed`.
  bool isTraining = false;
  /// If any, gets the groups (ctx_group) of all nodes, also of those that
  /// become no operation.
  std::set<std::string> *groups = nullptr;
};

/// Imports the network in the file at `path`. A failure is a null module and an
/// error through the context for everything that cannot be imported
/// (dlc/Frontend/Faults.h); parameters that belong to no variable are warned
/// of.
mlir::OwningOpRef<mlir::ModuleOp>
importSymbolFile(mlir::MLIRContext &context, llvm::StringRef path,
                 const ImportOptions &options = {});

/// The same for a symbol; `name` stands for the file in locations.
mlir::OwningOpRef<mlir::ModuleOp>
importSymbol(mlir::MLIRContext &context, const symbol::Symbol &symbol,
             llvm::StringRef name, const ImportOptions &options = {});

} // namespace dlc::mxnet

#endif // DLC_FRONTEND_MXNET_IMPORT_H
