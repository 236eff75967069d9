// SPDX-License-Identifier: Apache-2.0
//
// cpu.integer_conv beside sums of 64 bits, which it is equal to.

#include "IntegerTesting.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

/// Two dimensions, or one where `height` is 0.
struct Case {
  int64_t batch, channels, height, width, outputs, kernelH, kernelW;
  int64_t strideH = 1, strideW = 1, dilationH = 1, dilationW = 1;
  Shape pads = {0, 0, 0, 0};
  DataType typeX = DLC_U8, typeW = DLC_I8;
  bool hasZeroOfChannels = false;
  /// Each channel by itself: as many outputs as channels.
  bool isDepthwise = false;
  /// Tensors with all channels last.
  bool isLastX = false, isLastY = false;
  bool hasZeros = true; ///< Points that are not 0.

  bool isFlat() const { return height == 0; }
  int64_t inH() const { return isFlat() ? 1 : height; }
  int64_t extent(int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                 int64_t pads) const {
    const int64_t room = in + pads - (kernel - 1) * dilation - 1;
    return room < 0 ? 0 : room / stride + 1;
  }
  int64_t outH() const {
    return extent(inH(), kernelH, strideH, dilationH, pads[0] + pads[2]);
  }
  int64_t outW() const {
    return extent(width, kernelW, strideW, dilationW, pads[1] + pads[3]);
  }
  Shape shape(int64_t a, int64_t b, int64_t h, int64_t w) const {
    return isFlat() ? Shape{a, b, w} : Shape{a, b, h, w};
  }
  Shape tensor(bool isLast, int64_t a, int64_t b, int64_t h, int64_t w) const {
    Shape result = shape(a, isLast ? 1 : b, h, w);
    if (isLast)
      result.push_back(b);
    return result;
  }
  int64_t groupIn() const { return isDepthwise ? 1 : channels; }
};

/// Where element (image, channel, pixel) of a tensor is.
int64_t placeOf(bool isLast, int64_t image, int64_t channel, int64_t channels,
                int64_t pixel, int64_t pixels) {
  return isLast ? (image * pixels + pixel) * channels + channel
                : (image * channels + channel) * pixels + pixel;
}

struct ConvCall : IntegerCall {
  explicit ConvCall(const Case &c);
};

} // namespace

ConvCall::ConvCall(const Case &c)
    : IntegerCall(
          "cpu.integer_conv",
          {{c.typeX,
            c.tensor(c.isLastX, c.batch, c.channels, c.inH(), c.width)},
           {c.typeW, c.shape(c.outputs, c.groupIn(), c.kernelH, c.kernelW)},
           {c.typeX, {}},
           {c.typeW, c.hasZeroOfChannels ? Shape{c.outputs} : Shape()}},
          prepareIntegerConv) {
  fill(Values::Any, c.hasZeros);
  auto set = [&](const char *name, int64_t h, int64_t w) {
    attributes.set(name, c.isFlat() ? Shape{w} : Shape{h, w});
  };
  set("strides", c.strideH, c.strideW);
  set("dilations", c.dilationH, c.dilationW);
  attributes.set("pads", c.isFlat() ? Shape{c.pads[1], c.pads[3]} : c.pads);
  if (c.isDepthwise)
    attributes.set("group", c.channels);
  if (c.isLastY)
    attributes.set("channel_block", c.outputs);
  const int64_t outH = c.outH(), outW = c.outW();
  outputs.push_back(
      {DLC_I32, c.tensor(c.isLastY, c.batch, c.outputs, outH, outW)});
  const int64_t count = c.batch * c.outputs * outH * outW;
  expected.resize(count * sizeof(int32_t));
  const int64_t terms = c.groupIn() * c.kernelH * c.kernelW;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t x = i % outW, y = i / outW % outH;
    const int64_t j = i / (outW * outH) % c.outputs;
    const int64_t image = i / (outW * outH * c.outputs);
    uint32_t sum = 0;
    for (int64_t l = 0; l < terms; ++l) {
      const int64_t kx = l % c.kernelW, ky = l / c.kernelW % c.kernelH;
      const int64_t channel = c.isDepthwise ? j : l / (c.kernelW * c.kernelH);
      const int64_t atX = x * c.strideW + kx * c.dilationW - c.pads[1];
      const int64_t atY = y * c.strideH + ky * c.dilationH - c.pads[0];
      if (atX < 0 || atX >= c.width || atY < 0 || atY >= c.inH())
        continue;
      const int64_t at = placeOf(c.isLastX, image, channel, c.channels,
                                 atY * c.width + atX, c.inH() * c.width);
      sum += static_cast<uint32_t>((valueOf(0, at) - valueOf(2, 0)) *
                                   (valueOf(1, j * terms + l) - zeroOf(j)));
    }
    const int64_t to =
        placeOf(c.isLastY, image, j, c.outputs, y * outW + x, outH * outW);
    std::memcpy(expected.data() + to * sizeof(sum), &sum, sizeof(sum));
  }
}

