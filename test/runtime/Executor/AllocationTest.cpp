// SPDX-License-Identifier: Apache-2.0
//
// run() of a static program takes no memory. A program of its own, because it
// replaces the allocator.

#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Engine/TaskGraph.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/Executor/Observer.h"

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <gtest/gtest.h>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

// What C++ and the C library hand out, on any thread. The sanitizers have
// allocators of their own; there only operator new counts.
static std::atomic<size_t> allocations = 0;

void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes))
    return memory;
  std::abort();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

// Looks at the clock, of all threads. Sanitizers put their own in front.
static std::atomic<size_t> clockReads = 0;

#if !defined(DLC_TEST_SANITIZED)
extern "C" {
int clock_gettime(clockid_t clock, timespec *time) {
  ++clockReads;
  return int(syscall(SYS_clock_gettime, clock, time));
}
void *__libc_malloc(size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  ++allocations;
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : 12;
}
}
#endif

TEST(Allocation, TheHookCounts) {
  size_t before = allocations;
  std::vector<int> some(10);
  EXPECT_GT(allocations, before);
#if !defined(DLC_TEST_SANITIZED)
  before = allocations;
  AlignedBuffer buffer = std::move(*AlignedBuffer::allocate(10));
  EXPECT_GT(allocations, before);
#endif
}

namespace {
/// What was made; where it was not, the test fails and says why.
template <typename T> T unwrap(Result<T> made) {
  EXPECT_TRUE(made.isOk()) << made.status().message();
  return std::move(*made);
}

/// A program of one input, 64 floats, which is bound.
struct Subject {
  explicit Subject(ProgramBuilder &builder, WorkerPool *workers = nullptr)
      : bytes(builder.write()),
        program(unwrap(Program::create(
            unwrap(Artifact::fromMemory(bytes.bytes())), testOptions()))),
        execution(unwrap(Execution::create(
            *program, {.workers = workers, .tellsPorts = true}))) {
    EXPECT_TRUE(execution->bindInput(0, {DLC_F32, shape, data}).isOk());
  }

  /// That 100 runs take no memory, also those that tell of their ports.
  void expectNoMemory() {
    struct Counter final : PortListener {
      void onInputDone(size_t) override { ++told; }
      void onOutputDone(size_t) override { ++told; }
      std::atomic<size_t> told = 0;
    } counter;
    size_t before = allocations;
    for (int i = 0; i != 100; ++i)
      ASSERT_TRUE(execution->run().isOk());
    for (int i = 0; i != 100; ++i)
      ASSERT_TRUE(execution->run(&counter).isOk());
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(counter.told,
              100 * (program->inputs().size() + program->outputs().size()));
  }

  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
  float data[64] = {1};
  int64_t shape[1] = {64};
};
} // namespace

TEST(Allocation, StaticRunsTakeNoMemory) {
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject();
  builder.object(object);
  int x = builder.input("x", DLC_F32, {64});
  int a = builder.arena(DLC_F32, {64});
  int b = builder.arena(DLC_F32, {64});
  int c = builder.arena(DLC_F32, {64});
  int y = builder.output("y", DLC_F32, {64});
  int generated = builder.kernel(KernelKind::Generated, "scale_tiles", 4);
  builder.program.kernels[generated]->flops = 100'000'000; // Wakes workers.
  builder.launch(generated, {x}, {a});
  int scale = builder.kernel(KernelKind::Library, "test.scale");
  builder.program.kernels[scale]->flops = 100'000'000;
  builder.launch(scale, {a}, {b});
  builder.reference("still", {b}, {c});
  builder.launch(builder.kernel(KernelKind::Copy, "copy"), {b}, {y});
  auto workers = std::move(*WorkerPool::create({.threads = 3}));
  Subject subject(builder, workers.get());
  subject.expectNoMemory();
  EXPECT_EQ(subject.execution->output(0).as<float>()[0], 2.f);
}

#if !defined(DLC_TEST_SANITIZED)
TEST(Clock, IsReadForAnObserverOnly) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {64});
  int y = builder.output("y", DLC_F32, {64});
  builder.launch(builder.kernel(KernelKind::Copy, "copy"), {x}, {y});
  Subject subject(builder);
  size_t before = clockReads;
  ASSERT_TRUE(subject.execution->run().isOk());
  EXPECT_EQ(clockReads, before);
  Profiler profiler;
  TraceRecorder recorder(*subject.program, profiler);
  subject.execution->setObserver(&recorder);
  ASSERT_TRUE(subject.execution->run().isOk());
  EXPECT_GT(clockReads, before);
  before = clockReads;
  subject.execution->setObserver(nullptr);
  ASSERT_TRUE(subject.execution->run().isOk());
  EXPECT_EQ(clockReads, before);
}

