// SPDX-License-Identifier: Apache-2.0
//
// Which alternative each of many things takes where some go together at less
// cost than others: a partitioned boolean quadratic problem (PBQP; Scholz and
// Eckstein, LCTES 2002), as which operations and values of a program get their
// layouts (Anderson and Gregg, CGO 2018).

#ifndef DLC_PLANNING_LAYOUT_LAYOUT_H
#define DLC_PLANNING_LAYOUT_LAYOUT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlc::planning::layout {

using Cost = int64_t;
/// What cannot be. Sums that reach it stay there; costs are at least 0.
inline constexpr Cost kForbidden = INT64_MAX / 4;

/// What alternatives of two nodes cost together: row-major, a row for each
/// alternative of `first`, which is not `second`.
struct Edge {
  uint32_t first = 0, second = 0;
  std::vector<Cost> costs;
};

struct Problem {
  /// Of each node, the cost of each alternative; there is one at least.
  std::vector<std::vector<Cost>> nodes;
  std::vector<Edge> edges; ///< Two nodes may have several.
};

struct Solution {
  std::vector<uint32_t> choices; ///< The alternative of each node.
  Cost cost = 0;                 ///< kForbidden where nothing can be.
  bool isOptimal = false;        ///< Whether it is known that none costs less.
};

/// What the choices cost, one of each node.
Cost costOf(const Problem &problem, const std::vector<uint32_t> &choices);

/// The least cost where nodes with two neighbours or fewer can be taken away
/// one after the other, as in chains, trees and all series-parallel graphs
/// (residual networks). Of what is left, up to `maxBranches` choices are tried.
/// Among equals, alternatives with lower numbers are preferred where nodes are
/// alone; the same problem has the same solution.
/// Cost: O(n a^3) for n nodes of a alternatives, times the branches.
Solution solve(const Problem &problem, uint32_t maxBranches = 64);

/// What is wrong with a problem and its solution, or nullopt.
std::optional<std::string> validate(const Problem &problem,
                                    const Solution &solution);

} // namespace dlc::planning::layout

#endif // DLC_PLANNING_LAYOUT_LAYOUT_H
