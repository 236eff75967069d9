// SPDX-License-Identifier: Apache-2.0
//
// Batches of any size, by programs for some.

#include "../ProgramBuilder.h"
#include "LoadProgram.h"
#include "dlc/runtime/Executor/Execution.h"
#include "runtime/Executor/BatchRuns.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

using Floats = std::vector<float>;

struct Running {
  explicit Running(ProgramBuilder builder) : bytes(builder.write()) {
    program = loadProgram(bytes);
    execution = std::move(*Execution::create(*program, {.tellsPorts = true}));
  }

  Status bind(int64_t rows) {
    x.resize(rows * 3);
    std::iota(x.begin(), x.end(), -6.0f);
    int64_t shape[] = {rows, 3}, shapeOfW[] = {3};
    DLC_RETURN_IF_ERROR(execution->bindInput(0, {DLC_F32, shape, x.data()}));
    return execution->bindInput(1, {DLC_F32, shapeOfW, w.data()});
  }

  Floats expected() const {
    Floats y;
    for (size_t i = 0; i != x.size(); ++i)
      y.push_back(std::max(x[i] + w[i % 3], 0.0f));
    return y;
  }

  Floats output(size_t index) {
    TensorView view = execution->output(index);
    return {view.as<float>(), view.as<float>() + view.size()};
  }

  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
  Floats x, w = {1, -2, 3};
};

/// The runs of a batch, as "program x count at first".
std::string runsOf(std::vector<BatchProgram> programs, int64_t count) {
  std::string text;
  for (int64_t done = 0; done < count;) {
    const BatchRun run = nextRun(programs, count, done);
    text += (text.empty() ? "" : " ") +
            std::to_string(programs[run.program].rows) + "@" +
            std::to_string(run.first);
    EXPECT_LE(run.first, done);
    EXPECT_LE(run.first + run.count, count);
    EXPECT_LE(run.count, programs[run.program].rows);
    done = run.first + run.count;
  }
  return text;
}

} // namespace

TEST(BatchRuns, TheLargestThatFits) {
  // Each example takes the same, whatever program it is in.
  const std::vector<BatchProgram> even = {{16, 1600}, {4, 400}, {1, 100}};
  EXPECT_EQ(runsOf(even, 1), "1@0");
  EXPECT_EQ(runsOf(even, 3), "1@0 1@1 1@2");
  EXPECT_EQ(runsOf(even, 4), "4@0");
  EXPECT_EQ(runsOf(even, 21), "16@0 4@16 1@20");
  EXPECT_EQ(runsOf(even, 32), "16@0 16@16");
}

TEST(BatchRuns, ComputesAgainWhereThatTakesLess) {
  // Most of the time is for weights: one run takes little more than another.
  const std::vector<BatchProgram> weights = {{16, 130}, {4, 110}, {1, 100}};
  EXPECT_EQ(runsOf(weights, 1), "1@0");
  EXPECT_EQ(runsOf(weights, 2), "4@0"); // Two rows are of nobody.
  EXPECT_EQ(runsOf(weights, 4), "4@0");
  EXPECT_EQ(runsOf(weights, 5), "16@0");
  EXPECT_EQ(runsOf(weights, 17), "16@0 1@16");
  EXPECT_EQ(runsOf(weights, 19), "16@0 4@15");
  EXPECT_EQ(runsOf(weights, 25), "16@0 16@9");
}

TEST(BatchRuns, OneProgramAlone) {
  EXPECT_EQ(runsOf({{1, 100}}, 3), "1@0 1@1 1@2");
}

