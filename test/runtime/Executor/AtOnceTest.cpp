// SPDX-License-Identifier: Apache-2.0
//
// Launches that do not wait for each other are one grid for the workers.

#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Executor/Execution.h"

#include <atomic>
#include <gtest/gtest.h>
#include <random>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

//===----------------------------------------------------------------------===//
// A library of kernels with several steps, and of some that meet
//===----------------------------------------------------------------------===//

/// y = (a + b) / 2, and a step later y = 1 - y, as often as there are steps.
class Mix final : public PreparedKernel {
public:
  Mix(int64_t count, int64_t steps, bool isFirst = true)
      : count(count), isFirst(isFirst) {
    if (steps > 1)
      following = std::make_unique<Mix>(count, steps - 1, false);
  }
  int64_t tiles() const override { return count; }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    auto *a = static_cast<const float *>(arguments[0]);
    auto *b = static_cast<const float *>(arguments[1]);
    auto *y = static_cast<float *>(arguments[2]);
    for (int64_t i = begin; i != end; ++i)
      y[i] = isFirst ? (a[i] + b[i]) / 2 : 1 - y[i];
  }
  const PreparedKernel *next() const override { return following.get(); }

private:
  int64_t count;
  bool isFirst;
  std::unique_ptr<Mix> following;
};

std::atomic<int> arrived = 0;

