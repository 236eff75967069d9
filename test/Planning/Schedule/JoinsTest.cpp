// SPDX-License-Identifier: Apache-2.0
//
// Which results are made in one piece of memory with their parts.

#include "dlc/Planning/Schedule/Joins.h"

#include <gtest/gtest.h>

namespace dlc::planning::schedule {
namespace {

/// Buffers 0 and 1 are made of nothing, 2 of them, and something reads it.
Problem twoParts() {
  return {{64, 64, 128},
          {{{}, {0}, {}}, {{}, {1}, {}}, {{0, 1}, {2}, {}}, {{2}, {}, {}}},
          {}};
}

TEST(JoinsTest, PartsAreMadeWhereTheyStay) {
  EXPECT_EQ(chooseJoins(twoParts(), {{2, {0, 1}}}), std::vector<bool>{true});
}

// The first part is made of buffer 3 and the second one of the first, so that
// nothing can be put off: what is beside the first part waits with it.
TEST(JoinsTest, MemoryThatWaitsForTheLastPartIsTooMuch) {
  auto problem = [](int64_t bytes) {
    return Problem{{64, 64, 128, bytes},
                   {{{}, {3}, {}},
                    {{3}, {0}, {}},
                    {{0}, {1}, {}},
                    {{0, 1}, {2}, {}},
                    {{2}, {}, {}}},
                   {}};
  };
  EXPECT_EQ(chooseJoins(problem(128), {{3, {0, 1}}}), std::vector<bool>{true});
  EXPECT_EQ(chooseJoins(problem(256), {{3, {0, 1}}}), std::vector<bool>{false});
}

TEST(JoinsTest, APartHasOnePlace) {
  Problem problem = twoParts();
  problem.bufferBytes.push_back(128); // Of 1 and 0 once more.
  problem.tasks.push_back({{1, 0}, {3}, {}});
  problem.tasks.push_back({{3}, {}, {}});
  EXPECT_EQ(chooseJoins(problem, {{2, {0, 1}}, {4, {1, 0}}}),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(chooseJoins(problem, {{2, {0, 0}}, {4, {1, 0}}}),
            (std::vector<bool>{false, true}));
}

// As densely connected networks have them: each one is a part of the next.
TEST(JoinsTest, AResultIsAPart) {
  Problem problem{{64, 64, 128, 64, 192},
                  {{{}, {0}, {}},
                   {{0}, {1}, {}},
                   {{0, 1}, {2}, {}},
                   {{2}, {3}, {}},
                   {{2, 3}, {4}, {}},
                   {{4}, {}, {}}},
                  {}};
  EXPECT_EQ(chooseJoins(problem, {{2, {0, 1}}, {4, {2, 3}}}),
            (std::vector<bool>{true, true}));
}

TEST(JoinsTest, NothingIsNoJoin) { EXPECT_TRUE(chooseJoins({}, {}).empty()); }

// A small part that lets a larger buffer go is not made early when the whole
// comes with it.
TEST(JoinsTest, WholesAreLiveAsAWhole) {
  Problem problem{{1024, 8, 1024, 2048},
                  {{{}, {0}, {}},     // large
                   {{0}, {1}, {}},    // first part, of large
                   {{}, {2}, {}},     // second part
                   {{1, 2}, {}, {}}}, // reads the whole
                  {{1, 2}}};
  EXPECT_EQ(peakBytes(problem, {0, 1, 2, 3}), 1024 + 8 + 1024);
  EXPECT_EQ(peakBytes(problem, {0, 2, 1, 3}), 1024 + 8 + 1024);
  problem.wholes.clear();
  EXPECT_EQ(peakBytes(problem, {0, 1, 2, 3}), 1024 + 8);
  problem.wholes = {{1, 2}};
  Solution solution = solve(problem);
  EXPECT_EQ(validate(problem, solution), std::nullopt);
  --solution.peakBytes;
  EXPECT_NE(validate(problem, solution), std::nullopt);
}

} // namespace
} // namespace dlc::planning::schedule
