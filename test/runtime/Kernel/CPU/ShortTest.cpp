// SPDX-License-Identifier: Apache-2.0
//
// cpu.matmul and cpu.conv with tensors of bfloat16, and Winograd's algorithm of
// rounded floats, against sums of the rounded floats' products in double.

#include "RoundedTesting.h"

#include <algorithm>
#include <functional>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

//===----------------------------------------------------------------------===//
// Tensors of bfloat16
//===----------------------------------------------------------------------===//

namespace {
std::vector<float> valuesOf(Call &call, size_t operand) {
  float *data = call.values[operand].data();
  return {data, data + call.values[operand].size()};
}

void expectRounded(Call &call, PrepareFunction prepare,
                   const std::vector<double> &expected,
                   const std::string &label) {
  if (call.output.type == DLC_F32)
    return expectMatches(call, prepare, expected, label);
  for (Isa isa : runnableIsas(call)) {
    SCOPED_TRACE(label + " " + std::string(nameOf(isa)));
    expectNearest(runCall(call, prepare, isa), expected);
  }
}

/// Gives the call all that it wants.
Call &setWorkspace(Call &call, const char *entry) {
  const size_t bytes = lookupLibraryEntry(entry)->workspaceBytes(call.view());
  if (bytes > 0)
    call.workspace = {DLC_I8, {static_cast<int64_t>(bytes)}};
  return call;
}

void expectRoundedWithWorkspace(Call &call, PrepareFunction prepare,
                                const char *entry,
                                const std::vector<double> &expected,
                                const std::string &label) {
  expectRounded(call, prepare, expected, label);
  if (lookupLibraryEntry(entry)->workspaceBytes(call.view()) != 0)
    expectRounded(setWorkspace(call, entry), prepare, expected,
                  label + " workspace");
}

void checkShort(const MatmulCase &c) {
  for (Shorts shorts : kShorts) {
    shorts.residual &= c.residual;
    Call call = makeCall(c);
    roundShorts(call, shorts);
    Call exact = call;
    roundOperands(exact);
    const std::vector<double> expected = reference(c, exact);
    packB(call);
    if (shorts.x)
      setShort(call, 0, valuesOf(call, 0), call.inputs[0]);
    if (shorts.residual)
      setShort(call, 3, valuesOf(call, 3), call.inputs[3]);
    if (shorts.y)
      call.output.type = DLC_BF16;
    expectRoundedWithWorkspace(call, prepareMatmul, "cpu.matmul", expected,
                               textOf(c) + textOf(shorts));
  }
}

/// In blocks of 16 channels of floats, 32 of bfloat16.
void setImage(Call &call, size_t operand, bool isShort) {
  const int64_t block = isShort ? 32 : 16;
  const TensorType type = blockedType(call.inputs[operand], block);
  const std::vector<float> values =
      blocked(call.values[operand].data(), call.inputs[operand], block);
  if (isShort)
    return setShort(call, operand, values, type);
  std::copy(values.begin(), values.end(), call.values[operand].data());
  call.inputs[operand] = type;
}

/// Integers, of which Winograd's transforms are integers that bfloat16 holds:
/// then its sums are exact.
void makeSmall(Call &call) {
  Random random(7);
  auto fill = [&](size_t operand, float most, float step) {
    if (operand >= call.inputs.size())
      return;
    for (int64_t i = 0; i < call.values[operand].size(); ++i)
      call.values[operand].data()[i] =
          step * std::nearbyint(most * random.next());
  };
  fill(0, 3, 1);
  fill(1, 2, 4);
  fill(2, 9, 1);
  fill(3, 9, 1);
}

enum class Algorithm { Direct, Winograd };

void checkShort(const ConvCase &c, Blocks blocks = Blocks::All,
                Algorithm algorithm = Algorithm::Direct) {
  const bool isWinograd = algorithm == Algorithm::Winograd;
  for (Shorts shorts : kShorts) {
    shorts.residual &= c.residual;
    if ((shorts.x && blocks == Blocks::Output) ||
        ((shorts.y || shorts.residual) && blocks == Blocks::Input))
      continue;
    Call call = makeCall(c);
    if (isWinograd) {
      makeSmall(call);
      call.attributes.set("algorithm", std::string("winograd"));
    }
    roundShorts(call, shorts);
    Call exact = call;
    roundOperands(exact);
    std::vector<double> expected = reference(c, exact);
    if (blocks != Blocks::Output)
      setImage(call, 0, shorts.x);
    if (blocks != Blocks::Input) {
      expected = blocked(expected.data(), call.output, shorts.y ? 32 : 16);
      if (c.residual)
        setImage(call, 3, shorts.residual);
      call.output = blockedType(call.output, shorts.y ? 32 : 16);
      call.attributes.set("channel_block", int64_t{16});
    }
    if (shorts.y)
      call.output.type = DLC_BF16;
    call.attributes.set("packed_w", int64_t{2});
    call.attributes.set("bf16_parts", int64_t{1});
    packW(call);
    const std::string text = textOf(c, true) + textOf(shorts);
    if (isWinograd)
      expectRounded(setWorkspace(call, "cpu.conv"), prepareConv, expected,
                    text + " winograd");
    else
      expectRoundedWithWorkspace(call, prepareConv, "cpu.conv", expected, text);
  }
}
} // namespace

