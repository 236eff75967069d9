// SPDX-License-Identifier: Apache-2.0
//
// Groups that are attention.

#ifndef DLC_KERNELLIBRARY_ATTENTION_H
#define DLC_KERNELLIBRARY_ATTENTION_H

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/GraphOps.h"

namespace dlc::library {

struct Matrices;

/// matchGroup() for groups of two products with a softmax in between.
std::optional<Match> matchAttention(llvm::ArrayRef<mlir::Operation *> group,
                                    std::string *why);

/// findGroup() for those that begin with the product `scores`.
llvm::SmallVector<mlir::Operation *>
findAttention(graph::MatmulOp scores,
              llvm::function_ref<bool(mlir::Operation *)> isFree);

/// Finds the operations of an attention from its first product on, among those
/// that are free.
class AttentionFinder {
public:
  AttentionFinder(graph::MatmulOp scores,
                  llvm::function_ref<bool(mlir::Operation *)> isFree,
                  std::string *why);
  /// The call; then `members` are the operations that it computes.
  std::optional<Match> find();

  llvm::SmallVector<mlir::Operation *> members;

private:
  bool refuse(const llvm::Twine &reason);
  mlir::Operation *nextOf(mlir::Value value);
  mlir::Operation *makerOf(mlir::Value value);
  bool addMask(int64_t form, mlir::Value mask, mlir::Value current);
  bool takeMask(mlir::Operation *op, mlir::Value current);
  graph::MatmulOp takeScores();
  void takeOperand(Matrices &operand, std::optional<int64_t> rows);
  bool takeResult(Matrices &result, int64_t rows, int64_t productRows);
  std::optional<Match> makeMatch(const Matrices &q, const Matrices &k,
                                 const Matrices &v, const Matrices &y);

  graph::MatmulOp scores;
  llvm::function_ref<bool(mlir::Operation *)> isFree;
  std::string *why;
  float scale = 1, queryScale = 1;
  std::optional<float> fill; ///< Of scores that a mask hides.
  llvm::SmallVector<int64_t> forms, maskShape;
  llvm::SmallVector<mlir::Value> masks;
};

} // namespace dlc::library

#endif // DLC_KERNELLIBRARY_ATTENTION_H
