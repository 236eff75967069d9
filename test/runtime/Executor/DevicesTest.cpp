// SPDX-License-Identifier: Apache-2.0
//
// Programs on a device with memory of its own, through the fake driver, which
// does nothing before somebody waits for it.

#include "../Device/CUDA/FakeCuda.h"
#include "../Device/CUDA/TestPtx.h"
#include "../InChild.h"
#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Executor/Execution.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr int count = 300;

/// y = relu((2 * x + w) * 2), where what is in brackets is on cuda:0, and
/// z = 2 * x from there too.
struct DeviceProgram {
  DeviceProgram(const std::string &ptx = testPtx(count)) : ptx(ptx) {
    int x = builder.input("x", DLC_F32, {count});
    std::vector<float> weights(count);
    for (int i = 0; i != count; ++i)
      weights[i] = float(-i);
    int w = builder.constant<float>(DLC_F32, {count}, weights);
    gpu = builder.device(DeviceKind::CUDA, 0);
    int there = builder.arena(DLC_F32, {count}, gpu);
    int twice = builder.arena(DLC_F32, {count}, gpu);
    int sum = builder.arena(DLC_F32, {count}, gpu);
    int result = builder.arena(DLC_F32, {count}, gpu);
    int back = builder.arena(DLC_F32, {count});
    int y = builder.output("y", DLC_F32, {count});
    int z = builder.output("z", DLC_F32, {count});
    scale = kernel("k.scale");
    add = kernel("k.add");
    int copy = builder.kernel(KernelKind::Copy, "copy");
    // As the compiler has it: copies are on stream 1 of where they write to.
    builder.on(gpu, 1, builder.launch(copy, {x}, {there}));
    builder.on(gpu, 0, builder.launch(scale, {there}, {twice}, "first"));
    builder.on(gpu, 0, builder.launch(add, {twice, w}, {sum}));
    builder.on(gpu, 0, builder.launch(scale, {sum}, {result}));
    builder.on(0, 1, builder.launch(copy, {result}, {back}));
    builder.on(0, 1, builder.launch(copy, {twice}, {z}));
    builder.reference("relu", {back}, {y});
    builder.object(std::as_bytes(std::span(this->ptx)), {"sm_80"});
    builder.program.objects[0]->triple = "nvptx64-nvidia-cuda";
  }

  int kernel(const std::string &name) {
    int id = builder.kernel(KernelKind::Generated, name, 2);
    builder.setInt(id, "threads", 256);
    return id;
  }

  Result<std::unique_ptr<Program>> load(bool loadsCode = true) {
    bytes = builder.write();
    Result<Artifact> artifact = Artifact::fromMemory(bytes.bytes());
    EXPECT_TRUE(artifact.isOk()) << artifact.status().message();
    ProgramOptions options = testOptions();
    if (findEntry)
      options.findLibraryEntry = findEntry;
    options.loadsCode = loadsCode;
    return Program::create(std::move(*artifact), options);
  }

  std::string failure() {
    Result<std::unique_ptr<Program>> program = load();
    return program.isOk() ? "" : program.status().message();
  }

  /// The same through an operation of the host in front: x is copied first.
  void beginOnHost() {
    int first = builder.arena(DLC_F32, {count});
    builder.reference("neg", {0}, {first});
    std::rotate(builder.program.launches.begin(),
                builder.program.launches.end() - 1,
                builder.program.launches.end());
    builder.program.launches[1]->arguments[0] = first;
  }

  const std::string ptx;
  ProgramBuilder builder;
  AlignedBuffer bytes;
  int gpu, scale, add;
  const LibraryEntry *(*findEntry)(std::string_view) = nullptr;
};

