// SPDX-License-Identifier: Apache-2.0
//
// The skyline pass around pinned items: a lazy heap and an index over time.

#include "Heuristics.h"
#include "TimeIndex.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace dlc::planning {

namespace {

/// The pinned pieces, which a moving item has to hop over.
class Obstacles {
public:
  explicit Obstacles(const Instance &instance);

  bool empty() const { return pins.empty(); }
  /// The least legal offset of the item that is not below `offset` and meets
  /// no pinned piece.
  int64_t hop(const Item &item, int64_t offset) const;

private:
  const Instance &instance;
  std::vector<int> pins; // pieces, by offset
};

Obstacles::Obstacles(const Instance &instance) : instance(instance) {
  auto bottom = [&](int p) {
    const Piece &piece = instance.pieces[p];
    return instance.items[piece.item].pin + piece.rel;
  };
  for (int p = 0; p < instance.pieceCount(); ++p)
    if (instance.items[instance.pieces[p].item].isPinned())
      pins.push_back(p);
  std::sort(pins.begin(), pins.end(), [&](int a, int b) {
    return std::pair(bottom(a), a) < std::pair(bottom(b), b);
  });
}

int64_t Obstacles::hop(const Item &item, int64_t offset) const {
  for (bool moved = !pins.empty(); moved;) {
    moved = false;
    for (const Piece &piece : instance.piecesOf(item)) {
      for (int p : pins) {
        const Piece &pin = instance.pieces[p];
        if (pin.lower >= piece.upper || piece.lower >= pin.upper)
          continue;
        const int64_t bottom =
            instance.items[pin.item].pin + pin.rel - piece.rel;
        if (offset < bottom + pin.size && offset + piece.size > bottom) {
          offset = item.roundUp(bottom + pin.size);
          moved = item.pieceCount > 1;
        }
      }
    }
  }
  return offset;
}

class PinnedSkyline {
public:
  PinnedSkyline(const Instance &instance, const std::vector<int> &order)
      : instance(instance), order(order), obstacles(instance),
        unplaced(instance, /*present=*/true), bounds(instance.items.size(), 0) {
  }

  Offsets run();

private:
  /// (bound when pushed, rank in the order). Bounds only rise, so an entry
  /// that proves stale is pushed again when it surfaces.
  using Entry = std::pair<int64_t, int>;

  void remove(const Item &item) {
    for (int k = 0; k < item.pieceCount; ++k)
      unplaced.set(item.firstPiece + k, false);
  }
  void raiseAround(const Item &item, int64_t offset);

  const Instance &instance;
  const std::vector<int> &order;
  Obstacles obstacles;
  TimeIndex unplaced;
  Offsets bounds;
};

Offsets PinnedSkyline::run() {
  std::vector<Entry> heap;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const Item &item = instance.items[order[rank]];
    bounds[order[rank]] = item.firstOffset();
    if (item.isPinned() || item.pieceCount == 0)
      remove(item);
    else
      heap.push_back({item.firstOffset(), static_cast<int>(rank)});
  }
  const auto later = std::greater<Entry>();
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    auto &[bound, rank] = heap.back();
    const int i = order[rank];
    const Item &item = instance.items[i];
    bounds[i] = obstacles.hop(item, bounds[i]);
    if (bounds[i] != bound) {
      bound = bounds[i];
      std::push_heap(heap.begin(), heap.end(), later);
      continue;
    }
    heap.pop_back();
    remove(item);
    raiseAround(item, bounds[i]);
  }
  return std::move(bounds);
}

/// Nothing unplaced may come below the tops of the item just placed.
void PinnedSkyline::raiseAround(const Item &item, int64_t offset) {
  for (const Piece &piece : instance.piecesOf(item)) {
    const int64_t top = offset + piece.rel + piece.size;
    unplaced.visit(piece.lower, piece.upper, [&](int q) {
      const Piece &other = instance.pieces[q];
      if (bounds[other.item] + other.rel < top)
        bounds[other.item] =
            instance.items[other.item].roundUp(top - other.rel);
    });
  }
}

} // namespace

Offsets skylinePinned(const Instance &instance, const std::vector<int> &order) {
  return PinnedSkyline(instance, order).run();
}

} // namespace dlc::planning
