// SPDX-License-Identifier: Apache-2.0
//
// Which operations share a kernel: convex groups over a graph in plain data.

#ifndef DLC_PLANNING_FUSION_FUSION_H
#define DLC_PLANNING_FUSION_FUSION_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dlc::planning::fusion {

using Group = std::vector<uint32_t>; ///< Nodes, ascending.

/// Nodes are numbered in a topological order.
struct Problem {
  /// The nodes whose results each node reads.
  std::vector<std::vector<uint32_t>> producers;
  /// Nodes that may join a group at all.
  std::vector<bool> isFusible;
  /// The device of each node; a group is on one. Empty: all are on the same.
  std::vector<uint32_t> devices;
  /// The first node that may be in a group with each. Empty: any.
  std::vector<uint32_t> notBefore;
  /// Whether one kernel can compute the group. Asked for convex groups of at
  /// least two fusible nodes only.
  std::function<bool(const Group &)> isLegal;
  /// Nodes in one group at most; bounds the cost of asking isLegal.
  uint32_t maxGroupSize = 64;
};

/// The group of each node, in ascending order of their last nodes; every node
/// is in exactly one group.
struct Solution {
  std::vector<Group> groups;
};

/// Greedy: in topological order each fusible node joins the groups of its
/// producers, latest first, whenever the union is convex and legal.
/// Deterministic. O(e r) for e edges that span at most r nodes, plus the calls
/// of isLegal.
Solution solve(const Problem &problem);

/// What is wrong, or nullopt: the groups must partition the nodes, groups of
/// several nodes must be fusible, legal and convex, that is, contracting every
/// group leaves no cycle.
std::optional<std::string> validate(const Problem &problem,
                                    const Solution &solution);

} // namespace dlc::planning::fusion

#endif // DLC_PLANNING_FUSION_FUSION_H
