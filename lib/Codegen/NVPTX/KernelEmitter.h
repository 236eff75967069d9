// SPDX-License-Identifier: Apache-2.0
//
// Turns a kernel in destination style into a function that blocks of threads
// run.

#ifndef DLC_LIB_CODEGEN_NVPTX_KERNELEMITTER_H
#define DLC_LIB_CODEGEN_NVPTX_KERNELEMITTER_H

#include "dlc/Codegen/NVPTX/Codegen.h"
#include "dlc/Codegen/NVPTX/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dlc::codegen::gpu {

/// Threads of every block.
inline constexpr int64_t kThreads = 256;
inline constexpr int64_t kWarp = 32;
/// Address spaces of NVPTX.
inline constexpr unsigned kGlobal = 1, kShared = 3;
/// The shared memory of a block, whose size the launch says.
inline constexpr llvm::StringLiteral kSharedSymbol = "dlc_shared";
/// Where it begins: eight lines of 128 bytes, as wgmma swizzles them.
inline constexpr int64_t kSharedAlignment = 1024;

/// Emits `kernel` as an llvm.func of its name in PTX, made of scf, arith, math,
/// vector and llvm operations, at the builder's insertion point; the module has
/// kSharedSymbol. What `gpu` has beyond sm_80 is used. Fails with a diagnostic
/// at the operation that has no lowering.
llvm::FailureOr<GPUGrid> emitKernel(mlir::OpBuilder &builder,
                                    mlir::FunctionOpInterface kernel,
                                    const GPUTarget &gpu);

/// The name that PTX can have.
std::string symbolOf(llvm::StringRef name);

/// Declares kSharedSymbol.
void declareShared(mlir::OpBuilder &builder, mlir::Location loc);

} // namespace dlc::codegen::gpu

#endif // DLC_LIB_CODEGEN_NVPTX_KERNELEMITTER_H
