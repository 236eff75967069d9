// SPDX-License-Identifier: Apache-2.0
//
// The last step inside MLIR.

#ifndef DLC_LIB_CODEGEN_COMMON_LOWERTOLLVM_H
#define DLC_LIB_CODEGEN_COMMON_LOWERTOLLVM_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace dlc::codegen {

/// Lowers modules of functions made of scf, arith, math, vector and llvm
/// operations to the LLVM dialect. Functions that LLVM has no instructions for
/// become calls of the C library's. Collecting what it takes is longer than
/// lowering a kernel: one serves many. For one thread.
class LLVMLowering {
public:
  explicit LLVMLowering(mlir::MLIRContext *context);
  llvm::LogicalResult run(mlir::ModuleOp module) const;

private:
  mlir::MLIRContext *context;
  mlir::LLVMTypeConverter converter;
  mlir::FrozenRewritePatternSet calls, loops, rest;
};

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_LOWERTOLLVM_H
