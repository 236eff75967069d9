// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv on tensors in blocks of 16 channels against a convolution in double.

#include "ConvTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

/// With weights that are packed, that are not, and, where asked for, as
/// F(4x4, 3x3).
void check(const ConvCase &c, Blocks blocks = Blocks::All,
           bool isWinograd = false) {
  Call call = makeCall(c);
  std::vector<double> plain = reference(c, call);
  std::vector<double> expected =
      blocks == Blocks::Input ? plain : blocked(plain.data(), call.output);
  makeBlocked(call, blocks);
  Call packed = call;
  packed.attributes.set("packed_w", int64_t{1});
  packW(packed);
  expectMatches(packed, prepareConv, expected, textOf(c, true));
  for (bool packs : {true, false}) {
    Call winograd = call;
    if (!isWinograd)
      continue;
    makeWinograd(winograd, packs);
    expectMatches(winograd, prepareConv, expected,
                  textOf(c, packs) + " F(4x4)");
  }
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  const auto bytes = static_cast<int64_t>(entry->workspaceBytes(call.view()));
  const int64_t packedBytes = call.values[1].size() / c.outChannels *
                              ((c.outChannels + 15) / 16 * 16) * 4;
  EXPECT_GE(bytes, packedBytes);
  EXPECT_LT(bytes, packedBytes + 128); // With what is found of the weights.
  call.workspace = TensorType{DLC_I8, {bytes}};
  expectMatches(call, prepareConv, expected, textOf(c, false));
}

} // namespace

TEST(BlockedConvTest, EveryWidth) {
  for (int64_t width = 1; width < 30; ++width)
    for (int64_t stride : {1, 2, 3})
      check({1, 16, {4, width}, 16, {3, 3}, {stride, stride}, {1, 1, 1, 1}});
}

/// Kernels of one to four panels and one to six pixels, several of each.
TEST(BlockedConvTest, PanelsAndPixels) {
  for (int64_t pixels : {1, 2, 3, 4, 5, 6, 7, 13, 49, 100})
    for (int64_t outChannels : {16, 32, 48, 64, 80, 144})
      check({2, 32, {1, pixels}, outChannels, {1, 1}});
}

/// Pixels are dealt out to calls of as many or of one fewer.
TEST(BlockedConvTest, StridedPixels) {
  for (int64_t width = 1; width < 30; ++width)
    check({1, 32, {3, width}, 64, {1, 1}, {2, 2}});
}

/// Sums over more terms than are taken at a time; weights larger than L2.
TEST(BlockedConvTest, LongSums) {
  check({1, 1024, {7, 7}, 80, {1, 1}, {}, {}, {}, 1, true, true, "silu"});
  check({1, 256, {7, 7}, 64, {3, 3}, {}, {1, 1, 1, 1}, {}, 1, true, true});
  check({2, 512, {5, 6}, 304, {1, 1}});
}

/// Channels that end within their last block, on either side: bytes behind the
/// last weight and bias are no memory, and what lies behind the last channel of
/// an image is NaN.
TEST(BlockedConvTest, ChannelsThatEndWithinABlock) {
  for (int64_t channels : {2, 12, 15, 17, 24, 40})
    for (int64_t outChannels : {3, 16, 24, 40, 56, 72, 136}) {
      check({2,
             channels,
             {5, 6},
             outChannels,
             {1, 1},
             {},
             {},
             {},
             1,
             true,
             true,
             "relu"});
      check({1,
             channels,
             {5, 9},
             outChannels,
             {3, 3},
             {2, 1},
             {1, 1, 1, 1},
             {},
             1,
             true,
             true,
             "silu"});
      check({1, channels, {5, 9}, outChannels, {3, 3}, {}, {1, 1, 1, 1}},
            Blocks::Input);
      check({2,
             channels,
             {5, 9},
             outChannels,
             {3, 3},
             {2, 2},
             {1, 1, 1, 1},
             {},
             1,
             true},
            Blocks::Output);
    }
  for (int64_t channels : {3, 24, 40})
    for (int64_t kernel : {2, 3, 5})
      check({2,
             channels,
             {7, 15},
             channels,
             {kernel, kernel},
             {1, 1},
             {1, 1, 1, 1},
             {},
             channels,
             true,
             true,
             "sigmoid"});
  // Weights that the second cache does not hold, and parts of long sums.
  check({2, 728, {7, 7}, 728, {1, 1}, {}, {}, {}, 1, true, true});
  check({1, 200, {6, 7}, 72, {3, 3}, {}, {1, 1, 1, 1}, {}, 1, true});
}

