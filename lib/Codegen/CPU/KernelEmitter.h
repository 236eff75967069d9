// SPDX-License-Identifier: Apache-2.0
//
// Turns a kernel in destination style into a function with the calling
// convention of abi/Kernel.h.

#ifndef DLC_LIB_CODEGEN_CPU_KERNELEMITTER_H
#define DLC_LIB_CODEGEN_CPU_KERNELEMITTER_H

#include "dlc/Codegen/CPU/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dlc::codegen {

/// Emits `kernel` as an llvm.func of the same name, made of scf, arith, math,
/// vector and llvm operations, at the builder's insertion point. Fails with a
/// diagnostic at the operation that has no lowering.
llvm::LogicalResult emitKernel(mlir::OpBuilder &builder,
                               mlir::FunctionOpInterface kernel,
                               const TargetOptions &target);

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_CPU_KERNELEMITTER_H
