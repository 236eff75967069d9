// SPDX-License-Identifier: Apache-2.0
//
// Values whose shape is found while running.

#include "../InChild.h"
#include "../ProgramBuilder.h"
#include "LoadProgram.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
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

namespace {

/// How often calls of the libraries were made ready, and the libraries' entries
/// that say so.
int madeReady = 0;

const LibraryEntry *countedEntry(std::string_view operation) {
  static LibraryEntry entries[] = {*lookupLibraryEntry("cpu.matmul"),
                                   *lookupLibraryEntry("cpu.conv"),
                                   *lookupLibraryEntry("cpu.recurrent")};
  static constexpr const char *names[] = {"cpu.matmul", "cpu.conv",
                                          "cpu.recurrent"};
  auto prepare = [&]<size_t i>() {
    entries[i].prepare = [](const KernelCall &call,
                            std::unique_ptr<PreparedKernel> &prepared) {
      ++madeReady;
      return lookupLibraryEntry(names[i])->prepare(call, prepared);
    };
  };
  prepare.operator()<0>();
  prepare.operator()<1>();
  prepare.operator()<2>();
  for (const LibraryEntry &entry : entries)
    for (std::string_view name : entry.operations)
      if (name == operation)
        return &entry;
  return nullptr;
}

/// Two programs of the same bytes: one with the libraries, one without.
struct WithAndWithout {
  explicit WithAndWithout(ProgramBuilder &builder) : bytes(builder.write()) {
    ProgramOptions with = testOptions(), without = testOptions();
    with.findEntryOfOperation = countedEntry;
    without.findEntryOfOperation =
        [](std::string_view) -> const LibraryEntry * { return nullptr; };
    programs[0] = loadProgram(bytes, with);
    programs[1] = loadProgram(bytes, without);
    WorkerPoolOptions threads;
    threads.threads = 2;
    pool = std::move(*WorkerPool::create(threads));
    ExecutionOptions options;
    options.workers = pool.get();
    for (int i : {0, 1})
      executions[i] = std::move(*Execution::create(*programs[i], options));
  }

  /// Runs both on inputs of these shapes; how often a call was made ready.
  /// `expect`: what the libraries give in place of a number.
  int run(
      const std::vector<std::vector<int64_t>> &shapes,
      float (*expect)(float) = [](float value) { return value; }) {
    std::vector<std::vector<float>> data;
    for (const std::vector<int64_t> &shape : shapes) {
      data.emplace_back(*elementCount(shape));
      for (size_t i = 0; i != data.back().size(); ++i)
        data.back()[i] = float((i * 37 + data.size()) % 23) / 8 - 1;
    }
    const int before = madeReady;
    for (auto &execution : executions) {
      for (size_t i = 0; i != shapes.size(); ++i)
        EXPECT_TRUE(
            execution->bindInput(i, {DLC_F32, shapes[i], data[i].data()})
                .isOk());
      Status status = execution->run();
      EXPECT_TRUE(status.isOk()) << status.message();
    }
    TensorView found = executions[0]->output(0),
               expected = executions[1]->output(0);
    EXPECT_TRUE(std::ranges::equal(found.shape, expected.shape));
    for (int64_t i = 0; i != expected.size(); ++i)
      EXPECT_NEAR(found.as<float>()[i], expect(expected.as<float>()[i]), 1e-4)
          << i;
    return madeReady - before;
  }

  AlignedBuffer bytes;
  std::unique_ptr<WorkerPool> pool;
  std::unique_ptr<Program> programs[2];
  std::unique_ptr<Execution> executions[2];
};

} // namespace

TEST(Dynamic, ProductsAreTheLibrarys) {
  ProgramBuilder builder;
  int a = builder.input("a", DLC_F32, {-1, -1});
  int b = builder.input("b", DLC_F32, {-1, 70});
  int product = builder.pool(DLC_F32, {-1, 70});
  int y = builder.output("y", DLC_F32, {-1, 70});
  builder.reference("matmul", {a, b}, {product});
  builder.reference("relu", {product}, {y});
  WithAndWithout both(builder);
  EXPECT_EQ(both.run({{3, 90}, {90, 70}}), 1);
  EXPECT_EQ(both.run({{200, 90}, {90, 70}}), 1);
  EXPECT_EQ(both.run({{3, 90}, {90, 70}}), 0) << "made ready before";
  // Nothing to compute, and sums of nothing.
  EXPECT_EQ(both.run({{0, 90}, {90, 70}}), 0);
  EXPECT_EQ(both.run({{3, 0}, {0, 70}}), 0);
  for (int64_t rows = 1; rows <= 20; ++rows)
    both.run({{rows, 5}, {5, 70}});
  EXPECT_EQ(both.run({{20, 5}, {5, 70}}), 0);
  EXPECT_EQ(both.run({{3, 90}, {90, 70}}), 1) << "forgotten by now";
}

