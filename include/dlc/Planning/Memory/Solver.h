// SPDX-License-Identifier: Apache-2.0
//
// The static memory packer and its lower bound.
//
// The portfolio: skyline and first-fit passes, then a complete search in the
// spirit of MiniMalloc (Moffitt, "MiniMalloc: A Lightweight Memory Allocator
// for Hardware-Accelerated Machine Learning", ASPLOS 2024).

#ifndef DLC_PLANNING_MEMORY_SOLVER_H
#define DLC_PLANNING_MEMORY_SOLVER_H

#include "dlc/Planning/Memory/Problem.h"
#include "dlc/Planning/Memory/Solution.h"

namespace dlc::planning {

struct SolverOptions {
  /// Branches the search may expand; 0 means single passes only. A branch of
  /// a problem with more than 256 rectangles is charged in proportion, so the
  /// time a step takes hardly depends on the problem (2 to 10 us).
  int64_t steps = 20'000;
  /// Seeds the noise of restarts; any value gives a valid answer.
  uint64_t seed = 1;
};

/// Packs the buffers. Deterministic: the budget counts work, never time, so
/// the same problem and options give the same answer on every machine.
///
/// Requires: checkProblem(problem) has nothing to say. A problem it refuses
/// yields a solution without offsets (Method::None).
/// Ensures: the offsets satisfy validate(), save that arenaBytes may exceed
/// the capacity when no packing that fits was found within the budget.
/// Cost: passes are O(n log n), with pins O((n + E) log n) where E pairs of
/// buffers meet in time; then the steps of the search. Thread-safe.
Solution solve(const Problem &problem, const SolverOptions &options = {});

/// Bytes that any packing needs: the largest sum of bytes live at one time (an
/// alias group counts the bytes its live buffers cover, once), sharpened by
/// common alignment and by pins. 0 for a problem checkProblem() refuses.
/// O(n log n). Thread-safe.
int64_t lowerBound(const Problem &problem);

} // namespace dlc::planning

#endif // DLC_PLANNING_MEMORY_SOLVER_H
