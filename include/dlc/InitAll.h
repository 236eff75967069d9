// SPDX-License-Identifier: Apache-2.0
//
// The one place that lists our dialects and passes. Tools and the embedding
// API register from here.

#ifndef DLC_INITALL_H
#define DLC_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace dlc {

/// Adds our dialects, and those that our passes create, to `registry`.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Makes our passes and the `dlc-to-PHASE` pipelines known to pipelines given
/// as text. Call once per process.
void registerAllPasses();

} // namespace dlc

#endif // DLC_INITALL_H
