// SPDX-License-Identifier: Apache-2.0

#include "../JSON.h"
#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Executor/Execution.h"

#include <gtest/gtest.h>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

std::unique_ptr<Program> load(const AlignedBuffer &bytes) {
  auto program = Program::create(
      std::move(*Artifact::fromMemory(bytes.bytes())), testOptions());
  EXPECT_TRUE(program.isOk()) << program.status().message();
  return std::move(*program);
}

/// The events of a trace with the phase `phase`.
std::vector<JSON> eventsOf(const Profiler &profiler, const std::string &phase) {
  std::optional<JSON> trace = JSON::parse(profiler.toJSON());
  EXPECT_TRUE(trace) << profiler.toJSON();
  std::vector<JSON> events;
  if (trace)
    for (const JSON &event : (*trace)["traceEvents"].array)
      if (event["ph"].string == phase)
        events.push_back(event);
  return events;
}

} // namespace

TEST(Trace, RecordsEachLaunch) {
  ProgramBuilder builder = addReluBuilder();
  builder.program.launches[0]->label = "a \"b\"\n";
  builder.program.launches[1]->label = "";
  builder.program.kernels[0]->flops = 6;
  AlignedBuffer bytes = builder.write();
  std::unique_ptr<Program> program = load(bytes);
  auto execution = std::move(*Execution::create(*program));
  float x[6] = {};
  int64_t shape[] = {2, 3};
  ASSERT_TRUE(execution->bindInput(0, {DLC_F32, shape, x}).isOk());
  Profiler profiler(/*capacity=*/3);
  TraceRecorder recorder(*program, profiler);
  execution->setObserver(&recorder);
  ASSERT_TRUE(execution->run().isOk());
  ASSERT_TRUE(execution->run().isOk());
  EXPECT_EQ(profiler.dropped(), 1u);
  execution->setObserver(nullptr);
  ASSERT_TRUE(execution->run().isOk());
  EXPECT_EQ(profiler.dropped(), 1u);

  std::vector<JSON> events = eventsOf(profiler, "X");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["name"].string, "a \"b\"\n");
  EXPECT_EQ(events[0]["cat"].string, "launch");
  EXPECT_EQ(events[0]["args"]["detail"].string, "reference.add");
  EXPECT_EQ(events[0]["args"]["flops"].number, 6);
  EXPECT_EQ(events[0]["args"]["bytes"].kind, JSON::Null);
  // Without a label the kernel names the event.
  EXPECT_EQ(events[1]["name"].string, "reference.relu");
  for (int i = 0; i != 2; ++i)
    EXPECT_LE(events[i]["ts"].number + events[i]["dur"].number,
              events[i + 1]["ts"].number + 0.002);
}

// Each event says what computed that run, also behind one of other shapes.
TEST(Trace, TellsCallsOfEachRun) {
  ProgramBuilder builder;
  int a = builder.input("a", DLC_F32, {-1, -1});
  int b = builder.input("b", DLC_F32, {-1, 5});
  int y = builder.output("y", DLC_F32, {-1, 5});
  builder.reference("matmul", {a, b}, {y});
  AlignedBuffer bytes = builder.write();
  std::unique_ptr<Program> program = load(bytes);
  auto execution = std::move(*Execution::create(*program));
  Profiler profiler;
  TraceRecorder recorder(*program, profiler);
  execution->setObserver(&recorder);
  std::vector<float> data(20);
  auto run = [&](int64_t rows, int64_t terms) {
    int64_t left[] = {rows, terms}, right[] = {terms, 5};
    ASSERT_TRUE(execution->bindInput(0, {DLC_F32, left, data.data()}).isOk());
    ASSERT_TRUE(execution->bindInput(1, {DLC_F32, right, data.data()}).isOk());
    ASSERT_TRUE(execution->run().isOk());
  };
  run(3, 4);
  run(3, 0); // Which no library computes.
  std::vector<JSON> events = eventsOf(profiler, "X");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["args"]["detail"].string, "cpu.matmul");
  EXPECT_EQ(events[0]["args"]["flops"].number, 2 * 3 * 4 * 5);
  EXPECT_EQ(events[1]["args"]["detail"].string, "reference.matmul");
  EXPECT_EQ(events[1]["args"]["flops"].kind, JSON::Null);
}

