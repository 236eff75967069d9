// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv against a convolution in double.

#include "KernelTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

struct ConvCase {
  int64_t batch, channels;
  Shape in;
  int64_t outChannels;
  Shape kernel;
  Shape strides = {}, pads = {}, dilations = {}; ///< Empty: ones or zeros.
  int64_t group = 1;
  bool bias = false, residual = false;
  std::string activation = {};
};

std::string textOf(const ConvCase &c, bool packed) {
  auto dims = [](const Shape &shape) {
    std::string text;
    for (int64_t dim : shape)
      text += "." + std::to_string(dim);
    return text;
  };
  return std::to_string(c.batch) + "x" + std::to_string(c.channels) +
         dims(c.in) + " oc" + std::to_string(c.outChannels) + " k" +
         dims(c.kernel) + " s" + dims(c.strides) + " p" + dims(c.pads) + " d" +
         dims(c.dilations) + " g" + std::to_string(c.group) +
         (c.bias ? " bias" : "") + (c.residual ? " residual " : " ") +
         c.activation + (packed ? " packed" : "");
}

int64_t at(const Shape &shape, size_t index, int64_t otherwise) {
  return shape.empty() ? otherwise : shape[index];
}

/// Spatial dimensions of the result.
Shape outputDims(const ConvCase &c) {
  Shape out;
  size_t spatial = c.in.size();
  for (size_t d = 0; d < spatial; ++d) {
    int64_t room = c.in[d] + at(c.pads, d, 0) + at(c.pads, spatial + d, 0) -
                   (c.kernel[d] - 1) * at(c.dilations, d, 1) - 1;
    out.push_back(room < 0 ? 0 : room / at(c.strides, d, 1) + 1);
  }
  return out;
}

Shape with(int64_t first, int64_t second, const Shape &rest) {
  Shape shape = {first, second};
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

Call makeCall(const ConvCase &c) {
  Random random(c.channels * 31 + c.outChannels);
  Call call;
  call.output = f32(with(c.batch, c.outChannels, outputDims(c)));
  call.addInput(f32(with(c.batch, c.channels, c.in)), random);
  int64_t inGroup = c.channels / c.group;
  call.addInput(f32(with(c.outChannels, inGroup, c.kernel)), random);
  // Sums near one: the slope of an activation must not magnify their errors
  // over its largest value.
  int64_t terms = std::max<int64_t>(inGroup * *elementCount(c.kernel), 1);
  for (int64_t i = 0; i < call.values[1].size(); ++i)
    call.values[1].data()[i] /= std::sqrt(static_cast<float>(terms));
  if (c.bias || c.residual)
    call.addInput(c.bias ? f32({c.outChannels}) : TensorType{}, random);
  if (c.residual)
    call.addInput(call.output, random);
  auto setInts = [&](const char *name, const Shape &values) {
    if (!values.empty())
      call.attributes.set(name, values);
  };
  setInts("strides", c.strides);
  setInts("pads", c.pads);
  setInts("dilations", c.dilations);
  if (c.group != 1)
    call.attributes.set("group", c.group);
  setActivation(call.attributes, c.activation);
  return call;
}

/// The plain definition, as two-dimensional.
std::vector<double> reference(const ConvCase &c, Call &call) {
  auto pair = [&](const Shape &shape, int64_t otherwise) {
    bool flat = c.in.size() == 1;
    return Shape{flat ? otherwise : at(shape, 0, otherwise),
                 at(shape, flat ? 0 : 1, otherwise)};
  };
  Shape in = pair(c.in, 1), kernel = pair(c.kernel, 1);
  Shape out = pair(outputDims(c), 1), stride = pair(c.strides, 1);
  Shape pad = pair(c.pads, 0), dilation = pair(c.dilations, 1);
  int64_t inGroup = c.channels / c.group;
  int64_t outGroup = c.outChannels / c.group;
  const float *x = call.values[0].data(), *w = call.values[1].data();
  std::vector<double> result;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t oc = 0; oc < c.outChannels; ++oc)
      for (int64_t oy = 0; oy < out[0]; ++oy)
        for (int64_t ox = 0; ox < out[1]; ++ox) {
          double sum = c.bias ? call.values[2].data()[oc] : 0;
          for (int64_t ic = 0; ic < inGroup; ++ic)
            for (int64_t ky = 0; ky < kernel[0]; ++ky)
              for (int64_t kx = 0; kx < kernel[1]; ++kx) {
                int64_t iy = oy * stride[0] - pad[0] + ky * dilation[0];
                int64_t ix = ox * stride[1] - pad[1] + kx * dilation[1];
                if (iy < 0 || iy >= in[0] || ix < 0 || ix >= in[1])
                  continue;
                int64_t channel = n * c.channels + oc / outGroup * inGroup + ic;
                sum +=
                    double(x[(channel * in[0] + iy) * in[1] + ix]) *
                    w[((oc * inGroup + ic) * kernel[0] + ky) * kernel[1] + kx];
              }
          if (c.residual)
            sum += call.values[3].data()[result.size()];
          result.push_back(activate(sum, call.attributes));
        }
  return result;
}

