// SPDX-License-Identifier: Apache-2.0
//
// Which operations compute a batch in parts, and in how many. Private to
// graph-split-batch.

#ifndef DLC_PASSES_GRAPH_BATCHPARTS_H
#define DLC_PASSES_GRAPH_BATCHPARTS_H

#include "LayoutForms.h"

#include "dlc/dialects/Graph/Batches.h"

#include "llvm/ADT/MapVector.h"

namespace dlc::graph {

/// Operations that are to be computed in parts, in the order of the block, and
/// in how many; none and 1 where nothing is.
struct BatchParts {
  llvm::MapVector<mlir::Operation *, Batched> operations;
  int64_t batch = 0, parts = 1;

  /// The first example of a part: parts differ by one example at most.
  int64_t beginOf(int64_t part) const { return batch * part / parts; }
  int64_t examplesOf(int64_t part) const {
    return beginOf(part + 1) - beginOf(part);
  }
};

/// What touches more bytes than one of `wanted` parts of the largest value that
/// a convolution touches; in so many parts, or up to four times as many if that
/// divides the batch.
BatchParts partsForMemory(mlir::Block &block, int64_t wanted);

/// What takes less time in parts that caches hold, by a model: values that are
/// too large for them are read and written at the pace of memory, but each part
/// reads weights again, calls cost something, and what is cut out and joined is
/// copied. Operations that sum over the batch are left whole, and parts have
/// two examples at least. Failure: a fault of the solver, which is emitted.
/// Parts differ by an example where no number of them divides the batch. What
/// stands between parts and needs the whole batch costs what waits for it.
/// Nothing is in parts where copies of what is cut out and joined are larger
/// than the largest value that is.
/// Cost: of up to fifteen numbers of parts, a PBQP over the operations.
llvm::FailureOr<BatchParts> partsForCaches(mlir::Block &block,
                                           const ConvOptions &options);

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_BATCHPARTS_H
