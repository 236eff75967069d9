// SPDX-License-Identifier: Apache-2.0
//
// Programs from artifact to result, kernel kind by kernel kind.

#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Device/Device.h"
#include "dlc/runtime/Executor/Execution.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <numeric>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

/// An artifact in memory, its program and one execution.
struct Loaded {
  explicit Loaded(ProgramBuilder &builder, WorkerPool *workers = nullptr,
                  const ProgramOptions &options = testOptions())
      : bytes(builder.write()) {
    Result<Artifact> artifact = Artifact::fromMemory(bytes.bytes());
    EXPECT_TRUE(artifact.isOk()) << artifact.status().message();
    Result<std::unique_ptr<Program>> created =
        Program::create(std::move(*artifact), options);
    EXPECT_TRUE(created.isOk()) << created.status().message();
    program = std::move(*created);
    Result<std::unique_ptr<Execution>> made =
        Execution::create(*program, {.workers = workers});
    EXPECT_TRUE(made.isOk()) << made.status().message();
    execution = std::move(*made);
  }

  Status bind(size_t input, DataType type, std::vector<int64_t> shape,
              void *data) {
    return execution->bindInput(input, {type, shape, data});
  }

  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
};

/// Why the program of `builder` cannot be loaded; empty when it can.
std::string loadFailure(ProgramBuilder &builder,
                        const ProgramOptions &options = testOptions()) {
  AlignedBuffer bytes = builder.write();
  Result<Artifact> artifact = Artifact::fromMemory(bytes.bytes());
  EXPECT_TRUE(artifact.isOk()) << artifact.status().message();
  Result<std::unique_ptr<Program>> program =
      Program::create(std::move(*artifact), options);
  return program.isOk() ? "" : program.status().message();
}

template <typename T> std::vector<T> valuesOf(const TensorView &view) {
  return std::vector<T>(view.as<T>(), view.as<T>() + view.size());
}

} // namespace

TEST(Executor, RunsReferenceKernels) {
  ProgramBuilder builder = addReluBuilder();
  Loaded loaded(builder);
  float x[] = {0, 1, -5, -2, 4, 0};
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {2, 3}, x).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  TensorView y = loaded.execution->output(0);
  EXPECT_EQ(valuesOf<float>(y), (std::vector<float>{1, 0, 0, 0, 2, 3}));
  EXPECT_EQ(y.shape[0], 2);
  EXPECT_EQ(y.shape[1], 3);
}

namespace {
/// n = relu(w + g) is the new value of w.
ProgramBuilder updateBuilder() {
  ProgramBuilder builder;
  int w = builder.input("w", DLC_F32, {4});
  int g = builder.input("g", DLC_F32, {4});
  int sum = builder.arena(DLC_F32, {4});
  int n = builder.output("n", DLC_F32, {4});
  builder.reference("add", {w, g}, {sum}, "add1");
  builder.reference("relu", {sum}, {n}, "relu1");
  builder.program.outputs[0]->updates = 0;
  return builder;
}
} // namespace

TEST(Executor, UpdatesInputsInPlace) {
  ProgramBuilder builder = updateBuilder();
  Loaded loaded(builder);
  EXPECT_EQ(loaded.program->outputs()[0].updates, 0u);
  float w[] = {1, 2, -3, 4}, g[] = {1, -1, 1, 2};
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {4}, w).isOk());
  ASSERT_TRUE(loaded.bind(1, DLC_F32, {4}, g).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  EXPECT_EQ(std::vector<float>(w, w + 4), (std::vector<float>{3, 0, 1, 8}));
  EXPECT_EQ(loaded.execution->output(0).data, w);
}

/// By their role; by name and type in files that have none.
TEST(Executor, KnowsStatesOfRandomNumbers) {
  using Role = dlc::abi::BindingRole;
  auto isState = [](const char *name, Role role, bool isUpdated) {
    ProgramBuilder builder;
    int state = builder.input(name, DLC_I64, {2});
    int next = builder.output("next", DLC_I64, {2});
    builder.reference("add", {state, state}, {next});
    builder.program.inputs[0]->role = role;
    if (isUpdated)
      builder.program.outputs[0]->updates = 0;
    return Loaded(builder).program->inputs()[0].isRandomState;
  };
  EXPECT_TRUE(isState("s", Role::RandomState, true));
  EXPECT_TRUE(isState("s", Role::RandomState, false));
  EXPECT_FALSE(isState("random", Role::Plain, true));
  EXPECT_TRUE(isState("random", Role::Unsaid, true));
  EXPECT_TRUE(isState("random 2", Role::Unsaid, true));
  EXPECT_FALSE(isState("random", Role::Unsaid, false));
  EXPECT_FALSE(isState("s", Role::Unsaid, true));
}

