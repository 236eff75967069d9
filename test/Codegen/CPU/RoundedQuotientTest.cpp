// SPDX-License-Identifier: Apache-2.0

#include "Codegen/Common/RoundedQuotient.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using dlc::codegen::RoundedQuotient;

static float multiplied(const RoundedQuotient &quotient, float x) {
  if (quotient.low == 0)
    return x * quotient.high;
  return std::fma(x, quotient.high, x * quotient.low);
}

static void expectRounded(const RoundedQuotient &quotient, float x, float y) {
  ASSERT_EQ(std::nearbyint(multiplied(quotient, x)), std::nearbyint(x / y))
      << x << " / " << y;
}

TEST(RoundedQuotientTest, IsThatOfADivisionNextToHalves) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> digits(1, 2), exponent(-20, 20);
  int found = 0;
  for (int i = 0; i < 3000; ++i) {
    const float y = std::ldexp(digits(random), int(exponent(random))) *
                    (i % 2 == 0 ? 1.0f : -1.0f);
    std::optional<RoundedQuotient> quotient = RoundedQuotient::of(y);
    if (!quotient)
      continue;
    ++found;
    for (int k = -300; k <= 300; ++k) {
      float x = static_cast<float>((k + 0.5) * y);
      for (int step = 0; step < 4; ++step)
        x = std::nextafterf(x, -std::numeric_limits<float>::infinity());
      for (int step = 0; step < 8; ++step) {
        ASSERT_NO_FATAL_FAILURE(expectRounded(*quotient, x, y));
        x = std::nextafterf(x, std::numeric_limits<float>::infinity());
      }
    }
  }
  EXPECT_GT(found, 2900); // Of others a division is left.
}

TEST(RoundedQuotientTest, IsThatOfADivisionForAllDigits) {
  for (float y : {0.0350897536f, 3.0f, 1.9999999f}) {
    std::optional<RoundedQuotient> quotient = RoundedQuotient::of(y);
    ASSERT_TRUE(quotient) << y;
    std::mt19937 random(11);
    for (uint32_t digits = 1 << 23; digits < 1 << 24; ++digits) {
      const int exponent = static_cast<int>(random() % 24) - 2;
      const float x =
          std::ldexp(static_cast<float>(digits), exponent - 23 + std::ilogb(y));
      ASSERT_NO_FATAL_FAILURE(expectRounded(*quotient, x, y));
    }
  }
}

// All floats next to halves below 2^22, whose quotients alone can differ.
TEST(RoundedQuotientTest, IsThatOfADivisionNextToAllHalves) {
  std::mt19937 random(13);
  std::uniform_real_distribution<float> digits(1, 2);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (int i = 0; i < 4;) {
    const float y = digits(random);
    std::optional<RoundedQuotient> quotient = RoundedQuotient::of(y);
    if (!quotient)
      continue;
    ++i;
    for (int k = 0; k < 1 << 22; ++k) {
      float x = std::nextafterf(static_cast<float>((k + 0.5) * y), -infinity);
      for (int step = 0; step < 3; ++step) {
        ASSERT_NO_FATAL_FAILURE(expectRounded(*quotient, x, y));
        x = std::nextafterf(x, infinity);
      }
    }
  }
}

/// 1.61407435 / 0.0150146456 is 107.499992, and 107.5 as two products.
TEST(RoundedQuotientTest, RefusesWhatDiffersForOneNumber) {
  for (float y :
       {0x1.ebfffap-7f, 0x1.ebfffap-5f, 0x1.cdfffap-4f, 0x1.a5cf0ep+0f})
    EXPECT_FALSE(RoundedQuotient::of(y)) << y;
}

TEST(RoundedQuotientTest, KeepsWhatIsNotFinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (float y : {0.03f, -0.03f, 7.0f, 0.5f, -2.0f}) {
    const RoundedQuotient quotient = RoundedQuotient::of(y).value();
    EXPECT_EQ(multiplied(quotient, infinity), infinity / y);
    EXPECT_EQ(multiplied(quotient, -infinity), -infinity / y);
    EXPECT_EQ(multiplied(quotient, 3e38f) > 1e37f, 3e38f / y > 1e37f);
    EXPECT_EQ(multiplied(quotient, -3e38f) > 1e37f, -3e38f / y > 1e37f);
    EXPECT_TRUE(std::isnan(multiplied(quotient, std::nanf(""))));
    EXPECT_EQ(std::nearbyint(multiplied(quotient, 1e-44f)), 0);
  }
}

TEST(RoundedQuotientTest, LeavesWhatItCannotSay) {
  for (float y : {0.0f, -0.0f, 1e-30f, 1e30f,
                  std::numeric_limits<float>::infinity(), std::nanf("")})
    EXPECT_FALSE(RoundedQuotient::of(y)) << y;
}
