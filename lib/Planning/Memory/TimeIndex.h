// SPDX-License-Identifier: Apache-2.0
//
// Finds the pieces of a set that are live during an interval of time.

#ifndef DLC_LIB_PLANNING_MEMORY_TIMEINDEX_H
#define DLC_LIB_PLANNING_MEMORY_TIMEINDEX_H

#include "Instance.h"
#include "SortedIndices.h"

#include <algorithm>

namespace dlc::planning {

/// A segment tree over the pieces in order of `lower`; each node holds the
/// largest `upper` of the present pieces below it.
class TimeIndex {
public:
  TimeIndex(const Instance &instance, bool present);

  void set(int piece, bool present);

  /// Calls `visitor(piece)` for each present piece live during some part of
  /// [lower, upper).
  template <typename Visitor>
  void visit(int64_t lower, int64_t upper, Visitor &&visitor) const {
    const auto end = std::lower_bound(lowers.begin(), lowers.end(), upper);
    walk(1, 0, leaves, static_cast<int>(end - lowers.begin()), lower, visitor);
  }

private:
  template <typename Visitor>
  void walk(int node, int first, int last, int end, int64_t lower,
            Visitor &visitor) const {
    if (first >= end || latest[node] <= lower)
      return;
    if (last - first == 1) {
      visitor(order[first]);
      return;
    }
    const int middle = (first + last) / 2;
    walk(2 * node, first, middle, end, lower, visitor);
    walk(2 * node + 1, middle, last, end, lower, visitor);
  }

  int leaves = 1;
  std::vector<int> order, placeOf; // rank -> piece, piece -> rank
  std::vector<int64_t> lowers, uppers;
  std::vector<int64_t> latest;
};

inline TimeIndex::TimeIndex(const Instance &instance, bool present)
    : order(sortedIndices(instance.pieces.size(),
                          [&](int a, int b) {
                            return instance.pieces[a].lower <
                                   instance.pieces[b].lower;
                          })),
      placeOf(instance.pieces.size()) {
  while (leaves < instance.pieceCount())
    leaves *= 2;
  latest.assign(2 * static_cast<size_t>(leaves), -1);
  for (int rank = 0; rank < instance.pieceCount(); ++rank) {
    const Piece &piece = instance.pieces[order[rank]];
    placeOf[order[rank]] = rank;
    lowers.push_back(piece.lower);
    uppers.push_back(piece.upper);
    if (present)
      latest[leaves + rank] = piece.upper;
  }
  for (int node = leaves - 1; node > 0; --node)
    latest[node] = std::max(latest[2 * node], latest[2 * node + 1]);
}

inline void TimeIndex::set(int piece, bool present) {
  int node = leaves + placeOf[piece];
  latest[node] = present ? uppers[placeOf[piece]] : -1;
  for (node /= 2; node > 0; node /= 2) {
    const int64_t value = std::max(latest[2 * node], latest[2 * node + 1]);
    if (latest[node] == value)
      break;
    latest[node] = value;
  }
}

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_TIMEINDEX_H