TEST(ShortTest, MatmulOfEveryShape) {
  for (int64_t m : {1, 6, 7, 17, 33})
    for (int64_t n : {1, 16, 33, 64, 130})
      for (int64_t k : {1, 31, 32, 99})
        checkShort(roundedCase(m, n, k));
}

TEST(ShortTest, MatmulOfManyTiles) {
  for (int64_t m : {5, 145})
    for (int64_t k : {511, 1100})
      checkShort(roundedCase(m, 330, k));
  checkShort(roundedCase(401, 70, 1024));
  checkShort(roundedCase(50, 16, 5000));
  checkShort(roundedCase(17, 600, 801));
}

/// One matrix for several, of rows that tiles read where they are.
TEST(ShortTest, MatmulOfOneMatrixForAll) {
  for (int64_t m : {16, 17, 33})
    for (const Shape &a : {Shape{}, Shape{2, 1}, Shape{1, 3}, Shape{2, 3}}) {
      MatmulCase c = roundedCase(m, 32, 64);
      c.aBatch = a;
      c.bBatch = {2, 3};
      checkShort(c);
    }
}

TEST(ShortTest, MatmulOfEveryForm) {
  for (const Shape &batch : {Shape{}, Shape{2, 3}}) {
    MatmulCase c = roundedCase(17, 70, 33);
    c.aBatch = {2, 3};
    c.bBatch = batch;
    checkShort(c);
  }
  for (const MatmulCase &c : casesOfEpilogues())
    checkShort(c);
}

TEST(ShortTest, ConvOfEveryShape) {
  for (int64_t pixels : {1, 2, 5, 7, 13, 16, 49, 127, 128, 129, 300})
    for (int64_t outChannels : {32, 64, 96, 288})
      checkShort({2, 64, {1, pixels}, outChannels, {1, 1}});
  for (int64_t width : {1, 2, 5, 9, 16, 17})
    for (int64_t stride : {1, 2, 3})
      for (int64_t taps : {1, 3})
        checkShort({2,
                    32,
                    {4, width},
                    32,
                    {taps, taps},
                    {stride, stride},
                    {taps / 2, taps / 2, taps / 2, taps / 2}});
}

TEST(ShortTest, ConvOfManyTerms) {
  for (const ConvCase &c : casesOfManyTerms(32))
    checkShort(c);
  checkShort({1, 2048, {5, 7}, 96, {1, 1}, {}, {}, {}, 1, true, true, "relu"});
  checkShort({2, 512, {9, 14}, 320, {1, 1}, {2, 2}, {}, {}, 1, true});
}

/// Blocks of their panels are computed for all images, one after the other.
TEST(ShortTest, ConvOfManyWeightsAndImages) {
  const ConvCase point = {3, 1024, {1, 19}, 800, {1, 1}, {}, {}, {}, 1, true};
  const ConvCase window = {2, 256, {3, 4}, 384, {3, 3}, {}, {1, 1, 1, 1}};
  for (const ConvCase &c : {point, window}) {
    checkShort(c);
    checkConvOf(c, Blocks::All, 2);
  }
}

