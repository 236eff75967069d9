// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Schedule/Joins.h"

#include <algorithm>

using namespace dlc::planning::schedule;

/// Whether no part is taken, or named twice.
static bool areFree(std::vector<uint32_t> parts,
                    const std::vector<bool> &isTaken) {
  std::sort(parts.begin(), parts.end());
  return !parts.empty() &&
         std::adjacent_find(parts.begin(), parts.end()) == parts.end() &&
         std::none_of(parts.begin(), parts.end(),
                      [&](uint32_t part) { return isTaken[part]; });
}

/// The problem with `join` made in place: who read its result reads the parts,
/// which are of one whole with what they are wholes of themselves.
static Problem makeInPlace(Problem problem, const Join &join) {
  const uint32_t result = problem.tasks[join.task].writes.front();
  // An earlier join's task writes nothing any more: its parts are read for it.
  const std::vector<uint32_t> parts = problem.tasks[join.task].reads;
  for (Task &task : problem.tasks) {
    auto read = std::find(task.reads.begin(), task.reads.end(), result);
    if (read == task.reads.end())
      continue;
    task.reads.erase(read);
    task.reads.insert(task.reads.end(), parts.begin(), parts.end());
  }
  problem.tasks[join.task].writes.clear();
  std::erase_if(problem.wholes, [&](const std::vector<uint32_t> &whole) {
    return std::find(parts.begin(), parts.end(), whole.front()) != parts.end();
  });
  problem.wholes.push_back(parts);
  return problem;
}

std::vector<bool>
dlc::planning::schedule::chooseJoins(const Problem &problem,
                                     const std::vector<Join> &joins) {
  std::vector<bool> chosen(joins.size());
  if (joins.empty())
    return chosen;
  Problem current = problem;
  int64_t peak = solve(problem).peakBytes;
  std::vector<bool> isTaken(problem.bufferBytes.size());
  for (size_t i = 0; i != joins.size(); ++i) {
    if (!areFree(joins[i].parts, isTaken))
      continue;
    Problem joined = makeInPlace(current, joins[i]);
    if (solve(joined).peakBytes > peak)
      continue;
    chosen[i] = true;
    current = std::move(joined);
    for (uint32_t part : joins[i].parts)
      isTaken[part] = true;
  }
  return chosen;
}
