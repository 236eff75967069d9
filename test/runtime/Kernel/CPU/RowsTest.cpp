// SPDX-License-Identifier: Apache-2.0
//
// cpu.pool and cpu.softmax against the Reference kernels of the operations that
// they compute, of which the entries make their calls.

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
  for (uint64_t round = 0; round < 300; ++round) {
    const int64_t rank = 1 + random.below(2);
    Shape shape = {1 + random.below(2), 1 + random.below(3)};
    std::vector<int64_t> kernel, strides, dilations, pads;
    for (int64_t d = 0; d < rank; ++d) {
      shape.push_back(1 + random.below(d + 1 == rank ? 70 : 12));
      kernel.push_back(1 + random.below(4));
      strides.push_back(1 + random.below(3));
      dilations.push_back(1 + random.below(2));
    }
    for (int64_t d = 0; d < 2 * rank; ++d)
      pads.push_back(random.below(3));
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
  EXPECT_GT(computed, 200);
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
