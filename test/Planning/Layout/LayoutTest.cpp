// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Layout/Layout.h"

#include "gtest/gtest.h"

#include <random>

using namespace dlc::planning::layout;

/// The least cost of all choices.
static Cost leastCost(const Problem &problem) {
  std::vector<uint32_t> choices(problem.nodes.size(), 0);
  Cost least = costOf(problem, choices);
  for (;;) {
    size_t i = 0;
    while (i < choices.size() && ++choices[i] == problem.nodes[i].size())
      choices[i++] = 0;
    if (i == choices.size())
      return least;
    least = std::min(least, costOf(problem, choices));
  }
}

static Cost randomCost(std::mt19937 &random) {
  return random() % 6 == 0 ? kForbidden : static_cast<Cost>(random() % 50);
}

static std::vector<Cost> randomCosts(std::mt19937 &random, size_t count) {
  std::vector<Cost> costs(count);
  for (Cost &cost : costs)
    cost = randomCost(random);
  return costs;
}

static void addEdge(Problem &problem, std::mt19937 &random, uint32_t first,
                    uint32_t second) {
  size_t pairs = problem.nodes[first].size() * problem.nodes[second].size();
  problem.edges.push_back({first, second, randomCosts(random, pairs)});
}

/// Nodes of up to three alternatives without edges.
static Problem randomNodes(std::mt19937 &random, uint32_t count) {
  Problem problem;
  for (uint32_t i = 0; i < count; ++i)
    problem.nodes.push_back(randomCosts(random, 1 + random() % 3));
  return problem;
}

TEST(Layout, NothingCostsNothing) {
  Solution solution = solve({});
  EXPECT_EQ(solution.cost, 0);
  EXPECT_TRUE(solution.isOptimal);
}

TEST(Layout, FollowsItsNeighboursWhereThatIsCheaper) {
  // A chain whose ends are fixed to alternative 1; a change costs 5.
  Problem problem{{{kForbidden, 0}, {0, 3}, {0, 3}, {kForbidden, 0}}, {}};
  for (uint32_t i = 0; i < 3; ++i)
    problem.edges.push_back({i, i + 1, {0, 5, 5, 0}});
  Solution solution = solve(problem);
  EXPECT_EQ(solution.choices, (std::vector<uint32_t>{1, 1, 1, 1}));
  EXPECT_EQ(solution.cost, 6);
  problem.nodes[1][1] = 9;
  problem.nodes[2][1] = 9;
  EXPECT_EQ(solve(problem).choices, (std::vector<uint32_t>{1, 0, 0, 1}));
}

TEST(Layout, WhatCannotBeCostsWhatIsForbidden) {
  Problem problem{{{0, 0}, {0, 0}}, {{0, 1, {}}}};
  problem.edges[0].costs.assign(4, kForbidden);
  Solution solution = solve(problem);
  EXPECT_EQ(solution.cost, kForbidden);
  EXPECT_EQ(validate(problem, solution), std::nullopt);
}

/// Trees and rings reduce to nothing: no branch is needed.
TEST(Layout, SeriesParallelIsSolvedExactly) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Problem problem = randomNodes(random, 1 + random() % 8);
    auto count = static_cast<uint32_t>(problem.nodes.size());
    for (uint32_t node = 1; node < count; ++node)
      addEdge(problem, random, random() % node, node);
    if (count > 2 && random() % 2)
      addEdge(problem, random, count - 1, 0);
    Solution solution = solve(problem, 1);
    EXPECT_EQ(validate(problem, solution), std::nullopt);
    EXPECT_TRUE(solution.isOptimal);
    EXPECT_EQ(solution.cost, leastCost(problem)) << "problem " << i;
  }
}

TEST(Layout, DenseProblemsAreSolvedByBranching) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    Problem problem = randomNodes(random, 4 + random() % 4);
    auto count = static_cast<uint32_t>(problem.nodes.size());
    for (uint32_t a = 0; a < count; ++a)
      for (uint32_t b = 0; b < count; ++b)
        if (a != b && random() % 2)
          addEdge(problem, random, a, b);
    Solution whole = solve(problem, 1 << 20);
    EXPECT_EQ(validate(problem, whole), std::nullopt);
    EXPECT_TRUE(whole.isOptimal);
    EXPECT_EQ(whole.cost, leastCost(problem)) << "problem " << i;
    Solution greedy = solve(problem, 1);
    EXPECT_EQ(validate(problem, greedy), std::nullopt);
    EXPECT_GE(greedy.cost, whole.cost);
    if (greedy.isOptimal)
      EXPECT_EQ(greedy.cost, whole.cost) << "problem " << i;
  }
}

TEST(Layout, LargeProblemsEnd) {
  std::mt19937 random(3);
  Problem problem = randomNodes(random, 1000);
  for (uint32_t node = 1; node < 1000; ++node)
    for (int edges = 0; edges < 4; ++edges)
      addEdge(problem, random, random() % node, node);
  EXPECT_EQ(validate(problem, solve(problem)), std::nullopt);
}

TEST(Layout, ValidatorFindsEachFault) {
  std::mt19937 random(4);
  Problem problem{{{1, 2}, {3, 4, 5}}, {{0, 1, {1, 2, 3, 4, 5, 6}}}};
  Solution good = solve(problem);
  EXPECT_EQ(validate(problem, good), std::nullopt);
  Solution bad = good;
  bad.choices[1] = 3;
  EXPECT_EQ(validate(problem, bad),
            "node 1: expected one of 3 alternatives, got 3");
  bad = good;
  bad.cost += 1;
  EXPECT_EQ(validate(problem, bad), "expected a cost of 5, got 6");
  bad = good;
  bad.choices.pop_back();
  EXPECT_EQ(validate(problem, bad), "expected a choice of each node");
  Problem wrong = problem;
  wrong.nodes[0][0] = -1;
  EXPECT_EQ(validate(wrong, good), "node 0: expected alternatives whose costs "
                                   "are from 0 to kForbidden");
  wrong = problem;
  wrong.edges[0].second = 0;
  EXPECT_EQ(validate(wrong, good), "edge 0: expected two nodes");
  wrong = problem;
  wrong.edges[0].costs.pop_back();
  EXPECT_EQ(validate(wrong, good),
            "edge 0: expected 6 costs from 0 to kForbidden");
}
