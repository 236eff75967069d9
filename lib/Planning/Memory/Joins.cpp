// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Memory/Joins.h"

#include <algorithm>

using namespace dlc::planning;

/// The most bytes that live at once.
static int64_t peakOf(const std::vector<JoinedValue> &values) {
  int64_t steps = 0;
  for (const JoinedValue &value : values)
    steps = std::max(steps, value.last + 1);
  std::vector<int64_t> change(steps + 1);
  for (const JoinedValue &value : values) {
    change[value.first] += value.bytes;
    change[value.last + 1] -= value.bytes;
  }
  int64_t live = 0, peak = 0;
  for (int64_t delta : change)
    peak = std::max(peak, live += delta);
  return peak;
}

/// Whether no part is taken, or named twice.
static bool areFree(std::vector<size_t> parts,
                    const std::vector<bool> &isTaken) {
  std::sort(parts.begin(), parts.end());
  return !parts.empty() &&
         std::adjacent_find(parts.begin(), parts.end()) == parts.end() &&
         std::none_of(parts.begin(), parts.end(),
                      [&](size_t part) { return isTaken[part]; });
}

std::vector<bool> dlc::planning::chooseJoins(const JoinProblem &problem) {
  std::vector<JoinedValue> values = problem.values;
  std::vector<bool> isTaken(values.size()), chosen(problem.joins.size());
  int64_t peak = peakOf(values);
  for (size_t i = 0; i != problem.joins.size(); ++i) {
    const Join &join = problem.joins[i];
    if (!areFree(join.parts, isTaken))
      continue;
    std::vector<JoinedValue> joined = values;
    JoinedValue &result = joined[join.result];
    for (size_t part : join.parts) {
      result.first = std::min(result.first, joined[part].first);
      result.last = std::max(result.last, joined[part].last);
      joined[part].bytes = 0; // They are the result's.
    }
    int64_t joinedPeak = peakOf(joined);
    if (joinedPeak > peak)
      continue;
    chosen[i] = true;
    peak = joinedPeak;
    values = std::move(joined);
    for (size_t part : join.parts)
      isTaken[part] = true;
  }
  return chosen;
}
