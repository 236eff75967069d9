// SPDX-License-Identifier: Apache-2.0
//
// Which results that are their operands one after the other are made in one
// piece of memory.

#ifndef DLC_PLANNING_SCHEDULE_JOINS_H
#define DLC_PLANNING_SCHEDULE_JOINS_H

#include "dlc/Planning/Schedule/Schedule.h"

namespace dlc::planning::schedule {

/// A task that does nothing but put `parts` one after the other into its only
/// result; a part may be the result of an earlier join.
struct Join {
  uint32_t task = 0;
  std::vector<uint32_t> parts; ///< Buffers that the task reads.
};

/// Of each join, whether to make its parts in the memory of its result, so that
/// nothing moves. Not where a part is one of an earlier join that is made so,
/// or twice of this one, and not where the best order that solve() finds then
/// needs more memory than without any: what lies beside the first part waits
/// for the last. Joins are in the order of their tasks and taken in it.
/// Deterministic; a solve() for each join, and one.
std::vector<bool> chooseJoins(const Problem &problem,
                              const std::vector<Join> &joins);

} // namespace dlc::planning::schedule

#endif // DLC_PLANNING_SCHEDULE_JOINS_H