TEST(Executor, UpdatesElsewhereWhereBound) {
  ProgramBuilder builder = updateBuilder();
  Loaded loaded(builder);
  float w[] = {1, 2, -3, 4}, g[] = {1, -1, 1, 2}, n[4] = {};
  TensorView elsewhere{DLC_F32, loaded.program->outputs()[0].type.shape, n};
  ASSERT_TRUE(loaded.execution->bindOutput(0, elsewhere).isOk());
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {4}, w).isOk());
  ASSERT_TRUE(loaded.bind(1, DLC_F32, {4}, g).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  EXPECT_EQ(w[0], 1);
  EXPECT_EQ(std::vector<float>(n, n + 4), (std::vector<float>{2, 1, 0, 6}));
  // And back.
  elsewhere.data = nullptr;
  ASSERT_TRUE(loaded.execution->bindOutput(0, elsewhere).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  EXPECT_EQ(w[3], 6);
}

TEST(Executor, RefusesToUpdateMemoryOfOthers) {
  ProgramBuilder builder = updateBuilder();
  Loaded loaded(builder);
  float memory[8] = {};
  std::vector<int64_t> shape{4};
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {4}, memory).isOk());
  EXPECT_EQ(loaded.bind(1, DLC_F32, {4}, memory + 3).message(),
            "input 'g': expected memory apart from that of input 'w', as a run "
            "updates one of them");
  ASSERT_TRUE(loaded.bind(1, DLC_F32, {4}, memory + 4).isOk());
  EXPECT_EQ(loaded.bind(0, DLC_F32, {4}, memory + 1).message(),
            "input 'w': expected memory apart from that of input 'g', as a run "
            "updates one of them");
  EXPECT_TRUE(loaded.bind(0, DLC_F32, {4}, memory).isOk());
  // The update may be bound over its own input.
  EXPECT_TRUE(loaded.execution->bindOutput(0, {DLC_F32, shape, memory}).isOk());
  EXPECT_TRUE(loaded.bind(0, DLC_F32, {4}, memory).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
}

namespace {
/// The most that a run uses for values that live within it.
struct MostMemory final : LaunchObserver {
  void onLaunch(size_t, unsigned, uint64_t, uint64_t) override {}
  void onMemory(Context, uint64_t bytes) override {
    most = std::max(most, bytes);
  }
  uint64_t most = 0;
};
} // namespace

/// An input in another shape is no copy of it, nor is that in a third.
TEST(Executor, ShowsInputsInOtherShapes) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int s = builder.input("s", DLC_I64, {2});
  int matrix = builder.pool(DLC_F32, {-1, -1});
  int turned = builder.pool(DLC_F32, {-1, -1});
  int sum = builder.pool(DLC_F32, {-1, -1});
  int y = builder.output("y", DLC_F32, {-1, -1});
  int two = builder.constant<int64_t>(DLC_I64, {2}, {2, -1});
  builder.reference("reshape", {x, s}, {matrix});
  builder.reference("reshape", {matrix, two}, {turned});
  builder.reference("add", {turned, turned}, {sum});
  builder.reference("add", {sum, turned}, {y});
  Loaded loaded(builder);
  MostMemory memory;
  loaded.execution->setObserver(&memory);
  constexpr size_t size = 1 << 12;
  std::vector<float> values(size);
  for (size_t i = 0; i != size; ++i)
    values[i] = static_cast<float>(i);
  const std::vector<float> before = values;
  int64_t shape[] = {4, -1};
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {size}, values.data()).isOk());
  ASSERT_TRUE(loaded.bind(1, DLC_I64, {2}, shape).isOk());
  for (int run = 0; run != 2; ++run) {
    ASSERT_TRUE(loaded.execution->run().isOk());
    TensorView result = loaded.execution->output(0);
    EXPECT_EQ(result.shape[0], 2);
    for (size_t i = 0; i != size; ++i)
      ASSERT_EQ(result.as<float>()[i], 3 * before[i]) << i;
    EXPECT_EQ(values, before);
    EXPECT_LT(memory.most, 2 * size * sizeof(float)); // `sum` alone.
  }
}

