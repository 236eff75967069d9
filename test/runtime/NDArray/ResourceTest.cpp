// SPDX-License-Identifier: Apache-2.0
//
// What operations of arrays borrow: random numbers and temporary space.

#include "NDArrayTesting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace dlc::rt;
using namespace dlc::rt::test;

DLC_WITH_EVERY_ENGINE(RandomArrays);

/// What an array of any floats holds.
static std::vector<double> doublesOf(const NDArray &array) {
  Attributes toDouble;
  toDouble.set("to", int64_t(DLC_F64));
  NDArray wide = valueOf(apply("cast", {array}, toDouble));
  std::vector<double> values(wide.shape().front());
  EXPECT_OK(wide.copyToHost(std::span(values)));
  return values;
}

TEST_P(RandomArrays, DependOnTheSeedAndTheOrderAlone) {
  auto drawn = [&](uint64_t seed, Context context) {
    EXPECT_OK(runtime->resources().seed(seed));
    std::vector<float> all;
    for (int64_t size : {1000, 1, 0, 37}) {
      NDArray array = makeArray(runtime, {size}, DLC_F32, context);
      EXPECT_OK(array.fillUniform(-1, 3));
      std::vector<float> some(size);
      EXPECT_OK(array.copyToHost(std::span(some)));
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  };
  std::vector<float> first = drawn(1, Context::cpu());
  EXPECT_EQ(first, drawn(1, Context::cpu()));
  EXPECT_NE(first, drawn(2, Context::cpu()));
  EXPECT_NE(first, drawn(1, Context::null(1)));
  EXPECT_EQ(std::set<float>(first.begin(), first.end()).size(), first.size());
  double sum = 0;
  for (float value : first) {
    EXPECT_GE(value, -1);
    EXPECT_LT(value, 3);
    sum += value;
  }
  EXPECT_NEAR(sum / first.size(), 1, 0.1); // 3 standard deviations.
}

TEST_P(RandomArrays, AreOfEveryFloat) {
  for (DataType type : {DLC_F16, DLC_BF16, DLC_F32, DLC_F64}) {
    SCOPED_TRACE(type);
    EXPECT_OK(runtime->resources().seed(5));
    NDArray array = makeArray(runtime, {1000}, type);
    EXPECT_OK(array.fillNormal(10, 2));
    std::vector<double> values = doublesOf(array);
    double mean = 0, square = 0;
    for (double value : values) {
      mean += value / 1000;
      square += (value - 10) * (value - 10) / 1000;
    }
    EXPECT_NEAR(mean, 10, 0.2);             // 3 standard deviations.
    EXPECT_NEAR(std::sqrt(square), 2, 0.2); // 4.
  }
}

TEST_P(RandomArrays, SayWhatTheyNeed) {
  NDArray floats = makeArray(runtime, {3}),
          ints = makeArray(runtime, {3}, DLC_I32);
  double inf = std::numeric_limits<double>::infinity();
  EXPECT_ERROR(ints.fillUniform(), InvalidArgument, "floats, got 3xi32");
  EXPECT_ERROR(floats.fillUniform(1, 1), InvalidArgument, "[1, 1)");
  EXPECT_ERROR(floats.fillUniform(0, inf), InvalidArgument, "[0, inf)");
  EXPECT_ERROR(floats.fillNormal(0, -1), InvalidArgument, "0 and -1");
  EXPECT_ERROR(floats.fillUniform(-3e38, 3e38), InvalidArgument, "of f32");
  EXPECT_ERROR(floats.fillNormal(0, 1e300), InvalidArgument, "of f32");
  EXPECT_ERROR(floats.fillUniform(1, 1 + 1e-12), InvalidArgument,
               "expected a range with numbers of f32, got [1, 1.000000000001)");
  NDArray halves = makeArray(runtime, {3}, DLC_F16);
  EXPECT_ERROR(halves.fillUniform(1.0001, 1.0002), InvalidArgument,
               "expected a range with numbers of f16, got [1.0001, 1.0002)");
  EXPECT_ERROR(halves.fillUniform(1e5, 2e5), InvalidArgument, "of f16");
  EXPECT_ERROR(NDArray().fillNormal(), InvalidArgument, "a null handle");
}

TEST_P(RandomArrays, UniformOnesStayInTheirRange) {
  constexpr int64_t count = 100'000;
  const double ranges[][2] = {{0, 1}, {-1, 0}, {1.0001, 1.5}, {-6e4, 0}};
  for (DataType type : {DLC_F16, DLC_BF16, DLC_F32, DLC_F64})
    for (auto [low, high] : ranges) {
      NDArray array = makeArray(runtime, {count}, type);
      EXPECT_OK(array.fillUniform(low, high));
      std::vector<double> values = doublesOf(array);
      auto [least, most] = std::minmax_element(values.begin(), values.end());
      // Floats take the bounds as floats.
      EXPECT_GE(*least, type == DLC_F64 ? low : float(low)) << type;
      EXPECT_LT(*most, high) << type;
      EXPECT_LT(*least, *most) << type;
    }
}

// Numbers beyond the range of the type are its largest, and no others are.
TEST_P(RandomArrays, AreFinite) {
  for (DataType type : {DLC_F16, DLC_BF16, DLC_F32, DLC_F64}) {
    NDArray array = makeArray(runtime, {1000}, type);
    double large = type == DLC_F64 ? 1e308 : 3e38;
    EXPECT_OK(array.fillNormal(0, large));
    double most = 0;
    for (double value : doublesOf(array))
      most = std::max(most, std::abs(value));
    EXPECT_TRUE(std::isfinite(most)) << type;
    EXPECT_GE(most, type == DLC_F16 ? 65504 : large) << type;
  }
  NDArray array = makeArray(runtime, {10'000});
  EXPECT_OK(array.fillNormal(-3e38, 3e38));
  int atBounds = 0;
  for (double value : doublesOf(array))
    atBounds += std::abs(value) == std::numeric_limits<float>::max();
  // Below -0.134 or above 2.134 deviations: a share of 0.463; 5 deviations.
  EXPECT_NEAR(atBounds, 4630, 250);
}

// What is computed over an operand takes temporary space, which arrays share.
TEST_P(RandomArrays, ManyAreComputedInPlace) {
  std::vector<NDArray> arrays;
  for (int i = 0; i != 8; ++i) {
    arrays.push_back(makeArray(runtime, {2, 2}));
    EXPECT_OK(arrays.back().fill(i));
  }
  for (int round = 0; round != 20; ++round)
    for (NDArray &array : arrays) {
      const NDArray both[] = {array, array};
      EXPECT_OK(apply("add", both, {}, {&array, 1}));
    }
  for (int i = 0; i != 8; ++i)
    EXPECT_EQ(floatsOf(arrays[i]), std::vector<float>(4, std::ldexp(i, 20)));
}
