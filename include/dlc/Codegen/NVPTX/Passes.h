// SPDX-License-Identifier: Apache-2.0
//
// Passes of the code generator for GPUs.

#ifndef DLC_CODEGEN_NVPTX_PASSES_H
#define DLC_CODEGEN_NVPTX_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dlc::codegen::gpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dlc/Codegen/NVPTX/Passes.h.inc"

} // namespace dlc::codegen::gpu

#endif // DLC_CODEGEN_NVPTX_PASSES_H
