// SPDX-License-Identifier: Apache-2.0
//
// Passes of the code generator for CPUs, for reading what it does; compiling
// a program calls `compileKernels` instead.

#ifndef DLC_CODEGEN_CPU_PASSES_TD
#define DLC_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitLoopsPass : Pass<"codegen-cpu-emit-loops", "::mlir::ModuleOp"> {
  let summary = "Turn kernels in destination style into loops over vectors";
  let description = [{
    Requires: every function takes memrefs of static shape. Its body is at
    most one `scf.forall` of static extent (the grid, one tile per point), and
    inside: structured linalg operations whose indexing maps are linear,
    `scf.for` without carried values, `memref.subview` and reshapes with known
    strides, `memref.alloca` for scratch, `memref.store` of scalars, index
    arithmetic and scalar operations. Bodies of linalg operations hold
    elementwise operations, `linalg.index` and `memref.load`.

    Ensures: each function is replaced by an `llvm.func` of the same name with
    the convention of `abi/Kernel.h`. One dimension of every structured
    operation is in vectors of the target's width; reductions are carried in
    registers; `exp`, `tanh`, `erf` and `log` are polynomials.

    Cost: linear in the number of operations, times the unroll factor (at most
    4 vectors and a remainder).

    ```mlir
    linalg.generic ... { %s = arith.addf %a, %b : f32 }
      ->  scf.for ... { %s = arith.addf %a, %b : vector<8xf32> }
    ```
  }];
  let options = [
    Option<"targetName", "target", "std::string", /*default=*/"\"x86-64-v3\"",
           "Machine to aim at: host, x86-64, x86-64-v2, x86-64-v3 or "
           "x86-64-v4">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // DLC_CODEGEN_CPU_PASSES_TD
