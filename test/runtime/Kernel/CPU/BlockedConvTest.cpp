// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv on tensors in blocks of 16 channels against a convolution in double.

#include "ConvTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

/// Which tensors are blocked.
enum class Blocks { Input, Output, All };

/// The elements of [N][C][pixels] as [N][C/16][pixels][16].
template <typename T>
std::vector<T> blocked(const T *plain, const TensorType &type) {
  const int64_t count = *elementCount(type.shape);
  if (count == 0)
    return {};
  const int64_t channels = type.shape[1];
  const int64_t pixels = count / type.shape[0] / channels;
  std::vector<T> result(count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t pixel = i % pixels, channel = i / pixels % channels;
    const int64_t image = i / pixels / channels;
    result[((image * channels + channel / 16 * 16) * pixels) + pixel * 16 +
           channel % 16] = plain[i];
  }
  return result;
}

TensorType blockedType(TensorType type) {
  type.shape[1] /= 16;
  type.shape.push_back(16);
  return type;
}

void blockInput(Call &call, size_t input) {
  std::vector<float> values =
      blocked(call.values[input].data(), call.inputs[input]);
  std::copy(values.begin(), values.end(), call.values[input].data());
  call.inputs[input] = blockedType(call.inputs[input]);
}

void makeBlocked(Call &call, Blocks blocks) {
  if (blocks != Blocks::Output)
    blockInput(call, 0);
  if (blocks == Blocks::Input)
    return;
  if (call.inputs.size() > 3)
    blockInput(call, 3);
  call.output = blockedType(call.output);
  call.attributes.set("channel_block", int64_t{16});
}

/// With weights that are packed, that are not, and, where asked for, as F(4x4).
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
  EXPECT_EQ(bytes, call.values[1].size() / c.outChannels *
                       ((c.outChannels + 15) / 16 * 16) * 4);
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

/// Sums over more terms than are taken at a time; weights larger than L2.
TEST(BlockedConvTest, LongSums) {
  check({1, 1024, {7, 7}, 80, {1, 1}, {}, {}, {}, 1, true, true, "silu"});
  check({1, 256, {7, 7}, 64, {3, 3}, {}, {1, 1, 1, 1}, {}, 1, true, true});
  check({2, 512, {5, 6}, 304, {1, 1}});
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

/// Several parts of the tiles, groups of panels and blocks of input channels.
TEST(BlockedConvTest, LargeWinograd) {
  check({1, 64, {56, 56}, 64, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
  check({2, 272, {29, 31}, 80, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
}

/// Weights that are transformed in parts, for one part of the tiles and for
/// several.
TEST(BlockedConvTest, WinogradOfManyWeights) {
  check({1, 1040, {6, 5}, 144, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
  check({4, 1040, {16, 13}, 80, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::All, true);
}

/// One element that is not finite, or large sums: as by the definition.
TEST(BlockedConvTest, NotFiniteWinograd) {
  const ConvCase c{1, 16, {10, 11}, 32, {3, 3}, {}, {1, 1, 1, 1}, {}, 1, true};
  for (float value : {INFINITY, -INFINITY, std::nanf(""), 1e38f}) {
    Call direct = makeCall(c);
    for (int64_t i = 0; i < direct.values[1].size(); ++i)
      direct.values[1].data()[i] = std::fabs(direct.values[1].data()[i]) + 0.1f;
    direct.values[0].data()[110 + 4 * 11 + 6] = value;
    makeBlocked(direct, Blocks::All);
    Call calls[] = {direct, direct};
    makeWinograd(calls[0]);
    makeWinograd(calls[1], /*packs=*/false);
    direct.attributes.set("packed_w", int64_t{1});
    packW(direct);
    for (Isa isa : runnableIsas()) {
      std::vector<float> expected = runCall(direct, prepareConv, isa);
      for (Call &call : calls) {
        std::vector<float> values = runCall(call, prepareConv, isa);
        for (size_t i = 0; i < values.size(); ++i) {
          EXPECT_EQ(std::isnan(values[i]), std::isnan(expected[i])) << i;
          EXPECT_EQ(std::isinf(values[i]), std::isinf(expected[i])) << i;
          if (std::isfinite(value))
            EXPECT_NEAR(values[i] / 1e38f, expected[i] / 1e38f, 1e-5);
          else if (std::isfinite(expected[i]))
            EXPECT_NEAR(values[i], expected[i], 1e-4) << i;
        }
      }
    }
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
    for (bool isWinograd : {false, true}) {
      if (isWinograd && group > 1)
        continue;
      const ConvCase c{1,  32,    {9, 9}, 32,   {3, 3}, {}, {1, 1, 1, 1},
                       {}, group, true,   true, "silu"};
      Call call = makeCall(c);
      std::vector<double> plain = reference(c, call);
      std::vector<double> expected = blocked(plain.data(), call.output);
      makeBlocked(call, Blocks::All);
      call.attributes.set("packed_w", int64_t{1});
      if (isWinograd)
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
    packW(call);
    for (Isa isa : runnableIsas()) {
      std::unique_ptr<PreparedKernel> kernel;
      Status status = prepareConv(call.view(), isa, kernel);
      ASSERT_TRUE(status.isOk()) << status.message();
      EXPECT_EQ(kernel->tiles(), 0);
    }
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
      base, Blocks::All, [](Call &x) { x.workspace = TensorType{DLC_I8, {8}}; },
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
  c.in = {1, 30000}, c.kernel = {1, 1}, c.channels = 1;
  refuse(c, Blocks::Output, nothing, "that fit in 112 KiB");
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
  EXPECT_EQ(overheadOf(all), 12 * outputs);
  EXPECT_EQ(overheadOf(output), 12 * outputs + flops / 8);
  EXPECT_EQ(overheadOf(plain), flops / 6);
  Call winograd = all;
  makeWinograd(winograd);
  EXPECT_EQ(overheadOf(winograd), 0u);
  // Depthwise convolutions take what their memory takes.
  Call depthwise =
      makeCall({1, 16, {5, 6}, 16, {3, 3}, {}, {}, {}, /*group=*/16});
  EXPECT_EQ(overheadOf(depthwise), 0u);
}
