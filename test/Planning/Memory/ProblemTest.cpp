// SPDX-License-Identifier: Apache-2.0
//
// What checkProblem() refuses, and with which words.

#include "dlc/Planning/Memory/Problem.h"
#include "dlc/Planning/Memory/Solver.h"

#include <gtest/gtest.h>

namespace dlc::planning {
namespace {

Buffer makeBuffer(std::string id) { return {std::move(id), 0, 2, 8, 1, {}}; }

/// Two sound buffers, changed by the test.
class ProblemTest : public ::testing::Test {
protected:
  void expectFault(const std::string &message) {
    const Error error = checkProblem(problem);
    ASSERT_TRUE(error);
    EXPECT_EQ(*error, message);
    // The solver refuses it as well, instead of running into it.
    EXPECT_EQ(solve(problem).how, Method::None);
    EXPECT_EQ(lowerBound(problem), 0);
  }

  Problem problem{{makeBuffer("a"), makeBuffer("b")}, {}, {}};
  Buffer &a = problem.buffers[0];
  Buffer &b = problem.buffers[1];
};

TEST_F(ProblemTest, SoundProblemPasses) {
  problem.aliases.push_back({1, 0, 4});
  EXPECT_FALSE(checkProblem(problem));
}

TEST_F(ProblemTest, NegativeLower) {
  a.lower = -1;
  expectFault("buffer 'a': expected lower >= 0, got -1");
}

TEST_F(ProblemTest, EmptyLife) {
  a.lower = 2;
  expectFault("buffer 'a': expected upper > lower 2, got 2");
}

TEST_F(ProblemTest, NegativeSize) {
  b.size = -8;
  expectFault("buffer 'b': expected size >= 0, got -8");
}

TEST_F(ProblemTest, OddAlignment) {
  for (int64_t alignment : {int64_t{0}, int64_t{-4}, int64_t{24}, INT64_MIN}) {
    a.alignment = alignment;
    expectFault("buffer 'a': expected an alignment that is a power of two, "
                "got " +
                std::to_string(alignment));
  }
}

TEST_F(ProblemTest, NegativePin) {
  a.pinnedOffset = -8;
  expectFault("buffer 'a': expected offset >= 0, got -8");
}

TEST_F(ProblemTest, MisalignedPin) {
  a.alignment = 16;
  a.pinnedOffset = 24;
  expectFault("buffer 'a': expected an offset aligned to 16, got 24");
}

TEST_F(ProblemTest, DuplicateId) {
  b.id = "a";
  expectFault("expected unique ids, got 'a' twice");
}

TEST_F(ProblemTest, AliasOutOfRange) {
  problem.aliases.push_back({0, 2, 0});
  expectFault("expected an alias between two of 2 buffers, got 0 and 2");
}

TEST_F(ProblemTest, Overflow) {
  const std::string message = "sizes, alignments, pins and aliases overflow: "
                              "expected a sum below 2^60";
  a.size = INT64_MAX;
  b.size = INT64_MAX;
  expectFault(message);
  a.size = b.size = 1;
  a.alignment = int64_t{1} << 62;
  expectFault(message);
  a.alignment = 1;
  a.pinnedOffset = INT64_MAX;
  expectFault(message);
  a.pinnedOffset.reset();
  problem.aliases.push_back({0, 1, -INT64_MAX});
  expectFault(message);
  problem.aliases[0].delta = INT64_MIN;
  expectFault("alias of buffer 'a' is too far from its base");
}

TEST_F(ProblemTest, NegativeCapacity) {
  problem.capacity = -1;
  expectFault("expected capacity >= 0, got -1");
}

TEST_F(ProblemTest, ContradictoryAliases) {
  problem.aliases = {{1, 0, 4}, {0, 1, 4}};
  expectFault("aliases contradict each other: expected buffer 'b' at -4 from "
              "buffer 'a', got 4");
}

TEST_F(ProblemTest, SelfAliasAtADistance) {
  problem.aliases = {{0, 0, 1}};
  EXPECT_TRUE(checkProblem(problem));
  problem.aliases = {{0, 0, 0}};
  EXPECT_FALSE(checkProblem(problem));
}

TEST_F(ProblemTest, AliasOffAlignment) {
  b.alignment = a.alignment = 8;
  problem.aliases = {{1, 0, 4}};
  expectFault("aliases place buffer 'b' off its alignment of 8");
}

TEST_F(ProblemTest, PinsContradictAliases) {
  a.pinnedOffset = 0;
  b.pinnedOffset = 5;
  problem.aliases = {{1, 0, 4}};
  expectFault("pinned offset 5 of buffer 'b' contradicts its aliases, "
              "expected 4");
}

TEST_F(ProblemTest, PinPushesAliasBelowZero) {
  a.pinnedOffset = 3;
  problem.aliases = {{1, 0, -4}};
  expectFault("pinned offset of buffer 'a' places one of its aliases below "
              "offset 0");
}

TEST_F(ProblemTest, PinPushesAliasOffAlignment) {
  a.pinnedOffset = 3;
  b.alignment = 2;
  problem.aliases = {{1, 0, 0}};
  expectFault("pinned offset of buffer 'a' places one of its aliases off its "
              "alignment");
}

TEST_F(ProblemTest, PinsOnTheSameBytes) {
  a.pinnedOffset = 0;
  b.pinnedOffset = 7;
  expectFault("pins place the groups of buffers 'a' and 'b' on the same bytes "
              "at the same time");
  b.pinnedOffset = 0;
  expectFault("pins place the groups of buffers 'a' and 'b' on the same bytes "
              "at the same time");
  b.pinnedOffset = 8;
  EXPECT_FALSE(checkProblem(problem));
  b.pinnedOffset = 0;
  b.lower = 2;
  b.upper = 4;
  EXPECT_FALSE(checkProblem(problem));
}

} // namespace
} // namespace dlc::planning
