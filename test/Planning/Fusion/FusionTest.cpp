// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Fusion/Fusion.h"

#include "gtest/gtest.h"

#include <random>

using namespace dlc::planning::fusion;

static Problem makeProblem(std::vector<std::vector<uint32_t>> producers) {
  Problem problem;
  problem.isFusible.assign(producers.size(), true);
  problem.producers = std::move(producers);
  problem.isLegal = [](const Group &) { return true; };
  return problem;
}

static std::vector<Group> solveChecked(const Problem &problem) {
  Solution solution = solve(problem);
  EXPECT_EQ(validate(problem, solution), std::nullopt);
  return solution.groups;
}

TEST(FusionTest, ChainIsOneGroup) {
  EXPECT_EQ(solveChecked(makeProblem({{}, {0}, {1}})),
            (std::vector<Group>{{0, 1, 2}}));
}

TEST(FusionTest, DiamondIsOneGroup) {
  EXPECT_EQ(solveChecked(makeProblem({{}, {0}, {0}, {1, 2}})),
            (std::vector<Group>{{0, 1, 2, 3}}));
}

TEST(FusionTest, OpaqueNodeBetweenKeepsGroupsConvex) {
  // 0 -> 1(opaque) -> 2 and 0 -> 2: fusing 0 and 2 would enclose 1.
  Problem problem = makeProblem({{}, {0}, {0, 1}});
  problem.isFusible[1] = false;
  EXPECT_EQ(solveChecked(problem), (std::vector<Group>{{0}, {1}, {2}}));
}

TEST(FusionTest, PathThroughAnotherGroupKeepsGroupsConvex) {
  // Groups {0, 3} and {1, 2}: 0 -> 1 -> 2 -> 3 must not be split so that each
  // waits for the other. Only pairs {0, 3} or {1, 2} are legal.
  Problem problem = makeProblem({{}, {0}, {1}, {0, 2}});
  problem.isLegal = [](const Group &group) {
    return group == Group{0, 3} || group == Group{1, 2};
  };
  EXPECT_EQ(solveChecked(problem), (std::vector<Group>{{0}, {1, 2}, {3}}));
}

TEST(FusionTest, LegalityBoundsGroups) {
  Problem problem = makeProblem({{}, {0}, {1}, {2}});
  problem.isLegal = [](const Group &group) { return group.size() <= 2; };
  EXPECT_EQ(solveChecked(problem), (std::vector<Group>{{0, 1}, {2, 3}}));
}

TEST(FusionTest, GroupsAreOnOneDevice) {
  // 0 and 3 on one device, 1 and 2 on the other.
  Problem problem = makeProblem({{}, {0}, {1}, {0}});
  problem.devices = {0, 1, 1, 0};
  EXPECT_EQ(solveChecked(problem), (std::vector<Group>{{1, 2}, {0, 3}}));
  problem.devices = {0, 1, 0, 0};
  EXPECT_NE(validate(problem, {{{0}, {1, 2}, {3}}}), std::nullopt);
}

TEST(FusionTest, GroupsBeginInTime) {
  // 2 repeats 1, for 3: it stays apart from 0 and goes with its reader.
  Problem problem = makeProblem({{}, {0}, {0}, {2}});
  problem.notBefore = {0, 0, 2, 0};
  EXPECT_EQ(solveChecked(problem), (std::vector<Group>{{0, 1}, {2, 3}}));
  EXPECT_NE(validate(problem, {{{0, 1, 2}, {3}}}), std::nullopt);
}

TEST(FusionTest, SizeLimit) {
  Problem problem = makeProblem({{}, {0}, {1}, {2}});
  problem.maxGroupSize = 3;
  EXPECT_EQ(solveChecked(problem), (std::vector<Group>{{0, 1, 2}, {3}}));
}

TEST(FusionTest, RandomGraphsStayAcyclic) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<uint32_t>> producers(40);
    for (uint32_t node = 1; node < producers.size(); ++node)
      for (int i = 0; i < 2; ++i)
        producers[node].push_back(random() % node);
    Problem problem = makeProblem(producers);
    for (uint32_t node = 0; node < producers.size(); ++node)
      problem.isFusible[node] = random() % 4 != 0;
    problem.isLegal = [](const Group &group) {
      return (group.front() * 7 + group.back()) % 5 != 0;
    };
    ASSERT_EQ(validate(problem, solve(problem)), std::nullopt);
  }
}

TEST(FusionTest, ValidatorFindsFaults) {
  Problem problem = makeProblem({{}, {0}, {0, 1}});
  EXPECT_NE(validate(problem, {{{0, 1}}}), std::nullopt);
  EXPECT_NE(validate(problem, {{{0, 1}, {1, 2}}}), std::nullopt);
  EXPECT_NE(validate(problem, {{{1}, {0, 2}}}), std::nullopt);
  problem.isFusible[1] = false;
  EXPECT_NE(validate(problem, {{{0, 1}, {2}}}), std::nullopt);
}
