// SPDX-License-Identifier: Apache-2.0
//
// The valley search: restarts, branching, and the memory of dead ends.

#include "ValleySearch.h"

#include "Random.h"
#include "SortedIndices.h"

#include <algorithm>
#include <tuple>

namespace dlc::planning {
namespace {

constexpr size_t kDeadEndSlots = size_t{1} << 18;
constexpr int64_t kFirstSlice = 2'000; // nodes of the first descents
constexpr double kSliceGrowth = 1.5;   // from one round to the next

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185ull;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44dull;
  return x ^ (x >> 33);
}

} // namespace

ValleySearch::ValleySearch(const Instance &instance, uint64_t seed)
    : instance(instance), state(instance), seed(seed) {
  const Sections &time = state.sections();
  weights.assign(time.count, 1.0);
  startingAt.resize(time.count);
  loads.assign(instance.pieces.size(), 0);
  for (int s = 0; s < time.count; ++s) {
    int64_t load = 0;
    for (int p : state.membersOf(s))
      load += state.size(p);
    for (int p : state.membersOf(s))
      loads[p] = std::max(loads[p], load);
  }
  for (int p = 0; p < instance.pieceCount(); ++p)
    startingAt[time.first[p]].push_back(p);
  classify();
}

/// Finds pieces that may stand for each other: only one of them needs trying.
void ValleySearch::classify() {
  const Sections &time = state.sections();
  auto keyOf = [&](int p) {
    const Piece &piece = instance.pieces[p];
    const Item &item = instance.items[piece.item];
    const bool alone = item.pieceCount == 1 && !item.isPinned();
    return std::make_tuple(time.first[p], time.last[p], piece.size, piece.rel,
                           item.alignment, item.phase, item.span,
                           alone ? -1 : p);
  };
  const std::vector<int> order =
      sortedIndices(instance.pieces.size(),
                    [&](int a, int b) { return keyOf(a) < keyOf(b); });
  classes.resize(order.size());
  for (size_t k = 0; k < order.size(); ++k)
    classes[order[k]] = k > 0 && keyOf(order[k]) == keyOf(order[k - 1])
                            ? classes[order[k - 1]]
                            : order[k];
}

/// Ranks the pieces for the current value order; every round but the first
/// adds noise.
void ValleySearch::rankPieces(uint64_t round) {
  Random random(seed + round * 1000003u);
  std::vector<std::array<double, 3>> keys;
  keys.reserve(instance.pieces.size());
  for (int p = 0; p < instance.pieceCount(); ++p) {
    const Piece &piece = instance.pieces[p];
    const auto width = static_cast<double>(piece.upper - piece.lower);
    const auto area = width * static_cast<double>(piece.size);
    const auto load = static_cast<double>(loads[p]);
    const double noise = round == 0 ? 1.0 : 0.85 + 0.3 * random.unit();
    switch (valueOrder) {
    case ValueOrder::Width:
      keys.push_back({width * noise, area, load});
      break;
    case ValueOrder::LoadArea:
      keys.push_back({load, area * noise, width});
      break;
    case ValueOrder::LoadWidth:
      keys.push_back({load, width * noise, area});
      break;
    case ValueOrder::Flush:
      keys.push_back({area * noise, load, width});
      break;
    }
  }
  const std::vector<int> order = sortedIndices(
      keys.size(), [&](int a, int b) { return keys[a] > keys[b]; });
  ranks.resize(order.size());
  for (size_t k = 0; k < order.size(); ++k)
    ranks[order[k]] = static_cast<int>(k);
}

