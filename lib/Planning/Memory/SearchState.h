// SPDX-License-Identifier: Apache-2.0
//
// The state of the valley search: what is placed, what that implies for the
// rest, and how to take it back.

#ifndef DLC_LIB_PLANNING_MEMORY_SEARCHSTATE_H
#define DLC_LIB_PLANNING_MEMORY_SEARCHSTATE_H

#include "Heuristics.h"
#include "Sections.h"

namespace dlc::planning {

/// A partial packing with the bounds it implies.
///
/// Pieces are placed one at a time. Placing the first piece of an item decides
/// the item; its other pieces then float: they stand at a known offset but are
/// not placed, since there may be room below them. That treats alias groups
/// exactly, whatever their shape. A pinned item is one decided at the start.
///
/// Bounds are offsets of pieces (not of items): those of one item differ by
/// their `rel` and move together.
class SearchState {
public:
  explicit SearchState(const Instance &instance);

  /// Starts over for a packing of at most `capacity` bytes; false when there
  /// is none.
  bool reset(int64_t capacity);

  /// Puts the piece at its bound. Like all functions that return bool, false
  /// means that no packing extends the state. Only sections [first, last),
  /// the part being solved, are brought up to date.
  bool place(int piece, int first, int last);

  /// The floor of the section is wasted: nothing of it starts there.
  bool rise(int section, int first, int last);

  struct Mark {
    size_t changes, placed, raised;
  };
  Mark mark() const { return {changes.size(), stack.size(), raised.size()}; }
  void undo(const Mark &mark);

  /// Bound of a piece not placed; kInfinity once it is.
  int64_t bound(int piece) const { return bounds[piece]; }
  bool isPlaced(int piece) const { return bounds[piece] == kInfinity; }
  /// Top of what is placed under the piece.
  int64_t ground(int piece) const { return grounds[piece]; }
  bool isDecided(int piece) const { return decided[itemOf[piece]]; }
  /// Least bound of the section's unplaced pieces; kInfinity without any.
  int64_t floor(int section) const { return floors[section]; }
  /// Bytes left in the section above its floor once all its pieces are placed.
  int64_t slack(int section) const {
    return limit - floors[section] - remaining[section];
  }
  int unplacedIn(int section) const { return unplaced[section]; }
  /// Whether something undecided or unplaced lives across the start of the
  /// section, which ties the two sides together.
  bool isCrossed(int section) const { return crossing[section] > 0; }

  /// Offsets per item; call when all pieces are placed.
  Offsets offsets() const { return itemOffsets; }

  const Sections &sections() const { return time; }
  const std::vector<int> &membersOf(int section) const {
    return members[section];
  }
  /// Divides every offset and top that needs to be considered.
  int64_t unit() const { return gridUnit; }
  int64_t size(int piece) const { return sizes[piece]; }
  /// The section that proved a dead end in the last call, or -1.
  int deadSection() const { return dead; }

private:
  enum class Field : int { Bound, Ground, Floor, Decided };
  struct Change {
    Field field;
    int index;
    int64_t old;
  };

  void findNeighbours();
  bool isFree(int piece) const { return singles[itemOf[piece]]; }
  void set(Field field, int index, int64_t value);
  void decide(int item, bool value);
  void markPlaced(int piece, int sign);
  bool raise(int piece, int64_t least);
  bool raiseItem(int item, int64_t least);
  int64_t pastFloating(int item, int64_t offset) const;
  bool clearFloating(int item);
  bool settle(int first, int last);
  bool hasOpenGap() const;
  int64_t restOf(int piece) const;

  const Instance &instance;
  const Sections time;
  const std::vector<std::vector<int>> members;
  int64_t gridUnit = 1;
  int64_t limit = 0; // capacity, rounded down to the unit
  int dead = -1;
  int floating = 0; // pieces decided but not placed

  // Per piece.
  std::vector<std::vector<int>> neighbours; // of other items, live together
  std::vector<int64_t> sizes, bounds, grounds;
  std::vector<int> itemOf;
  // Per item. `singles`: one piece and no pin, the common and fast case.
  std::vector<char> singles, decided;
  std::vector<int> itemFirst, itemLast; // sections
  Offsets itemOffsets;
  // Per section. watched: a member whose bound was the floor; while it stands
  // the floor stands, for bounds only rise.
  std::vector<int64_t> floors, remaining;
  std::vector<int> unplaced, crossing, watched;

  std::vector<Change> changes; // to undo
  std::vector<int> stack;      // pieces placed, in order
  std::vector<int> raised;     // pieces kept off a floor
};

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_SEARCHSTATE_H
