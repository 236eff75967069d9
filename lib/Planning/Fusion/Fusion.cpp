// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Fusion/Fusion.h"

#include <algorithm>

using namespace dlc::planning::fusion;

namespace {

/// Some of the paths between nodes, those of a forest in which the parent of a
/// node is the latest of its producers; asked in constant time. What a network
/// computes one after the other, there and back, is one path of it.
class Forest {
public:
  explicit Forest(const std::vector<std::vector<uint32_t>> &producers);
  bool hasPath(uint32_t from, uint32_t to) const {
    return first[from] <= first[to] && first[to] < first[from] + size[from];
  }

private:
  std::vector<uint32_t> first, size; // Of a subtree, which has an interval.
};

/// Grows groups; each is known by the representative `groupOf[node]`.
class Grower {
public:
  explicit Grower(const Problem &problem);
  Solution run();

private:
  bool tryMerge(uint32_t a, uint32_t b);
  bool isConvexUnion(uint32_t a, uint32_t b);
  std::vector<uint32_t> producersOf(uint32_t a, uint32_t b) const;
  bool mayStandWith(uint32_t a, uint32_t b) const;

  const Problem &problem;
  Forest forest;
  std::vector<std::vector<uint32_t>> consumers;
  std::vector<uint32_t> groupOf;
  std::vector<Group> members;
  std::vector<uint32_t> mark; // Visited in the search numbered `search`.
  uint32_t search = 0;
};

} // namespace

/// Whether all nodes of the group may be in one with `node`.
static bool startsInTime(const Problem &problem, const Group &group,
                         uint32_t node) {
  return problem.notBefore.empty() ||
         std::ranges::all_of(
             group, [&](uint32_t it) { return problem.notBefore[it] <= node; });
}

Forest::Forest(const std::vector<std::vector<uint32_t>> &producers)
    : first(producers.size()), size(producers.size(), 1) {
  auto parentOf = [&](uint32_t node) {
    const std::vector<uint32_t> &mine = producers[node];
    return mine.empty() ? node : *std::max_element(mine.begin(), mine.end());
  };
  for (uint32_t node = size.size(); node-- > 0;)
    if (uint32_t parent = parentOf(node); parent != node)
      size[parent] += size[node];
  uint32_t nextRoot = 0;
  std::vector<uint32_t> nextChild(size.size());
  for (uint32_t node = 0; node < size.size(); ++node) {
    uint32_t parent = parentOf(node);
    uint32_t &next = parent == node ? nextRoot : nextChild[parent];
    first[node] = next;
    next += size[node];
    nextChild[node] = first[node] + 1;
  }
}

Grower::Grower(const Problem &problem)
    : problem(problem), forest(problem.producers),
      consumers(problem.producers.size()), groupOf(problem.producers.size()),
      members(problem.producers.size()), mark(problem.producers.size(), 0) {
  for (uint32_t node = 0; node < groupOf.size(); ++node) {
    groupOf[node] = node;
    members[node] = {node};
    for (uint32_t producer : problem.producers[node])
      consumers[producer].push_back(node);
  }
}

/// What the union of two groups reads of others.
std::vector<uint32_t> Grower::producersOf(uint32_t a, uint32_t b) const {
  std::vector<uint32_t> outside;
  for (uint32_t group : {a, b})
    for (uint32_t node : members[group])
      for (uint32_t producer : problem.producers[node])
        if (groupOf[producer] != a && groupOf[producer] != b)
          outside.push_back(producer);
  return outside;
}

bool Grower::isConvexUnion(uint32_t a, uint32_t b) {
  // A path that leaves the union and comes back passes whole other groups:
  // entering one node of a group means waiting for all of it. The search meets
  // long paths, from the way there to the way back, with their first nodes.
  ++search;
  std::vector<uint32_t> ends = producersOf(a, b);
  auto comesBack = [&](uint32_t node) {
    return std::ranges::any_of(
        ends, [&](uint32_t end) { return forest.hasPath(node, end); });
  };
  std::vector<uint32_t> work;
  auto leave = [&](uint32_t group, bool fromUnion) {
    for (uint32_t node : members[group])
      for (uint32_t consumer : consumers[node]) {
        uint32_t next = groupOf[consumer];
        bool inUnion = next == a || next == b;
        if (inUnion && !fromUnion)
          return false;
        if (!inUnion && mark[next] != search) {
          if (comesBack(consumer))
            return false;
          mark[next] = search;
          work.push_back(next);
        }
      }
    return true;
  };
  uint32_t last = std::max(members[a].back(), members[b].back());
  if (!leave(a, true) || !leave(b, true))
    return false;
  while (!work.empty()) {
    uint32_t group = work.back();
    work.pop_back();
    // Groups that begin after the union's last node cannot lead back.
    if (members[group].front() > last)
      continue;
    if (!leave(group, false))
      return false;
  }
  return true;
}

