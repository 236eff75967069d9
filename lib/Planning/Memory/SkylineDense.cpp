// SPDX-License-Identifier: Apache-2.0
//
// The skyline pass over flat arrays.

#include "SkylineDense.h"

#include <algorithm>

namespace dlc::planning {
namespace {

class DenseSkyline {
public:
  DenseSkyline(const Instance &instance, const std::vector<int> &order);

  Offsets run();

private:
  int size() const { return static_cast<int>(pieces.size()); }
  const Item &itemAt(int k) const {
    return instance.items[instance.pieces[pieces[k]].item];
  }
  int pickLowest() const;
  void place(int first);
  void raiseAround(const Piece &piece, int32_t lower, int32_t upper,
                   int64_t offset);
  void settle();
  void squeeze();

  const Instance &instance;
  Obstacles obstacles;
  Offsets offsets;
  int left = 0;      // items not placed
  int dead = 0;      // pieces placed but still in the arrays
  int64_t least = 0; // of all bounds
  bool plain = true; // no item has several pieces or needs rounding

  // Unplaced pieces, those of one item in a row, items in the given order.
  // Lives are ranks of times; a bound is one of the offset of the item.
  std::vector<int> pieces;
  std::vector<int32_t> lowers, uppers;
  std::vector<int64_t> rels, bounds;
};

DenseSkyline::DenseSkyline(const Instance &instance,
                           const std::vector<int> &order)
    : instance(instance), obstacles(instance),
      offsets(instance.items.size(), 0) {
  std::vector<int64_t> times;
  for (const Piece &piece : instance.pieces) {
    times.push_back(piece.lower);
    times.push_back(piece.upper);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  auto rankOf = [&](int64_t time) {
    return static_cast<int32_t>(
        std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  int64_t alignment = 1;
  for (int i : order) {
    const Item &item = instance.items[i];
    offsets[i] = item.firstOffset();
    if (item.isPinned() || item.pieceCount == 0)
      continue;
    ++left;
    alignment = std::max(alignment, item.alignment);
    plain &= item.pieceCount == 1 && item.phase == 0;
    for (int k = 0; k < item.pieceCount; ++k) {
      const Piece &piece = instance.pieces[item.firstPiece + k];
      pieces.push_back(item.firstPiece + k);
      lowers.push_back(rankOf(piece.lower));
      uppers.push_back(rankOf(piece.upper));
      rels.push_back(piece.rel);
      bounds.push_back(offsets[i]);
    }
  }
  for (int p : pieces)
    plain &=
        instance.pieces[p].size % alignment == 0 && instance.pieces[p].rel == 0;
  plain &= obstacles.empty();
}

Offsets DenseSkyline::run() {
  settle();
  while (left > 0) {
    const int first = pickLowest();
    const Item &item = itemAt(first);
    const int64_t offset = obstacles.hop(item, least);
    if (offset == least) {
      place(first);
      continue;
    }
    std::fill_n(bounds.begin() + first, item.pieceCount, offset);
    settle();
  }
  return std::move(offsets);
}

/// The first piece of the first item of least bound.
int DenseSkyline::pickLowest() const {
  int k = 0;
  while (bounds[k] != least)
    ++k;
  return k;
}

void DenseSkyline::place(int first) {
  const Item &item = itemAt(first);
  const int64_t offset = least;
  offsets[instance.pieces[pieces[first]].item] = offset;
  std::fill_n(bounds.begin() + first, item.pieceCount, kInfinity);
  --left;
  least = kInfinity;
  for (int k = first; k < first + item.pieceCount; ++k)
    raiseAround(instance.pieces[pieces[k]], lowers[k], uppers[k], offset);
  if (!plain)
    settle();
  dead += item.pieceCount;
  if (2 * dead > size())
    squeeze();
}

/// Lifts every bound that the placed piece stands in the way of.
void DenseSkyline::raiseAround(const Piece &piece, int32_t lower, int32_t upper,
                               int64_t offset) {
  const int64_t top = offset + piece.rel + piece.size;
  const int count = size();
  const int32_t *from = lowers.data(), *to = uppers.data();
  const int64_t *rel = rels.data();
  int64_t *bound = bounds.data();
  int64_t low = kInfinity;
  for (int k = 0; k < count; ++k) {
    const bool meets = (from[k] < upper) & (to[k] > lower);
    int64_t value = meets ? top - rel[k] : 0;
    value = bound[k] > value ? bound[k] : value;
    bound[k] = value;
    low = value < low ? value : low;
  }
  least = low;
}

/// Makes the bounds of one item agree and rounds them.
void DenseSkyline::settle() {
  least = kInfinity;
  for (int k = 0; k < size();) {
    const Item &item = itemAt(k);
    int64_t bound = bounds[k];
    for (int m = 1; m < item.pieceCount; ++m)
      bound = std::max(bound, bounds[k + m]);
    if (bound < kInfinity)
      bound = item.roundUp(bound);
    for (int m = 0; m < item.pieceCount; ++m)
      bounds[k + m] = bound;
    least = std::min(least, bound);
    k += item.pieceCount;
  }
}

/// Drops what has been placed.
void DenseSkyline::squeeze() {
  int kept = 0;
  for (int k = 0; k < size(); ++k) {
    if (bounds[k] >= kInfinity)
      continue;
    pieces[kept] = pieces[k];
    lowers[kept] = lowers[k];
    uppers[kept] = uppers[k];
    rels[kept] = rels[k];
    bounds[kept++] = bounds[k];
  }
  pieces.resize(kept);
  lowers.resize(kept);
  uppers.resize(kept);
  rels.resize(kept);
  bounds.resize(kept);
  dead = 0;
}

} // namespace

Offsets skylineDense(const Instance &instance, const std::vector<int> &order) {
  return DenseSkyline(instance, order).run();
}

} // namespace dlc::planning
