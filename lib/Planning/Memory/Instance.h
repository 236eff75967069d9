// SPDX-License-Identifier: Apache-2.0
//
// The solver's view of a problem: alias groups become items, and each item is
// the exact union of its buffers' lives, cut into rectangles ("pieces").

#ifndef DLC_LIB_PLANNING_MEMORY_INSTANCE_H
#define DLC_LIB_PLANNING_MEMORY_INSTANCE_H

#include "dlc/Planning/Memory/Problem.h"

#include <span>

namespace dlc::planning {

/// Larger than any offset; sums of two stay in range.
inline constexpr int64_t kInfinity = INT64_MAX / 4;
/// No offset yet.
inline constexpr int64_t kUnplaced = -1;

inline int64_t alignUp(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// A rectangle: `size` bytes at the item's offset + rel during [lower, upper).
/// Pieces of one item never meet.
struct Piece {
  int64_t lower = 0, upper = 0;
  int64_t rel = 0, size = 0;
  int item = 0;
};

/// An alias group, most often a single buffer.
struct Item {
  int64_t alignment = 1;   ///< A power of two.
  int64_t phase = 0;       ///< The offset is congruent to it mod alignment.
  int64_t span = 0;        ///< Highest end of any member, from the offset.
  int64_t pin = kUnplaced; ///< The only offset allowed, or kUnplaced.
  int firstPiece = 0, pieceCount = 0;

  bool isPinned() const { return pin != kUnplaced; }
  /// The least legal offset that is not below `value`.
  int64_t roundUp(int64_t value) const {
    return ((value - phase + alignment - 1) & -alignment) + phase;
  }
  /// The least offset before any other item is considered.
  int64_t firstOffset() const { return isPinned() ? pin : phase; }
};

struct Instance {
  std::vector<Item> items;
  /// Those of one item are consecutive, by `rel`, then by `lower`.
  std::vector<Piece> pieces;
  std::vector<int> itemOf;    ///< Per buffer.
  std::vector<int64_t> relOf; ///< Per buffer: its offset less its item's.

  int itemCount() const { return static_cast<int>(items.size()); }
  int pieceCount() const { return static_cast<int>(pieces.size()); }
  std::span<const Piece> piecesOf(const Item &item) const {
    return {pieces.data() + item.firstPiece,
            static_cast<size_t>(item.pieceCount)};
  }
};

/// Checks the problem and builds its instance; the error is that of
/// checkProblem(), and the instance is then unspecified.
[[nodiscard]] Error buildInstance(const Problem &problem, Instance &instance);

/// Highest end of any item.
int64_t heightOf(const Instance &instance, std::span<const int64_t> offsets);

/// See lowerBound(const Problem &).
int64_t lowerBound(const Instance &instance);

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_INSTANCE_H
