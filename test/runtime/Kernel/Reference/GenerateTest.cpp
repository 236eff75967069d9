// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include "dlc/runtime/Base/Random.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

TEST(Generate, EyeLike) {
  Arg x = iota(DLC_F32, {2, 3});
  EXPECT_EQ(evaluated("eye_like", {x}), "2x3xf32 1 0 0 0 1 0");
  EXPECT_EQ(evaluated("eye_like", {x}, {{"k", 1}, {"dtype", DLC_BOOL}}),
            "2x3xbool 0 1 0 0 0 1");
  EXPECT_EQ(evaluated("eye_like", {x}, {{"k", -1}, {"dtype", DLC_F16}}),
            "2x3xf16 0 0 0 1 0 0");
  EXPECT_EQ(evaluated("eye_like", {x}, {{"k", INT64_MAX}}),
            "2x3xf32 0 0 0 0 0 0");
  EXPECT_EQ(evaluated("eye_like", {f32({0, 2}, {})}), "0x2xf32");
  EXPECT_EQ(shapesOf("eye_like", {anyRank(DLC_F32)}, {{"dtype", DLC_I8}}),
            "?x?xi8");
  EXPECT_EQ(shapesOf("eye_like", {f32({1}, {1})}),
            "error: operand 0: expected rank 2, got 1");
  EXPECT_EQ(shapesOf("eye_like", {x}, {{"dtype", 99}}),
            "error: expected dtype to be an element type, got 99");
}

TEST(Generate, OneHot) {
  Arg values = f32({2}, {0, 5});
  EXPECT_EQ(evaluated("one_hot", {ints({1, -1, 3}), scalar(3), values}),
            "3x3xf32 0 5 0 0 0 5 0 0 0");
  EXPECT_EQ(
      evaluated("one_hot", {ints({1, 0}), ints({3}), values}, {{"axis", 0}}),
      "3x2xf32 0 5 5 0 0 0");
  EXPECT_EQ(evaluated("one_hot", {f32({1}, {1.75}), f32({}, {2}),
                                  tensor(DLC_I8, {2}, {-1, 1})}),
            "1x2xi8 -1 1");
  EXPECT_EQ(evaluated("one_hot", {scalar(0), scalar(2), values}), "2xf32 5 0");
  EXPECT_EQ(evaluated("one_hot", {ints({}), scalar(2), values}), "0x2xf32");
  // 2^64 - 1 is no index, and not -1.
  Arg huge = TestTensor{DLC_U64, {1}, std::vector<unsigned char>(8, 0xff)};
  EXPECT_EQ(evaluated("one_hot", {huge, scalar(2), values}), "1x2xf32 0 0");
  EXPECT_EQ(evaluated("one_hot", {f32({1}, {kNaN}), scalar(2), values}),
            "1x2xf32 5 0");
}

TEST(Generate, OneHotInfersWhatItCan) {
  Arg values = unknown(DLC_F32, {2});
  EXPECT_EQ(shapesOf("one_hot",
                     {unknown(DLC_I64, {-1, 4}), unknown(DLC_I64, {}), values},
                     {{"axis", 1}}),
            "?x?x4xf32");
  EXPECT_EQ(shapesOf("one_hot", {anyRank(DLC_I64), scalar(3), values}),
            "*xf32");
  EXPECT_EQ(shapesOf("one_hot", {ints({0}), scalar(0), values}),
            "error: expected a depth of at least 1, got 0");
  EXPECT_EQ(shapesOf("one_hot", {ints({0}), ints({1, 2}), values}),
            "error: operand 1: expected one value, got 2xi64");
  EXPECT_EQ(shapesOf("one_hot", {ints({0}), scalar(2), f32({1}, {1})}),
            "error: operand 2: expected a vector of 2 values, got 1xf32");
  EXPECT_EQ(shapesOf("one_hot", {ints({0}), scalar(2), values}, {{"axis", 2}}),
            "error: expected an axis in [-2, 2), got 2");
  EXPECT_EQ(computed("one_hot", {ints({0}), scalar(3), f32({2}, {0, 1})}, {},
                     {{DLC_F32, {1, 2}}}),
            "error: result 0: expected 1x3xf32, got memory for 1x2xf32");
}

static std::string range(double start, double limit, double delta,
                         DataType type = DLC_F32) {
  return evaluated("range",
                   {tensor(type, {}, {start}), tensor(type, {}, {limit}),
                    tensor(type, {}, {delta})});
}

TEST(Generate, Range) {
  EXPECT_EQ(range(1, 6, 2), "3xf32 1 3 5");
  EXPECT_EQ(range(10, 4, -2), "3xf32 10 8 6");
  EXPECT_EQ(range(0, 1, 0.25), "4xf32 0 0.25 0.5 0.75");
  EXPECT_EQ(range(3, 3, 1), "0xf32");
  EXPECT_EQ(range(0, 5, -1, DLC_I32), "0xi32");
  EXPECT_EQ(range(-128, 127, 127, DLC_I8), "3xi8 -128 -1 126");
  EXPECT_EQ(range(2, 0, -1, DLC_I64), "2xi64 2 1");
  EXPECT_EQ(range(0, 3, 1, DLC_BF16), "3xbf16 0 1 2");
  EXPECT_EQ(evaluated("range", {scalar(INT64_MIN), scalar(INT64_MAX),
                                scalar(INT64_MAX)}),
            "3xi64 -9223372036854775808 -1 9223372036854775806");
}

