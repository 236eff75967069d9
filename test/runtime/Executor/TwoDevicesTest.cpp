// SPDX-License-Identifier: Apache-2.0
//
// Programs on two devices: values go from one to the other without the host
// where the driver can do that, and are the same where it cannot.

#include "../Device/CUDA/FakeCuda.h"
#include "../Device/CUDA/TestPtx.h"
#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Executor/Execution.h"

#include <gtest/gtest.h>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr int count = 300;

/// cuda:0 doubles x, cuda:1 doubles that to y, which is 4 * x; meanwhile cuda:0
/// writes something else where the first product was, which is z.
struct TwoDevices {
  explicit TwoDevices(bool isThroughHost) : ptx(testPtx(count)) {
    int x = builder.input("x", DLC_F32, {count});
    first = builder.device(DeviceKind::CUDA, 0);
    second = builder.device(DeviceKind::CUDA, 1);
    int there = builder.arena(DLC_F32, {count}, first);
    int twice = builder.arena(DLC_F32, {count}, first);
    int again = builder.arena(DLC_F32, {count}, first);
    builder.program.values[again]->offset =
        builder.program.values[twice]->offset;
    int handed = builder.arena(DLC_F32, {count}, second);
    int result = builder.arena(DLC_F32, {count}, second);
    int y = builder.output("y", DLC_F32, {count});
    int z = builder.output("z", DLC_F32, {count});
    int scale = kernel("k.scale"), add = kernel("k.add");
    int copy = builder.kernel(KernelKind::Copy, "copy");
    builder.on(first, 1, builder.launch(copy, {x}, {there}));
    builder.on(first, 0, builder.launch(scale, {there}, {twice}));
    if (isThroughHost) {
      // As compilers had it before there were copies from device to device.
      int between = builder.arena(DLC_F32, {count});
      builder.on(0, 1, builder.launch(copy, {twice}, {between}));
      builder.on(second, 1, builder.launch(copy, {between}, {handed}));
    } else {
      passed = builder.on(second, 1, builder.launch(copy, {twice}, {handed}));
    }
    builder.on(first, 0, builder.launch(add, {there, there}, {again}));
    builder.on(first, 0, builder.launch(add, {again, there}, {again}));
    builder.on(second, 0, builder.launch(scale, {handed}, {result}));
    builder.on(0, 1, builder.launch(copy, {result}, {y}));
    builder.on(0, 1, builder.launch(copy, {again}, {z}));
    builder.object(std::as_bytes(std::span(ptx)), {"sm_80"});
    builder.program.objects[0]->triple = "nvptx64-nvidia-cuda";
  }

  int kernel(const std::string &name) {
    int id = builder.kernel(KernelKind::Generated, name, 2);
    builder.setInt(id, "threads", 256);
    return id;
  }

  Result<std::unique_ptr<Program>> load() {
    bytes = builder.write();
    Result<Artifact> artifact = Artifact::fromMemory(bytes.bytes());
    EXPECT_TRUE(artifact.isOk()) << artifact.status().message();
    return Program::create(std::move(*artifact), testOptions());
  }

  const std::string ptx;
  ProgramBuilder builder;
  AlignedBuffer bytes;
  int first, second;
  int passed = 0; ///< The launch from one to the other.
};

struct Running {
  explicit Running(TwoDevices &source, const ExecutionOptions &options = {}) {
    Result<std::unique_ptr<Program>> loaded = source.load();
    EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
    program = std::move(*loaded);
    Result<std::unique_ptr<Execution>> made =
        Execution::create(*program, options);
    EXPECT_TRUE(made.isOk()) << made.status().message();
    execution = std::move(*made);
  }
  Status run(float offset) {
    x.resize(count);
    for (int i = 0; i != count; ++i)
      x[i] = float(i) + offset;
    DLC_RETURN_IF_ERROR(
        execution->bindInput(0, {DLC_F32, {shape, 1}, x.data()}));
    return execution->run();
  }
  void check(float offset) {
    for (int i = 0; i != count; ++i) {
      ASSERT_EQ(execution->output(0).as<float>()[i], 4 * (float(i) + offset))
          << i;
      ASSERT_EQ(execution->output(1).as<float>()[i], 3 * (float(i) + offset))
          << i;
    }
  }

  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
  std::vector<float> x;
  const int64_t shape[1] = {count};
};

} // namespace

