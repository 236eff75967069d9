// SPDX-License-Identifier: Apache-2.0
//
// The orders in which single passes take the items.

#include "Heuristics.h"
#include "SortedIndices.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace dlc::planning {
namespace {

/// Answers "the largest load during [lower, upper)" in O(1) after
/// O(n log n) (a sparse table over the event times).
class LoadTable {
public:
  explicit LoadTable(const Instance &instance);

  int64_t peak(int64_t lower, int64_t upper) const {
    const size_t first = indexOf(lower), last = indexOf(upper);
    const int level = std::bit_width(last - first) - 1;
    return std::max(levels[level][first],
                    levels[level][last - (size_t{1} << level)]);
  }

private:
  size_t indexOf(int64_t time) const {
    return static_cast<size_t>(
        std::lower_bound(times.begin(), times.end(), time) - times.begin());
  }

  std::vector<int64_t> times;
  std::vector<std::vector<int64_t>> levels; // [k][i]: max of 2^k loads from i
};

LoadTable::LoadTable(const Instance &instance) {
  for (const Piece &piece : instance.pieces) {
    times.push_back(piece.lower);
    times.push_back(piece.upper);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<int64_t> load(times.size(), 0);
  for (const Piece &piece : instance.pieces) {
    load[indexOf(piece.lower)] += piece.size;
    load[indexOf(piece.upper)] -= piece.size;
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  levels.push_back(std::move(load));
  for (size_t half = 1; 2 * half <= times.size(); half *= 2) {
    const std::vector<int64_t> &shorter = levels.back();
    std::vector<int64_t> level(times.size() - 2 * half + 1);
    for (size_t i = 0; i < level.size(); ++i)
      level[i] = std::max(shorter[i], shorter[i + half]);
    levels.push_back(std::move(level));
  }
}

/// What orders compare, in units of no importance.
struct Measures {
  double size = 0, width = 0, area = 0, load = 0;
};

std::vector<Measures> measure(const Instance &instance, bool withLoad) {
  std::vector<Measures> all(instance.items.size());
  for (int i = 0; i < instance.itemCount(); ++i) {
    int64_t first = INT64_MAX, last = 0;
    for (const Piece &piece : instance.piecesOf(instance.items[i])) {
      first = std::min(first, piece.lower);
      last = std::max(last, piece.upper);
      all[i].area += static_cast<double>(piece.upper - piece.lower) *
                     static_cast<double>(piece.size);
    }
    all[i].size = static_cast<double>(instance.items[i].span);
    all[i].width = first < last ? static_cast<double>(last - first) : 0;
  }
  if (!withLoad || instance.pieces.empty())
    return all;
  const LoadTable table(instance);
  for (const Piece &piece : instance.pieces)
    all[piece.item].load =
        std::max(all[piece.item].load,
                 static_cast<double>(table.peak(piece.lower, piece.upper)));
  return all;
}

} // namespace

std::vector<int> makeOrder(const Instance &instance, Order order) {
  const std::vector<Measures> measures =
      measure(instance, order == Order::Load);
  std::vector<std::array<double, 3>> keys;
  keys.reserve(measures.size());
  for (const Measures &m : measures) {
    switch (order) {
    case Order::Load:
      keys.push_back({m.load, m.area, m.width});
      break;
    case Order::Width:
      keys.push_back({m.width, m.size, 0});
      break;
    case Order::Area:
      keys.push_back({m.area, m.size, 0});
      break;
    case Order::Size:
      keys.push_back({m.size, m.width, 0});
      break;
    }
  }
  return sortedIndices(keys.size(),
                       [&](int a, int b) { return keys[a] > keys[b]; });
}

int64_t countMeetings(const Instance &instance) {
  std::vector<int64_t> lowers, uppers;
  for (const Piece &piece : instance.pieces) {
    lowers.push_back(piece.lower);
    uppers.push_back(piece.upper);
  }
  std::sort(lowers.begin(), lowers.end());
  std::sort(uppers.begin(), uppers.end());
  int64_t pairs = 0;
  for (const Piece &piece : instance.pieces) {
    pairs += std::lower_bound(lowers.begin(), lowers.end(), piece.upper) -
             lowers.begin(); // have started before its end
    pairs -= std::upper_bound(uppers.begin(), uppers.end(), piece.lower) -
             uppers.begin(); // have ended before its start
  }
  return pairs - instance.pieceCount(); // each meets itself
}

} // namespace dlc::planning
