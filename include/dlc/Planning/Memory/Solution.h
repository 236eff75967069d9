// SPDX-License-Identifier: Apache-2.0
//
// An answer to a static memory packing problem.

#ifndef DLC_PLANNING_MEMORY_SOLUTION_H
#define DLC_PLANNING_MEMORY_SOLUTION_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace dlc::planning {

/// What found a packing.
enum class Method {
  None,     ///< No packing is held.
  Skyline,  ///< A skyline pass.
  FirstFit, ///< A first-fit pass.
  Search,   ///< The valley search.
};

/// "none", "skyline", "first-fit" or "search".
std::string_view nameOf(Method method);

struct Solution {
  std::vector<int64_t> offsets; ///< In bytes, one per buffer of the problem.
  int64_t arenaBytes = 0;       ///< Highest end of any buffer.
  int64_t lowerBound = 0;       ///< Proved: no packing needs fewer bytes.
  Method how = Method::None;    ///< What found it.
  int64_t steps = 0;            ///< Search steps spent (see SolverOptions).
};

} // namespace dlc::planning

#endif // DLC_PLANNING_MEMORY_SOLUTION_H
