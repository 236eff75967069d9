// SPDX-License-Identifier: Apache-2.0
//
// The solver against known optima, brute force and the validator.

#include "BruteForce.h"
#include "Generators.h"

#include "dlc/Planning/Memory/Csv.h"
#include "dlc/Planning/Memory/Solver.h"
#include "dlc/Planning/Memory/Validator.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace dlc::planning {
namespace {

using namespace testing;

void expectValid(const Problem &problem, const Solution &solution) {
  const Error error = validate(problem, solution);
  EXPECT_FALSE(error) << *error << "\n" << writeCsv(problem);
}

Problem readData(const std::string &name) {
  std::ifstream file(std::string(DLC_PLANNING_DATA) + "/" + name);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Problem problem;
  const Error error = readCsv(text, problem);
  EXPECT_FALSE(error) << name << ": " << *error;
  return problem;
}

TEST(SolverTest, EmptyProblemNeedsNothing) {
  const Solution solution = solve({});
  EXPECT_TRUE(solution.offsets.empty());
  EXPECT_EQ(solution.arenaBytes, 0);
  EXPECT_EQ(solution.lowerBound, 0);
}

TEST(SolverTest, AnyCapacityIsPackedFor) {
  Problem problem{{{"a", 0, 2, 64, 1, {}}, {"b", 1, 3, 64, 1, {}}}, {}, {}};
  for (int64_t capacity : {int64_t(128), INT64_MAX / 4, INT64_MAX}) {
    problem.capacity = capacity;
    const Solution solution = solve(problem);
    expectValid(problem, solution);
    EXPECT_EQ(solution.arenaBytes, 128) << capacity;
  }
}

TEST(SolverTest, EmptyBuffersTakeNoMemory) {
  const Problem problem{
      {{"a", 0, 9, 0, 64, {}}, {"b", 0, 9, 5, 1, {}}}, {}, {}};
  const Solution solution = solve(problem);
  expectValid(problem, solution);
  EXPECT_EQ(solution.arenaBytes, 5);
}

TEST(SolverTest, MalformedProblemHasNoSolution) {
  const Solution solution = solve({{{"a", 3, 3, 5, 1, {}}}, {}, {}});
  EXPECT_EQ(solution.how, Method::None);
  EXPECT_TRUE(solution.offsets.empty());
}

TEST(SolverTest, TouchingLivesShareBytes) {
  const Problem problem{
      {{"a", 0, 2, 100, 1, {}}, {"b", 2, 4, 100, 1, {}}}, {}, {}};
  const Solution solution = solve(problem);
  expectValid(problem, solution);
  EXPECT_EQ(solution.arenaBytes, 100);
}

// An in-place chain of shrinking results frees memory as it goes: the arena is
// smaller than the bounding box of the chain would allow.
TEST(SolverTest, GroupsAreNotBoundingBoxes) {
  const Problem problem{{{"large", 0, 2, 100, 1, {}},
                         {"small", 2, 4, 40, 1, {}},
                         {"other", 2, 4, 60, 1, {}}},
                        {{1, 0, 0}},
                        {}};
  const Solution solution = solve(problem);
  expectValid(problem, solution);
  EXPECT_EQ(solution.arenaBytes, 100);
}

// Two views outlive their base; what lay between them is free again.
TEST(SolverTest, FillsTheHoleBetweenViews) {
  const Problem problem{{{"base", 0, 2, 100, 1, {}},
                         {"head", 0, 4, 10, 1, {}},
                         {"tail", 0, 4, 10, 1, {}},
                         {"other", 2, 4, 80, 1, {}}},
                        {{1, 0, 0}, {2, 0, 90}},
                        {}};
  const Solution solution = solve(problem);
  expectValid(problem, solution);
  EXPECT_EQ(solution.arenaBytes, 100);
  EXPECT_EQ(solution.offsets[3], 10);
}

// Each group lies above the other at one time: no order of placing whole
// groups from the bottom gets there.
TEST(SolverTest, InterlocksGroups) {
  const Problem problem{{{"a0", 0, 1, 10, 1, {}},
                         {"a1", 1, 2, 10, 1, {}},
                         {"b0", 0, 1, 10, 1, {}},
                         {"b1", 1, 2, 10, 1, {}}},
                        {{1, 0, 10}, {3, 2, -10}},
                        {}};
  const Solution solution = solve(problem);
  expectValid(problem, solution);
  EXPECT_EQ(solution.arenaBytes, 20);
}

class TinyTest : public ::testing::TestWithParam<Tiny> {};

TEST_P(TinyTest, AgreesWithBruteForce) {
  int solved = 0, aboveFirstBound = 0;
  const uint64_t count = GetParam() == Tiny::Plain ? 100 : 300;
  for (uint64_t seed = 0; seed < count; ++seed) {
    const Problem problem = tinyProblem(GetParam(), seed);
    if (checkProblem(problem))
      continue;
    ++solved;
    const Solution solution = solve(problem);
    expectValid(problem, solution);
    const int64_t optimum = optimalHeight(problem);
    EXPECT_EQ(solution.arenaBytes, optimum) << writeCsv(problem);
    EXPECT_EQ(solution.lowerBound, optimum) << writeCsv(problem);
    aboveFirstBound += lowerBound(problem) < optimum;
  }
  // The generator must make problems, and some whose optimum needs a proof
  // (plain ones that small reach their peak load).
  EXPECT_GE(solved, static_cast<int>(count) * 4 / 5);
  if (GetParam() != Tiny::Plain)
    EXPECT_GE(aboveFirstBound, 5);
}

INSTANTIATE_TEST_SUITE_P(AllKinds, TinyTest,
                         ::testing::Values(Tiny::Plain, Tiny::Aligned,
                                           Tiny::Pinned, Tiny::InPlaceChains,
                                           Tiny::Views));

// A capacity that is one too small is never reported as met.
TEST(SolverTest, ReportsWhatDoesNotFit) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Problem problem = tinyProblem(Tiny::Plain, seed);
    problem.capacity = optimalHeight(problem) - 1;
    const Solution solution = solve(problem);
    EXPECT_GT(solution.arenaBytes, *problem.capacity);
    EXPECT_TRUE(validate(problem, solution));
    problem.capacity = *problem.capacity + 1;
    expectValid(problem, solve(problem));
  }
}

