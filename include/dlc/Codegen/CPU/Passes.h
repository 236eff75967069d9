// SPDX-License-Identifier: Apache-2.0
//
// Passes of the code generator for CPUs.

#ifndef DLC_CODEGEN_CPU_PASSES_H
#define DLC_CODEGEN_CPU_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dlc::codegen {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dlc/Codegen/CPU/Passes.h.inc"

} // namespace dlc::codegen

#endif // DLC_CODEGEN_CPU_PASSES_H
