// SPDX-License-Identifier: Apache-2.0
//
// Positions in tensors as linear expressions of the loops around them.

#ifndef DLC_PASSES_CONVERSION_KERNELTOLINALG_INDEX_H
#define DLC_PASSES_CONVERSION_KERNELTOLINALG_INDEX_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <tuple>
#include <utility>

namespace dlc::conversion {

/// The loops of a stage: those of the kernel's grid, shared by all stages, and
/// its own. Loop `i` is a grid loop when i < grid.
struct Loops {
  unsigned grid = 0;
  llvm::SmallVector<int64_t> extents;
};

/// constant + sum of coefficients[i] * loop i.
struct Index {
  llvm::SmallVector<int64_t> coefficients;
  int64_t constant = 0;

  static Index number(const Loops &loops, int64_t value);
  static Index loop(const Loops &loops, unsigned which);

  Index operator+(const Index &other) const;
  Index operator*(int64_t factor) const;
  Index operator+(int64_t offset) const;
  bool operator==(const Index &other) const = default;
  bool operator<(const Index &other) const {
    return std::tie(coefficients, constant) <
           std::tie(other.coefficients, other.constant);
  }

  /// The smallest and the largest value; (0, -1) when a loop is empty.
  std::pair<int64_t, int64_t> range(const Loops &loops) const;
  /// The loop that this index is, if it is one.
  std::optional<unsigned> asLoop() const;
  bool usesOnlyGrid(const Loops &loops) const;
  /// With the loops of the grid as symbols, the others as dimensions.
  mlir::AffineExpr toAffine(const Loops &loops,
                            mlir::MLIRContext *context) const;
};

/// What keeps an index from being linear: loop `loop` must be cut at `at`
/// (isFactor: into blocks of `at` iterations).
struct LoopSplit {
  unsigned loop = 0;
  int64_t at = 0;
  bool isFactor = false;
};

/// Quotient and remainder of `index` by `divisor`, when both are linear. Else
/// nullopt, and `split` says which loop to cut if that helps.
std::optional<std::pair<Index, Index>> divide(const Index &index,
                                              int64_t divisor,
                                              const Loops &loops,
                                              std::optional<LoopSplit> &split);

/// -1, 0 or 1 as `index` is always below `bound`, neither, or never below. For
/// 0, `split` says where to cut.
int compareTo(const Index &index, int64_t bound, const Loops &loops,
              std::optional<LoopSplit> &split);

/// The position in a tensor of shape `to` of the element at `index` in one of
/// shape `from`, both row-major with equally many elements.
std::optional<llvm::SmallVector<Index>>
reshapeIndex(llvm::ArrayRef<Index> index, llvm::ArrayRef<int64_t> from,
             llvm::ArrayRef<int64_t> to, const Loops &loops,
             std::optional<LoopSplit> &split);

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_KERNELTOLINALG_INDEX_H