void packW(Call &call) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  size_t bytes = entry->packedBytes(call.view(), 1);
  GuardedBuffer packed(bytes / sizeof(float));
  entry->pack(call.view(), 1, call.values[1].data(), packed.data());
  ASSERT_TRUE(packed.guardsIntact());
  call.values[1] = std::move(packed);
  call.attributes.set("packed_w", int64_t{1});
}

/// Changes the call to algorithm 'winograd'.
void makeWinograd(Call &call) {
  call.attributes.set("algorithm", std::string("winograd"));
  call.attributes.set("packed_w", int64_t{1});
  packW(call);
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  const auto bytes = static_cast<int64_t>(entry->workspaceBytes(call.view()));
  call.workspace = TensorType{DLC_I8, {bytes}};
}

void checkWinograd(const ConvCase &c) {
  Call call = makeCall(c);
  std::vector<double> expected = reference(c, call);
  makeWinograd(call);
  expectMatches(call, prepareConv, expected, textOf(c, true));
}

void check(const ConvCase &c) {
  Call call = makeCall(c);
  std::vector<double> expected = reference(c, call);
  expectMatches(call, prepareConv, expected, textOf(c, false));
  packW(call);
  expectMatches(call, prepareConv, expected, textOf(c, true));
}

} // namespace

TEST(ConvTest, EveryWidth) {
  for (int64_t width = 1; width < 30; ++width)
    for (int64_t stride : {1, 2, 3})
      check({1, 3, {4, width}, 5, {3, 3}, {stride, stride}, {1, 1, 1, 1}});
}

/// Pixels that fill vectors but for one or two, in every epilogue.
TEST(ConvTest, TailPixels) {
  for (int64_t pixels : {9, 10, 17, 18, 33, 49, 50, 65})
    for (int64_t channels : {2, 9, 300})
      for (const char *activation : {"", "relu", "silu"})
        for (int form = 0; form < 4; ++form)
          check({1,
                 channels,
                 {1, pixels},
                 9,
                 {1, 1},
                 {},
                 {},
                 {},
                 1,
                 form % 2 == 1,
                 form / 2 == 1,
                 activation});
  check({1, 40, {7, 7}, 70, {3, 3}, {}, {1, 1, 1, 1}});
  check({1, 40, {14, 14}, 70, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 2});
}

TEST(ConvTest, Pointwise) {
  for (int64_t pixels : {1, 7, 14, 25, 50})
    for (int64_t channels : {2, 17, 70})
      for (int64_t outChannels : {1, 3, 4, 9, 70})
        check({2, channels, {2, pixels}, outChannels, {1, 1}});
  check({1, 5, {9, 9}, 6, {1, 1}, {2, 2}});
  check({1, 5, {9, 9}, 6, {1, 1}, {}, {1, 0, 0, 2}});
}

TEST(ConvTest, LongSums) {
  check({1, 300, {7, 7}, 20, {3, 3}, {}, {1, 1, 1, 1}});
  check({1, 1001, {5, 5}, 6, {1, 1}});
  check({1, 2, {21, 19}, 6, {17, 15}, {1, 1}, {3, 4, 2, 1}});
}

TEST(ConvTest, ManyTiles) {
  check({1, 16, {40, 37}, 70, {3, 3}, {}, {1, 1, 1, 1}});
  check({3, 8, {30, 30}, 140, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 2});
}

TEST(ConvTest, AsymmetricPadsStridesAndDilations) {
  for (const Shape &pads : {Shape{0, 0, 0, 0}, Shape{1, 0, 2, 3},
                            Shape{0, 5, 0, 0}, Shape{4, 2, 1, 6}})
    for (const Shape &strides :
         {Shape{1, 1}, Shape{2, 1}, Shape{1, 2}, Shape{3, 2}, Shape{2, 5}})
      for (const Shape &dilations : {Shape{1, 1}, Shape{2, 3}, Shape{1, 4}})
        for (int64_t group : {1, 2, 6})
          check({2, 6, {11, 13}, 12, {2, 3}, strides, pads, dilations, group});
}