TEST(BlockedConvTest, PadsStridesAndDilations) {
  for (const Shape &pads : {Shape{0, 0, 0, 0}, Shape{1, 0, 2, 3},
                            Shape{0, 5, 0, 0}, Shape{4, 2, 1, 6}})
    for (const Shape &strides : {Shape{1, 1}, Shape{2, 1}, Shape{3, 5}})
      for (const Shape &dilations : {Shape{1, 1}, Shape{2, 3}})
        for (int64_t group : {1, 2, 32})
          check({2,
                 32,
                 {11, 13},
                 32,
                 {2, 3},
                 strides,
                 pads,
                 dilations,
                 group,
                 true,
                 true});
}

/// Tiles of few pixels, since offsets have room for so many taps only.
TEST(BlockedConvTest, ManyTaps) {
  for (Blocks blocks : {Blocks::Input, Blocks::All}) {
    check({1, 16, {20, 21}, 16, {7, 7}, {}, {3, 3, 3, 3}}, blocks);
    check({1, 16, {16, 17}, 16, {10, 10}, {}, {2, 2, 2, 2}}, blocks);
    check({1, 16, {24, 25}, 16, {19, 17}, {}, {1, 1, 1, 1}}, blocks);
  }
}

/// As many as there may be: sums of 21,840 terms lose more than others.
TEST(BlockedConvTest, MostTaps) {
  const ConvCase c{1, 16, {40, 36}, 16, {39, 35}, {}, {1, 1, 1, 1}};
  Call call = makeCall(c);
  std::vector<double> plain = reference(c, call);
  std::vector<double> expected = blocked(plain.data(), call.output);
  makeBlocked(call, Blocks::All);
  call.attributes.set("packed_w", int64_t{1});
  packW(call);
  for (Isa isa : runnableIsas())
    EXPECT_LE(errorOf(runCall(call, prepareConv, isa), expected), 1e-5);
}

TEST(BlockedConvTest, OneDimensional) {
  for (int64_t width : {1, 8, 33, 100})
    for (int64_t group : {1, 16})
      check({2, 16, {width}, 16, {3}, {2}, {2, 1}, {}, group, true});
}

TEST(BlockedConvTest, PositionsFarOutside) {
  const int64_t far = int64_t{1} << 31;
  for (int64_t group : {1, 16}) {
    check({1, 16, {1, 5}, 16, {1, 2}, {}, {0, far, 0, 0}, {1, far}, group});
    check({1, 16, {1, 5}, 16, {1, 2}, {}, {0, 0, 0, far}, {1, far}, group});
    check({1, 16, {5, 1}, 16, {2, 1}, {}, {far, 0, 0, 0}, {far, 1}, group});
  }
}

TEST(BlockedConvTest, PlainInput) {
  for (int64_t channels : {1, 3, 24})
    for (int64_t width : {1, 7, 20, 37})
      for (int64_t stride : {1, 2})
        check({2,
               channels,
               {9, width},
               80,
               {3, 5},
               {stride, stride},
               {1, 2, 1, 2},
               {},
               1,
               true,
               true,
               "relu"},
              Blocks::Output);
  check({1, 3, {40, 150}, 64, {7, 7}, {2, 2}, {3, 3, 3, 3}}, Blocks::Output);
  check({1, 3, {12, 15}, 16, {3, 3}, {1, 3}, {9, 8, 7, 6}, {2, 4}},
        Blocks::Output);
}

