// SPDX-License-Identifier: Apache-2.0
//
// Replays a solution step by step with reference counts, unlike the solver,
// which counts in intervals.

#include "dlc/Planning/Recompute/Recompute.h"

#include <algorithm>
#include <map>

using namespace dlc::planning::recompute;

namespace {

class Replay {
public:
  explicit Replay(const Problem &problem) : problem(problem) {
    for (uint32_t op = 0; op < problem.operations.size(); ++op)
      for (uint32_t value : problem.operations[op].writes)
        maker[value] = op;
  }
  std::optional<std::string> run(const Solution &solution);

private:
  /// A run of an operation: its value, and whether of the repetition.
  using Instance = std::pair<uint32_t, bool>;
  std::optional<std::string> resolve(const Solution &solution);
  int64_t replayMemory(const Solution &solution);
  int64_t shared(size_t step, const Operation &op,
                 const std::map<Instance, size_t> &left) const;

  const Problem &problem;
  std::map<uint32_t, uint32_t> maker;
  std::vector<std::vector<Instance>> reads; // Of each step.
};

} // namespace

std::optional<std::string> Replay::resolve(const Solution &solution) {
  std::map<uint32_t, int> runs;
  for (size_t i = 0; i < solution.steps.size(); ++i) {
    const Step &step = solution.steps[i];
    std::string name = "step " + std::to_string(i);
    if (step.operation >= problem.operations.size())
      return name + ": unknown operation " + std::to_string(step.operation);
    const Operation &op = problem.operations[step.operation];
    if (runs[step.operation] != int(step.isAgain))
      return name + ": expected a first run, then one repetition at most";
    if (step.isAgain && op.again == Again::Never)
      return name + ": the operation must not be repeated";
    std::vector<Instance> &mine = reads.emplace_back();
    for (uint32_t value : op.reads) {
      auto from = maker.find(value);
      if (from == maker.end())
        continue;
      if (runs[from->second] == 0)
        return name + ": reads value " + std::to_string(value) +
               " before it is made";
      mine.push_back({value, runs[from->second] == 2});
    }
    ++runs[step.operation];
  }
  for (uint32_t op = 0; op < problem.operations.size(); ++op)
    if (runs[op] == 0)
      return "operation " + std::to_string(op) + " never runs";
  return std::nullopt;
}

/// Bytes of an operand that no other step is left to read, where the result
/// takes them over.
int64_t Replay::shared(size_t step, const Operation &op,
                       const std::map<Instance, size_t> &left) const {
  for (const Instance &instance : reads[step])
    if (std::count(op.inPlace.begin(), op.inPlace.end(), instance.first) &&
        problem.bytes[instance.first] == problem.bytes[op.writes[0]] &&
        size_t(std::count(reads[step].begin(), reads[step].end(), instance)) ==
            left.at(instance))
      return problem.bytes[instance.first];
  return 0;
}

int64_t Replay::replayMemory(const Solution &solution) {
  std::map<Instance, size_t> readers;
  for (const std::vector<Instance> &mine : reads)
    for (const Instance &instance : mine)
      ++readers[instance];
  int64_t live = 0, peak = 0;
  for (size_t i = 0; i < solution.steps.size(); ++i) {
    const Step &step = solution.steps[i];
    for (uint32_t value : problem.operations[step.operation].writes)
      live += problem.bytes[value];
    peak = std::max(
        peak, live - shared(i, problem.operations[step.operation], readers));
    for (uint32_t value : problem.operations[step.operation].writes)
      if (!readers.contains({value, step.isAgain}))
        live -= problem.bytes[value];
    for (const Instance &instance : reads[i])
      if (--readers[instance] == 0)
        live -= problem.bytes[instance.first];
  }
  return peak;
}

std::optional<std::string> Replay::run(const Solution &solution) {
  if (auto wrong = resolve(solution))
    return wrong;
  if (int64_t peak = replayMemory(solution); peak != solution.peakBytes)
    return "expected a peak of " + std::to_string(peak) + " bytes, got " +
           std::to_string(solution.peakBytes);
  int64_t nanoseconds = 0;
  for (const Step &step : solution.steps)
    if (step.isAgain)
      nanoseconds += problem.operations[step.operation].nanoseconds;
  if (nanoseconds != solution.nanoseconds)
    return "expected a time of " + std::to_string(nanoseconds) + " ns, got " +
           std::to_string(solution.nanoseconds);
  return std::nullopt;
}

std::optional<std::string>
dlc::planning::recompute::validate(const Problem &problem,
                                   const Solution &solution) {
  return Replay(problem).run(solution);
}
