// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

TEST(Views, ShapeAndSize) {
  Arg x = iota(DLC_F32, {2, 3, 4});
  EXPECT_EQ(evaluated("shape", {x}), "3xi64 2 3 4");
  EXPECT_EQ(evaluated("shape", {x}, {{"start", 1}}), "2xi64 3 4");
  EXPECT_EQ(evaluated("shape", {x}, {{"start", -1}, {"end", -2}}), "0xi64");
  EXPECT_EQ(evaluated("shape", {x}, {{"start", INT64_MIN}, {"end", -1}}),
            "2xi64 2 3");
  EXPECT_EQ(evaluated("shape", {f32({}, {1})}), "0xi64");
  EXPECT_EQ(shapesOf("shape", {anyRank(DLC_F32)}), "?xi64");
  EXPECT_EQ(evaluated("size", {x}), "i64 24");
  EXPECT_EQ(evaluated("size", {f32({0, 3}, {})}), "i64 0");
  EXPECT_EQ(evaluated("size", {f32({}, {1})}), "i64 1");
  EXPECT_EQ(shapesOf("size", {}), "error: expected 1 operand, got 0");
}

TEST(Views, ReshapeCopiesAndInfers) {
  Arg x = iota(DLC_I8, {2, 3});
  EXPECT_EQ(evaluated("reshape", {x, ints({3, 2})}), "3x2xi8 1 2 3 4 5 6");
  EXPECT_EQ(evaluated("reshape", {x, ints({0, 1, -1})}),
            "2x1x3xi8 1 2 3 4 5 6");
  EXPECT_EQ(evaluated("reshape", {f32({}, {7}), ints({1, 1})}), "1x1xf32 7");
  EXPECT_EQ(evaluated("reshape", {f32({1}, {7}), ints({})}), "f32 7");
  EXPECT_EQ(
      evaluated("reshape", {f32({2, 0}, {}), ints({0, 5})}, {{"allowzero", 1}}),
      "0x5xf32");
  // A copied 0 cancels out, as it does when the dimension is unknown.
  EXPECT_EQ(evaluated("reshape", {f32({0, 16}, {}), ints({0, 5, 16})}),
            "0x5x16xf32");
  EXPECT_EQ(evaluated("reshape", {f32({0, 3, 4}, {}), ints({0, -1})}),
            "0x12xf32");
}

TEST(Views, ReshapeInfersWhatItCan) {
  Arg x = unknown(DLC_F32, {-1, 3, 4});
  EXPECT_EQ(shapesOf("reshape", {x, ints({0, -1})}), "?x12xf32");
  EXPECT_EQ(shapesOf("reshape", {x, ints({-1, 6})}), "?x6xf32");
  EXPECT_EQ(shapesOf("reshape", {x, ints({2, -1})}), "2x?xf32");
  EXPECT_EQ(shapesOf("reshape", {x, unknown(DLC_I64, {2})}), "?x?xf32");
  EXPECT_EQ(shapesOf("reshape", {x, unknown(DLC_I64, {-1})}), "*xf32");
  EXPECT_EQ(shapesOf("reshape", {x, anyRank(DLC_I64)}), "*xf32");
  EXPECT_EQ(shapesOf("reshape", {anyRank(DLC_F32), ints({0, 5, -1})}),
            "?x5x?xf32");
}

TEST(Views, ReshapeRejects) {
  Arg x = iota(DLC_F32, {2, 3});
  EXPECT_EQ(shapesOf("reshape", {x, ints({-1, -1})}),
            "error: expected at most one -1, got 2");
  EXPECT_EQ(shapesOf("reshape", {x, ints({-2})}),
            "error: expected dimensions of at least -1, got -2");
  EXPECT_EQ(shapesOf("reshape", {x, ints({4, -1})}),
            "error: expected a shape for the elements of 2x3xf32: 6 can't be "
            "arranged as a multiple of 4");
  EXPECT_EQ(shapesOf("reshape", {x, ints({5})}),
            "error: expected a shape for the elements of 2x3xf32: 6 can't be "
            "arranged as 5");
  EXPECT_EQ(shapesOf("reshape", {x, ints({1, 6, 0})}),
            "error: dimension 2: expected an extent, got 0 (copy) past the "
            "end of 2x3xf32");
  EXPECT_EQ(shapesOf("reshape", {x, ints({0, -1})}, {{"allowzero", 1}}),
            "error: expected no -1 beside a dimension of 0");
  EXPECT_EQ(shapesOf("reshape", {x, ints({1ll << 62, 1ll << 62})}),
            "error: the number of elements overflows");
  EXPECT_EQ(shapesOf("reshape", {x, f32({1}, {6})}),
            "error: operand 1: expected i32 or i64, got f32");
  EXPECT_EQ(shapesOf("reshape", {x, i64({1, 1}, {6})}),
            "error: operand 1: expected a vector, got 1x1xi64");
  EXPECT_EQ(shapesOf("reshape", {none(), ints({6})}),
            "error: operand 0: expected a tensor, got none");
  EXPECT_EQ(computed("reshape", {x, ints({6})}, {}, {{DLC_F32, {7}}}),
            "error: expected a result of 24 bytes, got 28");
}

