// SPDX-License-Identifier: Apache-2.0
//
// The validator catches seeded faults.

#include "Generators.h"

#include "dlc/Planning/Memory/Solver.h"
#include "dlc/Planning/Memory/Validator.h"

#include <gtest/gtest.h>

namespace dlc::planning {
namespace {

using namespace testing;

/// A sound packing: a and b live together, c follows a at its place, d is a
/// view of b.
class ValidatorTest : public ::testing::Test {
protected:
  void expectFault(const std::string &message) {
    const Error error = validate(problem, solution);
    ASSERT_TRUE(error);
    EXPECT_EQ(*error, message);
  }

  Problem problem{{{"a", 0, 2, 16, 16, {}},
                   {"b", 0, 4, 32, 16, {}},
                   {"c", 2, 4, 16, 16, {}},
                   {"d", 1, 3, 8, 4, {}}},
                  {{3, 1, 4}},
                  {}};
  Solution solution{{0, 16, 0, 20}, 48, 48, Method::Search, 0};
};

TEST_F(ValidatorTest, SoundPackingPasses) {
  EXPECT_FALSE(validate(problem, solution));
}

TEST_F(ValidatorTest, MissingOffset) {
  solution.offsets.pop_back();
  expectFault("expected 4 offsets, got 3");
}

TEST_F(ValidatorTest, NegativeOffset) {
  solution.offsets[0] = -16;
  expectFault("buffer 'a': expected offset >= 0, got -16");
}

TEST_F(ValidatorTest, Misaligned) {
  solution.offsets[2] = 8;
  expectFault("buffer 'c': expected an offset aligned to 16, got 8");
}

TEST_F(ValidatorTest, OffItsPin) {
  problem.buffers[0].pinnedOffset = 16;
  expectFault("buffer 'a': expected the pinned offset 16, got 0");
}

TEST_F(ValidatorTest, OverflowingEnd) {
  solution.offsets[0] = INT64_MAX / 16 * 16;
  expectFault("buffer 'a': expected an end below 2^63, got "
              "9223372036854775792");
}

TEST_F(ValidatorTest, BrokenAlias) {
  solution.offsets[3] = 16;
  expectFault("buffer 'd': expected 4 bytes from its base buffer 'b', got 0");
}

TEST_F(ValidatorTest, SharedBytes) {
  solution.offsets[2] = 32;
  expectFault("buffer 'b' and buffer 'c' share bytes at time 2");
}

TEST_F(ValidatorTest, TiedBuffersShareBytesOnlyWithEachOther) {
  problem.aliases.clear();
  expectFault("buffer 'b' and buffer 'd' share bytes at time 1");
}

// The clash is with a buffer that a larger one, tied to it, could hide.
TEST_F(ValidatorTest, SeesThroughGroups) {
  problem.buffers.push_back({"e", 2, 3, 4, 4, {}});
  solution.offsets.push_back(24);
  expectFault("buffer 'b' and buffer 'e' share bytes at time 2");
}

TEST_F(ValidatorTest, WrongArena) {
  solution.arenaBytes = 64;
  expectFault("expected an arena of 48 bytes, got 64");
}

TEST_F(ValidatorTest, ImpossibleBound) {
  solution.lowerBound = 49;
  expectFault("expected a lower bound of at most 48 bytes, got 49");
}

TEST_F(ValidatorTest, BeyondCapacity) {
  problem.capacity = 47;
  expectFault("expected an arena of at most 47 bytes, got 48");
}

// In a packing without a free byte, moving any buffer makes a fault.
TEST_F(ValidatorTest, AnyMoveInAPerfectPackingIsAFault) {
  const Problem perfect = cutRectangle(40, 40, 256, 50, 3);
  const Solution packed = solve(perfect);
  ASSERT_FALSE(validate(perfect, packed));
  ASSERT_EQ(packed.arenaBytes, 256);
  for (size_t i = 0; i < perfect.buffers.size(); ++i) {
    for (int64_t move : {-1, 1}) {
      Solution moved = packed;
      moved.offsets[i] += move;
      EXPECT_TRUE(validate(perfect, moved)) << i << " " << move;
    }
  }
}

} // namespace
} // namespace dlc::planning