struct Running {
  explicit Running(DeviceProgram &source,
                   const ExecutionOptions &options = {}) {
    Result<std::unique_ptr<Program>> loaded = source.load();
    EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
    program = std::move(*loaded);
    Result<std::unique_ptr<Execution>> made =
        Execution::create(*program, options);
    EXPECT_TRUE(made.isOk()) << made.status().message();
    execution = std::move(*made);
  }
  Status run(float offset, PortListener *listener = nullptr) {
    x.resize(count);
    for (int i = 0; i != count; ++i)
      x[i] = float(i) + offset;
    DLC_RETURN_IF_ERROR(
        execution->bindInput(0, {DLC_F32, {shape, 1}, x.data()}));
    return execution->run(listener);
  }
  void check(float offset) {
    const float *y = execution->output(0).as<float>();
    const float *z = execution->output(1).as<float>();
    for (int i = 0; i != count; ++i) {
      ASSERT_EQ(z[i], 2 * (float(i) + offset)) << i;
      ASSERT_EQ(y[i], std::max(0.0f, (z[i] - float(i)) * 2)) << i;
    }
  }

  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
  std::vector<float> x;
  const int64_t shape[1] = {count};
};

} // namespace

/// On any number of threads; the first run is plain, the second is recorded and
/// those to come are replayed.
TEST(Devices, RunsOnHostAndDevice) {
  for (unsigned threads : {0u, 1u, 2u}) {
    FakeCuda fake;
    {
      DeviceProgram source;
      Running running(source, {.streamThreads = threads});
      for (float offset : {0.0f, -50.0f, 7.0f, 3.0f}) {
        Status status = running.run(offset);
        ASSERT_TRUE(status.isOk()) << status.message();
        running.check(offset);
      }
      EXPECT_EQ(running.program->statistics().codeBytes, source.ptx.size());
      // Launched, recorded, and replayed three times.
      EXPECT_EQ(fake.count("cuLaunchKernel k$scale"), 4u);
      EXPECT_EQ(fake.count("cuLaunchKernel k$add"), 2u);
      EXPECT_EQ(fake.count("cuGraphLaunch"), 3u);
    }
    EXPECT_EQ(fake.bytes(), 0u);
    EXPECT_EQ(fake.handles(), 0u);
  }
}

/// The time to queue is that of segments of several kernels.
TEST(Devices, TellsWhatQueueingTakes) {
  for (bool records : {true, false}) {
    FakeCuda fake;
    DeviceProgram source;
    Running running(source, {.recordsLaunches = records});
    for (int i = 0; i != 4; ++i) {
      ASSERT_TRUE(running.run(1).isOk());
      running.check(1);
    }
    QueueTime time = running.execution->takeQueueTime();
    EXPECT_GT(time.nanoseconds, 0u);
    EXPECT_EQ(time.launches % 4, 0u);
    EXPECT_GE(time.launches, 4u * 2);
    EXPECT_EQ(fake.count("cuGraphLaunch"), records ? 3u : 0u);
    EXPECT_EQ(running.execution->takeQueueTime().launches, 0u);
  }
}

/// What a program takes of the device is its arena and its constants, in whole
/// granules.
TEST(Devices, TakesThePlannedMemory) {
  FakeCuda fake;
  DeviceProgram source;
  Running running(source, {});
  ASSERT_TRUE(running.run(1).isOk());
  const size_t granule = size_t(2) << 20;
  EXPECT_EQ(fake.bytes(), 2 * granule);
  EXPECT_LE(running.program->statistics().arenaBytes, granule);
}

