// SPDX-License-Identifier: Apache-2.0
//
// What the loops of one structured operation look like: a decision over
// strides and extents, made before anything is emitted.

#ifndef DLC_LIB_CODEGEN_COMMON_LOOPPLAN_H
#define DLC_LIB_CODEGEN_COMMON_LOOPPLAN_H

#include "BodyEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dlc::codegen {

/// An operand of a structured operation as the loops see it.
struct LoopOperand {
  const View *view = nullptr;         ///< Null for a scalar.
  mlir::Value scalar;                 ///< Of the operation, when it is none.
  int64_t constant = 0;               ///< Elements, beside view->offset.
  llvm::SmallVector<int64_t> strides; ///< Elements, per loop dimension.
  mlir::BlockArgument argument;
  bool isOutput = false;
  bool isRead = false; ///< The body uses the argument.
};

/// An output that the body combines with its old value.
struct Accumulator {
  unsigned operand = 0; ///< Index into LoopPlan::operands.
  unsigned result = 0;  ///< Index into the body's yield.
  /// The one operation that combines old value and new term when their order
  /// may change; else null.
  mlir::Operation *combiner = nullptr;
};

struct LoopPlan {
  llvm::SmallVector<LoopOperand> operands;
  llvm::SmallVector<mlir::OpFoldResult> ranges; ///< Per dimension.
  llvm::SmallVector<unsigned> parallel;         ///< Outer to inner.
  llvm::SmallVector<unsigned> reduced;          ///< Outer to inner.
  llvm::SmallVector<Accumulator> accumulators;
  /// The dimension in vectors: the last of `parallel` or of `reduced`. Absent
  /// for operations on single elements.
  std::optional<unsigned> vectorDim;
  bool vectorIsReduced = false;
  /// A parallel dimension, the last but one, along which some operands are
  /// contiguous that are not along the vector dimension: both are walked in
  /// square blocks, transposed in registers.
  std::optional<unsigned> tileDim;
  int64_t width = 1;
  int64_t unroll = 1;
  /// The remainder of the vector loop may be masked.
  bool canMask = false;
  /// The remainder may compute the last whole vector again: no input can lie
  /// in the memory of an output.
  bool canOverlap = false;
};

/// The number of points of `dims`, where it is known.
std::optional<int64_t> staticCount(const LoopPlan &plan,
                                   llvm::ArrayRef<unsigned> dims);

/// Fails with a diagnostic when the operation has no loops here: an indexing
/// map that is not linear, accumulators over different dimensions.
llvm::FailureOr<LoopPlan> planLoops(mlir::linalg::LinalgOp op,
                                    const TargetOptions &target,
                                    const ViewMap &views);

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_LOOPPLAN_H
