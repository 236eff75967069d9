// SPDX-License-Identifier: Apache-2.0
//
// Graph operations computed by their Reference kernels, which define them.

#ifndef DLC_DIALECTS_GRAPH_REFERENCE_H
#define DLC_DIALECTS_GRAPH_REFERENCE_H

#include "dlc/runtime/Kernel/Reference/Evaluate.h"

#include "mlir/IR/Operation.h"

namespace dlc::graph {

/// Computes the results of `op` for `inputs`, one per operand, those that are
/// absent of DLC_INVALID_TYPE. Results have the types that they turn out to
/// have; those of `op` do not matter. `outputs` is cleared first, and stays
/// empty on failure, whose message names the operation. Thread-safe within one
/// context.
rt::Status evaluateReference(mlir::Operation *op,
                             std::span<const rt::TensorView> inputs,
                             std::vector<rt::ref::OwnedTensor> &outputs);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_REFERENCE_H
