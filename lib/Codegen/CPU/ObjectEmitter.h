// SPDX-License-Identifier: Apache-2.0
//
// From a module in the LLVM dialect to a relocatable object, and from objects
// to one shared object.

#ifndef DLC_LIB_CODEGEN_CPU_OBJECTEMITTER_H
#define DLC_LIB_CODEGEN_CPU_OBJECTEMITTER_H

#include "dlc/Codegen/CPU/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace dlc::codegen {

using ObjectBuffer = llvm::SmallVector<char, 0>;

/// Optimises and assembles `module`, whose operations are all of the LLVM
/// dialect. Thread-safe. Fails with a diagnostic.
llvm::FailureOr<ObjectBuffer> emitObject(mlir::ModuleOp module,
                                         const TargetOptions &target);

/// Assembly text of the same, for people.
llvm::FailureOr<std::string> emitAssembly(mlir::ModuleOp module,
                                          const TargetOptions &target);

/// Links `objects` into an ELF shared object. Deterministic: no build id, no
/// time. Thread-safe; one link at a time. Fails with a diagnostic at `loc`.
llvm::FailureOr<std::string>
linkSharedObject(mlir::Location loc, llvm::ArrayRef<ObjectBuffer> objects);

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_CPU_OBJECTEMITTER_H