TEST(Dynamic, ConvolutionsAreTheLibrarys) {
  for (const char *padding : {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}) {
    ProgramBuilder builder;
    int x = builder.input("x", DLC_F32, {-1, 6, -1, -1});
    int w = builder.input("w", DLC_F32, {9, 2, 3, 4});
    int bias = builder.input("bias", DLC_F32, {9});
    int y = builder.output("y", DLC_F32, {-1, 9, -1, -1});
    int kernel = builder.kernel(KernelKind::Reference, "reference.conv");
    builder.setInt(kernel, "group", 3);
    builder.setString(kernel, "auto_pad", padding);
    builder.launch(kernel, {x, w, bias}, {y});
    WithAndWithout both(builder);
    EXPECT_EQ(both.run({{1, 6, 5, 8}, {9, 2, 3, 4}, {9}}), 1);
    EXPECT_EQ(both.run({{2, 6, 12, 31}, {9, 2, 3, 4}, {9}}), 1);
    EXPECT_EQ(both.run({{0, 6, 5, 8}, {9, 2, 3, 4}, {9}}), 0);
  }
}

// Three dimensions are nothing that the library has.
TEST(Dynamic, OtherConvolutionsAreNot) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {1, 2, -1, 4, 4});
  int w = builder.input("w", DLC_F32, {3, 2, 2, 2, 2});
  int y = builder.output("y", DLC_F32, {1, 3, -1, 3, 3});
  builder.reference("conv", {x, w}, {y});
  WithAndWithout both(builder);
  EXPECT_EQ(both.run({{1, 2, 5, 4, 4}, {3, 2, 2, 2, 2}}), 0);
}

TEST(Dynamic, RecurrentLayersAreTheLibrarys) {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {-1, -1, 5});
  int w = builder.input("w", DLC_F32, {1, 28, 5});
  int r = builder.input("r", DLC_F32, {1, 28, 7});
  int y = builder.output("y", DLC_F32, {-1, 1, -1, 7});
  int h = builder.pool(DLC_F32, {1, -1, 7});
  int c = builder.pool(DLC_F32, {1, -1, 7});
  int kernel = builder.kernel(KernelKind::Reference, "reference.lstm");
  builder.setInt(kernel, "hidden_size", 7);
  builder.launch(kernel, {x, w, r}, {y, h, c});
  WithAndWithout both(builder);
  EXPECT_EQ(both.run({{6, 3, 5}, {1, 28, 5}, {1, 28, 7}}), 1);
  EXPECT_EQ(both.run({{1, 1, 5}, {1, 28, 5}, {1, 28, 7}}), 1);
  EXPECT_EQ(both.run({{0, 2, 5}, {1, 28, 5}, {1, 28, 7}}), 0);
}

// R is packed as bytes.
TEST(Dynamic, QuantizedLayersAreTheLibrarys) {
  ProgramBuilder builder;
  Floats weights(1024 * 256);
  for (size_t i = 0; i != weights.size(); ++i)
    weights[i] = 0.001f * float(i * 7 % 41) - 0.02f;
  int x = builder.input("x", DLC_F32, {-1, -1, 3});
  int w = builder.constant(DLC_F32, {1, 1024, 3}, Floats(1024 * 3, 0.25f));
  int r = builder.constant(DLC_F32, {1, 1024, 256}, weights);
  int y = builder.output("y", DLC_F32, {-1, 1, -1, 256});
  int h = builder.pool(DLC_F32, {1, -1, 256});
  int c = builder.pool(DLC_F32, {1, -1, 256});
  int kernel = builder.kernel(KernelKind::Reference, "reference.lstm");
  builder.setInt(kernel, "hidden_size", 256);
  builder.launch(kernel, {x, w, r}, {y, h, c});
  WithAndWithout both(builder);
  EXPECT_EQ(both.run({{4, 2, 3}}), 1);
  EXPECT_EQ(both.run({{2, 5, 3}}), 1);
}

