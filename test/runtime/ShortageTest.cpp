// SPDX-License-Identifier: Apache-2.0
//
// The runtime where the system gives nothing: in turn its first, second, ...
// request fails, until a use gets by without that one. Each use then ends in a
// Status or finds another way, and leaves nothing behind: descriptors and
// addresses are counted here, and LeakSanitizer looks for memory at the end.
//
// Requests are those that the runtime expects to fail: all that grow with a
// model or its data, and all of the system. What it takes through std::vector
// and the like is bookkeeping, whose lack ends a process without exceptions.

#include "Executor/TestKernels.h"
#include "ProgramBuilder.h"
#include "TemporaryFolder.h"
#include "dlc-c/NDArray.h"
#include "dlc-c/Profiler.h"
#include "dlc-c/TaskGraph.h"
#include "dlc/runtime/CAPI/Status.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/NDArray/File.h"
#include "dlc/runtime/NDArray/NDArray.h"

#include <atomic>
#include <cerrno>
#include <functional>
#include <gtest/gtest.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

//===----------------------------------------------------------------------===//
// Requests that fail
//===----------------------------------------------------------------------===//

namespace {

/// Which requests fail. Shared by all threads.
class Shortage {
public:
  /// From request `number` on, `count` of them.
  void begin(long number, long count) {
    failed = 0;
    last = number + count;
    first = number;
    next = 0;
    isOn = true;
  }
  /// Returns how many failed.
  long end() {
    isOn = false;
    return failed;
  }
  bool strikes() {
    if (!isOn)
      return false;
    long number = next++;
    bool does = number >= first && number < last;
    failed += does;
    return does;
  }

private:
  std::atomic<bool> isOn = false;
  std::atomic<long> first = 0, last = 0, next = 0, failed = 0;
};

Shortage shortage;

} // namespace

// The linker gives the runtime these in place of what they stand for.
extern "C" {
#define DLC_WRAP(type, name, failure, parameters, arguments)                   \
  type __real_##name parameters;                                               \
  type __wrap_##name parameters {                                              \
    if (shortage.strikes()) {                                                  \
      errno = ENOMEM;                                                          \
      return failure;                                                          \
    }                                                                          \
    return __real_##name arguments;                                            \
  }
using Nothrow = const std::nothrow_t &;
using Align = std::align_val_t;
DLC_WRAP(void *, _ZnwmRKSt9nothrow_t, nullptr, (size_t size, Nothrow tag),
         (size, tag))
DLC_WRAP(void *, _ZnamRKSt9nothrow_t, nullptr, (size_t size, Nothrow tag),
         (size, tag))
DLC_WRAP(void *, _ZnwmSt11align_val_tRKSt9nothrow_t, nullptr,
         (size_t size, Align alignment, Nothrow tag), (size, alignment, tag))
DLC_WRAP(void *, _ZnamSt11align_val_tRKSt9nothrow_t, nullptr,
         (size_t size, Align alignment, Nothrow tag), (size, alignment, tag))
DLC_WRAP(void *, malloc, nullptr, (size_t size), (size))
DLC_WRAP(int, posix_memalign, ENOMEM,
         (void **memory, size_t alignment, size_t size),
         (memory, alignment, size))
DLC_WRAP(void *, mmap, MAP_FAILED,
         (void *at, size_t size, int access, int flags, int file, off_t from),
         (at, size, access, flags, file, from))
DLC_WRAP(int, mprotect, -1, (void *at, size_t size, int access),
         (at, size, access))
DLC_WRAP(int, memfd_create, -1, (const char *name, unsigned flags),
         (name, flags))
DLC_WRAP(int, ftruncate, -1, (int file, off_t size), (file, size))
DLC_WRAP(int, pthread_create, EAGAIN,
         (pthread_t * thread, const pthread_attr_t *attributes,
          void *(*function)(void *), void *argument),
         (thread, attributes, function, argument))
#undef DLC_WRAP
}

namespace {

/// Bytes of addresses of this process.
size_t addressBytes() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

#if defined(DLC_TEST_EXACT_ADDRESSES)
constexpr size_t addressSlack = size_t(4) << 20;
#else // Freed memory stays in an allocator's quarantine or arenas.
constexpr size_t addressSlack = size_t(1) << 30;
#endif

size_t openFiles() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       {});
}

