// SPDX-License-Identifier: Apache-2.0
//
// The one place that lists our dialects and passes. Tools and the embedding
// API register from here.

#ifndef DLC_INITALL_H
#define DLC_INITALL_H

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/dialects/Plan/PlanDialect.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/DialectRegistry.h"

namespace dlc {

/// Adds our dialects to `registry`.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<BaseDialect, graph::GraphDialect, kernel::KernelDialect,
                  plan::PlanDialect>();
}

/// Makes our passes known to pipelines given as text. Call once per process.
inline void registerAllPasses() { graph::registerGraphPasses(); }

} // namespace dlc

#endif // DLC_INITALL_H
