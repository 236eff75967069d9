// SPDX-License-Identifier: Apache-2.0
//
// Operations that are attention together: a product of queries and keys, what
// scales and masks it, the softmax, the product with values, and what turns the
// four of them round. Exports write this as a chain of ten to twenty
// operations; any order that means the same is one form.

#ifndef DLC_KERNELLIBRARY_ATTENTION_H
#define DLC_KERNELLIBRARY_ATTENTION_H

#include "dlc/dialects/Graph/GraphOps.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace dlc::library {

/// A tensor and how it is read as matrices: dimension i of these is dimension
/// order[i] of the tensor.
struct Matrices {
  Matrices() = default;
  explicit Matrices(mlir::Value value);

  llvm::ArrayRef<int64_t> getShape() const;
  int64_t rank() const { return static_cast<int64_t>(order.size()); }
  int64_t extent(int64_t dim) const { return getShape()[order[dim]]; }
  int64_t rows() const { return extent(rank() - 2); }
  int64_t columns() const { return extent(rank() - 1); }
  /// Whether the dimensions in front of the matrix lie in front.
  bool isMatrixLast() const;
  bool isInOrder() const;

  mlir::Value value;
  llvm::SmallVector<int64_t> order;
};

/// What is done with scores: a mask is added; where booleans are false, or
/// true, they become `fill`.
enum class MaskForm : int64_t { Add, Keep, Drop };

/// y = softmax(masks(scale * query_scale * q k)) v, the softmax along rows: q
/// [..., M, K], k [..., K, N], v [..., N, P], y [..., M, P]. q and y have as
/// many matrices, k and v each as many or a part of them: then as many of q,
/// one after the other, share one.
struct AttentionForm {
  struct Mask {
    MaskForm form;
    mlir::Value value;
  };
  Matrices q, k, v, y;
  float scale = 1, queryScale = 1;
  llvm::SmallVector<Mask> masks; ///< In their order.
  /// What masks broadcast to, as NumPy's: [..., M, N] with the matrices of q.
  llvm::SmallVector<int64_t> maskShape;
  std::optional<float> fill;
  /// In no order.
  llvm::SmallVector<mlir::Operation *> members;
};

/// The attention that begins with the product `scores`, of operations that are
/// free. Nullopt where there is none; `why`, if given, then may say more.
std::optional<AttentionForm>
findAttentionForm(graph::MatmulOp scores,
                  llvm::function_ref<bool(mlir::Operation *)> isFree,
                  std::string *why = nullptr);

/// By how many columns more than its number a row of scores sees, if each sees
/// one more than the row before; booleans say which: where they are true (Keep)
/// or false (Drop). Of scores with that many rows and columns.
std::optional<int64_t> getCausalOffset(mlir::ElementsAttr mask, MaskForm form,
                                       int64_t rows, int64_t columns);

} // namespace dlc::library

#endif // DLC_KERNELLIBRARY_ATTENTION_H
