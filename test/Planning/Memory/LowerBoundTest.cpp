// SPDX-License-Identifier: Apache-2.0
//
// lowerBound() on cases worked out by hand.

#include "dlc/Planning/Memory/Solver.h"

#include <gtest/gtest.h>

namespace dlc::planning {
namespace {

TEST(LowerBoundTest, PeakOfLiveBytes) {
  const Problem problem{{{"a", 0, 2, 10, 1, {}},
                         {"b", 1, 3, 20, 1, {}},
                         {"c", 2, 4, 15, 1, {}}}, // a ends as c starts
                        {},
                        {}};
  EXPECT_EQ(lowerBound(problem), 35);
}

TEST(LowerBoundTest, CountsAGroupOnce) {
  Problem problem{{{"base", 0, 4, 100, 1, {}},
                   {"view", 1, 6, 40, 1, {}},
                   {"other", 4, 6, 30, 1, {}}},
                  {{1, 0, 60}},
                  {}};
  EXPECT_EQ(lowerBound(problem), 100); // at 4: 40 of the view and 30
  problem.aliases[0].delta = 80;       // now the view ends beyond its base
  EXPECT_EQ(lowerBound(problem), 120);
}

TEST(LowerBoundTest, RoundsAllButTheTopToTheAlignment) {
  const Problem problem{
      {{"a", 0, 1, 10, 16, {}}, {"b", 0, 1, 14, 16, {}}}, {}, {}};
  EXPECT_EQ(lowerBound(problem), 16 + 10);
}

TEST(LowerBoundTest, TopOfAPin) {
  const Problem problem{
      {{"a", 0, 1, 10, 1, 90}, {"b", 0, 1, 10, 1, {}}}, {}, {}};
  EXPECT_EQ(lowerBound(problem), 100);
}

TEST(LowerBoundTest, SpanOfAGroup) {
  // Never live together, but tied 50 bytes apart.
  const Problem problem{
      {{"a", 0, 1, 10, 1, {}}, {"b", 1, 2, 10, 1, {}}}, {{1, 0, 50}}, {}};
  EXPECT_EQ(lowerBound(problem), 60);
}

} // namespace
} // namespace dlc::planning
