// SPDX-License-Identifier: Apache-2.0
//
// What exporters compute places of: integers that are linear in where they lie
// in their tensor, like ranges, and sums and products of these.

#ifndef DLC_DIALECTS_GRAPH_NUMBERS_H
#define DLC_DIALECTS_GRAPH_NUMBERS_H

#include "dlc/dialects/Graph/Position.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace dlc::graph {

/// Follows integers to what they are computed of. Where a loop has to be cut
/// for that, nothing is found, and getSplit() says where.
class NumberReader : public ElementReader {
public:
  /// `elementsOf` gives what is known of a value, or null; what `isExcluded` is
  /// not followed.
  NumberReader(mlir::OpBuilder builder, mlir::Location loc, Loops loops,
               std::function<mlir::ElementsAttr(Value)> elementsOf,
               std::function<bool(Value)> isExcluded)
      : ElementReader(builder, loc, std::move(loops)),
        elementsOf(std::move(elementsOf)), isExcluded(std::move(isExcluded)) {}

  /// The number at `position` of `tensor`; nullopt where it is something else.
  std::optional<Index> numberAt(Value tensor, llvm::ArrayRef<Index> position);
  std::optional<LoopSplit> getSplit() const { return split; }

  Value read(Value tensor, llvm::ArrayRef<Index> position) override;
  Value load(Value, mlir::ValueRange) override { return {}; }
  Value materialize(const Index &) override { return {}; }

private:
  std::optional<Index> numberOf(mlir::OpResult result,
                                llvm::ArrayRef<Index> position);
  std::optional<Index> numberBefore(mlir::OpResult result,
                                    llvm::ArrayRef<Index> position);
  bool fits(const Index &number, mlir::Type type) const;

  llvm::ArrayRef<int64_t> valuesOf(Value tensor, mlir::ElementsAttr elements);

  std::function<mlir::ElementsAttr(Value)> elementsOf;
  std::function<bool(Value)> isExcluded;
  std::optional<Index> last; ///< What was read,
  Value placeholder;         ///< and what stands for it.
  /// Of values that are known.
  llvm::DenseMap<Value, llvm::SmallVector<int64_t>> constants;
};

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_NUMBERS_H
