// SPDX-License-Identifier: Apache-2.0
//
// The skyline pass: fills the lowest valley of the profile of what is placed.

#include "Heuristics.h"
#include "Sections.h"

#include <algorithm>
#include <map>
#include <set>

namespace dlc::planning {
namespace {

/// The top of what is placed, over the sections: runs of equal height, as long
/// as can be.
class Profile {
public:
  struct Run {
    int first, last; // sections
    int64_t height;
  };

  explicit Profile(int sections) { add({0, sections, 0}); }

  Run lowest() const { return runs.at(byHeight.begin()->second); }

  /// The profile over [first, last) becomes `height`.
  void assign(int first, int last, int64_t height) {
    splitAt(first);
    splitAt(last);
    for (auto it = runs.find(first); it != runs.end() && it->first < last;)
      it = remove(it);
    Run run{first, last, height};
    auto next = runs.lower_bound(first);
    if (next != runs.end() && next->second.height == height) {
      run.last = next->second.last;
      next = remove(next);
    }
    if (next != runs.begin() && std::prev(next)->second.height == height) {
      run.first = std::prev(next)->second.first;
      remove(std::prev(next));
    }
    add(run);
  }

  /// Lifts the run to the lower of its neighbours.
  void fill(const Run &run) {
    int64_t height = kInfinity;
    auto it = runs.find(run.first);
    if (it != runs.begin())
      height = std::prev(it)->second.height;
    if (auto next = std::next(it); next != runs.end())
      height = std::min(height, next->second.height);
    assign(run.first, run.last, height);
  }

private:
  using Runs = std::map<int, Run>; // by first section

  void add(const Run &run) {
    runs.emplace(run.first, run);
    byHeight.emplace(run.height, run.first);
  }
  Runs::iterator remove(Runs::iterator it) {
    byHeight.erase({it->second.height, it->first});
    return runs.erase(it);
  }
  void splitAt(int section) {
    auto it = runs.upper_bound(section);
    if (it == runs.begin())
      return;
    const Run run = std::prev(it)->second;
    if (run.first == section || run.last <= section)
      return;
    remove(std::prev(it));
    add({run.first, section, run.height});
    add({section, run.last, run.height});
  }

  Runs runs;
  std::set<std::pair<int64_t, int>> byHeight;
};

/// Finds the first item in the order that lives within some sections. A
/// segment tree over the items by first section; nodes hold the least last
/// section and the least rank of the items left.
class ContainedItems {
public:
  struct Extent {
    int first, last, rank;
  };

  explicit ContainedItems(std::vector<Extent> items)
      : extents(std::move(items)) {
    std::sort(extents.begin(), extents.end(),
              [](const Extent &a, const Extent &b) {
                return std::pair(a.first, a.rank) < std::pair(b.first, b.rank);
              });
    while (leaves < extents.size())
      leaves *= 2;
    nodes.assign(2 * leaves, {INT32_MAX, INT32_MAX});
    for (size_t k = 0; k < extents.size(); ++k)
      nodes[leaves + k] = {extents[k].last, extents[k].rank};
    for (size_t node = leaves - 1; node > 0; --node)
      update(node);
  }

  /// Takes out the item of least rank within [first, last) and returns the
  /// rank, or -1.
  int take(int first, int last) {
    best = INT32_MAX;
    const auto begin = std::lower_bound(
        extents.begin(), extents.end(), first,
        [](const Extent &extent, int at) { return extent.first < at; });
    search(1, 0, leaves, static_cast<size_t>(begin - extents.begin()), last);
    if (best == INT32_MAX)
      return -1;
    size_t node = leaves + bestPlace;
    nodes[node] = {INT32_MAX, INT32_MAX};
    while (node /= 2)
      update(node);
    return best;
  }

private:
  struct Node {
    int last, rank;
  };

  void update(size_t node) {
    const Node &a = nodes[2 * node], &b = nodes[2 * node + 1];
    nodes[node] = {std::min(a.last, b.last), std::min(a.rank, b.rank)};
  }
  void search(size_t node, size_t from, size_t to, size_t begin, int last) {
    if (to <= begin || nodes[node].last > last || nodes[node].rank >= best)
      return;
    if (to - from == 1) {
      best = nodes[node].rank;
      bestPlace = from;
      return;
    }
    const size_t middle = (from + to) / 2;
    search(2 * node, from, middle, begin, last);
    search(2 * node + 1, middle, to, begin, last);
  }

  std::vector<Extent> extents;
  std::vector<Node> nodes;
  size_t leaves = 1;
  int best = 0;
  size_t bestPlace = 0;
};

} // namespace

Offsets skyline(const Instance &instance, const std::vector<int> &order) {
  const Sections time = makeSections(instance);
  Offsets offsets(instance.items.size(), 0);
  std::vector<ContainedItems::Extent> extents;
  int64_t alignment = INT64_MAX;
  for (int rank = 0; rank < static_cast<int>(order.size()); ++rank) {
    const Item &item = instance.items[order[rank]];
    offsets[order[rank]] = item.firstOffset();
    if (item.pieceCount == 0)
      continue;
    alignment = std::min(alignment, item.alignment);
    const auto first = time.first.begin() + item.firstPiece;
    const auto last = time.last.begin() + item.firstPiece;
    extents.push_back({*std::min_element(first, first + item.pieceCount),
                       *std::max_element(last, last + item.pieceCount), rank});
  }
  size_t left = extents.size();
  ContainedItems unplaced(std::move(extents));
  Profile profile(time.count);
  while (left > 0) {
    // What lies within the lowest run, and only that, can start there.
    const Profile::Run run = profile.lowest();
    const int rank = unplaced.take(run.first, run.last);
    if (rank < 0) {
      profile.fill(run);
      continue;
    }
    --left;
    const Item &item = instance.items[order[rank]];
    const int64_t offset = item.roundUp(run.height);
    offsets[order[rank]] = offset;
    // Of pieces live together the topmost comes last, so its top remains.
    for (int p = item.firstPiece; p < item.firstPiece + item.pieceCount; ++p) {
      const Piece &piece = instance.pieces[p];
      profile.assign(time.first[p], time.last[p],
                     alignUp(offset + piece.rel + piece.size, alignment));
    }
  }
  return offsets;
}

} // namespace dlc::planning
