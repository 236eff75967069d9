// SPDX-License-Identifier: Apache-2.0
//
// From buffers and aliases to items and pieces.

#include "Instance.h"

#include "BufferChecks.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dlc::planning {
namespace {

using Interval = std::pair<int64_t, int64_t>; // [low, high), from the item

/// Sorts the intervals and joins those that meet or touch.
void makeUnion(std::vector<Interval> &intervals) {
  std::sort(intervals.begin(), intervals.end());
  size_t kept = 0;
  for (size_t k = 0; k < intervals.size(); ++k) {
    if (kept > 0 && intervals[k].first <= intervals[kept - 1].second)
      intervals[kept - 1].second =
          std::max(intervals[kept - 1].second, intervals[k].second);
    else
      intervals[kept++] = intervals[k];
  }
  intervals.resize(kept);
}

class InstanceBuilder {
public:
  InstanceBuilder(const Problem &problem, Instance &instance)
      : problem(problem), instance(instance) {}

  Error build();

private:
  const Buffer &buffer(size_t i) const { return problem.buffers[i]; }
  std::string name(size_t i) const { return quotedId(buffer(i)); }

  Error collectGroup(size_t root);
  Error alignGroup(Item &item);
  Error pinGroup(Item &item);
  void cutGroup(Item &item);
  void addPiece(Item &item, int64_t lower, int64_t upper, Interval bytes);
  Error checkPinnedClash() const;

