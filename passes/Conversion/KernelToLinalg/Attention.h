// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a GPU that are an attention as a whole: one structured operation,
// kernel.attention, for the rows of a tile.

#ifndef DLC_PASSES_CONVERSION_KERNELTOLINALG_ATTENTION_H
#define DLC_PASSES_CONVERSION_KERNELTOLINALG_ATTENTION_H

#include "dlc/KernelLibrary/Attention.h"
#include "dlc/dialects/Kernel/KernelDialect.h"

namespace dlc::conversion {

/// Matrices in memory: all of them are in the same tensor.
struct Window {
  mlir::Value tensor;
  llvm::SmallVector<int64_t> counts;  ///< Of the dimensions in front.
  llvm::SmallVector<int64_t> strides; ///< Of all dimensions, in elements.
  int64_t offset = 0;                 ///< Of the first element.
};

struct AttentionPlan {
  library::AttentionForm form;
  Window q, k, v, y;
  int64_t rows = 0; ///< Of a tile, at most.
  /// The mask that hides keys beyond a column, and by how many that is more
  /// than the row; none of it is read.
  std::optional<size_t> causalMask;
  int64_t causalOffset = 0;
};

/// The attention that begins with the product `scores`, of operations that are
/// free, if a GPU computes it as one kernel. Its members have all that turns
/// operands round and cuts them out. Where there is one that a GPU does not
/// compute so, `why`, when given, gets the reason.
std::optional<AttentionPlan>
planAttention(graph::MatmulOp scores,
              llvm::function_ref<bool(mlir::Operation *)> isFree,
              std::string *why = nullptr);

/// The same of `group`, which is all of it.
std::optional<AttentionPlan>
planAttention(llvm::ArrayRef<mlir::Operation *> group);

/// Replaces the body of `kernel` by what `plan`, made for it, says.
void emitAttention(kernel::FuncOp kernel, const AttentionPlan &plan);

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_KERNELTOLINALG_ATTENTION_H
