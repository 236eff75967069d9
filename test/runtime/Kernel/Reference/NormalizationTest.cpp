// SPDX-License-Identifier: Apache-2.0

#include "TestTensor.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dlc::rt;
using namespace dlc::rt::ref;
using namespace dlc::rt::ref::test;

static Attributes axis(int64_t value) { return attributes({{"axis", value}}); }

TEST(Softmax, AlongEachAxis) {
  // exp(log k) = k, so the results are k / sum.
  auto logs = [](std::vector<double> values) {
    for (double &value : values)
      value = std::log(value);
    return values;
  };
  for (DataType type : {DLC_F16, DLC_BF16, DLC_F32, DLC_F64}) {
    SCOPED_TRACE(std::string(nameOf(type)));
    double tolerance = type == DLC_F16 ? 1e-3 : type == DLC_BF16 ? 1e-2 : 1e-6;
    TestTensor x = tensor(type, {2, 2}, logs({1, 3, 3, 1}));
    expectResult("softmax", {x}, {}, tensor(type, {2, 2}, {.25, .75, .75, .25}),
                 tolerance);
    expectResult("log_softmax", {x}, axis(0),
                 tensor(type, {2, 2}, logs({.25, .75, .75, .25})), tolerance);
  }
  TestTensor y = f32({2, 3}, logs({1, 2, 1, 3, 2, 3}));
  expectResult("softmax", {y}, axis(0),
               f32({2, 3}, {.25, .5, .25, .75, .5, .75}), 1e-6);
}

TEST(Softmax, LargeAndSpecialValues) {
  expectResult("softmax", {f32({3}, {1000, 1000, -kInf})}, {},
               f32({3}, {.5, .5, 0}));
  expectResult("log_softmax", {f32({2}, {1000, 0})}, {}, f32({2}, {0, -1000}));
  expectResult("softmax", {f32({2}, {kNaN, 0})}, {}, f32({2}, {kNaN, kNaN}));
  expectResult("hardmax", {f32({2, 3}, {1, 5, 5, -kInf, -kInf, -kInf})}, {},
               f32({2, 3}, {0, 1, 0, 1, 0, 0}));
  // As for arg_max, NaN comes before all numbers.
  expectResult("hardmax", {f32({2, 3}, {1, kNaN, 5, 7, kNaN, kNaN})}, {},
               f32({2, 3}, {0, 1, 0, 0, 1, 0}));
  expectResult("hardmax", {f32({2, 3}, {1, kNaN, 5, 7, kNaN, kNaN})}, axis(0),
               f32({2, 3}, {0, 1, 0, 1, 0, 1}));
  expectResult("softmax", {f32({2, 0}, {})}, {}, f32({2, 0}, {}));
  expectFailure("softmax", {f32({}, {1})}, {},
                "expected an axis in [0, 0), got -1");
  expectFailure("softmax", {i32({1}, {1})}, {}, "expected a float type");
}

TEST(BatchNorm, PerChannel) {
  TestTensor x = f32({1, 2, 2}, {1, 3, 10, 30});
  std::vector<TestTensor> inputs = {x, f32({2}, {2, 1}), f32({2}, {0, 5}),
                                    f32({2}, {1, 10}), f32({2}, {4, 16})};
  expectResult("batch_norm", inputs, attributes({{"epsilon", 0.0}}),
               f32({1, 2, 2}, {0, 2, 5, 10}));
  inputs[3] = tensor(DLC_F64, {2}, {1, 10});
  expectResult("batch_norm", inputs, attributes({{"epsilon", 0.0}}),
               f32({1, 2, 2}, {0, 2, 5, 10}));
  inputs[1] = f32({3}, {1, 1, 1});
  expectFailure("batch_norm", inputs, {},
                "operand 1: expected 2 elements, one for each channel, got 3");
}

