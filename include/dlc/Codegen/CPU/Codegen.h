// SPDX-License-Identifier: Apache-2.0
//
// Code generation for CPUs: kernels in destination style to one ELF shared
// object. The input is what `convert-kernel-to-linalg` leaves: functions on
// memrefs of static shape whose body is at most one `scf.forall` (the grid)
// around linalg operations, `scf.for`, subviews and scratch. See
// `codegen-cpu-emit-loops` in Passes.td for the exact form.

#ifndef DLC_CODEGEN_CPU_CODEGEN_H
#define DLC_CODEGEN_CPU_CODEGEN_H

#include "dlc/Codegen/CPU/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <string>
#include <vector>

namespace dlc::codegen {

/// An ELF shared object and what a machine needs to run it.
struct ObjectCode {
  std::string bytes;
  std::string triple;
  std::vector<std::string> features;
};

/// Registers what compileKernels() needs beyond the dialects of its input.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Compiles every function of `module` (kernel.func or func.func with a body)
/// to a symbol of type DlcKernelFunction (abi/Kernel.h) of the same name.
/// `module` is not changed. Equal modules and options give equal bytes.
/// Up to `threads` threads make the machine code, whatever the context says of
/// threads; a crash in one of them is one of the caller's, where that is in a
/// CrashRecoveryContext. On failure a diagnostic has been emitted at the
/// offending operation. Reentrant; links are serialised inside.
llvm::FailureOr<ObjectCode> compileKernels(mlir::ModuleOp module,
                                           const TargetOptions &target,
                                           unsigned threads = 1);

} // namespace dlc::codegen

#endif // DLC_CODEGEN_CPU_CODEGEN_H
