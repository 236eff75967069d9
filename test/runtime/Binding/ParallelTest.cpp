// SPDX-License-Identifier: Apache-2.0
//
// When devices that compute parts of a batch send each other what. The network
// here is made by hand, so that one of its kernels can wait for a flag: then
// the order of events shows what overlaps, and no clock is looked at.

#include "../Executor/TestKernels.h"
#include "../ProgramBuilder.h"
#include "dlc/runtime/Binding/DataParallel.h"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr int64_t kRows = 5; ///< Three of the first device, two of the second.

/// Arguments x (the batch), w, v and u (four floats each) and the flag. A step:
///   y = relu(x), then the gradients of u, v and w, which are twice those.
/// With three rows it waits for the flag, before the gradients or at the end,
/// where the gradient of u is whether the flag was set. The gradient of w is
/// written where its former one is, if it is added to that.
class TestNetwork final : public Network {
public:
  explicit TestNetwork(bool waitsFirst) : waitsFirst(waitsFirst) {}

  const std::vector<std::string> &arguments() const override {
    static const std::vector<std::string> names = {"x", "w", "v", "u", "flag"};
    return names;
  }
  const std::vector<std::string> &auxiliaryStates() const override {
    static const std::vector<std::string> none;
    return none;
  }
  const std::vector<std::string> &outputs() const override {
    static const std::vector<std::string> names = {"y"};
    return names;
  }

  Result<NetworkTypes> infer(const KnownVariables &known) const override {
    TensorType x{DLC_F32, known.shapes.at("x")}, four{DLC_F32, {4}};
    return NetworkTypes{{x, four, four, four, {DLC_I32, {1}}}, {}, {x}};
  }
  Status check(const ProgramRequest &) const override { return Status::ok(); }
  Result<NetworkProgram> compile(const ProgramRequest &request) const override;
  std::string describe() const override { return "a network\n"; }

private:
  bool waitsFirst;
};

Result<NetworkProgram>
TestNetwork::compile(const ProgramRequest &request) const {
  if (request.form != ProgramForm::Step)
    return makeError(StatusCode::Unsupported, "expected a step");
  std::vector<int64_t> shape = request.arguments[0].shape;
  bool waits = shape[0] == 3;
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject();
  builder.object(object);
  int x = builder.input("x", DLC_F32, shape);
  int w = builder.input("w", DLC_F32, {4});
  int v = builder.input("v", DLC_F32, {4});
  int u = builder.input("u", DLC_F32, {4});
  int flag = builder.input("flag", DLC_I32, {1});
  int y = builder.output("y", DLC_F32, shape);
  bool adds = request.gradients[1] == GradientRequest::Add;
  int former = adds ? builder.input("former", DLC_F32, {4}) : -1;
  int gradW = builder.output("gradW", DLC_F32, {4});
  if (adds)
    builder.program.outputs.back()->updates = 5;
  int gradV = builder.output("gradV", DLC_F32, {4});
  int gradU = builder.output("gradU", DLC_F32, {4});
  auto await = [&](int result) {
    builder.launch(builder.kernel(KernelKind::Generated, "await_flag"), {flag},
                   {result});
  };
  if (waits && waitsFirst)
    await(builder.arena(DLC_F32, {4}));
  builder.reference("relu", {x}, {y});
  if (waitsFirst)
    builder.reference("add", {u, u}, {gradU});
  builder.reference("add", {v, v}, {gradV});
  int sumW = adds ? builder.arena(DLC_F32, {4}) : gradW;
  builder.reference("add", {w, w}, {sumW});
  if (adds)
    builder.reference("add", {sumW, former}, {gradW});
  if (waits && !waitsFirst)
    await(gradU);
  else if (!waitsFirst)
    builder.reference("add", {u, u}, {gradU});
  NetworkProgram program;
  program.bytes = builder.write();
  for (uint32_t i = 0; i != 5; ++i)
    program.inputs.push_back({PortRole::Argument, i});
  if (adds)
    program.inputs.push_back({PortRole::Gradient, 1});
  program.outputs = {{PortRole::Output, 0},
                     {PortRole::Gradient, 1},
                     {PortRole::Gradient, 2},
                     {PortRole::Gradient, 3}};
  return program;
}

/// Set by the end of memory, for the engine's thread that it ends on.
thread_local bool endsFormer = false;