TEST(Trace, ShowsCopiesStreamsAndMemory) {
  ProgramBuilder builder;
  int device = builder.device(DeviceKind::Null, 1);
  int x = builder.input("x", DLC_F32, {4});
  int there = builder.arena(DLC_F32, {4}, device);
  int result = builder.arena(DLC_F32, {4}, device);
  int y = builder.output("y", DLC_F32, {4});
  int copy = builder.kernel(KernelKind::Copy, "copy");
  builder.on(device, 2, builder.launch(copy, {x}, {there}, "send"));
  builder.on(device, 0, builder.reference("relu", {there}, {result}, "relu"));
  builder.launch(copy, {result}, {y}, "receive");
  AlignedBuffer bytes = builder.write();
  std::unique_ptr<Program> program = load(bytes);
  auto execution = std::move(*Execution::create(*program));
  float data[4] = {-1, 2, -3, 4};
  int64_t shape[] = {4};
  ASSERT_TRUE(execution->bindInput(0, {DLC_F32, shape, data}).isOk());
  Profiler profiler;
  TraceRecorder recorder(*program, profiler);
  execution->setObserver(&recorder);
  ASSERT_TRUE(execution->run().isOk());

  std::map<double, std::string> devices;
  std::map<std::pair<double, double>, std::string> rows;
  for (const JSON &event : eventsOf(profiler, "M")) {
    if (event["name"].string == "process_name")
      devices[event["pid"].number] = event["args"]["name"].string;
    else
      rows[{event["pid"].number, event["tid"].number}] =
          event["args"]["name"].string;
  }
  std::string found;
  for (const JSON &event : eventsOf(profiler, "X")) {
    if (event["cat"].string == "wait")
      continue;
    found += event["name"].string + " " + event["cat"].string + " " +
             devices[event["pid"].number] + " " +
             rows[{event["pid"].number, event["tid"].number}] + "\n";
  }
  EXPECT_EQ(found, "send copy null:1 stream 2\n"
                   "relu launch null:1 stream 0\n"
                   "receive copy cpu:0 stream 0\n");
  std::map<std::string, double> memory;
  for (const JSON &event : eventsOf(profiler, "C"))
    memory[devices[event["pid"].number]] = event["args"]["bytes"].number;
  EXPECT_EQ(memory,
            (std::map<std::string, double>{{"cpu:0", 0}, {"null:1", 128}}));
}

TEST(Trace, ShowsLaunchesCopiesAndWaitsOfOneStream) {
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject();
  builder.object(object);
  int x = builder.input("x", DLC_F32, {64});
  int a = builder.arena(DLC_F32, {64});
  int y = builder.output("y", DLC_F32, {64});
  int scale = builder.kernel(KernelKind::Generated, "scale_tiles", 4);
  builder.program.kernels[scale]->flops = 100'000'000; // Worth sharing.
  builder.launch(scale, {x}, {a}, "scale");
  builder.launch(builder.kernel(KernelKind::Copy, "copy"), {a}, {y}, "copy");
  AlignedBuffer bytes = builder.write();
  std::unique_ptr<Program> program = load(bytes);
  auto workers = std::move(*WorkerPool::create({.threads = 2}));
  float data[64] = {1};
  int64_t shape[] = {64};
  for (WorkerPool *pool : {workers.get(), static_cast<WorkerPool *>(nullptr)}) {
    auto execution = std::move(*Execution::create(*program, {.workers = pool}));
    ASSERT_TRUE(execution->bindInput(0, {DLC_F32, shape, data}).isOk());
    Profiler profiler;
    TraceRecorder recorder(*program, profiler);
    execution->setObserver(&recorder);
    ASSERT_TRUE(execution->run().isOk());
    std::string found;
    for (const JSON &event : eventsOf(profiler, "X"))
      found += event["cat"].string + " " + event["name"].string + "\n";
    EXPECT_EQ(found, std::string(pool ? "wait wait\n" : "") +
                         "launch scale\ncopy copy\n");
  }
}

TEST(Trace, ShowsTheMemoryOfDynamicValues) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int kept = builder.pool(DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {-1});
  builder.reference("positives", {x}, {kept});
  builder.reference("relu", {kept}, {y});
  AlignedBuffer bytes = builder.write();
  std::unique_ptr<Program> program = load(bytes);
  auto execution = std::move(*Execution::create(*program));
  float data[3] = {1, -1, 2};
  int64_t shape[] = {3};
  ASSERT_TRUE(execution->bindInput(0, {DLC_F32, shape, data}).isOk());
  Profiler profiler;
  TraceRecorder recorder(*program, profiler);
  execution->setObserver(&recorder);
  ASSERT_TRUE(execution->run().isOk());
  std::vector<double> bytesInUse;
  for (const JSON &event : eventsOf(profiler, "C"))
    bytesInUse.push_back(event["args"]["bytes"].number);
  // At the start of the run, with the block of `kept`, and without it.
  EXPECT_EQ(bytesInUse, (std::vector<double>{0, 8, 0}));
  EXPECT_NE(profiler.toTable().find("memory of cpu:0: at most 8 bytes"),
            std::string::npos);
}
