// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv of weights that are not finite: taps outside of the image are no
// terms, in every layout.

#include "ConvTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

enum class Layout { Plain, Input, Output, All };

/// Every instruction set gives what the definition does, also where that is no
/// number.
void check(const ConvCase &c, Layout layout, float value, int count = 2) {
  Call call = makeCall(c);
  Random random(count);
  for (int i = 0; i < count; ++i)
    call.values[1].data()[random.below(call.values[1].size())] = value;
  std::vector<double> expected = reference(c, call);
  std::vector<double> places(expected.size()); // NaN: behind the last channel.
  if (layout != Layout::Plain) {
    if (layout != Layout::Input) {
      expected = blocked(expected.data(), call.output);
      places = blocked(places.data(), call.output);
    }
    makeBlocked(call, layout == Layout::Input    ? Blocks::Input
                      : layout == Layout::Output ? Blocks::Output
                                                 : Blocks::All);
  }
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  const auto bytes = static_cast<int64_t>(entry->workspaceBytes(call.view()));
  ASSERT_GT(bytes, 0);
  call.workspace = TensorType{DLC_I8, {bytes}};
  double scale = 0;
  for (double element : expected)
    scale =
        std::isfinite(element) ? std::max(scale, std::fabs(element)) : scale;
  for (Isa isa : runnableIsas()) {
    SCOPED_TRACE(textOf(c, false) + " " + std::string(nameOf(isa)) + " " +
                 std::to_string(value));
    const std::vector<float> values = runCall(call, prepareConv, isa);
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
      if (std::isnan(places[i]))
        continue;
      else if (std::isfinite(expected[i]))
        ASSERT_NEAR(values[i], expected[i], 4e-6 * scale) << i;
      else if (std::isnan(expected[i]))
        ASSERT_TRUE(std::isnan(values[i])) << i << ": " << values[i];
      else
        ASSERT_EQ(values[i], expected[i]) << i;
  }
}

constexpr float kWeights[] = {INFINITY, -INFINITY, NAN};

} // namespace

TEST(DefinedConvTest, EveryLayout) {
  const ConvCase c = {2, 32, {7, 9}, 48, {3, 3}, {}, {1, 1, 1, 1}};
  for (float value : kWeights)
    for (Layout layout :
         {Layout::Plain, Layout::Input, Layout::Output, Layout::All})
      check(c, layout, value);
}

TEST(DefinedConvTest, ChannelsThatEndWithinABlock) {
  for (float value : kWeights)
    for (bool more : {false, true})
      for (Layout layout : {Layout::Input, Layout::Output, Layout::All}) {
        check({2, 24, {7, 9}, 40, {3, 3}, {}, {1, 1, 1, 1}, {}, 1, more, more},
              layout, value);
        check({3, 40, {7, 6}, 12, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 1, more},
              layout, value);
      }
  check({2, 24, {7, 9}, 24, {3, 3}, {}, {1, 1, 1, 1}, {}, 24, true, true},
        Layout::All, INFINITY);
}

TEST(DefinedConvTest, WindowsOfAllKinds) {
  for (Layout layout : {Layout::Plain, Layout::All}) {
    check({1, 16, {9, 10}, 16, {3, 3}, {2, 2}, {0, 1, 1, 0}}, layout, INFINITY);
    check({1, 16, {9, 10}, 16, {2, 3}, {}, {2, 0, 2, 4}, {2, 2}}, layout, NAN);
    check({1, 32, {9, 10}, 32, {3, 3}, {}, {1, 1, 1, 1}, {}, 32}, layout,
          INFINITY);
    check({1, 32, {6, 5}, 64, {3, 3}, {}, {1, 1, 1, 1}, {}, 2}, layout,
          -INFINITY);
    check({2, 16, {19}, 32, {5}, {2}, {2, 2}}, layout, INFINITY);
  }
  check({1, 3, {12, 11}, 32, {3, 3}, {2, 2}, {1, 1, 1, 1}}, Layout::Output,
        INFINITY);
  // So many weights that they are looked at in parts: the last one of them.
  check({1, 128, {4, 4}, 128, {3, 3}, {}, {1, 1, 1, 1}}, Layout::All, INFINITY,
        1);
}

TEST(DefinedConvTest, Epilogues) {
  for (const char *activation : kActivations)
    for (Layout layout : {Layout::Plain, Layout::All})
      for (bool residual : {false, true})
        check({1,
               16,
               {5, 6},
               32,
               {3, 3},
               {},
               {1, 1, 1, 1},
               {},
               1,
               true,
               residual,
               activation},
              layout, INFINITY, 3);
}

/// The same kernels as without a guard, where all weights are finite.
TEST(DefinedConvTest, FiniteWeights) {
  for (Layout layout : {Layout::Plain, Layout::All}) {
    check({2, 32, {7, 9}, 48, {3, 3}, {}, {1, 1, 1, 1}}, layout, 3.0f);
    check({1, 16, {9, 9}, 16, {3, 3}, {}, {1, 1, 1, 1}, {}, 16}, layout, 3.0f);
  }
}

/// Artifacts from before there was a guard have no room for its words.
TEST(DefinedConvTest, CallsWithoutRoom) {
  const ConvCase c = {1, 16, {5, 6}, 32, {3, 3}, {}, {1, 1, 1, 1}};
  Call call = makeCall(c);
  const std::vector<double> expected = reference(c, call);
  expectMatches(call, prepareConv, expected, "plain");
  makeBlocked(call, Blocks::All);
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  call.workspace = TensorType{
      DLC_I8, {static_cast<int64_t>(entry->packedBytes(call.view(), 1))}};
  expectMatches(call, prepareConv, blocked(expected.data(), f32({1, 32, 5, 6})),
                "blocked");
}

/// Windows inside of the image need none, and no workspace.
TEST(DefinedConvTest, NothingOutside) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  EXPECT_EQ(entry->workspaceBytes(makeCall({1, 3, {5, 6}, 4, {3, 3}}).view()),
            0);
  EXPECT_FALSE(
      entry->packsFinite(makeCall({1, 3, {5, 6}, 4, {3, 3}}).view(), 1));
  EXPECT_TRUE(entry->packsFinite(
      makeCall({1, 3, {5, 6}, 4, {3, 3}, {}, {0, 0, 0, 1}}).view(), 1));
}
