// SPDX-License-Identifier: Apache-2.0
//
// Where the examples of a batch lie in the values of a function, and whether
// each is computed from its own alone.

#ifndef DLC_PASSES_GRAPH_ROWS_H
#define DLC_PASSES_GRAPH_ROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc::graph {

/// The elements of example i of N are those at [i * each, (i + 1) * each) of a
/// dimension, and, where there are several runs of N * each, those there of
/// all: a sequence of examples that a reshape made one dimension of.
struct Rows {
  unsigned dim = 0;
  int64_t each = 0;
  int64_t runs = 1;

  /// Of `extent` of the dimension, those of all examples in one run.
  int64_t runOf(int64_t extent) const { return extent / runs; }
  bool operator==(const Rows &other) const = default;
};

using ValueSet = llvm::DenseSet<mlir::Value>;

/// Values of a function that follow from the size of the batch.
struct SizedValues {
  ValueSet all;
  /// Those that are a times the size and b more, by how they are computed: of
  /// two sizes one knows them for any.
  ValueSet linear;
  /// Those that are so, too, if quotients on their way are whole for any size.
  ValueSet divided;
};

/// What of a function, whose types are inferred and unknown in the size of the
/// batch alone, are numbers that follow from that: shapes, and what is computed
/// of them.
SizedValues findSized(mlir::func::FuncOp function);

/// Those of `open` that are not the same for each size: what is linear in it,
/// and equal for two, is known for any, as S - S, where exporters have a mask
/// begin. `one` and `other` give what is known of values for two sizes. An
/// operand that `isPassed` makes no number of what it is read for.
SizedValues findDiffering(
    mlir::func::FuncOp function, const SizedValues &open,
    llvm::function_ref<mlir::ElementsAttr(mlir::Value)> one,
    llvm::function_ref<mlir::ElementsAttr(mlir::Value)> other,
    llvm::function_ref<bool(mlir::OpOperand &)> isPassed);

/// What findRows() gives.
struct FoundRows {
  /// Of each result of the function; nullopt for what all examples share.
  llvm::SmallVector<std::optional<Rows>> results;
  /// What was found of values, in the order in which it was.
  std::vector<Rows> found;
  /// Shapes and rows of all values, the same for every size of the batch.
  std::string all;
  /// Dividends, as multiples of the size and what is added: of a probe.
  std::string dividends;
};

/// Finds the rows of `function`, which is for a batch of `count`, the first
/// dimension of the arguments in `batched`. It has inferred types and one
/// block. `sized` are its values that are numbers which follow from the size of
/// the batch; they may say what shapes results have (isShapeParameter), but not
/// be computed with. What an operation reads is asked of its rule for batches
/// (BatchOpInterface), its element form (PositionedOpInterface and the like),
/// or what it decomposes to, which takes its place in `function`; that is for
/// this alone. With `like`, found for another size, rows are where they are
/// there. Nullopt where examples are not kept apart; `why` says by which
/// operation.
std::optional<FoundRows> findRows(mlir::func::FuncOp function,
                                  llvm::ArrayRef<unsigned> batched,
                                  int64_t count, const SizedValues &sized,
                                  const FoundRows *like, std::string &why);

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_ROWS_H
