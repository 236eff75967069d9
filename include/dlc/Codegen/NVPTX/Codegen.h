// SPDX-License-Identifier: Apache-2.0
//
// Code generation for NVIDIA GPUs: kernels in destination style, as the code
// generator for CPUs takes them, to PTX. A tile of the grid is a block of
// threads; what a CPU does in loops over a tile, the threads share.

#ifndef DLC_CODEGEN_NVPTX_CODEGEN_H
#define DLC_CODEGEN_NVPTX_CODEGEN_H

#include "dlc/Codegen/NVPTX/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace dlc::codegen {

/// How a kernel is launched. Its parameters are the addresses of its tensors,
/// in the order of abi/Kernel.h.
struct GPUGrid {
  int64_t blocks = 1;
  int64_t threads = 1;
  int64_t sharedBytes = 0; ///< Of each block, asked for at the launch.
};

/// All kernels of a program for one GPU.
struct GPUCode {
  std::string name; ///< Of the GPU: "sm_90".
  std::string ptx;
  /// ELF, made of it by ptxas; empty when there is no ptxas.
  std::string cubin;
  std::map<std::string, GPUGrid> grids; ///< By the kernel's name.
};

/// Compiles the kernels of `module` that run on GPUs (kernel::isForGPU). PTX
/// allows letters, digits, _ and $ in names: whatever else is $ there. `module`
/// is not changed. Equal modules give equal PTX. On failure a diagnostic has
/// been emitted at the offending operation.
llvm::FailureOr<GPUCode> compileGPUKernels(mlir::ModuleOp module,
                                           const GPUTarget &target);

/// The program that makes machine code of PTX: what DLC_PTXAS names, or ptxas
/// of PATH, CUDA_HOME or /usr/local/cuda; empty when there is none.
std::string findPtxas();

/// Runs it: the machine code, and in `report` what it says of registers and
/// spills. Fails with its messages at `loc`.
llvm::FailureOr<std::string> assemble(mlir::Location loc, llvm::StringRef ptx,
                                      const GPUTarget &target,
                                      llvm::StringRef ptxas,
                                      std::string *report = nullptr);

} // namespace dlc::codegen

#endif // DLC_CODEGEN_NVPTX_CODEGEN_H
