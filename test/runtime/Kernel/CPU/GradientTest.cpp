// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv_weight_gradient and cpu.max_pool_gradient against their definitions
// in double.

#include "KernelTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

/// Windows over images of one or two dimensions.
struct Windows {
  int64_t batch, channels;
  Shape in, out, kernel;
  Shape strides = {}, begins = {}, dilations = {}; ///< Empty: ones or zeros.

  size_t dims() const { return in.size(); }
  static int64_t at(const Shape &shape, size_t d, int64_t otherwise) {
    return shape.empty() ? otherwise : shape[d];
  }
  /// The element of a plane that tap `k` of the window at `o` meets, both
  /// row-major; -1 outside.
  int64_t meet(int64_t o, int64_t k) const {
    int64_t offset = 0, size = 1;
    for (size_t d = dims(); d-- > 0;) {
      int64_t place = o % out[d] * at(strides, d, 1) +
                      k % kernel[d] * at(dilations, d, 1) - at(begins, d, 0);
      if (place < 0 || place >= in[d])
        return -1;
      offset += place * size;
      size *= in[d];
      o /= out[d];
      k /= kernel[d];
    }
    return offset;
  }
  void setAttributes(Attributes &attributes) const {
    Shape pads = begins;
    pads.insert(pads.end(), begins.size(), 0);
    if (!strides.empty())
      attributes.set("strides", strides);
    if (!begins.empty())
      attributes.set("pads", pads);
    if (!dilations.empty())
      attributes.set("dilations", dilations);
  }
};

std::string textOf(const Shape &shape) {
  return toString(TensorType{DLC_F32, shape});
}