namespace {

/// A convolution and a sum behind it, of which the generated code gives three
/// times as much, so that it shows who computed it.
struct ConvAndSum {
  explicit ConvAndSum(const char *activation, const char *code = "sum_tiles")
      : object(testObject(3)) {
    builder.object(object);
    x = builder.input("x", DLC_F32, {-1, 4, -1, -1});
    w = builder.input("w", DLC_F32, {4, 4, 3, 3});
    r = builder.input("r", DLC_F32, {-1, -1, -1, -1});
    conv = builder.kernel(KernelKind::Reference, "reference.conv");
    builder.setInts(conv, "pads", {1, 1, 1, 1});
    sum = builder.kernel(KernelKind::AnyShape, code, 16);
    builder.setString(sum, "activation", activation);
  }
  int image() { return builder.pool(DLC_F32, {-1, -1, -1, -1}); }
  int result() { return builder.output("y", DLC_F32, {-1, -1, -1, -1}); }
  /// Launches both: `others` and the convolution are added up to y.
  void addUp(std::vector<int> others) {
    others.push_back(image());
    builder.launch(conv, {x, w}, {others.back()});
    builder.launch(sum, others, {result()});
  }

  ProgramBuilder builder;
  std::vector<std::byte> object;
  int x, w, r, conv, sum;
};

using Shapes = std::vector<std::vector<int64_t>>;
const Shapes small = {{2, 4, 5, 7}, {4, 4, 3, 3}, {2, 4, 5, 7}},
             large = {{1, 4, 40, 33}, {4, 4, 3, 3}, {1, 4, 40, 33}},
             broadcast = {{1, 4, 5, 7}, {4, 4, 3, 3}, {1, 4, 1, 1}},
             broadened = {{1, 4, 5, 7}, {4, 4, 3, 3}, {3, 4, 5, 7}},
             empty = {{0, 4, 5, 7}, {4, 4, 3, 3}, {0, 4, 5, 7}};
float third(float value) { return value / 3; }
float positiveThird(float value) { return std::max(value / 3, 0.0f); }

} // namespace

TEST(Dynamic, SumsAreTheCallsThatMakeThem) {
  ConvAndSum net("relu");
  net.addUp({net.r});
  WithAndWithout both(net.builder);
  EXPECT_EQ(both.run(small, positiveThird), 1);
  EXPECT_EQ(both.run(large, positiveThird), 1);
  EXPECT_EQ(both.run(small, positiveThird), 0) << "made ready before";
  // What broadcasts is computed behind it.
  EXPECT_EQ(both.run(broadcast), 1);
  EXPECT_EQ(both.run(broadened), 0);
  EXPECT_EQ(both.run(small, positiveThird), 0);
  EXPECT_EQ(both.run(empty), 0);
}

TEST(Dynamic, ActivationsAreTheCallsThatMakeTheSums) {
  ConvAndSum net("relu", "scale_tiles");
  net.addUp({});
  WithAndWithout both(net.builder);
  EXPECT_EQ(both.run(small, positiveThird), 1);
}

namespace {

/// A product of bytes by a column of twos, and what rounds its sums, of which
/// the generated code gives 3 each time, so that it shows who did.
struct Rounding {
  explicit Rounding(const char *code) : object(testObject(3)) {
    builder.object(object);
    x = builder.input("x", DLC_U8, {-1, 2});
    w = builder.constant(DLC_I8, {2, 1}, std::vector<int8_t>{2, 2});
    zeroX = builder.constant(DLC_U8, {}, std::vector<uint8_t>{0});
    zeroW = builder.constant(DLC_I8, {}, std::vector<int8_t>{0});
    sums = builder.pool(DLC_I32, {-1, 1});
    y = builder.output("y", DLC_U8, {-1, 1});
    builder.reference("integer_matmul", {x, w, zeroX, zeroW}, {sums});
    kernel = builder.kernel(KernelKind::AnyShape, code, 16);
    builder.setString(kernel, "activation", "requantize");
  }
  /// What becomes of rows whose sums are 6, 14 and 22.
  std::vector<int> run(std::vector<int> others = {}) {
    others.insert(others.begin(), sums);
    builder.launch(kernel, others, {y});
    AlignedBuffer bytes = builder.write();
    std::unique_ptr<Program> program = loadProgram(bytes, testOptions());
    auto execution = std::move(*Execution::create(*program));
    uint8_t data[] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[] = {3, 2};
    EXPECT_TRUE(execution->bindInput(0, {DLC_U8, shape, data}).isOk());
    Status status = execution->run();
    EXPECT_TRUE(status.isOk()) << status.message();
    const auto *results = execution->output(0).as<uint8_t>();
    return {results, results + execution->output(0).size()};
  }