/// What has the bytes of an output in another shape is made there.
TEST(Executor, MakesOutputsInOtherShapesInPlace) {
  for (bool isReadTwice : {false, true}) {
    SCOPED_TRACE(isReadTwice);
    ProgramBuilder builder;
    int x = builder.input("x", DLC_F32, {-1});
    int doubled = builder.pool(DLC_F32, {-1});
    int y = builder.output("y", DLC_F32, {-1, -1});
    int two = builder.constant<int64_t>(DLC_I64, {2}, {2, -1});
    builder.reference("add", {x, x}, {doubled}, "add1");
    builder.reference("reshape", {doubled, two}, {y}, "reshape1");
    if (isReadTwice) {
      int z = builder.output("z", DLC_F32, {-1});
      int again = builder.output("again", DLC_F32, {-1, -1});
      builder.reference("neg", {doubled}, {z}, "neg1");
      builder.reference("reshape", {doubled, two}, {again}, "reshape2");
    }
    Loaded loaded(builder);
    // Later runs are larger, and smaller.
    for (int64_t size : {6, 1 << 12, 2}) {
      MostMemory memory;
      loaded.execution->setObserver(&memory);
      std::vector<float> values(size);
      for (int64_t i = 0; i != size; ++i)
        values[i] = static_cast<float>(i);
      ASSERT_TRUE(loaded.bind(0, DLC_F32, {size}, values.data()).isOk());
      ASSERT_TRUE(loaded.execution->run().isOk());
      TensorView result = loaded.execution->output(0);
      EXPECT_EQ(result.shape[0], 2);
      ASSERT_EQ(result.size(), size);
      for (int64_t i = 0; i != size; ++i) {
        ASSERT_EQ(result.as<float>()[i], 2 * values[i]) << i;
        if (isReadTwice) {
          ASSERT_EQ(loaded.execution->output(1).as<float>()[i], -2 * values[i]);
          ASSERT_EQ(loaded.execution->output(2).as<float>()[i], 2 * values[i]);
        }
      }
      EXPECT_EQ(memory.most, 0u);
    }
  }
}

/// One that the run updates is another one afterwards.
TEST(Executor, KeepsOtherShapesOfUpdatedInputs) {
  ProgramBuilder builder = updateBuilder();
  int s = builder.input("s", DLC_I64, {2});
  int matrix = builder.pool(DLC_F32, {-1, -1});
  int y = builder.output("y", DLC_F32, {-1, -1});
  builder.reference("reshape", {0, s}, {matrix}, "reshape1");
  // Before w is updated, of which `y` is made behind that.
  std::swap(builder.program.launches.front(), builder.program.launches.back());
  builder.reference("neg", {matrix}, {y}, "neg1");
  std::swap(builder.program.launches[1], builder.program.launches[2]);
  Loaded loaded(builder);
  float w[] = {1, 2, -3, 4}, g[] = {1, -1, 1, 2};
  int64_t shape[] = {2, 2};
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {4}, w).isOk());
  ASSERT_TRUE(loaded.bind(1, DLC_F32, {4}, g).isOk());
  ASSERT_TRUE(loaded.bind(2, DLC_I64, {2}, shape).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  EXPECT_EQ(std::vector<float>(w, w + 4), (std::vector<float>{2, 1, 0, 6}));
  EXPECT_EQ(valuesOf<float>(loaded.execution->output(1)),
            (std::vector<float>{-1, -2, 3, -4}));
}

/// Also where the program does not know the size of an input.
TEST(Executor, RefusesToUpdateMemoryOfDynamicInputs) {
  ProgramBuilder builder = updateBuilder();
  builder.input("d", DLC_F32, {-1});
  Loaded loaded(builder);
  float memory[12] = {};
  ASSERT_TRUE(loaded.bind(1, DLC_F32, {4}, memory + 8).isOk());
  ASSERT_TRUE(loaded.bind(2, DLC_F32, {5}, memory).isOk());
  EXPECT_EQ(loaded.bind(0, DLC_F32, {4}, memory + 4).message(),
            "input 'w': expected memory apart from that of input 'd', as a run "
            "updates one of them");
  ASSERT_TRUE(loaded.bind(2, DLC_F32, {4}, memory).isOk());
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {4}, memory + 4).isOk());
  EXPECT_EQ(loaded.bind(2, DLC_F32, {5}, memory).message(),
            "input 'd': expected memory apart from that of input 'w', as a run "
            "updates one of them");
}

