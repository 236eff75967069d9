// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Half.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dlc::rt;

/// The neighbours of every pair of consecutive halves round as they should:
/// below the middle down, above it up, at it to even.
TEST(Half, RoundsEveryIntervalToNearestEven) {
  for (uint16_t low = 0; low < 0x7bff; ++low) {
    uint16_t high = low + 1, even = low & 1 ? high : low;
    double middle = (double(floatFromHalf(low)) + floatFromHalf(high)) / 2;
    ASSERT_EQ(halfFromDouble(middle), even) << low;
    ASSERT_EQ(halfFromDouble(std::nextafter(middle, 0)), low);
    ASSERT_EQ(halfFromDouble(std::nextafter(middle, 1e9)), high);
    ASSERT_EQ(halfFromDouble(-middle), even | 0x8000);
  }
}

TEST(Half, KeepsEveryValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = floatFromHalf(bits);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(floatFromHalf(halfFromFloat(value))));
    else
      ASSERT_EQ(halfFromFloat(value), bits);
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(floatFromHalf(0x3c00), 1.0f);
  EXPECT_EQ(floatFromHalf(0xc000), -2.0f);
  EXPECT_EQ(floatFromHalf(0x7bff), 65504.0f);
  EXPECT_EQ(floatFromHalf(0x0001), 0x1p-24f);
  EXPECT_EQ(floatFromHalf(0x7c00), INFINITY);
  EXPECT_EQ(halfFromFloat(65519.996f), 0x7bff);
  EXPECT_EQ(halfFromFloat(65520.0f), 0x7c00);
  EXPECT_EQ(halfFromDouble(1e300), 0x7c00);
  EXPECT_EQ(halfFromFloat(-0.0f), 0x8000);
  EXPECT_EQ(halfFromFloat(0x1p-26f), 0);
}

TEST(BFloat16, RoundsEveryIntervalToNearestEven) {
  for (uint16_t low = 0; low < 0x7f7f; ++low) {
    uint16_t high = low + 1, even = low & 1 ? high : low;
    double middle =
        (double(floatFromBFloat16(low)) + floatFromBFloat16(high)) / 2;
    ASSERT_EQ(bfloat16FromDouble(middle), even) << low;
    ASSERT_EQ(bfloat16FromDouble(std::nextafter(middle, 0)), low);
    ASSERT_EQ(bfloat16FromDouble(std::nextafter(middle, 1e300)), high);
  }
}

TEST(BFloat16, KeepsEveryValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = floatFromBFloat16(bits);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(floatFromBFloat16(bfloat16FromFloat(value))));
    else
      ASSERT_EQ(bfloat16FromFloat(value), bits);
  }
}