static std::string textOf(const Case &c) {
  std::string text;
  for (int64_t value :
       {c.batch, c.channels, c.height, c.width, c.outputs, c.kernelH, c.kernelW,
        c.strideH, c.strideW, c.dilationH, c.dilationW})
    text += std::to_string(value) + " ";
  if (c.isDepthwise)
    text += "depthwise ";
  if (c.isLastX)
    text += "x with channels last ";
  if (c.isLastY)
    text += "y with channels last ";
  return text;
}

/// With weights as they are, and packed; of sums and of what is rounded.
static void checkTensors(const Case &c) {
  for (bool isPacked : {false, true})
    for (DataType type : {DLC_I32, DLC_U8, DLC_I8}) {
      SCOPED_TRACE(textOf(c) + "to " + std::string(nameOf(type)) +
                   (isPacked ? " packed" : ""));
      ConvCall call(c);
      if (type != DLC_I32) {
        Shape shape;
        if (c.hasZeroOfChannels)
          shape = c.tensor(c.isLastY, 1, c.outputs, 1, 1);
        call.requantize(type, shape, c.isLastY ? 1 : c.outH() * c.outW());
      }
      if (isPacked)
        call.pack("packed_w");
      call.addWorkspace();
      call.check();
    }
}

/// In every layout.
static void check(Case c) {
  for (bool isLastX : {false, true})
    for (bool isLastY : {false, true}) {
      c.isLastX = isLastX;
      c.isLastY = isLastY;
      checkTensors(c);
    }
}

static void checkDepthwise(Case c) {
  c.isDepthwise = true;
  c.outputs = c.channels;
  check(c);
}

TEST(IntegerConvTest, EveryType) {
  for (DataType x : {DLC_U8, DLC_I8})
    for (DataType w : {DLC_U8, DLC_I8})
      for (bool hasZeros : {false, true}) {
        check({2, 5, 7, 9, 20, 3, 3, 1, 1, 1, 1, {1, 1, 1, 1}, x, w, hasZeros});
        checkDepthwise(
            {2, 37, 7, 9, 0, 3, 3, 1, 1, 1, 1, {1, 1, 1, 1}, x, w, hasZeros});
      }
}

TEST(IntegerConvTest, EveryWindow) {
  Random random(7);
  for (int i = 0; i < 60; ++i) {
    Case c = {1 + random.below(2),  1 + random.below(40), 1 + random.below(12),
              1 + random.below(40), 1 + random.below(70), 1 + random.below(4),
              1 + random.below(4),  1 + random.below(3),  1 + random.below(3),
              1 + random.below(3),  1 + random.below(3)};
    for (int64_t &pad : c.pads)
      pad = random.below(4);
    c.hasZeroOfChannels = random.below(2) == 0;
    check(c);
    c.channels += random.below(100);
    checkDepthwise(c);
  }
}

TEST(IntegerConvTest, OneDimension) {
  check({2, 17, 0, 50, 33, 1, 5, 1, 2, 1, 1, {0, 2, 0, 1}});
  check({1, 3, 0, 7, 5, 1, 3, 1, 1, 1, 2, {0, 4, 0, 4}, DLC_I8, DLC_U8, true});
  checkDepthwise({2, 80, 0, 30, 0, 1, 5, 1, 2, 1, 1, {0, 2, 0, 1}});
  for (int64_t taps : {1, 2, 3, 4, 8, 9, 12, 31, 200})
    for (int64_t dilation : {1, 3})
      checkDepthwise({1,
                      70,
                      0,
                      610,
                      0,
                      1,
                      taps,
                      1,
                      2,
                      1,
                      dilation,
                      {0, 3, 0, 2},
                      DLC_I8,
                      DLC_I8,
                      taps % 2 == 0});
}

