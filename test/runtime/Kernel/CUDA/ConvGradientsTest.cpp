// SPDX-License-Identifier: Apache-2.0
//
// cudnn.conv_transpose and cudnn.conv_weight_gradient through the fake library:
// answers, layouts, what is refused, what has to be finite, and every way in
// which the library can fail.

#include "CallTesting.h"

#include <cmath>
#include <limits>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

/// A convolution, as N, C, H, W and OC, C, KH, KW.
struct Case {
  bool ofWeights = false; ///< Else of the image.
  DataType type = DLC_F16;
  std::vector<int64_t> x, w, y;
  std::vector<int64_t> strides = {1, 1}, pads = {0, 0, 0, 0},
                       dilations = {1, 1};
  bool plainX = false, plainY = false, isGroupInFront = false;
  std::string compute = "", activation = "";
  int64_t group = 1;
  bool withBias = false;
};

/// A tensor of four dimensions as it lies in memory.
std::vector<int64_t> shapeOf(const std::vector<int64_t> &dims, bool isPlain) {
  return isPlain ? dims
                 : std::vector{dims[0], int64_t(1), dims[2], dims[3], dims[1]};
}

size_t indexOf(const std::vector<int64_t> &dims, bool isPlain, int64_t n,
               int64_t c, int64_t h, int64_t w) {
  return size_t(isPlain ? ((n * dims[1] + c) * dims[2] + h) * dims[3] + w
                        : ((n * dims[2] + h) * dims[3] + w) * dims[1] + c);
}

class Gradient : public TestedCall {
public:
  explicit Gradient(const Case &test)
      : TestedCall(test.ofWeights ? "cudnn.conv_weight_gradient"
                                  : "cudnn.conv_transpose",
                   test.type),
        test(test) {
    const std::vector<int64_t> &w = test.w;
    if (test.ofWeights) {
      add(shapeOf(test.x, test.plainX));
      add(shapeOf(test.y, test.plainY));
    } else {
      add(shapeOf(test.y, test.plainY));
      if (test.isGroupInFront)
        add({1, w[0], w[1], w[2], w[3]});
      else
        add(isLast() ? std::vector{w[0], w[2], w[3], w[1]} : w);
    }
    if (test.withBias)
      add({test.y[1]});
    add(test.ofWeights ? w : shapeOf(test.x, test.plainX));
    addWorkspace();
    attributes.set("strides", test.strides);
    attributes.set("pads", test.pads);
    attributes.set("dilations", test.dilations);
    attributes.set("group", test.group);
    if (!test.ofWeights && isLast())
      attributes.set("w_channels_last", int64_t(1));
    if (!test.compute.empty())
      attributes.set("compute", test.compute);
    if (!test.activation.empty())
      attributes.set("activation", test.activation);
  }
  bool isLast() const { return test.w[2] * test.w[3] != 1; }
  /// By definition: where no tap is there is no term.
  std::vector<double> expected() const;
  bool wantsFinite(size_t input) const {
    const TensorType inputs[] = {tensors[0].type, tensors[1].type};
    return lookupLibraryEntry(entry)->packsFinite(
        {inputs, {&tensors[2].type, 1}, attributes}, input);
  }

  const Case test;
};

std::vector<double> Gradient::expected() const {
  const std::vector<int64_t> &x = test.x, &w = test.w, &y = test.y;
  const size_t count = test.ofWeights ? size_t(countOf(w)) : size_t(countOf(x));
  std::vector<double> result(count);
  for (int64_t n = 0; n != y[0]; ++n)
    for (int64_t oc = 0; oc != y[1]; ++oc)
      for (int64_t oh = 0; oh != y[2]; ++oh)
        for (int64_t ow = 0; ow != y[3]; ++ow)
          for (int64_t c = 0; c != x[1]; ++c)
            for (int64_t i = 0; i != w[2]; ++i)
              for (int64_t j = 0; j != w[3]; ++j) {
                const int64_t h =
                    oh * test.strides[0] - test.pads[0] + i * test.dilations[0];
                const int64_t v =
                    ow * test.strides[1] - test.pads[1] + j * test.dilations[1];
                if (h < 0 || h >= x[2] || v < 0 || v >= x[3])
                  continue;
                const size_t atX = indexOf(x, test.plainX, n, c, h, v),
                             atY = indexOf(y, test.plainY, n, oc, oh, ow),
                             atW = indexOf(w, test.ofWeights, oc, c, i, j);
                if (test.ofWeights)
                  result[atW] += double(tensors[0].values[atX]) *
                                 double(tensors[1].values[atY]);
                else
                  result[atX] += double(tensors[0].values[atY]) *
                                 double(tensors[1].values[atW]);
              }
  return result;
}

