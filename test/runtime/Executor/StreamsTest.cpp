// SPDX-License-Identifier: Apache-2.0
//
// Programs on several devices and streams. Null devices compute on the host.

#include "../InChild.h"
#include "../ProgramBuilder.h"
#include "LoadProgram.h"
#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Executor/Execution.h"

#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

/// A program from a builder, with one execution.
struct Loaded {
  explicit Loaded(ProgramBuilder &builder, const ExecutionOptions &options = {},
                  const ProgramOptions &programOptions = testOptions())
      : bytes(builder.write()) {
    program = loadProgram(bytes, programOptions);
    auto made = Execution::create(*program, options);
    EXPECT_TRUE(made.isOk()) << made.status().message();
    execution = std::move(*made);
  }

  void bind(std::vector<float> &data) {
    int64_t shape[] = {int64_t(data.size())};
    EXPECT_TRUE(execution->bindInput(0, {DLC_F32, shape, data.data()}).isOk());
  }

  std::vector<float> output(size_t index) {
    TensorView view = execution->output(index);
    return {view.as<float>(), view.as<float>() + view.size()};
  }

  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
};

/// Two halves on two devices, exchanged through copies:
///   a = x + x on device 0     b = relu(x) on device 1
///   b comes to device 0       y = a + b
ProgramBuilder twoDevices() {
  ProgramBuilder builder;
  int other = builder.device(DeviceKind::Null, 1);
  int copy = builder.kernel(KernelKind::Copy, "copy");
  int x = builder.input("x", DLC_F32, {4});
  int a = builder.arena(DLC_F32, {4});
  int sent = builder.arena(DLC_F32, {4}, other);
  int b = builder.arena(DLC_F32, {4}, other);
  int received = builder.arena(DLC_F32, {4});
  int y = builder.output("y", DLC_F32, {4});
  builder.reference("add", {x, x}, {a}, "double");
  builder.on(other, 1, builder.launch(copy, {x}, {sent}, "send"));
  builder.on(other, 0, builder.reference("relu", {sent}, {b}, "relu"));
  builder.launch(copy, {b}, {received}, "receive");
  builder.reference("add", {a, received}, {y}, "sum");
  return builder;
}

} // namespace

TEST(Streams, DevicesExchangeValues) {
  ProgramBuilder builder = twoDevices();
  Loaded loaded(builder);
  // send | relu | double | receive, sum
  EXPECT_EQ(loaded.program->statistics().segments, 4u);
  EXPECT_EQ(toString(loaded.program->launch(2).device), "null:1");
  std::vector<float> x = {-1, 2, -3, 4};
  loaded.bind(x);
  for (int round = 0; round != 200; ++round) {
    ASSERT_TRUE(loaded.execution->run().isOk());
    ASSERT_EQ(loaded.output(0), (std::vector<float>{-2, 6, -6, 12}));
    loaded.execution->output(0).as<float>()[round % 4] = 0;
  }
}

TEST(Streams, AForkRunsThemAlone) {
  ProgramBuilder builder = twoDevices();
  Loaded loaded(builder);
  std::vector<float> x = {-1, 2, -3, 4};
  loaded.bind(x);
  EXPECT_EQ(inChild([&] {
              return loaded.execution->run().isOk() &&
                             loaded.output(0) ==
                                 std::vector<float>{-2, 6, -6, 12}
                         ? 0
                         : 1;
            }),
            0);
}

/// Threads of this process.
static ptrdiff_t countThreads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

TEST(Streams, ExecutionsThatTakeTurnsShareThreads) {
  ProgramBuilder builder = twoDevices();
  SharedArenas arenas;
  const ptrdiff_t before = countThreads();
  std::vector<std::unique_ptr<Loaded>> all;
  for (int i = 0; i != 8; ++i)
    all.push_back(
        std::make_unique<Loaded>(builder, ExecutionOptions{.arenas = &arenas}));
  const unsigned streams = 3;
  EXPECT_EQ(countThreads() - before, ptrdiff_t(streams) - 1);
  // Fewer are other ones.
  all.push_back(std::make_unique<Loaded>(
      builder, ExecutionOptions{.streamThreads = 2, .arenas = &arenas}));
  EXPECT_EQ(countThreads() - before, ptrdiff_t(streams));
  for (int round = 0; round != 20; ++round)
    for (auto &loaded : all) {
      std::vector<float> x = {-1, 2, -3, float(round)};
      loaded->bind(x);
      ASSERT_TRUE(loaded->execution->run().isOk());
      EXPECT_EQ(loaded->output(0),
                (std::vector<float>{-2, 6, -6, 3 * float(round)}));
    }
}

