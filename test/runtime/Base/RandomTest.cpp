// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <thread>
#include <vector>

using namespace dlc::rt;

TEST(Philox, KnownAnswers) {
  // kat_vectors of Random123 1.14: counter, key, result.
  auto zeros = philox({0, 0, 0, 0}, 0, 0);
  EXPECT_EQ(zeros,
            (RandomWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, f, f),
            (RandomWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822,
                   0x299f31d0),
            (RandomWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomDraws, PositionsStreamsAndSeedsDiffer) {
  RandomDraws draws{.seed = 7, .stream = 3, .position = 100};
  EXPECT_EQ(draws.block(5), (RandomDraws{7, 3, 105}.block(0)));
  EXPECT_NE(draws.block(5), draws.block(6));
  EXPECT_NE(draws.block(5), draws.block(5, 1));
  EXPECT_NE(draws.block(5), (RandomDraws{7, 4, 100}.block(5)));
  EXPECT_NE(draws.block(5), (RandomDraws{8, 3, 100}.block(5)));
  EXPECT_NE(draws.block(5),
            (RandomDraws{7 + (uint64_t(1) << 32), 3, 100}.block(5)));
  // A position above 2^32 is not cut off.
  EXPECT_NE(draws.block(uint64_t(1) << 32), draws.block(0));
}

namespace {

using Fill =
    std::function<void(const RandomDraws &, uint64_t, std::span<float>)>;

/// The first two moments and where the numbers are.
struct Summary {
  double mean = 0, variance = 0;
  float least = INFINITY, most = -INFINITY;
};

const RandomDraws draws{.seed = 42, .stream = 0, .position = 1000};

std::vector<float> sample(const Fill &fill, size_t count) {
  std::vector<float> numbers(count);
  fill(draws, 0, numbers);
  return numbers;
}

Summary summarize(const std::vector<float> &numbers) {
  Summary summary;
  for (float x : numbers) {
    summary.mean += x;
    summary.least = std::min(summary.least, x);
    summary.most = std::max(summary.most, x);
  }
  summary.mean /= double(numbers.size());
  for (float x : numbers)
    summary.variance += (x - summary.mean) * (x - summary.mean);
  summary.variance /= double(numbers.size());
  return summary;
}

struct Distribution {
  const char *name;
  Fill fill;
  double mean, variance;
  /// The fourth central moment over the squared variance, for the error of the
  /// measured variance.
  double kurtosis;
};

const Distribution distributions[] = {
    {"uniform",
     [](auto &d, auto i, auto out) { fillUniform(d, i, out, -1, 3); }, 1,
     16.0 / 12, 1.8},
    {"normal", [](auto &d, auto i, auto out) { fillNormal(d, i, out, 5, 2); },
     5, 4, 3},
    {"exponential",
     [](auto &d, auto i, auto out) { fillExponential(d, i, out, 4); }, 0.25,
     0.0625, 9},
    {"gamma_small",
     [](auto &d, auto i, auto out) { fillGamma(d, i, out, 0.3, 2); }, 0.6, 1.2,
     23},
    {"gamma", [](auto &d, auto i, auto out) { fillGamma(d, i, out, 4.5, 0.5); },
     2.25, 1.125, 4.4},
    {"poisson_small",
     [](auto &d, auto i, auto out) { fillPoisson(d, i, out, 2.5); }, 2.5, 2.5,
     3.4},
    {"poisson", [](auto &d, auto i, auto out) { fillPoisson(d, i, out, 30); },
     30, 30, 3.1},
    {"negative_binomial",
     [](auto &d, auto i, auto out) { fillNegativeBinomial(d, i, out, 3, 0.4); },
     4.5, 11.25, 5.1},
};

} // namespace

TEST(Random, MomentsAreRight) {
  constexpr size_t count = 100'000;
  for (const Distribution &distribution : distributions) {
    SCOPED_TRACE(distribution.name);
    Summary summary = summarize(sample(distribution.fill, count));
    // Five standard errors; the seed is fixed.
    double error = 5 * std::sqrt(distribution.variance / count);
    EXPECT_NEAR(summary.mean, distribution.mean, error);
    EXPECT_NEAR(summary.variance, distribution.variance,
                5 * distribution.variance *
                    std::sqrt((distribution.kurtosis - 1) / count));
  }
}

TEST(Random, TheSameNumbersForAnyDivision) {
  constexpr size_t count = 1003;
  for (const Distribution &distribution : distributions) {
    SCOPED_TRACE(distribution.name);
    std::vector<float> whole = sample(distribution.fill, count);
    // Pieces of odd lengths, in parallel.
    for (size_t piece : {1, 3, 7, 250}) {
      std::vector<float> parts(count);
      auto fillFrom = [&](size_t begin, size_t step) {
        for (; begin < count; begin += step)
          distribution.fill(
              draws, begin,
              std::span(parts).subspan(begin, std::min(piece, count - begin)));
      };
      std::thread other(fillFrom, piece, 2 * piece);
      fillFrom(0, 2 * piece);
      other.join();
      ASSERT_EQ(parts, whole) << piece;
    }
  }
}

/// The square sum of the differences from `expected`, in standard errors.
static double chiSquare(const std::vector<double> &counts,
                        const std::vector<double> &expected) {
  double sum = 0;
  for (size_t i = 0; i != counts.size(); ++i)
    sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  return sum;
}

/// How often numbers fall into each of the intervals of equal probability that
/// the inverse of a distribution function would make.
static double chiSquareOf(const std::vector<float> &numbers,
                          double (*distributionFunction)(double)) {
  constexpr size_t cells = 64;
  std::vector<double> counts(cells), expected(cells);
  for (float x : numbers)
    ++counts[std::min(cells - 1, size_t(distributionFunction(x) * cells))];
  std::fill(expected.begin(), expected.end(), double(numbers.size()) / cells);
  return chiSquare(counts, expected);
}

TEST(Random, ShapesAreRight) {
  // 63 degrees of freedom: above 119 with a chance of 1e-5.
  EXPECT_LT(chiSquareOf(sample([](auto &d, auto i,
                                  auto out) { fillUniform(d, i, out); },
                               100'000),
                        [](double x) { return x; }),
            119);
  EXPECT_LT(chiSquareOf(
                sample([](auto &d, auto i, auto out) { fillNormal(d, i, out); },
                       100'000),
                [](double x) { return std::erfc(-x / std::sqrt(2)) / 2; }),
            119);
  // Gamma of shape 2: 1 - (1 + x) exp(-x).
  EXPECT_LT(chiSquareOf(sample([](auto &d, auto i,
                                  auto out) { fillGamma(d, i, out, 2); },
                               100'000),
                        [](double x) { return 1 - (1 + x) * std::exp(-x); }),
            119);
}

TEST(Random, PoissonCountsAreRight) {
  for (double rate : {0.5, 9.9, 10.1, 25.0}) {
    std::vector<float> numbers =
        sample([&](auto &d, auto i, auto out) { fillPoisson(d, i, out, rate); },
               100'000);
    std::map<int, double> seen;
    for (float x : numbers)
      ++seen[int(x)];
    std::vector<double> counts, expected;
    double restSeen = double(numbers.size()), rest = restSeen;
    for (int k = 0; k != 60; ++k) {
      double share =
          std::exp(k * std::log(rate) - rate - std::lgamma(k + 1.0)) *
          double(numbers.size());
      if (share < 20)
        continue;
      counts.push_back(seen[k]);
      expected.push_back(share);
      restSeen -= seen[k];
      rest -= share;
    }
    counts.push_back(restSeen);
    expected.push_back(rest);
    // Generous for the 5 to 27 degrees of freedom.
    EXPECT_LT(chiSquare(counts, expected), 30 + 2.0 * double(counts.size()))
        << rate;
  }
}

TEST(Random, BoundsHold) {
  std::vector<float> numbers(100'000);
  fillUniform(draws, 0, numbers, 1.0f, std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(summarize(numbers).most, 1.0f); // Never the upper bound.
  fillUniform(draws, 0, numbers, -1e30f, 1e30f);
  EXPECT_LT(summarize(numbers).most, 1e30f);
  fillNormal(draws, 0, numbers);
  EXPECT_LT(summarize(numbers).most, 6.7f);
  fillExponential(draws, 0, numbers);
  EXPECT_GE(summarize(numbers).least, 0.0f);
  std::vector<double> wide(10'000);
  fillUniform(draws, 0, wide, 2, 3);
  EXPECT_TRUE(std::all_of(wide.begin(), wide.end(),
                          [](double x) { return x >= 2 && x < 3; }));
  fillNormal(draws, 0, wide, 10, 0.5);
  double sum = 0;
  for (double x : wide)
    sum += x;
  EXPECT_NEAR(sum / 10'000, 10, 0.025);
}

/// The share of numbers that are the largest of the type, of either sign.
template <typename T> static double shareAtBounds(T mean, T deviation) {
  std::vector<T> numbers(100'000);
  fillNormal(draws, 0, numbers, mean, deviation);
  return double(std::count_if(numbers.begin(), numbers.end(),
                              [](T x) {
                                EXPECT_TRUE(std::isfinite(x));
                                return std::abs(x) ==
                                       std::numeric_limits<T>::max();
                              })) /
         100'000;
}

// A product beyond the range of the type with a sum inside it is no largest
// number.
TEST(Random, NormalSumsInRangeAreNotClamped) {
  // -1 and 1 of the largest: what is below the mean or 2 deviations above.
  float most = std::numeric_limits<float>::max();
  double mostDouble = std::numeric_limits<double>::max();
  double share = 0.5 + std::erfc(std::sqrt(2)) / 2;
  EXPECT_NEAR(shareAtBounds(-most, most), share, 0.008); // 5 deviations.
  EXPECT_NEAR(shareAtBounds(most, most), share, 0.008);
  EXPECT_NEAR(shareAtBounds(-mostDouble, mostDouble), share, 0.008);
  EXPECT_NEAR(shareAtBounds(mostDouble, mostDouble), share, 0.008);
}

TEST(Random, IntegersAreFair) {
  std::vector<int64_t> numbers(100'000);
  fillUniform(draws, 0, numbers, -3, 4);
  std::vector<double> counts(7), expected(7, 100'000 / 7.0);
  for (int64_t x : numbers) {
    ASSERT_TRUE(x >= -3 && x < 4);
    ++counts[size_t(x + 3)];
  }
  EXPECT_LT(chiSquare(counts, expected), 35); // 6 degrees of freedom
  fillUniform(draws, 0, numbers, INT64_MIN, INT64_MAX);
  size_t negative = size_t(std::count_if(numbers.begin(), numbers.end(),
                                         [](int64_t x) { return x < 0; }));
  EXPECT_NEAR(double(negative), 50'000, 800);
  fillUniform(draws, 0, numbers, 5, 6);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 5), 100'000);
}

TEST(Random, BernoulliKeepsTheShare) {
  std::vector<uint8_t> mask(100'000);
  for (double p : {0.0, 0.1, 0.5, 1.0}) {
    fillBernoulli(draws, 0, mask, p);
    double share = double(std::count(mask.begin(), mask.end(), 1)) / 100'000;
    EXPECT_NEAR(share, p, 5 * std::sqrt(p * (1 - p) / 100'000));
  }
}

TEST(Random, NonsenseEnds) {
  std::vector<float> numbers(10);
  for (double x : {-1.0, 0.0, double(NAN), double(INFINITY)}) {
    fillGamma(draws, 0, numbers, x);
    fillPoisson(draws, 0, numbers, x);
    fillNegativeBinomial(draws, 0, numbers, x, x);
    std::vector<uint8_t> mask(10);
    fillBernoulli(draws, 0, mask, x);
  }
  std::vector<int64_t> integers(10);
  fillUniform(draws, 0, integers, 5, 5);
  EXPECT_EQ(integers[0], 5);
}
