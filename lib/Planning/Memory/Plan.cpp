// SPDX-License-Identifier: Apache-2.0
//
// Text in, text out: the whole of `dlc plan-memory`.

#include "dlc/Planning/Memory/Csv.h"
#include "dlc/Planning/Memory/Validator.h"

#include <chrono>
#include <cstdio>

namespace dlc::planning {

std::string PlanReport::summary() const {
  char ms[32];
  std::snprintf(ms, sizeof(ms), "%.1f", milliseconds);
  return "arena=" + std::to_string(solution.arenaBytes) +
         " lower_bound=" + std::to_string(solution.lowerBound) + " ms=" + ms;
}

Error planCsv(std::string_view text, std::optional<int64_t> capacity,
              const SolverOptions &options, std::string &output,
              PlanReport &report) {
  Problem problem;
  if (Error error = readCsv(text, problem))
    return error;
  problem.capacity = capacity;
  if (Error error = checkProblem(problem))
    return error;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  report.solution = solve(problem, options);
  report.milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (Error error = validate(problem, report.solution))
    return error;
  output = writeCsv(problem, report.solution);
  return std::nullopt;
}

} // namespace dlc::planning
