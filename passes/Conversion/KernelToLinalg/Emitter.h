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

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_KERNELTOLINALG_EMITTER_H
