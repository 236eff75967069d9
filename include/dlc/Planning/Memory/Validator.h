// SPDX-License-Identifier: Apache-2.0
//
// The judge of packings. It shares no code with the solver, so that a fault in
// one is not a fault in both.

#ifndef DLC_PLANNING_MEMORY_VALIDATOR_H
#define DLC_PLANNING_MEMORY_VALIDATOR_H

#include "dlc/Planning/Memory/Problem.h"
#include "dlc/Planning/Memory/Solution.h"

namespace dlc::planning {

/// Returns nothing when the solution solves the problem, else the first fault:
/// a missing, negative, misaligned or unpinned offset, a broken alias, two
/// buffers of different alias groups on the same bytes at the same time, a
/// wrong `arenaBytes` (also below `lowerBound`), or an arena beyond capacity.
///
/// Accepts any solution; the problem must satisfy checkProblem().
/// O(n log n + E) for E pairs of buffers that meet in time. Thread-safe.
[[nodiscard]] Error validate(const Problem &problem, const Solution &solution);

} // namespace dlc::planning

#endif // DLC_PLANNING_MEMORY_VALIDATOR_H
