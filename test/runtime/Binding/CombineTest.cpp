// SPDX-License-Identifier: Apache-2.0
//
// Sums and copies between devices.

#include "runtime/Binding/Combine.h"
#include "dlc/runtime/Base/Half.h"

#include <gtest/gtest.h>
#include <random>
#include <thread>

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

// Copies where either side was written, by whatever way.
TEST_F(CombineTest, SendsWhatWasWritten) {
  NDArray source = make(DLC_F32, std::vector<float>{1, 2}, Context::cpu(1));
  NDArray target = make(DLC_F32, std::vector<float>{0, 0});
  auto sent = std::make_shared<SentValues>();
  sent->bytes = std::make_shared<std::atomic<uint64_t>>(0);
  uint64_t copies = 0;
  auto send = [&](bool isCopied) {
    copies += isCopied;
    ASSERT_TRUE(pushSend(source, target, sent, 0).isOk());
    EXPECT_EQ(read<float>(target), read<float>(source));
    EXPECT_EQ(sent->bytes->load(), copies * source.bytes());
  };
  send(true);
  send(false);
  send(false);
  ASSERT_TRUE(source.fill(3).isOk());
  send(true);
  ASSERT_TRUE(target.fill(4).isOk());
  send(true);
  ASSERT_TRUE(source.slice(1, 2)->fill(5).isOk()); // By a view.
  send(true);
  send(false);
  auto place = source.hostAccess(VariableUse::Write);
  ASSERT_TRUE(place.isOk());
  static_cast<float *>(*place)[0] = 6;
  send(true);
  send(false);
  ASSERT_TRUE(source.hostAccess(VariableUse::Read).isOk());
  send(false);
  ASSERT_TRUE(target.hostAccess(VariableUse::Write).isOk());
  send(true);
  std::shared_ptr<const void> kept = source.memory(); // For anybody.
  send(true);
  send(true);
}

// What was refused is not taken for sent.
TEST_F(CombineTest, SendsAgainAfterAnError) {
  NDArray source = *NDArray::create(runtime, DLC_F32, {1});
  NDArray target = make(DLC_F32, std::vector{1.f});
  auto sent = std::make_shared<SentValues>();
  sent->bytes = std::make_shared<std::atomic<uint64_t>>(0);
  for (int i = 0; i != 2; ++i) {
    ASSERT_TRUE(pushSend(source, target, sent, 0).isOk());
    EXPECT_EQ(target.waitToRead().code(), StatusCode::InvalidArgument);
  }
  ASSERT_TRUE(source.fill(7).isOk());
  ASSERT_TRUE(pushSend(source, target, sent, 0).isOk());
  EXPECT_EQ(read<float>(target), (std::vector{7.f}));
}

// Nothing waits between what is pushed, while another thread reads.
TEST_F(CombineTest, SendsInTheOrderOfPushes) {
  constexpr int rounds = 300;
  NDArray source = make(DLC_I32, std::vector<int>(64, -1), Context::cpu(1));
  NDArray target = make(DLC_I32, std::vector<int>(64, -1));
  auto sent = std::make_shared<SentValues>();
  sent->bytes = std::make_shared<std::atomic<uint64_t>>(0);
  std::atomic<bool> isOver = false;
  std::thread reader([&] {
    while (!isOver) {
      std::vector<int> values = read<int>(target);
      EXPECT_EQ(values, std::vector<int>(64, values[0]));
    }
  });
  std::vector<NDArray> seen;
  for (int i = 0; i != rounds; ++i) {
    if (i % 3 == 0)
      ASSERT_TRUE(source.fill(i).isOk());
    ASSERT_TRUE(pushSend(source, target, sent, i % 2).isOk());
    seen.push_back(*target.copy(Context::cpu(2)));
  }
  for (int i = 0; i != rounds; ++i)
    ASSERT_EQ(read<int>(seen[i])[63], i - i % 3) << i;
  isOver = true;
  reader.join();
  EXPECT_EQ(sent->bytes->load(), rounds / 3 * source.bytes());
}

TEST_F(CombineTest, TellsOfWhatWasNeverWritten) {
  NDArray target = make(DLC_F32, std::vector{1.f});
  NDArray none = *NDArray::create(runtime, DLC_F32, {1});
  ASSERT_TRUE(pushCopy(none, target, 0).isOk());
  EXPECT_EQ(target.waitToRead().code(), StatusCode::InvalidArgument);
  ASSERT_TRUE(pushSum({&none, 1}, target, 1, 0).isOk());
  EXPECT_EQ(target.waitToRead().code(), StatusCode::InvalidArgument);
}