void expectAnswer(const Case &test) {
  FakeCuda fake;
  {
    Gradient gradient(test);
    Status prepared = gradient.prepare();
    ASSERT_TRUE(prepared.isOk()) << prepared.message();
    Status launched = gradient.launch();
    ASSERT_TRUE(launched.isOk()) << launched.message();
    std::vector<double> expected = gradient.expected();
    double largest = 0;
    for (double value : expected)
      largest = std::max(largest, std::abs(value));
    EXPECT_GT(largest, 0);
    expectNear(gradient.answer(), expected,
               test.type == DLC_F32    ? 1e-5
               : test.type == DLC_BF16 ? largest / 256
                                       : largest / 2048);
  }
  EXPECT_EQ(fake.handles(), 0u);
}

std::string refusal(const Case &test) {
  FakeCuda fake;
  Gradient gradient(test);
  Status status = gradient.prepare();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  return status.message();
}

const Case ofImage = {
    .x = {2, 8, 5, 4}, .w = {16, 8, 1, 1}, .y = {2, 16, 5, 4}};
const Case ofWeights = {.ofWeights = true,
                        .x = {2, 8, 7, 6},
                        .w = {16, 8, 3, 2},
                        .y = {2, 16, 5, 5}};

/// Different windows, with and without an image around them that is missing.
std::vector<Case> windowed(bool ofWeights) {
  std::vector<Case> cases(5);
  cases[0] = {.x = {1, 16, 7, 6},
              .w = {8, 16, 3, 3},
              .y = {1, 8, 4, 3},
              .strides = {2, 2},
              .pads = {1, 1, 1, 1}};
  cases[1] = {.x = {2, 8, 9, 8},
              .w = {16, 8, 3, 2},
              .y = {2, 16, 5, 8},
              .pads = {0, 1, 0, 0},
              .dilations = {2, 1}};
  // Rows and columns behind the last window.
  cases[2] = {.x = {1, 8, 8, 7},
              .w = {8, 8, 3, 2},
              .y = {1, 8, 3, 2},
              .strides = {2, 3}};
  cases[3] = {.x = {2, 8, 5, 7},
              .w = {8, 8, 1, 1},
              .y = {2, 8, 3, 4},
              .strides = {2, 2}};
  cases[4] = {.x = {1, 8, 6, 6}, .w = {24, 8, 3, 3}, .y = {1, 24, 4, 4}};
  for (Case &test : cases)
    test.ofWeights = ofWeights;
  return cases;
}

} // namespace

TEST(CudaConvGradients, ComputeWhatIsAsked) {
  for (Case test : {ofImage, ofWeights})
    for (DataType type : {DLC_F16, DLC_BF16, DLC_F32}) {
      test.type = type;
      test.compute = type == DLC_F32 ? "tf32" : "";
      expectAnswer(test);
    }
  for (bool isOfWeights : {false, true})
    for (Case test : windowed(isOfWeights)) {
      test.type = DLC_F32;
      test.compute = "bf16";
      expectAnswer(test);
    }
  Case test = ofImage;
  test.isGroupInFront = true;
  expectAnswer(test);
}

TEST(CudaConvGradients, TakePlainTensors) {
  for (bool plainX : {false, true})
    for (bool plainY : {false, true}) {
      Case test = ofWeights;
      test.plainX = plainX;
      test.plainY = plainY;
      expectAnswer(test);
    }
}

/// The fake library multiplies what is not there, as cuDNN may: who says that
/// nothing has to be finite is right only if a factor may be infinite then.
TEST(CudaConvGradients, SayWhatHasToBeFinite) {
  auto check = [](const Case &test, bool expected) {
    FakeCuda fake;
    Gradient gradient(test);
    EXPECT_FALSE(gradient.wantsFinite(0));
    EXPECT_EQ(gradient.wantsFinite(1), expected);
    CallTensor &factor = gradient.tensors[1];
    factor.values[0] = std::numeric_limits<float>::infinity();
    factor.values.back() = -factor.values[0];
    gradient.write(factor);
    ASSERT_TRUE(gradient.prepare().isOk());
    ASSERT_TRUE(gradient.launch().isOk());
    auto notNumbers = [](const auto &values) {
      return std::ranges::count_if(values,
                                   [](auto x) { return std::isnan(x); });
    };
    const auto defined = notNumbers(gradient.expected());
    if (expected)
      EXPECT_GT(notNumbers(gradient.answer()), defined);
    else
      EXPECT_EQ(notNumbers(gradient.answer()), defined);
  };
  check(ofImage, false);
  check(ofWeights, false);
  for (const Case &test : windowed(/*ofWeights=*/false))
    check(test, true);
  std::vector<Case> cases = windowed(/*ofWeights=*/true);
  for (size_t i = 0; i != cases.size(); ++i)
    check(cases[i], i < 2);
}