  const Problem &problem;
  Instance &instance;
  /// Per buffer: (other buffer, offset(other) - offset(buffer)).
  std::vector<std::vector<std::pair<size_t, int64_t>>> ties;
  std::vector<size_t> members; // of the group being built
};

Error InstanceBuilder::build() {
  if (Error error = checkBuffers(problem))
    return error;
  const size_t n = problem.buffers.size();
  ties.resize(n);
  for (const Alias &alias : problem.aliases) {
    ties[alias.base].push_back({alias.view, alias.delta});
    ties[alias.view].push_back({alias.base, -alias.delta});
  }
  instance = {};
  instance.itemOf.assign(n, -1);
  instance.relOf.assign(n, 0);
  for (size_t root = 0; root < n; ++root) {
    if (instance.itemOf[root] >= 0)
      continue;
    Item item;
    item.firstPiece = instance.pieceCount();
    if (Error error = collectGroup(root))
      return error;
    if (Error error = alignGroup(item))
      return error;
    if (Error error = pinGroup(item))
      return error;
    cutGroup(item);
    instance.items.push_back(item);
  }
  return checkPinnedClash();
}

/// Finds the group of `root` and the place of each member from it.
Error InstanceBuilder::collectGroup(size_t root) {
  const int item = instance.itemCount();
  members.assign(1, root);
  instance.itemOf[root] = item;
  for (size_t k = 0; k < members.size(); ++k) {
    const size_t from = members[k];
    for (auto [to, delta] : ties[from]) {
      const int64_t rel = instance.relOf[from] + delta;
      if (instance.itemOf[to] < 0) {
        instance.itemOf[to] = item;
        instance.relOf[to] = rel;
        members.push_back(to);
      } else if (instance.relOf[to] != rel) {
        return "aliases contradict each other: expected buffer " + name(to) +
               " at " + std::to_string(rel) + " from buffer " + name(root) +
               ", got " + std::to_string(instance.relOf[to]);
      }
    }
  }
  int64_t lowest = 0;
  for (size_t m : members)
    lowest = std::min(lowest, instance.relOf[m]);
  for (size_t m : members)
    instance.relOf[m] -= lowest;
  return std::nullopt;
}

/// Alignments are powers of two, so the largest decides for all the others.
Error InstanceBuilder::alignGroup(Item &item) {
  size_t anchor = members.front();
  for (size_t m : members) {
    if (buffer(m).alignment > buffer(anchor).alignment)
      anchor = m;
    item.span = std::max(item.span, instance.relOf[m] + buffer(m).size);
  }
  for (size_t m : members)
    if ((instance.relOf[m] - instance.relOf[anchor]) % buffer(m).alignment)
      return "aliases place buffer " + name(m) + " off its alignment of " +
             std::to_string(buffer(m).alignment);
  item.alignment = buffer(anchor).alignment;
  item.phase =
      alignUp(instance.relOf[anchor], item.alignment) - instance.relOf[anchor];
  return std::nullopt;
}

Error InstanceBuilder::pinGroup(Item &item) {
  for (size_t m : members) {
    if (!buffer(m).pinnedOffset)
      continue;
    const int64_t pin = *buffer(m).pinnedOffset - instance.relOf[m];
    if (item.isPinned() && item.pin != pin)
      return "pinned offset " + std::to_string(*buffer(m).pinnedOffset) +
             " of buffer " + name(m) + " contradicts its aliases, expected " +
             std::to_string(item.pin + instance.relOf[m]);
    if (pin < 0)
      return "pinned offset of buffer " + name(m) +
             " places one of its aliases below offset 0";
    if (item.roundUp(pin) != pin)
      return "pinned offset of buffer " + name(m) +
             " places one of its aliases off its alignment";
    item.pin = pin;
  }
  return std::nullopt;
}

void InstanceBuilder::addPiece(Item &item, int64_t lower, int64_t upper,
                               Interval bytes) {
  instance.pieces.push_back({lower, upper, bytes.first,
                             bytes.second - bytes.first, instance.itemCount()});
  ++item.pieceCount;
}

/// Sweeps over time and cuts the union of the members' lives into rectangles,
/// each as long as its bytes stay the same.
void InstanceBuilder::cutGroup(Item &item) {
  if (members.size() == 1) {
    const Buffer &only = buffer(members.front());
    if (only.size > 0)
      addPiece(item, only.lower, only.upper, {0, only.size});
    return;
  }
  std::vector<std::tuple<int64_t, bool, size_t>> events; // time, starts, member
  for (size_t m : members) {
    if (buffer(m).size == 0)
      continue;
    events.emplace_back(buffer(m).lower, true, m);
    events.emplace_back(buffer(m).upper, false, m);
  }
  std::sort(events.begin(), events.end());
  std::vector<size_t> live;
  std::map<Interval, int64_t> open; // bytes -> since when
  std::vector<Interval> now;
  for (size_t k = 0; k < events.size();) {
    const int64_t time = std::get<0>(events[k]);
    for (; k < events.size() && std::get<0>(events[k]) == time; ++k) {
      const auto [at, starts, m] = events[k];
      if (starts)
        live.push_back(m);
      else
        live.erase(std::find(live.begin(), live.end(), m));
    }
    now.clear();
    for (size_t m : live)
      now.push_back({instance.relOf[m], instance.relOf[m] + buffer(m).size});
    makeUnion(now);
    for (auto it = open.begin(); it != open.end();) {
      if (std::binary_search(now.begin(), now.end(), it->first)) {
        ++it;
        continue;
      }
      addPiece(item, it->second, time, it->first);
      it = open.erase(it);
    }
    for (const Interval &bytes : now)
      open.try_emplace(bytes, time);
  }
  std::sort(instance.pieces.begin() + item.firstPiece, instance.pieces.end(),
            [](const Piece &a, const Piece &b) {
              return std::pair(a.rel, a.lower) < std::pair(b.rel, b.lower);
            });
}

/// Sweeps over the pinned pieces in time; those live at once are kept by
/// offset, so a newcomer need only be held against its neighbours.
Error InstanceBuilder::checkPinnedClash() const {
  std::vector<std::tuple<int64_t, bool, int>> events; // time, starts, piece
  auto bottom = [&](int p) {
    const Piece &piece = instance.pieces[p];
    return instance.items[piece.item].pin + piece.rel;
  };
  for (int p = 0; p < instance.pieceCount(); ++p) {
    const Piece &piece = instance.pieces[p];
    if (!instance.items[piece.item].isPinned())
      continue;
    events.emplace_back(piece.lower, true, p);
    events.emplace_back(piece.upper, false, p);
  }
  std::sort(events.begin(), events.end());
  auto fault = [&](int a, int b) {
    auto nameOf = [&](int p) {
      const auto &itemOf = instance.itemOf;
      auto it =
          std::find(itemOf.begin(), itemOf.end(), instance.pieces[p].item);
      return name(static_cast<size_t>(it - itemOf.begin()));
    };
    return "pins place the groups of buffers " + nameOf(a) + " and " +
           nameOf(b) + " on the same bytes at the same time";
  };
  std::map<int64_t, int> live; // offset -> piece
  for (auto [time, starts, p] : events) {
    if (!starts) {
      live.erase(bottom(p));
      continue;
    }
    auto [it, isNew] = live.emplace(bottom(p), p);
    if (!isNew)
      return fault(it->second, p);
    if (it != live.begin()) {
      const auto [low, q] = *std::prev(it);
      if (low + instance.pieces[q].size > bottom(p))
        return fault(q, p);
    }
    if (auto next = std::next(it);
        next != live.end() && bottom(p) + instance.pieces[p].size > next->first)
      return fault(next->second, p);
  }
  return std::nullopt;
}

} // namespace

Error buildInstance(const Problem &problem, Instance &instance) {
  return InstanceBuilder(problem, instance).build();
}

int64_t heightOf(const Instance &instance, std::span<const int64_t> offsets) {
  int64_t height = 0;
  for (int i = 0; i < instance.itemCount(); ++i)
    height = std::max(height, offsets[i] + instance.items[i].span);
  return height;
}

} // namespace dlc::planning