/// Fails one request of `use` after the other, and also all from each one to
/// the first that `use` gives up for. Returns how many uses failed.
template <typename Use> int failEverywhere(Use use) {
  // What is made once is there then, and what an allocator keeps.
  for (int i = 0; i != 3; ++i)
    EXPECT_TRUE(use().isOk());
  size_t files = openFiles(), addresses = addressBytes();
  int failures = 0;
  for (long count : {1L, 1000'000L}) {
    long number = 0;
    for (long failed = 1; failed && !testing::Test::HasFailure(); ++number) {
      SCOPED_TRACE("request " + std::to_string(number));
      shortage.begin(number, count);
      Status status = use();
      failed = shortage.end();
      EXPECT_TRUE(failed || status.isOk()) << status.message();
      EXPECT_TRUE(status.isOk() || status.code() == StatusCode::OutOfMemory ||
                  status.code() == StatusCode::Unavailable)
          << status.message();
      failures += !status.isOk();
    }
    EXPECT_GT(number, 2);
  }
  EXPECT_EQ(openFiles(), files);
  // What is lost in one turn alone shows: a region of a pool, an arena, a
  // stack.
  EXPECT_LT(addressBytes(), addresses + addressSlack);
  EXPECT_TRUE(use().isOk()); // It was nothing lasting.
  return failures;
}

/// The status of a result; the shortage is over with the first failure, as
/// for who gives up then.
template <typename T> Status statusOf(Result<T> &result) {
  if (!result.isOk())
    shortage.end();
  return std::move(result.status());
}

} // namespace

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// Small, large, empty and shared blocks, growth, and giving memory back.
static Status useStorage(StorageKind kind) {
  dlc::rt::Storage storage({.kind = kind, .pool = {.caches = 1}});
  std::vector<Allocation> blocks;
  for (size_t i = 0; i != 20; ++i)
    for (Context context :
         {Context::cpu(), Context::null(1), Context::cpuShared()}) {
      size_t bytes = i % 8 == 7 ? 1'000'000 : 1000 * i;
      Result<Allocation> block = storage.allocate(
          context, bytes, kind == StorageKind::Pooled && i % 2);
      if (Status status = statusOf(block); !status.isOk())
        return status;
      if (bytes)
        static_cast<char *>(block->data())[bytes - 1] = 1;
      blocks.push_back(std::move(*block));
      if (i % 5 == 4)
        blocks.erase(blocks.begin());
      if (i % 10 == 9)
        storage.trim();
    }
  return Status::ok();
}

TEST(Shortage, OfAPool) {
  EXPECT_GT(failEverywhere([] { return useStorage(StorageKind::Pooled); }), 0);
}

TEST(Shortage, OfANaiveStorage) {
  EXPECT_GT(failEverywhere([] { return useStorage(StorageKind::Naive); }), 20);
}

//===----------------------------------------------------------------------===//
// Engines and arrays
//===----------------------------------------------------------------------===//

/// The engines of each kind, of few threads.
static EngineOptions optionsOf(EngineKind kind) {
  return {.kind = kind, .cpuWorkers = 2, .queueSlots = 64};
}

TEST(Shortage, OfAnEngine) {
  for (EngineKind kind :
       {EngineKind::Naive, EngineKind::Threaded, EngineKind::PerDevice})
    EXPECT_GT(failEverywhere([kind] {
                auto engine = Engine::create(optionsOf(kind));
                if (Status status = statusOf(engine); !status.isOk())
                  return status;
                Result<Variable> x = (*engine)->newVariable();
                Status status = statusOf(x);
                if (status.isOk())
                  status = (*engine)->pushSync([] {}, Context::cpu(), {}, {*x});
                if (status.isOk())
                  status = (*engine)->waitForVariable(*x);
                return status;
              }),
              0);
}