TEST(Views, Flatten) {
  Arg x = iota(DLC_I16, {2, 1, 2});
  EXPECT_EQ(evaluated("flatten", {x}), "2x2xi16 1 2 3 4");
  EXPECT_EQ(evaluated("flatten", {x}, {{"axis", 0}}), "1x4xi16 1 2 3 4");
  EXPECT_EQ(evaluated("flatten", {x}, {{"axis", 3}}), "4x1xi16 1 2 3 4");
  EXPECT_EQ(evaluated("flatten", {f32({}, {5})}, {{"axis", 0}}), "1x1xf32 5");
  EXPECT_EQ(shapesOf("flatten", {unknown(DLC_F32, {-1, 3, 2})}), "?x6xf32");
  EXPECT_EQ(shapesOf("flatten", {anyRank(DLC_F32)}), "?x?xf32");
  EXPECT_EQ(shapesOf("flatten", {x}, {{"axis", 4}}),
            "error: expected an axis in [-3, 3], got 4");
}

TEST(Views, Squeeze) {
  Arg x = iota(DLC_F32, {1, 2, 1});
  EXPECT_EQ(evaluated("squeeze", {x}), "2xf32 1 2");
  EXPECT_EQ(evaluated("squeeze", {x, ints({-1})}), "1x2xf32 1 2");
  EXPECT_EQ(evaluated("squeeze", {x, ints({})}), "1x2x1xf32 1 2");
  EXPECT_EQ(shapesOf("squeeze", {unknown(DLC_F32, {-1, 2}), ints({0})}),
            "2xf32");
  EXPECT_EQ(shapesOf("squeeze", {unknown(DLC_F32, {-1, 1})}), "*xf32");
  EXPECT_EQ(shapesOf("squeeze", {x, unknown(DLC_I64, {2})}), "?xf32");
  EXPECT_EQ(shapesOf("squeeze", {x, ints({1})}),
            "error: dimension 1: expected 1, got 2");
  EXPECT_EQ(shapesOf("squeeze", {x, ints({0, -3})}),
            "error: expected distinct axes, got 0 twice");
  EXPECT_EQ(shapesOf("squeeze", {x, ints({3})}),
            "error: expected an axis in [-3, 3), got 3");
  EXPECT_EQ(shapesOf("squeeze", {x, unknown(DLC_I64, {4})}),
            "error: expected at most 3 axes, got 4");
}

TEST(Views, Unsqueeze) {
  Arg x = iota(DLC_F32, {2});
  EXPECT_EQ(evaluated("unsqueeze", {x, ints({0, -1})}), "1x2x1xf32 1 2");
  EXPECT_EQ(evaluated("unsqueeze", {f32({}, {3}), ints({0})}), "1xf32 3");
  EXPECT_EQ(evaluated("unsqueeze", {x, scalar(1)}), "2x1xf32 1 2");
  EXPECT_EQ(shapesOf("unsqueeze", {x, unknown(DLC_I64, {2})}), "?x?x?xf32");
  EXPECT_EQ(shapesOf("unsqueeze", {anyRank(DLC_F32), ints({0})}), "*xf32");
  EXPECT_EQ(shapesOf("unsqueeze", {x, ints({2})}),
            "error: expected an axis in [-2, 2), got 2");
  EXPECT_EQ(shapesOf("unsqueeze", {x, unknown(DLC_I64, {16})}),
            "error: expected at most 15 axes, got 16");
}
