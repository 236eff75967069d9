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

struct Listener final : PortListener, LaunchObserver {
  void onInputDone(size_t index) override { inputs.push_back(index); }
  void onOutputDone(size_t index) override { outputs.push_back(index); }
  void onLaunch(size_t launch, unsigned, uint64_t, uint64_t) override {
    launches.push_back(launch);
  }
  std::vector<size_t> inputs, outputs, launches;
};

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
  Listener heard;
  execution->setObserver(&heard);
  for (auto [rows, columns] : {std::pair(7, 3), {6, 5}}) {
    ASSERT_TRUE(bind(rows, columns).isOk());
    ASSERT_TRUE(execution->run(&heard).isOk());
  }
  EXPECT_EQ(heard.inputs, (std::vector<size_t>{0, 0}));
  EXPECT_EQ(heard.outputs, (std::vector<size_t>{0, 0}));
  EXPECT_EQ(heard.launches, (std::vector<size_t>{1, 2, 2}));
}

//===----------------------------------------------------------------------===//
// Smaller ones
//===----------------------------------------------------------------------===//

namespace {

struct Padded : testing::Test {
  explicit Padded(bool takesAny = false)
      : bytes(paddedBuilder(takesAny).write()) {
    program = loadProgram(bytes);
    execution = std::move(*Execution::create(*program));
  }

  Status bind(int64_t rows, int64_t columns) {
    x.resize(rows * columns);
    std::iota(x.begin(), x.end(), -2.0f);
    z.resize(rows * 2);
    std::iota(z.begin(), z.end(), 1);
    int64_t shape[] = {rows, columns}, pairs[] = {rows, 2};
    Status status = execution->bindInput(0, {DLC_F32, shape, x.data()});
    return status.isOk() ? execution->bindInput(1, {DLC_I8, pairs, z.data()})
                         : std::move(status);
  }

  template <typename T> std::vector<T> output(size_t index) const {
    TensorView y = execution->output(index);
    return {y.as<T>(), y.as<T>() + y.size()};
  }

  /// Runs and compares all outputs, which are `columns` wide or 2.
  void check(int64_t rows, int64_t columns) {
    SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns));
    Status status = bind(rows, columns);
    if (status.isOk())
      status = execution->run();
    ASSERT_TRUE(status.isOk()) << status.message();
    Floats relu;
    for (float value : x)
      relu.push_back(std::max(value, 0.0f));
    std::vector<int8_t> negative;
    for (int8_t value : z)
      negative.push_back(-value);
    auto shapeOf = [&](size_t index) {
      TensorView y = execution->output(index);
      return std::vector(y.shape.begin(), y.shape.end());
    };
    EXPECT_EQ(shapeOf(0), (std::vector<int64_t>{rows, columns}));
    EXPECT_EQ(shapeOf(2), (std::vector<int64_t>{rows, 2}));
    EXPECT_EQ(output<float>(0), relu);
    EXPECT_EQ(output<int64_t>(1), std::vector<int64_t>{-rows});
    EXPECT_EQ(output<int8_t>(2), negative);
  }

  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
  Floats x;
  std::vector<int8_t> z;
};

} // namespace

TEST_F(Padded, AllSizesInAnyOrder) {
  for (int64_t rows = 1; rows <= 6; ++rows)
    for (int64_t columns = 1; columns <= 5; ++columns)
      check(rows, columns);
  for (auto [rows, columns] :
       {std::pair(6, 5), {1, 1}, {4, 3}, {3, 3}, {4, 4}, {2, 5}})
    check(rows, columns);
}

TEST_F(Padded, TakesTheProgramOfFewerElements) {
  Listener heard;
  execution->setObserver(&heard);
  check(4, 3);
  check(2, 2);
  EXPECT_EQ(heard.launches, (std::vector<size_t>{3, 4, 5, 3, 4, 5}));
  heard.launches.clear();
  check(2, 4);
  EXPECT_EQ(heard.launches, (std::vector<size_t>{0, 1, 2}));
  execution->setObserver(nullptr);
}

