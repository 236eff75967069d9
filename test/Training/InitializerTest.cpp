// SPDX-License-Identifier: Apache-2.0

#include "dlc/Training/Initializer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace dlc::training;

static std::vector<float> valuesOf(const InitializerOptions &options,
                                   std::vector<int64_t> shape,
                                   const std::string &name = "fc_weight",
                                   uint32_t stream = 1) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  std::vector<float> values(count, NAN);
  dlc::rt::Status status = initialize(options, name, shape, 3, stream, values);
  EXPECT_TRUE(status.isOk()) << status.message();
  return values;
}

static double deviationOf(const std::vector<float> &values) {
  double squares = 0;
  for (float each : values)
    squares += double(each) * each;
  return std::sqrt(squares / double(values.size()));
}

TEST(Initializer, KnowsNames) {
  for (auto [name, value] :
       {std::pair("fc_bias", 0.0f), std::pair("bn_gamma", 1.0f),
        std::pair("bn_beta", 0.0f), std::pair("bn_moving_mean", 0.0f),
        std::pair("bn_moving_var", 1.0f), std::pair("bn.running_var", 1.0f)})
    EXPECT_EQ(valuesOf({"normal"}, {3}, name),
              (std::vector<float>{value, value, value}))
        << name;
}

TEST(Initializer, FillsConstants) {
  EXPECT_EQ(valuesOf({"zero"}, {2}), (std::vector<float>{0, 0}));
  EXPECT_EQ(valuesOf({"one"}, {2}), (std::vector<float>{1, 1}));
  EXPECT_EQ(valuesOf({"constant", 0.5}, {2}), (std::vector<float>{0.5, 0.5}));
}

/// The widths that the formulas give, of 20,000 numbers.
TEST(Initializer, HasWidths) {
  std::vector<float> values = valuesOf({"uniform"}, {200, 100});
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 0.07f);
  EXPECT_NEAR(deviationOf(values), 0.07 / std::sqrt(3), 0.0005);
  EXPECT_NEAR(deviationOf(valuesOf({"normal", 2}, {200, 100})), 2, 0.04);
  // (50 + 100) 4 / 2 values go in and out of each place.
  values = valuesOf({"xavier"}, {50, 100, 2, 2});
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 0.1f);
  EXPECT_NEAR(deviationOf(values), 0.1 / std::sqrt(3), 0.001);
  EXPECT_NEAR(deviationOf(valuesOf({"msra", 0}, {50, 100, 2, 2})),
              std::sqrt(2.0 / 300), 0.0017);
}

TEST(Initializer, DependsOnSeedAndStreamAlone) {
  std::vector<float> values = valuesOf({"xavier"}, {8, 8});
  EXPECT_EQ(valuesOf({"xavier"}, {8, 8}), values);
  EXPECT_NE(valuesOf({"xavier"}, {8, 8}, "fc_weight", 2), values);
}

TEST(Initializer, MakesRowsOrColumnsOrthogonal) {
  for (auto [rows, columns] : {std::pair(4, 10), std::pair(10, 4)}) {
    std::vector<float> w = valuesOf({"orthogonal", 2}, {rows, columns});
    bool byRows = rows < columns;
    int count = byRows ? rows : columns, length = byRows ? columns : rows;
    auto at = [&](int vector, int i) {
      return double(byRows ? w[vector * columns + i] : w[i * columns + vector]);
    };
    for (int a = 0; a < count; ++a)
      for (int b = 0; b < count; ++b) {
        double product = 0;
        for (int i = 0; i < length; ++i)
          product += at(a, i) * at(b, i);
        EXPECT_NEAR(product, a == b ? 4 : 0, 1e-5);
      }
  }
}

TEST(Initializer, Interpolates) {
  // MXNet 1.9.1: mx.init.Bilinear() of a shape of (1, 1, 4, 4).
  std::vector<float> w = valuesOf({"bilinear"}, {1, 1, 4, 4});
  std::vector<float> row{0.0625, 0.1875, 0.1875, 0.0625};
  EXPECT_EQ(std::vector<float>(w.begin(), w.begin() + 4), row);
}

TEST(Initializer, LetsCellsForgetLittle) {
  EXPECT_EQ(valuesOf({"lstmbias", 2.0, /*isOwn=*/true}, {8}, "l_bias"),
            (std::vector<float>{0, 0, 2, 2, 0, 0, 0, 0}));
  EXPECT_EQ(valuesOf({"lstmbias", std::nullopt, true}, {4}, "l_bias"),
            (std::vector<float>{0, 1, 0, 0}));
}

TEST(Initializer, RefusesWhatDoesNotFit) {
  std::vector<float> values(3);
  int64_t shape[] = {3};
  EXPECT_EQ(initialize({"xavier"}, "w", shape, 1, 1, values).message(),
            "parameter 'w': expected at least 2 dimensions for xavier, got a "
            "shape of 3");
  EXPECT_EQ(initialize({"xavjer"}, "w", shape, 1, 1, values).message(),
            "expected initializer " + initializerNames() + ", got 'xavjer'");
}

TEST(Initializer, RefusesScalesThatMeanNothing) {
  EXPECT_EQ(check({"xavier", -3}), "expected a scale above 0 for initializer "
                                   "'xavier', got -3");
  EXPECT_EQ(check({"uniform", -1}), "expected a scale of at least 0 for "
                                    "initializer 'uniform', got -1");
  EXPECT_EQ(check({"msra", NAN}),
            "expected a finite scale for initializer 'msra', got nan");
  EXPECT_EQ(check({"constant"}), "expected a scale, which is the value, for "
                                 "initializer 'constant'");
  EXPECT_EQ(check({"one", 2}),
            "expected no scale for initializer 'one', got 2");
  EXPECT_EQ(check({"uniform", 0}), std::nullopt);
  EXPECT_EQ(check({"xavier"}), std::nullopt);
}
