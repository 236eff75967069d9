// SPDX-License-Identifier: Apache-2.0
//
// When runs tell that they are over with an input or output.

#include "../ProgramBuilder.h"
#include "LoadProgram.h"
#include "dlc/runtime/Executor/Execution.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <mutex>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

/// Notes launches and ports in the order in which it is told of them.
class Log final : public PortListener, public LaunchObserver {
public:
  void onInputDone(size_t index) override { add("in" + std::to_string(index)); }
  void onOutputDone(size_t index) override {
    add("out" + std::to_string(index));
  }
  void onLaunch(size_t launch, unsigned, uint64_t, uint64_t) override {
    add(std::to_string(launch));
  }
  std::vector<std::string> take() {
    std::lock_guard guard(mutex);
    return std::exchange(events, {});
  }

private:
  void add(std::string event) {
    std::lock_guard guard(mutex);
    events.push_back(std::move(event));
  }
  std::mutex mutex; ///< Guards `events`.
  std::vector<std::string> events;
};

struct Loaded {
  explicit Loaded(ProgramBuilder &builder, const ExecutionOptions &options)
      : bytes(builder.write()) {
    program = loadProgram(bytes);
    auto made = Execution::create(*program, options);
    EXPECT_TRUE(made.isOk()) << made.status().message();
    execution = std::move(*made);
    for (size_t i = 0; i != program->inputs().size(); ++i) {
      data.emplace_back(4, float(i + 1));
      EXPECT_TRUE(
          execution->bindInput(i, {DLC_F32, shape, data.back().data()}).isOk());
    }
  }

  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
  std::vector<std::vector<float>> data;
  int64_t shape[1] = {4};
};

size_t placeOf(const std::vector<std::string> &events, const std::string &one) {
  EXPECT_EQ(std::ranges::count(events, one), 1) << one;
  return std::ranges::find(events, one) - events.begin();
}

} // namespace

TEST(Ports, AreDoneAfterTheirLastLaunch) {
  ProgramBuilder builder;
  int a = builder.input("a", DLC_F32, {4});
  int b = builder.input("b", DLC_F32, {4});
  builder.input("unused", DLC_F32, {4});
  int updated = builder.input("updated", DLC_F32, {4});
  int first = builder.output("first", DLC_F32, {4});
  int second = builder.output("second", DLC_F32, {4});
  int next = builder.output("next", DLC_F32, {4});
  builder.program.outputs[2]->updates = 3;
  builder.reference("add", {a, updated}, {first}); // 0
  builder.reference("add", {b, b}, {next});        // 1
  builder.reference("relu", {first}, {second});    // 2
  builder.reference("add", {second, a}, {second}); // 3
  Loaded loaded(builder, {.tellsPorts = true});
  Log log;
  loaded.execution->setObserver(&log);
  for (int i = 0; i != 3; ++i) {
    ASSERT_TRUE(loaded.execution->run(&log).isOk());
    // An output that another launch reads is done after that.
    EXPECT_EQ(log.take(),
              (std::vector<std::string>{"0", "1", "in1", "out2", "2", "out0",
                                        "3", "in0", "out1"}));
  }
  ASSERT_TRUE(loaded.execution->run().isOk());
  EXPECT_EQ(log.take(), (std::vector<std::string>{"0", "1", "2", "3"}));
}

/// An input is in use as long as what shows it in another shape is.
TEST(Ports, AreDoneAfterThoseWhoShowThem) {
  ProgramBuilder builder;
  int a = builder.input("a", DLC_F32, {-1});
  int b = builder.input("b", DLC_F32, {-1});
  int shown = builder.pool(DLC_F32, {-1, -1});
  int again = builder.pool(DLC_F32, {-1, -1});
  int y = builder.output("y", DLC_F32, {-1});
  int z = builder.output("z", DLC_F32, {-1, -1});
  int two = builder.constant<int64_t>(DLC_I64, {2}, {2, -1});
  int four = builder.constant<int64_t>(DLC_I64, {2}, {4, -1});
  builder.reference("reshape", {a, two}, {shown}, "reshape1");      // 0
  builder.reference("reshape", {shown, four}, {again}, "reshape2"); // 1
  builder.reference("relu", {b}, {y}, "relu1");                     // 2
  builder.reference("relu", {again}, {z}, "relu2");                 // 3
  Loaded loaded(builder, {.tellsPorts = true});
  Log log;
  loaded.execution->setObserver(&log);
  ASSERT_TRUE(loaded.execution->run(&log).isOk());
  EXPECT_EQ(log.take(), (std::vector<std::string>{"0", "1", "2", "in1", "out0",
                                                  "3", "in0", "out1"}));
}

TEST(Ports, OfSeveralStreamsAreDoneAfterAllOfThem) {
  ProgramBuilder builder;
  int other = builder.device(DeviceKind::Null, 0);
  int copy = builder.kernel(KernelKind::Copy, "copy");
  int x = builder.input("x", DLC_F32, {4});
  int y = builder.output("y", DLC_F32, {4});
  int z = builder.output("z", DLC_F32, {4});
  int there = builder.arena(DLC_F32, {4}, other);
  builder.reference("relu", {x}, {y});                      // 0
  builder.on(other, 0, builder.launch(copy, {x}, {there})); // 1
  builder.on(other, 0, builder.launch(copy, {y}, {there})); // 2
  builder.reference("add", {x, x}, {z});                    // 3
  builder.on(other, 0, builder.launch(copy, {there}, {z})); // 4
  for (unsigned threads : {1u, 2u}) {
    Loaded loaded(builder, {.streamThreads = threads, .tellsPorts = true});
    Log log;
    loaded.execution->setObserver(&log);
    for (int i = 0; i != 100; ++i) {
      ASSERT_TRUE(loaded.execution->run(&log).isOk());
      std::vector<std::string> events = log.take();
      EXPECT_EQ(events.size(), 8u);
      auto at = [&](const char *one) { return placeOf(events, one); };
      EXPECT_GT(at("in0"), std::max(at("1"), at("3")));
      EXPECT_GT(at("out0"), std::max(at("0"), at("2")));
      EXPECT_GT(at("out1"), std::max(at("3"), at("4")));
    }
  }
}

TEST(Ports, OfAFailedRunAreToldUpToTheFailure) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {4});
  int y = builder.output("y", DLC_F32, {4});
  int z = builder.output("z", DLC_F32, {1});
  builder.reference("relu", {x}, {y});
  builder.reference("refuse", {x}, {z});
  Loaded loaded(builder, {.tellsPorts = true});
  Log log;
  for (int i = 0; i != 2; ++i) {
    EXPECT_FALSE(loaded.execution->run(&log).isOk());
    EXPECT_EQ(log.take(), (std::vector<std::string>{"out0"}));
  }
}

TEST(Ports, AreToldWhenAskedForOnly) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {4});
  builder.reference("relu", {x}, {builder.output("y", DLC_F32, {4})});
  Loaded loaded(builder, {});
  Log log;
  Status status = loaded.execution->run(&log);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "expected an execution that tells of its ports");
}
