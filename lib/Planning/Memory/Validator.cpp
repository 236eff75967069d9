// SPDX-License-Identifier: Apache-2.0
//
// Checks a packing from the definition of the problem alone.

#include "dlc/Planning/Memory/Validator.h"

#include <algorithm>
#include <numeric>

namespace dlc::planning {
namespace {

/// Which buffers are tied, directly or through others (union-find).
class TiedBuffers {
public:
  explicit TiedBuffers(const Problem &problem)
      : parent(problem.buffers.size()) {
    std::iota(parent.begin(), parent.end(), size_t{0});
    for (const Alias &alias : problem.aliases)
      parent[find(alias.view)] = find(alias.base);
    for (size_t i = 0; i < parent.size(); ++i)
      parent[i] = find(i);
  }
  bool areTied(size_t a, size_t b) const { return parent[a] == parent[b]; }

private:
  size_t find(size_t i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  }
  std::vector<size_t> parent;
};

std::string describe(const Buffer &buffer) {
  return "buffer '" + buffer.id + "'";
}

Error checkOffset(const Buffer &buffer, int64_t offset) {
  const std::string got = ", got " + std::to_string(offset);
  if (offset < 0)
    return describe(buffer) + ": expected offset >= 0" + got;
  if (offset % buffer.alignment != 0)
    return describe(buffer) + ": expected an offset aligned to " +
           std::to_string(buffer.alignment) + got;
  if (buffer.pinnedOffset && offset != *buffer.pinnedOffset)
    return describe(buffer) + ": expected the pinned offset " +
           std::to_string(*buffer.pinnedOffset) + got;
  if (offset > INT64_MAX - buffer.size)
    return describe(buffer) + ": expected an end below 2^63" + got;
  return std::nullopt;
}

Error checkArena(const Problem &problem, const Solution &solution) {
  int64_t highest = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    highest = std::max(highest, solution.offsets[i] + problem.buffers[i].size);
  if (solution.arenaBytes != highest)
    return "expected an arena of " + std::to_string(highest) + " bytes, got " +
           std::to_string(solution.arenaBytes);
  if (solution.lowerBound > highest)
    return "expected a lower bound of at most " + std::to_string(highest) +
           " bytes, got " + std::to_string(solution.lowerBound);
  if (problem.capacity && highest > *problem.capacity)
    return "expected an arena of at most " + std::to_string(*problem.capacity) +
           " bytes, got " + std::to_string(highest);
  return std::nullopt;
}

/// Holds each buffer against all that live when it starts.
Error checkConflicts(const Problem &problem, const Solution &solution) {
  const TiedBuffers tied(problem);
  std::vector<size_t> order;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].size > 0)
      order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(problem.buffers[a].lower, a) <
           std::pair(problem.buffers[b].lower, b);
  });
  struct Live {
    int64_t upper, low, high;
    size_t index;
  };
  std::vector<Live> live;
  for (size_t i : order) {
    const Buffer &buffer = problem.buffers[i];
    const int64_t low = solution.offsets[i], high = low + buffer.size;
    size_t kept = 0;
    for (const Live &other : live) {
      if (other.upper <= buffer.lower)
        continue;
      if (other.low < high && low < other.high && !tied.areTied(i, other.index))
        return describe(problem.buffers[other.index]) + " and " +
               describe(buffer) + " share bytes at time " +
               std::to_string(buffer.lower);
      live[kept++] = other;
    }
    live.resize(kept);
    live.push_back({buffer.upper, low, high, i});
  }
  return std::nullopt;
}

} // namespace

Error validate(const Problem &problem, const Solution &solution) {
  if (solution.offsets.size() != problem.buffers.size())
    return "expected " + std::to_string(problem.buffers.size()) +
           " offsets, got " + std::to_string(solution.offsets.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (Error error = checkOffset(problem.buffers[i], solution.offsets[i]))
      return error;
  for (const Alias &alias : problem.aliases) {
    const int64_t distance =
        solution.offsets[alias.view] - solution.offsets[alias.base];
    if (distance != alias.delta)
      return describe(problem.buffers[alias.view]) + ": expected " +
             std::to_string(alias.delta) + " bytes from its base " +
             describe(problem.buffers[alias.base]) + ", got " +
             std::to_string(distance);
  }
  if (Error error = checkConflicts(problem, solution))
    return error;
  return checkArena(problem, solution);
}

} // namespace dlc::planning
