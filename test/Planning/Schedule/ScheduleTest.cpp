// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Schedule/Schedule.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace dlc::planning::schedule;

/// The least peak over all legal orders; for tiny problems only.
static int64_t bruteForce(const Problem &problem) {
  std::vector<uint32_t> order(problem.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    Solution candidate{order, peakBytes(problem, order), ""};
    if (!validate(problem, candidate))
      best = std::min(best, candidate.peakBytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// Each task writes one buffer and reads up to two earlier ones.
static Problem randomProblem(std::mt19937 &random, uint32_t tasks) {
  Problem problem;
  for (uint32_t i = 0; i < tasks; ++i) {
    Task task;
    task.writes = {i};
    for (int reads = 0; i > 0 && reads < 2; ++reads)
      if (random() % 4)
        task.reads.push_back(random() % i);
    problem.tasks.push_back(task);
    problem.bufferBytes.push_back(64 * (1 + random() % 16));
  }
  return problem;
}

TEST(ScheduleTest, RunsTheBranchThatFreesFirst) {
  // Two branches of a big and a small buffer, joined: finishing one branch
  // before starting the other keeps one big buffer live instead of two.
  Problem problem{
      {100, 100, 1, 1, 1},
      {{{}, {0}}, {{}, {1}}, {{0}, {2}}, {{1}, {3}}, {{2, 3}, {4}}}};
  Solution solution = solve(problem);
  EXPECT_EQ(solution.peakBytes, 102);
  EXPECT_EQ(validate(problem, solution), std::nullopt);
}

TEST(ScheduleTest, OutsideBuffersCostNothing) {
  Problem problem{{1000, 8}, {{{0}, {1}}}};
  EXPECT_EQ(solve(problem).peakBytes, 8);
}

TEST(ScheduleTest, UnreadResultsDieAtOnce) {
  Problem problem{{8, 8}, {{{}, {0}}, {{}, {1}}}};
  EXPECT_EQ(solve(problem).peakBytes, 8);
}

TEST(ScheduleTest, WhatAddsToLiveBytesRunsLate) {
  // Task 3 needs nothing, and only the last task reads its result. Lists run it
  // first, since it grows least, and so it is there at the peak.
  Problem problem{
      {4, 7, 4, 2, 1},
      {{{}, {0}}, {{0}, {1}}, {{0}, {2}}, {{}, {3}}, {{3, 1}, {4}}}};
  Solution solution = solve(problem);
  EXPECT_EQ(validate(problem, solution), std::nullopt);
  EXPECT_EQ(solution.peakBytes, 11);
  EXPECT_EQ(solution.peakBytes, bruteForce(problem));
  EXPECT_EQ(solution.order[3], 3u);
}

TEST(ScheduleTest, EmptyProblem) {
  EXPECT_EQ(validate({}, solve({})), std::nullopt);
}

TEST(ScheduleTest, NeverWorseThanGivenAndOftenOptimal) {
  std::mt19937 random(1);
  int optimal = 0;
  for (int round = 0; round < 100; ++round) {
    Problem problem = randomProblem(random, 7);
    Solution solution = solve(problem);
    ASSERT_EQ(validate(problem, solution), std::nullopt);
    int64_t best = bruteForce(problem);
    ASSERT_GE(solution.peakBytes, best);
    optimal += solution.peakBytes == best;
  }
  EXPECT_GE(optimal, 70);
}

/// Buffers from outside behind the others; each is read by some tasks and
/// overwritten by a later one that no reader depends on.
static void addOverwrites(std::mt19937 &random, Problem &problem) {
  uint32_t tasks = problem.tasks.size();
  for (int i = 0; i < 2; ++i) {
    uint32_t buffer = problem.bufferBytes.size();
    problem.bufferBytes.push_back(64);
    uint32_t writer = 1 + random() % (tasks - 1);
    for (uint32_t task = 0; task <= writer; ++task)
      if (random() % 2)
        problem.tasks[task].reads.push_back(buffer);
    problem.tasks[writer].overwrites.push_back(buffer);
  }
}

TEST(ScheduleTest, OverwritesAfterAllReads) {
  std::mt19937 random(2);
  int reordered = 0;
  for (int round = 0; round < 100; ++round) {
    Problem problem = randomProblem(random, 7);
    addOverwrites(random, problem);
    Solution solution = solve(problem);
    ASSERT_EQ(validate(problem, solution), std::nullopt);
    ASSERT_GE(solution.peakBytes, bruteForce(problem));
    reordered += std::string(solution.how) != "given order";
  }
  // Both lists find legal orders, not only the given one.
  EXPECT_GT(reordered, 10);
}

TEST(ScheduleTest, ValidatorFindsReadsOfWhatIsOverwritten) {
  // Task 1 writes over buffer 2, which task 0 reads.
  Problem problem{{8, 8, 8}, {{{2}, {0}, {}}, {{}, {1}, {2}}}};
  Solution good{{0, 1}, 8, ""}, bad{{1, 0}, 8, ""};
  EXPECT_EQ(validate(problem, good), std::nullopt);
  EXPECT_EQ(validate(problem, bad),
            "buffer 2 is read at step 1 but overwritten at step 0");
  EXPECT_EQ(solve(problem).order, good.order);
}

TEST(ScheduleTest, ValidatorFindsFaults) {
  Problem problem{{4, 4}, {{{}, {0}}, {{0}, {1}}}};
  Solution good = solve(problem);
  Solution wrongPeak = good, swapped = good, twice = good, missing = good;
  wrongPeak.peakBytes += 1;
  std::swap(swapped.order[0], swapped.order[1]);
  twice.order[1] = twice.order[0];
  missing.order.pop_back();
  EXPECT_EQ(validate(problem, good), std::nullopt);
  for (const Solution &bad : {wrongPeak, swapped, twice, missing})
    EXPECT_NE(validate(problem, bad), std::nullopt);
}
