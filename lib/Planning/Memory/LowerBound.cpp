// SPDX-License-Identifier: Apache-2.0
//
// Bytes that no packing can do without.

#include "Instance.h"

#include "dlc/Planning/Memory/Solver.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace dlc::planning {
namespace {

/// The largest unit of which every piece's offset is a multiple, whatever the
/// packing.
int64_t unitOfOffsets(const Instance &instance) {
  int64_t unit = 0;
  for (const Piece &piece : instance.pieces) {
    const Item &item = instance.items[piece.item];
    unit = std::gcd(std::gcd(unit, item.alignment),
                    std::gcd(item.phase, piece.rel));
  }
  return std::max<int64_t>(unit, 1);
}

/// Peak load. In a stack of live pieces each but the topmost fills its size
/// rounded up to the unit.
int64_t peakLoad(const Instance &instance) {
  const int64_t unit = unitOfOffsets(instance);
  std::vector<std::tuple<int64_t, bool, int>> events; // time, starts, piece
  for (int p = 0; p < instance.pieceCount(); ++p) {
    events.emplace_back(instance.pieces[p].lower, true, p);
    events.emplace_back(instance.pieces[p].upper, false, p);
  }
  // At one time ends come before starts, for lives are half open.
  std::sort(events.begin(), events.end());
  int64_t load = 0, peak = 0;
  std::multiset<int64_t> slack;
  for (auto [time, starts, p] : events) {
    const int64_t size = instance.pieces[p].size;
    const int64_t filled = alignUp(size, unit);
    load += starts ? filled : -filled;
    if (unit > 1 && starts)
      slack.insert(filled - size);
    else if (unit > 1)
      slack.erase(slack.find(filled - size));
    peak = std::max(peak, load - (slack.empty() ? 0 : *slack.rbegin()));
  }
  return peak;
}

} // namespace

int64_t lowerBound(const Instance &instance) {
  int64_t bound = peakLoad(instance);
  for (const Item &item : instance.items)
    bound = std::max(bound, item.firstOffset() + item.span);
  return bound;
}

int64_t lowerBound(const Problem &problem) {
  Instance instance;
  return buildInstance(problem, instance) ? 0 : lowerBound(instance);
}

} // namespace dlc::planning