/// Makes, computes, views, saves and loads arrays.
static Status useArrays(EngineKind kind, const std::string &path) {
  auto engine = Engine::create(optionsOf(kind));
  if (Status status = statusOf(engine); !status.isOk())
    return status;
  auto runtime = std::make_shared<ArrayRuntime>(
      std::shared_ptr<Engine>(std::move(*engine)));
  Result<NDArray> x = NDArray::create(runtime, DLC_F32, {3, 1000});
  if (Status status = statusOf(x); !status.isOk())
    return status;
  auto check = [](Status status) {
    if (!status.isOk())
      shortage.end();
    return status;
  };
  DLC_RETURN_IF_ERROR(check(x->fill(2)));
  Result<NDArray> y = apply("add", {*x, *x});
  if (Status status = statusOf(y); !status.isOk())
    return status;
  // Over its operand, which takes memory aside.
  DLC_RETURN_IF_ERROR(check(apply("exp", {&*y, 1}, {}, {&*y, 1})));
  Result<NDArray> row = y->at(1);
  if (Status status = statusOf(row); !status.isOk())
    return status;
  std::vector<float> values(1000);
  DLC_RETURN_IF_ERROR(check(row->copyToHost(std::span(values))));
  EXPECT_NEAR(values[999], 54.598, 0.001);
  {
    NamedArray named[] = {{"y", *y}, {"row", *row}};
    DLC_RETURN_IF_ERROR(check(saveArrays(path, named, ArrayFormat::Npz)));
  }
  auto loaded = loadArrays(runtime, path);
  if (Status status = statusOf(loaded); !status.isOk())
    return status;
  DLC_RETURN_IF_ERROR(check((*loaded)[0].array.waitToRead()));
  // The last handles may go while there is no memory, but not the engine too.
  *x = *y = *row = NDArray();
  loaded->clear();
  shortage.end();
  return Status::ok();
}

TEST(Shortage, OfArrays) {
  TemporaryFolder folder;
  for (EngineKind kind : {EngineKind::Naive, EngineKind::PerDevice})
    EXPECT_GT(failEverywhere([&] { return useArrays(kind, folder / "f"); }), 5);
}

/// Texts are many small requests, each of which may fail.
static Status useTexts(const std::string &path) {
  auto engine = Engine::create(optionsOf(EngineKind::Naive));
  if (Status status = statusOf(engine); !status.isOk())
    return status;
  auto runtime = std::make_shared<ArrayRuntime>(
      std::shared_ptr<Engine>(std::move(*engine)));
  Result<NDArray> x = NDArray::create(runtime, DLC_TEXT, {3});
  if (Status status = statusOf(x); !status.isOk())
    return status;
  auto check = [](Status status) {
    if (!status.isOk())
      shortage.end();
    return status;
  };
  std::string_view texts[] = {"one", "two", "three"};
  DLC_RETURN_IF_ERROR(
      check(x->copyFromTexts(std::span<const std::string_view>(texts))));
  NamedArray named[] = {{"x", *x}};
  DLC_RETURN_IF_ERROR(check(saveArrays(path, named, ArrayFormat::Npz)));
  auto loaded = loadArrays(runtime, path);
  if (Status status = statusOf(loaded); !status.isOk())
    return status;
  Text found[3];
  DLC_RETURN_IF_ERROR(check((*loaded)[0].array.copyToTexts(found)));
  EXPECT_EQ(found[2].view(), "three");
  shortage.end();
  return Status::ok();
}

TEST(Shortage, OfTexts) {
  TemporaryFolder folder;
  EXPECT_GT(failEverywhere([&] { return useTexts(folder / "f"); }), 5);
}

//===----------------------------------------------------------------------===//
// Handles of the C API
//===----------------------------------------------------------------------===//

namespace {
/// A handle that ends with its scope, when there is no shortage any more.
template <typename Handle, void (*destroy)(Handle)> struct Scoped {
  ~Scoped() {
    shortage.end();
    destroy(handle);
  }
  Handle handle = nullptr;
};
} // namespace

