// SPDX-License-Identifier: Apache-2.0
//
// What counts as the same numbers, and how a difference reads.

#include "dlc/Numerics/Comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace dlc;
using namespace dlc::numerics;

template <typename T>
static Tensor make(rt::DataType type, std::vector<int64_t> shape,
                   std::vector<T> values) {
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  return {{type, std::move(shape)}, owner->data(), owner};
}

static std::string difference(const Tensor &expected, const Tensor &found) {
  return findDifference(expected, found).value_or("");
}

TEST(Comparison, AllowsRoundingOfTheLargest) {
  Tensor expected = make<float>(DLC_F32, {2, 2}, {100, 0, 1, 2});
  EXPECT_EQ(
      difference(expected, make<float>(DLC_F32, {2, 2}, {100, 1.9e-3f, 1, 2})),
      "");
  EXPECT_EQ(
      difference(expected, make<float>(DLC_F32, {2, 2}, {100, 0, 1.125f, 2})),
      "expected 1 at [1, 0], got 1.125; 0.002 is allowed");
}

TEST(Comparison, AllowsSmallNumbersAnAbsoluteDifference) {
  Tensor expected = make<double>(DLC_F64, {2}, {1e-3, 0});
  EXPECT_EQ(difference(expected, make<double>(DLC_F64, {2}, {1e-3, 9e-12})),
            "");
  EXPECT_NE(difference(expected, make<double>(DLC_F64, {2}, {1e-3, 2e-11})),
            "");
}

TEST(Comparison, TellsInfinitiesAndNaNApart) {
  float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  Tensor expected = make<float>(DLC_F32, {3}, {inf, nan, 1});
  EXPECT_EQ(difference(expected, make<float>(DLC_F32, {3}, {inf, -nan, 1})),
            "");
  for (std::vector<float> values : {std::vector<float>{-inf, nan, 1},
                                    {inf, inf, 1},
                                    {3e38f, nan, 1},
                                    {inf, nan, nan},
                                    {inf, nan, inf}})
    EXPECT_NE(difference(expected, make<float>(DLC_F32, {3}, values)), "");
}

TEST(Comparison, WantsIntegersEqual) {
  Tensor expected = make<int64_t>(DLC_I64, {2}, {1, int64_t{1} << 60});
  EXPECT_EQ(difference(expected, expected), "");
  EXPECT_NE(difference(expected, make<int64_t>(DLC_I64, {2},
                                               {1, (int64_t{1} << 60) + 1})),
            "");
}

TEST(Comparison, ReadsHalfPrecision) {
  Tensor expected = make<uint16_t>(DLC_F16, {2}, {0x3C00, 0xC000}); // 1, -2
  EXPECT_EQ(numberAt(expected, 0), 1);
  EXPECT_EQ(numberAt(expected, 1), -2);
  EXPECT_EQ(
      difference(expected, make<uint16_t>(DLC_F16, {2}, {0x3C04, 0xC000})), "");
  EXPECT_NE(
      difference(expected, make<uint16_t>(DLC_F16, {2}, {0x3C40, 0xC000})), "");
  EXPECT_EQ(numberAt(make<uint16_t>(DLC_BF16, {1}, {0x3FC0}), 0), 1.5);
}

TEST(Comparison, WantsTypesAndShapesEqual) {
  Tensor expected = make<float>(DLC_F32, {2, 0}, {});
  EXPECT_EQ(difference(expected, make<float>(DLC_F32, {2, 0}, {})), "");
  EXPECT_EQ(difference(expected, make<float>(DLC_F32, {0, 2}, {})),
            "expected 2x0xf32, got 0x2xf32");
}
