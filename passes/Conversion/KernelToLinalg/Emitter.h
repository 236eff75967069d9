// SPDX-License-Identifier: Apache-2.0
//
// Rewrites a kernel in value semantics as linalg operations on memrefs.

#ifndef DLC_PASSES_CONVERSION_KERNELTOLINALG_EMITTER_H
#define DLC_PASSES_CONVERSION_KERNELTOLINALG_EMITTER_H

#include "Planner.h"

namespace dlc::conversion {

/// Replaces the body of `kernel` by what `plan`, made for it, says. The stages
/// of the plan are spent.
void emitPlan(kernel::FuncOp kernel, KernelPlan &plan);

/// Gives `kernel` that body in destination style, which it owns from then on,
/// and drops the one in value semantics.
void replaceBody(kernel::FuncOp kernel, mlir::Block *body, int64_t outputs,
                 llvm::ArrayRef<int64_t> grid, llvm::ArrayRef<int64_t> inPlace);

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_KERNELTOLINALG_EMITTER_H
