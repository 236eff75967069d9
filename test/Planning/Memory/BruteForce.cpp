// SPDX-License-Identifier: Apache-2.0
//
// Decides tiny packing problems by trying all offsets.

#include "BruteForce.h"

namespace dlc::planning::testing {
namespace {

class BruteForce {
public:
  BruteForce(const Problem &problem, int64_t height)
      : problem(problem), height(height),
        offsets(problem.buffers.size(), kFree) {}

  /// Places the first free buffer and all that is tied to it at each offset.
  bool solve() {
    size_t first = 0;
    while (first < offsets.size() && offsets[first] != kFree)
      ++first;
    if (first == offsets.size())
      return true;
    for (int64_t offset = 0; offset <= height; ++offset) {
      const std::vector<int64_t> before = offsets;
      offsets[first] = offset;
      if (followAliases() && isLegal() && solve())
        return true;
      offsets = before;
    }
    return false;
  }

private:
  static constexpr int64_t kFree = INT64_MIN;

  bool followAliases() {
    for (bool moved = true; moved;) {
      moved = false;
      for (const Alias &alias : problem.aliases) {
        int64_t &view = offsets[alias.view], &base = offsets[alias.base];
        if (view == kFree && base != kFree) {
          view = base + alias.delta;
          moved = true;
        } else if (base == kFree && view != kFree) {
          base = view - alias.delta;
          moved = true;
        } else if (view != kFree && view != base + alias.delta) {
          return false;
        }
      }
    }
    return true;
  }

  bool isLegal() const {
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] == kFree)
        continue;
      const Buffer &a = problem.buffers[i];
      if (offsets[i] < 0 || offsets[i] + a.size > height ||
          offsets[i] % a.alignment != 0 ||
          (a.pinnedOffset && *a.pinnedOffset != offsets[i]))
        return false;
      for (size_t j = 0; j < i; ++j)
        if (offsets[j] != kFree && meet(i, j) && !tied(i, j))
          return false;
    }
    return true;
  }

  bool meet(size_t i, size_t j) const {
    const Buffer &a = problem.buffers[i], &b = problem.buffers[j];
    return a.lower < b.upper && b.lower < a.upper &&
           offsets[i] < offsets[j] + b.size && offsets[j] < offsets[i] + a.size;
  }

  bool tied(size_t i, size_t j) const {
    std::vector<char> reached(offsets.size(), false);
    reached[i] = true;
    for (size_t round = 0; round < offsets.size(); ++round)
      for (const Alias &alias : problem.aliases)
        if (reached[alias.view] || reached[alias.base])
          reached[alias.view] = reached[alias.base] = true;
    return reached[j];
  }

  const Problem &problem;
  const int64_t height;
  std::vector<int64_t> offsets;
};

} // namespace

bool hasPackingWithin(const Problem &problem, int64_t height) {
  return BruteForce(problem, height).solve();
}

int64_t optimalHeight(const Problem &problem) {
  int64_t height = 0;
  while (!hasPackingWithin(problem, height))
    ++height;
  return height;
}

} // namespace dlc::planning::testing
