// SPDX-License-Identifier: Apache-2.0
//
// Which results that are their operands one after the other are made in one
// piece of memory, before there are buffers.

#ifndef DLC_PLANNING_MEMORY_JOINS_H
#define DLC_PLANNING_MEMORY_JOINS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlc::planning {

/// A value that lives from step `first` to step `last`, both included.
struct JoinedValue {
  int64_t first = 0, last = 0;
  int64_t bytes = 0;
};

/// A value that `parts` are, one after the other; indices into
/// JoinProblem::values. A part may be the result of an earlier join.
struct Join {
  size_t result = 0;
  std::vector<size_t> parts;
};

struct JoinProblem {
  std::vector<JoinedValue> values;
  std::vector<Join> joins; ///< In the order of the program.
};

/// Of each join, whether to make its parts in the memory of its result, which
/// then lives from the first of them on: nothing moves. Not where a part is one
/// of an earlier join that is made so, or twice of this one, and not where it
/// raises the most bytes that live at once: what lies beside the first part
/// waits for the last. Joins are taken in their order. Deterministic;
/// O(j (n + s)) for j joins of n values over s steps.
std::vector<bool> chooseJoins(const JoinProblem &problem);

} // namespace dlc::planning

#endif // DLC_PLANNING_MEMORY_JOINS_H
