// SPDX-License-Identifier: Apache-2.0
//
// cpu.matmul and cpu.conv of floats that are rounded to bfloat16, against sums
// of the rounded floats' products in double, and against what that may be off
// from those of the floats.

#include "RoundedTesting.h"

#include <bit>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

/// The kernels' sums are those of rounded operands, but for their order.
void check(const MatmulCase &c) {
  Call call = makeCall(c), exact = call;
  roundOperands(exact);
  const std::vector<double> expected = reference(c, exact);
  packB(call);
  expectMatches(call, prepareMatmul, expected, textOf(c));
  // With memory for rows that are rounded before.
  const size_t bytes =
      lookupLibraryEntry("cpu.matmul")->workspaceBytes(call.view());
  if (bytes == 0)
    return;
  call.workspace = {DLC_I8, {static_cast<int64_t>(bytes)}};
  expectMatches(call, prepareMatmul, expected, textOf(c) + " workspace");
}

} // namespace

TEST(RoundedTest, MatmulOfEveryShape) {
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 16, 33, 49, 65})
    for (int64_t n : {1, 3, 8, 15, 16, 17, 40, 63, 64, 65, 100, 130})
      for (int64_t k : {1, 2, 5, 16, 31, 32, 33, 64, 99})
        check(roundedCase(m, n, k));
}

TEST(RoundedTest, MatmulOfManyTiles) {
  for (int64_t m : {1, 5, 48, 145, 401})
    for (int64_t k : {511, 1024, 1025, 2100})
      check(roundedCase(m, 330, k));
  check(roundedCase(50, 16, 9000));
  check(roundedCase(117, 600, 1801));
  check(roundedCase(390, 260, 770));
}

TEST(RoundedTest, MatmulOfEveryForm) {
  for (bool transB : {false, true})
    for (const Shape &batch : {Shape{}, Shape{3}, Shape{2, 3}}) {
      MatmulCase c = roundedCase(7, 70, 33);
      c.transB = transB;
      c.aBatch = {2, 3};
      c.bBatch = batch;
      check(c);
    }
  for (const MatmulCase &c : casesOfEpilogues())
    check(c);
}

/// What the mode promises: each operand is off by 2^-8 of itself at most.
TEST(RoundedTest, ErrorIsThatOfOperands) {
  for (int64_t k : {3, 64, 1000, 4096}) {
    const MatmulCase c = roundedCase(50, 70, k);
    Call call = makeCall(c), sizes = call;
    const std::vector<double> expected = reference(c, call);
    for (size_t operand : {0, 1})
      for (int64_t i = 0; i < sizes.values[operand].size(); ++i) {
        float &value = sizes.values[operand].data()[i];
        value = std::fabs(value);
      }
    const std::vector<double> size = reference(c, sizes);
    packB(call);
    for (Isa isa : runnableIsas(call)) {
      const std::vector<float> values = runCall(call, prepareMatmul, isa);
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_LE(std::fabs(values[i] - expected[i]),
                  size[i] * (2 * 0x1p-8 + 0x1p-16 + 4e-6))
            << nameOf(isa) << " " << i;
    }
  }
}

