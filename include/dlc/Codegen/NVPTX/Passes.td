// SPDX-License-Identifier: Apache-2.0
//
// Passes of the code generator for GPUs, for reading what it does; compiling a
// program calls `compileGPUKernels` instead.

#ifndef DLC_CODEGEN_NVPTX_PASSES_TD
#define DLC_CODEGEN_NVPTX_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitThreadsPass : Pass<"codegen-nvptx-emit-threads", "::mlir::ModuleOp"> {
  let summary = "Spread kernels in destination style over threads of a GPU";
  let description = [{
    Requires: what `codegen-cpu-emit-loops` requires.

    Ensures: each function is replaced by an `llvm.func` of the same name that
    blocks of 256 threads run, one for each tile of the grid. Of structured
    operations
    - elements without reductions are shared by the threads, neighbours by
      neighbours, 16 bytes at once where addresses allow it;
    - reductions of many results take a thread for each, those of few a warp,
      those of very few the block; what a warp sums is exchanged by shuffles,
      what warps sum through shared memory;
    - sums of products whose factors have rows and columns of their own are
      computed from tiles in shared memory, by tensor cores where both factors
      are f16 or both bf16, of sm_90a by groups of four warps; several blocks share the terms of a tile, as a
      cluster, where there are few tiles and the GPU has clusters;
    - the scratch memory of a tile is shared memory, and all threads wait for
      each other behind each operation.

    Cost: linear in the number of operations.

    ```mlir
    linalg.generic ... { %s = arith.addf %a, %b : f32 }
      ->  scf.for %i = %thread to %count step %threads { %s = arith.addf %a, %b : f32 }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cuda:sm_80\"",
           "The GPU, as dlc compile has it: what it has beyond sm_80 is used">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // DLC_CODEGEN_NVPTX_PASSES_TD