TEST(CudaConvGradients, WantAWorkspaceForWhatIsRearranged) {
  auto bytesOf = [](const Case &test) {
    FakeCuda fake;
    Gradient gradient(test);
    const TensorType inputs[] = {gradient.tensors[0].type,
                                 gradient.tensors[1].type};
    return lookupLibraryEntry(gradient.entry)
        ->workspaceBytes(
            {inputs, {&gradient.tensors[2].type, 1}, gradient.attributes});
  };
  // It begins at a multiple of 256, wherever the arena has it.
  const size_t always = (size_t(16) << 20) + 256 - DLC_ALIGNMENT;
  Case test = ofWeights;
  const auto weights = size_t(2 * countOf(test.w)), x = size_t(countOf(test.x)),
             y = size_t(countOf(test.y));
  EXPECT_EQ(bytesOf(test), always + weights);
  test.plainX = true;
  EXPECT_EQ(bytesOf(test), always + weights + 2 * x);
  test.type = DLC_F32;
  EXPECT_EQ(bytesOf(test), always + 2 * weights + 4 * x + 4 * y);
}

TEST(CudaConvGradients, AreRecorded) {
  FakeCuda fake;
  Gradient gradient(ofWeights);
  expectRecorded(gradient);
  expectNear(gradient.answer(), gradient.expected(), 4e-2);
}

TEST(CudaConvGradients, RefuseOtherCalls) {
  for (const Case &plain : {ofImage, ofWeights}) {
    Case test = plain;
    test.group = 2;
    EXPECT_EQ(refusal(test), "expected one group");
    test = plain;
    test.type = DLC_F32;
    EXPECT_EQ(refusal(test),
              "expected f16 or bf16, or f32 that may be rounded");
    test = plain;
    test.activation = "relu";
    EXPECT_EQ(refusal(test), "expected nothing behind a gradient");
    test = plain;
    test.withBias = true;
    EXPECT_EQ(refusal(test), "expected nothing behind a gradient");
    test = plain;
    test.pads = {1, 1};
    EXPECT_EQ(refusal(test), "attribute pads: expected 4 numbers from 0 on");
  }
  Case test = ofImage;
  test.strides = {2, 2};
  EXPECT_EQ(refusal(test),
            "expected an image, weights and result of one convolution, got "
            "2x1x5x4x16xf16, 16x8x1x1xf16 and 2x1x5x4x8xf16");
  test = ofImage;
  test.plainY = true;
  EXPECT_EQ(refusal(test), "expected input 0 to have rank 5 to 5, got "
                           "2x16x5x4xf16");
  test = ofWeights;
  test.x[1] = test.w[1] = 4;
  EXPECT_EQ(refusal(test), "expected multiples of 8 channels, got "
                           "2x1x7x6x4xf16, 2x1x5x5x16xf16 and 16x4x3x2xf16");
  // More rows behind the last window than a window is apart from the next.
  test = ofWeights;
  test.y[2] = 4;
  EXPECT_EQ(refusal(test),
            "expected an image, weights and result of one convolution, got "
            "2x1x7x6x8xf16, 2x1x4x5x16xf16 and 16x8x3x2xf16");
}

/// Of numbers in a file nothing may be taken on trust.
TEST(CudaConvGradients, RefuseExtentsThatAreTooLarge) {
  Attributes attributes;
  attributes.set("strides", std::vector<int64_t>{INT32_MAX, INT32_MAX});
  auto refusal = [&](const TensorType &g) {
    const TensorType inputs[] = {{DLC_F16, {1, 1, 4, 4, 8}}, g};
    const TensorType w = {DLC_F16, {8, 8, 1, 1}};
    std::string why;
    EXPECT_FALSE(lookupLibraryEntry("cudnn.conv_weight_gradient")
                     ->isSupported({inputs, {&w, 1}, attributes}, why));
    return why;
  };
  for (int64_t rows : {int64_t(0), int64_t(1) << 40})
    EXPECT_EQ(refusal({DLC_F16, {1, 1, rows, 1, 8}}),
              "expected tensors with elements, of extents below 2^31, got "
              "1x1x4x4x8xf16, 1x1x" +
                  std::to_string(rows) + "x1x8xf16 and 8x8x1x1xf16");
  EXPECT_EQ(refusal({DLC_F16, {1, 1, 4, 1, 16}}).substr(0, 47),
            "expected an image, weights and result of one co");
}

TEST(CudaConvGradients, SayWhatFails) {
  static constexpr const char *symbols[] = {
      "cudnnCreate", "cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
      "cudnnSetStream", "cudnnBackendExecute"};
  static constexpr std::pair<int, StatusCode> codes[] = {
      {1001, StatusCode::Unavailable},
      {4004, StatusCode::OutOfMemory},
      {3007, StatusCode::Unsupported}};
  for (const Case &test : {ofImage, ofWeights})
    expectFailures(symbols, "says the fake cuDNN", codes,
                   [&] { return std::make_unique<Gradient>(test); });
}
