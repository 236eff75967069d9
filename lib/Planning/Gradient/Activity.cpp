// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Gradient/Activity.h"

#include <algorithm>

using namespace dlc::planning::gradient;

static bool anyOf(const std::vector<uint32_t> &values,
                  const std::vector<bool> &set) {
  return std::any_of(values.begin(), values.end(),
                     [&](uint32_t value) { return set[value]; });
}

/// Puts the continuous ones of `values` into `set`.
static void addTo(std::vector<bool> &set, const std::vector<uint32_t> &values,
                  const Problem &problem) {
  for (uint32_t value : values)
    if (problem.isContinuous[value])
      set[value] = true;
}

Solution dlc::planning::gradient::solve(const Problem &problem) {
  size_t count = problem.isContinuous.size();
  std::vector<bool> isVaried(count), isUseful(count);
  addTo(isVaried, problem.sources, problem);
  for (const Operation &op : problem.operations)
    if (anyOf(op.operands, isVaried))
      addTo(isVaried, op.results, problem);
  addTo(isUseful, problem.heads, problem);
  for (size_t i = problem.operations.size(); i-- > 0;)
    if (anyOf(problem.operations[i].results, isUseful))
      addTo(isUseful, problem.operations[i].operands, problem);

  Solution solution;
  solution.isActive.resize(count);
  for (size_t value = 0; value < count; ++value)
    solution.isActive[value] = isVaried[value] && isUseful[value];
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    if (!anyOf(op.results, solution.isActive))
      continue;
    Step step{static_cast<uint32_t>(i), {}};
    for (uint32_t operand : op.operands)
      step.wanted.push_back(solution.isActive[operand]);
    solution.steps.push_back(std::move(step));
  }
  return solution;
}

/// The values that can be reached from `start` over operations, in one
/// direction, through continuous values; includes the start.
static std::vector<bool> reach(const Problem &problem, uint32_t start,
                               bool forwards) {
  std::vector<bool> reached(problem.isContinuous.size());
  std::vector<uint32_t> open = {start};
  while (!open.empty()) {
    uint32_t value = open.back();
    open.pop_back();
    if (reached[value] || !problem.isContinuous[value])
      continue;
    reached[value] = true;
    for (const Operation &op : problem.operations) {
      const auto &from = forwards ? op.operands : op.results;
      const auto &to = forwards ? op.results : op.operands;
      if (std::find(from.begin(), from.end(), value) != from.end())
        open.insert(open.end(), to.begin(), to.end());
    }
  }
  return reached;
}

/// A source and a head are on a path through `value`.
static bool isOnPath(const Problem &problem, uint32_t value) {
  return anyOf(problem.sources, reach(problem, value, /*forwards=*/false)) &&
         anyOf(problem.heads, reach(problem, value, /*forwards=*/true));
}

static std::optional<std::string> validateStep(const Problem &problem,
                                               const Solution &solution,
                                               const Step &step) {
  const Operation &op = problem.operations[step.operation];
  std::string name = "operation " + std::to_string(step.operation);
  if (step.wanted.size() != op.operands.size())
    return name + ": expected " + std::to_string(op.operands.size()) +
           " operands, got " + std::to_string(step.wanted.size());
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (step.wanted[i] != solution.isActive[op.operands[i]])
      return name + ": wants what is not active, or not what is";
  return std::nullopt;
}

std::optional<std::string>
dlc::planning::gradient::validate(const Problem &problem,
                                  const Solution &solution) {
  if (solution.isActive.size() != problem.isContinuous.size())
    return "expected a word on each value";
  for (uint32_t value = 0; value < solution.isActive.size(); ++value)
    if (solution.isActive[value] != isOnPath(problem, value))
      return "value " + std::to_string(value) + ": activity is wrong";
  size_t active = 0;
  for (const Operation &op : problem.operations)
    active += anyOf(op.results, solution.isActive);
  if (solution.steps.size() != active)
    return "expected " + std::to_string(active) + " steps, got " +
           std::to_string(solution.steps.size());
  for (size_t i = 0; i < solution.steps.size(); ++i) {
    const Step &step = solution.steps[i];
    if (step.operation >= problem.operations.size() ||
        !anyOf(problem.operations[step.operation].results, solution.isActive))
      return "step " + std::to_string(i) + ": visits no active operation";
    if (i > 0 && step.operation >= solution.steps[i - 1].operation)
      return "step " + std::to_string(i) + ": comes too late";
    if (auto wrong = validateStep(problem, solution, step))
      return wrong;
  }
  return std::nullopt;
}
