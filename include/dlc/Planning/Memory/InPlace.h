// SPDX-License-Identifier: Apache-2.0
//
// Decides which results take over the memory of an operand, before packing.

#ifndef DLC_PLANNING_MEMORY_INPLACE_H
#define DLC_PLANNING_MEMORY_INPLACE_H

#include "dlc/Planning/Memory/Problem.h"

#include <vector>

namespace dlc::planning {

/// An operation that is able to write `result` over `operand` as it goes, both
/// at the same offset, and that runs during [step, step + 1): lives are counted
/// in steps. The operand's life ends with the step (or just before it, where
/// lives do not count the step that reads last), and the result's begins with
/// it (or just after it). That the operation itself reads nothing else of the
/// operand's group out of order is the caller's promise.
struct InPlaceCandidate {
  size_t operand = 0; ///< Index into Problem::buffers.
  size_t result = 0;  ///< Index into Problem::buffers.
  int64_t step = 0;   ///< When the operation runs.
};

/// Returns the aliases to add to the problem, one for each candidate accepted
/// (in the order of acceptance). A candidate is accepted when
///  - the operand dies in the operation, as do all buffers tied to it that
///    share bytes with the result or with what is tied to the result, unless
///    they never live at the same time;
///  - the tie contradicts no alias, alignment or pin; and
///  - it does not raise the peak load, nor lowerBound(). Tied buffers are
///    packed as the exact union of their lives, so to share bytes can only
///    lower the load; but a tie can make a group higher than the peak load, or
///    pull a result to a high pinned offset, and such ties are refused.
/// Candidates of equal sizes go first, then those that share more bytes, then
/// the earlier in the list, so the answer is deterministic.
///
/// Requires checkProblem(problem) to have nothing to say; otherwise, and for
/// candidates with indices out of range, nothing is accepted.
/// Cost: O(c g + n log n) for c candidates and groups of g buffers; O(c n log
/// n) where alignments differ in such a way that ties would raise the bound.
/// Thread-safe.
std::vector<Alias>
decideInPlace(const Problem &problem,
              const std::vector<InPlaceCandidate> &candidates);

} // namespace dlc::planning

#endif // DLC_PLANNING_MEMORY_INPLACE_H
