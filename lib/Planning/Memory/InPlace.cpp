// SPDX-License-Identifier: Apache-2.0
//
// Decides which results take over the memory of an operand.

#include "dlc/Planning/Memory/InPlace.h"

#include "dlc/Planning/Memory/Solver.h"

#include "Instance.h"
#include "SortedIndices.h"

#include <algorithm>

namespace dlc::planning {
namespace {

/// A group of tied buffers while ties are added. Places are relative to an
/// arbitrary origin, so they may be negative.
struct Group {
  std::vector<size_t> members;
  int64_t alignment = 1; ///< The largest of the members,
  int64_t anchor = 0;    ///< and the place of one that asks for it.
  int64_t low = 0, high = 0;
  std::optional<int64_t> pin; ///< Offset of the origin.
};

class InPlaceDecider {
public:
  explicit InPlaceDecider(const Problem &problem) : problem(problem) {}

  bool init();
  /// Whether the tie is legal and the group it makes fits below the bound.
  bool isPossible(const InPlaceCandidate &candidate) const;
  void merge(const InPlaceCandidate &candidate);

private:
  const Buffer &buffer(size_t i) const { return problem.buffers[i]; }
  bool isTimely(const InPlaceCandidate &candidate) const;
  bool mayShare(const Group &before, const Group &after, int64_t shift,
                int64_t step) const;
  int64_t shiftOf(const InPlaceCandidate &candidate) const {
    return places[candidate.operand] - places[candidate.result];
  }
  bool clashesWithPins(const Group &merged, size_t second, int64_t shift) const;
  bool fits(const Group &merged) const;
  static std::optional<Group> join(const Group &before, const Group &after,
                                   int64_t shift);

  const Problem &problem;
  int64_t bound = 0;
  std::vector<Group> groups;
  std::vector<size_t> groupOf; // per buffer
  std::vector<int64_t> places; // per buffer, from the origin of its group
};

bool InPlaceDecider::init() {
  Instance instance;
  if (buildInstance(problem, instance))
    return false;
  bound = lowerBound(instance);
  groups.resize(instance.items.size());
  groupOf.assign(instance.itemOf.begin(), instance.itemOf.end());
  places = instance.relOf;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    Group &group = groups[groupOf[i]];
    const Item &item = instance.items[groupOf[i]];
    group.members.push_back(i);
    group.alignment = item.alignment;
    group.anchor = -item.phase; // congruent is as good as equal
    group.high = item.span;
    if (item.isPinned())
      group.pin = item.pin;
  }
  return true;
}

/// Whether the operand lives up to the operation, and the result from it.
bool InPlaceDecider::isTimely(const InPlaceCandidate &candidate) const {
  const Buffer &operand = buffer(candidate.operand);
  const Buffer &result = buffer(candidate.result);
  const int64_t step = candidate.step;
  return operand.lower <= step &&
         (operand.upper == step || operand.upper - 1 == step) &&
         (result.lower == step || result.lower - 1 == step);
}

/// Buffers of the two groups may share bytes one after the other; at the same
/// time only during the operation.
bool InPlaceDecider::mayShare(const Group &before, const Group &after,
                              int64_t shift, int64_t step) const {
  for (size_t a : before.members) {
    for (size_t b : after.members) {
      const int64_t low = places[b] + shift;
      const bool sameBytes =
          places[a] < low + buffer(b).size && low < places[a] + buffer(a).size;
      const bool sameTime = buffer(a).lower < buffer(b).upper &&
                            buffer(b).lower < buffer(a).upper;
      const bool handsOver =
          buffer(a).upper - 1 <= step && buffer(b).lower >= step;
      if (sameBytes && sameTime && !handsOver)
        return false;
    }
  }
  return true;
}

/// The group of both, in places of the first; nothing when alignments or pins
/// contradict each other. Members of the second are not yet moved.
std::optional<Group> InPlaceDecider::join(const Group &before,
                                          const Group &after, int64_t shift) {
  const int64_t anchor = after.anchor + shift;
  const int64_t common = std::min(before.alignment, after.alignment);
  if ((before.anchor - anchor) % common != 0)
    return std::nullopt;
  Group merged;
  merged.alignment = std::max(before.alignment, after.alignment);
  merged.anchor = before.alignment >= after.alignment ? before.anchor : anchor;
  merged.low = std::min(before.low, after.low + shift);
  merged.high = std::max(before.high, after.high + shift);
  merged.pin = before.pin;
  if (after.pin) {
    const int64_t pin = *after.pin - shift;
    if (merged.pin && *merged.pin != pin)
      return std::nullopt;
    merged.pin = pin;
  }
  if (merged.pin && (*merged.pin + merged.low < 0 ||
                     (*merged.pin + merged.anchor) % merged.alignment != 0))
    return std::nullopt;
  merged.members = before.members;
  merged.members.insert(merged.members.end(), after.members.begin(),
                        after.members.end());
  return merged;
}

/// Whether the group, placed at its pin, meets another pinned buffer. The
/// members of group `second` are not yet moved.
bool InPlaceDecider::clashesWithPins(const Group &merged, size_t second,
                                     int64_t shift) const {
  if (!merged.pin)
    return false;
  std::vector<char> isMember(problem.buffers.size(), false);
  for (size_t m : merged.members)
    isMember[m] = true;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Group &group = groups[groupOf[i]];
    if (isMember[i] || !group.pin)
      continue;
    const int64_t low = *group.pin + places[i];
    for (size_t m : merged.members) {
      const int64_t own =
          *merged.pin + places[m] + (groupOf[m] == second ? shift : 0);
      if (own < low + buffer(i).size && low < own + buffer(m).size &&
          buffer(m).lower < buffer(i).upper &&
          buffer(i).lower < buffer(m).upper)
        return true;
    }
  }
  return false;
}