/// On any number of threads, plain, recorded and replayed.
TEST(TwoDevices, HandOnDirectly) {
  for (const char *machine : {"devices=2", "devices=2,peers=0"})
    for (unsigned threads : {0u, 1u, 2u}) {
      FakeCuda fake(machine);
      const bool isDirect = machine == std::string("devices=2");
      {
        TwoDevices source(/*isThroughHost=*/false);
        Running running(source, {.streamThreads = threads});
        const std::vector<std::string> &remarks =
            running.program->statistics().remarks;
        if (isDirect)
          EXPECT_TRUE(remarks.empty()) << remarks[0];
        else
          EXPECT_EQ(remarks,
                    std::vector<std::string>{"copies from cuda:0 to cuda:1 go "
                                             "through the host (1 launch)"});
        for (float offset : {0.0f, -50.0f, 7.0f, 3.0f}) {
          Status status = running.run(offset);
          ASSERT_TRUE(status.isOk()) << status.message();
          running.check(offset);
        }
        EXPECT_EQ(fake.count("cuMemcpyPeerAsync 1200"), 4u);
        EXPECT_EQ(fake.count("cuMemcpyPeerAsync 1200\n"), isDirect ? 4u : 0u);
        // Memory of cuda:0 is cuda:1's to read, and not the other way round.
        EXPECT_EQ(fake.count("cuMemSetAccess 2"), isDirect ? 1u : 0u);
        EXPECT_EQ(fake.count("cuMemSetAccess 1"), isDirect ? 1u : 2u);
        EXPECT_EQ(fake.count("cuMemHostAlloc"), 0u);
        EXPECT_GE(fake.count("cuGraphLaunch"), 3u);
      }
      EXPECT_EQ(fake.bytes(), 0u);
      EXPECT_EQ(fake.handles(), 0u);
    }
}

/// Older artifacts say that a value passes through the host: it does, in locked
/// memory, and the host waits for nothing in between.
TEST(TwoDevices, OlderProgramsPassTheHost) {
  for (unsigned threads : {0u, 1u, 2u}) {
    FakeCuda fake("devices=2");
    {
      TwoDevices source(/*isThroughHost=*/true);
      Running running(source, {.streamThreads = threads});
      for (float offset : {0.0f, -50.0f, 7.0f}) {
        Status status = running.run(offset);
        ASSERT_TRUE(status.isOk()) << status.message();
        running.check(offset);
      }
      EXPECT_TRUE(running.program->statistics().remarks.empty());
      EXPECT_EQ(fake.count("cuMemcpyPeerAsync"), 0u);
      EXPECT_EQ(fake.count("cuDeviceCanAccessPeer"), 0u);
      EXPECT_EQ(fake.count("cuMemcpyAsync 1200\n"), 6u);
      EXPECT_EQ(fake.count("cuEventSynchronize"), 0u);
    }
    EXPECT_EQ(fake.handles(), 0u);
  }
}

TEST(TwoDevices, SaysWhatFails) {
  {
    FakeCuda fake("devices=2");
    TwoDevices source(/*isThroughHost=*/false);
    fake.fail("cuDeviceCanAccessPeer", 1, 999);
    EXPECT_EQ(source.load().status().message(),
              "launch 2 (copy): cuDeviceCanAccessPeer failed with "
              "CUDA_ERROR_UNKNOWN (says the fake driver)");
    EXPECT_EQ(fake.handles(), 0u);
    EXPECT_EQ(fake.bytes(), 0u);
  }
  {
    FakeCuda fake("devices=2");
    TwoDevices source(/*isThroughHost=*/false);
    Result<std::unique_ptr<Program>> program = source.load();
    ASSERT_TRUE(program.isOk()) << program.status().message();
    fake.fail("cuMemSetAccess", 1, 999);
    EXPECT_EQ(Execution::create(**program).status().message(),
              "arena: cannot allocate 3648 bytes on cuda:0: cuMemSetAccess "
              "failed with CUDA_ERROR_UNKNOWN (says the fake driver)");
    EXPECT_EQ(fake.bytes(), 0u);
  }
  {
    FakeCuda fake("devices=2");
    TwoDevices source(/*isThroughHost=*/false);
    source.builder.on(source.first, 1, source.passed);
    EXPECT_EQ(source.load().status().message(),
              "launch 2 (copy): expected a copy of cuda:1, or of the host, got "
              "one of cuda:0");
  }
}

/// Every call that a run makes between devices fails in turn.
TEST(TwoDevices, RunsFailCleanly) {
  for (bool isThroughHost : {false, true})
    for (const char *symbol :
         {"cuMemcpyPeerAsync", "cuMemcpyAsync", "cuEventRecord",
          "cuStreamWaitEvent", "cuStreamSynchronize"})
      for (int nth : {1, 2, 3}) {
        FakeCuda fake("devices=2");
        TwoDevices source(isThroughHost);
        Running running(source, {.streamThreads = 1});
        ASSERT_TRUE(running.run(1).isOk());
        fake.fail(symbol, nth, 999);
        const size_t before = fake.count(symbol);
        Status status = running.run(2);
        if (fake.count(symbol) - before < size_t(nth))
          continue; // There are not so many.
        ASSERT_FALSE(status.isOk()) << symbol << ' ' << nth;
        EXPECT_NE(status.message().find(symbol), std::string::npos)
            << status.message();
        for (float offset : {3.0f, 4.0f, 5.0f}) {
          status = running.run(offset);
          ASSERT_TRUE(status.isOk()) << symbol << ": " << status.message();
          running.check(offset);
        }
      }
}