TEST(ShortTest, ConvOfEveryWindow) {
  checkShort({2, 128, {8, 9}, 64, {3, 3}, {}, {1, 1, 1, 1}, {}, 2, true, true});
  checkShort({1, 64, {9, 11}, 64, {1, 1}, {}, {}, {}, 2, true, true});
  checkShort({1, 64, {9, 11}, 64, {1, 1}, {}, {1, 1, 1, 1}, {}, 1, true});
  checkShort({1, 64, {9, 11}, 64, {1, 1}, {}, {1, 0, 0, 0}, {}, 1, true});
  checkShort({3, 160, {4, 12}, 32, {1, 1}, {}, {1, 0, 1, 6}});
  checkShort({1, 128, {14, 14}, 128, {1, 1}, {2, 2}, {1, 1, 1, 1}});
  checkShort({1, 32, {19, 11}, 64, {3, 2}, {1, 2}, {1, 0, 0, 1}, {3, 2}});
  checkShort({1, 32, {3, 300}, 32, {1, 5}, {}, {0, 2, 0, 2}});
  checkShort({1, 32, {300}, 32, {3}, {2}, {1, 1}});
  for (const char *activation : kActivations)
    checkShort(
        {1, 64, {5, 6}, 64, {1, 1}, {}, {}, {}, 1, true, true, activation});
}

/// Of sums of floats: only what is read and written is rounded.
TEST(ShortTest, DepthwiseConv) {
  auto check = [](const ConvCase &c) {
    for (Shorts shorts :
         {Shorts{false, false, true}, Shorts{true, false, true}}) {
      Call call = makeCall(c);
      if (shorts.x)
        roundOperand(call, 0);
      const std::vector<double> plain = reference(c, call);
      const std::vector<double> expected =
          blocked(plain.data(), call.output, 32);
      setImage(call, 0, shorts.x);
      call.output = blockedType(call.output, 32);
      call.output.type = DLC_BF16;
      call.attributes.set("channel_block", int64_t{16});
      call.attributes.set("packed_w", int64_t{2});
      call.attributes.set("bf16_parts", int64_t{1});
      packW(call);
      expectRounded(call, prepareConv, expected,
                    textOf(c, true) + textOf(shorts));
    }
  };
  for (int64_t kernel : {1, 3, 5, 7})
    for (int64_t stride : {1, 2, 3})
      for (int64_t width : {1, 7, 19, 30})
        check({2,
               64,
               {8, width},
               64,
               {kernel, kernel},
               {stride, stride},
               {kernel / 2, kernel / 2, kernel / 2, kernel / 2},
               {},
               64,
               true});
  check({1, 96, {9, 11}, 96, {2, 4}, {1, 2}, {0, 1, 1, 2}, {2, 1}, 96});
  check({1, 32, {30}, 32, {3}, {2}, {1, 1}, {}, 32, true});
  for (const char *activation : kActivations)
    check({1,
           32,
           {5, 9},
           32,
           {3, 3},
           {},
           {1, 1, 1, 1},
           {},
           32,
           true,
           false,
           activation});
}

TEST(ShortTest, ConvOfPlainTensors) {
  checkShort({2, 64, {9, 7}, 37, {1, 1}, {}, {}, {}, 1, true, true, "relu"},
             Blocks::Input);
  checkShort({1, 32, {9, 7}, 20, {3, 3}, {}, {1, 1, 1, 1}}, Blocks::Input);
  checkShort({2, 3, {23, 27}, 64, {7, 7}, {2, 2}, {3, 3, 3, 3}, {}, 1, true},
             Blocks::Output);
  checkShort({1,
              3,
              {9, 40},
              32,
              {3, 3},
              {2, 2},
              {1, 1, 1, 1},
              {},
              1,
              true,
              false,
              "relu"},
             Blocks::Output);
}

//===----------------------------------------------------------------------===//
// Winograd's algorithm
//===----------------------------------------------------------------------===//

namespace {
void checkWinograd(const ConvCase &c) {
  checkShort(c, Blocks::All, Algorithm::Winograd);
}
} // namespace

TEST(RoundedWinogradTest, OfEveryShape) {
  for (int64_t height : {1, 2, 3, 7, 14})
    for (int64_t width : {1, 2, 5, 8, 13})
      for (int64_t pad : {0, 1, 2})
        if (height + 2 * pad >= 3 && width + 2 * pad >= 3)
          checkWinograd(
              {2, 32, {height, width}, 32, {3, 3}, {}, {pad, pad, pad, pad}});
  for (int64_t channels : {32, 64, 96, 160})
    for (int64_t outChannels : {32, 64, 96, 288})
      checkWinograd(
          {1, channels, {6, 5}, outChannels, {3, 3}, {}, {1, 1, 1, 1}});
  checkWinograd({1, 32, {9, 8}, 32, {3, 3}, {}, {0, 1, 2, 3}});
}

