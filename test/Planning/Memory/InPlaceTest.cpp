// SPDX-License-Identifier: Apache-2.0
//
// Which results may take over the memory of an operand.

#include "Generators.h"

#include "dlc/Planning/Memory/InPlace.h"
#include "dlc/Planning/Memory/Solver.h"
#include "dlc/Planning/Memory/Validator.h"

#include <gtest/gtest.h>

namespace dlc::planning {
namespace {

using namespace testing;

/// x is read by the operation of step 2, which makes y.
class InPlaceTest : public ::testing::Test {
protected:
  std::vector<Alias> decide() {
    EXPECT_FALSE(checkProblem(problem));
    return decideInPlace(problem, candidates);
  }

  Problem problem{{{"x", 0, 3, 64, 1, {}}, {"y", 2, 5, 64, 1, {}}}, {}, {}};
  Buffer &x() { return problem.buffers[0]; }
  Buffer &y() { return problem.buffers[1]; }
  std::vector<InPlaceCandidate> candidates{{0, 1, 2}};
  const std::vector<Alias> merged{{1, 0, 0}};
};

TEST_F(InPlaceTest, MergesWhereTheOperandDies) {
  EXPECT_EQ(lowerBound(problem), 128);
  EXPECT_EQ(decide(), merged);
  problem.aliases = merged;
  EXPECT_EQ(solve(problem).arenaBytes, 64);
}

TEST_F(InPlaceTest, MergesLivesThatTouch) {
  x().upper = 2;
  EXPECT_EQ(decide(), merged);
}

TEST_F(InPlaceTest, KeepsAnOperandThatLivesOn) {
  x().upper = 4;
  EXPECT_TRUE(decide().empty());
}

TEST_F(InPlaceTest, KeepsAnOperandThatIsGone) {
  x().upper = 1;
  EXPECT_TRUE(decide().empty());
}

TEST_F(InPlaceTest, KeepsAResultOfAnotherStep) {
  y().lower = 1;
  EXPECT_TRUE(decide().empty());
}

TEST_F(InPlaceTest, KeepsAnOperandWithALivingView) {
  problem.buffers.push_back({"view", 1, 4, 16, 1, {}});
  problem.aliases = {{2, 0, 48}};
  EXPECT_TRUE(decide().empty());
  problem.buffers[1].size = 48; // now the result leaves the view alone
  EXPECT_EQ(decide(), merged);
  problem.buffers[1].size = 64;
  problem.buffers[2].upper = 3; // or the view dies with the operand
  EXPECT_EQ(decide(), merged);
}

TEST_F(InPlaceTest, KeepsAResultWhoseViewCameBefore) {
  problem.buffers.push_back({"accumulator", 1, 5, 64, 1, {}});
  problem.aliases = {{1, 2, 0}};
  EXPECT_TRUE(decide().empty());
}

TEST_F(InPlaceTest, TakesOneResultPerOperand) {
  problem.buffers.push_back({"z", 2, 5, 64, 1, {}});
  candidates = {{0, 2, 2}, {0, 1, 2}};
  EXPECT_EQ(decide(), (std::vector<Alias>{{2, 0, 0}}));
}

TEST_F(InPlaceTest, PrefersEqualSizesThenLargerOnes) {
  problem.buffers.push_back({"small", 0, 3, 8, 1, {}});
  problem.buffers.push_back({"large", 0, 3, 256, 1, {}});
  candidates = {{2, 1, 2}, {3, 1, 2}, {0, 1, 2}};
  EXPECT_EQ(decide(), merged);
  candidates.pop_back();
  EXPECT_EQ(decide(), (std::vector<Alias>{{1, 3, 0}}));
}

TEST_F(InPlaceTest, FollowsChains) {
  problem.buffers.push_back({"z", 4, 7, 64, 1, {}});
  candidates = {{1, 2, 4}, {0, 1, 2}};
  EXPECT_EQ(decide(), (std::vector<Alias>{{2, 1, 0}, {1, 0, 0}}));
}

TEST_F(InPlaceTest, RefusesContradictoryAlignment) {
  problem.buffers.push_back({"base", 0, 3, 128, 64, {}});
  problem.aliases = {{0, 2, 16}};
  y().alignment = 16;
  EXPECT_EQ(decide(), merged);
  problem.buffers[1].alignment = 32;
  EXPECT_TRUE(decide().empty());
}

TEST_F(InPlaceTest, RefusesContradictoryPins) {
  x().pinnedOffset = 0;
  y().pinnedOffset = 64;
  EXPECT_TRUE(decide().empty());
  y().pinnedOffset = 0;
  y().lower = 3; // two pins on the same bytes must not meet in time
  EXPECT_EQ(decide(), merged);
}

TEST_F(InPlaceTest, RefusesToRaiseTheBound) {
  x().pinnedOffset = 64;
  x().size = 8;
  y().size = 72; // at 64 it would end at 136; apart, 80 bytes do
  EXPECT_EQ(lowerBound(problem), 80);
  EXPECT_TRUE(decide().empty());
  y().size = 16; // at 64 it would end at 80; apart, 72 bytes do
  EXPECT_EQ(lowerBound(problem), 72);
  EXPECT_TRUE(decide().empty());
  y().size = 8;
  EXPECT_EQ(decide(), merged);
}

TEST_F(InPlaceTest, RefusesToMeetAPin) {
  x().pinnedOffset = 0;
  y().size = 100;
  problem.buffers.push_back({"pinned", 4, 6, 64, 1, 64});
  EXPECT_TRUE(decide().empty());
  problem.buffers[2].lower = 5;
  EXPECT_EQ(decide(), merged);
}

TEST_F(InPlaceTest, IgnoresCandidatesOutOfRange) {
  candidates = {{0, 9, 2}, {9, 1, 2}, {0, 0, 2}, {0, 1, 2}};
  EXPECT_EQ(decide(), merged);
}

// The promises, on problems of all kinds: the bound does not rise, and the
// problem stays well formed and can be packed.
TEST_F(InPlaceTest, NeverRaisesTheBound) {
  int accepted = 0;
  for (Tiny kind :
       {Tiny::Aligned, Tiny::Pinned, Tiny::InPlaceChains, Tiny::Views}) {
    for (uint64_t seed = 0; seed < 400; ++seed) {
      Problem tiny = tinyProblem(kind, seed);
      if (checkProblem(tiny))
        continue;
      std::vector<InPlaceCandidate> all;
      for (size_t a = 0; a < tiny.buffers.size(); ++a)
        for (size_t b = 0; b < tiny.buffers.size(); ++b)
          all.push_back({a, b, tiny.buffers[b].lower});
      const int64_t before = lowerBound(tiny);
      const std::vector<Alias> added = decideInPlace(tiny, all);
      accepted += static_cast<int>(added.size());
      tiny.aliases.insert(tiny.aliases.end(), added.begin(), added.end());
      const Error error = checkProblem(tiny);
      ASSERT_FALSE(error) << *error;
      EXPECT_LE(lowerBound(tiny), before);
      EXPECT_FALSE(validate(tiny, solve(tiny)));
    }
  }
  EXPECT_GT(accepted, 200);
}

TEST_F(InPlaceTest, SavesMemoryInNetworks) {
  std::vector<InPlaceCandidate> all;
  Problem network = networkLike(Network::ChainWithSkips, 200, 1, &all);
  const int64_t before = solve(network).arenaBytes;
  network.aliases = decideInPlace(network, all);
  EXPECT_GT(network.aliases.size(), 20u);
  EXPECT_LE(solve(network).arenaBytes, before);
}

} // namespace
} // namespace dlc::planning
