// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Layout/Layout.h"

#include <algorithm>

using namespace dlc::planning::layout;

Cost dlc::planning::layout::costOf(const Problem &problem,
                                   const std::vector<uint32_t> &choices) {
  Cost sum = 0;
  auto add = [&](Cost cost) { sum = std::min(kForbidden, sum + cost); };
  for (size_t i = 0; i < problem.nodes.size(); ++i)
    add(problem.nodes[i][choices[i]]);
  for (const Edge &edge : problem.edges)
    add(edge.costs[choices[edge.first] * problem.nodes[edge.second].size() +
                   choices[edge.second]]);
  return sum;
}

static std::optional<std::string> validateProblem(const Problem &problem) {
  auto isCost = [](Cost cost) { return cost >= 0 && cost <= kForbidden; };
  for (size_t i = 0; i < problem.nodes.size(); ++i)
    if (problem.nodes[i].empty() ||
        !std::all_of(problem.nodes[i].begin(), problem.nodes[i].end(), isCost))
      return "node " + std::to_string(i) +
             ": expected alternatives whose costs are from 0 to kForbidden";
  for (size_t i = 0; i < problem.edges.size(); ++i) {
    const Edge &edge = problem.edges[i];
    if (edge.first >= problem.nodes.size() ||
        edge.second >= problem.nodes.size() || edge.first == edge.second)
      return "edge " + std::to_string(i) + ": expected two nodes";
    size_t pairs =
        problem.nodes[edge.first].size() * problem.nodes[edge.second].size();
    if (edge.costs.size() != pairs ||
        !std::all_of(edge.costs.begin(), edge.costs.end(), isCost))
      return "edge " + std::to_string(i) + ": expected " +
             std::to_string(pairs) + " costs from 0 to kForbidden";
  }
  return std::nullopt;
}

std::optional<std::string>
dlc::planning::layout::validate(const Problem &problem,
                                const Solution &solution) {
  if (auto wrong = validateProblem(problem))
    return wrong;
  if (solution.choices.size() != problem.nodes.size())
    return "expected a choice of each node";
  for (size_t i = 0; i < problem.nodes.size(); ++i)
    if (solution.choices[i] >= problem.nodes[i].size())
      return "node " + std::to_string(i) + ": expected one of " +
             std::to_string(problem.nodes[i].size()) + " alternatives, got " +
             std::to_string(solution.choices[i]);
  Cost cost = costOf(problem, solution.choices);
  if (cost != solution.cost)
    return "expected a cost of " + std::to_string(cost) + ", got " +
           std::to_string(solution.cost);
  return std::nullopt;
}
