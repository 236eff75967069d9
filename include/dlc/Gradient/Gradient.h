// SPDX-License-Identifier: Apache-2.0
//
// Reverse-mode differentiation of Graph operations: which of them are visited
// is decided over plain data (Planning/Gradient); what each of them builds, the
// operations know. Everything that is built is made of Graph operations, so
// that it can be differentiated again.

#ifndef DLC_GRADIENT_GRADIENT_H
#define DLC_GRADIENT_GRADIENT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace dlc::graph {

/// What is differentiated by what. All are tensors of floats.
struct GradientTask {
  llvm::SmallVector<mlir::Value> heads;
  /// One of the type of each head.
  llvm::SmallVector<mlir::Value> headGradients;
  llvm::SmallVector<mlir::Value> sources;
};

struct GradientResult {
  /// One per source: the sum over all paths, null where there is none.
  llvm::SmallVector<mlir::Value> ofSources;
  size_t visited = 0; ///< Operations.
};

/// Builds the gradients where the builder stands, which is behind the heads in
/// their block, and marks the function that this is in (`graph.gradient`).
/// Operations on the way that know no gradient but can be decomposed are no
/// longer used by others before that place; they stay, dead unless something
/// later uses them. Fails, having reported it, where an operation on the way
/// has no gradient.
llvm::FailureOr<GradientResult> differentiate(mlir::OpBuilder &builder,
                                              const GradientTask &task);

} // namespace dlc::graph

#endif // DLC_GRADIENT_GRADIENT_H
