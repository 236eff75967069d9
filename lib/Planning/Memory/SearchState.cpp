// SPDX-License-Identifier: Apache-2.0
//
// Placing, raising and taking back in the valley search.

#include "SearchState.h"

#include <algorithm>
#include <numeric>

namespace dlc::planning {

SearchState::SearchState(const Instance &instance)
    : instance(instance), time(makeSections(instance)),
      members(planning::membersOf(time)) {
  for (const Piece &piece : instance.pieces) {
    sizes.push_back(piece.size);
    itemOf.push_back(piece.item);
  }
  itemFirst.assign(instance.items.size(), time.count);
  itemLast.assign(instance.items.size(), 0);
  for (int p = 0; p < instance.pieceCount(); ++p) {
    itemFirst[itemOf[p]] = std::min(itemFirst[itemOf[p]], time.first[p]);
    itemLast[itemOf[p]] = std::max(itemLast[itemOf[p]], time.last[p]);
  }
  // Offsets are sums of sizes and distances, rounded to alignments: multiples
  // of what divides them all.
  gridUnit = 0;
  for (const Piece &piece : instance.pieces)
    gridUnit = std::gcd(gridUnit, std::gcd(piece.size, piece.rel));
  for (const Item &item : instance.items) {
    singles.push_back(item.pieceCount == 1 && !item.isPinned());
    const int64_t rounding = item.alignment > 1 ? item.alignment : 0;
    gridUnit = std::gcd(std::gcd(gridUnit, item.span),
                        std::gcd(rounding, item.firstOffset()));
  }
  gridUnit = std::max<int64_t>(gridUnit, 1);
  findNeighbours();
}

void SearchState::findNeighbours() {
  neighbours.resize(instance.pieces.size());
  for (int s = 0; s < time.count; ++s)
    for (int p : members[s])
      for (int q : members[s])
        if (s == std::max(time.first[p], time.first[q]) &&
            itemOf[p] != itemOf[q])
          neighbours[p].push_back(q);
}

bool SearchState::reset(int64_t capacity) {
  limit = capacity / gridUnit * gridUnit;
  floating = 0;
  changes.clear();
  stack.clear();
  raised.clear();
  grounds.assign(instance.pieces.size(), 0);
  bounds.assign(instance.pieces.size(), 0);
  decided.assign(instance.items.size(), false);
  itemOffsets.assign(instance.items.size(), 0);
  floors.assign(time.count, -1); // makes settle() look at each section
  remaining.assign(time.count, 0);
  unplaced.assign(time.count, 0);
  crossing.assign(time.count + 1, 0);
  watched.assign(time.count, 0);
  for (int s = 0; s < time.count; ++s)
    watched[s] = members[s].front();
  bool ok = true;
  for (int i = 0; i < instance.itemCount(); ++i) {
    const Item &item = instance.items[i];
    itemOffsets[i] = item.firstOffset();
    ok &= itemOffsets[i] + item.span <= limit;
    for (int s = itemFirst[i] + 1; s < itemLast[i]; ++s)
      ++crossing[s];
    for (int k = 0; k < item.pieceCount; ++k) {
      const int p = item.firstPiece + k;
      bounds[p] = itemOffsets[i] + instance.pieces[p].rel;
      for (int s = time.first[p]; s < time.last[p]; ++s) {
        remaining[s] += sizes[p];
        ++unplaced[s];
      }
    }
  }
  for (int i = 0; i < instance.itemCount(); ++i)
    if (instance.items[i].isPinned())
      decide(i, true);
  for (int i = 0; ok && i < instance.itemCount(); ++i)
    if (instance.items[i].isPinned())
      ok = clearFloating(i);
  ok = ok && settle(0, time.count);
  changes.clear();
  return ok;
}

void SearchState::set(Field field, int index, int64_t value) {
  std::vector<int64_t> &values = field == Field::Bound    ? bounds
                                 : field == Field::Ground ? grounds
                                                          : floors;
  changes.push_back({field, index, values[index]});
  values[index] = value;
}

/// An undecided item ties together all the time between its pieces; a decided
/// one only that of each piece, until it is placed.
void SearchState::decide(int item, bool value) {
  const int sign = value ? 1 : -1;
  decided[item] = value;
  for (int s = itemFirst[item] + 1; s < itemLast[item]; ++s)
    crossing[s] -= sign;
  const Item &it = instance.items[item];
  for (int p = it.firstPiece; p < it.firstPiece + it.pieceCount; ++p)
    for (int s = time.first[p] + 1; s < time.last[p]; ++s)
      crossing[s] += sign;
  floating += sign * it.pieceCount;
}

void SearchState::markPlaced(int piece, int sign) {
  for (int s = time.first[piece]; s < time.last[piece]; ++s) {
    remaining[s] -= sign * sizes[piece];
    unplaced[s] -= sign;
  }
  for (int s = time.first[piece] + 1; s < time.last[piece]; ++s)
    crossing[s] -= sign;
  if (!isFree(piece))
    floating -= sign;
}

bool SearchState::place(int piece, int first, int last) {
  dead = -1;
  const int item = itemOf[piece];
  const int64_t top = bounds[piece] + sizes[piece];
  bool ok = true;
  if (!decided[item]) {
    itemOffsets[item] = bounds[piece] - instance.pieces[piece].rel;
    if (!isFree(piece)) {
      changes.push_back({Field::Decided, item, 0});
      decide(item, true);
      ok = clearFloating(item);
    }
  }
  set(Field::Bound, piece, kInfinity);
  stack.push_back(piece);
  markPlaced(piece, 1);
  for (int q : neighbours[piece]) {
    if (grounds[q] >= top || isPlaced(q))
      continue;
    set(Field::Ground, q, top);
    ok = ok && raise(q, top);
  }
  return ok && settle(first, last);
}

void SearchState::undo(const Mark &mark) {
  while (changes.size() > mark.changes) {
    const Change change = changes.back();
    changes.pop_back();
    switch (change.field) {
    case Field::Bound:
      bounds[change.index] = change.old;
      break;
    case Field::Ground:
      grounds[change.index] = change.old;
      break;
    case Field::Floor:
      floors[change.index] = change.old;
      break;
    case Field::Decided:
      decide(change.index, false);
      break;
    }
  }
  while (stack.size() > mark.placed) {
    markPlaced(stack.back(), -1);
    stack.pop_back();
  }
  raised.resize(mark.raised);
}

/// The bound of an unplaced piece becomes at least `least`.
bool SearchState::raise(int piece, int64_t least) {
  if (bounds[piece] >= least)
    return true;
  if (!isFree(piece) || floating > 0)
    return raiseItem(itemOf[piece], least - instance.pieces[piece].rel);
  const Item &item = instance.items[itemOf[piece]];
  const int64_t rel = instance.pieces[piece].rel;
  const int64_t offset = item.roundUp(least - rel);
  set(Field::Bound, piece, offset + rel);
  return offset + item.span <= limit;
}

bool SearchState::raiseItem(int item, int64_t least) {
  if (decided[item])
    return false; // it cannot move
  const Item &it = instance.items[item];
  const int64_t offset = pastFloating(item, it.roundUp(least));
  for (int p = it.firstPiece; p < it.firstPiece + it.pieceCount; ++p)
    set(Field::Bound, p, offset + instance.pieces[p].rel);
  return offset + it.span <= limit;
}

/// The least offset from `offset` on at which the item meets nothing floating.
int64_t SearchState::pastFloating(int item, int64_t offset) const {
  const Item &it = instance.items[item];
  for (bool moved = floating > 0; moved;) {
    moved = false;
    for (int p = it.firstPiece; p < it.firstPiece + it.pieceCount; ++p) {
      const int64_t rel = instance.pieces[p].rel;
      for (int q : neighbours[p]) {
        if (!isDecided(q) || isPlaced(q))
          continue;
        const int64_t low = bounds[q] - rel, high = low + sizes[q];
        if (offset < high && offset + sizes[p] > low) {
          offset = it.roundUp(high);
          moved = true;
        }
      }
    }
  }
  return offset;
}

/// The item has just been decided: what might have met it hops over.
bool SearchState::clearFloating(int item) {
  const Item &it = instance.items[item];
  for (int p = it.firstPiece; p < it.firstPiece + it.pieceCount; ++p) {
    const int64_t low = bounds[p], high = low + sizes[p];
    for (int q : neighbours[p])
      if (!isPlaced(q) && bounds[q] < high && bounds[q] + sizes[q] > low &&
          !raise(q, high))
        return false;
  }
  return true;
}

/// Brings the floors of [first, last) up to date and applies the bounds.
bool SearchState::settle(int first, int last) {
  for (int s = first; s < last; ++s) {
    if (floors[s] == kInfinity || bounds[watched[s]] == floors[s])
      continue;
    int64_t least = kInfinity;
    for (int p : members[s]) {
      if (bounds[p] < least) {
        least = bounds[p];
        watched[s] = p;
      }
    }
    set(Field::Floor, s, least);
    if (least < kInfinity && slack(s) < 0) {
      dead = s;
      return false;
    }
  }
  return !hasOpenGap();
}

/// Whether a piece kept off a floor fits in the gap it was kept out of: then
/// it could slide down, and the packing is found on another branch.
bool SearchState::hasOpenGap() const {
  for (int p : raised) {
    if (isPlaced(p))
      continue;
    const Item &item = instance.items[itemOf[p]];
    const int64_t rel = instance.pieces[p].rel;
    const int64_t rest = item.roundUp(grounds[p] - rel) + rel;
    if (bounds[p] <= rest)
      continue;
    bool fits = true;
    for (int s = time.first[p]; s < time.last[p] && fits; ++s)
      fits = floors[s] >= rest + sizes[p];
    if (fits)
      return true;
  }
  return false;
}

/// Kept off its floor, the item of the piece will rest on something that is
/// not placed yet, so not below the lowest top there can be. Bound of the
/// piece; kInfinity when there is nothing to rest on.
int64_t SearchState::restOf(int piece) const {
  const Item &item = instance.items[itemOf[piece]];
  const int64_t rel = instance.pieces[piece].rel;
  int64_t rest = kInfinity;
  for (int p = item.firstPiece; p < item.firstPiece + item.pieceCount; ++p)
    for (int q : neighbours[p])
      rest =
          std::min(rest, bounds[q] + sizes[q] - instance.pieces[p].rel + rel);
  // Beside other pieces of the item there may be lower floors, and tops below.
  return std::max(rest, bounds[piece] + gridUnit);
}

bool SearchState::rise(int section, int first, int last) {
  dead = -1;
  const int64_t floor = floors[section];
  for (int p : members[section]) {
    if (bounds[p] != floor)
      continue;
    if (isDecided(p))
      return false;
    const int64_t rest = restOf(p);
    if (isFree(p))
      raised.push_back(p);
    if (rest >= kInfinity / 2 || !raise(p, rest))
      return false;
  }
  return settle(first, last);
}

} // namespace dlc::planning
