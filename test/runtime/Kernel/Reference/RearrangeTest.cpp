// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

static std::string padded(Arg x, Ints pads, std::string mode) {
  return evaluated("pad", {x, ints(pads), f32({}, {9}), ints({-1})},
                   {{"mode", mode}});
}

TEST(Rearrange, PadModes) {
  Arg x = iota(DLC_F32, {3});
  EXPECT_EQ(padded(x, {1, 2}, "constant"), "6xf32 9 1 2 3 9 9");
  EXPECT_EQ(padded(x, {1, 2}, "edge"), "6xf32 1 1 2 3 3 3");
  EXPECT_EQ(padded(x, {1, 2}, "reflect"), "6xf32 2 1 2 3 2 1");
  EXPECT_EQ(padded(x, {1, 2}, "wrap"), "6xf32 3 1 2 3 1 2");
  // Pads wider than the operand go on folding.
  EXPECT_EQ(padded(x, {0, 6}, "reflect"), "9xf32 1 2 3 2 1 2 3 2 1");
  EXPECT_EQ(padded(x, {4, 0}, "wrap"), "7xf32 3 1 2 3 1 2 3");
  EXPECT_EQ(padded(f32({1}, {5}), {1, 2}, "reflect"), "4xf32 5 5 5 5");
}

TEST(Rearrange, PadCropsFirst) {
  Arg x = iota(DLC_F32, {4});
  EXPECT_EQ(padded(x, {-1, -1}, "constant"), "2xf32 2 3");
  EXPECT_EQ(padded(x, {-1, 2}, "constant"), "5xf32 2 3 4 9 9");
  EXPECT_EQ(padded(x, {-2, 2}, "reflect"), "4xf32 3 4 3 4");
  EXPECT_EQ(padded(x, {-2, -2}, "edge"), "0xf32");
  EXPECT_EQ(padded(x, {-3, -2}, "constant"),
            "error: pad: expected pads that fit a dimension of 4, got -3 and "
            "-2");
  EXPECT_EQ(padded(x, {INT64_MIN, INT64_MAX}, "constant"),
            "error: pad: expected pads that fit a dimension of 4, got "
            "-9223372036854775808 and 9223372036854775807");
  EXPECT_EQ(padded(f32({0}, {}), {1, 0}, "edge"),
            "error: pad: expected elements to pad with, got a dimension of 0");
  EXPECT_EQ(padded(f32({0}, {}), {1, 0}, "constant"), "1xf32 9");
}

TEST(Rearrange, PadTwoAxes) {
  Arg x = iota(DLC_I8, {2, 2}), value = tensor(DLC_I8, {}, {0});
  EXPECT_EQ(evaluated("pad", {x, ints({1, 0, 0, 1}), value, ints({0, 1})}),
            "3x3xi8 0 0 0 1 2 0 3 4 0");
  EXPECT_EQ(evaluated("pad", {x, ints({}), value, ints({})}), "2x2xi8 1 2 3 4");
}

TEST(Rearrange, PadInfersWhatItCan) {
  Arg x = unknown(DLC_F32, {-1, 3}), value = f32({}, {0});
  EXPECT_EQ(shapesOf("pad", {x, ints({1, 1}), value, ints({1})}), "?x5xf32");
  EXPECT_EQ(shapesOf("pad", {x, ints({1, 1}), value, ints({0})}), "?x3xf32");
  EXPECT_EQ(shapesOf("pad", {x, unknown(DLC_I64, {-1}), value, ints({1})}),
            "?x?xf32");
  EXPECT_EQ(shapesOf("pad", {anyRank(DLC_F32), ints({1, 1}), value, ints({1})}),
            "*xf32");
  EXPECT_EQ(shapesOf("pad", {x, ints({1}), value, ints({1})}),
            "error: expected 2 pads for 1 axes, got 1");
  EXPECT_EQ(shapesOf("pad", {x, ints({1, 1}), f32({2}, {0, 0}), ints({1})}),
            "error: operand 2: expected a scalar, got 2xf32");
  EXPECT_EQ(shapesOf("pad", {x, ints({1, 1}), scalar(0), ints({1})}),
            "error: operand 2: expected f32 as operand 0, got i64");
  EXPECT_EQ(shapesOf("pad", {x, ints({1, 1}), value, ints({1})},
                     {{"mode", "mirror"}}),
            "error: expected mode constant, reflect, edge or wrap, got "
            "mirror");
}

