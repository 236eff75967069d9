// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv against a convolution in double.

#include "ConvTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

static void check(const ConvCase &c) {
  Call call = makeCall(c);
  std::vector<double> expected = reference(c, call);
  expectMatches(call, prepareConv, expected, textOf(c, false));
  packW(call);
  expectMatches(call, prepareConv, expected, textOf(c, true));
}

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

// Rows long enough for some vectors at once, beside which there are borders; of
// several rows of taps, too, and of more than are parted.
TEST(ConvTest, LongDepthwiseRows) {
  for (int64_t stride : {3, 4, 7})
    check({1, 2, {7, 900}, 2, {3, 21}, {2, stride}, {1, 9, 1, 9}, {}, 2});
  check({1, 1, {5000}, 1, {600}, {3}, {}, {}, 1, true});
  check({1, 1, {6000}, 1, {90}, {40}, {}, {}, 1, true});
  for (int64_t stride : {1, 2, 3, 5})
    for (int64_t kernel : {1, 4, 28})
      for (int64_t dilation : {1, 3})
        for (int64_t width : {300, 301, 1000})
          check({2,
                 2,
                 {2, width},
                 2,
                 {1, kernel},
                 {1, stride},
                 {0, kernel / 2, 0, 1},
                 {1, dilation},
                 2,
                 true,
                 stride == 3});
}

TEST(ConvTest, ManyResultsOfOneChannel) {
  for (int64_t results : {15, 16, 17, 40})
    for (int64_t stride : {1, 2, 5}) {
      check({2, 1, {60}, results, {10}, {stride}, {}, {}, 1, true});
      check({1, 1, {60}, results, {31}, {stride}, {15, 15}, {}, 1, true, true});
      check({2,
             1,
             {9, 23},
             results,
             {3, 2},
             {stride, 1},
             {1, 0, 1, 1},
             {},
             1,
             true,
             false,
             "relu"});
    }
}

TEST(ConvTest, FewOutputChannels) {
  Random random(11);
  const Shape kernels[] = {{3, 3}, {1, 7}, {9, 9}, {5, 1}, {2, 40}};
  for (int64_t channels : {1, 2, 3, 4, 5, 7, 16, 17})
    for (int64_t width : {1, 5, 16, 17, 33, 100, 300})
      for (const Shape &kernel : kernels) {
        const int64_t group = 1 + random.below(2);
        ConvCase c = {1 + random.below(2),
                      group * (2 + random.below(3)),
                      {1 + random.below(6), width},
                      group * channels,
                      kernel,
                      {1 + random.below(3), 1 + random.below(2)},
                      {random.below(9), random.below(20), random.below(9),
                       random.below(20)},
                      {1 + random.below(2), 1 + random.below(3)},
                      group};
        c.bias = random.below(2);
        c.residual = random.below(2);
        c.activation = kActivations[random.below(std::size(kActivations))];
        check(c);
      }
  // One long row is several tiles.
  check({1, 4, {5000}, 2, {7}, {}, {3, 3}, {}, 1, true});
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

TEST(ConvTest, Cost) {
  Call call = makeCall({2, 4, {5, 6}, 8, {3, 3}, {}, {}, {}, 2, true});
  KernelCost cost = lookupLibraryEntry("cpu.conv")->cost(call.view());
  EXPECT_EQ(cost.flops, 2u * 2 * 8 * 3 * 4 * 2 * 9);
  EXPECT_EQ(cost.bytes, 4u * (2 * 4 * 30 + 8 * 2 * 9 + 8 + 2 * 8 * 12));
  EXPECT_EQ(cost.overhead, cost.flops / 2);
  // Rows of sixteen channels and more are packed, each element once for all
  // outputs of its group.
  call = makeCall({2, 32, {5, 6}, 80, {3, 3}, {}, {}, {}, 2, true});
  cost = lookupLibraryEntry("cpu.conv")->cost(call.view());
  EXPECT_EQ(cost.overhead,
            (20u + 256 / 4) * (2 * 32 * 9 * 12) + 6 * (2 * 80 * 12));
  // Those of few results are read as they are.
  call = makeCall({2, 32, {5, 6}, 8, {3, 3}, {}, {}, {}, 2, true});
  cost = lookupLibraryEntry("cpu.conv")->cost(call.view());
  EXPECT_EQ(cost.overhead, cost.flops / 2);
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
  refuse([](Call &c) { c.inputs[0].shape = {1, 4}; }, "rank 3 to 5");
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
  refuse(
      [](Call &c) {
        c.inputs[3].shape = {8, 7, 7};
      },
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