/// Notes what starts and ends.
class Log final : public EngineObserver {
public:
  void onStart(const OperationInfo &operation) override {
    note("start", operation);
    if (onSum && operation.name == std::string_view("sum"))
      onSum(operation);
  }
  void onFinish(const OperationInfo &operation, const Status &) override {
    note("end", operation);
    if (std::exchange(endsFormer, false))
      isFormerGone = true;
  }
  std::vector<std::string> events() const {
    std::lock_guard guard(mutex);
    return list;
  }
  size_t count(const std::string &event) const {
    return std::ranges::count(events(), event);
  }
  std::function<void(const OperationInfo &)> onSum; ///< Set before the engine.
  /// The deletion of the former gradient is over, and nothing of it left.
  std::atomic<bool> isFormerGone = false;

private:
  void note(const char *what, const OperationInfo &operation) {
    if (!operation.name)
      return;
    std::lock_guard guard(mutex);
    list.push_back(std::string(what) + " " + operation.name + " " +
                   toString(operation.context) + " " +
                   std::to_string(operation.priority));
  }
  mutable std::mutex mutex; ///< Guards `list`.
  std::vector<std::string> list;
};

/// One thread for each device (two where a gradient is added, so that what goes
/// need not wait) and one for urgent work; threads that wait help with nothing.
class ParallelTest : public testing::TestWithParam<DeviceKind> {
protected:
  void bind(bool waitsFirst, bool adds = false) {
    EngineOptions options;
    options.cpuWorkers = options.deviceWorkers = adds ? 2 : 1;
    options.callerHelp = CallerHelp::Never;
    options.observer = &log;
    auto engine = Engine::create(options);
    ASSERT_TRUE(engine.isOk()) << engine.status().message();
    runtime = std::make_shared<ArrayRuntime>(std::move(*engine));
    home = Context{GetParam(), 0};
    Bindings whole;
    whole.arguments = {make({kRows, 4}), make({4}), make({4}), make({4})};
    whole.gradients = {NDArray(), make({4}), make({4}), make({4}), NDArray()};
    ForeignMemory memory;
    memory.data = &flag;
    whole.arguments.push_back(adopt(DLC_I32, 1, memory));
    if (adds) {
      memory.data = former;
      memory.release = [](void *) { endsFormer = true; };
      whole.gradients[1] = adopt(DLC_F32, 4, memory);
      whole.requests = {GradientRequest::Null, GradientRequest::Add,
                        GradientRequest::Write, GradientRequest::Write,
                        GradientRequest::Null};
    }
    DataParallelOptions parallel;
    parallel.devices = {home, {GetParam(), 1}};
    parallel.workloads = {3, 2};
    parallel.batched = {"x"};
    auto bound = DataParallelExecutor::bind(
        std::make_shared<TestNetwork>(waitsFirst), whole, parallel);
    ASSERT_TRUE(bound.isOk()) << bound.status().message();
    executor = std::move(*bound);
  }
  NDArray adopt(DataType type, int64_t count, const ForeignMemory &memory) {
    auto array = NDArray::adopt(runtime, type, {&count, 1}, memory, home);
    EXPECT_TRUE(array.isOk()) << array.status().message();
    return *array;
  }
  /// Ones.
  NDArray make(std::vector<int64_t> shape) {
    auto array = NDArray::create(runtime, DLC_F32, shape, home);
    EXPECT_TRUE(array.isOk()) << array.status().message();
    EXPECT_TRUE(array->fill(1).isOk());
    return *array;
  }
  std::vector<float> gradient(const char *name) {
    std::vector<float> values(4);
    Status status = executor->gradient(name)->copyToHost(std::span(values));
    EXPECT_TRUE(status.isOk()) << status.message();
    return values;
  }
  void open() { std::atomic_ref(flag).store(1, std::memory_order_release); }
  std::string device(int number) const {
    return toString(Context{GetParam(), int16_t(number)});
  }
  void until(const std::string &event, size_t times = 1) {
    while (log.count(event) < times)
      std::this_thread::yield();
  }

  Log log;
  alignas(DLC_ALIGNMENT) int32_t flag = 0;
  alignas(DLC_ALIGNMENT) float former[4] = {10, 20, 30, 40};
  Context home;
  std::shared_ptr<ArrayRuntime> runtime;
  std::unique_ptr<DataParallelExecutor> executor;
};

