// SPDX-License-Identifier: Apache-2.0
//
// Nodes with few neighbours are taken away: what they would cost at best is
// added to their neighbours, exactly. Of what is left, one node is tried with
// each of its alternatives, the most promising first.

#include "dlc/Planning/Layout/Layout.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace dlc::planning::layout;

static Cost plus(Cost a, Cost b) { return std::min(kForbidden, a + b); }

namespace {

/// Costs of pairs, seen from one of its nodes.
using Matrix = std::vector<Cost>;

struct Node {
  std::vector<Cost> costs;
  std::map<uint32_t, Matrix> neighbours; ///< A row for each own alternative.
  bool isTaken = false;
};

class Reduction {
public:
  explicit Reduction(const Problem &problem);

  /// Tries up to `branches` ways; false where it did not try all.
  bool solve(uint32_t branches);
  const std::vector<uint32_t> &result() const { return choices; }

private:
  size_t countOf(uint32_t node) const { return nodes[node].costs.size(); }
  void addEdge(uint32_t first, uint32_t second, const Matrix &costs);
  /// `costs` of a pair with the alternatives of the second in rows.
  Matrix turned(const Matrix &costs, uint32_t first, uint32_t second) const;
  void takeAway(uint32_t node);
  void fold(uint32_t node);
  void reduce();
  uint32_t busiest() const;
  std::vector<uint32_t> rank(uint32_t node) const;
  void fix(uint32_t node, uint32_t choice);
  void choose();
  bool branch(uint32_t node, const std::vector<uint32_t> &order,
              uint32_t branches);

  const Problem &problem;
  std::vector<Node> nodes;
  std::vector<uint32_t> few;   ///< Nodes that may have two neighbours or fewer.
  std::vector<uint32_t> taken; ///< In the order in which they went.
  std::vector<uint32_t> choices;
};

} // namespace

Reduction::Reduction(const Problem &problem) : problem(problem) {
  for (const std::vector<Cost> &costs : problem.nodes)
    nodes.push_back({costs, {}, false});
  for (const Edge &edge : problem.edges)
    addEdge(edge.first, edge.second, edge.costs);
  few.resize(nodes.size());
  // The first goes last, so that others follow what it prefers.
  std::iota(few.begin(), few.end(), 0u);
}

