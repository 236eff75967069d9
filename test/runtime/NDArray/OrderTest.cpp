// SPDX-License-Identifier: Apache-2.0
//
// Arrays and engines: the order of operations, errors, and ends of lives, with
// every engine.

#include "NDArrayTesting.h"

#include <random>
#include <thread>

using namespace dlc::rt;
using namespace dlc::rt::test;

DLC_WITH_EVERY_ENGINE(NDArrayOrder);

TEST_P(NDArrayOrder, RunsOperationsInTheOrderOfPushes) {
  NDArray x = makeArray(runtime, {10}), one = makeArray(runtime, {10});
  EXPECT_OK(one.fill(1));
  EXPECT_OK(x.fill(0));
  NDArray operands[] = {x, one};
  for (int i = 0; i != 200; ++i)
    ASSERT_TRUE(apply("add", operands, {}, {&x, 1}).isOk());
  EXPECT_OK(x.waitToRead());
  EXPECT_EQ(floatsOf(x), std::vector<float>(10, 200));
  EXPECT_EQ(valueOf(x.version()), 201u);
}

TEST_P(NDArrayOrder, TwoThreadsShareAnArray) {
  NDArray x = makeArray(runtime, {64}), one = makeArray(runtime, {64});
  EXPECT_OK(one.fill(1));
  EXPECT_OK(x.fill(0));
  auto add = [&] {
    NDArray mine = x, operands[] = {mine, one};
    for (int i = 0; i != 100; ++i) {
      EXPECT_OK(apply("add", operands, {}, {&mine, 1}));
      if (i % 16 == 0) {
        // A snapshot: all elements are of one moment.
        std::vector<float> seen = floatsOf(mine);
        EXPECT_EQ(seen, std::vector<float>(64, seen[0]));
        EXPECT_GE(seen[0], i + 1);
      }
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(floatsOf(x), std::vector<float>(64, 200));
}

TEST_P(NDArrayOrder, ErrorsArriveWhereSomebodyWaits) {
  NDArray unwritten = makeArray(runtime, {3}), x = vectorOf(runtime, {1, 2, 3});
  NDArray y = valueOf(apply("neg", {unwritten}));
  NDArray z = valueOf(apply("add", {x, y}));
  EXPECT_OK(x.waitToRead()); // It was only read.
  EXPECT_ERROR(z.waitToRead(), InvalidArgument, "neg");
  EXPECT_OK(y.waitToRead()); // Once is enough.
  EXPECT_OK(y.fill(4));
  EXPECT_EQ(floatsOf(valueOf(apply("add", {x, y}))),
            (std::vector<float>{5, 6, 7}));
}

TEST_P(NDArrayOrder, CopiesToAndFromTheHostDeliverErrors) {
  NDArray unwritten = makeArray(runtime, {3}), x = makeArray(runtime, {3});
  EXPECT_OK(unwritten.copyTo(x));
  std::vector<float> values{7, 8, 9};
  EXPECT_ERROR(x.copyToHost(std::span(values)), InvalidArgument, "copy");
  EXPECT_EQ(values, (std::vector<float>{7, 8, 9}));
  EXPECT_OK(unwritten.copyTo(x));
  EXPECT_ERROR(x.copyFromHost(std::span(values)), InvalidArgument, "copy");
  EXPECT_OK(x.copyFromHost(std::span(values)));
  EXPECT_EQ(floatsOf(x), values);
}

TEST_P(NDArrayOrder, MemoryOutlivesHandlesButNotOperations) {
  std::vector<float> values(1000, 1);
  std::atomic<int> released = 0;
  auto release = [](void *owner) { ++*static_cast<std::atomic<int> *>(owner); };
  NDArray result;
  for (int i = 0; i != 20; ++i) {
    Shape shape{1000};
    NDArray foreign = valueOf(NDArray::adopt(
        runtime, DLC_F32, shape, {values.data(), true, release, &released}));
    NDArray temporary = valueOf(apply("add", {foreign, foreign}));
    result = valueOf(apply("mul", {temporary, temporary}));
  }
  EXPECT_EQ(floatsOf(result), std::vector<float>(1000, 4));
  EXPECT_OK(runtime->engine().waitForAll());
  EXPECT_EQ(released, 20);
}

TEST_P(NDArrayOrder, SurvivesTheEndOfItsEngine) {
  NDArray x = vectorOf(runtime, {1, 2, 3}), unwritten = makeArray(runtime, {9});
  NDArray y = valueOf(apply("exp", {x}));
  EXPECT_OK(runtime->engine().close());
  std::vector<float> values{7, 8, 9};
  EXPECT_ERROR(x.fill(1), Unavailable, "");
  EXPECT_ERROR(x.copyToHost(std::span(values)), Unavailable, "");
  EXPECT_ERROR(x.copyFromHost(std::span(values)), Unavailable, "");
  EXPECT_ERROR(apply("exp", {x}).status(), Unavailable, "");
  EXPECT_ERROR(NDArray::create(runtime, DLC_F32, {2}).status(), Unavailable,
               "");
  runtime.reset(); // The arrays are its last owners.
  EXPECT_EQ(shapeOf(valueOf(x.slice(0, 1))), Shape{1});
}

TEST_P(NDArrayOrder, TheLastHandleEndsTheEngine) {
  NDArray x = vectorOf(runtime, {1, 2, 3});
  runtime.reset();
  for (int i = 0; i != 50; ++i)
    x = valueOf(apply("neg", {x}));
  EXPECT_EQ(floatsOf(x), (std::vector<float>{1, 2, 3}));
}

// As MXNet's engine_shutdown_test, but as the last handle of its engine, too.
TEST(NDArrayDeathTest, StaticArraysEndWithTheProcess) {
  auto end = [](bool isClosed) {
    static NDArray last;
    std::shared_ptr<ArrayRuntime> runtime = makeRuntime(allEngines().back());
    last = vectorOf(runtime, {1, 2, 3});
    for (int i = 0; i != 50; ++i)
      last = valueOf(apply("neg", {last}));
    if (isClosed)
      EXPECT_OK(runtime->engine().close());
    runtime.reset();
    std::exit(testing::Test::HasFailure());
  };
  EXPECT_EXIT(end(false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(end(true), testing::ExitedWithCode(0), "");
}

TEST_P(NDArrayOrder, ClosingWhileOthersCopy) {
  NDArray x = makeArray(runtime, {4096});
  EXPECT_OK(x.fill(1));
  std::atomic<bool> isClosed = false;
  auto copy = [&] {
    // The memory is of this frame: nothing may touch it after an error.
    while (true) {
      std::vector<float> values(4096);
      if (!x.copyToHost(std::span(values)).isOk())
        break;
      EXPECT_EQ(values, std::vector<float>(4096, 1));
    }
    EXPECT_TRUE(isClosed);
  };
  std::thread first(copy), second(copy);
  isClosed = true;
  EXPECT_OK(runtime->engine().close());
  first.join();
  second.join();
}

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

namespace {
/// Arrays and what they should hold.
struct Twins {
  static constexpr int64_t rows = 4, columns = 8;
  std::vector<NDArray> arrays;
  std::vector<std::vector<float>> expected;

  Twins(const std::shared_ptr<ArrayRuntime> &runtime, size_t count) {
    for (size_t i = 0; i != count; ++i) {
      arrays.push_back(makeArray(runtime, {rows, columns}, DLC_F32,
                                 i % 3 ? Context::cpu() : Context::null(1)));
      EXPECT_OK(arrays.back().fill(double(i)));
      expected.emplace_back(rows * columns, float(i));
    }
  }
};
} // namespace

/// Pushes one random operation on rows of random arrays.
static void step(Twins &twins, std::mt19937 &random) {
  size_t a = random() % twins.arrays.size(), b = random() % twins.arrays.size();
  int64_t from = random() % Twins::rows, to = random() % Twins::rows;
  NDArray source = valueOf(twins.arrays[a].at(from));
  NDArray target = valueOf(twins.arrays[b].at(to));
  float *in = &twins.expected[a][from * Twins::columns];
  float *out = &twins.expected[b][to * Twins::columns];
  switch (random() % 4) {
  case 0: {
    float value = float(random() % 8);
    EXPECT_OK(target.fill(value));
    std::fill_n(out, Twins::columns, value);
    return;
  }
  case 1:
    EXPECT_OK(source.copyTo(target));
    std::copy_n(in, Twins::columns, out);
    return;
  default:
    if (source.context() != target.context())
      return;
    NDArray operands[] = {source, target};
    bool isMax = random() % 2;
    EXPECT_OK(apply(isMax ? "max" : "sub", operands, {}, {&target, 1}));
    for (int64_t i = 0; i != Twins::columns; ++i)
      out[i] = isMax ? std::max(in[i], out[i]) : in[i] - out[i];
  }
}

TEST_P(NDArrayOrder, RandomProgramsAreBitEqualToSerialOnes) {
  for (unsigned seed = 0; seed != 4; ++seed) {
    std::mt19937 random(seed);
    Twins twins(runtime, 12);
    for (int i = 0; i != 500; ++i)
      step(twins, random);
    for (size_t i = 0; i != twins.arrays.size(); ++i)
      EXPECT_EQ(floatsOf(twins.arrays[i]), twins.expected[i]) << seed;
  }
}