TEST(Generate, RangeRejects) {
  EXPECT_EQ(range(0, 1, 0), "error: range: expected a delta other than 0");
  EXPECT_EQ(range(0, kInf, 1),
            "error: range: expected less than 2^63 values in a range, got one "
            "from 0 to inf by 1");
  EXPECT_EQ(range(kNaN, 1, 1),
            "error: range: expected less than 2^63 values in a range, got one "
            "from nan to 1 by 1");
  EXPECT_EQ(shapesOf("range", {scalar(0), unknown(DLC_I64, {}), scalar(1)}),
            "?xi64");
  EXPECT_EQ(shapesOf("range", {scalar(0), f32({}, {1}), scalar(1)}),
            "error: operand 1: expected i64 as operand 0, got f32");
  EXPECT_EQ(
      shapesOf("range", {scalar(INT64_MIN), scalar(INT64_MAX), scalar(1)}),
      "error: expected less than 2^63 values in a range, got one from "
      "-9223372036854775808 to 9223372036854775807 by 1");
  EXPECT_EQ(shapesOf("range", {scalar(0), ints({1, 2}), scalar(1)}),
            "error: operand 1: expected one value, got 2xi64");
}

TEST(Generate, RandomUniform) {
  // Words of Philox as Random.h defines them, from block 3 * 2^32 on.
  float expected[6];
  fillUniform(RandomDraws{7, 2, uint64_t(3) << 32}, 0, std::span(expected));
  Outcome outcome = run("random_uniform", {i64({2}, {7, 3}), i64({2}, {2, 3})},
                        attributes({{"stream", 2}}));
  ASSERT_TRUE(outcome.isOk()) << outcome.error;
  EXPECT_EQ(outcome.results[0].shape, (std::vector<int64_t>{2, 3}));
  std::vector<double> found = outcome.results[0].values();
  for (size_t i = 0; i != 6; ++i)
    EXPECT_EQ(found[i], expected[i]);
  // Seeds, runs and streams differ.
  std::set<double> firsts{found[0]};
  for (auto [seed, position, stream] :
       {std::tuple(8, 3, 2), std::tuple(7, 4, 2), std::tuple(7, 3, 1)})
    firsts.insert(run("random_uniform",
                      {i64({2}, {seed, position}), i64({1}, {1})},
                      attributes({{"stream", stream}}))
                      .results[0]
                      .values()[0]);
  EXPECT_EQ(firsts.size(), 4u);
  EXPECT_EQ(evaluated("random_uniform", {i64({2}, {7, 3}), i64({1}, {0})}),
            "0xf32");
  EXPECT_EQ(shapesOf("random_uniform", {i64({2}, {7, 3}), i64({1}, {-2})}),
            "error: expected dimensions of at least 0, got -2");
}

/// Element by element what the sequences of the runtime have.
TEST(Generate, RandomOf) {
  const float parameters[] = {0.5f, 3, 30};
  using Fill = void (*)(const RandomDraws &, uint64_t, std::span<float>, float);
  const std::pair<const char *, Fill> operations[] = {
      {"random_gamma",
       [](const RandomDraws &draws, uint64_t i, std::span<float> one,
          float shape) { fillGamma(draws, i, one, shape); }},
      {"random_poisson",
       [](const RandomDraws &draws, uint64_t i, std::span<float> one,
          float mean) { fillPoisson(draws, i, one, mean); }}};
  for (auto [operation, fill] : operations) {
    SCOPED_TRACE(operation);
    Outcome outcome =
        run(operation, {i64({2}, {7, 3}), f32({1, 3}, {0.5, 3, 30})},
            attributes({{"stream", 2}}));
    ASSERT_TRUE(outcome.isOk()) << outcome.error;
    EXPECT_EQ(outcome.results[0].shape, (std::vector<int64_t>{1, 3}));
    for (size_t i = 0; i != 3; ++i) {
      float expected;
      fill(RandomDraws{7, 2, uint64_t(3) << 32}, i, std::span(&expected, 1),
           parameters[i]);
      EXPECT_EQ(outcome.results[0].values()[i], expected);
    }
    EXPECT_EQ(evaluated(operation,
                        {i64({2}, {7, 3}), f32({4}, {0, -1, NAN, INFINITY})}),
              "4xf32 0 nan nan nan");
    EXPECT_EQ(shapesOf(operation, {i64({2}, {7, 3}), i64({1}, {1})}),
              "error: operand 1: expected f32, got i64");
  }
}
