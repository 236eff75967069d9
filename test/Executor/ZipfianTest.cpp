// SPDX-License-Identifier: Apache-2.0
//
// Classes without repetition: by the law of MXNet's code, beside what MXNet
// draws (Inputs/zipfian.txt, written by make_zipfian.py).

#include "ExecutorTesting.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

using namespace dlc;
using namespace dlc::test;

namespace {
using Ints = std::vector<int64_t>;
struct Drawn {
  Ints classes, trials;
};
} // namespace

static Result<std::unique_ptr<Executor>> bind(symbol::Attributes attributes) {
  Symbol drawn =
      Symbol::apply("_sample_unique_zipfian", {}, std::move(attributes), "z");
  return simpleBind(drawn, makeRuntime(), {});
}

static Drawn run(Executor &executor) {
  EXPECT_OK(executor.forward());
  auto read = [](const NDArray &array) {
    EXPECT_EQ(array.type(), DLC_I64);
    Ints values(array.size());
    EXPECT_OK(array.copyToHost(std::span(values)));
    return values;
  };
  return {read(executor.outputs()[0]), read(executor.outputs()[1])};
}

static Drawn draw(int64_t classes, int64_t rows, int64_t each) {
  auto executor = take(bind({{"range_max", std::to_string(classes)},
                             {"shape", "(" + std::to_string(rows) + ", " +
                                           std::to_string(each) + ")"}}));
  return executor ? run(*executor) : Drawn{};
}

/// The nearest numbers to exp(u * log(n)), less 1.
static double massOf(int64_t value, int64_t classes) {
  auto at = static_cast<double>(value), end = static_cast<double>(classes);
  return std::log(std::min(at + 1.5, end) / std::max(at + 0.5, 1.0)) /
         std::log(end);
}

static double chiSquare(double found, double expected) {
  return (found - expected) * (found - expected) / expected;
}

/// Of make_zipfian.py.
static constexpr int64_t kRows = 20000, kClasses = 5;

/// Each order of three classes comes as often as by draws one after the other.
/// Chi-square of 59 degrees of freedom: above 110 in one of 15,000.
TEST(ZipfianTest, FindsClassesInOrder) {
  using Order = std::array<int64_t, 3>;
  Drawn drawn = draw(kClasses, kRows, 3);
  ASSERT_EQ(drawn.classes.size(), size_t(3 * kRows));
  std::map<Order, double> counts, oracle;
  for (size_t i = 0; i < drawn.classes.size(); i += 3)
    ++counts[{drawn.classes[i], drawn.classes[i + 1], drawn.classes[i + 2]}];
  std::ifstream file(DLC_TEST_INPUTS "/zipfian.txt");
  double count;
  for (std::string what; file >> what && what == "classes";) {
    Order order;
    file >> order[0] >> order[1] >> order[2] >> count;
    oracle[order] = count;
  }
  ASSERT_EQ(counts.size(), 60u);
  ASSERT_EQ(oracle.size(), 60u);
  double square = 0, besideOracle = 0;
  for (const auto &[order, found] : counts) {
    double expected = kRows, left = 1;
    for (int64_t each : order) {
      expected *= massOf(each, kClasses) / left;
      left -= massOf(each, kClasses);
    }
    square += chiSquare(found, expected);
    besideOracle += (found - oracle[order]) * (found - oracle[order]) /
                    (found + oracle[order]);
  }
  EXPECT_LT(square, 110);
  EXPECT_LT(besideOracle, 110);
}

/// Trials by the classes that they found: geometric numbers one after the
/// other, which add up to a mean and a variance; and MXNet's, as often.
TEST(ZipfianTest, CountsTrials) {
  Drawn drawn = draw(kClasses, kRows, 3);
  ASSERT_EQ(drawn.trials.size(), size_t(kRows));
  double sum = 0, mean = 0, variance = 0;
  std::map<int64_t, double> counts, oracle;
  for (size_t row = 0; row < drawn.trials.size(); ++row) {
    sum += static_cast<double>(drawn.trials[row]);
    // Few take as many as 10: they count as one.
    ++counts[std::min<int64_t>(drawn.trials[row], 10)];
    double left = 1;
    for (size_t i = 0; i < 3; ++i) {
      mean += 1 / left;
      variance += (1 - left) / (left * left);
      left -= massOf(drawn.classes[3 * row + i], kClasses);
    }
  }
  EXPECT_NEAR(sum, mean, 5 * std::sqrt(variance));
  std::ifstream file(DLC_TEST_INPUTS "/zipfian.txt");
  for (std::string line; std::getline(file, line);)
    if (long long number, count;
        std::sscanf(line.c_str(), "trials %lld %lld", &number, &count) == 2)
      oracle[std::min(number, 10ll)] += static_cast<double>(count);
  ASSERT_EQ(counts.size(), 8u);
  ASSERT_EQ(oracle.size(), 8u);
  double square = 0;
  for (const auto &[trials, found] : counts)
    square += (found - oracle[trials]) * (found - oracle[trials]) /
              (found + oracle[trials]);
  // 7 degrees of freedom: above 33 in one of 30,000.
  EXPECT_LT(square, 33);
}

