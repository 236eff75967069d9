// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Placement/Placement.h"

#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace dlc::planning::placement;

/// Operation i makes value i alone and reads the values of `operands[i]`.
static Problem makeProblem(std::vector<std::vector<uint32_t>> operands,
                           std::vector<uint32_t> asked) {
  Problem problem;
  problem.valueCount = static_cast<uint32_t>(operands.size());
  for (uint32_t i = 0; i < problem.valueCount; ++i)
    problem.operations.push_back({operands[i], {i}, asked[i]});
  return problem;
}

static constexpr uint32_t any = kAnyDevice;

static std::vector<Copy> copiesOf(const Problem &problem) {
  std::vector<uint32_t> devices = place(problem);
  std::vector<Copy> copies = planCopies(problem, devices);
  EXPECT_EQ(validate(problem, devices, copies), std::nullopt);
  return copies;
}

TEST(Placement, NothingAskedIsTheFirstDevice) {
  Problem problem = makeProblem({{}, {0}, {1}}, {any, any, any});
  EXPECT_EQ(place(problem), (std::vector<uint32_t>{0, 0, 0}));
  EXPECT_TRUE(copiesOf(problem).empty());
}

TEST(Placement, FollowsOperandsThenUsers) {
  // 0 -> 1(on 2) -> 2: the result follows its operand, the input its user.
  Problem problem = makeProblem({{}, {0}, {1}}, {any, 2, any});
  EXPECT_EQ(place(problem), (std::vector<uint32_t>{2, 2, 2}));
}

TEST(Placement, FirstOperandAndLastUserDecide) {
  // 2 reads 0 (on 1) and 1 (on 2); 3 is read on 1 and, last, on 2.
  Problem operands = makeProblem({{}, {}, {0, 1}}, {1, 2, any});
  EXPECT_EQ(place(operands), (std::vector<uint32_t>{1, 2, 1}));
  Problem users = makeProblem({{}, {0}, {0}}, {any, 1, 2});
  EXPECT_EQ(place(users), (std::vector<uint32_t>{2, 1, 2}));
}

/// NNVM sweeps once each way and leaves operation 1 on device 0, which costs a
/// copy of value 0 that nothing asked for.
TEST(Placement, ReachesSiblingsOfPlacedUsers) {
  Problem problem = makeProblem({{}, {0}, {0}}, {any, any, 3});
  EXPECT_EQ(place(problem), (std::vector<uint32_t>{3, 3, 3}));
  EXPECT_TRUE(copiesOf(problem).empty());
}

TEST(Placement, PinnedStaysBetweenOthers) {
  Problem problem = makeProblem({{}, {0}, {1}, {2}}, {1, 1, 0, 1});
  EXPECT_EQ(place(problem), (std::vector<uint32_t>{1, 1, 0, 1}));
  EXPECT_EQ(copiesOf(problem), (std::vector<Copy>{{1, 0}, {2, 1}}));
}

TEST(Placement, OneCopyForManyUsersOfOneDevice) {
  // Read twice by one operation and by three operations of device 1.
  Problem problem =
      makeProblem({{}, {0, 0}, {0}, {0, 1}, {0}}, {0, 1, 1, 1, 2});
  EXPECT_EQ(copiesOf(problem), (std::vector<Copy>{{0, 1}, {0, 2}}));
}

TEST(Placement, ConstantsFollowUsersAndDecideNothing) {
  // Constant 0 is read on 1 and 2; operation 3, which reads it first, follows
  // its other operand.
  Problem problem =
      makeProblem({{}, {}, {0, 1}, {0, 4}, {}}, {any, any, 1, any, 2});
  problem.operations[0].isConstant = true;
  std::swap(problem.operations[3], problem.operations[4]);
  EXPECT_EQ(place(problem), (std::vector<uint32_t>{1, 1, 1, 2, 2}));
  EXPECT_EQ(copiesOf(problem), (std::vector<Copy>{{0, 2}}));
}

/// Operations that read up to three earlier values and make one or two.
static Problem randomProblem(std::mt19937 &random, uint32_t operations,
                             uint32_t devices) {
  Problem problem;
  for (uint32_t i = 0; i < operations; ++i) {
    Operation op;
    for (uint32_t reads = problem.valueCount ? random() % 4 : 0; reads > 0;
         --reads)
      op.operands.push_back(random() % problem.valueCount);
    for (uint32_t results = 1 + random() % 2; results > 0; --results)
      op.results.push_back(problem.valueCount++);
    if (random() % 3 == 0)
      op.device = random() % devices;
    op.isConstant = op.operands.empty() && random() % 4 == 0;
    problem.operations.push_back(op);
  }
  return problem;
}

