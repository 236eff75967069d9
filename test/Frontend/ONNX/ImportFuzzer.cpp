// SPDX-License-Identifier: Apache-2.0
//
// Any bytes give a module that verifies, or at least one error and no module.
// Start it with the models in Inputs as corpus.

#include "dlc/Frontend/ONNX/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int errors = 0;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    return mlir::success();
  });
  dlc::onnx::ImportOptions options;
  options.inlinedNodes = 1 << 12; // More takes seconds and shows nothing new.
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      dlc::onnx::importOnnxBuffer(context, bytes, nullptr, "fuzz.onnx",
                                  options);
  if (static_cast<bool>(module) != (errors == 0))
    std::abort();
  return 0;
}