Shape with(int64_t first, int64_t second, const Shape &rest) {
  Shape shape = {first, second};
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

/// N C H W in blocks of 16 channels.
void makeBlocked(TensorType &type, GuardedBuffer &values) {
  const Shape plain = type.shape;
  int64_t size = 1;
  for (size_t d = 2; d < plain.size(); ++d)
    size *= plain[d];
  type.shape[1] /= 16;
  type.shape.push_back(16);
  GuardedBuffer blocked(values.size());
  for (int64_t i = 0; i < values.size(); ++i) {
    const int64_t plane = i / size, c = plane % plain[1];
    blocked.data()[((plane - c % 16) * size + i % size * 16) + c % 16] =
        values.data()[i];
  }
  values = std::move(blocked);
}

/// Which tensors are blocked, too: the gradient, or that and both, and whether
/// as F(4x4) as well.
enum class Blocks { None, Gradient, Some, Winograd };

void checkBlocked(Call call, const std::vector<double> &expected,
                  const std::string &text, Blocks blocks) {
  makeBlocked(call.inputs[1], call.values[1]);
  if (call.attributes.getInt("group", 1) == 1)
    expectMatches(call, prepareConvWeightGradient, expected, text + " g");
  if (blocks == Blocks::Gradient)
    return;
  makeBlocked(call.inputs[0], call.values[0]);
  expectMatches(call, prepareConvWeightGradient, expected, text + " blocked");
  if (blocks != Blocks::Winograd)
    return;
  call.attributes.set("algorithm", std::string("winograd"));
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv_weight_gradient");
  const auto bytes = static_cast<int64_t>(entry->workspaceBytes(call.view()));
  call.workspace = TensorType{DLC_I8, {bytes}};
  expectMatches(call, prepareConvWeightGradient, expected, text + " F(4x4)",
                1e-5);
}

void checkWeights(const Windows &w, int64_t outChannels, int64_t group = 1,
                  Blocks blocks = Blocks::None) {
  Random random(w.channels * 31 + outChannels);
  Call call;
  call.addInput(f32(with(w.batch, w.channels, w.in)), random);
  call.addInput(f32(with(w.batch, outChannels, w.out)), random);
  const int64_t inGroup = w.channels / group, outGroup = outChannels / group;
  call.output = f32(with(outChannels, inGroup, w.kernel));
  w.setAttributes(call.attributes);
  if (group != 1)
    call.attributes.set("group", group);
  const int64_t plane = *elementCount(w.in), pixels = *elementCount(w.out);
  const float *x = call.values[0].data(), *g = call.values[1].data();
  std::vector<double> expected;
  for (int64_t m = 0; m < outChannels; ++m)
    for (int64_t c = 0; c < inGroup; ++c)
      for (int64_t k = 0; k < *elementCount(w.kernel); ++k) {
        double sum = 0;
        for (int64_t n = 0; n < w.batch; ++n)
          for (int64_t o = 0; o < pixels; ++o)
            if (int64_t i = w.meet(o, k); i >= 0)
              sum +=
                  double(
                      x[(n * w.channels + m / outGroup * inGroup + c) * plane +
                        i]) *
                  g[(n * outChannels + m) * pixels + o];
        expected.push_back(sum);
      }
  const std::string text = textOf(call.inputs[0].shape) + " " +
                           textOf(call.inputs[1].shape) + " " +
                           textOf(call.output.shape);
  expectMatches(call, prepareConvWeightGradient, expected, text);
  if (blocks != Blocks::None)
    checkBlocked(call, expected, text, blocks);
}

/// A plain x and a gradient in blocks.
void checkFirstLayer(const Windows &w, int64_t outChannels) {
  checkWeights(w, outChannels, 1, Blocks::Gradient);
}

/// Few different numbers: windows have equal ones. `holes` of them are NaN.
void checkPool(const Windows &w, bool holes = false) {
  Random random(w.channels);
  Call call;
  call.output = f32(with(w.batch, w.channels, w.in));
  call.addInput(call.output, random);
  call.addInput(f32(with(w.batch, w.channels, w.out)), random);
  call.attributes.set("kernel_shape", w.kernel);
  w.setAttributes(call.attributes);
  float *x = call.values[0].data();
  const float *g = call.values[1].data();
  for (int64_t i = 0; i < call.values[0].size(); ++i) {
    const int64_t number = random.below(holes ? 5 : 4);
    x[i] = number == 4   ? std::nanf("")
           : number == 3 ? -std::numeric_limits<float>::infinity()
                         : static_cast<float>(number);
  }
  const int64_t plane = *elementCount(w.in), pixels = *elementCount(w.out);
  std::vector<double> expected(call.values[0].size());
  for (int64_t p = 0; p < w.batch * w.channels; ++p)
    for (int64_t o = 0; o < pixels; ++o) {
      int64_t best = -1;
      for (int64_t k = 0; k < *elementCount(w.kernel); ++k) {
        const int64_t i = w.meet(o, k);
        if (i < 0)
          continue;
        const float value = x[p * plane + i];
        if (best < 0 || value > x[p * plane + best] ||
            (std::isnan(value) && !std::isnan(x[p * plane + best])))
          best = i;
      }
      if (best >= 0)
        expected[p * plane + best] += g[p * pixels + o];
    }
  const std::string text = textOf(call.inputs[0].shape) + " " +
                           textOf(call.inputs[1].shape) + " " +
                           textOf(w.kernel);
  expectMatches(call, prepareMaxPoolGradient, expected, text);
  if (w.channels % 16 != 0 || w.dims() != 2)
    return;
  // The same in blocks of channels.
  GuardedBuffer values(call.values[0].size());
  std::copy_n(expected.begin(), values.size(), values.data());
  makeBlocked(call.output, values);
  expected.assign(values.data(), values.data() + values.size());
  for (size_t i : {0, 1})
    makeBlocked(call.inputs[i], call.values[i]);
  for (const char *name : {"kernel_shape", "strides", "dilations", "pads"}) {
    std::span<const int64_t> held = call.attributes.getInts(name);
    if (held.empty())
      continue;
    Shape wide(held.begin(), held.end());
    const bool isPads = wide.size() == 4;
    if (isPads)
      wide.insert(wide.begin() + 2, 0);
    wide.push_back(isPads ? 0 : 1);
    call.attributes.set(name, wide);
  }
  expectMatches(call, prepareMaxPoolGradient, expected, text + " blocked");
}

std::string refusalOf(std::string_view name, std::vector<TensorType> inputs,
                      TensorType output, Attributes attributes) {
  std::string why;
  KernelCall call{inputs, {&output, 1}, attributes};
  const LibraryEntry *entry = lookupLibraryEntry(name);
  EXPECT_FALSE(entry->isSupported(call, why));
  std::unique_ptr<PreparedKernel> kernel;
  EXPECT_EQ(entry->prepare(call, kernel).message(), why);
  return why;
}

} // namespace