/// Of one block of tiles, of some that share panels and of many.
TEST(RoundedWinogradTest, OfManyTiles) {
  for (int64_t side : {6, 14, 19, 28, 41})
    checkWinograd({2, 64, {side, side + 1}, 96, {3, 3}, {}, {1, 1, 1, 1}});
  checkWinograd({3, 1056, {5, 6}, 64, {3, 3}, {}, {1, 1, 1, 1}});
}

/// What each range of a block begins with is transformed by as many ranges as
/// there are threads, behind the guard, too; of many blocks tiles balance.
TEST(RoundedWinogradTest, ThreadsShareBlocks) {
  auto rangesOf = [](int64_t side, unsigned threads) {
    Call call = makeCall({1, 256, {side, side}, 256, {3, 3}});
    makeBlocked(call, Blocks::All);
    call.attributes.set("algorithm", std::string("winograd"));
    call.attributes.set("packed_w", int64_t{2});
    call.attributes.set("bf16_parts", int64_t{1});
    packW(call);
    setWorkspace(call, "cpu.conv");
    std::unique_ptr<PreparedKernel> kernel;
    EXPECT_TRUE(prepareConv(call.view(), Isa::AMXModel, kernel).isOk());
    return std::pair(kernel->ranges(threads), kernel->tiles());
  };
  const auto [few, tiles] = rangesOf(9, 2);
  EXPECT_EQ(few, 2);
  EXPECT_GT(tiles, 2);
  EXPECT_EQ(rangesOf(9, 1).first, 1);
  EXPECT_EQ(rangesOf(9, 64).first, tiles);
  const auto [many, manyTiles] = rangesOf(80, 2);
  EXPECT_EQ(many, manyTiles);
  EXPECT_GT(manyTiles, 2);
}

TEST(RoundedWinogradTest, WithEverythingBehind) {
  for (const char *activation : kActivations)
    checkWinograd({2,
                   64,
                   {7, 10},
                   96,
                   {3, 3},
                   {},
                   {1, 1, 1, 1},
                   {},
                   1,
                   true,
                   true,
                   activation});
}

namespace {
/// The largest difference from sums of the floats' own products, over the
/// largest sum of their magnitudes.
double errorOfFloats(const ConvCase &c, bool isWinograd,
                     const std::function<void(Call &)> &fill) {
  Call call = makeCall(c);
  fill(call);
  const std::vector<double> exact = reference(c, call);
  Call sizes = call;
  for (size_t operand : {0, 1})
    for (int64_t i = 0; i < sizes.values[operand].size(); ++i)
      sizes.values[operand].data()[i] =
          std::fabs(sizes.values[operand].data()[i]);
  const std::vector<double> magnitudes = reference(c, sizes);
  const double scale = *std::max_element(magnitudes.begin(), magnitudes.end());
  const std::vector<double> expected = blocked(exact.data(), call.output);
  makeBlocked(call, Blocks::All);
  call.attributes.set("packed_w", int64_t{2});
  call.attributes.set("bf16_parts", int64_t{1});
  if (isWinograd)
    call.attributes.set("algorithm", std::string("winograd"));
  packW(call);
  setWorkspace(call, "cpu.conv");
  double most = 0;
  for (Isa isa : runnableIsas(call)) {
    const std::vector<float> values = runCall(call, prepareConv, isa);
    for (size_t i = 0; i < values.size(); ++i)
      most = std::max(most, std::fabs(values[i] - expected[i]) / scale);
  }
  return most;
}
} // namespace

/// As the library says, and not more than some times that of direct sums.
TEST(RoundedWinogradTest, ErrorsAreAsStated) {
  const ConvCase c = {1, 64, {14, 14}, 64, {3, 3}, {}, {1, 1, 1, 1}};
  auto fillWith = [](auto valueOf) {
    return [valueOf](Call &call) {
      for (int64_t i = 0; i < call.values[0].size(); ++i)
        call.values[0].data()[i] =
            valueOf(i, call.values[0].data()[i], i / 14 % 14 + i % 14);
    };
  };
  const std::function<void(Call &)> fills[] = {
      [](Call &) {},
      fillWith([](int64_t, float x, int64_t) { return std::fabs(x); }),
      fillWith([](int64_t, float x, int64_t) { return 1.0039f + x / 256; }),
      fillWith([](int64_t, float, int64_t sum) {
        return sum % 2 ? 1.0039f : -1.0039f;
      }),
      fillWith([](int64_t i, float x, int64_t) {
        return i % 37 == 0 ? 1000 * x : x;
      }),
  };
  const float bound = lookupLibraryEntry("cpu.conv")->roundedAlgorithmBound;
  for (const auto &fill : fills) {
    const double direct = errorOfFloats(c, false, fill);
    const double winograd = errorOfFloats(c, true, fill);
    EXPECT_GT(winograd, 0);
    EXPECT_LE(winograd, bound);
    EXPECT_LE(winograd, 4 * direct);
  }
}

