// SPDX-License-Identifier: Apache-2.0
//
// Threads that come and go and use one runtime of arrays, and what is left of
// them.

#include "NDArrayTesting.h"

#include <thread>

using namespace dlc::rt;
using namespace dlc::rt::test;

DLC_WITH_EVERY_ENGINE(NDArrayLeaks);

namespace {

/// A naive engine runs one operation at a time, whoever pushes.
class NDArrayThreads : public WithEveryEngine {};
INSTANTIATE_TEST_SUITE_P(, NDArrayThreads, testing::ValuesIn(threadedEngines()),
                         [](const auto &info) {
                           return engineName(info.param);
                         });

constexpr int deviceCount = 4, epochs = 20;
constexpr int64_t size = 100;

/// What an operator of the application does in a thread of its own: makes an
/// array, has small operations on it joined, waits for it, and hands it on.
Status addOne(const std::shared_ptr<ArrayRuntime> &runtime, Context device,
              NDArray source, NDArray target) {
  NDArray one = makeArray(runtime, {size}, DLC_F32, device);
  {
    BulkScope bulk(runtime->engine(), 8);
    DLC_RETURN_IF_ERROR(one.fill(7));
    DLC_RETURN_IF_ERROR(one.fill(1));
    DLC_RETURN_IF_ERROR(bulk.end());
  }
  DLC_RETURN_IF_ERROR(one.waitToRead());
  NDArray operands[] = {source, one};
  return apply("add", operands, {}, {&target, 1});
}

} // namespace

// As MXNet's test_tlocal_racecondition, which trains on four devices with an
// operator whose functions run in threads of the application, and with a thread
// that loads batches: what belongs to a thread is no other one's.
TEST_P(NDArrayThreads, OperatorsOfTheApplicationOnFourDevices) {
  Engine &engine = runtime->engine();
  std::vector<NDArray> values, batches;
  std::vector<Variable> turns = makeVariables(engine, deviceCount);
  for (int d = 0; d != deviceCount; ++d) {
    values.push_back(makeArray(runtime, {size}, DLC_F32, Context::null(d)));
    batches.push_back(makeArray(runtime, {size}, DLC_F32, Context::null(d)));
    EXPECT_OK(values[d].fill(0));
  }
  std::thread loader([&] {
    for (int epoch = 0; epoch != epochs; ++epoch) {
      NDArray batch = vectorOf(runtime, std::vector<float>(size, float(epoch)));
      for (NDArray &target : batches)
        EXPECT_OK(batch.copyTo(target));
    }
  });
  for (int epoch = 0; epoch != epochs; ++epoch)
    for (int d = 0; d != deviceCount; ++d)
      EXPECT_OK(engine.pushAsync(
          [this, value = &values[d], d](Completion completion) {
            std::thread([this, value, d,
                         completion = std::move(completion)]() mutable {
              Status status = addOne(runtime, Context::null(d), *value, *value);
              EXPECT_OK(completion.complete(std::move(status)));
            }).detach();
          },
          Context::null(d), {}, {turns[d]}));
  loader.join();
  for (int d = 0; d != deviceCount; ++d) {
    EXPECT_OK(engine.waitForVariable(turns[d]));
    EXPECT_EQ(floatsOf(values[d]), std::vector<float>(size, epochs));
    EXPECT_EQ(floatsOf(batches[d]), std::vector<float>(size, epochs - 1));
    EXPECT_OK(engine.deleteVariable(turns[d]));
  }
}

// MXNet's fixture check_leak_ndarray, for all that arrays take.
TEST_P(NDArrayLeaks, AreNone) {
  auto look = [&] {
    EXPECT_OK(runtime->resources().trim());
    EXPECT_OK(runtime->engine().waitForAll());
    size_t bytes = 0, blocks = 0;
    runtime->storage()->forEach([&](StorageManager &manager) {
      bytes += manager.statistics().liveBytes;
      blocks += manager.statistics().liveBlocks;
    });
    EXPECT_EQ(bytes, 0u);
    EXPECT_EQ(blocks, 0u);
    return runtime->engine().statistics().variables;
  };
  auto use = [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t != 4; ++t)
      threads.emplace_back([&, t] {
        Context device = t % 2 ? Context::null(t) : Context::cpu();
        NDArray x = makeArray(runtime, {8, size}, DLC_F32, device);
        NDArray never = makeArray(runtime, {8, size}, DLC_F32, device);
        EXPECT_OK(x.fillUniform(0, 1));
        NDArray row = valueOf(x.at(t)), all = valueOf(x.reshape({8 * size}));
        NDArray operands[] = {x, x};
        EXPECT_OK(apply("add", operands, {}, {&x, 1})); // In temporary space.
        EXPECT_OK(row.copyTo(makeArray(runtime, {size})));
        // What fails leaves no more than what succeeds.
        NDArray failed = valueOf(apply("exp", {never}));
        EXPECT_ERROR(failed.waitToRead(), InvalidArgument, "never was");
        EXPECT_LE(floatsOf(row)[0], 2);
      });
    for (std::thread &thread : threads)
      thread.join();
  };
  use(); // Makes the resources of the devices.
  uint64_t variables = look();
  for (int i = 0; i != 5; ++i) {
    use();
    EXPECT_EQ(look(), variables);
  }
}