  ProgramBuilder builder;
  std::vector<std::byte> object;
  int x, w, zeroX, zeroW, sums, y, kernel;
};

using Bytes = std::vector<int>;

} // namespace

TEST(Dynamic, RoundingIsTheCallsThatMakeTheSums) {
  Rounding net("round_tiles");
  net.builder.setFloat(net.kernel, "multiplier", 0.5);
  net.builder.setFloat(net.kernel, "offset", 0.25);
  net.builder.setInt(net.kernel, "zero_point", 100);
  EXPECT_EQ(net.run(), (Bytes{103, 107, 111}));
}

TEST(Dynamic, RoundingTakesWhatItIsGiven) {
  Rounding net("round_tiles_by");
  net.builder.setInt(net.kernel, "zero_point", 250);
  const int m = net.builder.constant(DLC_F32, {1}, Floats{0.5f}),
            o = net.builder.constant(DLC_F32, {1}, Floats{-1});
  EXPECT_EQ(net.run({m, o}), (Bytes{252, 255, 255}));
}

// Operands that are missing, one too many, or of another type.
TEST(Dynamic, OtherRoundingIsNot) {
  for (bool hasOffset : {false, true}) {
    Rounding net("round_tiles");
    net.builder.setFloat(net.kernel, "multiplier", 0.5);
    if (hasOffset)
      net.builder.setFloat(net.kernel, "offset", 0.25);
    EXPECT_EQ(net.run(), (Bytes{3, 3, 3})) << hasOffset;
  }
  for (bool hasZeroPoint : {false, true}) {
    Rounding net("round_tiles_by");
    if (hasZeroPoint)
      net.builder.setInt(net.kernel, "zero_point", 1);
    const int m = net.builder.constant(DLC_F32, {1}, Floats{0.5f}),
              o = hasZeroPoint
                      ? net.builder.constant(DLC_I32, {1}, std::vector<int>{1})
                      : net.builder.constant(DLC_F32, {1}, Floats{1});
    EXPECT_EQ(net.run({m, o}), (Bytes{3, 3, 3})) << hasZeroPoint;
  }
}

// Sums of integers have no activation, and sums of floats are not rounded.
TEST(Dynamic, OthersAreNotRounded) {
  Rounding net("round_tiles");
  net.builder.program.kernels[net.kernel]->attributes.clear();
  net.builder.setString(net.kernel, "activation", "");
  EXPECT_EQ(net.run(), (Bytes{3, 3, 3}));
  ConvAndSum floats("requantize");
  floats.addUp({floats.r});
  WithAndWithout both(floats.builder);
  EXPECT_EQ(both.run(small), 1);
}

// An activation that the library does not know.
TEST(Dynamic, UnknownActivationsAreNot) {
  ConvAndSum net("cosine", "scale_tiles");
  net.addUp({});
  WithAndWithout both(net.builder);
  EXPECT_EQ(both.run(small), 1);
}

// The last of what a sum adds up is computed with it: the rest is there by
// then.
TEST(Dynamic, SumsAreTheLastCallsOfSeveral) {
  ConvAndSum net("");
  int y = net.result(), first = net.image(), last = net.image();
  net.builder.launch(net.conv, {net.x, net.w}, {first});
  net.builder.launch(net.conv, {net.r, net.w}, {last});
  net.builder.launch(net.sum, {first, last}, {y});
  WithAndWithout both(net.builder);
  EXPECT_EQ(both.run(small, third), 2);
  EXPECT_EQ(both.run(large, third), 2);
}

TEST(Dynamic, SumsThatAreReadTwiceAreNot) {
  ConvAndSum net("");
  int y = net.result(), product = net.image(), sum = net.image();
  net.builder.launch(net.conv, {net.x, net.w}, {product});
  net.builder.launch(net.sum, {product, net.r}, {sum});
  net.builder.reference("sub", {sum, product}, {y});
  WithAndWithout both(net.builder);
  EXPECT_EQ(both.run(small), 1);
}

TEST(Dynamic, DoubledSumsAreNot) {
  ConvAndSum net("");
  int y = net.result(), product = net.image();
  net.builder.launch(net.conv, {net.x, net.w}, {product});
  net.builder.launch(net.sum, {product, product}, {y});
  WithAndWithout both(net.builder);
  EXPECT_EQ(both.run(small), 1);
}