TEST(ConvTest, PositionsFarOutside) {
  const int64_t far = int64_t{1} << 31;
  for (int64_t group : {1, 2})
    for (int64_t width : {5, 40}) {
      check({1, 2, {1, width}, 2, {1, 2}, {}, {0, far, 0, 0}, {1, far}, group});
      check({1, 2, {1, width}, 2, {1, 2}, {}, {0, 0, 0, far}, {1, far}, group});
      check({1, 2, {width, 1}, 2, {2, 1}, {}, {far, 0, 0, 0}, {far, 1}, group});
      check({1, 2, {1, width}, 2, {1, 1}, {1, far}, {0, far, 0, 0}, {}, group});
    }
}

TEST(ConvTest, Grouped) {
  for (int64_t perGroup : {2, 3, 8})
    for (int64_t outPerGroup : {1, 4, 7})
      check({2,
             4 * perGroup,
             {9, 10},
             4 * outPerGroup,
             {3, 3},
             {},
             {1, 1, 1, 1},
             {},
             4,
             true});
}

TEST(ConvTest, OneDimensional) {
  for (int64_t width : {1, 8, 33, 100})
    for (int64_t stride : {1, 2, 4})
      for (int64_t group : {1, 4})
        check({2, 4, {width}, 8, {3}, {stride}, {2, 1}, {}, group, true});
  check({1, 4, {50}, 8, {7}, {1}, {6, 0}, {2}, 2});
}

TEST(ConvTest, Depthwise) {
  for (int64_t kernel : {1, 2, 3, 5, 7})
    for (int64_t stride : {1, 2, 3})
      for (int64_t width : {1, 6, 7, 8, 14, 17, 28, 40})
        for (int64_t height : {1, 4, 9})
          check({1,
                 3,
                 {height, width},
                 3,
                 {kernel, kernel},
                 {stride, stride},
                 {kernel / 2, kernel / 2, kernel / 2, kernel / 2},
                 {},
                 3,
                 true});
}

TEST(ConvTest, DepthwiseOddities) {
  check({2, 5, {9, 11}, 15, {3, 3}, {}, {1, 1, 1, 1}, {}, 5, true, true});
  check({1, 5, {9, 11}, 5, {3, 3}, {1, 2}, {1, 1, 1, 1}, {}, 5});
  check({1, 5, {9, 40}, 5, {3, 3}, {1, 1}, {3, 4, 0, 9}, {}, 5});
  check({1, 5, {9, 40}, 5, {3, 3}, {2, 2}, {0, 0, 5, 9}, {}, 5});
  check({1, 5, {9, 40}, 5, {3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}, 5});
  check({1, 5, {9, 40}, 5, {3, 5}, {1, 1}, {0, 0, 1, 1}, {1, 3}, 5});
  check({1, 1, {9, 40}, 7, {3, 3}, {1, 1}, {1, 1, 1, 1}});
  check({1, 200, {5, 40}, 200, {5, 5}, {2, 2}, {2, 2, 2, 2}, {}, 200});
}

TEST(ConvTest, EveryActivation) {
  for (const char *activation : kActivations)
    for (int form = 0; form < 4; ++form)
      for (int64_t group : {1, 6}) {
        check({2,
               6,
               {7, 9},
               12,
               {3, 3},
               {},
               {1, 1, 1, 1},
               {},
               group,
               form % 2 == 1,
               form / 2 == 1,
               activation});
        check({1,
               6 * 70,
               {5, 5},
               12,
               {1, 1},
               {},
               {},
               {},
               group,
               form % 2 == 1,
               form / 2 == 1,
               activation});
      }
}

TEST(ConvTest, EmptySums) {
  for (const char *activation : {"", "tanh", "relu"})
    check({2,
           0,
           {5, 6},
           7,
           {3, 3},
           {},
           {1, 1, 1, 1},
           {},
           1,
           true,
           true,
           activation});
}

