// SPDX-License-Identifier: Apache-2.0
//
// From an ONNX model to the Graph dialect: a module with one `func.func @main`
// whose arguments and results carry `graph.name` and `graph.dims`. Any opset
// of ai.onnx from 1 to 27 becomes the one normal form; model-local functions
// are inlined; operators that Graph does not have are decomposed.
//
// Weights are views of the file: the module's resources keep the mapping alive
// as long as the context. A failure is a null module and an error through the
// context for everything that cannot be imported (dlc/Frontend/Faults.h), whose
// location names the file and the node.

#ifndef DLC_FRONTEND_ONNX_IMPORT_H
#define DLC_FRONTEND_ONNX_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <memory>
#include <string>

namespace dlc::onnx {

struct ImportOptions {
  /// Values for the dimensions of inputs that the model leaves open, by input
  /// name; -1 keeps a dimension as it is declared. The rank and the static
  /// dimensions must be the declared ones. A value for a symbolic dimension
  /// holds for every input that names the same symbol.
  std::map<std::string, llvm::SmallVector<int64_t>> inputShapes;
  /// Inputs that always are this number, in all of their elements; the function
  /// has no arguments for them. Their shapes are known.
  std::map<std::string, double> inputConstants;
  /// The folder of external data. For a file: empty means the file's own.
  /// For a buffer: empty means that external data is refused.
  std::string externalDataFolder;
  /// A file of arrays (.params, as dlc train and MXNet write) that take the
  /// place of the initializers of their names, with or without "arg:" and
  /// "aux:"; empty for none. It has one for each parameter (what
  /// keepsParameters makes arguments of), of its type and shape, and none that
  /// no initializer has the name of.
  std::string params;
  /// The file may lack parameters, which then are what the model says.
  bool takesSomeParams = false;
  /// Weights become arguments with `graph.initial`, behind those of the model's
  /// inputs, instead of constants.
  bool keepsParameters = false;
  /// Batch normalisation uses the statistics of the batch and updates the
  /// moving ones, dropout acts, whatever the model says of modes. Results with
  /// `graph.updates` follow the model's.
  bool isTraining = false;
  /// Bound on the nodes that inlining may create beyond those of the model: a
  /// few functions that call each other twice grow exponentially.
  size_t inlinedNodes = 1 << 18;
  /// Where not null, becomes the number of nodes that depend on what failed, of
  /// which only the operators were looked at.
  size_t *unseenNodes = nullptr;
};

/// Loads what the importer creates operations of (graph, func).
void loadImportDialects(mlir::MLIRContext &context);

/// Imports the model in the file at `path`.
mlir::OwningOpRef<mlir::ModuleOp>
importOnnxFile(mlir::MLIRContext &context, llvm::StringRef path,
               const ImportOptions &options = {});

/// Imports the model in `bytes`; `name` stands for the file in locations. The
/// module refers to the bytes, which `owner` keeps alive; with a null owner
/// they must outlive the context.
mlir::OwningOpRef<mlir::ModuleOp>
importOnnxBuffer(mlir::MLIRContext &context, llvm::StringRef bytes,
                 std::shared_ptr<const void> owner, llvm::StringRef name,
                 const ImportOptions &options = {});

} // namespace dlc::onnx

#endif // DLC_FRONTEND_ONNX_IMPORT_H