/// As many taps as there may be, also of an even number.
TEST(IntegerConvTest, DepthwiseOfManyTaps) {
  checkDepthwise({1, 20, 40, 20, 0, 32, 16, 1, 1, 1, 1, {3, 3, 3, 3}});
  checkDepthwise({1, 64, 9, 9, 0, 7, 7, 1, 1, 1, 1, {3, 3, 3, 3}});
  checkDepthwise({1, 130, 5, 5, 0, 1, 1});
}

TEST(IntegerConvTest, Pointwise) {
  for (int64_t channels : {1, 16, 31, 64, 100})
    check({1, channels, 6, 7, 48, 1, 1});
  check({1, 16, 9, 9, 16, 1, 1, 2, 2});
}

/// Rows that are read where they are, if nothing is to be added up of them.
TEST(IntegerConvTest, PixelsInPlace) {
  for (DataType x : {DLC_U8, DLC_I8})
    for (int64_t channels : {4, 32, 36, 64, 96, 132})
      for (int64_t width : {1, 3, 8, 12, 16}) {
        Case c = {2, channels, 4, width, 70, 1, 1};
        c.typeX = x;
        c.hasZeros = false;
        check(c);
      }
}

/// Rows that are copied in parts.
TEST(IntegerConvTest, ManyTerms) {
  check({1, 460, 5, 5, 17, 3, 3, 1, 1, 1, 1, {1, 1, 1, 1}});
}

/// Windows that see borders alone, and more of them than of the image.
TEST(IntegerConvTest, WideBorders) {
  check({1, 3, 2, 2, 5, 2, 2, 1, 1, 1, 1, {7, 6, 5, 4}});
  check({1, 3, 1, 1, 5, 1, 1, 3, 3, 1, 1, {5, 5, 5, 5}, DLC_I8, DLC_I8, true});
  check({1, 2, 2, 2, 3, 1, 1, 9, 9, 1, 1, {3, 3, 3, 3}});
}

TEST(IntegerConvTest, EmptyResults) {
  check({0, 3, 4, 4, 5, 1, 1});
  check({1, 3, 2, 2, 5, 3, 3});
  check({1, 0, 4, 4, 5, 3, 3});
  check({2, 0, 9, 9, 70, 3, 3});
}

TEST(IntegerConvTest, NotFiniteMultipliers) {
  for (float multiplier : {std::nanf("7"), HUGE_VALF, -HUGE_VALF}) {
    ConvCall call({1, 3, 4, 4, 5, 3, 3});
    call.requantize(DLC_U8, {}, 1);
    std::memcpy(call.values[4].data(), &multiplier, sizeof(multiplier));
    ConvCall sums({1, 3, 4, 4, 5, 3, 3});
    for (size_t i = 0; i < call.expected.size(); ++i) {
      int32_t sum;
      std::memcpy(&sum, sums.expected.data() + 4 * i, sizeof(sum));
      const float value = static_cast<float>(sum) * multiplier;
      call.expected[i] = std::isnan(value) ? 3 : value < 0 ? 0 : 255;
    }
    call.addWorkspace();
    call.check();
  }
}