TEST(Placement, RandomProblemsAreValid) {
  std::mt19937 random(1);
  size_t copied = 0;
  for (int i = 0; i < 3000; ++i) {
    Problem problem = randomProblem(random, random() % 20, 1 + random() % 4);
    copied += copiesOf(problem).size();
  }
  EXPECT_GT(copied, 1000u) << "the problems are too easy";
}

/// Every free operation with a placed relative, through operations that are not
/// constant, agrees with one of its relatives: nothing falls back to device 0
/// without need.
TEST(Placement, NothingFallsBackNextToPlacedOperations) {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    Problem problem = randomProblem(random, 12, 3);
    for (Operation &op : problem.operations)
      if (op.device != kAnyDevice)
        ++op.device; // Device 0 is not asked for.
    std::vector<uint32_t> devices = place(problem);
    std::vector<uint32_t> makers(problem.valueCount);
    for (uint32_t op = 0; op < problem.operations.size(); ++op)
      for (uint32_t value : problem.operations[op].results)
        makers[value] = op;
    for (uint32_t op = 0; op < problem.operations.size(); ++op)
      for (uint32_t value : problem.operations[op].operands)
        if (!problem.operations[makers[value]].isConstant)
          EXPECT_EQ(devices[op] == 0, devices[makers[value]] == 0);
  }
}

/// The fewest copies that let every operation find its operands on its device,
/// by trying every set of (value, device) pairs.
static size_t fewestCopies(const Problem &problem,
                           const std::vector<uint32_t> &devices,
                           uint32_t deviceCount) {
  std::vector<Copy> pairs;
  for (uint32_t value = 0; value < problem.valueCount; ++value)
    for (uint32_t device = 0; device < deviceCount; ++device)
      pairs.push_back({value, device});
  size_t fewest = pairs.size();
  for (uint64_t set = 0; set < (uint64_t(1) << pairs.size()); ++set) {
    size_t count = static_cast<size_t>(__builtin_popcountll(set));
    if (count >= fewest)
      continue;
    std::set<Copy> present;
    for (uint32_t op = 0; op < problem.operations.size(); ++op)
      for (uint32_t value : problem.operations[op].results)
        present.insert({value, devices[op]});
    for (size_t i = 0; i < pairs.size(); ++i)
      if (set >> i & 1)
        present.insert(pairs[i]);
    bool works = true;
    for (uint32_t op = 0; op < problem.operations.size(); ++op)
      for (uint32_t value : problem.operations[op].operands)
        works &= present.contains({value, devices[op]});
    if (works)
      fewest = count;
  }
  return fewest;
}

TEST(Placement, CopiesAreTheFewest) {
  std::mt19937 random(3);
  size_t copied = 0;
  for (int i = 0; i < 150; ++i) {
    uint32_t deviceCount = 2 + random() % 2;
    Problem problem = randomProblem(random, 5, deviceCount);
    if (problem.valueCount * deviceCount > 14)
      continue;
    std::vector<uint32_t> devices = place(problem);
    std::vector<Copy> copies = planCopies(problem, devices);
    EXPECT_EQ(copies.size(), fewestCopies(problem, devices, deviceCount))
        << "problem " << i;
    copied += copies.size();
  }
  EXPECT_GT(copied, 20u) << "the problems are too easy";
}

TEST(Placement, ValidatorFindsEachChange) {
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) {
    Problem problem = randomProblem(random, 10, 3);
    std::vector<uint32_t> devices = place(problem);
    std::vector<Copy> copies = planCopies(problem, devices);
    std::vector<Copy> other = copies;
    if (!other.empty()) {
      other.erase(other.begin() + random() % other.size());
      EXPECT_NE(validate(problem, devices, other), std::nullopt) << i;
      other = copies;
      other.push_back(copies[random() % copies.size()]);
      EXPECT_NE(validate(problem, devices, other), std::nullopt) << i;
    }
    other = copies;
    other.push_back({uint32_t(random() % problem.valueCount), 7});
    EXPECT_NE(validate(problem, devices, other), std::nullopt) << i;
    for (size_t op = 0; op < devices.size(); ++op)
      if (problem.operations[op].device != kAnyDevice) {
        std::vector<uint32_t> moved = devices;
        moved[op] = 5;
        EXPECT_NE(validate(problem, moved, copies), std::nullopt) << i;
      }
  }
}