/// Also the rarest of very many, and numbers other than those of the last run.
TEST(ZipfianTest, ManyClasses) {
  auto executor = take(bind({{"range_max", "750000"}, {"shape", "(2, 8192)"}}));
  ASSERT_TRUE(executor);
  Drawn drawn = run(*executor);
  ASSERT_EQ(drawn.classes.size(), 16384u);
  for (size_t row = 0; row < 2; ++row) {
    auto first = drawn.classes.begin() + static_cast<ptrdiff_t>(row * 8192);
    std::set<int64_t> seen(first, first + 8192);
    EXPECT_EQ(seen.size(), 8192u);
    EXPECT_GE(*seen.begin(), 0);
    EXPECT_LT(*seen.rbegin(), 750000);
    EXPECT_GT(*seen.rbegin(), 700000);
    // Of 20 rows MXNet's take 15,860 to 16,415.
    EXPECT_NEAR(static_cast<double>(drawn.trials[row]), 16160, 500);
  }
  EXPECT_NE(run(*executor).classes, drawn.classes);
}

TEST(ZipfianTest, HasTheOutputsOfMXNet) {
  Symbol drawn = Symbol::apply("_sample_unique_zipfian", {},
                               {{"range_max", "3"}, {"shape", "(2, 1)"}}, "z");
  EXPECT_EQ(drawn.listOutputs(),
            (std::vector<std::string>{"z_output0", "z_output1"}));
}

/// All classes there are, and one.
TEST(ZipfianTest, WholeRange) {
  Drawn drawn = draw(40, 200, 40);
  Ints all(40);
  std::iota(all.begin(), all.end(), 0);
  double sum = 0, mean = 0;
  for (size_t row = 0; row < 200; ++row) {
    auto first = drawn.classes.begin() + static_cast<ptrdiff_t>(row * 40);
    double left = 1;
    for (auto each = first; each != first + 40; ++each) {
      mean += 1 / left;
      left -= massOf(*each, 40);
    }
    sum += static_cast<double>(drawn.trials[row]);
    std::sort(first, first + 40);
    EXPECT_TRUE(std::equal(first, first + 40, all.begin()));
  }
  EXPECT_NEAR(sum / mean, 1, 0.2);
  drawn = draw(1, 3, 1);
  EXPECT_EQ(drawn.classes, (Ints{0, 0, 0}));
  EXPECT_EQ(drawn.trials, (Ints{1, 1, 1}));
}

TEST(ZipfianTest, Refuses) {
  auto failure = [](symbol::Attributes attributes) {
    return std::move(bind(std::move(attributes)).status());
  };
  EXPECT_FAILS(failure({{"range_max", "3"}, {"shape", "(2, 4)"}}),
               InvalidArgument,
               "node 'z' (_sample_unique_zipfian): parameter 'shape': expected "
               "at most 'range_max', 3, classes a row, got 4");
  EXPECT_FAILS(failure({{"range_max", "3"}, {"shape", "(3,)"}}),
               InvalidArgument,
               "parameter 'shape': expected 2 dimensions, got (3,)");
  EXPECT_FAILS(failure({{"range_max", "3"}}), InvalidArgument,
               "parameter 'shape': expected 2 dimensions, got ()");
  EXPECT_FAILS(failure({{"range_max", "3"}, {"shape", "(2, 0)"}}),
               InvalidArgument, "parameter 'shape'");
  EXPECT_FAILS(failure({{"range_max", "0"}, {"shape", "(2, 1)"}}),
               InvalidArgument, "parameter 'range_max'");
  EXPECT_FAILS(failure({{"shape", "(2, 1)"}}), InvalidArgument,
               "parameter 'range_max'");
}