TEST(IntegerConvTest, RefusesOtherCalls) {
  auto refusal = [](auto &&change) {
    ConvCall call({1, 3, 4, 4, 5, 3, 3});
    change(call);
    return refusalOf(call);
  };
  using Call = ConvCall;
  EXPECT_EQ(refusal([](Call &c) { c.inputs[0].type = DLC_F32; }),
            "expected x to be i8 or u8, got 1x3x4x4xf32");
  EXPECT_EQ(refusal([](Call &c) {
              c.inputs[1].shape = {5, 1, 3, 3};
            }),
            "expected 3 input channels a group, got 5x1x3x3xi8");
  EXPECT_EQ(refusal([](Call &c) { c.inputs[2].shape = {3}; }),
            "expected a zero point of x of 1 element, got 3xu8");
  EXPECT_EQ(refusal([](Call &c) {
              c.outputs[0].shape = {1, 5, 2, 3};
            }),
            "expected 2 output positions, got 3 in 1x5x2x3xi32");
  EXPECT_EQ(refusal([](Call &c) { c.outputs[0].type = DLC_U8; }),
            "expected the output to be i32, got 1x5x2x2xu8");
  EXPECT_EQ(refusal([](Call &c) { c.attributes.set("groups", int64_t{1}); }),
            "unknown attribute 'groups'");
  EXPECT_EQ(refusal([](Call &c) {
              c.inputs[0].shape = {1, 6, 4, 4};
              c.inputs[1].shape = {6, 3, 3, 3};
              c.outputs[0].shape = {1, 6, 2, 2};
              c.attributes.set("group", int64_t{2});
            }),
            "expected one group, or one for each channel of both x and y and "
            "at most 512 taps, got 2 of 6x3x3x3xi8");
  EXPECT_EQ(refusal([](Call &c) {
              c.inputs[0].shape = {1, 3, 23, 23};
              c.inputs[1].shape = {3, 1, 23, 23};
              c.outputs[0].shape = {1, 3, 1, 1};
              c.attributes.set("group", int64_t{3});
            }),
            "expected one group, or one for each channel of both x and y and "
            "at most 512 taps, got 3 of 3x1x23x23xi8");
  EXPECT_EQ(refusal([](Call &c) {
              c.inputs[0].shape = {1, 3, 4, 4, 1};
            }),
            "expected x in one block of channels, got 1x3x4x4x1xu8");
  EXPECT_EQ(
      refusal([](Call &c) { c.attributes.set("channel_block", int64_t{5}); }),
      "expected the output in a block of 5 channels, got 1x5x2x2xi32");
  EXPECT_EQ(
      refusal([](Call &c) { c.attributes.set("channel_block", int64_t{2}); }),
      "expected the output in one block of channels, got 1x5x2x2xi32");
}

/// Windows may reach as far as they like: nothing is as large as that.
TEST(IntegerConvTest, FarWindows) {
  const int64_t most = int64_t{1} << 31;
  check({1, 3, 4, 4, 5, 2, 2, 1, 1, most, most, {most, most, 0, 0}});
  checkDepthwise({1, 3, 4, 4, 0, 2, 2, 1, 1, most, most, {most, most, 0, 0}});
  checkDepthwise({1, 70, 0, 9, 0, 1, 2, 1, 1, 1, most, {0, most, 0, 0}});
  checkDepthwise({1, 70, 3, 900, 0, 2, 3, 1, 2, 1, 300, {0, 300, 0, 300}});
}

TEST(IntegerConvTest, RefusesOtherRequantization) {
  auto refusal = [](auto &&change) {
    ConvCall call({1, 3, 4, 4, 5, 3, 3});
    call.requantize(DLC_U8, {5, 1, 1}, 4);
    change(call);
    return refusalOf(call);
  };
  using Call = ConvCall;
  EXPECT_EQ(refusal([](Call &c) { c.inputs[4].shape = {5}; }),
            "expected a multiplier of 1 element or one for each column, got "
            "5xf32");
  EXPECT_EQ(refusal([](Call &c) { c.inputs[5].type = DLC_F64; }),
            "expected an offset to be f32, got 5x1x1xf64");
  EXPECT_EQ(refusal([](Call &c) { c.inputs[6].type = DLC_I8; }),
            "expected a zero point of the output to be u8, got i8");
}

TEST(IntegerConvTest, RefusesASmallWorkspace) {
  ConvCall call({1, 3, 4, 4, 5, 3, 3});
  call.pack("packed_w");
  call.addWorkspace();
  call.outputs[1].shape[0] -= 1;
  std::unique_ptr<PreparedKernel> kernel;
  Status status = call.entry.prepare(call.view(), kernel);
  EXPECT_EQ(std::string(status.message()), "expected a workspace of 64 bytes");
}