TEST(ConvTest, EmptyResults) {
  for (const ConvCase &c :
       {ConvCase{0, 3, {5, 5}, 4, {3, 3}}, ConvCase{1, 3, {5, 5}, 0, {3, 3}},
        ConvCase{1, 3, {5, 2}, 4, {3, 3}}, ConvCase{1, 0, {5, 5}, 0, {3, 3}},
        ConvCase{0, 4, {5, 5}, 4, {3, 3}, {}, {}, {}, 4},
        ConvCase{1, 4, {2, 5}, 4, {3, 3}, {}, {}, {}, 4}}) {
    Call call = makeCall(c);
    for (Isa isa : runnableIsas()) {
      std::unique_ptr<PreparedKernel> kernel;
      Status status = prepareConv(call.view(), isa, kernel);
      ASSERT_TRUE(status.isOk()) << status.message();
      EXPECT_EQ(kernel->tiles(), 0);
    }
  }
}

TEST(ConvTest, NaNPassesThroughActivations) {
  for (const char *activation : kActivations)
    for (int64_t group : {1, 2}) {
      Call call = makeCall({1,
                            2,
                            {3, 30},
                            2,
                            {1, 1},
                            {},
                            {},
                            {},
                            group,
                            true,
                            false,
                            activation});
      call.values[0].data()[30 + 4] = std::nanf("");
      for (Isa isa : runnableIsas()) {
        std::vector<float> values = runCall(call, prepareConv, isa);
        for (int64_t i = 0; i < 180; ++i)
          EXPECT_EQ(std::isnan(values[i]),
                    i % 90 == 34 && (group == 1 || i < 90))
              << activation << " " << nameOf(isa) << " " << i;
      }
    }
}

TEST(ConvTest, PaddingIsZeroEvenBesideInfinity) {
  // A zero weight on a padded tap must not meet a value of another row.
  for (int64_t group : {1, 2}) {
    Call call =
        makeCall({1, 2, {4, 9}, 2, {3, 3}, {}, {1, 1, 1, 1}, {}, group});
    for (int64_t y = 0; y < 4; ++y)
      call.values[0].data()[y * 9 + 8] = INFINITY;
    for (Isa isa : runnableIsas()) {
      std::vector<float> values = runCall(call, prepareConv, isa);
      for (int64_t i = 0; i < 4 * 9; ++i)
        EXPECT_EQ(std::isfinite(values[i]), i % 9 < 7) << nameOf(isa);
    }
  }
}

TEST(ConvTest, OutputMayBeTheResidual) {
  for (int64_t group : {1, 30}) {
    ConvCase c{1,  30,    {9, 9}, 30,   {3, 3}, {}, {1, 1, 1, 1},
               {}, group, true,   true, "silu"};
    Call call = makeCall(c);
    std::vector<double> expected = reference(c, call);
    packW(call);
    std::unique_ptr<PreparedKernel> kernel;
    ASSERT_TRUE(prepareConv(call.view(), bestIsa(), kernel).isOk());
    float *y = call.values[3].data();
    void *arguments[] = {call.values[0].data(), call.values[1].data(),
                         call.values[2].data(), y, y};
    kernel->run(arguments, 0, kernel->tiles());
    EXPECT_LE(errorOf({y, y + call.values[3].size()}, expected), 4e-6);
  }
}

TEST(WinogradTest, EverySize) {
  for (int64_t height : {1, 4, 5, 10})
    for (int64_t width = 1; width < 30; ++width)
      checkWinograd({1, 9, {height, width}, 8, {3, 3}, {}, {1, 1, 1, 1}});
}

TEST(WinogradTest, PadsBatchesAndEpilogues) {
  for (const Shape &pads : {Shape{0, 0, 0, 0}, Shape{1, 0, 2, 3},
                            Shape{0, 5, 0, 0}, Shape{9, 2, 1, 14}})
    for (const char *activation : kActivations)
      for (int form = 0; form < 4; ++form)
        checkWinograd({3,
                       11,
                       {9, 13},
                       19,
                       {3, 3},
                       {},
                       pads,
                       {},
                       1,
                       form % 2 == 1,
                       form / 2 == 1,
                       activation});
}

/// Several blocks, parts of the tiles, and blocks of input channels.
TEST(WinogradTest, Large) {
  checkWinograd({1, 64, {56, 56}, 64, {3, 3}, {}, {1, 1, 1, 1}});
  checkWinograd({2, 520, {29, 31}, 17, {3, 3}, {}, {1, 1, 1, 1}});
}

