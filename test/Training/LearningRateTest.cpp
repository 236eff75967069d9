// SPDX-License-Identifier: Apache-2.0
//
// Learning rates against MXNet 1.9.1's lr_scheduler, whose numbers are in the
// tests.

#include "dlc/Training/LearningRate.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dlc::training;

static std::vector<double> ratesOf(const RateSchedule &schedule,
                                   const std::vector<int64_t> &updates) {
  EXPECT_EQ(check(schedule), std::nullopt);
  std::vector<double> rates;
  for (int64_t update : updates)
    rates.push_back(rateOf(schedule, update));
  return rates;
}

static void expectRates(const std::vector<double> &found,
                        const std::vector<double> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
}

TEST(LearningRate, StaysConstant) {
  expectRates(ratesOf({.base = 0.1}, {1, 5, 1000}), {0.1, 0.1, 0.1});
}

TEST(LearningRate, FallsByFactors) {
  expectRates(ratesOf({.kind = RateKind::Factor,
                       .base = 0.1,
                       .factor = 0.5,
                       .step = 5,
                       .least = 0.02},
                      {1, 2, 3, 5, 6, 7, 11, 12, 20, 30}),
              {0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.02, 0.02});
}

TEST(LearningRate, FallsAtGivenUpdates) {
  expectRates(ratesOf({.kind = RateKind::MultiFactor,
                       .base = 0.1,
                       .factor = 0.1,
                       .steps = {3, 11}},
                      {1, 2, 3, 5, 6, 7, 11, 12, 20, 30}),
              {0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.001, 0.001, 0.001});
}

TEST(LearningRate, FallsAsAPower) {
  expectRates(ratesOf({.kind = RateKind::Poly,
                       .base = 0.1,
                       .total = 20,
                       .power = 2,
                       .final = 0.01},
                      {1, 2, 3, 5, 6, 7, 11, 12, 20, 30}),
              {0.091225, 0.0829, 0.075025, 0.060625, 0.0541, 0.048025, 0.028225,
               0.0244, 0.01, 0.01});
}

TEST(LearningRate, FallsAlongACosine) {
  expectRates(
      ratesOf(
          {.kind = RateKind::Cosine, .base = 0.1, .total = 20, .final = 0.01},
          {1, 2, 3, 5, 6, 7, 11, 12, 20, 30}),
      {0.09944597533, 0.09779754323, 0.09509529359, 0.08681980515,
       0.08145033635, 0.07542957249, 0.04796044907, 0.04109423525, 0.01, 0.01});
}

TEST(LearningRate, WarmsUp) {
  expectRates(ratesOf({.kind = RateKind::Poly,
                       .base = 0.1,
                       .total = 20,
                       .power = 1,
                       .final = 0,
                       .warmUp = 6,
                       .warmUpBegin = 0.01},
                      {1, 2, 3, 5, 6, 7, 11, 12, 20, 30}),
              {0.025, 0.04, 0.055, 0.085, 0.1, 0.09285714286, 0.06428571429,
               0.05714285714, 0.0, 0.0});
}

TEST(LearningRate, RefusesWhatIsNoSchedule) {
  EXPECT_EQ(check({.base = 0}), "expected a learning rate above 0, got 0");
  EXPECT_EQ(check({.kind = RateKind::MultiFactor, .steps = {5, 5}}),
            "expected ascending updates at which the rate changes, got 5");
  EXPECT_EQ(check({.kind = RateKind::Cosine, .total = 3, .warmUp = 3}),
            "expected more updates than those of the warm-up, 3, got 3");
  EXPECT_EQ(check({.kind = RateKind::Cosine, .total = 3, .final = 1}),
            "expected a last rate between 0 and the learning rate, got "
            "1");
  EXPECT_EQ(check({.kind = RateKind::Poly, .total = 3, .power = -1}),
            "expected a finite power of at least 0, got -1");
  EXPECT_EQ(check({.kind = RateKind::Factor, .least = NAN}),
            "expected a least rate between 0 and the learning rate, got nan");
  EXPECT_EQ(check({.kind = RateKind::Factor, .base = 0.01, .least = 5}),
            "expected a least rate between 0 and the learning rate, got 5");
  EXPECT_EQ(check({.kind = RateKind::Factor, .base = 1e-30}), std::nullopt);
  EXPECT_EQ(rateKindOf("cosin"), std::nullopt);
  EXPECT_EQ(rateKindNames(), "constant, factor, multifactor, poly, cosine");
}