TEST(WeightGradientTest, EveryWidth) {
  for (int64_t width = 1; width < 30; ++width)
    for (int64_t stride : {1, 2, 3})
      checkWeights({2,
                    3,
                    {4, width},
                    {(4 - 1) / stride + 1, (width - 1) / stride + 1},
                    {3, 3},
                    {stride, stride},
                    {1, 1}},
                   5);
}

TEST(WeightGradientTest, ChannelsAndRows) {
  for (int64_t channels : {1, 2, 7, 16})
    for (int64_t outChannels : {1, 2, 3, 4, 12, 13, 70})
      checkWeights({1, channels, {6, 5}, {6, 5}, {3, 3}, {}, {1, 1}},
                   outChannels);
}

/// Blocks of terms: parts of an image, and several images.
TEST(WeightGradientTest, LongSums) {
  checkWeights({2, 3, {40, 37}, {40, 37}, {3, 3}, {}, {1, 1}}, 4);
  checkWeights({2, 2, {60, 61}, {30, 31}, {7, 7}, {2, 2}, {3, 3}}, 5);
  checkWeights({40, 9, {7, 7}, {7, 7}, {3, 3}, {}, {1, 1}}, 6);
  checkWeights({700, 2, {1, 1}, {1, 1}, {1, 1}}, 3);
  checkWeights({3, 70, {9, 9}, {9, 9}, {1, 1}}, 64);
}

TEST(WeightGradientTest, AsymmetricPadsStridesAndDilations) {
  for (const Shape &begins : {Shape{0, 0}, Shape{1, 0}, Shape{0, 5}})
    for (const Shape &strides :
         {Shape{1, 1}, Shape{2, 1}, Shape{1, 2}, Shape{3, 2}, Shape{2, 5}})
      for (const Shape &dilations : {Shape{1, 1}, Shape{2, 3}, Shape{1, 4}})
        for (int64_t group : {1, 2, 6})
          checkWeights(
              {2, 6, {11, 13}, {5, 6}, {2, 3}, strides, begins, dilations}, 12,
              group);
}

/// Positions need not be those that a convolution would have.
TEST(WeightGradientTest, PositionsAnywhere) {
  checkWeights({1, 2, {4, 4}, {9, 17}, {2, 2}, {}, {2, 3}}, 3);
  checkWeights({1, 2, {9, 9}, {2, 3}, {1, 1}}, 3);
  checkWeights({1, 2, {5, 5}, {5, 5}, {1, 1}, {}, {1, 0}}, 3);
  const int64_t far = int64_t{1} << 31;
  checkWeights({1, 2, {1, 5}, {1, 9}, {1, 2}, {}, {0, far}, {1, far}}, 2);
  checkWeights({1, 2, {5, 1}, {9, 1}, {2, 1}, {1, far}, {far, 0}, {far, 1}}, 2);
}

TEST(WeightGradientTest, OneDimensionAndNothing) {
  for (int64_t width : {1, 8, 33, 100})
    checkWeights({2, 4, {width}, {width}, {3}, {}, {1}}, 8, 4);
  checkWeights({0, 4, {5}, {5}, {3}}, 8);
  checkWeights({2, 4, {5}, {0}, {3}}, 8);
  checkWeights({2, 0, {5}, {3}, {3}}, 8);
  checkWeights({2, 4, {5}, {3}, {3}}, 0);
}

TEST(WeightGradientTest, BlockedWidths) {
  for (int64_t width = 1; width < 20; ++width)
    for (int64_t stride : {1, 2, 3})
      checkWeights({2,
                    16,
                    {4, width},
                    {(4 - 1) / stride + 1, (width - 1) / stride + 1},
                    {3, 3},
                    {stride, stride},
                    {1, 1}},
                   16, 1, stride == 1 ? Blocks::Winograd : Blocks::Some);
}

