// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv with algorithm 'winograd' against a convolution in double.

#include "ConvTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

static void checkWinograd(const ConvCase &c) {
  Call call = makeCall(c);
  std::vector<double> expected = reference(c, call);
  makeWinograd(call);
  expectMatches(call, prepareConv, expected, textOf(c, true));
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

/// A block of tiles is shared out, by output channels or, of few of them, by
/// what is transformed.
TEST(WinogradTest, ThreadsShareBlocks) {
  auto rangesOf = [](Isa isa, int64_t outChannels) {
    Call call =
        makeCall({1, 64, {14, 14}, outChannels, {3, 3}, {}, {1, 1, 1, 1}});
    makeBlocked(call, Blocks::All);
    makeWinograd(call);
    std::unique_ptr<PreparedKernel> kernel;
    EXPECT_TRUE(prepareConv(call.view(), isa, kernel).isOk());
    return kernel->ranges(2);
  };
  for (Isa isa : runnableIsas()) {
    EXPECT_EQ(rangesOf(isa, 256), 2);
    EXPECT_GT(rangesOf(isa, 32), 1);
  }
}

/// One element that is not finite, or large sums: as by the definition.
TEST(WinogradTest, NotFinite) {
  for (float value : kNotFinite) {
    Call direct = makeNotFinite(
        {1, 8, {10, 11}, 9, {3, 3}, {}, {1, 1, 1, 1}, {}, 1, true}, value);
    Call call = direct;
    makeWinograd(call);
    expectSameNotFinite(direct, call, value);
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
  c.channels = 16;
  refuse(
      c, [](Call &x) { x.inputs[0].shape = {1, 1, 9, 9, 16}; },
      "both tensors or none in blocks");
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
