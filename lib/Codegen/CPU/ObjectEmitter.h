// SPDX-License-Identifier: Apache-2.0
//
// From a module in the LLVM dialect to a relocatable object, and from objects
// to one shared object.

#ifndef DLC_LIB_CODEGEN_CPU_OBJECTEMITTER_H
#define DLC_LIB_CODEGEN_CPU_OBJECTEMITTER_H

#include "dlc/Codegen/CPU/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dlc::codegen {

using ObjectBuffer = llvm::SmallVector<char, 0>;

/// The hash of code.
using CodeHash = std::pair<uint64_t, uint64_t>;
CodeHash hashOf(llvm::StringRef code);

/// What is different about kernels that have the same code otherwise.
struct KernelVariant {
  std::string name;
  std::vector<uint32_t> numbers; ///< Bits of f32.
};

/// A kernel in LLVM's own form, with nothing in common with MLIR or others of
/// its kind: each may be worked on in a thread of its own.
struct LLVMKernel {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::Function *function = nullptr; ///< In `module`.

  /// The same for kernels that differ in their names and numbers() alone.
  CodeHash hashWithoutNumbers();
  /// The bits of the f32 that its instructions have, in their order.
  std::vector<uint32_t> numbers() const;
  /// Makes it compute each of `variants`, the first of which is itself: code
  /// that reads the numbers in which they differ, and a function by the name of
  /// each that says where they are.
  void share(llvm::ArrayRef<KernelVariant> variants);
  /// Gives the kernel `name`, or a variant by that name, another one.
  void addName(llvm::StringRef name, llvm::StringRef other);
};

/// Translates `module`, whose operations are all of the LLVM dialect, and which
/// has one function. Fails with a diagnostic.
llvm::FailureOr<LLVMKernel> translateKernel(mlir::ModuleOp module,
                                            const TargetOptions &target);

/// Optimises and assembles.
ObjectBuffer emitObject(LLVMKernel kernel);

/// Links `objects` into an ELF shared object. Deterministic: no build id, no
/// time. Thread-safe; one link at a time. Fails with a diagnostic at `loc`.
llvm::FailureOr<std::string>
linkSharedObject(mlir::Location loc, llvm::ArrayRef<ObjectBuffer> objects);

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_CPU_OBJECTEMITTER_H