SearchResult ValleySearch::run(int64_t capacity, int64_t nodeBudget) {
  nodes = 0;
  if (!state.reset(capacity))
    return SearchResult::Infeasible;
  deadEnds.assign(kDeadEndSlots, 0);
  std::fill(weights.begin(), weights.end(), 1.0);
  auto slice = static_cast<double>(
      std::max<int64_t>(kFirstSlice, 4 * instance.pieceCount()));
  const SearchState::Mark start = state.mark();
  for (uint64_t round = 0;; ++round) {
    for (int order = 0; order < kValueOrders; ++order) {
      valueOrder = static_cast<ValueOrder>(order);
      rankPieces(round);
      nodeLimit = std::min(nodeBudget, nodes + static_cast<int64_t>(slice));
      for (double &weight : weights)
        weight = 1.0 + (weight - 1.0) / 2; // old failures fade
      switch (descend()) {
      case Descent::Found:
        return SearchResult::Found;
      case Descent::Exhausted:
        return SearchResult::Infeasible;
      case Descent::OutOfSteps:
        break;
      }
      state.undo(start);
      if (nodes >= nodeBudget)
        return SearchResult::OutOfSteps;
    }
    slice *= kSliceGrowth;
  }
}

/// Depth-first search without recursion. The bottom frame stands for the whole
/// of time; it has no options of its own.
ValleySearch::Descent ValleySearch::descend() {
  frames.clear();
  candidatePool.clear();
  partPool.clear();
  frames.emplace_back();
  splitIntoParts({0, state.sections().count});
  while (true) {
    Frame &frame = frames.back();
    if (frame.nextPart == partPool.size()) { // all parts are solved
      if (frames.size() == 1)
        return Descent::Found;
      popFrame(/*failed=*/false);
      continue;
    }
    if (nodes >= nodeLimit)
      return Descent::OutOfSteps;
    ++nodes;
    bool alive = pushFrame(partPool[frame.nextPart]);
    while (!alive && frames.size() > 1) {
      alive = tryNextOption(frames.back());
      if (!alive)
        popFrame(/*failed=*/true);
    }
    if (!alive)
      return Descent::Exhausted;
  }
}

/// Opens the branch of a part and takes its first option; false when the part
/// has no packing.
bool ValleySearch::pushFrame(Part part) {
  const uint64_t key = stateKey(part);
  if (isKnownDeadEnd(key))
    return false;
  Frame frame;
  frame.part = part;
  frame.key = key;
  choose(frame);
  frame.candidates = candidatePool.size();
  for (int p : state.membersOf(frame.section))
    if (state.bound(p) == state.floor(frame.section))
      candidatePool.push_back(p);
  frame.candidatesEnd = candidatePool.size();
  frame.parts = partPool.size();
  frame.mark = state.mark();
  orderCandidates(frame);
  frames.push_back(frame);
  return tryNextOption(frames.back());
}

void ValleySearch::popFrame(bool failed) {
  const Frame frame = frames.back();
  frames.pop_back();
  candidatePool.resize(frame.candidates);
  partPool.resize(frame.parts);
  if (!failed) {
    ++frames.back().nextPart;
    return;
  }
  blame(frame.section);
  deadEnds[frame.key % kDeadEndSlots] = frame.key;
}

/// Takes back the option under way and applies the next that is not at once a
/// dead end; false, with the state as it was before, when none is left.
bool ValleySearch::tryNextOption(Frame &frame) {
  state.undo(frame.mark);
  partPool.resize(frame.parts);
  const size_t count = frame.candidatesEnd - frame.candidates;
  while (frame.next < count + frame.mayRise) {
    const size_t k = frame.next++;
    bool alive = false;
    if (k == count)
      alive = state.rise(frame.section, frame.part.first, frame.part.last);
    else if (isTwinOfEarlier(frame, k))
      continue;
    else
      alive = state.place(candidatePool[frame.candidates + k], frame.part.first,
                          frame.part.last);
    if (alive) {
      splitIntoParts(frame.part);
      frame.nextPart = frame.parts;
      return true;
    }
    blame(state.deadSection());
    state.undo(frame.mark);
  }
  return false;
}