namespace {

template <typename F> F *fromDriver(const char *name) {
  static void *const library = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<F *>(dlsym(library, name));
}

/// The sum of two tensors, by a library of the device.
struct SumCall final : DeviceCall {
  Status queue(void *stream, void *const *parameters) const override {
    auto *find =
        fromDriver<void *(unsigned long long, size_t)>("fakeCudaMemory");
    auto *enqueue = fromDriver<int(void *, const std::function<int()> &)>(
        "fakeCudaEnqueue");
    if (parameters[1])
      return makeError(StatusCode::InvalidArgument, "expected a gap");
    float *places[3];
    for (int i = 0, k = 0; i != 4; ++i)
      if (parameters[i])
        places[k++] = static_cast<float *>(
            find(reinterpret_cast<uintptr_t>(
                     *static_cast<void *const *>(parameters[i])),
                 count * sizeof(float)));
    return enqueue(stream,
                   [a = places[0], b = places[1], y = places[2]] {
                     for (int i = 0; i != count; ++i)
                       y[i] = a[i] + b[i];
                     return 0;
                   })
               ? makeError(StatusCode::Unavailable, "no stream")
               : Status::ok();
  }
};

Status prepareSum(Device &, const KernelCall &call, std::shared_ptr<void> &,
                  std::unique_ptr<DeviceCall> &prepared) {
  if (call.inputs.size() != 3 || call.outputs.size() != 1 ||
      call.inputs[1].type != DLC_INVALID_TYPE ||
      call.attributes.getInt("level") != 7)
    return makeError(StatusCode::InvalidArgument, "expected two tensors");
  prepared = std::make_unique<SumCall>();
  return Status::ok();
}
Status prepareNothing(Device &, const KernelCall &, std::shared_ptr<void> &,
                      std::unique_ptr<DeviceCall> &) {
  return makeError(StatusCode::Unavailable, "there is no libtest.so");
}

const LibraryEntry *findSum(std::string_view name) {
  static const LibraryEntry entries[] = {{.name = "test.sum",
                                          .prepare = nullptr,
                                          .packedBytes = nullptr,
                                          .pack = nullptr,
                                          .prepareOn = prepareSum},
                                         {.name = "test.absent",
                                          .prepare = nullptr,
                                          .packedBytes = nullptr,
                                          .pack = nullptr,
                                          .prepareOn = prepareNothing}};
  for (const LibraryEntry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

/// A program whose addition names that entry.
struct NamingProgram : DeviceProgram {
  explicit NamingProgram(const char *entry) {
    findEntry = findSum;
    dlc::abi::KernelT &kernel = *builder.program.kernels[add];
    kernel.entry = entry;
    kernel.entry_operands = {0, -1, 1};
    auto level = std::make_unique<dlc::abi::AttributeT>();
    level->name = "level";
    level->i = 7;
    kernel.entry_attributes.push_back(std::move(level));
  }
};

} // namespace

/// Where there is the library, it computes, also when that is recorded; where
/// there is none, generated code does, and the program says so.
TEST(Devices, CallsLibraries) {
  struct Case {
    const char *entry, *remark;
  };
  for (auto [entry, remark] :
       {Case{"test.sum", nullptr},
        Case{"test.absent",
             "test.absent is not used: there is no libtest.so (1 launch)"},
        Case{"test.other",
             "test.other is not used: this runtime has no such library (1 "
             "launch)"}}) {
    FakeCuda fake;
    {
      NamingProgram source(entry);
      Running running(source, {});
      for (float offset : {0.0f, -50.0f, 7.0f, 3.0f}) {
        Status status = running.run(offset);
        ASSERT_TRUE(status.isOk()) << status.message();
        running.check(offset);
      }
      const std::vector<std::string> &remarks =
          running.program->statistics().remarks;
      ASSERT_EQ(remarks.size(), remark ? 1u : 0u);
      if (remark)
        EXPECT_EQ(remarks[0], remark);
      EXPECT_EQ(fake.count("cuLaunchKernel k$add"), remark ? 2u : 0u);
      EXPECT_EQ(running.program->launch(2).kernel, remark ? "k.add" : entry);
    }
    EXPECT_EQ(fake.handles(), 0u);
  }
}

TEST(Devices, RefusesOddEntries) {
  NamingProgram far("test.sum");
  far.builder.program.kernels[far.add]->entry_operands = {0, 2};
  EXPECT_EQ(writeArtifact(far.builder.contents()).status().message(),
            "launch 2: expected operands of an entry among 2 inputs, got 2");
  NamingProgram copied("test.sum");
  copied.builder.program.kernels[copied.add]->kind = KernelKind::Library;
  EXPECT_EQ(writeArtifact(copied.builder.contents()).status().message(),
            "kernel 1: has an entry, but is not generated");
}

/// Code with grids of its own is launched so, and only what it has.
TEST(Devices, ObjectsMayHaveGridsOfTheirOwn) {
  for (bool hasAll : {true, false}) {
    FakeCuda fake;
    DeviceProgram source;
    dlc::abi::ObjectVariantT &object = *source.builder.program.objects[0];
    object.kernel_abi = DLC_KERNEL_ABI_OWN_GRIDS;
    object.grids.emplace_back(uint32_t(source.scale), 3u, 256u, 0u);
    if (hasAll)
      object.grids.emplace_back(uint32_t(source.add), 2u, 256u, 0u);
    if (!hasAll) {
      EXPECT_EQ(source.failure(),
                "launch 2 (k.add): expected a grid of blocks, "
                "got 0 of 1 threads with 0 bytes");
      continue;
    }
    Running running(source, {});
    ASSERT_TRUE(running.run(1).isOk());
    running.check(1);
    EXPECT_EQ(fake.count("cuLaunchKernel k$scale 3x256"), 2u);
  }
}

namespace {
struct Watcher : LaunchObserver {
  void onLaunch(size_t launch, unsigned, uint64_t, uint64_t) override {
    launches.push_back(launch);
  }
  void onMemory(Context device, uint64_t bytes) override {
    (device.isHost() ? host : there) = bytes;
  }
  std::vector<size_t> launches;
  uint64_t host = 0, there = 0;
};
struct Listener : PortListener {
  void onInputDone(size_t) override { isInputDone = true; }
  void onOutputDone(size_t index) override {
    if (index == 1)
      z = execution->output(1).as<float>()[5];
  }
  Execution *execution = nullptr;
  bool isInputDone = false;
  float z = 0;
};
} // namespace

TEST(Devices, ObserversAndListenersSeeWhatIsOver) {
  FakeCuda fake;
  DeviceProgram source;
  Running running(source, {.streamThreads = 1, .tellsPorts = true});
  Watcher watcher;
  running.execution->setObserver(&watcher);
  for (int i = 0; i != 3; ++i)
    ASSERT_TRUE(running.run(1).isOk());
  running.check(1);
  EXPECT_EQ(watcher.launches.size(), 3u * 7);
  EXPECT_EQ(watcher.there, 4u * 1216);
  EXPECT_EQ(fake.count("cuGraphLaunch"), 0u) << "each launch is watched";
  running.execution->setObserver(nullptr);
  Listener listener;
  listener.execution = running.execution.get();
  ASSERT_TRUE(running.run(4, &listener).isOk());
  EXPECT_TRUE(listener.isInputDone);
  EXPECT_EQ(listener.z, 18.0f);
}

TEST(Devices, SharesArenas) {
  FakeCuda fake;
  DeviceProgram source;
  SharedArenas arenas;
  Running first(source, {.arenas = &arenas});
  size_t before = fake.bytes();
  Running second(source, {.arenas = &arenas});
  // Its own constants, not its own arena.
  EXPECT_EQ(fake.bytes(), before + (size_t(2) << 20));
  ASSERT_TRUE(first.run(1).isOk());
  first.check(1);
  ASSERT_TRUE(second.run(2).isOk());
  second.check(2);
}

TEST(Devices, SaysWhatDoesNotFit) {
  {
    FakeCuda fake("devices=0");
    DeviceProgram source;
    EXPECT_EQ(source.failure(), "cuda:0: the CUDA driver finds no device");
    EXPECT_TRUE(source.load(/*loadsCode=*/false).isOk())
        << "it can be examined all the same";
  }
  {
    FakeCuda fake;
    DeviceProgram source;
    source.builder.program.objects[0]->features[0] = "sm_100";
    EXPECT_EQ(source.failure(),
              "no object fits Fake GPU (sm_90): expected sm_100");
  }
  {
    FakeCuda fake;
    DeviceProgram source("\177ELF machine code");
    EXPECT_EQ(source.failure(),
              "no object fits Fake GPU (sm_90): expected cuModuleLoadData "
              "failed with CUDA_ERROR_NO_BINARY_FOR_GPU (says the fake "
              "driver)");
  }
  {
    FakeCuda fake;
    DeviceProgram source;
    source.builder.program.kernels[source.scale]->attributes[0]->i = 512;
    EXPECT_EQ(source.failure(),
              "launch 1 (first): kernel 'k.scale': expected at most 2147483647 "
              "blocks of 256 threads with 232448 bytes, got 2 of 512 with 0");
  }
  {
    FakeCuda fake;
    DeviceProgram source;
    source.builder.program.launches[6]->device = source.gpu;
    source.builder.program.values[6]->device = source.gpu;
    EXPECT_EQ(source.failure(),
              "launch 6 (reference.relu): Fake GPU (sm_90) computes generated "
              "kernels alone, got 'reference.relu'");
  }
  {
    FakeCuda fake;
    DeviceProgram source;
    source.builder.program.launches[1]->arguments[0] = 0; // x itself.
    EXPECT_EQ(source.failure(),
              "launch 1 (first): expected value 0 in the memory of Fake GPU "
              "(sm_90)");
  }
  FakeCuda fake("memory=2097152");
  DeviceProgram source;
  source.builder.program.devices[source.gpu]->arena_bytes = 9 << 20;
  Result<std::unique_ptr<Program>> program = source.load();
  ASSERT_TRUE(program.isOk()) << program.status().message();
  EXPECT_EQ(Execution::create(**program).status().message(),
            "arena: cannot allocate 9437184 bytes on cuda:0: Fake GPU (sm_90): "
            "expected 10485760 bytes of free memory, got 0 of 2097152");
}

/// Every call that a run makes fails in turn: the run says so, nothing is still
/// at work when it returns, and the next one is right.
TEST(Devices, RunsFailCleanly) {
  for (const char *symbol :
       {"cuMemcpyAsync", "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent",
        "cuEventSynchronize", "cuStreamSynchronize", "cuStreamBeginCapture_v2",
        "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphLaunch"}) {
    FakeCuda fake;
    DeviceProgram source;
    Running running(source, {.streamThreads = 1});
    ASSERT_TRUE(running.run(1).isOk());
    fake.fail(symbol, 1, 999);
    Status status = running.run(2);
    ASSERT_FALSE(status.isOk()) << symbol;
    EXPECT_NE(status.message().find(symbol), std::string::npos)
        << status.message();
    for (float offset : {3.0f, 4.0f, 5.0f}) {
      status = running.run(offset);
      ASSERT_TRUE(status.isOk()) << symbol << ": " << status.message();
      running.check(offset);
    }
  }
}

/// The host's part of a program goes on without a device.
TEST(Devices, HostProgramsNeedNoDriver) {
  FakeCuda fake("devices=0");
  ProgramBuilder builder = addReluBuilder();
  AlignedBuffer bytes = builder.write();
  Result<Artifact> artifact = Artifact::fromMemory(bytes.bytes());
  ASSERT_TRUE(artifact.isOk());
  EXPECT_TRUE(Program::create(std::move(*artifact), testOptions()).isOk());
  EXPECT_EQ(fake.log(), "");
}

//===----------------------------------------------------------------------===//
// Locked memory
//===----------------------------------------------------------------------===//

/// The arena that copies touch is locked, what callers bind is not; the host
/// waits for what it reads, and for each queue at the end.
TEST(Devices, LocksTheArenaOfTheHost) {
  FakeCuda fake;
  {
    DeviceProgram source;
    Running running(source, {.streamThreads = 1});
    EXPECT_TRUE(running.execution->remarks().empty());
    const size_t before = fake.count("cuStreamSynchronize");
    ASSERT_TRUE(running.run(1).isOk());
    running.check(1);
    EXPECT_EQ(fake.count("cuMemHostAlloc 1216"), 1u) << fake.log();
    EXPECT_EQ(fake.count("cuMemcpyAsync 1200\n"), 1u);
    EXPECT_EQ(fake.count("cuMemcpyAsync 1200 synchronous"), 3u)
        << "x, z, and the constant when it was loaded";
    EXPECT_EQ(fake.count("cuStreamSynchronize") - before, 3u);
    EXPECT_EQ(fake.count("cuEventSynchronize"), 1u);
    ASSERT_TRUE(running.run(2).isOk());
    EXPECT_EQ(fake.count("cuMemHostAlloc"), 1u) << "nothing is taken in a run";
  }
  EXPECT_EQ(fake.handles(), 0u);
}

/// Without copies from or to it an arena is like any other.
TEST(Devices, LocksNoArenaInVain) {
  FakeCuda fake;
  DeviceProgram source;
  auto &launches = source.builder.program.launches;
  launches[4]->arguments[1] = launches[6]->arguments[1]; // Right into y.
  launches.pop_back();
  Running running(source, {});
  ASSERT_TRUE(running.run(1).isOk());
  EXPECT_EQ(fake.count("cuMemHostAlloc"), 0u);
}

TEST(Devices, GoesOnWithoutLockedMemory) {
  for (bool isLimit : {true, false}) {
    FakeCuda fake(isLimit ? "locked=1000" : "");
    {
      if (!isLimit)
        fake.fail("cuMemHostAlloc", 1, 999);
      DeviceProgram source;
      Running running(source, {});
      EXPECT_EQ(
          running.execution->remarks(),
          std::vector<std::string>{
              std::string("copies wait, as memory of cpu:0 is not "
                          "locked: cannot allocate 1216 bytes on "
                          "cpu_pinned:0: cuMemHostAlloc failed with ") +
              (isLimit ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN") +
              " (says the fake driver)"});
      for (float offset : {0.0f, -50.0f, 7.0f}) {
        ASSERT_TRUE(running.run(offset).isOk());
        running.check(offset);
      }
      EXPECT_EQ(fake.count("cuMemcpyAsync 1200\n"), 0u);
    }
    EXPECT_EQ(fake.handles(), 0u);
  }
}

/// Memory that was there is replaced by a locked one, which is shared then.
TEST(Devices, SharesLockedArenas) {
  FakeCuda fake;
  DeviceProgram source;
  SharedArenas arenas;
  std::shared_ptr<ArenaMemory> plain = std::move(*arenas.arena(0, 4096));
  EXPECT_FALSE(plain->isOfManager());
  Running first(source, {.arenas = &arenas});
  Running second(source, {.arenas = &arenas});
  EXPECT_EQ(fake.count("cuMemHostAlloc 4096"), 1u);
  EXPECT_EQ(fake.count("cuMemHostAlloc"), 1u);
  ASSERT_TRUE(first.run(1).isOk());
  first.check(1);
  ASSERT_TRUE(second.run(2).isOk());
  second.check(2);
}

/// In the child of a fork() nothing of a run is begun.
TEST(Devices, RunsAreRefusedInAChild) {
  FakeCuda fake;
  DeviceProgram source;
  source.beginOnHost();
  Running running(source, {});
  ASSERT_TRUE(running.run(1).isOk());
  Watcher watcher;
  running.execution->setObserver(&watcher);
  std::string log = fake.log();
  EXPECT_EQ(inChild([&] {
              Status status = running.run(1);
              if (status.code() != StatusCode::Unavailable)
                return 1;
              return fake.log() == log && watcher.launches.empty() ? 0 : 2;
            }),
            0);
  running.execution->setObserver(nullptr); // It is for one thread.
  ASSERT_TRUE(running.run(2).isOk());
}
