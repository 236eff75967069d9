// SPDX-License-Identifier: Apache-2.0
//
// Sums and copies between devices.

#include "runtime/Binding/Combine.h"
#include "dlc/runtime/Base/Half.h"

#include <gtest/gtest.h>
#include <random>

using namespace dlc;
using namespace dlc::rt;

namespace {

class CombineTest : public testing::Test {
protected:
  CombineTest() {
    EngineOptions options;
    options.cpuWorkers = 1;
    auto engine = Engine::create(options);
    EXPECT_TRUE(engine.isOk()) << engine.status().message();
    runtime = std::make_shared<ArrayRuntime>(std::move(*engine));
  }

  template <typename T>
  NDArray make(DataType type, const std::vector<T> &values,
               Context context = Context::cpu()) {
    auto array =
        NDArray::create(runtime, type, {int64_t(values.size())}, context);
    EXPECT_TRUE(array.isOk()) << array.status().message();
    EXPECT_TRUE(array->copyFromHost(std::span(values)).isOk());
    return *array;
  }
  template <typename T> std::vector<T> read(const NDArray &array) {
    std::vector<T> values(array.size());
    Status status = array.copyToHost(std::span(values));
    EXPECT_TRUE(status.isOk()) << status.message();
    return values;
  }

  std::shared_ptr<ArrayRuntime> runtime;
};

} // namespace

// Long ones, so that there are several pieces and a rest.
TEST_F(CombineTest, AddsInOrder) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> distribution(-1, 1);
  constexpr size_t size = 5000;
  std::vector<std::vector<float>> values(4, std::vector<float>(size));
  std::vector<NDArray> arrays;
  for (size_t i = 0; i != values.size(); ++i) {
    for (float &value : values[i])
      value = distribution(random) * (i % 2 ? 1 : 1000);
    arrays.push_back(make(DLC_F32, values[i], Context::null(int16_t(i))));
  }
  for (int divisor : {1, 4}) {
    NDArray target = make(DLC_F32, values[0]);
    ASSERT_TRUE(
        pushSum(std::span(arrays).subspan(1), target, divisor, 1).isOk());
    std::vector<float> found = read<float>(target);
    for (size_t k = 0; k != size; ++k)
      ASSERT_EQ(found[k], (((values[0][k] + values[1][k]) + values[2][k]) +
                           values[3][k]) /
                              float(divisor))
          << k;
  }
}

TEST_F(CombineTest, RoundsShortFloatsOnce) {
  // Each term is lost when it is added alone: half of the last place.
  NDArray target = make(DLC_F16, std::vector{halfFromFloat(2048)});
  std::vector<NDArray> terms(3, make(DLC_F16, std::vector{halfFromFloat(1)}));
  ASSERT_TRUE(pushSum(terms, target, 1, 0).isOk());
  EXPECT_EQ(floatFromHalf(read<uint16_t>(target)[0]), 2052);
  target = make(DLC_BF16, std::vector{bfloat16FromFloat(256)});
  terms.assign(3, make(DLC_BF16, std::vector{bfloat16FromFloat(1)}));
  ASSERT_TRUE(pushSum(terms, target, 1, 0).isOk());
  EXPECT_EQ(floatFromBFloat16(read<uint16_t>(target)[0]), 260);
  target = make(DLC_F64, std::vector{1.0});
  terms.assign(1, make(DLC_F64, std::vector{0x1p-40}));
  ASSERT_TRUE(pushSum(terms, target, 1, 0).isOk());
  EXPECT_EQ(read<double>(target)[0], 1 + 0x1p-40);
  target = make(DLC_I32, std::vector{1});
  Status status = pushSum({&target, 1}, target, 1, 0);
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_EQ(status.message(),
            "expected floats of 16, 32 or 64 bits to add, got 1xi32");
}

TEST_F(CombineTest, CopiesWhateverTheElements) {
  NDArray source = make(DLC_I32, std::vector{1, 2, 3}, Context::cpu(1));
  NDArray target = make(DLC_I32, std::vector{0, 0, 0});
  ASSERT_TRUE(pushCopy(source, target, 3).isOk());
  EXPECT_EQ(read<int>(target), (std::vector{1, 2, 3}));
}

TEST_F(CombineTest, TellsOfWhatWasNeverWritten) {
  NDArray target = make(DLC_F32, std::vector{1.f});
  NDArray none = *NDArray::create(runtime, DLC_F32, {1});
  ASSERT_TRUE(pushCopy(none, target, 0).isOk());
  EXPECT_EQ(target.waitToRead().code(), StatusCode::InvalidArgument);
  ASSERT_TRUE(pushSum({&none, 1}, target, 1, 0).isOk());
  EXPECT_EQ(target.waitToRead().code(), StatusCode::InvalidArgument);
}
