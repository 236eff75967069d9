// SPDX-License-Identifier: Apache-2.0
//
// What the runtime itself costs: loading, a launch, a hand-over to workers.

#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Executor/Execution.h"

#include <benchmark/benchmark.h>
#include <filesystem>
#include <thread>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

struct Loaded {
  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
};

Loaded load(ProgramBuilder &builder) {
  Loaded loaded;
  loaded.bytes = builder.write();
  loaded.program = std::move(*Program::create(
      std::move(*Artifact::fromMemory(loaded.bytes.bytes())), testOptions()));
  return loaded;
}

} // namespace

/// A file of 100 MB of constants, 200 values and 100 launches with code.
static void loadProgram(benchmark::State &state) {
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject();
  builder.object(object);
  std::vector<float> weights(250'000, 1.f);
  int step = builder.kernel(KernelKind::Generated, "nothing", 1);
  int last = builder.input("x", DLC_F32, {64});
  for (int i = 0; i != 100; ++i) {
    int w = builder.constant(DLC_F32, {250'000}, weights);
    int next = i == 99 ? builder.output("y", DLC_F32, {64})
                       : builder.arena(DLC_F32, {64});
    builder.launch(step, {last, w}, {next}, "node" + std::to_string(i));
    last = next;
  }
  std::string path = "/tmp/dlc-benchmark-" + std::to_string(getpid());
  if (!writeArtifact(builder.contents(), path).isOk())
    return state.SkipWithError("cannot write the file");
  state.counters["MB"] = std::filesystem::file_size(path) * 1e-6;
  for (auto _ : state) {
    auto program = Program::load(path, testOptions());
    benchmark::DoNotOptimize(program.isOk());
  }
  std::filesystem::remove(path);
}
BENCHMARK(loadProgram)->Unit(benchmark::kMicrosecond);

/// A program of 1000 launches of a kernel that does nothing; time a launch.
static void launch(benchmark::State &state, KernelKind kind, const char *name) {
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject();
  builder.object(object);
  int x = builder.constant<float>(DLC_F32, {4}, {0, 0, 0, 0});
  int y = builder.output("y", DLC_F32, {4});
  int kernel = builder.kernel(kind, name, 1);
  constexpr int count = 1000;
  for (int i = 0; i != count; ++i)
    builder.launch(kernel, {x}, {y});
  Loaded loaded = load(builder);
  auto execution = std::move(*Execution::create(*loaded.program));
  for (auto _ : state)
    if (!execution->run().isOk())
      return state.SkipWithError("the run failed");
  state.counters["per_launch"] =
      benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate |
                                    benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(launch, generated, KernelKind::Generated, "nothing");
BENCHMARK_CAPTURE(launch, library, KernelKind::Library, "test.scale");
BENCHMARK_CAPTURE(launch, copy, KernelKind::Copy, "copy");
BENCHMARK_CAPTURE(launch, reference, KernelKind::Reference, "reference.still");

/// A program of 1000 copies of a kilobyte, each to memory of the pool that the
/// next one releases; time a launch.
static void launchToPool(benchmark::State &state) {
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject();
  builder.object(object);
  int from = builder.constant<float>(DLC_F32, {256}, std::vector<float>(256));
  int kernel = builder.kernel(KernelKind::Copy, "copy", 1);
  constexpr int count = 1000;
  for (int i = 1; i != count; ++i) {
    int to = builder.pool(DLC_F32, {256});
    builder.launch(kernel, {from}, {to});
    from = to;
  }
  builder.launch(kernel, {from}, {builder.output("y", DLC_F32, {256})});
  Loaded loaded = load(builder);
  auto execution = std::move(*Execution::create(*loaded.program));
  for (auto _ : state)
    if (!execution->run().isOk())
      return state.SkipWithError("the run failed");
  state.counters["per_launch"] =
      benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate |
                                    benchmark::Counter::kInvert);
}
BENCHMARK(launchToPool);

/// Empty tiles: what parallelFor() costs by itself.
static void parallelFor(benchmark::State &state, uint64_t nanoseconds) {
  auto pool =
      std::move(*WorkerPool::create({.threads = unsigned(state.range(0))}));
  auto nothing = [](int64_t begin, int64_t) {
    benchmark::DoNotOptimize(begin);
  };
  for (auto _ : state)
    pool->parallelFor(64, nanoseconds, nothing);
}
BENCHMARK_CAPTURE(parallelFor, alone, 0)->Arg(2);
BENCHMARK_CAPTURE(parallelFor, shared, WorkerPool::wakeAbove)
    ->Arg(2)
    ->UseRealTime();

/// From the call to the first tile on a worker, and back, when the worker
/// sleeps at first: two tiles that wait for each other.
static void wakeWorker(benchmark::State &state) {
  auto pool =
      std::move(*WorkerPool::create({.threads = 2, .spinMicroseconds = 0}));
  for (auto _ : state) {
    state.PauseTiming();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    state.ResumeTiming();
    std::atomic<int> inside = 0;
    pool->parallelFor(2, UINT64_MAX, [&](int64_t, int64_t) {
      ++inside;
      while (inside != 2)
        ;
    });
  }
}
BENCHMARK(wakeWorker)->UseRealTime()->Iterations(500);

/// The same with a worker that spins.
static void handToSpinner(benchmark::State &state) {
  auto pool = std::move(
      *WorkerPool::create({.threads = 2, .spinMicroseconds = 1'000'000}));
  for (auto _ : state) {
    std::atomic<int> inside = 0;
    pool->parallelFor(2, UINT64_MAX, [&](int64_t, int64_t) {
      ++inside;
      while (inside != 2)
        ;
    });
  }
}
BENCHMARK(handToSpinner)->UseRealTime();

BENCHMARK_MAIN();
