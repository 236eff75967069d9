// SPDX-License-Identifier: Apache-2.0
//
// Which results are made in one piece of memory with their parts.

#include "dlc/Planning/Memory/Joins.h"

#include <gtest/gtest.h>

namespace dlc::planning {
namespace {

/// a and b are made at steps 0 and 1, c of them at 2 and read at 3.
JoinProblem twoParts() {
  return {{{0, 2, 64}, {1, 2, 64}, {2, 3, 128}}, {{2, {0, 1}}}};
}

TEST(JoinsTest, PartsAreMadeWhereTheyStay) {
  EXPECT_EQ(chooseJoins(twoParts()), std::vector<bool>{true});
}

TEST(JoinsTest, MemoryThatWaitsForTheLastPartIsTooMuch) {
  JoinProblem problem = twoParts();
  // What lives until b begins fills what was the peak.
  problem.values.push_back({0, 0, 192});
  EXPECT_EQ(chooseJoins(problem), std::vector<bool>{false});
  problem.values.back().bytes = 128;
  EXPECT_EQ(chooseJoins(problem), std::vector<bool>{true});
}

TEST(JoinsTest, APartHasOnePlace) {
  JoinProblem problem = twoParts();
  problem.values.push_back({3, 4, 128}); // Of b and a once more.
  problem.joins.push_back({3, {1, 0}});
  EXPECT_EQ(chooseJoins(problem), (std::vector<bool>{true, false}));
  problem.joins = {{2, {0, 0}}, {3, {1, 0}}};
  EXPECT_EQ(chooseJoins(problem), (std::vector<bool>{false, true}));
}

// As densely connected networks have them: each one is a part of the next.
TEST(JoinsTest, AResultIsAPart) {
  JoinProblem problem;
  problem.values = {
      {0, 2, 64}, {1, 2, 64}, {2, 4, 128}, {3, 4, 64}, {4, 5, 192}};
  problem.joins = {{2, {0, 1}}, {4, {2, 3}}};
  EXPECT_EQ(chooseJoins(problem), (std::vector<bool>{true, true}));
}

TEST(JoinsTest, NothingIsNoJoin) {
  EXPECT_TRUE(chooseJoins({}).empty());
  EXPECT_EQ(chooseJoins({{{0, 0, 0}}, {{0, {}}}}), std::vector<bool>{false});
}

} // namespace
} // namespace dlc::planning