INSTANTIATE_TEST_SUITE_P(, ParallelTest,
                         testing::Values(DeviceKind::CPU, DeviceKind::Null),
                         [](auto &info) {
                           return std::string(nameOf(info.param));
                         });

} // namespace

// The step of the first device ends only when two sums have started: those of
// the gradients that it computes before its last kernel.
TEST_P(ParallelTest, SumsStartWhileStepsRun) {
  std::atomic<int> sums = 0;
  log.onSum = [&](const OperationInfo &) {
    if (++sums == 2)
      open();
  };
  ASSERT_NO_FATAL_FAILURE(bind(/*waitsFirst=*/false));
  ASSERT_TRUE(executor->forwardBackward().isOk());
  EXPECT_EQ(gradient("w"), std::vector<float>(4, 4));
  EXPECT_EQ(gradient("v"), std::vector<float>(4, 4));
  // The last kernel has seen the flag; the other device adds two.
  EXPECT_EQ(gradient("u"), std::vector<float>(4, 3));
  EXPECT_TRUE(runtime->engine().waitForAll().isOk());
  std::vector<std::string> events = log.events();
  auto at = [&](const std::string &event) {
    EXPECT_EQ(std::ranges::count(events, event), 1) << event;
    return std::ranges::find(events, event) - events.begin();
  };
  std::ptrdiff_t end = at("end step " + device(0) + " 0");
  EXPECT_LT(at("start sum " + device(0) + " 4"), end); // Of w.
  EXPECT_LT(at("start sum " + device(0) + " 3"), end); // Of v.
}

// Three sums are ready when the thread for urgent work comes: that of u since
// longest, and that of w last.
TEST_P(ParallelTest, WhatIsNeededFirstIsSummedFirst) {
  ASSERT_NO_FATAL_FAILURE(bind(/*waitsFirst=*/true));
  ASSERT_TRUE(executor->forwardBackward().isOk());
  // Both run: nothing is left to send, and nothing is there to sum.
  until("start step " + device(0) + " 0");
  until("start step " + device(1) + " 0");
  std::atomic<bool> isHeld = false, isOpen = false;
  PushOptions urgent;
  urgent.property = OperationProperty::CPUPrioritized;
  urgent.priority = 100;
  ASSERT_TRUE(runtime->engine()
                  .pushSync(
                      [&] {
                        isHeld = true;
                        while (!isOpen)
                          std::this_thread::yield();
                      },
                      Context::cpu(), {}, {}, urgent)
                  .isOk());
  while (!isHeld)
    std::this_thread::yield();
  open();
  until("end step " + device(0) + " 0");
  until("end step " + device(1) + " 0");
  EXPECT_EQ(log.count("start sum " + device(0) + " 4"), 0u);
  // Each is told of before the next sum: by the same thread, more urgently.
  std::vector<std::string> summed;
  for (const char *name : {"u", "v", "w"})
    ASSERT_TRUE(runtime->engine()
                    .pushSync([&summed, name] { summed.push_back(name); },
                              Context::cpu(),
                              {executor->gradient(name)->variable()}, {},
                              urgent)
                    .isOk());
  isOpen = true;
  ASSERT_TRUE(runtime->engine().waitForAll().isOk());
  EXPECT_EQ(summed, (std::vector<std::string>{"w", "v", "u"}));
  for (const char *name : {"w", "v", "u"})
    EXPECT_EQ(gradient(name), std::vector<float>(4, 4)) << name;
}

// A parameter that the step has read is free: an update of it, and copies of
// the new value, need not wait for the end.
TEST_P(ParallelTest, ParametersAreWrittenWhileStepsRun) {
  ASSERT_NO_FATAL_FAILURE(bind(/*waitsFirst=*/false));
  ASSERT_TRUE(executor->forwardBackward().isOk());
  const NDArray w = *executor->argument("w");
  PushOptions urgent;
  urgent.name = "update";
  urgent.property = OperationProperty::CPUPrioritized;
  ASSERT_TRUE(runtime->engine()
                  .pushSync([&] { open(); }, Context::cpu(),
                            {executor->gradient("w")->variable()},
                            {w.variable()}, urgent)
                  .isOk());
  EXPECT_EQ(gradient("u"), std::vector<float>(4, 3));
}

