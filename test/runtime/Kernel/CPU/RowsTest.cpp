// SPDX-License-Identifier: Apache-2.0
//
// cpu.pool, cpu.softmax, cpu.reduce and cpu.norm against the Reference kernels
// of the operations that they compute, of which the entries make their calls.

#include "OperationTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

} // namespace

TEST(PoolTest, RandomWindows) {
  Random random(3);
  int computed = 0;
  for (uint64_t round = 0; round < 600; ++round) {
    const int64_t rank = 1 + random.below(2);
    // Windows next to each other double from four taps on.
    const bool isLarge = round % 2;
    // Small planes are combined side by side, several in a tile.
    const bool isSmall = round % 3 == 1;
    Shape shape = {1 + random.below(2), 1 + random.below(isSmall ? 300 : 3)};
    std::vector<int64_t> kernel, strides, dilations, pads;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t most = isSmall ? 9 : d + 1 == rank ? 70 : 12;
      shape.push_back(1 + random.below(most));
      kernel.push_back(1 + random.below(isLarge ? 14 : 4));
      strides.push_back(1 + random.below(isLarge ? 2 : 3));
      dilations.push_back(1 + random.below(2));
    }
    for (int64_t d = 0; d < 2 * rank; ++d)
      pads.push_back(random.below(isLarge ? 8 : 3));
    Attributes given;
    given.set("kernel_shape", kernel);
    given.set("strides", strides);
    given.set("dilations", dilations);
    given.set("ceil_mode", random.below(2));
    constexpr const char *paddings[] = {"NOTSET", "NOTSET", "VALID",
                                        "SAME_UPPER", "SAME_LOWER"};
    const char *padding = paddings[random.below(5)];
    given.set("auto_pad", std::string(padding));
    if (padding == std::string("NOTSET"))
      given.set("pads", pads);
    const bool isMean = random.below(2);
    if (isMean)
      given.set("count_include_pad", random.below(2));
    SCOPED_TRACE("round " + std::to_string(round));
    OperationCall call(isMean ? "avg_pool" : "max_pool", {shape}, given, round);
    float *x = call.values[0].data();
    const int64_t count = call.values[0].size();
    if (round % 3 == 0) {
      constexpr float odd[] = {std::numeric_limits<float>::quiet_NaN(),
                               kInfinity, -kInfinity, -0.0f};
      for (float value : odd)
        x[random.below(count)] = value;
    }
    computed += !call.reference().empty();
    call.expectSame("cpu.pool", preparePool, 1e-6);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(computed, 400);
}

