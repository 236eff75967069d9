// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

static std::string scaled(Arg x, Floats scales, Attrs attrs) {
  int64_t count = static_cast<int64_t>(scales.size());
  return evaluated("resize", {x, none(), f32({count}, scales), none()}, attrs);
}

static std::string sized(Arg x, Ints sizes, Attrs attrs) {
  return evaluated("resize", {x, none(), none(), ints(sizes)}, attrs);
}

TEST(Spatial, ResizeModes) {
  Arg x = iota(DLC_F32, {2});
  EXPECT_EQ(scaled(x, {2}, {{"mode", "nearest"}}), "4xf32 1 1 2 2");
  EXPECT_EQ(scaled(x, {2}, {{"mode", "linear"}}), "4xf32 1 1.25 1.75 2");
  EXPECT_EQ(scaled(x, {2},
                   {{"mode", "linear"},
                    {"coordinate_transformation_mode", "align_corners"}}),
            "4xf32 1 1.3333 1.6667 2");
  EXPECT_EQ(
      scaled(iota(DLC_F32, {4}), {0.5}, {{"mode", "linear"}, {"antialias", 1}}),
      "2xf32 1.625 3.375");
  EXPECT_EQ(sized(iota(DLC_I8, {1, 4}), {2}, {{"axes", Ints{1}}}),
            "1x2xi8 1 3");
  // Halves round to even when an integer takes a mean.
  EXPECT_EQ(sized(tensor(DLC_U8, {2}, {2, 3}), {1}, {{"mode", "linear"}}),
            "1xu8 2");
  EXPECT_EQ(sized(x, {2}, {{"mode", "cubic"}}), "2xf32 1 2");
  EXPECT_EQ(sized(f32({0, 2}, {}), {0, 3}, {}), "0x3xf32");
}

// 17 / 1.7f is a whole number in floats, and a little less in doubles.
TEST(Spatial, NearestElementsAreThoseOfFloats) {
  Attrs floor = {{"mode", "nearest"},
                 {"nearest_mode", "floor"},
                 {"coordinate_transformation_mode", "asymmetric"}};
  EXPECT_EQ(scaled(iota(DLC_F32, {11}), {1.7}, floor),
            "18xf32 1 1 2 2 3 3 4 5 5 6 6 7 8 8 9 9 10 11");
  EXPECT_EQ(scaled(iota(DLC_F32, {7}), {0.6}, floor), "4xf32 1 2 4 6");
}

TEST(Spatial, ResizePolicies) {
  Arg x = unknown(DLC_F32, {4, 8});
  auto shape = [&](std::string policy) {
    return shapesOf("resize", {x, none(), none(), ints({2, 2})},
                    {{"keep_aspect_ratio_policy", policy}});
  };
  EXPECT_EQ(shape("stretch"), "2x2xf32");
  EXPECT_EQ(shape("not_larger"), "1x2xf32");
  EXPECT_EQ(shape("not_smaller"), "2x4xf32");
}

TEST(Spatial, ResizeCropsAndExtrapolates) {
  EXPECT_EQ(
      evaluated("resize",
                {iota(DLC_F32, {3}), f32({2}, {0.5, 1.5}), none(), ints({3})},
                {{"mode", "linear"},
                 {"coordinate_transformation_mode", "tf_crop_and_resize"},
                 {"extrapolation_value", 9.0}}),
      "3xf32 2 3 9");
}

TEST(Spatial, ResizeRejects) {
  Arg x = unknown(DLC_F32, {-1, 8}), scales = f32({2}, {1, 2});
  EXPECT_EQ(shapesOf("resize", {x, none(), scales, none()}), "?x16xf32");
  EXPECT_EQ(shapesOf("resize", {x, none(), none(), unknown(DLC_I64, {2})}),
            "?x?xf32");
  EXPECT_EQ(shapesOf("resize", {x, none(), scales, ints({1, 2})}),
            "error: expected either scales or sizes, got both");
  EXPECT_EQ(shapesOf("resize", {x}),
            "error: expected either scales or sizes, got none");
  EXPECT_EQ(shapesOf("resize", {x, none(), f32({2}, {1, -2}), none()}),
            "error: expected finite scales above 0, got -2");
  EXPECT_EQ(shapesOf("resize", {x, none(), f32({1}, {1}), none()}),
            "error: operand 2: expected 2 values, got 1xf32");
  EXPECT_EQ(shapesOf("resize", {x, none(), scales, none()}, {{"mode", "area"}}),
            "error: attribute mode: unexpected value area");
  EXPECT_EQ(shapesOf("resize", {f32({0}, {}), none(), none(), ints({1})}),
            "error: expected a size for an extent of 0, got 1");
}

