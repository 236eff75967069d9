// SPDX-License-Identifier: Apache-2.0
//
// The Kernel dialect and its operations.

#ifndef DLC_DIALECTS_KERNEL_KERNELDIALECT_H
#define DLC_DIALECTS_KERNEL_KERNELDIALECT_H

#include "dlc/dialects/Base/BaseDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dlc/dialects/Kernel/KernelDialect.h.inc"

#define GET_OP_CLASSES
#include "dlc/dialects/Kernel/KernelOps.h.inc"

namespace dlc::kernel {

/// The function type of a kernel symbol in value semantics: what its calls
/// take and give. Null when `symbol` is no kernel. For a kernel.func in
/// destination style the memrefs are turned back into tensors.
mlir::FunctionType getCallType(mlir::Operation *symbol);

/// The (input, output) pairs of a kernel symbol that may share memory.
llvm::ArrayRef<int64_t> getInPlacePairs(mlir::Operation *symbol);

/// Bytes of scratch memory that a launch of a kernel symbol needs.
int64_t getWorkspaceBytes(mlir::Operation *symbol);

/// Of a kernel.func: the kind of device that it runs on, where that is not the
/// host: "cuda".
inline constexpr llvm::StringLiteral kRunsOnAttr = "kernel.runs_on";

/// Of a kernel.func of a GPU: what floats of its products may be rounded to,
/// "tf32" (10 bits) or "bf16" (7).
inline constexpr llvm::StringLiteral kComputeAttr = "kernel.compute";

/// Of a boolean argument of a kernel.func of a GPU, two numbers: elements are
/// the second one where their column is at most their row and the first one
/// more, and the other one elsewhere.
inline constexpr llvm::StringLiteral kTriangleAttr = "kernel.triangle";

/// Whether a GPU runs `kernel`.
bool isForGPU(FuncOp kernel);

} // namespace dlc::kernel

#endif // DLC_DIALECTS_KERNEL_KERNELDIALECT_H