TEST(Batch, SaysWhatItIs) {
  Running running(batchBuilder());
  EXPECT_EQ(running.program->batches(), (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(running.program->launchCount(), 6u);
  EXPECT_EQ(running.program->launch(0).label, "add4");
  EXPECT_EQ(running.program->launch(4).label, "relu1");
  EXPECT_EQ(running.program->statistics().launches, 6u);
  EXPECT_EQ(running.program->statistics().arenaBytes, 64u); // Of the largest.
}

TEST(Batch, ComputesAnyNumberOfExamples) {
  Running running(batchBuilder());
  for (int64_t rows : {1, 2, 3, 4, 5, 7, 8, 11, 2, 64}) {
    SCOPED_TRACE(rows);
    ASSERT_TRUE(running.bind(rows).isOk());
    Status status = running.execution->run();
    ASSERT_TRUE(status.isOk()) << status.message();
    EXPECT_EQ(running.output(0), running.expected());
    EXPECT_EQ(running.output(1), (Floats{2, -4, 6}));
    EXPECT_EQ(running.execution->output(0).shape[0], rows);
  }
}

TEST(Batch, ExamplesInMemoryOfTheCaller) {
  Running running(batchBuilder({5, 2, 1}));
  ASSERT_TRUE(running.bind(9).isOk());
  Floats y(30, -1);
  int64_t shape[] = {9, 3}, other[] = {10, 3}, wide[] = {9, 4};
  ASSERT_TRUE(
      running.execution->bindOutput(0, {DLC_F32, shape, y.data()}).isOk());
  ASSERT_TRUE(running.execution->run().isOk());
  EXPECT_EQ(Floats(y.begin(), y.begin() + 27), running.expected());
  EXPECT_EQ(y[27], -1); // Behind the last example nothing is written.
  EXPECT_EQ(running.execution->output(0).data, y.data());

  ASSERT_TRUE(
      running.execution->bindOutput(0, {DLC_F32, other, y.data()}).isOk());
  EXPECT_EQ(running.execution->run().message(),
            "output 'y': expected memory of 9x3xf32, got one of 10x3xf32");
  EXPECT_EQ(
      running.execution->bindOutput(0, {DLC_F32, wide, y.data()}).message(),
      "output 'y': expected ?x3xf32, got 9x4xf32");
  // Back to memory of the execution.
  ASSERT_TRUE(
      running.execution->bindOutput(0, {DLC_F32, shape, nullptr}).isOk());
  EXPECT_FALSE(running.execution->hasRun()); // Which a run makes.
  EXPECT_EQ(running.execution->output(0).data, nullptr);
  ASSERT_TRUE(running.execution->run().isOk());
  EXPECT_EQ(running.output(0), running.expected());
}

TEST(Batch, ExamplesWithoutElements) {
  ProgramBuilder builder;
  builder.input("x", DLC_F32, {-1, 0});
  builder.output("y", DLC_F32, {-1, 0});
  for (int64_t rows : {2, 1}) {
    ProgramBuilder part;
    int x = part.input("x", DLC_F32, {rows, 0});
    int y = part.output("y", DLC_F32, {rows, 0});
    part.reference("relu", {x}, {y});
    builder.byRows(rows, std::move(part));
  }
  Running running(std::move(builder));
  int64_t shape[] = {int64_t(1) << 40, 0};
  ASSERT_TRUE(
      running.execution->bindInput(0, {DLC_F32, shape, nullptr}).isOk());
  ASSERT_TRUE(running.execution->run().isOk());
  EXPECT_EQ(running.execution->output(0).shape[0], int64_t(1) << 40);
}

/// A file may say anything of how much an example has.
TEST(Batch, ExamplesThatOverflow) {
  ProgramBuilder builder;
  builder.input("x", DLC_F32, {-1, 1});
  for (const char *name : {"a", "b"})
    builder.input(name, DLC_F32, {-1, int64_t(1) << 60});
  builder.output("y", DLC_F32, {-1, 1});
  ProgramBuilder part;
  int x = part.input("x", DLC_F32, {1, 1});
  for (const char *name : {"a", "b"})
    part.input(name, DLC_F32, {1, int64_t(1) << 60});
  int y = part.output("y", DLC_F32, {1, 1});
  part.reference("relu", {x}, {y});
  for (int i = 0; i != 4; ++i) { // 2^64 bytes in all.
    const std::string name = "c" + std::to_string(i);
    builder.input(name, DLC_F32, {-1, int64_t(1) << 60});
    part.input(name, DLC_F32, {1, int64_t(1) << 60});
  }
  builder.byRows(1, std::move(part));
  AlignedBuffer bytes = builder.write();
  auto program =
      Program::create(std::move(*Artifact::fromMemory(bytes.bytes())));
  ASSERT_TRUE(program.isOk()) << program.status().message();
  auto execution = Execution::create(**program);
  EXPECT_EQ(execution.status().message(), "the examples are too large");
}

TEST(Batch, NoExamples) {
  Running running(batchBuilder());
  ASSERT_TRUE(running.bind(0).isOk());
  ASSERT_TRUE(running.execution->run().isOk());
  EXPECT_EQ(running.execution->output(0).shape[0], 0);
  EXPECT_EQ(running.output(1), (Floats{2, -4, 6})); // What all share.
  ASSERT_TRUE(running.bind(2).isOk());
  EXPECT_TRUE(running.execution->run().isOk());
  EXPECT_EQ(running.output(0), running.expected());
}

TEST(Batch, InputsAgree) {
  ProgramBuilder builder;
  builder.input("a", DLC_F32, {-1});
  builder.input("b", DLC_F32, {-1});
  builder.output("y", DLC_F32, {-1});
  for (int64_t rows : {2, 1}) {
    ProgramBuilder part; // Two rows of b for each of a.
    int a = part.input("a", DLC_F32, {rows});
    part.input("b", DLC_F32, {2 * rows});
    int y = part.output("y", DLC_F32, {rows});
    part.reference("relu", {a}, {y});
    builder.byRows(rows, std::move(part));
  }
  Running running(std::move(builder));
  Floats data(16, 1);
  auto bind = [&](size_t index, int64_t rows) {
    int64_t shape[] = {rows};
    ASSERT_TRUE(
        running.execution->bindInput(index, {DLC_F32, shape, data.data()})
            .isOk());
  };
  bind(0, 3);
  bind(1, 6);
  EXPECT_TRUE(running.execution->run().isOk());
  bind(1, 5);
  EXPECT_EQ(running.execution->run().message(),
            "input 'b': expected 2 rows for each example of the batch of 3 "
            "that input 'a' has, got 5");
  bind(1, 4);
  EXPECT_EQ(running.execution->run().message(),
            "input 'b': expected 2 rows for each example of the batch of 3 "
            "that input 'a' has, got 4");
}

TEST(Batch, FailuresNameTheExamples) {
  ProgramBuilder builder;
  builder.input("x", DLC_F32, {-1});
  builder.output("y", DLC_F32, {-1});
  for (int64_t rows : {2, 1}) {
    ProgramBuilder part;
    int x = part.input("x", DLC_F32, {rows});
    int y = part.output("y", DLC_F32, {rows});
    part.reference(rows == 1 ? "refuse" : "relu", {x}, {y}, "odd");
    builder.byRows(rows, std::move(part));
  }
  Running running(std::move(builder));
  Floats data(5, 1);
  int64_t shape[] = {4};
  ASSERT_TRUE(
      running.execution->bindInput(0, {DLC_F32, shape, data.data()}).isOk());
  EXPECT_TRUE(running.execution->run().isOk());
  shape[0] = 1;
  ASSERT_TRUE(
      running.execution->bindInput(0, {DLC_F32, shape, data.data()}).isOk());
  Status status = running.execution->run();
  EXPECT_TRUE(std::string_view(status.message())
                  .starts_with("example 0: launch 0 (odd)"))
      << status.message();
}

namespace {
struct Seen : LaunchObserver, PortListener {
  void onLaunch(size_t launch, unsigned, uint64_t, uint64_t) override {
    launches.push_back(launch);
  }
  void onInputDone(size_t index) override { inputs.push_back(index); }
  void onOutputDone(size_t index) override { outputs.push_back(index); }
  std::vector<size_t> launches, inputs, outputs;
};
} // namespace

TEST(Batch, WhoWatchesSeesAllPrograms) {
  Running running(batchBuilder());
  Seen seen;
  ASSERT_TRUE(running.bind(9).isOk());
  running.execution->setObserver(&seen);
  ASSERT_TRUE(running.execution->run(&seen).isOk());
  // Twice the program for four and once that for one.
  EXPECT_EQ(seen.launches, (std::vector<size_t>{0, 1, 2, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(seen.inputs, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(seen.outputs, (std::vector<size_t>{0, 1}));
  running.execution->setObserver(nullptr);
  ASSERT_TRUE(running.execution->run().isOk());
  EXPECT_EQ(seen.launches.size(), 9u);
}
