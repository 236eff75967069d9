// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Recompute/Recompute.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace dlc::planning::recompute;

/// Values are numbered as they are added; value 0 comes from outside.
struct Builder {
  Problem problem{{0}, {}};

  uint32_t add(std::vector<uint32_t> reads, int64_t bytes, Again again,
               int64_t nanoseconds = 1) {
    problem.bytes.push_back(bytes);
    uint32_t value = static_cast<uint32_t>(problem.bytes.size()) - 1;
    problem.operations.push_back(
        {std::move(reads), {value}, again, nanoseconds, {}});
    return value;
  }
};

/// y = x + relu(conv(x)) n times and the way back: the gradient of relu reads
/// what it made, that of the convolution what it read. The gradients of the
/// weights go to the caller and take no memory here.
static Problem residualBlocks(uint32_t count) {
  Builder b;
  std::vector<uint32_t> inputs{b.add({0}, 100, Again::Never)}, relus;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t conv = b.add({inputs.back()}, 100, Again::Dear, 50);
    relus.push_back(b.add({conv}, 100, Again::Cheap));
    inputs.push_back(b.add({inputs.back(), relus.back()}, 100, Again::Cheap));
  }
  uint32_t gradient = b.add({inputs.back()}, 100, Again::Never);
  for (uint32_t i = count; i-- > 0;) {
    uint32_t ofConv = b.add({gradient, relus[i]}, 100, Again::Never);
    b.add({ofConv, inputs[i]}, 0, Again::Never, 50);
    uint32_t ofInput = b.add({ofConv}, 100, Again::Never, 50);
    gradient = b.add({gradient, ofInput}, 100, Again::Never);
  }
  return b.problem;
}

static Solution checked(const Problem &problem, Solution solution) {
  EXPECT_EQ(validate(problem, solution), std::nullopt);
  return solution;
}

TEST(Recompute, KeepsAllWithinTheBudget) {
  Problem problem = residualBlocks(4);
  Solution all = checked(problem, keepAll(problem));
  Solution same = checked(problem, solve(problem, all.peakBytes));
  EXPECT_EQ(same.steps, all.steps);
  EXPECT_EQ(same.nanoseconds, 0);
}

TEST(Recompute, CheapOperationsFromStoredResults) {
  // conv -> relu three times; the way back reads both of each.
  Builder b;
  std::vector<uint32_t> convs, relus;
  uint32_t x = 0;
  for (int i = 0; i < 3; ++i) {
    convs.push_back(b.add({x}, 100, Again::Dear, 50));
    x = b.add({convs.back()}, 100, Again::Cheap);
    relus.push_back(x);
  }
  uint32_t gradient = b.add({x}, 10, Again::Never);
  for (int i = 2; i >= 0; --i)
    gradient = b.add({gradient, convs[i], relus[i]}, 10, Again::Never);
  Solution all = checked(b.problem, keepAll(b.problem));
  Solution cheap = checked(b.problem, solveCheap(b.problem));
  EXPECT_EQ(all.peakBytes, 620); // And two gradients.
  // Three stored results, and one relu at a time.
  EXPECT_LE(cheap.peakBytes, 430);
  EXPECT_LE(cheap.nanoseconds, 3);
}

/// Memory of a chain grows as the square root of its length; every operation
/// runs twice at most, so that time grows linearly.
TEST(Recompute, ChainsGrowAsSquareRoots) {
  std::vector<double> scaled;
  for (uint32_t count : {100, 400, 1600}) {
    Problem problem = residualBlocks(count);
    Solution least = checked(problem, solve(problem, /*budget=*/0));
    EXPECT_GT(keepAll(problem).peakBytes, 200 * int64_t(count));
    EXPECT_LE(least.nanoseconds, 52 * int64_t(count));
    scaled.push_back(least.peakBytes / std::sqrt(count));
  }
  for (double each : scaled) {
    EXPECT_LE(each, 800);
    EXPECT_LE(each, 1.3 * scaled.front());
  }
}

/// More bytes never take more time, and what is asked for is kept where it can
/// be: no budget that is met by some answer is missed.
TEST(Recompute, MoreBytesTakeNoMoreTime) {
  Problem problem = residualBlocks(60);
  int64_t least = solve(problem, 0).peakBytes;
  int64_t time = INT64_MAX;
  for (int64_t budget = least; budget <= keepAll(problem).peakBytes;
       budget += 300) {
    Solution solution = checked(problem, solve(problem, budget));
    EXPECT_LE(solution.peakBytes, budget);
    EXPECT_LE(solution.nanoseconds, time);
    time = solution.nanoseconds;
  }
  EXPECT_EQ(solve(problem, least - 1).peakBytes, least);
}

TEST(Recompute, AskedForIsRepeatedWithoutABudget) {
  Problem problem = residualBlocks(8);
  for (Operation &op : problem.operations)
    if (op.again == Again::Dear)
      op.again = Again::Asked;
  Solution solution = checked(problem, solveCheap(problem));
  size_t repeated = 0;
  for (const Step &step : solution.steps)
    repeated += step.isAgain &&
                problem.operations[step.operation].again == Again::Asked;
  EXPECT_GE(repeated, 6u);
}

/// Operations with up to three operands and two results, in any mixture.
static Problem randomProblem(std::mt19937 &random) {
  Builder b;
  uint32_t operations = 1 + random() % 40;
  for (uint32_t i = 0; i < operations; ++i) {
    Operation op;
    uint32_t known = static_cast<uint32_t>(b.problem.bytes.size());
    for (uint32_t reads = random() % 4; reads > 0; --reads)
      op.reads.push_back(random() % known);
    for (uint32_t results = 1 + random() % 2; results > 0; --results) {
      op.writes.push_back(static_cast<uint32_t>(b.problem.bytes.size()));
      b.problem.bytes.push_back(random() % 100);
    }
    op.again = static_cast<Again>(random() % 4);
    op.nanoseconds = random() % 20;
    for (uint32_t value : op.reads)
      if (random() % 2)
        op.inPlace.push_back(value);
    b.problem.operations.push_back(op);
  }
  return b.problem;
}

TEST(Recompute, RandomProblemsAreValid) {
  std::mt19937 random(1);
  size_t better = 0;
  for (int i = 0; i < 1000; ++i) {
    Problem problem = randomProblem(random);
    Solution all = checked(problem, keepAll(problem));
    Solution cheap = checked(problem, solveCheap(problem));
    EXPECT_LE(cheap.peakBytes, all.peakBytes);
    Solution least = checked(problem, solve(problem, 0));
    EXPECT_LE(least.peakBytes, cheap.peakBytes);
    better += least.peakBytes < all.peakBytes;
  }
  EXPECT_GT(better, 50u) << "the problems are too easy";
}

TEST(Recompute, ValidatorFindsEachChange) {
  Problem problem = residualBlocks(6);
  Solution good = checked(problem, solve(problem, 0));
  ASSERT_GT(good.steps.size(), problem.operations.size());
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    Solution other = good;
    size_t step = random() % other.steps.size();
    switch (i % 4) {
    case 0:
      other.peakBytes += 1;
      break;
    case 1:
      other.nanoseconds -= 1;
      break;
    case 2:
      other.steps[step].isAgain = !other.steps[step].isAgain;
      break;
    default:
      other.steps.insert(other.steps.begin() + step, other.steps[step]);
    }
    EXPECT_NE(validate(problem, other), std::nullopt) << "change " << i;
  }
}
