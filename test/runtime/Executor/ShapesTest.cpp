// SPDX-License-Identifier: Apache-2.0
//
// Programs for several shapes.

#include "../ProgramBuilder.h"
#include "LoadProgram.h"
#include "dlc/runtime/Executor/Execution.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

using Floats = std::vector<float>;

struct Shapes : testing::Test {
  Shapes() : bytes(shapesBuilder().write()) {
    program = loadProgram(bytes);
    execution = std::move(*Execution::create(*program, {.tellsPorts = true}));
  }

  Status bind(int64_t rows, int64_t columns) {
    x.resize(rows * columns);
    std::iota(x.begin(), x.end(), -4.0f);
    int64_t shape[] = {rows, columns};
    return execution->bindInput(0, {DLC_F32, shape, x.data()});
  }

  /// What a run comes to, or nothing and its message in `why`.
  Floats run(int64_t rows, int64_t columns) {
    Status status = bind(rows, columns);
    if (status.isOk())
      status = execution->run();
    why = status.message();
    if (!status.isOk())
      return {};
    TensorView y = execution->output(0);
    EXPECT_EQ(std::vector(y.shape.begin(), y.shape.end()),
              (std::vector<int64_t>{rows, columns}));
    return {y.as<float>(), y.as<float>() + y.size()};
  }

  Floats expected() const {
    Floats y;
    for (float value : x)
      y.push_back(x.size() % 5 == 0 ? value + value : std::max(value, 0.0f));
    return y;
  }

  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
  Floats x;
  std::string why;
};

} // namespace

TEST_F(Shapes, SayWhatTheyAre) {
  std::vector<const Program *> parts = program->shapes();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1]->inputs()[0].type.shape, (std::vector<int64_t>{7, 3}));
  EXPECT_TRUE(parts[1]->shapes().empty());
  EXPECT_EQ(parts[2]->batches(), (std::vector<int64_t>{4, 1}));
  EXPECT_TRUE(program->batches().empty());
  EXPECT_EQ(program->launchCount(), 4u);
  EXPECT_EQ(program->launch(1).label, "relu7");
  EXPECT_EQ(program->launch(3).label, "double1");
}

TEST_F(Shapes, ARunTakesTheProgramThatFits) {
  const std::pair<int64_t, int64_t> shapes[] = {
      {7, 3}, {2, 3}, {9, 5}, {2, 3}, {1, 5}};
  for (auto [rows, columns] : shapes) {
    Floats y = run(rows, columns);
    EXPECT_EQ(y, expected()) << why;
  }
}

TEST_F(Shapes, OthersAreRefusedWithThoseThatThereAre) {
  EXPECT_EQ(run(3, 3), Floats());
  EXPECT_EQ(why, "the program was compiled for other shapes: expected x "
                 "2x3xf32; or x 7x3xf32; or x ?x5xf32, got x 3x3xf32");
  EXPECT_FALSE(execution->hasRun());
  Floats y = run(2, 3); // As if there had been none.
  EXPECT_EQ(y, expected()) << why;
}

TEST_F(Shapes, OutputsOfTheCaller) {
  Floats y(9 * 5, 7.0f);
  int64_t shape[] = {9, 5}, other[] = {2, 3};
  ASSERT_TRUE(bind(9, 5).isOk());
  ASSERT_TRUE(execution->bindOutput(0, {DLC_F32, shape, y.data()}).isOk());
  ASSERT_TRUE(execution->run().isOk());
  EXPECT_EQ(y, expected());
  EXPECT_EQ(execution->output(0).data, y.data());
  // It has the wrong shape for the next run.
  ASSERT_TRUE(bind(2, 3).isOk());
  EXPECT_EQ(execution->run().message(),
            "output 'y': expected 2x3xf32, got 9x5xf32");
  ASSERT_TRUE(execution->bindOutput(0, {DLC_F32, other, y.data()}).isOk());
  ASSERT_TRUE(execution->run().isOk());
  EXPECT_EQ(Floats(y.begin(), y.begin() + 6), expected());
  // Back to memory of the execution, in each program.
  ASSERT_TRUE(execution->bindOutput(0, {}).isOk());
  y.assign(y.size(), 7.0f);
  for (auto [rows, columns] : {std::pair(2, 3), {9, 5}}) {
    Floats own = run(rows, columns);
    EXPECT_EQ(own, expected()) << why;
  }
  EXPECT_EQ(y, Floats(y.size(), 7.0f));
}

TEST_F(Shapes, EachTellsOfItsLaunchesAndPorts) {
  struct Listener final : PortListener, LaunchObserver {
    void onInputDone(size_t index) override { inputs.push_back(index); }
    void onOutputDone(size_t index) override { outputs.push_back(index); }
    void onLaunch(size_t launch, unsigned, uint64_t, uint64_t) override {
      launches.push_back(launch);
    }
    std::vector<size_t> inputs, outputs, launches;
  } heard;
  execution->setObserver(&heard);
  for (auto [rows, columns] : {std::pair(7, 3), {6, 5}}) {
    ASSERT_TRUE(bind(rows, columns).isOk());
    ASSERT_TRUE(execution->run(&heard).isOk());
  }
  EXPECT_EQ(heard.inputs, (std::vector<size_t>{0, 0}));
  EXPECT_EQ(heard.outputs, (std::vector<size_t>{0, 0}));
  EXPECT_EQ(heard.launches, (std::vector<size_t>{1, 2, 2}));
}
