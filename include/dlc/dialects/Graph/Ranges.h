// SPDX-License-Identifier: Apache-2.0
//
// What elements may be: between which numbers.

#ifndef DLC_DIALECTS_GRAPH_RANGES_H
#define DLC_DIALECTS_GRAPH_RANGES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace dlc::graph {

/// Both are among them; NaN may be, too, unless elements are integers.
struct Bounds {
  double low, high;
};

/// Between which numbers all elements of `tensor` are, by what they are computed
/// of in so many steps; nullopt where that does not tell.
std::optional<Bounds> rangeOfElements(mlir::Value tensor, unsigned mostSteps);

/// Steps that are looked at where something is decided, and where it is checked:
/// what passes put in between makes nothing wrong.
inline constexpr unsigned kStepsToDecide = 32, kStepsToCheck = 64;

/// Whether indices are, whatever data there is, in [0, n) of each of `extents`.
bool areWithin(mlir::Value indices, llvm::ArrayRef<int64_t> extents,
               unsigned mostSteps);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_RANGES_H
