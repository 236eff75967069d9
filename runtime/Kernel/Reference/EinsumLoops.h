// SPDX-License-Identifier: Apache-2.0
//
// What an equation of Einstein summation means for operands of known or unknown
// types: "bij,bjk->bik", with ellipses, repeated labels (diagonals) and
// implicit results, as in NumPy.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_EINSUMLOOPS_H
#define DLC_RUNTIME_KERNEL_REFERENCE_EINSUMLOOPS_H

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace dlc::rt::ref {

/// The loops of a sum of products. Each has a slot: one for each letter, in
/// ASCII order, then one for each dimension an ellipsis may stand for, aligned
/// at the right.
struct EinsumLoops {
  static constexpr size_t letterSlots = 52;
  static constexpr size_t slotCount = letterSlots + DLC_MAX_RANK;
  static constexpr int64_t unused = -2;

  /// By slot: unused, kUnknownDim or known.
  std::array<int64_t, slotCount> extents;
  /// The slot of each dimension of each operand and of the result.
  std::vector<std::vector<size_t>> operands;
  std::vector<size_t> result;
  bool hasResultRank = true;
};

/// Errors: InvalidArgument (a malformed equation, or operands that it is not
/// for).
Status readEinsum(std::string_view equation,
                  std::span<const TensorType> operands, EinsumLoops &loops);

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_EINSUMLOOPS_H