TEST(Clock, IsReadForAnObserverOfAnEngineOnly) {
  for (bool isObserved : {false, true}) {
    Profiler profiler;
    EngineOptions options;
    options.kind = EngineKind::Naive;
    options.observer = isObserved ? &profiler : nullptr;
    auto engine = std::move(*Engine::create(options));
    size_t before = clockReads;
    for (int i = 0; i != 100; ++i)
      ASSERT_TRUE(engine->pushSync([] {}, Context::cpu(), {}, {}).isOk());
    EXPECT_EQ(clockReads - before, isObserved ? 200u : 0u);
  }
}
#endif

TEST(Allocation, RunsOfSeveralStreamsTakeNoMemory) {
  ProgramBuilder builder;
  int other = builder.device(DeviceKind::Null, 0);
  int copy = builder.kernel(KernelKind::Copy, "copy");
  int x = builder.input("x", DLC_F32, {64});
  int there = builder.arena(DLC_F32, {64}, other);
  int y = builder.output("y", DLC_F32, {64});
  int z = builder.output("z", DLC_F32, {64});
  builder.on(other, 1, builder.launch(copy, {x}, {there}));
  builder.on(other, 0, builder.reference("still", {there}, {z}));
  builder.reference("still", {x}, {y});
  Subject subject(builder);
  subject.expectNoMemory();
}

TEST(Allocation, TaskGraphsTakeNoMemory) {
  std::vector<TaskGraph::Edge> edges;
  for (uint32_t i = 0; i != 100; ++i)
    for (uint32_t after : {i + 1, 2 * i + 1, 2 * i + 2})
      if (after < 100)
        edges.push_back({i, after});
  TaskGraph graph =
      std::move(*TaskGraph::create(std::vector<std::string>(100), edges));
  for (unsigned threads : {1, 3}) {
    auto workers = std::move(*WorkerPool::create({.threads = threads}));
    TaskGraphRunner runner(graph, workers.get());
    std::atomic<int> calls = 0;
    size_t before = allocations;
    for (int i = 0; i != 100; ++i)
      ASSERT_TRUE(runner
                      .run(
                          [](void *calls, uint32_t, unsigned) {
                            ++*static_cast<std::atomic<int> *>(calls);
                            return Status::ok();
                          },
                          &calls)
                      .isOk());
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(calls, 10'000);
  }
}

TEST(Allocation, RunsOfABatchTakeNone) {
  AlignedBuffer bytes = batchBuilder().write();
  auto program = unwrap(Program::create(
      unwrap(Artifact::fromMemory(bytes.bytes())), testOptions()));
  auto execution = unwrap(Execution::create(*program));
  float x[33] = {}, w[3] = {}, y[33], v[3];
  const int64_t shape[] = {11, 3}, shapeOfW[] = {3};
  ASSERT_TRUE(execution->bindInput(0, {DLC_F32, shape, x}).isOk());
  ASSERT_TRUE(execution->bindInput(1, {DLC_F32, shapeOfW, w}).isOk());
  ASSERT_TRUE(execution->bindOutput(0, {DLC_F32, shape, y}).isOk());
  ASSERT_TRUE(execution->bindOutput(1, {DLC_F32, shapeOfW, v}).isOk());
  ASSERT_TRUE(execution->run().isOk());
  size_t before = allocations;
  ASSERT_TRUE(execution->run().isOk());
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, RunsOfSeveralShapesTakeNone) {
  AlignedBuffer bytes = shapesBuilder().write();
  auto program = unwrap(Program::create(
      unwrap(Artifact::fromMemory(bytes.bytes())), testOptions()));
  auto execution = unwrap(Execution::create(*program));
  float x[21] = {};
  const int64_t shapes[][2] = {{7, 3}, {2, 3}, {4, 5}};
  auto runAll = [&] {
    for (const auto &shape : shapes) {
      ASSERT_TRUE(execution->bindInput(0, {DLC_F32, shape, x}).isOk());
      ASSERT_TRUE(execution->run().isOk());
    }
  };
  runAll();
  size_t before = allocations;
  runAll();
  EXPECT_EQ(allocations, before);
}

/// Once there was one of the largest.
TEST(Allocation, RunsOfSmallerShapesTakeNone) {
  AlignedBuffer bytes = paddedBuilder().write();
  auto program = unwrap(Program::create(
      unwrap(Artifact::fromMemory(bytes.bytes())), testOptions()));
  auto execution = unwrap(Execution::create(*program));
  float x[30] = {};
  char z[12] = {};
  const int64_t shapes[][2] = {{6, 4}, {5, 5}, {1, 1}, {4, 3}, {3, 3}, {6, 5}};
  auto runAll = [&] {
    for (const auto &shape : shapes) {
      const int64_t pairs[] = {shape[0], 2};
      ASSERT_TRUE(execution->bindInput(0, {DLC_F32, shape, x}).isOk());
      ASSERT_TRUE(execution->bindInput(1, {DLC_I8, pairs, z}).isOk());
      ASSERT_TRUE(execution->run().isOk());
    }
  };
  runAll();
  size_t before = allocations;
  runAll();
  EXPECT_EQ(allocations, before);
}