Matrix Reduction::turned(const Matrix &costs, uint32_t first,
                         uint32_t second) const {
  size_t rows = countOf(first), columns = countOf(second);
  Matrix result(costs.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      result[j * rows + i] = costs[i * columns + j];
  return result;
}

void Reduction::addEdge(uint32_t first, uint32_t second, const Matrix &costs) {
  auto add = [&](uint32_t from, uint32_t to, const Matrix &more) {
    auto [at, isNew] = nodes[from].neighbours.try_emplace(to, more);
    for (size_t i = 0; !isNew && i < more.size(); ++i)
      at->second[i] = plus(at->second[i], more[i]);
  };
  add(first, second, costs);
  add(second, first, turned(costs, first, second));
}

/// Its neighbours forget it; what it costs beside them stays with it.
void Reduction::takeAway(uint32_t node) {
  nodes[node].isTaken = true;
  taken.push_back(node);
  for (auto &[other, costs] : nodes[node].neighbours) {
    nodes[other].neighbours.erase(node);
    few.push_back(other);
  }
}

/// Adds what a node with one or two neighbours costs at best to them.
void Reduction::fold(uint32_t node) {
  const Node &gone = nodes[node];
  auto first = gone.neighbours.begin();
  size_t rows = countOf(first->first);
  auto least = [&](auto costOfOwn) {
    Cost best = kForbidden;
    for (size_t own = 0; own < gone.costs.size(); ++own)
      best = std::min(best, plus(gone.costs[own], costOfOwn(own)));
    return best;
  };
  if (gone.neighbours.size() == 1) {
    for (size_t i = 0; i < rows; ++i) {
      Cost &cost = nodes[first->first].costs[i];
      cost = plus(cost, least([&](size_t own) {
                    return first->second[own * rows + i];
                  }));
    }
    return;
  }
  auto second = std::next(first);
  size_t columns = countOf(second->first);
  Matrix together(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      together[i * columns + j] = least([&](size_t own) {
        return plus(first->second[own * rows + i],
                    second->second[own * columns + j]);
      });
  addEdge(first->first, second->first, together);
}

void Reduction::reduce() {
  while (!few.empty()) {
    uint32_t node = few.back();
    few.pop_back();
    if (nodes[node].isTaken || nodes[node].neighbours.size() > 2)
      continue;
    if (!nodes[node].neighbours.empty())
      fold(node);
    takeAway(node);
  }
}

/// The node with the most neighbours, or the number of nodes if none is left.
uint32_t Reduction::busiest() const {
  uint32_t best = static_cast<uint32_t>(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    if (!nodes[i].isTaken &&
        (best == nodes.size() ||
         nodes[i].neighbours.size() > nodes[best].neighbours.size()))
      best = i;
  return best;
}

/// The alternatives of a node, by what they cost if each neighbour could do
/// what suits it best.
std::vector<uint32_t> Reduction::rank(uint32_t node) const {
  std::vector<Cost> costs = nodes[node].costs;
  for (const auto &[other, pairs] : nodes[node].neighbours)
    for (size_t own = 0; own < costs.size(); ++own) {
      Cost best = kForbidden;
      for (size_t i = 0; i < countOf(other); ++i)
        best = std::min(
            best, plus(pairs[own * countOf(other) + i], nodes[other].costs[i]));
      costs[own] = plus(costs[own], best);
    }
  std::vector<uint32_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(costs[a], a) < std::pair(costs[b], b);
  });
  return order;
}

void Reduction::fix(uint32_t node, uint32_t choice) {
  for (size_t i = 0; i < countOf(node); ++i)
    if (i != choice)
      nodes[node].costs[i] = kForbidden;
  for (auto &[other, pairs] : nodes[node].neighbours)
    for (size_t i = 0; i < countOf(other); ++i) {
      Cost &cost = nodes[other].costs[i];
      cost = plus(cost, pairs[choice * countOf(other) + i]);
    }
  takeAway(node);
}

/// The last that was taken away chooses first: it knew all who are left.
void Reduction::choose() {
  choices.assign(nodes.size(), 0);
  for (size_t at = taken.size(); at-- > 0;) {
    const Node &node = nodes[taken[at]];
    Cost best = kForbidden;
    for (uint32_t own = 0; own < node.costs.size(); ++own) {
      Cost cost = node.costs[own];
      for (const auto &[other, pairs] : node.neighbours)
        cost = plus(cost, pairs[own * countOf(other) + choices[other]]);
      if (cost < best) {
        best = cost;
        choices[taken[at]] = own;
      }
    }
  }
}

bool Reduction::solve(uint32_t branches) {
  bool triedAll = true;
  for (;;) {
    reduce();
    uint32_t node = busiest();
    if (node == nodes.size()) {
      choose();
      return triedAll;
    }
    std::vector<uint32_t> order = rank(node);
    if (order.size() > 1 && order.size() <= branches)
      return branch(node, order, branches) && triedAll;
    triedAll &= order.size() == 1;
    fix(node, order.front());
  }
}

/// Tries each alternative of a node and becomes the best way.
bool Reduction::branch(uint32_t node, const std::vector<uint32_t> &order,
                       uint32_t branches) {
  bool triedAll = true;
  Cost least = kForbidden;
  std::vector<uint32_t> best;
  for (uint32_t choice : order) {
    Reduction way = *this;
    way.fix(node, choice);
    triedAll &= way.solve(branches / static_cast<uint32_t>(order.size()));
    Cost cost = costOf(problem, way.choices);
    if (best.empty() || cost < least) {
      least = cost;
      best = std::move(way.choices);
    }
  }
  choices = std::move(best);
  return triedAll;
}

Solution dlc::planning::layout::solve(const Problem &problem,
                                      uint32_t maxBranches) {
  Reduction reduction(problem);
  Solution solution;
  solution.isOptimal = reduction.solve(maxBranches);
  solution.choices = reduction.result();
  solution.cost = costOf(problem, solution.choices);
  return solution;
}