TEST(LayerNorm, TrailingDimensions) {
  TestTensor x = f32({2, 2}, {-1, 1, 3, 7});
  Attributes exact = attributes({{"epsilon", 0.0}});
  expectResult("layer_norm", {x, f32({2}, {1, 10})}, exact,
               f32({2, 2}, {-1, 10, -1, 10}));
  expectResult("layer_norm", {x, f32({2}, {1, 10}), f32({1}, {.5})}, exact,
               f32({2, 2}, {-.5, 10.5, -.5, 10.5}));
  TestTensor y = f32({1, 2, 2}, {1, 1, -1, -1});
  exact.set("axis", int64_t(1));
  expectResult("layer_norm", {y, f32({2, 2}, {1, 2, 3, 4})}, exact,
               f32({1, 2, 2}, {1, 2, -3, -4}));
  expectFailure("layer_norm", {x, f32({3}, {1, 1, 1})}, {},
                "expected shapes that broadcast");
  expectFailure("layer_norm", {f32({1, 1}, {1}), f32({3}, {1, 1, 1})}, {},
                "operand 1: expected a shape that broadcasts to 1x1xf32");
}

TEST(LayerNorm, LargeMeanKeepsPrecision) {
  TestTensor x = f32({2}, {4096, 4098});
  expectResult("layer_norm", {x, f32({2}, {1, 1})},
               attributes({{"epsilon", 0.0}}), f32({2}, {-1, 1}));
}

TEST(RmsNorm, DividesByRootMeanSquare) {
  expectResult("rms_norm", {f32({1, 2}, {1, 7}), f32({2}, {1, 2})},
               attributes({{"epsilon", 0.0}}), f32({1, 2}, {.2, 2.8}), 1e-6);
}

TEST(GroupNorm, GroupsOfChannels) {
  TestTensor x = f32({1, 4, 1}, {1, 3, 10, 30});
  Attributes two = attributes({{"num_groups", int64_t(2)}, {"epsilon", 0.0}});
  expectResult("group_norm",
               {x, f32({4}, {1, 1, 2, 2}), f32({4}, {0, 0, 0, 1})}, two,
               f32({1, 4, 1}, {-1, 1, -2, 3}));
  two.set("num_groups", int64_t(3));
  expectFailure("group_norm",
                {x, f32({4}, {1, 1, 2, 2}), f32({4}, {0, 0, 0, 1})}, two,
                "expected channels in 3 equal groups, got 4 channels");
  expectFailure("group_norm",
                {x, f32({4}, {1, 1, 2, 2}), f32({4}, {0, 0, 0, 1})}, {},
                "expected num_groups of at least 1, got 0");
}

TEST(Lrn, WindowOfChannels) {
  TestTensor x = f32({1, 4, 1}, {1, 2, 3, 4});
  Attributes attrs = attributes(
      {{"size", int64_t(2)}, {"alpha", 2.0}, {"beta", 1.0}, {"bias", 0.0}});
  // A window of 2 is the channel and the next one.
  expectResult("lrn", {x}, attrs,
               f32({1, 4, 1}, {1. / 5, 2. / 13, 3. / 25, 4. / 16}), 1e-6);
  attrs.set("size", INT64_MAX);
  attrs.set("bias", 1.0);
  expectResult("lrn", {x}, attrs, x);
  attrs.set("size", int64_t(0));
  expectFailure("lrn", {x}, attrs, "expected a size of at least 1, got 0");
}

TEST(Normalization, InfersUnknownShapes) {
  Operand x = typed(DLC_F16, {-1, 4, -1});
  Operand channels = typed(DLC_F32, {4});
  EXPECT_EQ(inferred("softmax", {x}), "?x4x?xf16");
  EXPECT_EQ(inferred("batch_norm",
                     {x, channels, channels, channels, unranked(DLC_F32)}),
            "?x4x?xf16");
  EXPECT_EQ(inferred("layer_norm", {unranked(DLC_F32), channels}), "*xf32");
}