// Memory of what is added becomes that of the sum, unless somebody reads it:
// the convolution itself, or what is computed before the sum would have been.
TEST(Dynamic, WhatIsAddedIsOverwrittenWhenNobodyReadsIt) {
  for (auto [reader, isSum] : {std::pair(0, true), std::pair(1, true),
                               std::pair(2, true), std::pair(2, false)}) {
    ConvAndSum net("");
    int y = net.result(), product = net.image(), sum = net.image();
    int added = net.image(), between = net.image();
    int zero = net.image(), nothing = net.image();
    net.builder.reference("neg", {net.r}, {added});
    net.builder.launch(net.conv, {reader == 1 ? added : net.x, net.w},
                       {product});
    net.builder.reference("sub", {reader == 2 ? added : net.x, net.r},
                          {between});
    net.builder.launch(net.sum, {product, added}, {sum});
    net.builder.reference("sub", {sum, sum}, {zero});
    net.builder.reference("add", {between, zero}, {nothing});
    // The sum, or what was computed before it would have been.
    net.builder.reference("add", {isSum ? sum : nothing, zero}, {y});
    WithAndWithout both(net.builder);
    auto expect = isSum ? third : [](float value) { return value; };
    EXPECT_EQ(both.run(small, expect), 1) << reader;
    EXPECT_EQ(both.run(large, expect), 1) << reader;
    EXPECT_EQ(both.run(small, expect), 0) << reader;
  }
}

TEST(Dynamic, ProductsTakeABiasAndAResidual) {
  for (bool isBias : {false, true}) {
    std::vector<std::byte> object = testObject(3);
    ProgramBuilder builder;
    builder.object(object);
    int a = builder.input("a", DLC_F32, {-1, -1});
    int b = builder.input("b", DLC_F32, {-1, 70});
    int more = isBias ? builder.input("bias", DLC_F32, {70})
                      : builder.input("residual", DLC_F32, {-1, -1});
    int product = builder.pool(DLC_F32, {-1, 70});
    int y = builder.output("y", DLC_F32, {-1, 70});
    int sum = builder.kernel(KernelKind::AnyShape, "sum_tiles", 16);
    builder.setString(sum, "activation", "relu");
    builder.reference("matmul", {a, b}, {product});
    builder.launch(sum, {product, more}, {y});
    WithAndWithout both(builder);
    const std::vector<int64_t> shape =
        isBias ? std::vector<int64_t>{70} : std::vector<int64_t>{20, 70};
    EXPECT_EQ(both.run({{20, 90}, {90, 70}, shape}, positiveThird), 1);
    EXPECT_EQ(both.run({{20, 0}, {0, 70}, shape}), 0) << "sums of nothing";
    if (!isBias)
      EXPECT_EQ(both.run({{20, 90}, {90, 70}, {20, 1}}), 1) << "broadcasts";
  }
}

/// Generated code for tiles of 16 elements, on vectors of any length.
TEST(Dynamic, KernelsOfAnyShape) {
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject(3);
  builder.object(object);
  int x = builder.input("x", DLC_F32, {-1});
  int between = builder.pool(DLC_F32, {-1});
  int y = builder.output("y", DLC_F32, {-1});
  int kernel = builder.kernel(KernelKind::AnyShape, "scale_tiles", 16);
  builder.launch(kernel, {x}, {between});
  builder.launch(kernel, {between}, {y});
  Running running(builder);
  for (int64_t length : {1, 15, 16, 17, 100, 5000, 0, 17, 100000, 1}) {
    Floats data(length), expected(length);
    for (int64_t i = 0; i != length; ++i) {
      data[i] = static_cast<float>(i);
      expected[i] = 9 * data[i];
    }
    ASSERT_TRUE(running.run(data).isOk());
    EXPECT_EQ(running.result(), expected) << length;
  }
}

TEST(Dynamic, ResultsOfAnyShapeMatchWhatThePlanSays) {
  ProgramBuilder builder;
  std::vector<std::byte> object = testObject();
  builder.object(object);
  int x = builder.input("x", DLC_F32, {-1});
  int w = builder.constant(DLC_F32, {3}, Floats{1, 2, 3});
  int y = builder.output("y", DLC_F32, {-1, 3});
  builder.launch(builder.kernel(KernelKind::AnyShape, "scale_tiles", 16),
                 {x, w}, {y}, "node");
  Running running(builder);
  EXPECT_EQ(running.run({1, 2}).message(),
            "launch 0 (node): expected shapes that broadcast, got 2 and 3 in "
            "dimension 0");
  EXPECT_EQ(running.run({1}).message(),
            "launch 0 (node): result 0: expected ?x3xf32, got 3xf32");
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
