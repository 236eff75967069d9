// SPDX-License-Identifier: Apache-2.0
//
// The last step inside MLIR.

#ifndef DLC_LIB_CODEGEN_COMMON_LOWERTOLLVM_H
#define DLC_LIB_CODEGEN_COMMON_LOWERTOLLVM_H

#include "mlir/IR/BuiltinOps.h"

namespace dlc::codegen {

/// Lowers a module of functions made of scf, arith, math, vector and llvm
/// operations to the LLVM dialect. Functions that LLVM has no instructions for
/// become calls of the C library's.
llvm::LogicalResult lowerToLLVMDialect(mlir::ModuleOp module);

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_LOWERTOLLVM_H
