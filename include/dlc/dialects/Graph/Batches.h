// SPDX-License-Identifier: Apache-2.0
//
// Which operations can compute a batch in parts, one after the other.

#ifndef DLC_DIALECTS_GRAPH_BATCHES_H
#define DLC_DIALECTS_GRAPH_BATCHES_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace dlc::graph {

/// What of an operation belongs to a batch.
struct Batched {
  /// Of which the first dimension is the batch; others each part needs whole.
  llvm::SmallVector<unsigned> operands;
  /// The result is the sum of what the parts give; else its first dimension is
  /// the batch.
  bool isSummed = false;
};

/// Which dimension of each operand and result is the batch; -1 where there is
/// none.
struct BatchDims {
  llvm::SmallVector<int> operands, results;
};

/// What of `op`, whose types are static, belongs to a batch; nullopt where it
/// is not known that parts can be computed by themselves.
std::optional<Batched> batchedOf(mlir::Operation *op);

/// Gives operations their rules; for the dialect, when it is loaded.
void attachBatches(mlir::MLIRContext *context);

} // namespace dlc::graph

#include "dlc/dialects/Graph/Batches.h.inc"

#endif // DLC_DIALECTS_GRAPH_BATCHES_H