/// Where nothing ties the time before a section to the time after it, the two
/// sides are solved apart, so that a failure of one never repeats the other.
void ValleySearch::splitIntoParts(Part part) {
  const size_t begin = partPool.size();
  for (int first = part.first, last = first; first < part.last; first = last) {
    last = first + 1;
    int unplaced = state.unplacedIn(first);
    while (last < part.last && state.isCrossed(last))
      unplaced = std::max(unplaced, state.unplacedIn(last++));
    if (unplaced > 0)
      partPool.push_back({first, last});
  }
  // Short ones fail soonest.
  std::sort(partPool.begin() + static_cast<ptrdiff_t>(begin), partPool.end(),
            [](const Part &a, const Part &b) {
              return std::pair(a.last - a.first, a.first) <
                     std::pair(b.last - b.first, b.first);
            });
}

/// Picks the valley section with fewest options, weighted by past failures.
void ValleySearch::choose(Frame &frame) {
  const auto [first, last] = frame.part;
  double bestScore = 0;
  bool found = false;
  for (int begin = first, end = first; begin < last; begin = end) {
    const int64_t floor = state.floor(begin);
    while (end < last && state.floor(end) == floor)
      ++end;
    if (floor == kInfinity ||
        (begin > first && state.floor(begin - 1) < floor) ||
        (end < last && state.floor(end) < floor))
      continue; // not a valley
    for (int s = begin; s < end; ++s) {
      const bool mayRise = state.slack(s) > 0;
      int options = mayRise;
      for (int p : state.membersOf(s))
        options += state.bound(p) == floor;
      const double score = options / weights[s];
      if (found && score >= bestScore)
        continue;
      found = true;
      bestScore = score;
      frame.section = s;
      frame.mayRise = mayRise;
      if (options <= 1)
        return;
    }
  }
}

void ValleySearch::orderCandidates(const Frame &frame) {
  const Sections &time = state.sections();
  const auto [first, last] = frame.part;
  const int64_t floor = state.floor(frame.section);
  // Sides on which the new top would be level with a neighbouring floor.
  auto flushSides = [&](int p) {
    const int64_t top = floor + state.size(p);
    const int before = time.first[p] - 1, after = time.last[p];
    return (before >= first && state.floor(before) == top) +
           (after < last && state.floor(after) == top);
  };
  const auto begin = candidatePool.begin();
  std::sort(begin + static_cast<ptrdiff_t>(frame.candidates),
            begin + static_cast<ptrdiff_t>(frame.candidatesEnd),
            [&](int a, int b) {
              if (valueOrder == ValueOrder::Flush)
                if (int x = flushSides(a), y = flushSides(b); x != y)
                  return x > y;
              return ranks[a] < ranks[b];
            });
}

bool ValleySearch::isTwinOfEarlier(const Frame &frame, size_t k) const {
  const int *candidates = candidatePool.data() + frame.candidates;
  for (size_t m = 0; m < k; ++m)
    if (classes[candidates[m]] == classes[candidates[k]])
      return true;
  return false;
}

/// A key of all that decides whether the part can be solved. Two states may
/// share a key, with odds of 2^-64: a packing could then be missed, or a proof
/// be wrong; never is a packing wrong.
uint64_t ValleySearch::stateKey(Part part) const {
  uint64_t key = mix((static_cast<uint64_t>(part.first) << 32 |
                      static_cast<uint64_t>(part.last)) +
                     1);
  for (int s = part.first; s < part.last; ++s) {
    for (int p : startingAt[s]) {
      if (state.isPlaced(p))
        continue;
      uint64_t own =
          mix(2 * static_cast<uint64_t>(classes[p]) + state.isDecided(p) + 1);
      own = mix(own + static_cast<uint64_t>(state.bound(p)));
      key += mix(own + static_cast<uint64_t>(state.ground(p)));
    }
  }
  return key ? key : 1; // 0 marks an empty slot
}

bool ValleySearch::isKnownDeadEnd(uint64_t key) const {
  return deadEnds[key % kDeadEndSlots] == key;
}

} // namespace dlc::planning
