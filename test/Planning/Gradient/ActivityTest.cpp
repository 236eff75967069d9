// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Gradient/Activity.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace dlc::planning::gradient;

/// Operations that read up to three earlier values and make one or two; some
/// values are integers.
static Problem randomProblem(std::mt19937 &random) {
  Problem problem;
  uint32_t outside = 1 + random() % 4, operations = random() % 12;
  auto addValue = [&] {
    problem.isContinuous.push_back(random() % 8 != 0);
    return static_cast<uint32_t>(problem.isContinuous.size() - 1);
  };
  for (uint32_t i = 0; i < outside; ++i)
    addValue();
  for (uint32_t i = 0; i < operations; ++i) {
    Operation op;
    uint32_t known = static_cast<uint32_t>(problem.isContinuous.size());
    for (uint32_t reads = random() % 4; reads > 0; --reads)
      op.operands.push_back(random() % known);
    for (uint32_t results = 1 + random() % 2; results > 0; --results)
      op.results.push_back(addValue());
    problem.operations.push_back(op);
  }
  uint32_t count = static_cast<uint32_t>(problem.isContinuous.size());
  for (uint32_t i = random() % 5; i > 0; --i)
    problem.heads.push_back(random() % count);
  for (uint32_t i = random() % 5; i > 0; --i)
    problem.sources.push_back(random() % count);
  return problem;
}

TEST(Activity, RandomProblemsAreValid) {
  std::mt19937 random(1);
  size_t steps = 0;
  for (int i = 0; i < 3000; ++i) {
    Problem problem = randomProblem(random);
    Solution solution = solve(problem);
    EXPECT_EQ(validate(problem, solution), std::nullopt) << "problem " << i;
    steps += solution.steps.size();
  }
  EXPECT_GT(steps, 1000u) << "the problems are too easy";
}

TEST(Activity, ValidatorFindsEachChange) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    Problem problem = randomProblem(random);
    Solution good = solve(problem);
    Solution other = good;
    size_t value = random() % other.isActive.size();
    other.isActive[value] = !other.isActive[value];
    EXPECT_NE(validate(problem, other), std::nullopt) << "activity " << i;
    if (good.steps.empty())
      continue;
    other = good;
    other.steps.pop_back();
    EXPECT_NE(validate(problem, other), std::nullopt) << "missing " << i;
    other = good;
    Step &step = other.steps[random() % other.steps.size()];
    if (!step.wanted.empty()) {
      size_t operand = random() % step.wanted.size();
      step.wanted[operand] = !step.wanted[operand];
      EXPECT_NE(validate(problem, other), std::nullopt) << "wanted " << i;
    }
    if (good.steps.size() < 2)
      continue;
    other = good;
    std::swap(other.steps[0], other.steps[1]);
    EXPECT_NE(validate(problem, other), std::nullopt) << "order " << i;
  }
}

/// y = f(x, w); z = g(y): of x alone, w is not active and not wanted.
TEST(Activity, OnlyWhatIsAskedForIsWanted) {
  Problem problem{{true, true, true, true},
                  {{{0, 1}, {2}}, {{2}, {3}}},
                  /*heads=*/{3},
                  /*sources=*/{0}};
  Solution solution = solve(problem);
  EXPECT_EQ(solution.isActive, (std::vector<bool>{true, false, true, true}));
  std::vector<Step> expected = {{1, {true}}, {0, {true, false}}};
  EXPECT_EQ(solution.steps, expected);
}

/// A value of integers lets no gradient through.
TEST(Activity, IntegersEndPaths) {
  Problem problem{{true, false, true},
                  {{{0}, {1}}, {{1}, {2}}},
                  /*heads=*/{2},
                  /*sources=*/{0}};
  Solution solution = solve(problem);
  EXPECT_TRUE(solution.steps.empty());
  EXPECT_FALSE(solution.isActive[0]);
}

/// An input that is an output is active without any operation.
TEST(Activity, SourceThatIsHead) {
  Problem problem{{true}, {}, {0, 0}, {0}};
  Solution solution = solve(problem);
  EXPECT_TRUE(solution.isActive[0]);
  EXPECT_TRUE(solution.steps.empty());
}