TEST(Rearrange, ReverseSequence) {
  Arg x = iota(DLC_F32, {3, 2});
  EXPECT_EQ(evaluated("reverse_sequence", {x, ints({3, 2})}),
            "3x2xf32 5 4 3 2 1 6");
  EXPECT_EQ(evaluated("reverse_sequence", {x, ints({2, 0, 1})},
                      {{"batch_axis", 0}, {"time_axis", 1}}),
            "3x2xf32 2 1 3 4 5 6");
  EXPECT_EQ(evaluated("reverse_sequence", {f32({0, 1}, {}), ints({0})}),
            "0x1xf32");
  EXPECT_EQ(evaluated("reverse_sequence", {x, ints({4, 0})}),
            "error: reverse_sequence: sequence 0: expected a length in "
            "[0, 3], got 4");
  EXPECT_EQ(shapesOf("reverse_sequence", {x, ints({1})}),
            "error: expected 2 lengths, got 1");
  EXPECT_EQ(
      shapesOf("reverse_sequence", {x, ints({1, 1})}, {{"batch_axis", 0}}),
      "error: expected distinct axes, got 0 twice");
}

TEST(Rearrange, DepthAndSpace) {
  Arg x = iota(DLC_F32, {1, 8, 1, 1});
  EXPECT_EQ(evaluated("depth_to_space", {x}, {{"blocksize", 2}}),
            "1x2x2x2xf32 1 3 5 7 2 4 6 8");
  EXPECT_EQ(
      evaluated("depth_to_space", {x}, {{"blocksize", 2}, {"mode", "CRD"}}),
      "1x2x2x2xf32 1 2 3 4 5 6 7 8");
  EXPECT_EQ(evaluated("space_to_depth", {iota(DLC_F32, {1, 1, 2, 2})},
                      {{"blocksize", 2}}),
            "1x4x1x1xf32 1 2 3 4");
  EXPECT_EQ(
      evaluated("space_to_depth", {f32({0, 1, 2, 2}, {})}, {{"blocksize", 2}}),
      "0x4x1x1xf32");
  EXPECT_EQ(shapesOf("depth_to_space", {anyRank(DLC_F32)}, {{"blocksize", 2}}),
            "?x?x?x?xf32");
  EXPECT_EQ(shapesOf("depth_to_space", {x}, {{"blocksize", 3}}),
            "error: expected a dimension that 9 divides, got 8");
  EXPECT_EQ(shapesOf("space_to_depth", {x}, {{"blocksize", 0}}),
            "error: expected a blocksize in [1, 2^31), got 0");
  EXPECT_EQ(
      shapesOf("space_to_depth", {iota(DLC_F32, {4})}, {{"blocksize", 2}}),
      "error: operand 0: expected rank 4, got 1");
}

TEST(Rearrange, Trilu) {
  Arg x = iota(DLC_I16, {2, 3});
  EXPECT_EQ(evaluated("trilu", {x, scalar(0)}), "2x3xi16 1 2 3 0 5 6");
  EXPECT_EQ(evaluated("trilu", {x, scalar(1)}), "2x3xi16 0 2 3 0 0 6");
  EXPECT_EQ(evaluated("trilu", {x, ints({0})}, {{"upper", 0}}),
            "2x3xi16 1 0 0 4 5 0");
  EXPECT_EQ(evaluated("trilu", {x, scalar(INT64_MIN)}, {{"upper", 0}}),
            "2x3xi16 0 0 0 0 0 0");
  EXPECT_EQ(evaluated("trilu", {f32({0, 2, 2}, {}), scalar(0)}), "0x2x2xf32");
  EXPECT_EQ(shapesOf("trilu", {f32({2}, {1, 2}), scalar(0)}),
            "error: operand 0: expected rank at least 2, got 1");
  EXPECT_EQ(shapesOf("trilu", {x, ints({0, 1})}),
            "error: operand 1: expected one value, got 2");
}
