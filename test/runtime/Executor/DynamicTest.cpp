// SPDX-License-Identifier: Apache-2.0
//
// Values whose shape is found while running.

#include "../InChild.h"
#include "../ProgramBuilder.h"
#include "LoadProgram.h"
#include "dlc/runtime/Executor/Execution.h"

#include <gtest/gtest.h>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

struct Running {
  explicit Running(ProgramBuilder &builder) : bytes(builder.write()) {
    program = loadProgram(bytes);
    execution = std::move(*Execution::create(*program));
  }

  /// Runs on a vector of floats.
  Status run(std::vector<float> x) {
    data = std::move(x);
    int64_t shape[] = {int64_t(data.size())};
    DLC_RETURN_IF_ERROR(execution->bindInput(0, {DLC_F32, shape, data.data()}));
    return execution->run();
  }

  std::vector<float> result(size_t index = 0) {
    TensorView view = execution->output(index);
    EXPECT_EQ(view.rank(), 1);
    return std::vector<float>(view.as<float>(), view.as<float>() + view.size());
  }

  AlignedBuffer bytes;
  std::unique_ptr<Program> program;
  std::unique_ptr<Execution> execution;
  std::vector<float> data;
};

using Floats = std::vector<float>;

} // namespace

TEST(Dynamic, ShapesFollowTheData) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int kept = builder.pool(DLC_F32, {-1});
  int longer = builder.pool(DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {-1});
  builder.reference("positives", {x}, {kept});
  builder.reference("twice_length", {kept}, {longer});
  builder.reference("relu", {longer}, {y});
  Running running(builder);
  EXPECT_EQ(running.program->statistics().dynamicValues, 2u);
  ASSERT_TRUE(running.run({1, -1, 2}).isOk());
  EXPECT_EQ(running.result(), (Floats{1, 1, 2, 2}));
  ASSERT_TRUE(running.run({-1}).isOk());
  EXPECT_EQ(running.result(), Floats{});
  ASSERT_TRUE(running.run({}).isOk());
  EXPECT_EQ(running.result(), Floats{});
  ASSERT_TRUE(running.run(Floats(1000, 3)).isOk());
  EXPECT_EQ(running.result(), Floats(2000, 3));
}

TEST(Dynamic, AForkNeedsAnExecutionOfItsOwn) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int kept = builder.pool(DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {-1});
  builder.reference("positives", {x}, {kept});
  builder.reference("relu", {kept}, {y});
  Running running(builder);
  ASSERT_TRUE(running.run({1, -1, 2}).isOk());
  EXPECT_EQ(inChild([&] {
              if (running.run({3, 4}).code() != StatusCode::Unavailable)
                return 1;
              running.execution =
                  std::move(*Execution::create(*running.program));
              if (!running.run({3, -4, 5}).isOk())
                return 2;
              return running.result() == Floats{3, 5} ? 0 : 3;
            }),
            0);
  ASSERT_TRUE(running.run({6}).isOk());
  EXPECT_EQ(running.result(), Floats{6});
}

TEST(Dynamic, ResultsMatchWhatThePlanSays) {
  // The plan promises three elements; the arena has room for no more.
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int kept = builder.arena(DLC_F32, {3});
  int y = builder.output("y", DLC_F32, {3});
  builder.reference("positives", {x}, {kept}, "filter");
  builder.reference("relu", {kept}, {y});
  Running running(builder);
  ASSERT_TRUE(running.run({1, -1, 2, 3}).isOk());
  EXPECT_EQ(running.result(), (Floats{1, 2, 3}));
  EXPECT_EQ(running.run({1, 2, 3, 4}).message(),
            "launch 0 (filter): result 0: expected 3xf32, got 4xf32");
  ASSERT_TRUE(running.run({4, 5, 6}).isOk()); // A failure does no harm.
  EXPECT_EQ(running.result(), (Floats{4, 5, 6}));
}

TEST(Dynamic, InferredShapesMatchWhatThePlanSays) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {4});
  builder.reference("twice_length", {x}, {y}, "twice");
  Running running(builder);
  ASSERT_TRUE(running.run({1, 2}).isOk());
  EXPECT_EQ(running.result(), (Floats{1, 1, 2, 2}));
  EXPECT_EQ(running.run({1, 2, 3}).message(),
            "launch 0 (twice): result 0: expected 4xf32, got 6xf32");
}

TEST(Dynamic, ForgottenResultsAreFaults) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {-1});
  builder.reference("forget", {x}, {y}, "lost");
  Running running(builder);
  Status status = running.run({1});
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_EQ(status.message(), "launch 0 (lost): the operation 'forget' left a "
                              "result without a shape");
}

TEST(Dynamic, CopiesTakeTheShapeOfTheirInput) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int staged = builder.pool(DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {-1});
  int copy = builder.kernel(KernelKind::Copy, "copy");
  builder.launch(copy, {x}, {staged});
  builder.launch(copy, {staged}, {y});
  Running running(builder);
  ASSERT_TRUE(running.run({1, 2, 3}).isOk());
  EXPECT_EQ(running.result(), (Floats{1, 2, 3}));
}

TEST(Dynamic, StaticKernelsMayWriteToThePool) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {4});
  int scaled = builder.pool(DLC_F32, {4});
  int y = builder.output("y", DLC_F32, {4});
  int scale = builder.kernel(KernelKind::Library, "test.scale");
  builder.setInt(scale, "factor", 3);
  builder.launch(scale, {x}, {scaled});
  builder.launch(scale, {scaled}, {y});
  Running running(builder);
  for (int i = 0; i != 3; ++i) {
    ASSERT_TRUE(running.run({1, 2, 3, 4}).isOk());
    EXPECT_EQ(running.result(), (Floats{9, 18, 27, 36}));
  }
}

TEST(Dynamic, UnrankedResultsTakeAnyShape) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {});
  builder.program.values[y]->unranked = true;
  builder.program.values[y]->bytes = 0;
  builder.reference("twice_length", {x}, {y});
  Running running(builder);
  ASSERT_TRUE(running.run({1, 2}).isOk());
  EXPECT_EQ(running.result(), (Floats{1, 1, 2, 2}));
}

TEST(Dynamic, OutputsCannotBeBound) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {-1});
  builder.reference("relu", {x}, {y});
  Running running(builder);
  float memory[4];
  int64_t shape[] = {4};
  EXPECT_EQ(
      running.execution->bindOutput(0, {DLC_F32, shape, memory}).message(),
      "output 'y': its shape ?xf32 is known only after the run");
}
