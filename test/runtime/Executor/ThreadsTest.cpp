// SPDX-License-Identifier: Apache-2.0
//
// One program, many executions; ThreadSanitizer watches.

#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Executor/Execution.h"

#include <gtest/gtest.h>
#include <thread>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

/// x + 1 tile by tile, then twice that, then a copy; every kernel is said to
/// be large, so that workers take part.
ProgramBuilder chainBuilder(std::span<const std::byte> object, int64_t count) {
  ProgramBuilder builder;
  builder.object(object);
  int x = builder.input("x", DLC_I32, {count});
  int next = builder.arena(DLC_I32, {count});
  int last = builder.arena(DLC_I32, {count});
  int y = builder.output("y", DLC_I32, {count});
  int step = builder.kernel(KernelKind::Generated, "count_tiles", count);
  builder.program.kernels[step]->flops = 100'000'000;
  builder.launch(step, {x}, {next});
  builder.launch(step, {next}, {last});
  builder.launch(builder.kernel(KernelKind::Copy, "copy"), {last}, {y});
  return builder;
}

void runMany(const Program &program, WorkerPool *workers, int first) {
  auto execution = Execution::create(program, {.workers = workers});
  ASSERT_TRUE(execution.isOk());
  std::vector<int32_t> data(program.inputs()[0].type.shape[0]);
  int64_t shape[] = {int64_t(data.size())};
  ASSERT_TRUE((*execution)->bindInput(0, {DLC_I32, shape, data.data()}).isOk());
  for (int round = 0; round != 50; ++round) {
    std::fill(data.begin(), data.end(), first + round);
    ASSERT_TRUE((*execution)->run().isOk());
    TensorView y = (*execution)->output(0);
    for (size_t i = 0; i != data.size(); ++i)
      ASSERT_EQ(y.as<int32_t>()[i], first + round + 2);
  }
}

} // namespace

TEST(Threads, ExecutionsShareAProgramAndItsWorkers) {
  std::vector<std::byte> object = testObject();
  ProgramBuilder builder = chainBuilder(object, 200);
  AlignedBuffer bytes = builder.write();
  auto program = Program::create(
      std::move(*Artifact::fromMemory(bytes.bytes())), testOptions());
  ASSERT_TRUE(program.isOk()) << program.status().message();
  auto workers = WorkerPool::create({.threads = 3});
  ASSERT_TRUE(workers.isOk());
  std::vector<std::thread> threads;
  for (int i = 0; i != 4; ++i)
    threads.emplace_back([&, i] {
      // Half of them share the pool, half compute alone.
      runMany(**program, i % 2 ? workers->get() : nullptr, 1000 * i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

// As MXNet's thread_safety_test: inferences of one program, pushed by 1 to 8
// threads into one engine.
TEST(Threads, PushIntoOneEngine) {
  std::vector<std::byte> object = testObject();
  AlignedBuffer bytes = chainBuilder(object, 200).write();
  auto program = Program::create(
      std::move(*Artifact::fromMemory(bytes.bytes())), testOptions());
  ASSERT_TRUE(program.isOk()) << program.status().message();
  auto engine = Engine::create({.cpuWorkers = 2});
  ASSERT_TRUE(engine.isOk()) << engine.status().message();
  auto infer = [&](int first) {
    auto execution = Execution::create(**program);
    ASSERT_TRUE(execution.isOk());
    std::vector<int32_t> data(200);
    int64_t shape[] = {200};
    ASSERT_TRUE(
        (*execution)->bindInput(0, {DLC_I32, shape, data.data()}).isOk());
    Variable input = *(*engine)->newVariable(), run = *(*engine)->newVariable();
    for (int round = 0; round != 20; ++round) {
      auto fill = [&, round] {
        std::fill(data.begin(), data.end(), first + round);
      };
      EXPECT_TRUE(
          (*engine)->pushSync(fill, Context::cpu(), {}, {input}).isOk());
      EXPECT_TRUE(
          (*execution)->push(**engine, Context::cpu(), {input}, {run}).isOk());
      ASSERT_TRUE((*engine)->waitForVariable(run).isOk());
      TensorView y = (*execution)->output(0);
      for (size_t i = 0; i != data.size(); ++i)
        ASSERT_EQ(y.as<int32_t>()[i], first + round + 2);
    }
  };
  for (int count : {1, 2, 4, 8}) {
    std::vector<std::thread> threads;
    for (int i = 0; i != count; ++i)
      threads.emplace_back(infer, 1000 * i);
    for (std::thread &thread : threads)
      thread.join();
  }
}