TEST(RoundedWinogradTest, KeepsNotFiniteValuesUnderTheirWindows) {
  for (float value : {kInfinity, -kInfinity, std::nanf(""), kTooLarge})
    for (size_t operand : {0, 1}) {
      // The direct kernels multiply padding, which is no term by definition.
      const int64_t pad = operand == 0 ? 1 : 0;
      const ConvCase c = {1, 32, {9, 9}, 96, {3, 3}, {}, {pad, pad, pad, pad}};
      Call direct = makeCall(c);
      for (size_t other : {0, 1})
        for (int64_t i = 0; i < direct.values[other].size(); ++i)
          direct.values[other].data()[i] =
              std::fabs(direct.values[other].data()[i]) + 0.125f;
      direct.values[operand].data()[operand ? 300 : 17] = value;
      makeBlocked(direct, Blocks::All);
      direct.attributes.set("packed_w", int64_t{2});
      direct.attributes.set("bf16_parts", int64_t{1});
      Call call = direct;
      call.attributes.set("algorithm", std::string("winograd"));
      packW(direct);
      packW(call);
      setWorkspace(direct, "cpu.conv");
      setWorkspace(call, "cpu.conv");
      for (Isa isa : runnableIsas(call)) {
        const std::vector<float> expected = runCall(direct, prepareConv, isa);
        const std::vector<float> values = runCall(call, prepareConv, isa);
        for (size_t i = 0; i < values.size(); ++i)
          if (std::isfinite(expected[i]))
            ASSERT_NEAR(values[i], expected[i], 0.1) << nameOf(isa) << i;
          else
            ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(values[i])
                                                : values[i] == expected[i])
                << nameOf(isa) << " " << i << ": " << values[i] << ", expected "
                << expected[i];
      }
    }
}

TEST(RoundedWinogradTest, RefusesOtherForms) {
  auto refuse = [](const ConvCase &c, int64_t packing = 2) {
    Call call = makeCall(c);
    makeBlocked(call, Blocks::All);
    call.attributes.set("packed_w", packing);
    call.attributes.set("bf16_parts", int64_t{1});
    call.attributes.set("algorithm", std::string("winograd"));
    std::string why;
    const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
    EXPECT_FALSE(entry->isSupported(call.view(), why));
    EXPECT_NE(why.find("algorithm 'winograd'"), std::string::npos) << why;
    EXPECT_EQ(entry->packedBytes(call.view(), 1), 0u);
  };
  refuse({1, 32, {9, 9}, 32, {3, 3}}, 1);
  refuse({1, 48, {9, 9}, 32, {3, 3}});
  refuse({1, 32, {9, 9}, 48, {3, 3}});
  refuse({1, 32, {9, 9}, 32, {3, 3}, {2, 2}});
  refuse({1, 32, {9, 9}, 32, {2, 2}});
  refuse({1, 32, {9, 9}, 32, {5, 3}});
  refuse({1, 64, {9, 9}, 64, {3, 3}, {}, {}, {}, 2});
  // Without memory for transformed inputs.
  Call call = makeCall(ConvCase{1, 32, {9, 9}, 32, {3, 3}});
  makeBlocked(call, Blocks::All);
  call.attributes.set("packed_w", int64_t{2});
  call.attributes.set("bf16_parts", int64_t{1});
  call.attributes.set("algorithm", std::string("winograd"));
  packW(call);
  std::unique_ptr<PreparedKernel> kernel;
  EXPECT_EQ(lookupLibraryEntry("cpu.conv")->prepare(call.view(), kernel).code(),
            StatusCode::InvalidArgument);
}