// A gradient that its step adds to goes, with the executor, as soon as it is
// summed: the step runs on without it.
TEST_P(ParallelTest, SumsGoWhileStepsRun) {
  ASSERT_NO_FATAL_FAILURE(bind(/*waitsFirst=*/false, /*adds=*/true));
  ASSERT_TRUE(executor->forwardBackward().isOk());
  const NDArray gradU = *executor->gradient("u");
  executor.reset();
  while (!log.isFormerGone)
    std::this_thread::yield();
  EXPECT_EQ(log.count("end step " + device(0) + " 0"), 0u);
  open();
  std::vector<float> values(4);
  ASSERT_TRUE(gradU.copyToHost(std::span(values)).isOk());
  EXPECT_EQ(values, std::vector<float>(4, 3));
  EXPECT_TRUE(runtime->engine().waitForAll().isOk());
  EXPECT_EQ(std::vector(former, former + 4),
            (std::vector<float>{14, 24, 34, 44}));
}

// Executors of two shapes share arrays and memory: whatever is pushed, nothing
// waits in between.
TEST_P(ParallelTest, ReshapedPartsTakeTurns) {
  ASSERT_NO_FATAL_FAILURE(bind(/*waitsFirst=*/true));
  open();
  auto smaller = executor->reshape({{"x", {4, 4}}});
  ASSERT_TRUE(smaller.isOk()) << smaller.status().message();
  EXPECT_EQ((*smaller)->rows()[1], (BatchRows{2, 4}));
  EXPECT_TRUE(
      (*smaller)->argument("x")->sharesMemoryWith(*executor->argument("x")));
  for (int i = 0; i != 20; ++i) {
    ASSERT_TRUE(executor->argument("w")->fill(i).isOk());
    ASSERT_TRUE((i % 3 ? *smaller : executor)->forwardBackward().isOk());
  }
  EXPECT_EQ(gradient("w"), std::vector<float>(4, 4 * 19));
  EXPECT_EQ(gradient("v"), std::vector<float>(4, 4));
  // Arguments of both may go while runs are under way.
  ASSERT_TRUE((*smaller)->forwardBackward().isOk());
  smaller->reset();
  ASSERT_TRUE(executor->forwardBackward().isOk());
  EXPECT_EQ(gradient("u"), std::vector<float>(4, 4));
}

TEST_P(ParallelTest, SendsWhatWasWritten) {
  ASSERT_NO_FATAL_FAILURE(bind(/*waitsFirst=*/true));
  open();
  auto sentBy = [&] {
    uint64_t before = executor->sentBytes();
    EXPECT_TRUE(executor->forwardBackward().isOk());
    EXPECT_TRUE(runtime->engine().waitForAll().isOk());
    return executor->sentBytes() - before;
  };
  // Two rows, three arguments of four floats, and the flag, whose memory is the
  // test's.
  EXPECT_EQ(sentBy(), 2u * 16 + 3 * 16 + 4);
  EXPECT_EQ(sentBy(), 4u);
  ASSERT_TRUE(executor->argument("v")->fill(2).isOk());
  EXPECT_EQ(sentBy(), 16u + 4);
  EXPECT_EQ(gradient("v"), std::vector<float>(4, 8));
}

// A monitor needs a program of its own, which this network has not.
TEST_P(ParallelTest, MonitorsAreCompiledBeforeAnyPartRuns) {
  ASSERT_NO_FATAL_FAILURE(bind(/*waitsFirst=*/true));
  ASSERT_TRUE(runtime->engine().waitForAll().isOk());
  size_t before = log.events().size();
  executor->setMonitor([](const std::string &, const NDArray &) {});
  EXPECT_EQ(executor->forwardBackward().message(), "expected a step");
  ASSERT_TRUE(runtime->engine().waitForAll().isOk());
  EXPECT_EQ(log.events().size(), before);
  executor->setMonitor({});
  open();
  EXPECT_TRUE(executor->forwardBackward().isOk());
}

TEST_P(ParallelTest, WhatDoesNotCompilePushesNothing) {
  ASSERT_NO_FATAL_FAILURE(bind(/*waitsFirst=*/false));
  ASSERT_TRUE(runtime->engine().waitForAll().isOk());
  size_t before = log.events().size();
  for (bool isTraining : {false, true}) {
    Status status = executor->forward(isTraining);
    EXPECT_EQ(status.message(), "expected a step");
  }
  EXPECT_EQ(executor->backward().code(), StatusCode::Unsupported);
  ASSERT_TRUE(runtime->engine().waitForAll().isOk());
  EXPECT_EQ(log.events().size(), before);
}