/// One element of an operand and a one: the result is the element, rounded.
TEST(RoundedTest, RoundsToTheNearest) {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               1.0f,
                               0x1.01p0f,
                               0x1.03p0f,
                               0x1.02p0f,
                               0x1.010002p0f,
                               0x1.feffffp0f,
                               0x1.ffp0f,
                               kLargest,
                               0x1.fefffep127f,
                               kTooLarge,
                               -kTooLarge,
                               0x1.fffffep127f,
                               kInfinity,
                               -kInfinity,
                               0x1p-126f,
                               0x1.01p-126f,
                               0x1.fffffep-127f,
                               -0x1p-127f,
                               0x1p-149f,
                               std::bit_cast<float>(0x7f800001u),
                               std::bit_cast<float>(0xffffffffu),
                               std::bit_cast<float>(0x7fffffffu)};
  Random random(5);
  for (int i = 0; i < 1000; ++i)
    values.push_back(
        std::ldexp(random.next(), static_cast<int>(random.below(200)) - 100));
  for (int operand : {0, 1})
    for (int64_t at : {0, 1, 17, 34}) {
      const auto count = static_cast<int64_t>(values.size());
      MatmulCase c =
          operand == 0 ? roundedCase(count, 1, 35) : roundedCase(1, count, 35);
      Call call = makeCall(c);
      for (int64_t i = 0; i < call.values[operand].size(); ++i)
        call.values[operand].data()[i] = 0;
      for (int64_t i = 0; i < count; ++i)
        call.values[operand]
            .data()[operand == 0 ? i * 35 + at : at * count + i] = values[i];
      for (int64_t i = 0; i < 35; ++i)
        call.values[1 - operand].data()[i] = 1;
      packB(call);
      for (Isa isa : runnableIsas(call)) {
        const std::vector<float> results = runCall(call, prepareMatmul, isa);
        for (int64_t i = 0; i < count; ++i) {
          const float expected = rounded(values[i]);
          if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(results[i])) << nameOf(isa) << " " << i;
          else
            EXPECT_EQ(results[i], expected) << nameOf(isa) << " " << values[i];
        }
      }
    }
}

/// What is not finite is so where it is in sums of floats, and nowhere else.
TEST(RoundedTest, NotFiniteValuesStayInTheirRows) {
  for (float value : {kInfinity, -kInfinity, std::nanf(""), kTooLarge})
    for (int operand : {0, 1})
      for (int64_t at : {0, 98, 700, 47 * 99 - 1}) {
        const MatmulCase c = roundedCase(47, 99, 99);
        Call call = makeCall(c);
        call.values[operand].data()[at] = value;
        Call exact = call;
        roundOperands(exact);
        const std::vector<double> expected = reference(c, exact);
        packB(call);
        for (Isa isa : runnableIsas(call)) {
          const std::vector<float> values = runCall(call, prepareMatmul, isa);
          for (size_t i = 0; i < values.size(); ++i)
            if (std::isfinite(expected[i]))
              EXPECT_NEAR(values[i], expected[i], 1e-5) << nameOf(isa) << i;
            else if (std::isnan(expected[i]))
              EXPECT_TRUE(std::isnan(values[i])) << nameOf(isa) << i;
            else
              EXPECT_EQ(values[i], static_cast<float>(expected[i]))
                  << nameOf(isa) << i;
        }
      }
}

/// Sums that overflow are infinite, and results of some denormals' size may be
/// lost.
TEST(RoundedTest, SumsOfAnyMagnitude) {
  for (float scale :
       {0x1p-70f, 0x1p-62f, 0x1p-40f, 0x1p40f, 0x1p63f, 0x1p66f}) {
    const MatmulCase c = roundedCase(8, 33, 40);
    Call call = makeCall(c);
    for (size_t operand : {0, 1})
      for (int64_t i = 0; i < call.values[operand].size(); ++i)
        call.values[operand].data()[i] =
            (std::fabs(call.values[operand].data()[i]) + 0.5f) * scale;
    Call exact = call;
    roundOperands(exact);
    const std::vector<double> expected = reference(c, exact);
    packB(call);
    for (Isa isa : runnableIsas(call)) {
      const std::vector<float> values = runCall(call, prepareMatmul, isa);
      for (size_t i = 0; i < values.size(); ++i) {
        if (expected[i] > std::numeric_limits<float>::max())
          EXPECT_EQ(values[i], kInfinity) << nameOf(isa) << " " << scale;
        else
          EXPECT_NEAR(values[i], expected[i],
                      4e-6 * expected[i] + c.k * 0x1p-126)
              << nameOf(isa) << " " << scale;
      }
    }
  }
}