/// On one device, and no node before what another one allows.
bool Grower::mayStandWith(uint32_t a, uint32_t b) const {
  const Group &first = members[a], &second = members[b];
  if (!problem.devices.empty() &&
      problem.devices[first.front()] != problem.devices[second.front()])
    return false;
  return startsInTime(problem, first, second.front()) &&
         startsInTime(problem, second, first.front());
}

bool Grower::tryMerge(uint32_t a, uint32_t b) {
  if (members[a].size() + members[b].size() > problem.maxGroupSize)
    return false;
  if (!mayStandWith(a, b))
    return false;
  if (!isConvexUnion(a, b))
    return false;
  Group merged;
  std::merge(members[a].begin(), members[a].end(), members[b].begin(),
             members[b].end(), std::back_inserter(merged));
  if (!problem.isLegal(merged))
    return false;
  for (uint32_t node : members[b])
    groupOf[node] = a;
  members[a] = std::move(merged);
  members[b].clear();
  return true;
}

Solution Grower::run() {
  for (uint32_t node = 0; node < groupOf.size(); ++node) {
    if (!problem.isFusible[node])
      continue;
    std::vector<uint32_t> producers = problem.producers[node];
    std::sort(producers.rbegin(), producers.rend());
    for (uint32_t producer : producers)
      if (problem.isFusible[producer] && groupOf[producer] != groupOf[node])
        tryMerge(groupOf[producer], groupOf[node]);
  }
  Solution solution;
  for (Group &group : members)
    if (!group.empty())
      solution.groups.push_back(std::move(group));
  std::ranges::sort(solution.groups, {},
                    [](const Group &g) { return g.back(); });
  return solution;
}

Solution dlc::planning::fusion::solve(const Problem &problem) {
  return Grower(problem).run();
}

/// Whether the graph of groups has a cycle (Kahn's algorithm).
static bool isAcyclic(const Problem &problem, const Solution &solution,
                      const std::vector<uint32_t> &groupOf) {
  size_t count = solution.groups.size();
  std::vector<std::vector<uint32_t>> next(count);
  std::vector<size_t> waiting(count, 0);
  for (uint32_t node = 0; node < groupOf.size(); ++node)
    for (uint32_t producer : problem.producers[node])
      if (groupOf[producer] != groupOf[node]) {
        next[groupOf[producer]].push_back(groupOf[node]);
        ++waiting[groupOf[node]];
      }
  std::vector<uint32_t> ready;
  for (uint32_t group = 0; group < count; ++group)
    if (waiting[group] == 0)
      ready.push_back(group);
  size_t done = 0;
  while (!ready.empty()) {
    uint32_t group = ready.back();
    ready.pop_back();
    ++done;
    for (uint32_t follower : next[group])
      if (--waiting[follower] == 0)
        ready.push_back(follower);
  }
  return done == count;
}

std::optional<std::string>
dlc::planning::fusion::validate(const Problem &problem,
                                const Solution &solution) {
  constexpr uint32_t none = UINT32_MAX;
  std::vector<uint32_t> groupOf(problem.producers.size(), none);
  for (uint32_t index = 0; index < solution.groups.size(); ++index) {
    const Group &group = solution.groups[index];
    for (uint32_t node : group) {
      if (node >= groupOf.size() || groupOf[node] != none)
        return "node " + std::to_string(node) + " is unknown or in two groups";
      groupOf[node] = index;
      if (group.size() > 1 && !problem.isFusible[node])
        return "node " + std::to_string(node) + " is not fusible";
      if (!problem.devices.empty() &&
          problem.devices[node] != problem.devices[group.front()])
        return "group " + std::to_string(index) + " is on two devices";
    }
    if (!startsInTime(problem, group, group.front()))
      return "group " + std::to_string(index) + " begins too early";
    if (group.size() > 1 && !problem.isLegal(group))
      return "group " + std::to_string(index) + " is not legal";
  }
  if (std::ranges::count(groupOf, none))
    return "expected every node in a group";
  if (!isAcyclic(problem, solution, groupOf))
    return "the groups depend on each other in a cycle";
  return std::nullopt;
}