TEST(Streams, OneStreamHasNoSegments) {
  ProgramBuilder builder = addReluBuilder();
  EXPECT_EQ(Loaded(builder).program->statistics().segments, 0u);
}

TEST(Streams, TooManyAreRefused) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {4});
  for (int i = 0; i != 65; ++i) {
    int y = builder.output("y" + std::to_string(i), DLC_F32, {4});
    builder.on(0, i, builder.reference("relu", {x}, {y}));
  }
  AlignedBuffer bytes = builder.write();
  auto program =
      Program::create(std::move(*Artifact::fromMemory(bytes.bytes())));
  ASSERT_FALSE(program.isOk());
  EXPECT_EQ(program.status().message(),
            "expected at most 64 streams, got more");
}

//===----------------------------------------------------------------------===//
// At the same time
//===----------------------------------------------------------------------===//

namespace {

std::atomic<int> arrived = 0;

/// Returns when two threads are inside, or fails after ten seconds.
Status meet(ref::ComputeContext &) {
  ++arrived;
  bool isThere = spinUntil(10'000'000'000, [] { return arrived >= 2; });
  return isThere ? Status::ok()
                 : makeError(StatusCode::Internal, "nobody came");
}

Status inferMeet(const ref::InferContext &context,
                 std::vector<TensorType> &results) {
  results = {context.operand(0).type};
  return Status::ok();
}

ProgramOptions meetingOptions() {
  ProgramOptions options = testOptions();
  options.findOperation = [](std::string_view name) -> const ref::Operation * {
    static const ref::Operation meeting{"meet", inferMeet, meet};
    return name == "meet" ? &meeting : testOptions().findOperation(name);
  };
  return options;
}

} // namespace

TEST(Streams, DevicesWorkAtTheSameTime) {
  ProgramBuilder builder;
  int other = builder.device(DeviceKind::Null, 0);
  int x = builder.input("x", DLC_F32, {4});
  int y = builder.output("y", DLC_F32, {4});
  int z = builder.output("z", DLC_F32, {4});
  builder.reference("meet", {x}, {y});
  builder.on(other, 0, builder.reference("meet", {x}, {z}));
  Loaded loaded(builder, {}, meetingOptions());
  std::vector<float> data(4);
  loaded.bind(data);
  for (int round = 0; round != 20; ++round) {
    arrived = 0;
    Status status = loaded.execution->run();
    ASSERT_TRUE(status.isOk()) << status.message();
  }
}

/// The outputs of a plan of copies and sums, launch by launch.
static std::vector<std::vector<float>> serialResult(ProgramBuilder &builder,
                                                    std::vector<float> x) {
  std::vector<std::vector<float>> values(builder.program.values.size());
  values[0] = x;
  for (const auto &launch : builder.program.launches) {
    const std::vector<int32_t> &arguments = launch->arguments;
    std::vector<float> result = values[arguments[0]];
    if (arguments.size() == 3)
      for (size_t i = 0; i != result.size(); ++i)
        result[i] += values[arguments[1]][i];
    values[arguments.back()] = result;
  }
  std::vector<std::vector<float>> outputs;
  for (const auto &output : builder.program.outputs)
    outputs.push_back(values[output->value]);
  return outputs;
}

TEST(Streams, EqualTheOrderOfThePlanForAnyThreads) {
  // Sums of random values, on random streams of three devices.
  std::mt19937 random(1);
  for (int round = 0; round != 20; ++round) {
    ProgramBuilder builder;
    builder.device(DeviceKind::Null, 0);
    builder.device(DeviceKind::CPU, 1);
    int copy = builder.kernel(KernelKind::Copy, "copy");
    int x = builder.input("x", DLC_F32, {4});
    // A few values a device, written again and again.
    std::vector<std::vector<int>> values(3);
    for (int device = 0; device != 3; ++device)
      for (int i = 0; i != 4; ++i) {
        values[device].push_back(builder.arena(DLC_F32, {4}, device));
        builder.on(device, i % 2,
                   builder.launch(copy, {x}, {values[device].back()}));
      }
    for (int i = 0; i != 60; ++i) {
      int device = random() % 3;
      auto any = [&](int of) { return values[of][random() % 4]; };
      int target = any(device);
      int launch =
          random() % 3
              ? builder.reference("add", {any(device), any(device)}, {target})
              : builder.launch(copy, {any(random() % 3)}, {target});
      builder.on(device, random() % 2, launch);
    }
    for (int device = 0; device != 3; ++device) {
      int y = builder.output("y" + std::to_string(device), DLC_F32, {4});
      builder.on(device, 0, builder.launch(copy, {values[device][0]}, {y}));
    }
    std::vector<float> data = {1, 0.5, -1, 3};
    std::vector<std::vector<float>> expected = serialResult(builder, data);
    for (unsigned threads : {0u, 1u, 2u, 3u, 6u}) {
      Loaded loaded(builder, {.streamThreads = threads});
      loaded.bind(data);
      for (int run = 0; run != 10; ++run) {
        ASSERT_TRUE(loaded.execution->run().isOk());
        std::vector<std::vector<float>> found;
        for (int i = 0; i != 3; ++i)
          found.push_back(loaded.output(i));
        ASSERT_EQ(found, expected) << threads << " threads";
      }
    }
  }
}

TEST(Streams, SharePoolValuesAndWorkers) {
  // Values of the pool that several streams read, with one another's results.
  ProgramBuilder builder;
  int other = builder.device(DeviceKind::Null, 1);
  int copy = builder.kernel(KernelKind::Copy, "copy");
  int x = builder.input("x", DLC_F32, {-1});
  int kept = builder.pool(DLC_F32, {-1});
  int there = builder.pool(DLC_F32, {-1});
  builder.program.values[there]->device = other;
  int twice = builder.pool(DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {-1});
  int z = builder.output("z", DLC_F32, {-1});
  builder.reference("positives", {x}, {kept});
  builder.on(other, 0, builder.launch(copy, {kept}, {there}));
  builder.reference("twice_length", {kept}, {twice});
  builder.reference("relu", {twice}, {y});
  builder.on(other, 0, builder.reference("relu", {there}, {z}));
  auto workers = std::move(*WorkerPool::create({.threads = 2}));
  Loaded loaded(builder, {.workers = workers.get()});
  for (int round = 1; round != 100; ++round) {
    std::vector<float> data(round, 1), longer(2 * round, 1);
    data.push_back(-1);
    loaded.bind(data);
    ASSERT_TRUE(loaded.execution->run().isOk());
    data.pop_back();
    ASSERT_EQ(loaded.output(0), longer);
    ASSERT_EQ(loaded.output(1), data);
  }
}

TEST(Streams, AFailureNamesItsLaunch) {
  ProgramBuilder builder = twoDevices();
  int failed = builder.output("failed", DLC_F32, {1});
  builder.on(1, 0, builder.reference("refuse", {3}, {failed}, "bad"));
  Loaded loaded(builder);
  std::vector<float> x(4);
  loaded.bind(x);
  for (int round = 0; round != 20; ++round)
    EXPECT_EQ(loaded.execution->run().message(),
              "launch 5 (bad): refused on purpose");
}

TEST(Streams, AnEngineSeesOneOperationARun) {
  ProgramBuilder builder = twoDevices();
  Loaded first(builder), second(builder);
  std::vector<float> x = {-1, 2, -3, 4};
  first.bind(x);
  EngineOptions options;
  options.kind = EngineKind::Naive;
  auto engine = std::move(*Engine::create(options));
  Variable run = *engine->newVariable(), y = *engine->newVariable();
  for (int round = 0; round != 5; ++round)
    ASSERT_TRUE(
        first.execution->push(*engine, Context::cpu(), {}, {run, y}).isOk());
  ASSERT_TRUE(engine->waitForVariable(y).isOk());
  EXPECT_EQ(engine->statistics().completed, 5u);
  EXPECT_EQ(first.output(0), (std::vector<float>{-2, 6, -6, 12}));

  // An unbound input fails the run, and then what depends on it.
  PushOptions named;
  named.name = "half";
  ASSERT_TRUE(
      second.execution->push(*engine, Context::cpu(), {}, {y}, named).isOk());
  std::string message = engine->waitForVariable(y).message();
  EXPECT_NE(message.find("half"), std::string::npos) << message;
  EXPECT_NE(message.find("input 'x' is not bound"), std::string::npos)
      << message;
}