TEST(RoundedTest, MatmulMayOverwriteTheResidual) {
  MatmulCase c = roundedCase(60, 140, 2100);
  c.residual = true;
  c.activation = "gelu";
  Call call = makeCall(c), exact = call;
  roundOperands(exact);
  const std::vector<double> expected = reference(c, exact);
  packB(call);
  for (Isa isa : runnableIsas(call)) {
    std::unique_ptr<PreparedKernel> kernel;
    ASSERT_TRUE(prepareMatmul(call.view(), isa, kernel).isOk());
    GuardedBuffer c0 = call.values[3];
    void *arguments[] = {call.values[0].data(), call.values[1].data(), nullptr,
                         c0.data(), c0.data()};
    kernel->run(arguments, 0, kernel->tiles());
    EXPECT_TRUE(c0.guardsIntact());
    EXPECT_LE(errorOf({c0.data(), c0.data() + c0.size()}, expected), 4e-6);
  }
}

TEST(RoundedTest, MatmulRefusesOtherForms) {
  auto refuse = [](auto change) {
    Call call = makeCall(roundedCase(3, 5, 7));
    call.attributes.set("packed_b", int64_t{2});
    change(call.attributes);
    std::unique_ptr<PreparedKernel> kernel;
    const LibraryEntry *entry = lookupLibraryEntry("cpu.matmul");
    const Status status = entry->prepare(call.view(), kernel);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find("'packed_b' to be 2 and 'trans_a' to be 0"),
              std::string::npos)
        << status.message();
    EXPECT_EQ(entry->packedBytes(call.view(), 1), 0u);
  };
  refuse([](Attributes &a) { a.set("packed_b", int64_t{0}); });
  refuse([](Attributes &a) { a.set("packed_b", int64_t{1}); });
  refuse([](Attributes &a) { a.set("trans_a", int64_t{1}); });
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
void checkConv(const ConvCase &c, Blocks blocks = Blocks::All) {
  // Of a plain input there is one form.
  for (int64_t packing = blocks == Blocks::Output ? 2 : 1; packing <= 2;
       ++packing)
    checkConvOf(c, blocks, packing);
}
} // namespace

TEST(RoundedTest, ConvOfEveryShape) {
  for (int64_t pixels : {1, 2, 5, 6, 7, 13, 49, 127, 128, 129, 300})
    for (int64_t outChannels : {16, 48, 64, 80, 144})
      checkConv({2, 32, {1, pixels}, outChannels, {1, 1}});
  for (int64_t width = 1; width < 30; ++width)
    for (int64_t stride : {1, 2, 3})
      checkConv(
          {1, 16, {4, width}, 16, {3, 3}, {stride, stride}, {1, 1, 1, 1}});
}

TEST(RoundedTest, ConvOfManyTerms) {
  for (const ConvCase &c : casesOfManyTerms(16))
    checkConv(c);
}

