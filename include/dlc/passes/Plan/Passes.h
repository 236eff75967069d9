// SPDX-License-Identifier: Apache-2.0
//
// Passes over the Plan dialect: factories, options and registration, generated
// from Passes.td.

#ifndef DLC_PASSES_PLAN_PASSES_H
#define DLC_PASSES_PLAN_PASSES_H

#include "dlc/dialects/Plan/PlanDialect.h"

#include "mlir/Pass/Pass.h"

namespace dlc::plan {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dlc/passes/Plan/Passes.h.inc"

} // namespace dlc::plan

#endif // DLC_PASSES_PLAN_PASSES_H
