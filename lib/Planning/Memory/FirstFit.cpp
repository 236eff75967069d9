// SPDX-License-Identifier: Apache-2.0
//
// First fit: the lowest free offset for each item in turn.

#include "Heuristics.h"
#include "TimeIndex.h"

#include <algorithm>

namespace dlc::planning {
namespace {

class FirstFit {
public:
  explicit FirstFit(const Instance &instance)
      : instance(instance), placed(instance, /*present=*/false),
        offsets(instance.items.size(), kUnplaced) {}

  Offsets run(const std::vector<int> &order) {
    for (int i : order)
      if (instance.items[i].isPinned())
        place(i, instance.items[i].pin);
    for (int i : order)
      if (!instance.items[i].isPinned())
        place(i, lowestFree(instance.items[i]));
    return std::move(offsets);
  }

private:
  void place(int i, int64_t offset) {
    offsets[i] = offset;
    const Item &item = instance.items[i];
    for (int k = 0; k < item.pieceCount; ++k)
      placed.set(item.firstPiece + k, true);
  }

  int64_t lowestFree(const Item &item) {
    // Each placed piece that meets a piece of the item forbids the offsets in
    // an open interval.
    forbidden.clear();
    for (const Piece &piece : instance.piecesOf(item))
      placed.visit(piece.lower, piece.upper, [&](int q) {
        const Piece &other = instance.pieces[q];
        const int64_t bottom = offsets[other.item] + other.rel - piece.rel;
        forbidden.push_back({bottom - piece.size, bottom + other.size});
      });
    std::sort(forbidden.begin(), forbidden.end());
    int64_t offset = item.firstOffset();
    for (auto [above, below] : forbidden) {
      if (offset <= above)
        break; // so are all the others: they are sorted
      if (offset < below)
        offset = item.roundUp(below);
    }
    return offset;
  }

  const Instance &instance;
  TimeIndex placed;
  Offsets offsets;
  std::vector<std::pair<int64_t, int64_t>> forbidden;
};

} // namespace

Offsets firstFit(const Instance &instance, const std::vector<int> &order) {
  return FirstFit(instance).run(order);
}

} // namespace dlc::planning