/// Loads the program of a file; writes and loads another file.
static Status useHandles(const std::string &programPath,
                         const std::string &path) {
  int ends = 0; // Of the data of a device's memory.
  Scoped<DlcEngine, dlcEngineDestroy> engine;
  Scoped<DlcProfiler, dlcProfilerDestroy> profiler;
  Scoped<DlcStorage, dlcStorageDestroy> storage, shared;
  Scoped<DlcBlock, dlcBlockDestroy> block;
  Scoped<DlcResources, dlcResourcesDestroy> resources, lent;
  Scoped<DlcArrayRuntime, dlcArrayRuntimeDestroy> runtime;
  Scoped<DlcNDArray, dlcNDArrayDestroy> array, view, texts;
  Scoped<DlcTextList, dlcTextListDestroy> list;
  Scoped<DlcPool, dlcPoolDestroy> pool;
  Scoped<DlcProgram, dlcProgramDestroy> program;
  Scoped<DlcExecution, dlcExecutionDestroy> execution;
  Scoped<DlcNDArrayList, dlcNDArrayListDestroy> arrays;
  Scoped<DlcNDArray, dlcNDArrayDestroy> loaded;
  Scoped<DlcTaskGraph, dlcTaskGraphDestroy> graph;
  Scoped<DlcTaskRunner, dlcTaskRunnerDestroy> runner;
  DlcEngineOptions options = {.structSize = sizeof(options),
                              .kind = DLC_ENGINE_NAIVE};
  DlcPoolOptions poolOptions = {.structSize = sizeof(poolOptions),
                                .threads = 2};
  DlcContext cpu = {DLC_DEVICE_CPU, 0}, far = {DLC_DEVICE_CUDA, 0},
             between = {DLC_DEVICE_CPU_SHARED, 0};
  const int64_t shape[] = {2, 3};
  DlcText words[6] = {{"a text", 6}};
  DlcTaskEdge edge = {0, 1};
  DlcTemporarySpace space = nullptr;
  DlcRandom random = nullptr;
  DlcMemorySource source = {
      // Nobody asks for its memory.
      .structSize = sizeof(source),
      .sourceData = &ends,
      .granule = 1 << 16,
      .regionBytes = 1 << 20,
      .reserve = [](void *, size_t, void **) -> DlcStatus { return nullptr; },
      .commit = [](void *, void *, size_t) -> DlcStatus { return nullptr; },
      .decommit = [](void *, void *, size_t) -> int32_t { return 0; },
      .unreserve = [](void *, void *, size_t) {},
      .destroy = [](void *data) { ++*static_cast<int *>(data); }};
  auto run = [](void *, uint32_t, uint32_t) -> DlcStatus { return nullptr; };
  std::function<DlcStatus()> steps[] = {
      [&] { return dlcProfilerCreate(100, &profiler.handle); },
      [&] { return dlcEngineCreate(&options, &engine.handle); },
      [&] { return dlcStorageCreate(nullptr, &storage.handle); },
      [&] {
        DlcStatus status = dlcStorageAddDevice(storage.handle, far, &source);
        EXPECT_EQ(ends, status != nullptr); // Also when it was refused.
        return status;
      },
      [&] {
        return dlcStorageAllocate(storage.handle, between, 100, 0,
                                  &block.handle);
      },
      [&] {
        return dlcResourcesCreate(engine.handle, storage.handle, nullptr,
                                  &resources.handle);
      },
      [&] { return dlcResourcesTemporarySpace(resources.handle, cpu, &space); },
      [&] { return dlcResourcesRandom(resources.handle, cpu, &random); },
      [&] {
        return dlcArrayRuntimeCreateWith(engine.handle, storage.handle, nullptr,
                                         &runtime.handle);
      },
      [&] { return dlcArrayRuntimeGetStorage(runtime.handle, &shared.handle); },
      [&] { return dlcArrayRuntimeGetResources(runtime.handle, &lent.handle); },
      [&] {
        return dlcNDArrayCreate(runtime.handle, DLC_F32, shape, 2, cpu,
                                &array.handle);
      },
      [&] { return dlcNDArrayAt(array.handle, 1, &view.handle); },
      [&] {
        return dlcNDArrayCreate(runtime.handle, DLC_TEXT, shape, 2, cpu,
                                &texts.handle);
      },
      [&] { return dlcNDArrayCopyFromTexts(texts.handle, words, 6); },
      [&] { return dlcNDArrayCopyToTexts(texts.handle, &list.handle); },
      [&] { return dlcNDArrayFill(array.handle, 2); },
      [&] {
        return dlcNDArraySave(path.c_str(), DLC_ARRAY_NPY, nullptr,
                              &array.handle, 1);
      },
      [&] {
        return dlcNDArrayLoad(runtime.handle, path.c_str(), cpu,
                              &arrays.handle);
      },
      [&] { return dlcNDArrayListGet(arrays.handle, 0, &loaded.handle); },
      [&] { return dlcPoolCreate(&poolOptions, &pool.handle); },
      [&] { return dlcProgramLoad(programPath.c_str(), &program.handle); },
      [&] {
        return dlcExecutionCreate(program.handle, pool.handle,
                                  &execution.handle);
      },
      [&] { return dlcTaskGraphCreate(nullptr, 2, &edge, 1, &graph.handle); },
      [&] {
        return dlcTaskRunnerCreate(graph.handle, pool.handle, &runner.handle);
      },
      [&] { return dlcTaskRunnerRun(runner.handle, run, nullptr); }};
  for (auto &step : steps)
    if (Status status = unwrap(step()); !status.isOk()) {
      shortage.end();
      return status;
    }
  return Status::ok();
}