/// One tile, which ends when two threads are inside, and says whether they
/// were: in ten seconds at most.
class Meet final : public PreparedKernel {
public:
  int64_t tiles() const override { return 1; }
  void run(void *const *arguments, int64_t, int64_t) const override {
    ++arrived;
    bool isThere = spinUntil(10'000'000'000, [] { return arrived >= 2; });
    static_cast<float *>(arguments[1])[0] = isThere;
  }
};

Status prepareMix(const KernelCall &call,
                  std::unique_ptr<PreparedKernel> &prepared) {
  prepared = std::make_unique<Mix>(*elementCount(call.outputs[0].shape),
                                   call.attributes.getInt("steps", 1));
  return Status::ok();
}

Status prepareMeet(const KernelCall &,
                   std::unique_ptr<PreparedKernel> &prepared) {
  prepared = std::make_unique<Meet>();
  return Status::ok();
}

ProgramOptions options() {
  ProgramOptions options = testOptions();
  options.findLibraryEntry = [](std::string_view name) -> const LibraryEntry * {
    static const LibraryEntry mix{"test.mix", prepareMix, nullptr, nullptr};
    static const LibraryEntry meeting{"test.meet", prepareMeet, nullptr,
                                      nullptr};
    if (name == mix.name)
      return &mix;
    return name == meeting.name ? &meeting
                                : testOptions().findLibraryEntry(name);
  };
  return options;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

struct Grids : testing::Test {
  ProgramBuilder builder;

  /// All kernels are said to be large, so that workers take part.
  int kernel(KernelKind kind, const char *name, int64_t tiles = 1) {
    int number = builder.kernel(kind, name, tiles);
    builder.program.kernels[number]->flops = 100'000'000;
    return number;
  }

  int mix(int64_t steps) {
    int number = kernel(KernelKind::Library, "test.mix");
    auto attribute = std::make_unique<dlc::abi::AttributeT>();
    attribute->name = "steps";
    attribute->kind = dlc::abi::AttributeKind::Int;
    attribute->i = steps;
    builder.program.kernels[number]->attributes.push_back(std::move(attribute));
    return number;
  }

  void load() {
    bytes = builder.write();
    auto created = Program::create(
        std::move(*Artifact::fromMemory(bytes.bytes())), options());
    ASSERT_TRUE(created.isOk()) << created.status().message();
    program = std::move(*created);
  }

  void prepare(const ExecutionOptions &options, std::vector<float> &x) {
    auto created = Execution::create(*program, options);
    ASSERT_TRUE(created.isOk()) << created.status().message();
    execution = std::move(*created);
    int64_t shape[] = {int64_t(x.size())};
    ASSERT_TRUE(execution->bindInput(0, {DLC_F32, shape, x.data()}).isOk());
  }

  std::vector<float> output(size_t index) {
    TensorView view = execution->output(index);
    return {view.as<float>(), view.as<float>() + view.size()};
  }

  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
};

struct NoObserver final : LaunchObserver {
  size_t launches = 0;
  void onLaunch(size_t, unsigned, uint64_t, uint64_t) override { ++launches; }
};

} // namespace

TEST_F(Grids, ComputeWhatTheOrderOfThePlanDoes) {
  std::vector<std::byte> object = testObject(); // Doubles its input.
  builder.object(object);
  std::mt19937 random(1);
  int x = builder.input("x", DLC_F32, {64});
  // Few values, so that some launches wait for those before them.
  std::vector<int> values = {x};
  for (int i = 0; i != 24; ++i)
    values.push_back(builder.arena(DLC_F32, {64}));
  int twice = kernel(KernelKind::Generated, "scale_tiles", 4);
  int mixes[] = {mix(1), mix(2), mix(3)};
  int none = builder.arena(DLC_F32, {0});
  for (size_t i = 1; i != values.size(); ++i)
    builder.launch(twice, {x}, {values[i]});
  for (int i = 0; i != 300; ++i) {
    auto any = [&] { return values[1 + random() % (values.size() - 1)]; };
    int target = any(), a = any(), b = any();
    if (a == target || b == target)
      builder.launch(twice, {x}, {target});
    else if (random() % 16 == 0)
      builder.launch(mixes[1], {none, none}, {none});
    else
      builder.launch(mixes[random() % 3], {a, b}, {target});
  }
  int y = builder.output("y", DLC_F32, {64});
  int sum = values[1];
  for (size_t i = 2; i != values.size(); ++i) {
    int next = i + 1 == values.size() ? y : builder.arena(DLC_F32, {64});
    builder.launch(mixes[0], {sum, values[i]}, {next});
    sum = next;
  }
  load();

  std::vector<float> data(64);
  for (size_t i = 0; i != data.size(); ++i)
    data[i] = 0.01f * i;
  prepare({}, data);
  ASSERT_TRUE(execution->run().isOk());
  const std::vector<float> expected = output(0);
  for (unsigned threads : {1u, 2u, 3u, 5u}) {
    auto workers = std::move(*WorkerPool::create({.threads = threads}));
    prepare({.workers = workers.get()}, data);
    for (int run = 0; run != 20; ++run) {
      std::fill_n(execution->output(0).as<float>(), 64, -1.0f);
      ASSERT_TRUE(execution->run().isOk());
      ASSERT_EQ(output(0), expected) << threads << " threads";
    }
    NoObserver observer;
    execution->setObserver(&observer);
    ASSERT_TRUE(execution->run().isOk());
    EXPECT_EQ(observer.launches, program->launchCount());
    EXPECT_EQ(output(0), expected) << threads << " threads, observed";
  }
}

// What follows the two waits for both of them.
TEST_F(Grids, LaunchesOfOneTileMeet) {
  int x = builder.input("x", DLC_F32, {1});
  int meet = kernel(KernelKind::Library, "test.meet");
  int first = builder.arena(DLC_F32, {1}), second = builder.arena(DLC_F32, {1});
  int y = builder.output("y", DLC_F32, {1});
  builder.launch(meet, {x}, {first});
  builder.launch(meet, {x}, {second});
  builder.launch(mix(1), {first, second}, {y});
  load();
  std::vector<float> data(1);
  auto workers = std::move(*WorkerPool::create({.threads = 2}));
  prepare({.workers = workers.get()}, data);
  for (int run = 0; run != 50; ++run) {
    arrived = 0;
    ASSERT_TRUE(execution->run().isOk());
    ASSERT_EQ(output(0), std::vector<float>{1}) << "nobody came";
  }
}

TEST_F(Grids, AFailedCheckNamesItsLaunch) {
  int x = builder.input("x", DLC_F32, {2});
  int scale = kernel(KernelKind::Library, "test.scale");
  int checked = kernel(KernelKind::Library, "test.scale");
  auto most = std::make_unique<dlc::abi::AttributeT>();
  most->name = "most";
  most->kind = dlc::abi::AttributeKind::Int;
  most->i = 3;
  builder.program.kernels[checked]->attributes.push_back(std::move(most));
  builder.launch(scale, {x}, {builder.output("y", DLC_F32, {2})}, "any");
  builder.launch(checked, {x}, {builder.output("z", DLC_F32, {2})}, "few");
  load();
  std::vector<float> data = {4, 5};
  auto workers = std::move(*WorkerPool::create({.threads = 2}));
  prepare({.workers = workers.get()}, data);
  EXPECT_EQ(execution->run().message(),
            "launch 1 (few): expected at most 3, got 4");
  data[0] = 3;
  EXPECT_TRUE(execution->run().isOk());
  EXPECT_EQ(output(1), data);
}

namespace {

struct Ends final : PortListener {
  std::vector<size_t> inputs, outputs;
  void onInputDone(size_t index) override { inputs.push_back(index); }
  void onOutputDone(size_t index) override { outputs.push_back(index); }
};

} // namespace

TEST_F(Grids, TellOfTheirPorts) {
  int x = builder.input("x", DLC_F32, {64});
  int scale = kernel(KernelKind::Library, "test.scale");
  for (const char *name : {"a", "b", "c"})
    builder.launch(scale, {x}, {builder.output(name, DLC_F32, {64})});
  load();
  std::vector<float> data(64, 2);
  auto workers = std::move(*WorkerPool::create({.threads = 3}));
  prepare({.workers = workers.get(), .tellsPorts = true}, data);
  Ends ends;
  ASSERT_TRUE(execution->run(&ends).isOk());
  EXPECT_EQ(ends.inputs, std::vector<size_t>{0});
  EXPECT_EQ(ends.outputs, (std::vector<size_t>{0, 1, 2}));
  for (size_t i = 0; i != 3; ++i)
    EXPECT_EQ(output(i), data);
}
