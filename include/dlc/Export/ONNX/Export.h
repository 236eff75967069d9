// SPDX-License-Identifier: Apache-2.0
//
// From the Graph dialect to an ONNX model, the way back of
// dlc/Frontend/ONNX/Import.h. Operations of Graph follow ONNX's newest
// operators of their names, so that most become one node; what an older opset
// lacks is composed of what it has. What training adds (gradients that are
// given, ends of gradients) is left out: the model computes the same forward.

#ifndef DLC_EXPORT_ONNX_EXPORT_H
#define DLC_EXPORT_ONNX_EXPORT_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>

namespace dlc::exporter {

/// Versions of ai.onnx that are written.
inline constexpr int64_t kFirstOpset = 17, kLastOpset = 27;

struct ExportOptions {
  /// The version to write; 0: the oldest that has everything that the model
  /// needs.
  int64_t opset = 0;
  /// The name of the graph; a file's, without its folder.
  std::string name = "model";
};

/// The bytes of an ONNX model that computes what `main` of the module does: a
/// module as importers make it. Inputs and outputs keep their names and the
/// names of their open dimensions; inputs with a value of their own
/// (`graph.initial`) become initializers. The module stays as it is. Failure:
/// an error through the context for everything that cannot be written
/// (dlc/Frontend/Faults.h). The same module gives the same bytes.
llvm::FailureOr<std::string> toOnnx(mlir::ModuleOp module,
                                    const ExportOptions &options = {});

} // namespace dlc::exporter

#endif // DLC_EXPORT_ONNX_EXPORT_H
