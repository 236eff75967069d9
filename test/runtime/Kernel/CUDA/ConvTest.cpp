// SPDX-License-Identifier: Apache-2.0
//
// cudnn.conv through the fake library: answers, which plan is taken,
// recordings, what is refused, and every way in which the library can fail.

#include "CallTesting.h"

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

struct Case {
  DataType type = DLC_F16;
  std::vector<int64_t> x, w, y; ///< N1HWC, [OC, KH, KW, C] or [OC, C, 1, 1].
  std::vector<int64_t> strides = {1, 1}, pads = {0, 0, 0, 0},
                       dilations = {1, 1};
  bool bias = false, residual = false, relu = false;
  std::string compute = "";
  int64_t group = 1;
};

class Conv : public TestedCall {
public:
  explicit Conv(const Case &test)
      : TestedCall("cudnn.conv", test.type), test(test) {
    add(test.x);
    add(test.w);
    add(test.bias ? std::vector{test.y.back()} : std::vector<int64_t>());
    add(test.residual ? test.y : std::vector<int64_t>());
    add(test.y);
    addWorkspace();
    attributes.set("strides", test.strides);
    attributes.set("pads", test.pads);
    attributes.set("dilations", test.dilations);
    attributes.set("group", test.group);
    if (isLast())
      attributes.set("w_channels_last", int64_t(1));
    if (test.relu)
      attributes.set("activation", std::string("relu"));
    if (!test.compute.empty())
      attributes.set("compute", test.compute);
  }
  bool isLast() const { return test.w[3] != 1; }
  std::vector<double> expected() const;

  const Case test;
};

std::vector<double> Conv::expected() const {
  const int64_t channels = test.x[4];
  const int64_t kh = isLast() ? test.w[1] : 1, kw = isLast() ? test.w[2] : 1;
  std::vector<double> result;
  for (int64_t n = 0; n != test.y[0]; ++n)
    for (int64_t oh = 0; oh != test.y[2]; ++oh)
      for (int64_t ow = 0; ow != test.y[3]; ++ow)
        for (int64_t oc = 0; oc != test.y[4]; ++oc) {
          double sum = 0;
          for (int64_t i = 0; i != kh; ++i)
            for (int64_t j = 0; j != kw; ++j)
              for (int64_t c = 0; c != channels; ++c) {
                int64_t h =
                    oh * test.strides[0] - test.pads[0] + i * test.dilations[0];
                int64_t v =
                    ow * test.strides[1] - test.pads[1] + j * test.dilations[1];
                if (h < 0 || h >= test.x[2] || v < 0 || v >= test.x[3])
                  continue;
                sum += double(tensors[0].values[size_t(
                           ((n * test.x[2] + h) * test.x[3] + v) * channels +
                           c)]) *
                       tensors[1].values[size_t(
                           ((oc * kh + i) * kw + j) * channels + c)];
              }
          if (test.residual)
            sum += tensors[3].values[result.size()];
          if (test.bias)
            sum += tensors[2].values[size_t(oc)];
          result.push_back(test.relu ? std::max(sum, 0.0) : sum);
        }
  return result;
}

void expectAnswer(const Case &test) {
  FakeCuda fake;
  {
    Conv conv(test);
    Status prepared = conv.prepare();
    ASSERT_TRUE(prepared.isOk()) << prepared.message();
    Status launched = conv.launch();
    ASSERT_TRUE(launched.isOk()) << launched.message();
    expectNear(conv.answer(), conv.expected(),
               test.type == DLC_F32 ? 1e-5 : 4e-2);
  }
  EXPECT_EQ(fake.handles(), 0u);
}

std::string refusal(const Case &test) {
  FakeCuda fake;
  Conv conv(test);
  Status status = conv.prepare();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  return status.message();
}

const Case plain = {
    .x = {2, 1, 5, 4, 8}, .w = {8, 8, 1, 1}, .y = {2, 1, 5, 4, 8}};

} // namespace