/// Enough of them for pixels that are rounded before.
TEST(RoundedTest, ConvOfManyChannels) {
  auto hasWorkspace = [](const ConvCase &c) {
    Call call = makeCall(c);
    makeBlocked(call, Blocks::All);
    call.attributes.set("packed_w", int64_t{2});
    call.attributes.set("bf16_parts", int64_t{1});
    return lookupLibraryEntry("cpu.conv")->workspaceBytes(call.view()) > 0;
  };
  const ConvCase cases[] = {
      {2, 528, {9, 15}, 144, {1, 1}},
      {1, 512, {21, 13}, 80, {1, 1}, {2, 2}},
      {1, 256, {15, 17}, 80, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {1, 512, {13, 9}, 256, {2, 3}, {1, 2}, {1, 1, 0, 1}, {2, 1}, 2, true},
      {1, 1024, {90}, 80, {3}, {}, {1, 1}},
  };
  for (const ConvCase &c : cases) {
    EXPECT_TRUE(hasWorkspace(c)) << textOf(c, true);
    checkConv(c);
  }
  EXPECT_FALSE(hasWorkspace({1, 512, {9, 9}, 80, {1, 1}, {}, {1, 1, 1, 1}}));
  EXPECT_FALSE(hasWorkspace({1, 512, {9, 9}, 64, {1, 1}}));
}

/// A plan looks at as many rows as a tile has, not at all that are said to be.
TEST(RoundedTest, ConvOfManyEmptyRowsHasNoWorkspace) {
  constexpr int64_t rows = int64_t{1} << 40;
  Call call;
  call.inputs = {{DLC_F32, {1, 2, rows, 0, 16}}, {DLC_F32, {16, 32, 3, 1}}};
  call.output = {DLC_F32, {1, 1, rows - 2, 0, 16}};
  call.attributes.set("channel_block", int64_t{16});
  call.attributes.set("packed_w", int64_t{2});
  call.attributes.set("bf16_parts", int64_t{1});
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  EXPECT_EQ(entry->workspaceBytes(call.view()), 0u);
  std::unique_ptr<PreparedKernel> kernel;
  const Status status = prepareConv(call.view(), Isa::Baseline, kernel);
  if (status.isOk())
    EXPECT_EQ(kernel->tiles(), 0);
}

TEST(RoundedTest, ConvOfEveryWindow) {
  for (const Shape &pads : {Shape{0, 0, 0, 0}, Shape{1, 0, 2, 3},
                            Shape{0, 5, 0, 0}, Shape{4, 2, 1, 6}})
    for (const Shape &strides : {Shape{1, 1}, Shape{2, 1}, Shape{3, 5}})
      for (const Shape &dilations : {Shape{1, 1}, Shape{2, 3}})
        for (int64_t group : {1, 2})
          checkConv({2,
                     32,
                     {11, 13},
                     160,
                     {2, 3},
                     strides,
                     pads,
                     dilations,
                     group,
                     true,
                     true,
                     "clamp"});
  checkConv({1, 128, {60}, 128, {3}, {}, {1, 1}});
}

TEST(RoundedTest, ConvToPlainTensors) {
  for (int64_t outChannels : {1, 3, 16, 24, 70, 150})
    for (int64_t width : {1, 7, 20})
      for (int64_t stride : {1, 2})
        checkConv({2,
                   32,
                   {9, width},
                   outChannels,
                   {3, 1},
                   {stride, stride},
                   {1, 0, 1, 0},
                   {},
                   1,
                   true,
                   stride == 1,
                   stride == 1 ? "relu" : "silu"},
                  Blocks::Input);
  checkConv({1, 1040, {9, 11}, 130, {1, 1}}, Blocks::Input);
}

TEST(RoundedTest, ConvOfPlainTensors) {
  for (int64_t channels : {1, 3, 4, 20})
    for (int64_t taps : {1, 3, 4, 7, 11, 32})
      for (int64_t stride : {1, 2, 8})
        checkConv({2,
                   channels,
                   {9, 131},
                   80,
                   {3, taps},
                   {2, stride},
                   {1, taps / 2, 1, taps / 2},
                   {2, 1},
                   1,
                   true,
                   stride == 1,
                   stride == 1 ? "relu" : "silu"},
                  Blocks::Output);
  for (const Shape &pads : {Shape{0, 0, 0, 0}, Shape{1, 0, 2, 3},
                            Shape{0, 5, 0, 0}, Shape{4, 2, 1, 9}})
    checkConv({1, 3, {11, 13}, 16, {2, 3}, {1, 3}, pads}, Blocks::Output);
  checkConv({1, 3, {300}, 64, {5}, {2}, {2, 2}}, Blocks::Output);
}

TEST(RoundedTest, ConvWithActivations) {
  for (const char *activation : kActivations)
    checkConv({1,
               32,
               {7, 9},
               80,
               {3, 3},
               {},
               {1, 1, 1, 1},
               {},
               1,
               true,
               true,
               activation});
}

TEST(RoundedTest, ConvKeepsNotFiniteValuesUnderTheirWindows) {
  for (float value : {kInfinity, std::nanf(""), kTooLarge})
    for (size_t operand : {0, 1}) {
      // Padding is zeros, which weights are multiplied by.
      const int64_t pad = operand == 0 ? 1 : 0;
      const ConvCase c = {1, 32, {9, 9}, 80, {3, 3}, {}, {pad, pad, pad, pad}};
      Call call = makeCall(c);
      call.values[operand].data()[operand ? 300 : 17] = value;
      Call exact = call;
      roundOperands(exact);
      const std::vector<double> plain = reference(c, exact);
      const std::vector<double> expected = blocked(plain.data(), call.output);
      makeBlocked(call, Blocks::All);
      call.attributes.set("packed_w", int64_t{1});
      call.attributes.set("bf16_parts", int64_t{1});
      packW(call);
      for (Isa isa : runnableIsas(call)) {
        const std::vector<float> values = runCall(call, prepareConv, isa);
        for (size_t i = 0; i < values.size(); ++i)
          if (std::isfinite(expected[i]))
            EXPECT_NEAR(values[i], expected[i], 1e-5) << nameOf(isa) << i;
          else
            EXPECT_EQ(std::isnan(values[i]), std::isnan(expected[i]))
                << nameOf(isa) << i;
      }
    }
}

/// Beside a window there may be what is not finite, too.
TEST(RoundedTest, ConvOfPlainTensorsReadsNothingBesideItsWindows) {
  const ConvCase c = {1, 3, {4, 40}, 16, {1, 3}, {1, 5}};
  Call call = makeCall(c);
  for (int64_t i = 3; i < 40; i += 5) // Between two windows.
    for (int64_t row = 0; row < 12; ++row)
      call.values[0].data()[row * 40 + i] = std::nanf("");
  makeBlocked(call, Blocks::Output);
  call.attributes.set("packed_w", int64_t{2});
  call.attributes.set("bf16_parts", int64_t{1});
  packW(call);
  for (Isa isa : runnableIsas(call))
    for (float value : runCall(call, prepareConv, isa))
      EXPECT_TRUE(std::isfinite(value)) << nameOf(isa);
}

TEST(RoundedTest, ConvRefusesOtherForms) {
  auto refuse = [](const ConvCase &c, std::optional<Blocks> blocks,
                   auto change) {
    Call call = makeCall(c);
    if (blocks)
      makeBlocked(call, *blocks);
    call.attributes.set("packed_w", int64_t{1});
    call.attributes.set("bf16_parts", int64_t{1});
    change(call.attributes);
    std::string why;
    const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
    EXPECT_FALSE(entry->isSupported(call.view(), why));
    EXPECT_NE(why.find("where 'bf16_parts' is 1"), std::string::npos) << why;
    EXPECT_EQ(entry->packedBytes(call.view(), 1), 0u);
  };
  const ConvCase base = {1, 32, {9, 9}, 32, {3, 3}};
  auto nothing = [](Attributes &) {};
  auto paired = [](Attributes &a) { a.set("packed_w", int64_t{2}); };
  refuse(base, std::nullopt, nothing);
  refuse(base, std::nullopt, paired);
  refuse({1, 32, {9, 9}, 32, {8, 7}, {}, {1, 1, 1, 1}}, Blocks::All, nothing);
  refuse(base, Blocks::All,
         [](Attributes &a) { a.set("packed_w", int64_t{0}); });
  refuse(base, Blocks::All,
         [](Attributes &a) { a.set("algorithm", std::string("winograd")); });
  refuse(base, Blocks::Output, nothing);
  refuse({1, 3, {9, 99}, 32, {3, 33}}, Blocks::Output, paired);
  refuse({1, 3, {9, 99}, 32, {3, 3}, {1, 9}}, Blocks::Output, paired);
  refuse({1, 3, {9, 99}, 32, {3, 3}, {}, {}, {1, 2}}, Blocks::Output, paired);
}