TEST(Executor, DescribesTheProgram) {
  ProgramBuilder builder = addReluBuilder();
  builder.program.devices[0]->lower_bound = 24;
  Loaded loaded(builder);
  const Program &program = *loaded.program;
  EXPECT_EQ(program.inputs()[0].name, "x");
  EXPECT_EQ(toString(program.outputs()[0].type), "2x3xf32");
  EXPECT_EQ(program.findInput("x"), 0u);
  EXPECT_EQ(program.findInput("z"), std::nullopt);
  EXPECT_EQ(program.statistics().arenaBytes, 64u);
  EXPECT_EQ(program.statistics().lowerBoundBytes, 24u);
  EXPECT_EQ(program.statistics().constantBytes, 12u);
  EXPECT_EQ(program.statistics().launches, 2u);
  EXPECT_EQ(program.launch(1).label, "relu1");
  EXPECT_EQ(program.launch(1).kernel, "reference.relu");
}

TEST(Executor, WritesToBoundOutputs) {
  ProgramBuilder builder = addReluBuilder();
  Loaded loaded(builder);
  float x[6] = {}, y[6] = {};
  int64_t shape[] = {2, 3};
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {2, 3}, x).isOk());
  ASSERT_TRUE(loaded.execution->bindOutput(0, {DLC_F32, shape, y}).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[5], 3);
  EXPECT_EQ(loaded.execution->output(0).data, y);
  // Back to memory of the execution: the bound one is left alone.
  ASSERT_TRUE(loaded.execution->bindOutput(0, {}).isOk());
  x[0] = 10;
  ASSERT_TRUE(loaded.execution->run().isOk());
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(loaded.execution->output(0).as<float>()[0], 11);
}

TEST(Executor, RefusesBadBindings) {
  ProgramBuilder builder = addReluBuilder();
  Loaded loaded(builder);
  Execution &execution = *loaded.execution;
  alignas(4) char memory[32] = {};
  EXPECT_EQ(execution.run().message(), "input 'x' is not bound");
  EXPECT_EQ(loaded.bind(0, DLC_F32, {2, 4}, memory).message(),
            "input 'x': expected 2x3xf32, got 2x4xf32");
  EXPECT_EQ(loaded.bind(0, DLC_I32, {2, 3}, memory).message(),
            "input 'x': expected 2x3xf32, got 2x3xi32");
  char text[96];
  snprintf(text, sizeof(text),
           "input 'x': expected memory aligned to 4 bytes, got %p",
           static_cast<void *>(memory + 1));
  EXPECT_EQ(loaded.bind(0, DLC_F32, {2, 3}, memory + 1).message(), text);
  EXPECT_EQ(loaded.bind(0, DLC_F32, {2, 3}, nullptr).message(),
            "input 'x': expected memory of 24 bytes, got null");
  EXPECT_EQ(loaded.bind(1, DLC_F32, {2, 3}, memory).message(),
            "input 1 does not exist: there are 1");
  EXPECT_EQ(execution.run().message(), "input 'x' is not bound");
}

TEST(Executor, RunsGeneratedKernels) {
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject();
  builder.object(object);
  int x = builder.input("x", DLC_F32, {64});
  int y = builder.output("y", DLC_F32, {64});
  builder.launch(builder.kernel(KernelKind::Generated, "scale_tiles", 4), {x},
                 {y});
  Loaded loaded(builder);
  std::vector<float> data(64);
  std::iota(data.begin(), data.end(), 0.f);
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {64}, data.data()).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  for (float &value : data)
    value *= 2;
  EXPECT_EQ(valuesOf<float>(loaded.execution->output(0)), data);
}

TEST(Executor, TellsObjectsApart) {
  // The dynamic loader goes by names; the second is not the first.
  std::vector<std::unique_ptr<Loaded>> loaded;
  std::vector<float> data(16, 1.f);
  for (int factor : {2, 3}) {
    ProgramBuilder builder;
    std::vector<std::byte> object = testObject(factor);
    builder.object(object);
    int x = builder.input("x", DLC_F32, {16});
    int y = builder.output("y", DLC_F32, {16});
    builder.launch(builder.kernel(KernelKind::Generated, "scale_tiles", 1), {x},
                   {y});
    loaded.push_back(std::make_unique<Loaded>(builder));
    ASSERT_TRUE(loaded.back()->bind(0, DLC_F32, {16}, data.data()).isOk());
  }
  ASSERT_TRUE(loaded[0]->execution->run().isOk());
  EXPECT_EQ(loaded[0]->execution->output(0).as<float>()[15], 2.f);
  loaded[0].reset(); // Unloads its own object alone.
  ASSERT_TRUE(loaded[1]->execution->run().isOk());
  EXPECT_EQ(loaded[1]->execution->output(0).as<float>()[15], 3.f);
}