/// Parts of an image, several blocks a tile, and more than one tile.
TEST(WeightGradientTest, BlockedChannels) {
  checkWeights({2, 32, {40, 37}, {40, 37}, {3, 3}, {}, {1, 1}}, 48, 1,
               Blocks::Winograd);
  checkWeights({1, 16, {60, 61}, {30, 31}, {7, 7}, {2, 2}, {3, 3}}, 16, 1,
               Blocks::Some);
  checkWeights({3, 144, {9, 9}, {9, 9}, {1, 1}}, 208, 1, Blocks::Some);
  checkWeights({3, 144, {9, 9}, {5, 5}, {1, 1}, {2, 2}}, 80, 1, Blocks::Some);
}

/// First layers: x has a few channels and stays plain.
TEST(WeightGradientTest, PlainInputOfBlocks) {
  checkFirstLayer({2, 3, {40, 37}, {20, 19}, {7, 7}, {2, 2}, {3, 3}}, 64);
  checkFirstLayer({2, 3, {9, 30}, {9, 30}, {3, 3}, {}, {1, 1}}, 16);
  checkFirstLayer({1, 5, {6, 7}, {4, 2}, {1, 2}, {1, 3}}, 48);
  checkFirstLayer({2, 1, {33}, {30}, {4}, {}, {2}}, 32);
}

TEST(WeightGradientTest, BlockedPadsStridesAndDilations) {
  for (const Shape &begins : {Shape{0, 0}, Shape{1, 0}, Shape{0, 5}})
    for (const Shape &strides : {Shape{1, 1}, Shape{2, 1}, Shape{3, 2}})
      for (const Shape &dilations : {Shape{1, 1}, Shape{2, 3}})
        for (int64_t group : {1, 2})
          checkWeights(
              {2, 32, {11, 13}, {5, 6}, {2, 3}, strides, begins, dilations}, 64,
              group, Blocks::Some);
  checkWeights({2, 16, {33}, {30}, {3}, {}, {1}}, 32, 1, Blocks::Some);
  checkWeights({0, 16, {5}, {5}, {3}}, 16, 1, Blocks::Some);
  checkWeights({2, 16, {5}, {0}, {3}}, 16, 1, Blocks::Some);
}

/// Images that begin and end anywhere beside the tiles; sums over one part of
/// the tiles and over several.
TEST(WeightGradientTest, WinogradAnywhere) {
  for (const Shape &begins : {Shape{0, 0}, Shape{1, 2}, Shape{0, 5}})
    for (const Shape &out : {Shape{3, 4}, Shape{9, 7}, Shape{14, 13}})
      checkWeights({2, 16, {10, 9}, out, {3, 3}, {}, begins}, 32, 1,
                   Blocks::Winograd);
  checkWeights({2, 16, {110, 91}, {110, 91}, {3, 3}, {}, {1, 1}}, 16, 1,
               Blocks::Winograd);
}

/// One element that is not finite, or large sums: as by the definition.
TEST(WeightGradientTest, WinogradOfWhatIsNotFinite) {
  for (float value : {INFINITY, -INFINITY, std::nanf(""), 1e38f}) {
    Random random(1);
    Call call;
    call.addInput(f32({2, 16, 10, 11}), random);
    call.addInput(f32({2, 16, 10, 11}), random);
    call.output = f32({16, 16, 3, 3});
    call.attributes.set("pads", Shape{1, 1, 1, 1});
    for (int64_t i = 0; i < call.values[1].size(); ++i)
      call.values[1].data()[i] = std::fabs(call.values[1].data()[i]) + 0.1f;
    call.values[0].data()[1000] = value;
    for (size_t i : {0, 1})
      makeBlocked(call.inputs[i], call.values[i]);
    Call winograd = call;
    winograd.attributes.set("algorithm", std::string("winograd"));
    winograd.workspace = TensorType{
        DLC_I8,
        {static_cast<int64_t>(lookupLibraryEntry("cpu.conv_weight_gradient")
                                  ->workspaceBytes(winograd.view()))}};
    for (Isa isa : runnableIsas()) {
      std::vector<float> expected =
          runCall(call, prepareConvWeightGradient, isa);
      std::vector<float> values =
          runCall(winograd, prepareConvWeightGradient, isa);
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(std::isnan(values[i]), std::isnan(expected[i])) << i;
        EXPECT_EQ(std::isinf(values[i]), std::isinf(expected[i])) << i;
        if (std::isfinite(value))
          EXPECT_NEAR(values[i] / 1e38f, expected[i] / 1e38f, 2e-5);
        else if (std::isfinite(expected[i]))
          EXPECT_NEAR(values[i], expected[i], 1e-3) << i;
      }
    }
  }
}