TEST(Spatial, GridSample) {
  Arg x = iota(DLC_F32, {1, 1, 2, 2});
  auto sampled = [&](Floats point, Attrs attrs) {
    return evaluated("grid_sample", {x, f32({1, 1, 1, 2}, point)}, attrs);
  };
  EXPECT_EQ(sampled({0, 0}, {}), "1x1x1x1xf32 2.5");
  EXPECT_EQ(sampled({1, -1}, {{"align_corners", 1}}), "1x1x1x1xf32 2");
  EXPECT_EQ(sampled({1, -1}, {}), "1x1x1x1xf32 0.5");
  EXPECT_EQ(sampled({9, -9}, {{"padding_mode", "border"}}), "1x1x1x1xf32 2");
  EXPECT_EQ(sampled({kNaN, 0}, {}), "1x1x1x1xf32 0");
  EXPECT_EQ(sampled({0.5, 2.5},
                    {{"mode", "nearest"}, {"padding_mode", "reflection"}}),
            "1x1x1x1xf32 2");
  EXPECT_EQ(shapesOf("grid_sample", {x, unknown(DLC_F32, {1, -1, 4, 2})}),
            "1x1x?x4xf32");
  EXPECT_EQ(shapesOf("grid_sample", {x, unknown(DLC_F32, {1, 3, 4, 3})}),
            "error: operand 1: expected a grid of 1x?x?x2xf32, got "
            "1x3x4x3xf32");
  EXPECT_EQ(shapesOf("grid_sample", {x, unknown(DLC_F32, {1, 1, 1, 2})},
                     {{"mode", "area"}}),
            "error: expected mode linear, nearest or cubic, got area");
}

TEST(Spatial, AffineGrid) {
  Arg theta = f32({1, 2, 3}, {1, 0, 0, 0, 2, 5});
  EXPECT_EQ(evaluated("affine_grid", {theta, ints({1, 1, 2, 2})},
                      {{"align_corners", 1}}),
            "1x2x2x2xf32 -1 3 1 3 -1 7 1 7");
  EXPECT_EQ(evaluated("affine_grid", {theta, ints({1, 1, 1, 2})}),
            "1x1x2x2xf32 -0.5 5 0.5 5");
  EXPECT_EQ(shapesOf("affine_grid", {theta, unknown(DLC_I64, {4})}),
            "1x?x?x2xf32");
  EXPECT_EQ(shapesOf("affine_grid", {theta, ints({2, 1, 2, 2})}),
            "error: operand 0: expected matrices of 2x2x3xf32, got 1x2x3xf32");
}

TEST(Spatial, Col2Im) {
  Arg x = iota(DLC_F32, {1, 2, 2});
  EXPECT_EQ(evaluated("col2im", {x, ints({3}), ints({2})}), "1x1x3xf32 1 5 4");
  EXPECT_EQ(evaluated("col2im",
                      {iota(DLC_I32, {1, 2, 1}), ints({1, 2}), ints({1, 2})}),
            "1x1x1x2xi32 1 2");
  EXPECT_EQ(shapesOf("col2im", {x, ints({4}), ints({2})}),
            "error: operand 0: expected ?x(?*2)x3, got 1x2x2xf32");
  EXPECT_EQ(shapesOf("col2im", {x, ints({3}), ints({0})}),
            "error: expected extents of at least 0 and blocks of at least 1, "
            "got 3 and 0");
}