TEST(Executor, RefusesObjectsThatDoNotFit) {
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject();
  builder.object(object, {"no-such-feature"});
  EXPECT_EQ(loadFailure(builder),
            "no object fits this machine: expected no-such-feature");
  builder.object(object, {});
  builder.program.objects[1]->kernel_abi = 77;
  EXPECT_EQ(loadFailure(builder), "no object fits this machine: expected "
                                  "no-such-feature, or kernel convention 77");
  builder.object(object, {});
  EXPECT_EQ(loadFailure(builder), ""); // The first that fits is taken.
  builder.kernel(KernelKind::Generated, "missing", 1);
  int y = builder.output("y", DLC_F32, {1});
  builder.launch(0, {}, {y}, "node");
  EXPECT_EQ(loadFailure(builder),
            "launch 0 (node): the object has no symbol 'missing'");
}

// Of an artifact for several machines, a machine takes the first object that it
// has the features of; it says what it lacks of all where there is none.
TEST(Executor, ChoosesObjectsByFeatures) {
  ProgramBuilder builder;
  std::vector<std::byte> objects[] = {testObject(4), testObject(3),
                                      testObject(2)};
  builder.object(objects[0], {"avx2", "avx512f", "avx512vl"});
  builder.object(objects[1], {"avx2", "fma"});
  builder.object(objects[2], {"sse4.2"});
  int x = builder.input("x", DLC_F32, {16});
  int y = builder.output("y", DLC_F32, {16});
  builder.launch(builder.kernel(KernelKind::Generated, "scale_tiles", 1), {x},
                 {y});
  using enum CPUFeature;
  ProgramOptions options = testOptions();
  auto factorOf = [&](std::initializer_list<CPUFeature> features) {
    options.features = {};
    for (CPUFeature feature : features)
      options.features.add(feature);
    Loaded loaded(builder, nullptr, options);
    std::vector<float> data(16, 1.f);
    EXPECT_TRUE(loaded.bind(0, DLC_F32, {16}, data.data()).isOk());
    EXPECT_TRUE(loaded.execution->run().isOk());
    EXPECT_EQ(loaded.program->statistics().codeBytes,
              objects[loaded.program->statistics().object.value()].size());
    return loaded.execution->output(0).as<float>()[15];
  };
  EXPECT_EQ(factorOf({SSE42}), 2.f);
  EXPECT_EQ(factorOf({SSE42, AVX2}), 2.f);
  EXPECT_EQ(factorOf({SSE42, AVX2, FMA}), 3.f);
  EXPECT_EQ(factorOf({SSE42, AVX2, FMA, AVX512F}), 3.f);
  EXPECT_EQ(factorOf({SSE42, AVX2, FMA, AVX512F, AVX512VL}), 4.f);
  options.features = {};
  options.features.add(AVX2);
  EXPECT_EQ(loadFailure(builder, options),
            "no object fits this machine: expected avx512f, avx512vl, or fma, "
            "or sse4.2");
}

TEST(Executor, RunsLibraryKernels) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {8});
  int y = builder.output("y", DLC_F32, {8});
  int scale = builder.kernel(KernelKind::Library, "test.scale");
  builder.setInt(scale, "factor", 5);
  builder.launch(scale, {x}, {y});
  Loaded loaded(builder);
  float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {8}, data).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  EXPECT_EQ(loaded.execution->output(0).as<float>()[7], 40.f);
}

TEST(Executor, LibraryKernelsCheckValues) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {2});
  int y = builder.output("y", DLC_F32, {2});
  int scale = builder.kernel(KernelKind::Library, "test.scale");
  builder.setInt(scale, "most", 3);
  builder.launch(scale, {x}, {y}, "node7");
  Loaded loaded(builder);
  float data[2] = {4, 1};
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {2}, data).isOk());
  Status status = loaded.execution->run();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "launch 0 (node7): expected at most 3, got 4");
  data[0] = 3;
  EXPECT_TRUE(loaded.execution->run().isOk());
}