TEST_F(Padded, OthersAreRefused) {
  auto fail = [&](int64_t rows, int64_t columns) {
    Status status = bind(rows, columns);
    return status.isOk() ? execution->run().message() : status.message();
  };
  EXPECT_EQ(fail(7, 1), "the program was compiled for other shapes: expected x "
                        "<=6x<=5xf32, z <=6x2xi8, got x 7x1xf32, z 7x2xi8");
  EXPECT_EQ(fail(1, 6), "the program was compiled for other shapes: expected x "
                        "<=6x<=5xf32, z <=6x2xi8, got x 1x6xf32, z 1x2xi8");
  EXPECT_EQ(fail(0, 3), "input 'x': expected at least one element in dimension "
                        "0, got 0");
  ASSERT_TRUE(bind(3, 3).isOk());
  int64_t other[] = {2, 2};
  ASSERT_TRUE(execution->bindInput(1, {DLC_I8, other, z.data()}).isOk());
  EXPECT_EQ(execution->run().message(),
            "input 'z': expected 3, as another input has in dimension 0, got "
            "2");
  check(3, 3);
}

TEST_F(Padded, OutputsOfTheCaller) {
  Floats y(9, 7.0f);
  int64_t number = 0;
  int64_t shape[] = {3, 3};
  ASSERT_TRUE(execution->bindOutput(0, {DLC_F32, shape, y.data()}).isOk());
  ASSERT_TRUE(execution->bindOutput(1, {DLC_I64, {}, &number}).isOk());
  check(3, 3);
  EXPECT_EQ(execution->output(0).data, y.data());
  EXPECT_EQ(number, -3);
  ASSERT_TRUE(bind(3, 2).isOk());
  EXPECT_EQ(execution->run().message(),
            "output 'y': expected memory of 3x2xf32, got one of 3x3xf32");
  // Back to memory of the execution: with padding, without, and with.
  ASSERT_TRUE(execution->bindOutput(0, {}).isOk());
  ASSERT_TRUE(execution->bindOutput(1, {}).isOk());
  y.assign(9, 7.0f);
  number = 1;
  for (auto [rows, columns] : {std::pair(3, 2), {4, 3}, {1, 3}})
    check(rows, columns);
  EXPECT_EQ(y, Floats(9, 7.0f));
  EXPECT_EQ(number, 1);
}

TEST_F(Padded, TellsOfPortsAtTheEnd) {
  Listener heard;
  execution = std::move(*Execution::create(*program, {.tellsPorts = true}));
  ASSERT_TRUE(bind(3, 2).isOk());
  ASSERT_TRUE(execution->run(&heard).isOk());
  EXPECT_EQ(heard.inputs, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(heard.outputs, (std::vector<size_t>{0, 1, 2}));
}

//===----------------------------------------------------------------------===//
// Any others
//===----------------------------------------------------------------------===//

namespace {
struct PaddedOrAny : Padded {
  PaddedOrAny() : Padded(/*takesAny=*/true) {}
};
} // namespace

TEST_F(PaddedOrAny, AllSizesInAnyOrder) {
  for (int64_t rows : {1, 9, 4, 7, 6, 5})
    for (int64_t columns : {1, 3, 6, 5, 2, 8})
      check(rows, columns);
  EXPECT_FALSE(bind(0, 3).isOk() && execution->run().isOk());
}

TEST_F(PaddedOrAny, TakesTheOthersWhereTheyFit) {
  Listener heard;
  execution->setObserver(&heard);
  check(6, 5);
  check(7, 5);
  check(2, 2);
  EXPECT_EQ(heard.launches, (std::vector<size_t>{0, 1, 2, 6, 7, 8, 3, 4, 5}));
  execution->setObserver(nullptr);
}

TEST_F(PaddedOrAny, OutputsOfTheCaller) {
  Floats y(14, 7.0f);
  int64_t shape[] = {7, 2};
  ASSERT_TRUE(execution->bindOutput(0, {DLC_F32, shape, y.data()}).isOk());
  check(7, 2);
  EXPECT_EQ(execution->output(0).data, y.data());
  ASSERT_TRUE(bind(8, 2).isOk());
  EXPECT_EQ(execution->run().message(),
            "output 'y': expected memory of 8x2xf32, got one of 7x2xf32");
  ASSERT_TRUE(execution->bindOutput(0, {}).isOk());
  y.assign(14, 7.0f);
  check(7, 2);
  check(4, 3);
  EXPECT_EQ(y, Floats(14, 7.0f));
}

TEST_F(PaddedOrAny, TellsOfPorts) {
  Listener heard;
  execution = std::move(*Execution::create(*program, {.tellsPorts = true}));
  Floats y(14, 7.0f);
  int64_t shape[] = {7, 2};
  ASSERT_TRUE(execution->bindOutput(0, {DLC_F32, shape, y.data()}).isOk());
  ASSERT_TRUE(bind(7, 2).isOk());
  ASSERT_TRUE(execution->run(&heard).isOk());
  EXPECT_EQ(heard.inputs, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(heard.outputs, (std::vector<size_t>{0, 1, 2}));
}