/// One element that is not finite, or large sums: as by the definition.
TEST(WinogradTest, NotFinite) {
  const ConvCase c{1, 8, {10, 11}, 9, {3, 3}, {}, {1, 1, 1, 1}, {}, 1, true};
  for (float value : {INFINITY, -INFINITY, std::nanf(""), 1e38f}) {
    Call direct = makeCall(c);
    for (int64_t i = 0; i < 72; ++i)
      direct.values[1].data()[i] = std::fabs(direct.values[1].data()[i]) + 0.1f;
    direct.values[0].data()[110 + 4 * 11 + 6] = value;
    Call call = direct;
    makeWinograd(call);
    for (Isa isa : runnableIsas()) {
      std::vector<float> expected = runCall(direct, prepareConv, isa);
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

/// Calls come from files.
TEST(WinogradTest, RefusesCalls) {
  const ConvCase base{1, 8, {9, 9}, 8, {3, 3}, {}, {1, 1, 1, 1}};
  auto refuse = [](const ConvCase &c, auto change, const char *part) {
    Call call = makeCall(c);
    makeWinograd(call);
    change(call);
    std::unique_ptr<PreparedKernel> kernel;
    Status status = prepareConv(call.view(), bestIsa(), kernel);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos)
        << status.message() << ", expected " << part;
    EXPECT_EQ(kernel, nullptr);
  };
  auto nothing = [](Call &) {};
  const char *plain = "expected algorithm 'winograd' with packed weights";
  ConvCase c = base;
  c.strides = {2, 2};
  refuse(c, nothing, plain);
  c = base;
  c.dilations = {1, 2};
  refuse(c, nothing, plain);
  c = base;
  c.group = 2;
  refuse(c, nothing, plain);
  c = base;
  c.kernel = {3, 5};
  refuse(c, nothing, plain);
  c = base;
  c.in = {9}, c.kernel = {3}, c.pads = {1, 1};
  refuse(c, nothing, plain);
  refuse(
      base, [](Call &x) { x.attributes.set("packed_w", int64_t{0}); }, plain);
  c = base;
  c.channels = 7;
  refuse(c, nothing, "expected at least 8 channels");
  c = base;
  c.outChannels = 7;
  refuse(c, nothing, "expected at least 8 channels");
  refuse(
      base, [](Call &x) { x.attributes.set("algorithm", std::string("fft")); },
      "expected algorithm '' or 'winograd', got 'fft'");
  refuse(
      base, [](Call &x) { x.attributes.set("algorithm", int64_t{1}); },
      "expected attribute 'algorithm' to be a string");
  const char *workspace = "expected a workspace of 18432 bytes";
  refuse(base, [](Call &x) { x.workspace = {}; }, workspace);
  refuse(base, [](Call &x) { --x.workspace.shape[0]; }, workspace);
  refuse(base, [](Call &x) { x.workspace.type = DLC_F32; }, workspace);
  refuse(base, [](Call &x) { x.workspace.shape = {1, 18432}; }, workspace);
  refuse(
      base,
      [](Call &x) {
        const int64_t images = int64_t{1} << 30;
        x.inputs[0].shape = {images, 8, 1, 1};
        x.output.shape = {images, 8, 1, 1};
      },
      "tiles for algorithm 'winograd', got 1073741824");
}

/// What a file says is packed is as large as that.
TEST(WinogradTest, ChecksTheSizeOfStoredWeights) {
  Call call = makeCall({1, 8, {9, 9}, 8, {3, 3}, {}, {1, 1, 1, 1}});
  makeWinograd(call);
  std::unique_ptr<PreparedKernel> kernel;
  Status status = lookupLibraryEntry("cpu.conv")->prepare(call.view(), kernel);
  EXPECT_NE(status.message().find("expected a packed operand of 20736 bytes"),
            std::string::npos)
      << status.message();
}

TEST(WinogradTest, OutputMayBeTheResidual) {
  const ConvCase c{1,  30, {9, 9}, 30,   {3, 3}, {}, {1, 1, 1, 1},
                   {}, 1,  true,   true, "silu"};
  Call call = makeCall(c);
  std::vector<double> expected = reference(c, call);
  makeWinograd(call);
  std::unique_ptr<PreparedKernel> kernel;
  ASSERT_TRUE(prepareConv(call.view(), bestIsa(), kernel).isOk());
  std::vector<float> workspace(call.workspaceBytes() / sizeof(float));
  float *y = call.values[3].data();
  void *arguments[] = {
      call.values[0].data(), call.values[1].data(), call.values[2].data(), y, y,
      workspace.data()};
  for (const PreparedKernel *step = kernel.get(); step; step = step->next())
    step->run(arguments, 0, step->tiles());
  EXPECT_LE(errorOf({y, y + call.values[3].size()}, expected), 4e-6);
}

TEST(ConvTest, Cost) {
  Call call = makeCall({2, 4, {5, 6}, 8, {3, 3}, {}, {}, {}, 2, true});
  KernelCost cost = lookupLibraryEntry("cpu.conv")->cost(call.view());
  EXPECT_EQ(cost.flops, 2u * 2 * 8 * 3 * 4 * 2 * 9);
  EXPECT_EQ(cost.bytes, 4u * (2 * 4 * 30 + 8 * 2 * 9 + 8 + 2 * 8 * 12));
}

namespace {
void expectRefused(const Call &call, const std::string &part) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  std::unique_ptr<PreparedKernel> kernel;
  Status status = entry->prepare(call.view(), kernel);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  EXPECT_EQ(kernel, nullptr);
  std::string why;
  EXPECT_FALSE(entry->isSupported(call.view(), why));
  EXPECT_EQ(why, status.message());
  EXPECT_EQ(entry->packedBytes(call.view(), 1), 0u);
  EXPECT_EQ(entry->cost(call.view()).flops, 0u);
}
} // namespace

TEST(ConvTest, RefusesBadCalls) {
  const ConvCase base{1, 4, {9, 9}, 8, {3, 3}, {}, {}, {}, 2, true, true};
  auto refuse = [&](auto change, const char *part) {
    Call call = makeCall(base);
    change(call);
    expectRefused(call, part);
  };
  auto attribute = [&](const char *name, AttributeValue value,
                       const char *part) {
    refuse([&](Call &call) { call.attributes.set(name, value); }, part);
  };
  refuse([](Call &c) { c.inputs.clear(); }, "expected 2 to 4 inputs, got 0");
  refuse([](Call &c) { c.inputs[0].type = DLC_I8; }, "input 0 to be f32");
  refuse([](Call &c) { c.inputs[1] = TensorType{}; }, "input 1 to be f32");
  refuse([](Call &c) { c.inputs[0].shape = {1, 4}; }, "rank 3 to 4");
  refuse([](Call &c) { c.inputs[0].shape = {1, 4, 9, 9, 9}; }, "rank 3 to 4");
  refuse([](Call &c) { c.inputs[1].shape = {8, 2, 3}; }, "of equal rank");
  refuse([](Call &c) { c.inputs[0].shape[2] = kUnknownDim; }, "a static shape");
  refuse([](Call &c) { c.inputs[0].shape[3] = INT64_MAX; },
         "at most 2^45 elements");
  refuse([](Call &c) { c.inputs[1].shape[1] = 4; }, "2 input channels a group");
  refuse([](Call &c) { c.inputs[1].shape[2] = 0; }, "at least one tap");
  refuse([](Call &c) { c.output.shape[1] = 4; }, "of 8 channels");
  refuse([](Call &c) { c.output.shape[0] = 2; }, "of 1 images");
  refuse([](Call &c) { c.output.shape[2] = 8; },
         "expected 7 output positions, got 8");
  refuse([](Call &c) { c.inputs[2].shape = {4}; }, "a bias of 8 elements");
  refuse([](Call &c) { c.inputs[3].shape = {8, 7, 7}; },
         "a residual of the output's type");
  attribute("group", int64_t{0}, "a group that divides");
  attribute("group", int64_t{-2}, "a group that divides");
  attribute("group", int64_t{3}, "a group that divides");
  attribute("strides", Shape{2, 0}, "'strides' to be positive");
  attribute("strides", Shape{2}, "'strides' to be as long as");
  attribute("strides", int64_t{2}, "'strides' to be a list of integers");
  attribute("dilations", Shape{1, INT64_MAX}, "'dilations' to be positive");
  attribute("dilations", Shape{1, 1, 1}, "'dilations' to be as long as");
  attribute("pads", Shape{1, 1}, "'pads' to be twice as long");
  attribute("pads", Shape{1, 1, -1, 1}, "'pads' to be 0 to 2^31");
  attribute("packed_w", int64_t{7}, "'packed_w' to be 0 or 1");
  attribute("activation", std::string("Relu"), "unknown activation 'Relu'");
  attribute("auto_pad", std::string("VALID"), "unknown attribute 'auto_pad'");
}