TEST(WeightGradientTest, RefusesBlocks) {
  const std::string_view name = "cpu.conv_weight_gradient";
  const TensorType x = f32({1, 2, 4, 4, 16}), g = f32({1, 3, 2, 2, 16});
  const TensorType w = f32({48, 32, 3, 3});
  EXPECT_EQ(refusalOf(name, {x, f32({1, 48, 2, 2})}, w, {}),
            "expected a gradient in blocks beside an input in blocks");
  EXPECT_EQ(
      refusalOf(name, {f32({1, 32, 4, 4}), f32({1, 3, 2, 999, 16})}, w, {}),
      "expected rows of a plain input, for each channel and row of taps, "
      "that fit in 112 KiB with sums");
  EXPECT_EQ(refusalOf(name, {f32({1, 4, 4, 4, 8}), g}, w, {}),
            "expected an input in blocks of 16 channels, got 1x4x4x4x8xf32");
  EXPECT_EQ(refusalOf(name, {x, f32({1, 6, 2, 2, 8})}, w, {}),
            "expected a gradient in blocks of 16 channels, got 1x6x2x2x8xf32");
  EXPECT_EQ(refusalOf(name, {x, g}, f32({48, 32, 3, 38}), {}),
            "expected at most 112 taps for blocked tensors");
  Attributes grouped;
  grouped.set("group", int64_t{4});
  EXPECT_EQ(refusalOf(name, {x, g}, f32({48, 8, 3, 3}), grouped),
            "expected blocks of 16 channels of one group");
  Attributes winograd;
  winograd.set("algorithm", std::string("winograd"));
  const char *form = "expected algorithm 'winograd' with tensors in blocks, "
                     "3x3 taps, strides and dilations of one and one group";
  EXPECT_EQ(
      refusalOf(name, {f32({1, 32, 4, 4}), f32({1, 48, 2, 2})}, w, winograd),
      form);
  EXPECT_EQ(refusalOf(name, {x, g}, f32({48, 32, 3, 2}), winograd), form);
  EXPECT_EQ(refusalOf(name, {x, f32({1, 3, 0, 2, 16})}, w, winograd),
            "expected pixels for algorithm 'winograd'");
  Attributes other;
  other.set("algorithm", std::string("fft"));
  EXPECT_EQ(refusalOf(name, {x, g}, w, other),
            "expected algorithm '' or 'winograd', got 'fft'");
  std::unique_ptr<PreparedKernel> kernel;
  const std::vector<TensorType> inputs{x, g};
  EXPECT_EQ(
      prepareConvWeightGradient({inputs, {&w, 1}, winograd}, bestIsa(), kernel)
          .message()
          .substr(0, 23),
      "expected a workspace of");
}

TEST(WeightGradientTest, RefusesOtherCalls) {
  const std::string_view name = "cpu.conv_weight_gradient";
  const TensorType x = f32({1, 2, 4, 4}), g = f32({1, 3, 2, 2});
  const TensorType w = f32({3, 2, 3, 3});
  EXPECT_EQ(refusalOf(name, {x, g, f32({3})}, w, {}),
            "expected no bias, residual or activation");
  EXPECT_EQ(refusalOf(name, {x, g, TensorType{}}, w, {}),
            "expected no bias, residual or activation");
  EXPECT_EQ(refusalOf(name, {x, g}, f32({3, 1, 3, 3}), {}),
            "expected 2 input channels a group, got 3x1x3x3xf32");
  EXPECT_EQ(refusalOf(name, {x, f32({2, 3, 2, 2})}, w, {}),
            "expected an output of 1 images of 3 channels, got 2x3x2x2xf32");
  Attributes attributes;
  attributes.set("strides", Shape{int64_t{1} << 31, 1});
  EXPECT_EQ(
      refusalOf(name, {x, f32({1, 3, int64_t{1} << 40, 1})}, w, attributes),
      "expected windows that reach at most 2^60 elements");
}

