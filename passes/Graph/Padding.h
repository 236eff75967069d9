// SPDX-License-Identifier: Apache-2.0
//
// What it takes for a function of one size of an extent to compute smaller
// ones, whose elements are followed by any others.

#ifndef DLC_PASSES_GRAPH_PADDING_H
#define DLC_PASSES_GRAPH_PADDING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dlc::graph {

/// A copy of a function whose types are inferred, and what is what in it.
struct FunctionCopy {
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  mlir::IRMapping mapping;
};

/// Copies of a function, in all of which every extent is known but that in
/// question: it has some size, each smaller one that is asked for, the largest
/// first, and none.
struct PaddingProbes {
  FunctionCopy own, open;
  FunctionCopy others; ///< Of the own size, with all other extents open.
  FunctionCopy least;  ///< The same with these of 1; or none.
  std::vector<FunctionCopy> smaller;
  int64_t size;               ///< In `own`.
  std::vector<int64_t> sizes; ///< In `smaller`: some.
};

/// Behind the elements that there are in dimension `dim`, operand number
/// `operand` of `op` is to have `neutral`.
struct PaddingMask {
  mlir::Operation *op; ///< Of the function that was copied.
  unsigned operand, dim;
  mlir::TypedAttr neutral;

  bool operator==(const PaddingMask &other) const = default;
};

/// What findPadding() gives.
struct FoundPadding {
  std::vector<PaddingMask> masks;
  /// Of each result, the dimensions that are the extent.
  llvm::SmallVector<llvm::SmallVector<unsigned>> results;
  /// The numbers that elements of operations are computed with: where they
  /// differ by the size, there is no formula for all.
  std::map<mlir::Operation *, std::set<double>> formulas;

  bool operator==(const FoundPadding &other) const = default;
};

/// Finds what keeps the elements of `function` that exist for a smaller size of
/// the extent, in `places` of arguments (argument, dimension), from those that
/// its type has beyond. An element is followed to those that it is made of, as
/// findRows() does: at its own place, or over all places, where operations know
/// a number that counts nothing (MaskOpInterface). Extents of values are
/// multiples of the extent for each of the sizes, or have nothing of it. The
/// copy `own` is changed. Nullopt where there is no such; `why` says by which
/// operation.
std::optional<FoundPadding>
findPadding(mlir::func::FuncOp function, PaddingProbes &probes,
            llvm::ArrayRef<std::pair<unsigned, unsigned>> places,
            std::string &why);

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_PADDING_H