TEST(Shortage, OfHandles) {
  TemporaryFolder folder;
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {64});
  builder.reference("relu", {x}, {builder.output("y", DLC_F32, {64})});
  std::string program = folder / "relu.dlc";
  ASSERT_TRUE(writeArtifact(builder.contents(), program).isOk());
  EXPECT_GT(failEverywhere([&] { return useHandles(program, folder / "f"); }),
            20);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Machine code, a library's kernel, values of unknown shapes, two streams.
static ProgramBuilder everyKind(std::span<const std::byte> object) {
  ProgramBuilder builder;
  builder.object(object);
  int other = builder.device(DeviceKind::Null, 1);
  int x = builder.input("x", DLC_F32, {64});
  int scaled = builder.arena(DLC_F32, {64});
  int tripled = builder.arena(DLC_F32, {64});
  int kept = builder.pool(DLC_F32, {-1});
  int there = builder.arena(DLC_F32, {64}, other);
  int y = builder.output("y", DLC_F32, {-1});
  int z = builder.output("z", DLC_F32, {64});
  int generated = builder.kernel(KernelKind::Generated, "scale_tiles", 4);
  builder.program.kernels[generated]->flops = 100'000'000;
  builder.launch(generated, {x}, {scaled});
  builder.launch(builder.kernel(KernelKind::Library, "test.scale"), {scaled},
                 {tripled});
  builder.reference("positives", {tripled}, {kept});
  builder.reference("relu", {kept}, {y});
  builder.on(
      other, 0,
      builder.launch(builder.kernel(KernelKind::Copy, "copy"), {x}, {there}));
  builder.on(other, 0, builder.reference("relu", {there}, {z}));
  return builder;
}

static Status useProgram(const std::string &path) {
  Result<std::unique_ptr<Program>> program = Program::load(path, testOptions());
  if (Status status = statusOf(program); !status.isOk())
    return status;
  auto workers = WorkerPool::create({.threads = 2});
  if (Status status = statusOf(workers); !status.isOk())
    return status;
  auto execution = Execution::create(**program, {.workers = workers->get()});
  if (Status status = statusOf(execution); !status.isOk())
    return status;
  std::vector<float> data(64, 1);
  int64_t shape[] = {64};
  DLC_RETURN_IF_ERROR(
      (*execution)->bindInput(0, {DLC_F32, shape, data.data()}));
  for (int run = 0; run != 2; ++run) {
    DLC_RETURN_IF_ERROR((*execution)->run());
    TensorView y = (*execution)->output(0);
    EXPECT_EQ(y.size(), 64);
    EXPECT_GT(y.as<float>()[63], 0);
    EXPECT_EQ((*execution)->output(1).as<float>()[63], 1);
  }
  return Status::ok();
}

TEST(Shortage, OfAProgram) {
  TemporaryFolder folder;
  std::vector<std::byte> object = testObject();
  std::string path = folder / "every.dlc";
  ASSERT_TRUE(writeArtifact(everyKind(object).contents(), path).isOk());
  EXPECT_GT(failEverywhere([&] { return useProgram(path); }), 5);
}