TEST(CudaConv, ComputesWhatIsAsked) {
  for (DataType type : {DLC_F16, DLC_BF16}) {
    Case test = plain;
    test.type = type;
    expectAnswer(test);
    test.bias = true;
    expectAnswer(test);
    test.relu = true;
    expectAnswer(test);
    test.residual = true;
    expectAnswer(test);
  }
  expectAnswer({.type = DLC_F32,
                .x = {1, 1, 7, 6, 16},
                .w = {8, 3, 3, 16},
                .y = {1, 1, 4, 3, 8},
                .strides = {2, 2},
                .pads = {1, 1, 1, 1},
                .bias = true,
                .relu = true,
                .compute = "tf32"});
  expectAnswer({.x = {1, 1, 9, 8, 8},
                .w = {16, 3, 2, 8},
                .y = {1, 1, 5, 8, 16},
                .strides = {1, 1},
                .pads = {0, 1, 0, 0},
                .dilations = {2, 1},
                .bias = true});
}

TEST(CudaConv, TakesThePlanThatIsExactAndFits) {
  FakeCuda fake;
  Conv conv(plain);
  ASSERT_TRUE(conv.prepare().isOk());
  // Of three, the first sums in less than f32, which is known without a plan.
  EXPECT_EQ(fake.count("cudnnBackendFinalize 5"), 2u);
}

TEST(CudaConv, IsRecorded) {
  FakeCuda fake;
  Conv conv(plain);
  expectRecorded(conv);
  expectNear(conv.answer(), conv.expected(), 4e-2);
}

TEST(CudaConv, RefusesOtherCalls) {
  Case test = plain;
  test.group = 2;
  EXPECT_EQ(refusal(test), "expected one group");
  test = plain;
  test.relu = true;
  EXPECT_EQ(refusal(test), "expected a bias with a residual or an activation");
  test = plain;
  test.type = DLC_F32;
  EXPECT_EQ(refusal(test), "expected f16 or bf16, or f32 that may be rounded");
  test = plain;
  test.x[1] = 2;
  EXPECT_EQ(refusal(test), "expected all channels last, got 2x2x5x4x8xf16, "
                           "8x8x1x1xf16 and 2x1x5x4x8xf16");
  test = plain;
  test.x[4] = test.w[1] = 4;
  EXPECT_EQ(refusal(test), "expected multiples of 8 channels, got "
                           "2x1x5x4x4xf16, 8x4x1x1xf16 and 2x1x5x4x8xf16");
  test = plain;
  test.strides = {2, 2};
  EXPECT_EQ(refusal(test),
            "expected an image, weights and result of one convolution, got "
            "2x1x5x4x8xf16, 8x8x1x1xf16 and 2x1x5x4x8xf16");
  test = plain;
  test.pads = {1, 1};
  EXPECT_EQ(refusal(test), "attribute pads: expected 4 numbers from 0 on");
  test = plain;
  test.strides = {0, 1};
  EXPECT_EQ(refusal(test), "attribute strides: expected 2 numbers from 1 on");
}

TEST(CudaConv, SaysWhatFails) {
  static constexpr const char *symbols[] = {
      "cudnnCreate", "cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
      "cudnnSetStream", "cudnnBackendExecute"};
  static constexpr std::pair<int, StatusCode> codes[] = {
      {1001, StatusCode::Unavailable},
      {4004, StatusCode::OutOfMemory},
      {3007, StatusCode::Unsupported}};
  expectFailures(symbols, "says the fake cuDNN", codes,
                 [] { return std::make_unique<Conv>(plain); });
  // What of a configuration is refused is not the last word: behind six final
  // parts of the graph and the heuristic come plans.
  FakeCuda fake;
  Conv conv(plain);
  fake.fail("cudnnBackendFinalize", 8, 3000);
  EXPECT_TRUE(conv.prepare().isOk());
  EXPECT_EQ(fake.count("cudnnBackendFinalize 5"), 2u);
}
