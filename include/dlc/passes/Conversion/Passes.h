// SPDX-License-Identifier: Apache-2.0
//
// Conversions between dialects: factories, options and registration, generated
// from Passes.td.

#ifndef DLC_PASSES_CONVERSION_PASSES_H
#define DLC_PASSES_CONVERSION_PASSES_H

#include "dlc/KernelLibrary/GPULibraries.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/dialects/Plan/PlanDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dlc::conversion {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dlc/passes/Conversion/Passes.h.inc"

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_PASSES_H