/// Rows that are inside of the image from their first or to their last pixel,
/// as a whole, in the middle alone, or nowhere.
TEST(BlockedConvTest, PlainInputAtBorders) {
  for (const Shape &pads :
       {Shape{0, 0, 0, 0}, Shape{0, 2, 0, 0}, Shape{0, 0, 0, 2},
        Shape{2, 2, 2, 2}, Shape{0, 40, 3, 40}, Shape{11, 0, 11, 0}})
    for (int64_t width : {3, 8, 26, 61}) {
      check({1, 3, {5, width}, 16, {3, 4}, {2, 2}, pads}, Blocks::Output);
      check({1, 3, {5, width}, 32, {3, 3}, {}, pads}, Blocks::Output);
      check({1, 5, {6, width}, 48, {1, 1}, {2, 2}, pads}, Blocks::Output);
    }
  check({2, 3, {1, 1}, 16, {1, 1}}, Blocks::Output);
  check({2, 3, {1, 1}, 16, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::Output);
  // A strip of six pixels fits, one of twelve would not.
  check({1, 200, {9, 130}, 16, {3, 3}, {8, 8}, {1, 1, 1, 1}}, Blocks::Output);
  // Many channels, in place and in a strip.
  check({1, 2048, {7, 7}, 16, {1, 1}}, Blocks::Output);
  check({1, 512, {7, 7}, 16, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::Output);
}

TEST(BlockedConvTest, PlainOutput) {
  for (int64_t outChannels : {1, 3, 16, 24, 70, 150})
    for (int64_t width : {1, 7, 20})
      for (int64_t stride : {1, 2})
        for (int form = 0; form < 4; ++form)
          check({2,
                 32,
                 {9, width},
                 outChannels,
                 {3, 1},
                 {stride, stride},
                 {1, 0, 1, 0},
                 {},
                 1,
                 form % 2 == 1,
                 form / 2 == 1,
                 form % 2 == 1 ? "relu" : "silu"},
                Blocks::Input);
  check({1, 1024, {9, 11}, 130, {1, 1}}, Blocks::Input);
  check({2, 32, {40}, 5, {3}, {}, {1, 1}}, Blocks::Input);
}

TEST(BlockedConvTest, Depthwise) {
  for (int64_t kernel : {1, 2, 3, 5, 7})
    for (int64_t stride : {1, 2, 3})
      for (int64_t width : {1, 6, 7, 8, 14, 17, 28, 40})
        for (int64_t height : {1, 9})
          check({1,
                 32,
                 {height, width},
                 32,
                 {kernel, kernel},
                 {stride, stride},
                 {kernel / 2, kernel / 2, kernel / 2, kernel / 2},
                 {},
                 32,
                 true});
}

namespace {
/// As check(), in parts of bfloat16.
void checkInParts(const ConvCase &c) {
  Call call = makeCall(c);
  std::vector<double> plain = reference(c, call);
  std::vector<double> expected = blocked(plain.data(), call.output);
  makeBlocked(call, Blocks::All);
  call.attributes.set("packed_w", int64_t{1});
  call.attributes.set("bf16_parts", int64_t{3});
  EXPECT_EQ(lookupLibraryEntry("cpu.conv")->paysInParts(call.view()),
            canRun(Isa::AMX))
      << textOf(c, true);
  packW(call);
  expectMatches(call, prepareConv, expected, textOf(c, true) + " in parts");
}
} // namespace

TEST(BlockedConvTest, Parts) {
  for (const Shape &in : {Shape{7, 7}, Shape{1, 130}, Shape{11, 12}})
    for (int64_t outChannels : {64, 80, 112, 272})
      checkInParts({2, 256, in, outChannels, {1, 1}});
  checkInParts({1, 272, {14, 14}, 304, {1, 1}, {}, {}, {}, 1, true, true});
  for (int64_t stride : {1, 2})
    for (int64_t dilation : {1, 2})
      for (int64_t group : {1, 2})
        checkInParts({2,
                      64,
                      {17, 15},
                      128,
                      {3, 3},
                      {stride, stride},
                      {2, 1, 0, 3},
                      {dilation, dilation},
                      group,
                      true,
                      true,
                      "relu"});
  checkInParts(
      {1, 16, {20, 21}, 64, {7, 5}, {2, 1}, {3, 2, 3, 2}, {}, 1, true});
  checkInParts({1, 128, {60}, 128, {3}, {}, {1, 1}});
}

TEST(BlockedConvTest, PartsWithActivations) {
  for (const char *activation : kActivations)
    checkInParts(
        {1, 128, {8, 9}, 144, {1, 1}, {}, {}, {}, 1, true, true, activation});
}

/// Pixels beside one that is not finite, or that has no parts, are what they
/// are without parts; so is padding.
TEST(BlockedConvTest, PartsOfAnyValues) {
  const ConvCase c = {1, 64, {9, 9}, 128, {3, 3}, {}, {1, 1, 1, 1}};
  for (float value : {std::numeric_limits<float>::infinity(), std::nanf(""),
                      3e38f, 1e30f, 1e-40f})
    for (size_t operand : {0, 1}) {
      Call call = makeCall(c);
      call.values[operand].data()[operand ? 300 : 17] = value;
      makeBlocked(call, Blocks::All);
      call.attributes.set("packed_w", int64_t{1});
      call.attributes.set("bf16_parts", int64_t{3});
      packW(call);
      const std::vector<float> plain =
          runCall(call, prepareConv, Isa::Baseline);
      for (Isa isa : {Isa::AMX, Isa::AMXModel}) {
        if (!canRun(isa))
          continue;
        const std::vector<float> values = runCall(call, prepareConv, isa);
        ASSERT_EQ(values.size(), plain.size());
        float scale = 0;
        for (float element : plain)
          if (std::isfinite(element))
            scale = std::max(scale, std::fabs(element));
        for (size_t i = 0; i < plain.size(); ++i) {
          if (std::isfinite(plain[i])) {
            EXPECT_NEAR(values[i], plain[i], 4e-6 * scale) << i;
          } else {
            EXPECT_EQ(std::isnan(values[i]), std::isnan(plain[i])) << i;
            EXPECT_EQ(std::isinf(values[i]), std::isinf(plain[i])) << i;
          }
        }
      }
    }
}

TEST(BlockedConvTest, EveryActivation) {
  for (const char *activation : kActivations)
    for (int form = 0; form < 4; ++form)
      for (int64_t group : {1, 32})
        check({2,
               32,
               {7, 9},
               32,
               {3, 3},
               {},
               {1, 1, 1, 1},
               {},
               group,
               form % 2 == 1,
               form / 2 == 1,
               activation},
              Blocks::All, group == 1);
}

TEST(BlockedConvTest, Winograd) {
  for (int64_t height : {1, 4, 5, 10})
    for (int64_t width = 1; width < 20; ++width)
      check({1, 16, {height, width}, 16, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All,
            true);
  for (const Shape &pads : {Shape{0, 0, 0, 0}, Shape{1, 0, 2, 3},
                            Shape{0, 5, 0, 0}, Shape{9, 2, 1, 14}})
    check({3, 32, {9, 13}, 80, {3, 3}, {}, pads}, Blocks::All, true);
}

/// Weights that no cache of a processor's own holds: tiles that share them.
TEST(BlockedConvTest, LargeWeights) {
  check({1, 512, {7, 7}, 512, {3, 3}, {2, 2}, {1, 1, 1, 1}});
  check({1, 1024, {7, 7}, 512, {1, 1}});
  check({1, 512, {14, 13}, 256, {3, 3}, {2, 2}, {1, 1, 1, 1}});
  check({2, 512, {1, 200}, 576, {1, 1}});
}

/// Several parts of the tiles, groups of panels and blocks of input channels.
TEST(BlockedConvTest, LargeWinograd) {
  check({1, 64, {56, 56}, 64, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
  check({2, 272, {29, 31}, 80, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
}

/// Tiles of three outputs where four leave some over: in one direction, in both
/// or in none, beside others or alone, over several images, blocks and parts.
TEST(BlockedConvTest, WinogradOfNarrowTiles) {
  for (int64_t height : {3, 7, 8, 9, 14})
    for (int64_t width : {2, 7, 12, 13, 14, 15})
      for (int64_t batch : {1, 3})
        check({batch, 48, {height, width}, 48, {3, 3}, {}, {1, 1, 1, 1}},
              Blocks::All, true);
  check({1, 256, {14, 14}, 64, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
  check({9, 80, {21, 25}, 32, {3, 3}, {}, {1, 0, 2, 1}}, Blocks::All, true);
  check(
      {2, 32, {7, 11}, 96, {3, 3}, {}, {1, 1, 1, 1}, {}, 1, true, true, "relu"},
      Blocks::All, true);
}

/// Of two taps in each direction: every other one of three in steps of two, or
/// both of two. Tiles of four and of three outputs in each, parts of the
/// columns, rows of several images, and parts of the tiles.
TEST(BlockedConvTest, WinogradOfTwoTaps) {
  for (int64_t side : {2, 3}) {
    const int64_t step = side - 1;
    const Shape taps{side, side}, strides{step, step}, pads{1, 1, 1, 1};
    // Of so many outputs.
    auto sizeOf = [&](int64_t height, int64_t width) {
      return Shape{(height - 1) * step + side - 2,
                   (width - 1) * step + side - 2};
    };
    for (int64_t height : {3, 4, 7, 9})
      for (int64_t width : {3, 4, 6, 8, 10, 14, 57, 62})
        for (int64_t batch : {1, 3})
          check({batch, 32, sizeOf(height, width), 48, taps, strides, pads},
                Blocks::All, true);
    for (const Shape &others :
         {Shape{0, 0, 0, 0}, Shape{0, 0, 1, 1}, Shape{5, 2, 1, 14}})
      check({2, 48, {17, 25}, 80, taps, strides, others}, Blocks::All, true);
    check({2, 272, sizeOf(28, 28), 64, taps, strides, pads}, Blocks::All, true);
    check({1, 32, sizeOf(80, 80), 64, taps, strides, {0, 0, 2, 2}}, Blocks::All,
          true);
    for (const char *activation : kActivations)
      check({2,
             32,
             sizeOf(7, 11),
             96,
             taps,
             strides,
             pads,
             {},
             1,
             true,
             true,
             activation},
            Blocks::All, true);
  }
}

/// Files of earlier versions have workspaces for fewer tiles at a time, and for
/// smaller blocks of each thread: the last ones, of which fewer shares fit,
/// down to a single one.
TEST(BlockedConvTest, WinogradWithOlderWorkspaces) {
  const Shape taps{3, 3}, pads{1, 1, 1, 1};
  struct Case {
    ConvCase conv;
    int64_t bytes;
    bool isLeast;
  };
  const Case cases[] = {
      {{4, 256, {14, 14}, 64, taps, {}, pads}, 1184256, true},
      {{1, 64, {56, 56}, 64, taps, {}, pads}, 921600, false},
      {{8, 256, {28, 28}, 64, taps, {2, 2}, pads}, 2327040, true},
      {{4, 16, {30, 30}, 32, taps, {}, pads}, 516096, false},
      {{1, 16, {88, 88}, 16, taps, {}, pads}, 534528, false},
      {{1, 16, {120, 120}, 128, taps, {}, pads}, 1105920, false},
      {{4, 16, {30, 30}, 32, taps, {}, pads}, 78336, true},
  };
  for (const auto &[c, bytes, isLeast] : cases) {
    Call call = makeCall(c);
    const std::vector<double> plain = reference(c, call);
    const std::vector<double> expected = blocked(plain.data(), call.output);
    makeBlocked(call, Blocks::All);
    makeWinograd(call);
    EXPECT_GT(call.workspaceBytes(), static_cast<size_t>(bytes));
    call.workspace.shape = {bytes};
    expectMatches(call, prepareConv, expected, textOf(c, true));
    --call.workspace.shape[0];
    std::unique_ptr<PreparedKernel> kernel;
    const Status status = prepareConv(call.view(), bestIsa(), kernel);
    EXPECT_EQ(status.isOk(), !isLeast);
    EXPECT_EQ(status.message().find("expected a workspace of ") !=
                  std::string::npos,
              isLeast)
        << status.message();
  }
}

/// First layers: phases of even and odd rows and columns, with windows that
/// begin at either, tiles of three and of four outputs, and parts of them that
/// end within a row or go over several.
TEST(BlockedConvTest, WinogradOfPhases) {
  auto checkPhases = [](const ConvCase &c) {
    Call call = makeCall(c);
    const std::vector<double> expected =
        blocked(reference(c, call).data(), call.output);
    makeBlocked(call, Blocks::Output);
    makeWinograd(call);
    expectMatches(call, prepareConv, expected, textOf(c, true) + " phases");
  };
  for (int64_t side : {5, 6, 7})
    for (int64_t pad : {0, 1, 2, 3})
      for (int64_t channels : {1, 2, 3, 4})
        for (int64_t width : {7, 16, 61, 168})
          checkPhases({2,
                       channels,
                       {17, width},
                       48,
                       {side, side},
                       {2, 2},
                       {pad, pad, 3, 2}});
  // Parts of the output channels; windows of eight, those that are larger than
  // the image, and of seven by eight.
  checkPhases({1, 3, {12, 15}, 240, {7, 7}, {2, 2}, {3, 3, 3, 3}});
  checkPhases({2, 3, {20, 31}, 96, {8, 8}, {2, 2}, {2, 4, 3, 3}});
  checkPhases({1, 3, {3, 2}, 16, {7, 7}, {2, 2}, {6, 8, 9, 7}});
  checkPhases({1, 3, {20, 33}, 80, {7, 8}, {2, 2}, {3, 2, 0, 1}});
  for (const char *activation : kActivations)
    checkPhases({2,
                 3,
                 {19, 40},
                 64,
                 {7, 7},
                 {2, 2},
                 {3, 3, 3, 3},
                 {},
                 1,
                 true,
                 true,
                 activation});
}

/// Of four tiles at most, and of more.
TEST(BlockedConvTest, WinogradOfFewTiles) {
  for (int64_t width : {1, 4, 5, 8, 12, 15, 17})
    for (int64_t channels : {16, 48, 80})
      check({1, channels, {4, width}, 112, {3, 3}, {}, {1, 1, 1, 1}},
            Blocks::All, true);
  check({1, 512, {7, 7}, 48, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
  check({2, 48, {5, 3}, 48, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
  check({2, 48, {5, 5}, 48, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
  for (int64_t batch : {3, 5})
    check({batch, 48, {3, 4}, 48, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
  check({1, 1040, {6, 5}, 144, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
  check({4, 1040, {16, 13}, 80, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
}

/// One element that is not finite, or large sums: as by the definition.
TEST(BlockedConvTest, NotFiniteWinograd) {
  struct Case {
    Shape image;
    int64_t side, step;
  };
  const Case cases[] = {{{10, 11}, 3, 1},
                        {{8, 7}, 3, 1},
                        {{7, 7}, 3, 1},
                        {{14, 16}, 3, 2},
                        {{9, 12}, 2, 1}};
  for (const auto &[image, side, step] : cases)
    for (float value : kNotFinite) {
      Call direct = makeNotFinite({1,
                                   16,
                                   image,
                                   32,
                                   {side, side},
                                   {step, step},
                                   {1, 1, 1, 1},
                                   {},
                                   1,
                                   true},
                                  value);
      makeBlocked(direct, Blocks::All);
      Call packed = direct, plain = direct;
      makeWinograd(packed);
      makeWinograd(plain, /*packs=*/false);
      packW(direct);
      expectSameNotFinite(direct, packed, value);
      expectSameNotFinite(direct, plain, value);
    }
}

/// The tap that is put in front of a window is none.
TEST(BlockedConvTest, NotFiniteWinogradOfPhases) {
  for (int64_t side : {5, 7})
    for (int64_t pad : {1, 2})
      for (float value : kNotFinite) {
        Call direct = makeNotFinite({1,
                                     3,
                                     {14, 15},
                                     32,
                                     {side, side},
                                     {2, 2},
                                     {pad, pad, 1, 1},
                                     {},
                                     1,
                                     true},
                                    value);
        makeBlocked(direct, Blocks::Output);
        Call winograd = direct;
        makeWinograd(winograd);
        direct.attributes.set("packed_w", int64_t{1});
        packW(direct);
        expectSameNotFinite(direct, winograd, value);
      }
}

/// A zero weight on a padded tap must not meet a value of another row.
TEST(BlockedConvTest, PaddingIsZeroEvenBesideInfinity) {
  for (int64_t group : {1, 16}) {
    Call call =
        makeCall({1, 16, {4, 9}, 16, {3, 3}, {}, {1, 1, 1, 1}, {}, group});
    for (int64_t i = 8; i < call.values[0].size(); i += 9)
      call.values[0].data()[i] = INFINITY;
    makeBlocked(call, Blocks::All);
    call.attributes.set("packed_w", int64_t{1});
    packW(call);
    for (Isa isa : runnableIsas()) {
      std::vector<float> values = runCall(call, prepareConv, isa);
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(std::isfinite(values[i]), i / 16 % 9 < 7) << nameOf(isa);
    }
  }
}

TEST(BlockedConvTest, OutputMayBeTheResidual) {
  for (int64_t group : {1, 32})
    for (const char *algorithm : {"", "winograd"}) {
      if (*algorithm && group > 1)
        continue;
      const ConvCase c{1,  32,    {9, 9}, 32,   {3, 3}, {}, {1, 1, 1, 1},
                       {}, group, true,   true, "silu"};
      Call call = makeCall(c);
      std::vector<double> plain = reference(c, call);
      std::vector<double> expected = blocked(plain.data(), call.output);
      makeBlocked(call, Blocks::All);
      call.attributes.set("packed_w", int64_t{1});
      if (*algorithm)
        makeWinograd(call);
      else
        packW(call);
      std::unique_ptr<PreparedKernel> kernel;
      ASSERT_TRUE(prepareConv(call.view(), bestIsa(), kernel).isOk());
      std::vector<float> workspace(call.workspaceBytes() / sizeof(float));
      float *y = call.values[3].data();
      void *arguments[] = {call.values[0].data(),
                           call.values[1].data(),
                           call.values[2].data(),
                           y,
                           y,
                           workspace.data()};
      for (const PreparedKernel *step = kernel.get(); step; step = step->next())
        step->run(arguments, 0, step->tiles());
      EXPECT_LE(errorOf({y, y + call.values[3].size()}, expected), 4e-6);
    }
}

TEST(BlockedConvTest, EmptyResults) {
  for (const ConvCase &c :
       {ConvCase{0, 16, {5, 5}, 16, {3, 3}},
        ConvCase{1, 16, {5, 2}, 16, {3, 3}},
        ConvCase{0, 16, {5, 5}, 16, {3, 3}, {}, {}, {}, 16}}) {
    Call call = makeCall(c);
    makeBlocked(call, Blocks::All);
    call.attributes.set("packed_w", int64_t{1});
    std::vector<Call> calls{call};
    packW(calls[0]);
    if (c.group == 1) {
      makeWinograd(calls.emplace_back(call));
      call.attributes.set("packed_w", int64_t{0});
      makeWinograd(calls.emplace_back(call), /*packs=*/false);
    }
    for (const Call &own : calls)
      for (Isa isa : runnableIsas()) {
        std::unique_ptr<PreparedKernel> kernel;
        Status status = prepareConv(own.view(), isa, kernel);
        ASSERT_TRUE(status.isOk()) << status.message();
        const bool packs = own.attributes.getInt("packed_w", 0);
        EXPECT_EQ((packs ? kernel.get() : kernel->next())->tiles(), 0);
      }
  }
}

/// Small images have weights of another form.
TEST(BlockedConvTest, WinogradRefusesWeightsOfOtherImages) {
  auto callOf = [](int64_t side) {
    Call call = makeCall({1, 32, {side, side}, 32, {3, 3}, {}, {1, 1, 1, 1}});
    makeBlocked(call, Blocks::All);
    makeWinograd(call);
    return call;
  };
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  for (int64_t side : {7, 14})
    for (int64_t other : {7, 14}) {
      Call call = callOf(side);
      const auto bytes =
          static_cast<int64_t>(entry->packedBytes(callOf(other).view(), 1));
      call.inputs[1] = f32({bytes / 4});
      call.attributes.set("packed_shape", std::vector<int64_t>{32, 32, 3, 3});
      std::unique_ptr<PreparedKernel> kernel;
      const Status status = entry->prepare(call.view(), kernel);
      EXPECT_EQ(status.isOk(), side == other) << status.message();
      EXPECT_EQ(status.isOk(),
                status.message().find("expected a packed operand of") ==
                    std::string::npos);
    }
}

/// Calls come from files.
TEST(BlockedConvTest, RefusesCalls) {
  const ConvCase base{1, 32, {9, 9}, 32, {3, 3}};
  auto refuse = [](const ConvCase &c, Blocks blocks, auto change,
                   const char *part) {
    Call call = makeCall(c);
    makeBlocked(call, blocks);
    call.attributes.set("packed_w", int64_t{1});
    change(call);
    std::unique_ptr<PreparedKernel> kernel;
    Status status = prepareConv(call.view(), bestIsa(), kernel);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos)
        << status.message() << ", expected " << part;
    EXPECT_EQ(kernel, nullptr);
  };
  auto nothing = [](Call &) {};
  auto setBlock = [](int64_t block) {
    return [block](Call &x) { x.attributes.set("channel_block", block); };
  };
  refuse(base, Blocks::All, setBlock(8), "'channel_block' to be 0 or 16");
  refuse(base, Blocks::All, setBlock(-16), "'channel_block' to be 0 or 16");
  refuse(base, Blocks::All, setBlock(0), "of equal rank");
  refuse(
      base, Blocks::All, [](Call &x) { x.inputs[0].shape.back() = 8; },
      "expected an input in blocks of 16 channels");
  refuse(
      base, Blocks::All, [](Call &x) { x.output.shape.back() = 8; },
      "expected an output in blocks of 16 channels");
  refuse(
      base, Blocks::All, [](Call &x) { x.inputs[0].shape[1] = 1; },
      "input channels a group");
  refuse(
      base, Blocks::All, [](Call &x) { x.output.shape[1] = 1; },
      "of 32 channels");
  refuse(
      base, Blocks::All,
      [](Call &x) { x.attributes.set("packed_w", int64_t{0}); },
      "expected a workspace of 36864 bytes");
  refuse(
      base, Blocks::All,
      [](Call &x) {
        x.workspace = TensorType{DLC_I8, {8}};
      },
      "expected no workspace");
  ConvCase c = base;
  c.group = 4;
  refuse(c, Blocks::All, nothing, "blocks of 16 output channels of one group");
  c = base;
  c.channels = 48, c.outChannels = 32, c.group = 2;
  refuse(c, Blocks::All, nothing, "blocks of 16 input channels of one group");
  c = base;
  c.outChannels = 64, c.group = 32;
  refuse(c, Blocks::All, nothing, "as many output channels as input channels");
  c = base;
  c.in = {40, 40}, c.kernel = {37, 37};
  refuse(c, Blocks::All, nothing, "at most 1365 taps");
  c = base;
  c.group = 2;
  refuse(c, Blocks::Output, nothing,
         "one group where one tensor is not blocked");
  c = base;
  c.channels = 24;
  refuse(
      c, Blocks::All, [](Call &x) { x.inputs[0].shape[1] = 1; },
      "expected 16 input channels a group");
  refuse(
      c, Blocks::All, [](Call &x) { x.inputs[0].shape[1] = 3; },
      "expected 48 input channels a group");
  c = base;
  c.channels = 2600;
  refuse(c, Blocks::Output, nothing, "that fit with their offsets in 176 KiB");
  auto setWinograd = [](Call &x) {
    x.attributes.set("algorithm", std::string("winograd"));
  };
  refuse(base, Blocks::Input, setWinograd,
         "both tensors or none in blocks, or the output alone, for algorithm "
         "'winograd'");
  ConvCase first{1, 3, {20, 20}, 32, {7, 7}, {2, 2}, {3, 3, 3, 3}};
  auto refusePhases = [&](const ConvCase &c) {
    refuse(c, Blocks::Output, setWinograd,
           "at most 4 channels, packed weights, one group, strides of two and "
           "5x5 to 8x8 taps");
  };
  refusePhases(base);
  for (auto change : {+[](ConvCase &c) { c.channels = 5; },
                      +[](ConvCase &c) { c.outChannels = 24; },
                      +[](ConvCase &c) {
                        c.kernel = {7, 5};
                      },
                      +[](ConvCase &c) {
                        c.kernel = {9, 9};
                      },
                      +[](ConvCase &c) {
                        c.kernel = {3, 3};
                      },
                      +[](ConvCase &c) {
                        c.strides = {2, 1};
                      },
                      +[](ConvCase &c) {
                        c.dilations = {1, 2};
                      }}) {
    c = first;
    change(c);
    refusePhases(c);
  }
  refuse(
      first, Blocks::Output,
      [](Call &x) {
        x.attributes.set("algorithm", std::string("winograd"));
        x.attributes.set("packed_w", int64_t{0});
      },
      "at most 4 channels, packed weights");
  refuse(base, Blocks::All, setWinograd, "expected a workspace of 23040");
  c = base;
  c.outChannels = 24;
  refuse(c, Blocks::All, setWinograd, "whole blocks for algorithm 'winograd'");
  c = base;
  for (const Shape &strides : {Shape{2, 1}, Shape{3, 3}}) {
    c.strides = strides;
    refuse(c, Blocks::All, setWinograd,
           "expected algorithm 'winograd' with packed weights");
  }
  c.strides = {2, 2};
  c.in = {16, 9};
  c.pads = {1, 1, 1, 1};
  refuse(c, Blocks::All, setWinograd,
         "expected outputs that tiles of four and three fill for algorithm "
         "'winograd' with strides of two or 2x2 taps, got 5");
  c.in = {16, 11};
  refuse(c, Blocks::All, setWinograd, "expected a workspace of");
  refuse(
      c, Blocks::All,
      [](Call &x) {
        const int64_t images = int64_t{1} << 24;
        x.inputs[0].shape[0] = x.output.shape[0] = images;
        x.attributes.set("algorithm", std::string("winograd"));
      },
      "expected at most 4096 parts for algorithm 'winograd', got");
}

TEST(BlockedConvTest, Cost) {
  auto overheadOf = [](const Call &call) {
    return lookupLibraryEntry("cpu.conv")->cost(call.view()).overhead;
  };
  Call plain = makeCall({1, 32, {5, 6}, 16, {3, 3}});
  Call output = plain, all = plain;
  makeBlocked(output, Blocks::Output);
  makeBlocked(all, Blocks::All);
  constexpr uint64_t outputs = 16 * 3 * 4, flops = 2 * outputs * 32 * 9;
  constexpr uint64_t elements = 3 * 4 * 32 * 9; // Of x, under taps.
  EXPECT_EQ(overheadOf(all), 6 * outputs + flops / 5);
  EXPECT_EQ(overheadOf(output), 6 * outputs + flops / 5 + 32 * elements);
  EXPECT_EQ(overheadOf(plain), 6 * outputs + (20 + 256 / 4) * elements);
  // Four blocks of channels are summed at a time, of the last one eight are.
  Call many = makeCall({1, 32, {5, 6}, 72, {3, 3}});
  makeBlocked(many, Blocks::Output);
  EXPECT_EQ(overheadOf(many),
            (72 * 6 + 2 * 32 * 32 * 9 + 8 * 2 * 32 * 9) * 12u);
  Call point = makeCall({1, 32, {3, 4}, 16, {1, 1}});
  makeBlocked(point, Blocks::Output);
  EXPECT_EQ(overheadOf(point),
            6 * outputs + 2 * 32 * outputs / 5 + 14 * 32 * 12);
  Call image = plain;
  makeBlocked(image, Blocks::Input);
  EXPECT_EQ(overheadOf(image), 6 * outputs + flops / 5 + 28 * outputs);
  Call winograd = all;
  makeWinograd(winograd);
  // Weights are transformed for the one block of tiles.
  EXPECT_EQ(overheadOf(winograd), 100u * 32 * 16);
  // Of 28 tiles at a time in steps of two, or half as many of few channels.
  for (int64_t channels : {32, 64}) {
    Call strided =
        makeCall({2, channels, {32, 32}, 16, {3, 3}, {2, 2}, {1, 1, 1, 1}});
    makeBlocked(strided, Blocks::All);
    makeWinograd(strided);
    EXPECT_EQ(overheadOf(strided),
              (channels < 64 ? 3u : 2u) * 400 * channels * 16);
  }
  // Depthwise convolutions of blocks take what their memory takes; plain ones
  // compute whole vectors, of rows of 4 and of 17.
  for (int64_t width : {4, 17}) {
    Call depthwise =
        makeCall({1, 16, {5, width + 2}, 16, {3, 3}, {}, {}, {}, /*group=*/16});
    const uint64_t vectors = width == 4 ? 1 : 2;
    EXPECT_EQ(overheadOf(depthwise), 2u * 9 * 16 * 3 * 16 * vectors);
    makeBlocked(depthwise, Blocks::All);
    depthwise.attributes.set("packed_w", int64_t{1});
    EXPECT_EQ(overheadOf(depthwise), 0u);
  }
}
