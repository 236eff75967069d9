// SPDX-License-Identifier: Apache-2.0

#include "TestTensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace dlc::rt;
using namespace dlc::rt::ref;
using namespace dlc::rt::ref::test;

using Ints = std::vector<int64_t>;

/// Small integers, different at every element: sums of products are exact.
/// Those of an unsigned type are 0 to 10, others -5 to 5.
static TestTensor pattern(DataType type, Ints shape, int64_t seed) {
  std::vector<double> values(*elementCount(shape));
  double least = type == DLC_U8 ? 0 : -5;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i * 7 + seed * 5) % 11) + least;
  return tensor(type, std::move(shape), values);
}

static double dot(const TestTensor &a, const TestTensor &b) {
  std::vector<double> x = a.values(), y = b.values();
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

TEST(Conv, OneDimension) {
  TestTensor x = f32({1, 1, 5}, {1, 2, 3, 4, 5});
  TestTensor w = f32({1, 1, 3}, {1, 0, -1});
  expectResult("conv", {x, w}, {}, f32({1, 1, 3}, {-2, -2, -2}));
  expectResult("conv", {x, w}, attributes({{"pads", Ints{1, 0}}}),
               f32({1, 1, 4}, {-2, -2, -2, -2}));
  expectResult("conv", {x, w}, attributes({{"strides", Ints{2}}}),
               f32({1, 1, 2}, {-2, -2}));
  expectResult("conv", {x, w}, attributes({{"dilations", Ints{2}}}),
               f32({1, 1, 1}, {-4}));
  expectResult("conv", {x, w, f32({1}, {10})}, {}, f32({1, 1, 3}, {8, 8, 8}));
}

TEST(Conv, AutomaticPadding) {
  TestTensor x = f32({1, 1, 4}, {1, 2, 3, 4}), w = f32({1, 1, 2}, {1, 10});
  auto pad = [](const char *name) { return attributes({{"auto_pad", name}}); };
  expectResult("conv", {x, w}, pad("SAME_UPPER"),
               f32({1, 1, 4}, {21, 32, 43, 4}));
  expectResult("conv", {x, w}, pad("SAME_LOWER"),
               f32({1, 1, 4}, {10, 21, 32, 43}));
  expectResult("conv", {x, w}, pad("VALID"), f32({1, 1, 3}, {21, 32, 43}));
  expectFailure("conv", {x, w}, pad("same"),
                "attribute auto_pad: expected NOTSET, VALID, SAME_UPPER or "
                "SAME_LOWER, got \"same\"");
}

TEST(Conv, TwoDimensionsAndGroups) {
  for (DataType type : {DLC_F16, DLC_BF16, DLC_F32, DLC_F64, DLC_I32}) {
    SCOPED_TRACE(std::string(nameOf(type)));
    TestTensor x = tensor(type, {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    TestTensor w = tensor(type, {2, 1, 2, 2}, {1, 1, 1, 1, 1, 0, 0, -1});
    expectResult("conv", {x, w}, attributes({{"group", int64_t(2)}}),
                 tensor(type, {1, 2, 1, 1}, {10, -3}));
    TestTensor full = tensor(type, {1, 2, 1, 1}, {1, 10});
    expectResult("conv", {x, full}, {},
                 tensor(type, {1, 1, 2, 2}, {51, 62, 73, 84}));
  }
}

TEST(Conv, RowsLongerThanABlock) {
  std::vector<double> x(300), y(149);
  std::iota(x.begin(), x.end(), 0);
  for (int i = 0; i < 149; ++i)
    y[i] = 2 * i + (2 * i + 2);
  expectResult("conv", {f32({1, 1, 300}, x), f32({1, 1, 3}, {1, 0, 1})},
               attributes({{"strides", Ints{2}}}), f32({1, 1, 149}, y));
}

TEST(Conv, ThreeDimensions) {
  TestTensor x = f32({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  TestTensor w = f32({1, 1, 2, 1, 2}, {1, 2, 3, 4});
  expectResult("conv", {x, w}, {},
               f32({1, 1, 1, 2, 1}, {1 + 4 + 15 + 24, 3 + 8 + 21 + 32}));
}

/// `x` with its channels in blocks of `block`: N C D... as N C/b D... b, with
/// `beyond` behind the last channel.
static TestTensor blocked(const TestTensor &x, int64_t block,
                          double beyond = 0) {
  std::vector<double> from = x.values(), to;
  Ints shape = x.shape;
  const int64_t channels = shape[1];
  const int64_t size = elementCount(std::span(shape).subspan(2)).value();
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < channels; c += block)
      for (int64_t i = 0; i < size; ++i)
        for (int64_t k = 0; k < block; ++k)
          to.push_back(c + k < channels
                           ? from[(n * channels + c + k) * size + i]
                           : beyond);
  shape[1] = (channels + block - 1) / block;
  shape.push_back(block);
  return tensor(x.type, std::move(shape), to);
}

TEST(Conv, ChannelsInBlocks) {
  struct Case {
    Ints x, w;
    int64_t group, inputBlock, outputBlock;
  };
  for (const Case &c : {Case{{2, 4, 5}, {6, 4, 3}, 1, 2, 3},
                        Case{{2, 4, 5, 4}, {8, 2, 3, 2}, 2, 4, 4},
                        Case{{2, 5, 5, 4}, {7, 5, 3, 2}, 1, 4, 4},
                        Case{{2, 6, 5, 4}, {10, 3, 3, 2}, 2, 4, 8},
                        Case{{2, 7, 4, 4}, {7, 1, 2, 2}, 7, 16, 4},
                        Case{{1, 8, 3, 3}, {8, 1, 2, 2}, 8, 4, 2},
                        Case{{1, 4, 2, 3, 2}, {2, 4, 2, 1, 2}, 1, 1, 1}}) {
    TestTensor x = pattern(DLC_F32, c.x, 1), w = pattern(DLC_F32, c.w, 2);
    TestTensor bias = pattern(DLC_F32, {c.w[0]}, 3);
    Ints strides(c.w.size() - 2, 1), pads(2 * strides.size(), 0);
    strides[0] = 2, pads[0] = 1;
    auto plain = attributes(
        {{"group", c.group}, {"strides", strides}, {"pads", pads}});
    auto intoBlocks = attributes({{"group", c.group},
                                  {"strides", strides},
                                  {"pads", pads},
                                  {"channel_block", c.outputBlock}});
    TestTensor xs = blocked(x, c.inputBlock, NAN);
    Outcome outcome = run("conv", {x, w, bias}, plain);
    ASSERT_TRUE(outcome.isOk()) << outcome.error;
    TestTensor y = outcome.results[0];
    expectResult("conv", {xs, w, bias}, plain, y);
    expectResult("conv", {x, w, bias}, intoBlocks, blocked(y, c.outputBlock));
    expectResult("conv", {xs, w, bias}, intoBlocks, blocked(y, c.outputBlock));

    x = pattern(DLC_U8, c.x, 1), w = pattern(DLC_I8, c.w, 2);
    xs = blocked(x, c.inputBlock, 99);
    TestTensor ofX = tensor(DLC_U8, {}, {3}),
               ofW = pattern(DLC_I8, {c.w[0]}, 3);
    outcome = run("integer_conv", {x, w, ofX, ofW}, plain);
    ASSERT_TRUE(outcome.isOk()) << outcome.error;
    y = outcome.results[0];
    expectResult("integer_conv", {xs, w, ofX, ofW}, plain, y);
    expectResult("integer_conv", {x, w, ofX, ofW}, intoBlocks,
                 blocked(y, c.outputBlock));
    expectResult("integer_conv", {xs, w, ofX, ofW}, intoBlocks,
                 blocked(y, c.outputBlock));
  }
}

TEST(Conv, InfersBlockedShapes) {
  Operand w = typed(DLC_F32, {32, 16, 3, 3});
  auto by16 = attributes({{"channel_block", int64_t(16)}});
  Operand x = typed(DLC_F32, {-1, 1, 8, -1, 16});
  EXPECT_EQ(inferred("conv", {x, w}), "?x32x6x?xf32");
  EXPECT_EQ(inferred("conv", {x, w}, by16), "?x2x6x?x16xf32");
  Operand few = typed(DLC_F32, {24, 10, 3, 3});
  EXPECT_EQ(inferred("conv", {x, few}, by16), "?x2x6x?x16xf32");
  EXPECT_EQ(inferred("conv", {typed(DLC_F32, {-1, 2, 8, 8, 16}), few}, by16),
            "error: expected weights of rank 5, or of 32 channels / 1 groups "
            "for blocks of 16, got rank 4 and 10 channels");
  Operand open = typed(DLC_F32, {1, -1, 8, 8, -1});
  EXPECT_EQ(inferred("conv", {open, w}), "1x32x6x6xf32");
  Operand many = typed(DLC_F32, {-1, 16, 3, 3});
  EXPECT_EQ(inferred("conv", {x, many}, by16), "?x?x6x?x16xf32");
  EXPECT_EQ(inferred("conv", {unranked(DLC_F32), w}, by16), "?x2x?x?x16xf32");
}

TEST(Conv, EmptyBatchAndNoChannels) {
  expectResult("conv", {f32({0, 1, 3}, {}), f32({1, 1, 2}, {1, 1})}, {},
               f32({0, 1, 2}, {}));
  expectResult("conv", {f32({1, 0, 3}, {}), f32({1, 0, 2}, {}), f32({1}, {3})},
               {}, f32({1, 1, 2}, {3, 3}));
}

TEST(Conv, InfersUnknownShapes) {
  Operand w = typed(DLC_F32, {8, 3, 3, 3});
  EXPECT_EQ(inferred("conv", {typed(DLC_F32, {-1, 3, -1, 32}), w}),
            "?x8x?x30xf32");
  EXPECT_EQ(inferred("conv", {unranked(DLC_F32), w}), "?x8x?x?xf32");
  EXPECT_EQ(inferred("conv", {unranked(DLC_F32), unranked(DLC_F32)}), "*xf32");
}

TEST(Conv, BadCalls) {
  auto infer = [](Ints x, Ints w, const Attributes &attributes = {}) {
    return inferred("conv", {typed(DLC_F32, x), typed(DLC_F32, w)}, attributes);
  };
  EXPECT_EQ(infer({1, 3, 8}, {4, 2, 3}),
            "error: expected weights of 3 channels / 1 groups, got 2");
  EXPECT_EQ(infer({1, 4, 8}, {3, 2, 3}, attributes({{"group", int64_t(2)}})),
            "error: expected output channels in 2 equal groups, got 3");
  EXPECT_EQ(infer({1, 3, 8}, {4, 3, 3, 3}),
            "error: operand 1: expected rank 3, got 4");
  EXPECT_EQ(infer({1, 3}, {4, 3}),
            "error: operand 0: expected rank at least 3, got 2");
  EXPECT_EQ(infer({1, 3, 2}, {4, 3, 3}),
            "error: expected a window of at most 2, the padded extent of "
            "spatial dim 0, got 3");
  EXPECT_EQ(infer({1, 3, 2}, {4, 3, 0}),
            "error: expected a kernel of at least 1 in spatial dim 0, got 0");
  EXPECT_EQ(infer({1, 3, 8}, {4, 3, 3}, attributes({{"strides", Ints{0}}})),
            "error: attribute strides: expected values in [1, 2^31), got 0");
  EXPECT_EQ(infer({1, 3, 8}, {4, 3, 3}, attributes({{"pads", Ints{1}}})),
            "error: attribute pads: expected 2 values, got 1");
  EXPECT_EQ(infer({1, 3, 8}, {4, 3, 3}, attributes({{"group", int64_t(0)}})),
            "error: expected a group count in [1, 2^31), got 0");
  EXPECT_EQ(infer({1, 3, 8}, {4, 3, -1},
                  attributes({{"dilations", Ints{INT64_MAX}}})),
            "error: attribute dilations: expected values in [1, 2^31), got "
            "9223372036854775807");
}

TEST(ConvTranspose, OneDimension) {
  TestTensor x = f32({1, 1, 2}, {1, 2}), w = f32({1, 1, 3}, {1, 10, 100});
  expectResult("conv_transpose", {x, w}, {}, f32({1, 1, 4}, {1, 12, 120, 200}));
  expectResult("conv_transpose", {x, w}, attributes({{"strides", Ints{2}}}),
               f32({1, 1, 5}, {1, 10, 102, 20, 200}));
  expectResult("conv_transpose", {x, w, f32({1}, {1000})},
               attributes({{"strides", Ints{2}}, {"output_padding", Ints{1}}}),
               f32({1, 1, 6}, {1001, 1010, 1102, 1020, 1200, 1000}));
  expectResult("conv_transpose", {x, w}, attributes({{"pads", Ints{1, 1}}}),
               f32({1, 1, 2}, {12, 120}));
  expectResult(
      "conv_transpose", {x, w},
      attributes({{"output_shape", Ints{3}}, {"auto_pad", "SAME_UPPER"}}),
      f32({1, 1, 3}, {1, 12, 120}));
  expectResult("conv_transpose", {x, w},
               attributes({{"output_shape", Ints{3}}}),
               f32({1, 1, 3}, {12, 120, 200}));
  expectFailure("conv_transpose", {x, w}, attributes({{"pads", Ints{3, 2}}}),
                "expected pads of at most 4 in spatial dim 0, got 5");
}

/// <conv(x), y> = <x, transpose(y)> for every stride, padding and group.
TEST(ConvTranspose, IsTheAdjointOfConv) {
  struct Case {
    Ints strides, pads, dilations;
    int64_t group;
  };
  const Case cases[] = {
      {{1, 1}, {0, 0, 0, 0}, {1, 1}, 1}, {{2, 1}, {1, 0, 1, 2}, {1, 2}, 1},
      {{1, 2}, {0, 1, 0, 1}, {2, 1}, 2}, {{2, 2}, {1, 1, 1, 1}, {1, 1}, 2},
      {{3, 1}, {2, 0, 0, 1}, {1, 1}, 1},
  };
  for (const Case &c : cases) {
    Attributes attrs = attributes({{"strides", c.strides},
                                   {"pads", c.pads},
                                   {"dilations", c.dilations},
                                   {"group", c.group}});
    TestTensor x = pattern(DLC_F32, {2, 4, 7, 7}, 1);
    TestTensor w = pattern(DLC_F32, {6, 4 / c.group, 3, 2}, 2);
    Outcome forward = run("conv", {x, w}, attrs);
    ASSERT_EQ(forward.error, "");
    TestTensor y = pattern(DLC_F32, forward.results[0].shape, 3);
    attrs.set("output_shape", Ints());
    // What the strides cut off at the end comes back as output padding.
    Ints rest;
    for (int d = 0; d < 2; ++d) {
      int64_t kernel = (w.shape[d + 2] - 1) * c.dilations[d] + 1;
      rest.push_back((7 + c.pads[d] + c.pads[d + 2] - kernel) % c.strides[d]);
    }
    attrs.set("output_padding", rest);
    Outcome backward = run("conv_transpose", {y, w}, attrs);
    ASSERT_EQ(backward.error, "");
    ASSERT_EQ(backward.results[0].shape, x.shape);
    EXPECT_EQ(dot(forward.results[0], y), dot(x, backward.results[0]));
  }
}

TEST(DeformConv, WithoutOffsetsIsConv) {
  Attributes attrs = attributes({{"strides", Ints{2, 1}},
                                 {"pads", Ints{1, 0, 1, 2}},
                                 {"group", int64_t(2)}});
  TestTensor x = pattern(DLC_F32, {1, 4, 5, 5}, 1);
  TestTensor w = pattern(DLC_F32, {2, 2, 3, 2}, 2);
  TestTensor bias = f32({2}, {1, -2});
  Outcome plain = run("conv", {x, w, bias}, attrs);
  ASSERT_EQ(plain.error, "");
  TestTensor y = plain.results[0];
  Ints offsetShape = {1, 2 * 12, y.shape[2], y.shape[3]};
  attrs.set("offset_group", int64_t(2));
  std::vector<double> zeros(*elementCount(offsetShape), 0);
  expectResult("deform_conv", {x, w, f32(offsetShape, zeros), bias}, attrs, y);
}

TEST(DeformConv, InterpolatesAndMasks) {
  TestTensor x = f32({1, 1, 2, 2}, {1, 2, 3, 5});
  TestTensor w = f32({1, 1, 1, 1}, {2});
  // Rows, then columns, of the displacement of each of the 2x2 points.
  TestTensor offset = f32({1, 2, 2, 2}, {.5, 0, 0, kNaN, .5, .5, -1, 0});
  expectResult("deform_conv", {x, w, offset}, {},
               f32({1, 1, 2, 2}, {5.5, 2, 0, 0}));
  TestTensor mask = f32({1, 1, 2, 2}, {2, 0, 1, 1});
  expectResult("deform_conv", {x, w, offset, TestTensor(), mask}, {},
               f32({1, 1, 2, 2}, {11, 0, 0, 0}));
  expectFailure("deform_conv", {x, w, f32({1, 1, 2, 2}, {0, 0, 0, 0})}, {},
                "operand 2: expected 1x2x2x2xf32, got 1x1x2x2xf32");
}

/// <conv(x, w), g> is linear in w, and its gradient the weights' gradient.
TEST(ConvWeightGradient, IsTheTransposeOfConv) {
  Attributes windows = attributes({{"strides", Ints{2, 1}},
                                   {"pads", Ints{1, 0, 2, 1}},
                                   {"dilations", Ints{1, 2}},
                                   {"group", int64_t(2)}});
  TestTensor x = pattern(DLC_F64, {2, 4, 6, 7}, 1);
  TestTensor w = pattern(DLC_F64, {6, 2, 3, 2}, 2);
  TestTensor y = run("conv", {x, w}, windows).results[0];
  TestTensor g = pattern(DLC_F64, {2, 6, 4, 6}, 3);
  windows.set("kernel_shape", Ints{3, 2});
  TestTensor dw = run("conv_weight_gradient", {x, g}, windows).results[0];
  EXPECT_EQ(dot(y, g), dot(w, dw));
}

TEST(ConvWeightGradient, ChannelsInBlocks) {
  Attributes windows = attributes({{"strides", Ints{2, 1}},
                                   {"pads", Ints{1, 0, 2, 1}},
                                   {"kernel_shape", Ints{3, 2}},
                                   {"group", int64_t(2)}});
  TestTensor x = pattern(DLC_F64, {2, 8, 6, 7}, 1);
  TestTensor g = pattern(DLC_F64, {2, 12, 4, 7}, 3);
  TestTensor dw = run("conv_weight_gradient", {x, g}, windows).results[0];
  TestTensor xs = blocked(x, 4), gs = blocked(g, 3);
  expectResult("conv_weight_gradient", {xs, gs}, windows, dw);
  expectResult("conv_weight_gradient", {x, gs}, windows, dw);
  expectResult("conv_weight_gradient", {xs, g}, windows, dw);
}

TEST(ConvWeightGradient, RefusesBlocksOfNothing) {
  Attributes kernel = attributes({{"kernel_shape", Ints{2}}});
  TestTensor none = f32({1, 4, 3, 0}, {}), x = f32({1, 1, 3}, {1, 2, 3});
  expectFailure("conv_weight_gradient", {none, x}, kernel,
                "operand 0: expected blocks of at least 1 channel, got 0");
  expectFailure("conv_weight_gradient", {x, none}, kernel,
                "operand 1: expected blocks of at least 1 channel, got 0");
}

TEST(ConvWeightGradient, AnyPositions) {
  TestTensor x = f32({1, 1, 3}, {1, 2, 3}), g = f32({1, 1, 5}, {1, 1, 1, 1, 1});
  Attributes kernel = attributes({{"kernel_shape", Ints{2}}});
  expectResult("conv_weight_gradient", {x, g}, kernel, f32({1, 1, 2}, {6, 5}));
  expectResult("conv_weight_gradient", {x, f32({1, 1, 0}, {})}, kernel,
               f32({1, 1, 2}, {0, 0}));
}