TEST(Executor, CopiesAndLooksIntoInputs) {
  ProgramBuilder builder;
  builder.input("x", DLC_F32, {2, 3});
  int y = builder.output("y", DLC_F32, {3});
  // The second row of x, as a view.
  auto row = std::make_unique<ValueT>();
  row->type = DLC_F32;
  row->shape = {3};
  row->storage = Storage::Input;
  row->offset = row->bytes = 12;
  builder.program.values.push_back(std::move(row));
  builder.launch(builder.kernel(KernelKind::Copy, "copy"), {2}, {y});
  Loaded loaded(builder);
  float x[] = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(loaded.bind(0, DLC_F32, {2, 3}, x).isOk());
  ASSERT_TRUE(loaded.execution->run().isOk());
  EXPECT_EQ(valuesOf<float>(loaded.execution->output(0)),
            (std::vector<float>{4, 5, 6}));
}

TEST(Executor, NamesTheLaunchThatFails) {
  ProgramBuilder builder;
  int y = builder.output("y", DLC_F32, {1});
  builder.reference("refuse", {}, {y}, "node7");
  Loaded loaded(builder);
  EXPECT_EQ(loaded.execution->run().message(),
            "launch 0 (node7): refused on purpose");
  EXPECT_EQ(loaded.execution->run().code(), StatusCode::InvalidArgument);
}

TEST(Executor, RefusesUnknownKernels) {
  ProgramBuilder builder;
  int y = builder.output("y", DLC_F32, {1});
  builder.reference("no_such_operation", {}, {y}, "n");
  EXPECT_EQ(loadFailure(builder), "launch 0 (n): this runtime has no operation "
                                  "'reference.no_such_operation'");
  builder.program.kernels[0]->kind = KernelKind::Library;
  EXPECT_EQ(loadFailure(builder),
            "launch 0 (n): this runtime has no library kernel "
            "'reference.no_such_operation'");
}

TEST(Executor, RefusesResultsThatBreakTheShapeRule) {
  ProgramBuilder builder = addReluBuilder();
  builder.program.values[3]->shape = {3, 2};
  EXPECT_EQ(loadFailure(builder),
            "launch 1 (relu1): result 0: expected 2x3xf32, got 3x2xf32");
}

/// Whoever has one has a driver too.
TEST(Executor, SaysWhenThereIsNoDriver) {
  Result<std::shared_ptr<Device>> device = openDevice(Context::cuda());
  if (device.isOk())
    GTEST_SKIP() << "this machine has " << (*device)->name();
  ProgramBuilder builder = addReluBuilder();
  builder.device(DeviceKind::CUDA, 0);
  EXPECT_EQ(loadFailure(builder), device.status().message());
  EXPECT_TRUE(loadFailure(builder).starts_with("cuda:0: "));
}

TEST(Executor, ReportsWhenThereIsNoMemory) {
  ProgramBuilder builder = addReluBuilder();
  builder.program.devices[0]->arena_bytes = uint64_t(1) << 60;
  AlignedBuffer bytes = builder.write();
  Result<Artifact> artifact = Artifact::fromMemory(bytes.bytes());
  ASSERT_TRUE(artifact.isOk());
  auto program = Program::create(std::move(*artifact), testOptions());
  ASSERT_TRUE(program.isOk());
  auto execution = Execution::create(**program);
  ASSERT_FALSE(execution.isOk());
  EXPECT_EQ(execution.status().code(), StatusCode::OutOfMemory);
}

TEST(Executor, DoesNotExecuteWithoutCode) {
  ProgramBuilder builder;
  std::vector<std::byte> garbage(100);
  builder.object(garbage);
  int y = builder.output("y", DLC_F32, {1});
  builder.launch(builder.kernel(KernelKind::Generated, "f", 1), {}, {y});
  AlignedBuffer bytes = builder.write();
  Result<Artifact> artifact = Artifact::fromMemory(bytes.bytes());
  ASSERT_TRUE(artifact.isOk());
  ProgramOptions options = testOptions();
  options.loadsCode = false;
  auto program = Program::create(std::move(*artifact), options);
  ASSERT_TRUE(program.isOk()) << program.status().message();
  auto execution = Execution::create(**program);
  ASSERT_FALSE(execution.isOk());
  EXPECT_EQ(execution.status().message(),
            "the program was loaded without its code");
}
