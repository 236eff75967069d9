// SPDX-License-Identifier: Apache-2.0
//
// Compiles kernels from text and calls them.

#ifndef DLC_TEST_CODEGEN_CPU_KERNELRUNNER_H
#define DLC_TEST_CODEGEN_CPU_KERNELRUNNER_H

#include "dlc/Codegen/CPU/Codegen.h"
#include "dlc/abi/Kernel.h"
#include "dlc/runtime/Device/CPU/CodeObject.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc::test {

/// A loaded shared object of kernels. Unloaded by the destructor.
class LoadedKernels {
public:
  /// Loads `bytes`; an empty result says why not in `error`.
  static LoadedKernels load(const std::string &bytes, std::string &error);

  explicit operator bool() const { return object.has_value(); }
  /// Null when there is no kernel of that name.
  DlcKernelFunction lookup(const char *name) const;

private:
  std::optional<rt::CodeObject> object;
};

/// A context with every dialect that kernels use.
std::unique_ptr<mlir::MLIRContext> createContext();

/// Parses, compiles for `target` and loads; records a test failure and
/// returns an empty object on any error.
LoadedKernels compileText(mlir::MLIRContext &context, llvm::StringRef text,
                          const codegen::TargetOptions &target);

/// Calls tiles [0, tiles) of `kernel`.
inline void runKernel(DlcKernelFunction kernel, std::vector<void *> arguments,
                      int64_t tiles = 1) {
  kernel(arguments.data(), 0, tiles);
}

} // namespace dlc::test

#endif // DLC_TEST_CODEGEN_CPU_KERNELRUNNER_H