/// Operands that are denormal are zeros, as where floats are rounded; NaN and
/// infinity stay in their rows.
TEST(ShortTest, OperandsAreThoseOfTheContract) {
  const MatmulCase c = roundedCase(17, 48, 40);
  Call call = makeCall(c);
  roundOperand(call, 0);
  for (int64_t i = 0; i < call.values[1].size(); ++i)
    call.values[1].data()[i] = 0x1p100f;
  packB(call);
  std::vector<float> a(static_cast<size_t>(c.m * c.k), 0x1p-127f);
  a[3 * c.k + 5] = kInfinity;
  a[7 * c.k + 39] = NAN;
  a[9 * c.k + 2] = 0x1p-100f;
  setShort(call, 0, a, call.inputs[0]);
  call.output.type = DLC_BF16;
  for (Isa isa : runnableIsas(call)) {
    const std::vector<float> values = runCall(call, prepareMatmul, isa);
    for (int64_t row = 0; row < c.m; ++row)
      for (int64_t j = 0; j < c.n; ++j) {
        const float value = values[row * c.n + j];
        if (row == 7)
          EXPECT_TRUE(std::isnan(value)) << nameOf(isa);
        else
          EXPECT_EQ(value, row == 3   ? kInfinity
                           : row == 9 ? 1.0f
                                      : 0.0f)
              << nameOf(isa) << " row " << row;
      }
  }
}

TEST(ShortTest, RefusesOtherForms) {
  const LibraryEntry *matmul = lookupLibraryEntry("cpu.matmul");
  const LibraryEntry *conv = lookupLibraryEntry("cpu.conv");
  auto refuse = [](const LibraryEntry *entry, const Call &call,
                   std::string_view expected) {
    std::string why;
    EXPECT_FALSE(entry->isSupported(call.view(), why));
    EXPECT_NE(why.find(expected), std::string::npos) << why;
  };
  MatmulCase c = roundedCase(3, 5, 7);
  c.bias = c.residual = true;
  Call product = makeCall(c);
  product.attributes.set("packed_b", int64_t{2});
  auto changed = [&](auto change) {
    Call call = product;
    change(call);
    return call;
  };
  refuse(matmul, changed([](Call &call) { call.output.type = DLC_BF16; }),
         "expected a residual of the output's type 3x5xbf16, got 3x5xf32");
  refuse(matmul, changed([](Call &call) { call.inputs[1].type = DLC_BF16; }),
         "expected input 1 to be f32, got 7x5xbf16");
  refuse(matmul, changed([](Call &call) {
           call.attributes.set("bf16_parts", int64_t{0});
           call.inputs[0].type = DLC_BF16;
         }),
         "expected input 0 to be f32, got 3x7xbf16");

  Call image = makeCall(ConvCase{1, 64, {9, 9}, 64, {3, 3}});
  image.inputs[0] = {DLC_BF16, {1, 2, 9, 9, 32}};
  image.output = {DLC_F32, {1, 4, 7, 7, 16}};
  image.attributes.set("channel_block", int64_t{16});
  image.attributes.set("packed_w", int64_t{2});
  image.attributes.set("bf16_parts", int64_t{1});
  std::string why;
  EXPECT_TRUE(conv->isSupported(image.view(), why)) << why;
  auto changedImage = [&](auto change) {
    Call call = image;
    change(call);
    return call;
  };
  refuse(conv, changedImage([](Call &call) {
           call.attributes.set("packed_w", int64_t{1});
         }),
         "'packed_w' of 2");
  refuse(conv, changedImage([](Call &call) {
           call.inputs[1] = f32({64, 1, 3, 3});
           call.attributes.set("group", int64_t{64});
         }),
         "expected an output of bf16 and no residual for a depthwise");
  refuse(conv, changedImage([](Call &call) {
           call.attributes.set("bf16_parts", int64_t{0});
         }),
         "expected input 0 to be f32");
  refuse(conv, changedImage([](Call &call) {
           call.inputs[0] = {DLC_BF16, {1, 4, 9, 9, 16}};
         }),
         "blocks of 32 channels");
  refuse(conv, changedImage([](Call &call) {
           call.output = {DLC_BF16, {1, 4, 7, 7, 16}};
         }),
         "blocks of 32 channels");
  refuse(conv, changedImage([](Call &call) {
           call.inputs[1] = f32({48, 64, 3, 3});
           call.output = {DLC_BF16, {1, 1, 7, 7, 32}};
         }),
         "expected");
  refuse(conv, changedImage([](Call &call) {
           call.inputs[0] = {DLC_BF16, {1, 64, 9, 9}};
         }),
         "expected bf16 in blocks of channels alone");
}