// Rows that are combined in parts, as if they were one, and tap by tap.
TEST(PoolTest, RowsOfAnyWidth) {
  struct Case {
    Shape shape;
    std::vector<int64_t> kernel, strides, dilations, pads;
  };
  const Case cases[] = {
      {{1, 2, 3, 5000}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
      {{1, 2, 5000}, {3}, {1}, {1}, {1, 1}},
      {{1, 1, 2, 9000}, {2, 2000}, {1, 100}, {1, 1}, {0, 0, 0, 0}},
      {{1, 1, 2, 9000}, {2, 3}, {1, 100}, {1, 1023}, {1, 5, 0, 7}},
      {{1, 1, 2, 9000}, {2, 3}, {1, 100}, {1, 1024}, {1, 5, 0, 7}},
      {{1, 1, 2, 9000}, {2, 4000}, {1, 900}, {1, 1}, {0, 0, 0, 0}},
      {{1, 1, 3, 9000}, {1, 2}, {1, 3000}, {1, 1}, {0, 0, 0, 0}},
      {{1, 1, 3, 9000}, {2, 3}, {1, 1500}, {1, 1}, {0, 0, 0, 0}},
      {{1, 2, 3, 9000}, {2, 30}, {2, 2010}, {1, 1}, {1, 20, 1, 7}},
      {{2, 3, 40, 64}, {1, 4}, {1, 4}, {1, 1}, {0, 0, 0, 0}},
      {{2, 3, 40, 64}, {1, 3}, {1, 4}, {1, 1}, {0, 0, 0, 0}},
      {{2, 3, 40, 16}, {1, 4}, {1, 4}, {1, 1}, {0, 0, 3, 0}},
      {{2, 3, 40, 257}, {1, 4}, {1, 4}, {1, 1}, {0, 0, 0, 0}},
      {{2, 3, 8, 8}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {{2, 3, 31, 7}, {31, 7}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
      {{1, 1, 300, 2}, {5, 2}, {1, 2}, {3, 1}, {40, 0, 40, 0}},
      {{2, 3, 9, 11, 16}, {3, 3, 1}, {2, 2, 1}, {1, 1, 1}, {1, 1, 0, 1, 1, 0}},
      {{1, 2, 9, 11, 16}, {3, 2, 1}, {1, 1, 1}, {1, 2, 1}, {1, 0, 0, 2, 1, 0}},
      {{1, 2, 7, 300, 5}, {1, 2, 1}, {1, 2, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}},
      {{1, 1, 3, 40, 700}, {2, 4, 1}, {1, 3, 1}, {1, 1, 1}, {0, 1, 0, 1, 0, 0}},
      {{2, 3, 20, 20}, {13, 13}, {1, 1}, {1, 1}, {6, 6, 6, 6}},
      {{1, 2, 40, 33}, {5, 6}, {1, 2}, {1, 1}, {4, 0, 2, 5}},
      {{1, 2, 300, 2}, {7, 2}, {1, 1}, {1, 1}, {6, 1, 3, 0}},
      {{1, 1, 9, 2100}, {6, 9}, {1, 1}, {1, 2}, {5, 8, 5, 8}},
      {{1, 1, 5, 2100}, {4, 1040}, {1, 1}, {1, 1}, {3, 0, 3, 9}},
      {{1, 2, 40, 20, 5}, {13, 7, 1}, {1, 1, 1}, {1, 1, 1}, {6, 3, 0, 6, 3, 0}},
      {{1, 2, 5, 60, 7}, {1, 11, 1}, {1, 1, 1}, {1, 2, 1}, {0, 5, 0, 0, 9, 0}},
      {{1, 4, 7, 7, 16}, {7, 7, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}},
  };
  for (const Case &c : cases)
    for (bool isMean : {false, true}) {
      Attributes given;
      given.set("kernel_shape", c.kernel);
      given.set("strides", c.strides);
      given.set("dilations", c.dilations);
      given.set("pads", c.pads);
      SCOPED_TRACE(toString(f32(c.shape)) + (isMean ? " mean" : ""));
      OperationCall call(isMean ? "avg_pool" : "max_pool", {c.shape}, given, 7);
      ASSERT_FALSE(call.reference().empty());
      call.expectSame("cpu.pool", preparePool, 1e-5);
    }
}

TEST(PoolTest, RefusesOddCalls) {
  Attributes given;
  given.set("kernel_shape", std::vector<int64_t>{2, 2});
  auto refuses = [](Shape from, Shape to, const Attributes &attributes) {
    const TensorType x = f32(std::move(from)), y = f32(std::move(to));
    std::unique_ptr<PreparedKernel> kernel;
    return !preparePool({{&x, 1}, {&y, 1}, attributes}, Isa::Baseline, kernel)
                .isOk();
  };
  EXPECT_FALSE(refuses({1, 2, 4, 4}, {1, 2, 3, 3}, given));
  EXPECT_FALSE(refuses({1, 2, 4, 0}, {1, 2, 3, 0}, given)); // Nothing to do.
  EXPECT_FALSE(refuses({1, 2, 0, 4}, {1, 2, 0, 3}, given));
  EXPECT_FALSE(refuses({0, 2, 4, 4}, {0, 2, 3, 3}, given));
  EXPECT_TRUE(refuses({1, 2, 4, 4}, {1, 3, 3, 3}, given));
  EXPECT_TRUE(refuses({1, 2, 4, 4}, {2, 2, 3, 3}, given));
  EXPECT_TRUE(refuses({1, 2, 4}, {1, 2, 3}, given));
  EXPECT_TRUE(refuses({1, 2, 4, 4, 4}, {1, 2, 3, 3, 3}, given));
  EXPECT_TRUE(refuses({1, 2, 4, 4}, {1, 2, 3}, given));
  Attributes far = given;
  far.set("strides", std::vector<int64_t>{1, (int64_t(1) << 31) - 1});
  EXPECT_TRUE(refuses({1, 1, 4, 4}, {1, 1, 1, int64_t(1) << 40}, far));
  Attributes unknown = given;
  unknown.set("ceil_mode", int64_t(1));
  EXPECT_TRUE(refuses({1, 2, 4, 4}, {1, 2, 3, 3}, unknown));
}

TEST(SoftmaxTest, Rows) {
  for (const char *operation : {"softmax", "log_softmax"})
    for (int64_t length :
         {1, 2, 7, 15, 16, 17, 31, 32, 33, 64, 100, 1000, 5000})
      for (int64_t rows : {1, 3, 50}) {
        SCOPED_TRACE(std::string(operation) + " " + std::to_string(length));
        OperationCall call(operation, {{rows, length}}, {}, length);
        for (int64_t i = 0; i < rows * length; ++i)
          call.values[0].data()[i] *= 20;
        call.expectSame("cpu.softmax", prepareSoftmax, 2e-6);
        if (HasFatalFailure())
          return;
      }
}

TEST(SoftmaxTest, NumbersThatAreNotFinite) {
  for (const char *operation : {"softmax", "log_softmax"})
    for (float value : {kInfinity, -kInfinity,
                        std::numeric_limits<float>::quiet_NaN(), 1e30f, -1e30f})
      for (int64_t place : {0, 5, 16, 39}) {
        OperationCall call(operation, {{3, 40}}, {}, 5);
        call.values[0].data()[40 + place] = value;
        // All of a row.
        std::fill_n(call.values[0].data() + 80, 40, value);
        SCOPED_TRACE(std::string(operation) + " " + std::to_string(value));
        call.expectSame("cpu.softmax", prepareSoftmax, 2e-6);
      }
}

TEST(SoftmaxTest, EachDimension) {
  const Shape shapes[] = {
      {3, 4}, {2, 5, 17}, {2, 16, 3, 50}, {1, 9, 700}, {70}};
  for (const char *operation : {"softmax", "log_softmax"})
    for (const Shape &shape : shapes)
      for (int64_t axis = -int64_t(shape.size()); axis < int64_t(shape.size());
           ++axis) {
        SCOPED_TRACE(std::string(operation) + " " + std::to_string(axis));
        Attributes given;
        given.set("axis", axis);
        OperationCall call(operation, {shape}, given, shape.back());
        float *x = call.values[0].data();
        x[3] = std::numeric_limits<float>::quiet_NaN();
        x[call.values[0].size() - 1] = -kInfinity;
        call.expectSame("cpu.softmax", prepareSoftmax, 2e-6);
        if (HasFatalFailure())
          return;
      }
  const TensorType x = f32({3, 4});
  for (int64_t axis : {-2, 2}) {
    Attributes attributes;
    attributes.set("axis", axis);
    std::unique_ptr<PreparedKernel> kernel;
    EXPECT_FALSE(
        prepareSoftmax({{&x, 1}, {&x, 1}, attributes}, Isa::Baseline, kernel)
            .isOk());
  }
}

namespace {

/// A reduction along `axes`, of all elements where that is nothing.
struct ReduceCall : OperationCall {
  ReduceCall(const char *operation, Shape shape,
             std::optional<std::vector<int64_t>> along, bool keepDims,
             uint64_t seed)
      : OperationCall(operation, {std::move(shape)}, keeping(keepDims), seed),
        axes(along.value_or(std::vector<int64_t>())) {
    if (!along)
      return;
    const auto count = static_cast<int64_t>(axes.size());
    addInput(f32({2 * count}), random);
    inputs.back() = {DLC_I64, {count}};
    std::memcpy(values.back().data(), axes.data(), count * sizeof(int64_t));
    constants = {nullptr, axes.data()};
  }

  static Attributes keeping(bool keepDims) {
    Attributes attributes;
    attributes.set("keepdims", int64_t(keepDims));
    return attributes;
  }

  std::vector<int64_t> axes;
};

constexpr const char *reductions[] = {"reduce_sum", "reduce_mean", "reduce_max",
                                      "reduce_min"};

} // namespace

TEST(ReduceTest, RandomAxes) {
  Random random(9);
  int computed = 0;
  for (uint64_t round = 0; round < 400; ++round) {
    const int64_t rank = 1 + random.below(5);
    Shape shape;
    for (int64_t d = 0; d < rank; ++d)
      shape.push_back(1 + random.below(random.below(3) ? 9 : 70));
    std::optional<std::vector<int64_t>> axes;
    if (random.below(5)) {
      axes.emplace();
      const int64_t first = random.below(rank);
      const int64_t last = first + 1 + random.below(rank - first);
      for (int64_t d = first; d < last; ++d)
        axes->push_back(random.below(2) ? d : d - rank);
    }
    SCOPED_TRACE("round " + std::to_string(round));
    ReduceCall call(reductions[round % 4], shape, axes, random.below(2), round);
    if (round % 3 == 0) {
      constexpr float odd[] = {std::numeric_limits<float>::quiet_NaN(),
                               kInfinity, -0.0f};
      for (float value : odd)
        call.values[0].data()[random.below(call.values[0].size())] = value;
    }
    call.expectSame("cpu.reduce", prepareReduce, 1e-5);
    if (HasFatalFailure())
      return;
    ++computed;
  }
  EXPECT_EQ(computed, 400);
}

TEST(ReduceTest, LongRowsAndWideOnes) {
  for (const char *operation : reductions) {
    SCOPED_TRACE(operation);
    ReduceCall(operation, {300001}, std::nullopt, false, 1)
        .expectSame("cpu.reduce", prepareReduce, 1e-5);
    ReduceCall(operation, {3, 20000, 17}, {{1}}, true, 2)
        .expectSame("cpu.reduce", prepareReduce, 1e-5);
    ReduceCall(operation, {2, 3, 5000}, {{1}}, true, 3)
        .expectSame("cpu.reduce", prepareReduce, 1e-5);
    ReduceCall(operation, {1, 4, 20, 30, 16}, {{2, 3}}, true, 4)
        .expectSame("cpu.reduce", prepareReduce, 1e-5);
  }
}

// Every term counts, and an error of one does not grow with their number.
TEST(ReduceTest, SumsOfManyEqualTerms) {
  for (Shape shape : {Shape{1 << 24}, Shape{1 << 22, 4}}) {
    ReduceCall call("reduce_sum", shape, {{0}}, false, 1);
    std::fill_n(call.values[0].data(), call.values[0].size(), 0.1f);
    call.expectSame("cpu.reduce", prepareReduce, 2e-6);
  }
}

TEST(ReduceTest, RefusesOddCalls) {
  auto supports = [](ReduceCall call, bool isConstant = true) {
    if (call.reference().empty())
      return false;
    if (!isConstant)
      call.constants.clear();
    std::string why;
    return call.readCall(*lookupLibraryEntry("cpu.reduce"), why);
  };
  EXPECT_TRUE(supports({"reduce_sum", {4, 5, 6}, {{1, 2}}, true, 1}));
  EXPECT_TRUE(supports({"reduce_sum", {4, 1, 6}, {{0, 2}}, true, 1}));
  EXPECT_FALSE(supports({"reduce_sum", {4, 5, 6}, {{0, 2}}, true, 1}));
  EXPECT_FALSE(supports({"reduce_sum", {4, 5, 6}, {{1}}, true, 1}, false))
      << "axes that are found while running";
  auto refuses = [](const char *operation, std::vector<int64_t> axes,
                    Shape to) {
    const TensorType x = f32({4, 5, 6}), y = f32(std::move(to));
    Attributes attributes;
    attributes.set("operation", std::string(operation));
    attributes.set("axes", std::move(axes));
    std::unique_ptr<PreparedKernel> kernel;
    return !prepareReduce({{&x, 1}, {&y, 1}, attributes}, Isa::Baseline, kernel)
                .isOk();
  };
  EXPECT_FALSE(refuses("reduce_max", {1}, {4, 6}));
  EXPECT_TRUE(refuses("reduce_prod", {1}, {4, 6}));
  EXPECT_TRUE(refuses("reduce_max", {1, 1}, {4, 6}));
  EXPECT_TRUE(refuses("reduce_max", {3}, {4, 6}));
  EXPECT_TRUE(refuses("reduce_max", {-1}, {4, 5}));
  EXPECT_TRUE(refuses("reduce_max", {1}, {4, 5}));
}

namespace {

/// A norm of rows from `axis` on, or of channels in groups.
OperationCall normOf(const char *operation, Shape shape, int64_t axisOrGroups,
                     bool hasBias, uint64_t seed) {
  const bool isOfGroups = operation == std::string("group_norm");
  const Shape ofRows(shape.begin() + (isOfGroups ? 1 : axisOrGroups),
                     isOfGroups ? shape.begin() + 2 : shape.end());
  std::vector<Shape> shapes = {shape, ofRows};
  if (hasBias)
    shapes.push_back(ofRows);
  Attributes given;
  given.set(isOfGroups ? "num_groups" : "axis", axisOrGroups);
  given.set("epsilon", seed % 2 ? 1e-5 : 1e-12);
  return OperationCall(operation, std::move(shapes), given, seed);
}

} // namespace

TEST(NormTest, RandomRows) {
  constexpr const char *norms[] = {"layer_norm", "rms_norm", "group_norm"};
  Random random(5);
  for (uint64_t round = 0; round < 300; ++round) {
    const char *operation = norms[round % 3];
    const bool isOfGroups = round % 3 == 2;
    const int64_t rank = 2 + random.below(3);
    Shape shape;
    for (int64_t d = 0; d < rank; ++d)
      shape.push_back(1 + random.below(random.below(3) ? 9 : 70));
    const int64_t groups = 1 + random.below(4);
    if (isOfGroups)
      shape[1] = groups * (1 + random.below(4));
    SCOPED_TRACE("round " + std::to_string(round));
    OperationCall call =
        normOf(operation, shape, isOfGroups ? groups : random.below(rank),
               isOfGroups || (round % 3 == 0 && random.below(2)), round);
    float *x = call.values[0].data();
    const int64_t count = call.values[0].size();
    if (round % 5 == 0) {
      constexpr float odd[] = {std::numeric_limits<float>::quiet_NaN(),
                               kInfinity, -kInfinity};
      x[random.below(count)] = odd[round / 5 % 3];
    }
    if (round % 5 == 1)
      std::fill_n(x, count, 0.3f);
    call.expectSame("cpu.norm", prepareNorm, 1e-5);
    if (HasFatalFailure())
      return;
  }
}

// Rows that are shared in parts.
TEST(NormTest, LongRows) {
  for (bool hasBias : {false, true})
    normOf("layer_norm", {3, 40001}, 1, hasBias, 1)
        .expectSame("cpu.norm", prepareNorm, 1e-5);
  normOf("rms_norm", {2, 5, 16385}, 2, false, 2)
      .expectSame("cpu.norm", prepareNorm, 1e-5);
  for (int64_t groups : {1, 2, 6, 12})
    normOf("group_norm", {2, 12, 70, 67}, groups, true, 3)
        .expectSame("cpu.norm", prepareNorm, 1e-5);
}

// Elements that differ by little from a large mean, and some whose squares are
// no floats, or nothing.
TEST(NormTest, MeansAndScales) {
  for (const char *operation : {"layer_norm", "rms_norm"})
    for (int64_t length : {100, 50000})
      for (auto [mean, scale] : {std::pair{1000.0f, 0.01f},
                                 {-3e4f, 0.5f},
                                 {0.0f, 1e25f},
                                 {1e30f, 1e30f},
                                 {0.0f, 1e-25f},
                                 {0.0f, 1e-39f},
                                 {1.5e38f, 1.5e38f},
                                 {-1e38f, 1e20f}}) {
        OperationCall call =
            normOf(operation, {2, length}, 1, operation[0] == 'l', 3);
        call.given.set("epsilon", scale < 1e-20f ? 0.0 : 1e-12);
        for (int64_t i = 0; i < call.values[0].size(); ++i)
          call.values[0].data()[i] = mean + scale * call.values[0].data()[i];
        SCOPED_TRACE(std::to_string(mean) + " " + std::to_string(scale));
        call.expectSame("cpu.norm", prepareNorm, 1e-5);
      }
}

TEST(NormTest, RefusesOddCalls) {
  auto refuses = [](const char *operation, int64_t axis, Shape scale,
                    Shape to) {
    const TensorType inputs[] = {f32({4, 6, 5}), f32(std::move(scale))};
    const TensorType y = f32(std::move(to));
    Attributes attributes;
    attributes.set("operation", std::string(operation));
    attributes.set("axis", axis);
    attributes.set("num_groups", axis);
    std::unique_ptr<PreparedKernel> kernel;
    return !prepareNorm({inputs, {&y, 1}, attributes}, Isa::Baseline, kernel)
                .isOk();
  };
  EXPECT_FALSE(refuses("layer_norm", 1, {6, 5}, {4, 6, 5}));
  EXPECT_FALSE(refuses("rms_norm", -1, {1, 1, 5}, {4, 6, 5}));
  EXPECT_FALSE(refuses("group_norm", 3, {6}, {4, 6, 5}));
  EXPECT_TRUE(refuses("batch_norm", 1, {6, 5}, {4, 6, 5}));
  EXPECT_TRUE(refuses("layer_norm", 3, {5}, {4, 6, 5}));
  EXPECT_TRUE(refuses("layer_norm", 1, {5}, {4, 6, 5}));
  EXPECT_TRUE(refuses("layer_norm", 2, {1}, {4, 6, 5}));
  EXPECT_TRUE(refuses("layer_norm", 2, {5}, {4, 5, 6}));
  EXPECT_TRUE(refuses("group_norm", 4, {6}, {4, 6, 5}));
  EXPECT_TRUE(refuses("group_norm", 0, {6}, {4, 6, 5}));
  EXPECT_TRUE(refuses("group_norm", 3, {5}, {4, 6, 5}));
}