TEST(MaxPoolGradientTest, Blocked) {
  for (int64_t width : {1, 2, 5, 14})
    for (int64_t stride : {1, 2, 3})
      for (bool holes : {false, true})
        checkPool({2,
                   32,
                   {7, width},
                   {(7 - 1) / stride + 1, (width - 1) / stride + 1},
                   {3, 3},
                   {stride, stride},
                   {1, 1}},
                  holes);
  checkPool({1, 16, {11, 13}, {5, 4}, {2, 3}, {2, 3}, {0, 1}, {3, 2}});
}

TEST(MaxPoolGradientTest, RefusesBlocks) {
  const std::string_view name = "cpu.max_pool_gradient";
  const TensorType x = f32({1, 2, 4, 4, 16}), g = f32({1, 2, 2, 2, 16});
  Attributes attributes;
  attributes.set("kernel_shape", Shape{2, 2, 2});
  const char *windows =
      "expected windows of one element along a block of channels";
  EXPECT_EQ(refusalOf(name, {x, g}, x, attributes), windows);
  attributes.set("kernel_shape", Shape{2, 2});
  EXPECT_EQ(refusalOf(name, {x, g}, x, attributes), windows);
  attributes.set("kernel_shape", Shape{2, 2, 1});
  attributes.set("pads", Shape{0, 0, 1, 0, 0, 0});
  EXPECT_EQ(refusalOf(name, {x, g}, x, attributes), windows);
  const TensorType wide = f32({1, 2, 4, 4, 8});
  EXPECT_EQ(refusalOf(name, {wide, g}, wide, attributes),
            "expected an input in blocks of 16 channels, got 1x2x4x4x8xf32");
}

TEST(MaxPoolGradientTest, EveryWidth) {
  for (int64_t width = 1; width < 30; ++width)
    for (int64_t stride : {1, 2, 3})
      for (bool holes : {false, true})
        checkPool({2,
                   3,
                   {4, width},
                   {(4 - 1) / stride + 1, (width - 1) / stride + 1},
                   {3, 3},
                   {stride, stride},
                   {1, 1}},
                  holes);
}

TEST(MaxPoolGradientTest, Oddities) {
  checkPool({1, 2, {3, 300}, {2, 299}, {2, 2}});
  checkPool({1, 1, {2}, {5}, {2}, {}, {2}}); // Windows of padding.
  checkPool({1, 70, {11, 13}, {4, 5}, {2, 3}, {2, 2}, {}, {3, 2}});
  checkPool({1, 2, {5, 6}, {5, 6}, {9, 9}, {}, {4, 4}}); // All in each.
  checkPool({0, 3, {4}, {4}, {1}});
  checkPool({1, 3, {4}, {0}, {1}});
}

/// Taps that no window has in the image take no time.
TEST(MaxPoolGradientTest, WindowsFarLargerThanTheImage) {
  const int64_t far = int64_t{1} << 31;
  Random random(1);
  Call call;
  call.output = f32({1, 1, 2, 3});
  call.addInput(call.output, random);
  call.addInput(f32({1, 1, 1, 1}), random);
  call.attributes.set("kernel_shape", Shape{far, far});
  const float *x = call.values[0].data();
  std::vector<double> expected(6);
  expected[std::max_element(x, x + 6) - x] = call.values[1].data()[0];
  expectMatches(call, prepareMaxPoolGradient, expected, "far larger");
}

TEST(MaxPoolGradientTest, RefusesOtherCalls) {
  const std::string_view name = "cpu.max_pool_gradient";
  const TensorType x = f32({1, 2, 4, 4}), g = f32({1, 2, 3, 3});
  EXPECT_EQ(refusalOf(name, {x, g, TensorType{}}, x, {}),
            "expected no bias, residual or activation");
  Attributes attributes;
  EXPECT_EQ(refusalOf(name, {x, g}, x, attributes),
            "expected attribute 'kernel_shape' to be as long as there are "
            "spatial dimensions");
  attributes.set("kernel_shape", Shape{2, 0});
  EXPECT_EQ(refusalOf(name, {x, g}, x, attributes),
            "expected attribute 'kernel_shape' to be positive and at most "
            "2^31");
  attributes.set("kernel_shape", Shape{2, 2});
  EXPECT_EQ(refusalOf(name, {x, g}, g, attributes),
            "expected an output 1x2x4x4xf32, got 1x2x3x3xf32");
}