/// Whether the group ends below the bound when it is alone.
bool InPlaceDecider::fits(const Group &merged) const {
  if (merged.pin)
    return *merged.pin + merged.high <= bound;
  const int64_t anchor = merged.anchor - merged.low; // from the bottom
  const int64_t phase =
      (merged.alignment - anchor % merged.alignment) % merged.alignment;
  return phase + merged.high - merged.low <= bound;
}

bool InPlaceDecider::isPossible(const InPlaceCandidate &candidate) const {
  const size_t operand = candidate.operand, result = candidate.result;
  const size_t first = groupOf[operand], second = groupOf[result];
  if (first == second || buffer(operand).size == 0 ||
      buffer(result).size == 0 || !isTimely(candidate))
    return false;
  const int64_t shift = shiftOf(candidate);
  if (!mayShare(groups[first], groups[second], shift, candidate.step))
    return false;
  const std::optional<Group> merged =
      join(groups[first], groups[second], shift);
  return merged && fits(*merged) && !clashesWithPins(*merged, second, shift);
}

void InPlaceDecider::merge(const InPlaceCandidate &candidate) {
  const size_t first = groupOf[candidate.operand];
  const size_t second = groupOf[candidate.result];
  const int64_t shift = shiftOf(candidate);
  groups[first] = *join(groups[first], groups[second], shift);
  for (size_t m : groups[second].members) {
    places[m] += shift;
    groupOf[m] = first;
  }
  groups[second] = {};
}

} // namespace

namespace {

std::vector<Alias> decide(const Problem &problem,
                          const std::vector<InPlaceCandidate> &candidates,
                          int64_t bound, bool checkEach) {
  std::vector<Alias> accepted;
  const size_t n = problem.buffers.size();
  InPlaceDecider decider(problem);
  if (!decider.init())
    return accepted;
  Problem tied = problem;
  auto isInRange = [&](const InPlaceCandidate &candidate) {
    return candidate.operand < n && candidate.result < n;
  };
  auto keyOf = [&](int k) {
    if (!isInRange(candidates[k]))
      return std::pair(true, int64_t{1}); // last
    const int64_t from = problem.buffers[candidates[k].operand].size;
    const int64_t to = problem.buffers[candidates[k].result].size;
    return std::pair(from != to, -std::min(from, to));
  };
  for (int k : sortedIndices(candidates.size(), [&](int a, int b) {
         return keyOf(a) < keyOf(b);
       })) {
    const InPlaceCandidate &candidate = candidates[k];
    const Alias alias{candidate.result, candidate.operand, /*delta=*/0};
    if (!isInRange(candidate) || !decider.isPossible(candidate))
      continue;
    if (checkEach) {
      tied.aliases.push_back(alias);
      if (lowerBound(tied) > bound) {
        tied.aliases.pop_back();
        continue;
      }
    }
    decider.merge(candidate);
    accepted.push_back(alias);
  }
  return accepted;
}

} // namespace

std::vector<Alias>
decideInPlace(const Problem &problem,
              const std::vector<InPlaceCandidate> &candidates) {
  const int64_t bound = lowerBound(problem);
  std::vector<Alias> accepted =
      decide(problem, candidates, bound, /*checkEach=*/false);
  Problem tied = problem;
  tied.aliases.insert(tied.aliases.end(), accepted.begin(), accepted.end());
  // Ties pass alignment on to the whole group, which may cost bytes elsewhere.
  // That is rare, so it is looked for at the end, and only then for each.
  if (lowerBound(tied) <= bound)
    return accepted;
  return decide(problem, candidates, bound, /*checkEach=*/true);
}

} // namespace dlc::planning