TEST(SolverTest, FindsTheOptimumOfCutRectangles) {
  constexpr int64_t kHeight = 1 << 14;
  for (int count : {10, 50, 100}) {
    for (int pinwheels : {0, 50}) {
      const Problem problem = cutRectangle(count, count, kHeight, pinwheels,
                                           static_cast<uint64_t>(count));
      const Solution solution = solve(problem);
      expectValid(problem, solution);
      EXPECT_EQ(solution.lowerBound, kHeight);
      EXPECT_EQ(solution.arenaBytes, kHeight) << count << " " << pinwheels;
    }
  }
}

TEST(SolverTest, PacksNetworksAtTheBound) {
  for (Network kind : {Network::ChainWithSkips, Network::Inception,
                       Network::Training, Network::UNet}) {
    for (int count : {50, 200, 600}) {
      std::vector<InPlaceCandidate> candidates;
      Problem problem = networkLike(kind, count, 5, &candidates);
      for (bool inPlace : {false, true}) {
        if (inPlace)
          problem.aliases = decideInPlace(problem, candidates);
        const Solution solution = solve(problem);
        expectValid(problem, solution);
        EXPECT_EQ(solution.arenaBytes, lowerBound(problem))
            << static_cast<int>(kind) << " " << count << " " << inPlace;
      }
    }
  }
}

TEST(SolverTest, FitsTheChallengingProgramsInTheirCapacity) {
  for (const char *name : {"A.1048576.csv", "B.1048576.csv", "C.1048576.csv",
                           "D.1048576.csv", "E.1048576.csv", "F.1048576.csv"}) {
    Problem problem = readData(name);
    problem.capacity = 1'048'576;
    ASSERT_GT(problem.buffers.size(), 100u);
    expectValid(problem, solve(problem));
  }
}

// With a wider address space to search, the passes alone must also be valid.
TEST(SolverTest, PassesAloneAreValid) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (Tiny kind : {Tiny::Pinned, Tiny::InPlaceChains, Tiny::Views}) {
      const Problem problem = tinyProblem(kind, seed);
      if (!checkProblem(problem))
        expectValid(problem, solve(problem, {.steps = 0}));
    }
  }
}

TEST(SolverTest, SameInputGivesSameAnswer) {
  const Problem problem = readData("A.1048576.csv");
  const Solution first = solve(problem), second = solve(problem);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.steps, second.steps);
}

TEST(SolverTest, KeepsWithinItsSteps) {
  const Problem problem = readData("D.1048576.csv");
  for (int64_t steps : {0, 1'000, 5'000})
    EXPECT_LE(solve(problem, {.steps = steps}).steps, steps);
  // A branch of a large problem takes several.
  const Problem large = cutRectangle(1'000, 1'000, 1 << 20, 30, 1);
  EXPECT_LE(solve(large, {.steps = 10'000}).steps, 10'000);
}

TEST(SolverTest, ThousandsOfBuffers) {
  for (Network kind : {Network::Inception, Network::Training}) {
    std::vector<InPlaceCandidate> candidates;
    Problem problem = networkLike(kind, 8'000, 3, &candidates);
    ASSERT_GT(problem.buffers.size(), 9'000u);
    problem.aliases = decideInPlace(problem, candidates);
    EXPECT_GT(problem.aliases.size(), 100u);
    const Solution solution = solve(problem);
    expectValid(problem, solution);
    EXPECT_LE(solution.arenaBytes, solution.lowerBound * 101 / 100);
  }
}

} // namespace
} // namespace dlc::planning
