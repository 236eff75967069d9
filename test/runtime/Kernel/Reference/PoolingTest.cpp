// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

/// One row as N C W.
static Arg row(Floats values) {
  int64_t width = static_cast<int64_t>(values.size());
  return f32({1, 1, width}, std::move(values));
}

static Attrs window(int64_t kernel, int64_t stride, Ints pads,
                    int64_t ceilMode = 0) {
  return {{"kernel_shape", Ints{kernel}},
          {"strides", Ints{stride}},
          {"pads", std::move(pads)},
          {"ceil_mode", ceilMode}};
}

static Attrs with(Attrs attrs, Attribute more) {
  attrs.push_back(std::move(more));
  return attrs;
}

TEST(Pooling, MaxPool) {
  Arg x = row({1, 5, 2, 4, 3});
  EXPECT_EQ(evaluated("max_pool", {x}, window(2, 1, {})), "1x1x4xf32 5 5 4 4");
  EXPECT_EQ(evaluated("max_pool", {x}, window(3, 2, {1, 1})),
            "1x1x3xf32 5 5 4");
  EXPECT_EQ(evaluated("max_pool", {x},
                      {{"kernel_shape", Ints{2}}, {"dilations", Ints{3}}}),
            "1x1x2xf32 4 5");
  EXPECT_EQ(evaluated("max_pool", {tensor(DLC_I8, {1, 1, 3}, {-3, -2, -1})},
                      window(2, 1, {1, 0})),
            "1x1x3xi8 -3 -2 -1");
  EXPECT_EQ(evaluated("max_pool", {f32({0, 1, 3}, {})}, window(2, 1, {})),
            "0x1x2xf32");
  EXPECT_EQ(evaluated("max_pool", {row({1, kNaN, 2, 3})}, window(2, 1, {})),
            "1x1x3xf32 nan nan 3");
  // Dilation may miss the input altogether.
  EXPECT_EQ(evaluated("max_pool", {row({1, 2, 3})},
                      {{"kernel_shape", Ints{2}},
                       {"dilations", Ints{4}},
                       {"pads", Ints{1, 1}}}),
            "1x1x1xf32 -inf");
}

TEST(Pooling, CeilMode) {
  Arg x = row({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(evaluated("max_pool", {x}, window(3, 2, {})), "1x1x2xf32 3 5");
  EXPECT_EQ(evaluated("max_pool", {x}, window(3, 2, {}, 1)), "1x1x3xf32 3 5 6");
  // A last window that would start in the end padding is dropped.
  EXPECT_EQ(evaluated("max_pool", {row({1, 2})}, window(1, 2, {0, 1}, 1)),
            "1x1x1xf32 1");
  EXPECT_EQ(evaluated("avg_pool", {x}, window(3, 2, {}, 1)),
            "1x1x3xf32 2 4 5.5");
  // The part of the last window past the padding is never counted.
  Attrs counted = with(window(3, 2, {0, 0}, 1), {"count_include_pad", 1});
  EXPECT_EQ(evaluated("avg_pool", {x}, counted), "1x1x3xf32 2 4 5.5");
}

// Rounded up, of what is less than a window: it begins inside.
TEST(Pooling, CeilModeOfLargeWindows) {
  EXPECT_EQ(evaluated("max_pool", {row({7})}, window(2, 2, {}, 1)),
            "1x1x1xf32 7");
  EXPECT_EQ(evaluated("max_pool", {row({7, 8})}, window(4, 3, {}, 1)),
            "1x1x1xf32 8");
  EXPECT_EQ(evaluated("avg_pool", {row({7, 8})}, window(4, 3, {}, 1)),
            "1x1x1xf32 7.5");
  EXPECT_NE(evaluated("max_pool", {row({7})}, window(3, 2, {}, 1))
                .find("expected a window of at most 1"),
            std::string::npos);
}

TEST(Pooling, AutoPad) {
  Arg x = row({1, 2, 3, 4});
  auto padded = [&](std::string mode, int64_t stride) {
    return evaluated("max_pool", {x},
                     {{"kernel_shape", Ints{2}},
                      {"strides", Ints{stride}},
                      {"ceil_mode", 1},
                      {"auto_pad", mode}});
  };
  EXPECT_EQ(padded("SAME_UPPER", 1), "1x1x4xf32 2 3 4 4");
  EXPECT_EQ(padded("SAME_LOWER", 1), "1x1x4xf32 1 2 3 4");
  EXPECT_EQ(padded("VALID", 3), "1x1x1xf32 2");
  EXPECT_EQ(padded("SAME", 1),
            "error: max_pool: attribute auto_pad: expected NOTSET, VALID, "
            "SAME_UPPER or SAME_LOWER, got \"SAME\"");
}

TEST(Pooling, MaxPoolGradient) {
  Arg x = row({1, 5, 5, 4, 3}), g = row({1, 2, 4, 8});
  EXPECT_EQ(evaluated("max_pool_gradient", {x, g}, window(2, 1, {})),
            "1x1x5xf32 0 3 4 8 0");
  EXPECT_EQ(evaluated("max_pool_gradient", {row({1, kNaN, 2}), row({1, 2})},
                      window(2, 1, {})),
            "1x1x3xf32 0 3 0");
  EXPECT_EQ(shapesOf("max_pool_gradient", {x, row({1, 2})}, window(2, 1, {})),
            "error: operand 1: expected 1x1x4xf32, what the pooling of operand "
            "0 gives, got 1x1x2xf32");
}

TEST(Pooling, MaxPoolWithIndices) {
  Arg x = f32({1, 2, 2, 2}, {1, 9, 3, 4, 8, 6, 7, 8});
  Attrs attrs = {{"kernel_shape", Ints{2, 2}}};
  EXPECT_EQ(evaluated("max_pool_with_indices", {x}, attrs, 2),
            "1x2x1x1xf32 9 8; 1x2x1x1xi64 1 4");
  attrs.push_back({"storage_order", 1});
  EXPECT_EQ(evaluated("max_pool_with_indices", {x}, attrs, 2),
            "1x2x1x1xf32 9 8; 1x2x1x1xi64 2 4");
  attrs.back().value = 2;
  EXPECT_EQ(shapesOf("max_pool_with_indices", {x}, attrs, 2),
            "error: expected storage_order 0 or 1, got 2");
}

TEST(Pooling, AvgAndLpPool) {
  Arg x = row({3, 4, 5});
  EXPECT_EQ(evaluated("avg_pool", {x}, window(2, 1, {1, 0})),
            "1x1x3xf32 3 3.5 4.5");
  EXPECT_EQ(evaluated("avg_pool", {x},
                      with(window(2, 1, {1, 0}), {"count_include_pad", 1})),
            "1x1x3xf32 1.5 3.5 4.5");
  EXPECT_EQ(evaluated("lp_pool", {row({3, -4, 0})}, window(2, 1, {})),
            "1x1x2xf32 5 4");
  EXPECT_EQ(
      evaluated("lp_pool", {row({3, -4, 0})}, with(window(2, 1, {}), {"p", 1})),
      "1x1x2xf32 7 4");
  EXPECT_EQ(evaluated("avg_pool", {tensor(DLC_F16, {1, 1, 2}, {1, 2})},
                      window(2, 1, {})),
            "1x1x1xf16 1.5");
}

TEST(Pooling, Rejects) {
  Arg x = unknown(DLC_F32, {2, 3, -1, 8});
  EXPECT_EQ(shapesOf("max_pool", {x}, {{"kernel_shape", Ints{2, 2}}}),
            "2x3x?x7xf32");
  EXPECT_EQ(
      shapesOf("max_pool", {anyRank(DLC_F32)}, {{"kernel_shape", Ints{2, 2}}}),
      "?x?x?x?xf32");
  EXPECT_EQ(shapesOf("max_pool", {x}, {{"kernel_shape", Ints{2}}}),
            "error: operand 0: expected rank 3, got 4");
  EXPECT_EQ(shapesOf("max_pool", {x}),
            "error: attribute kernel_shape: expected 1 to 14 values, got 0");
  EXPECT_EQ(shapesOf("max_pool", {x}, {{"kernel_shape", Ints{2, 0}}}),
            "error: attribute kernel_shape: expected values in [1, 2^31), got "
            "0");
  EXPECT_EQ(shapesOf("max_pool", {row({1, 2})}, window(3, 1, {})),
            "error: expected a window of at most 2, the padded extent of "
            "spatial dim 0, got 3");
  EXPECT_EQ(shapesOf("avg_pool", {iota(DLC_I32, {1, 1, 2})}, window(1, 1, {})),
            "error: operand 0: expected a float type, got i32");
  EXPECT_EQ(shapesOf("lp_pool", {row({1})}, with(window(1, 1, {}), {"p", 0})),
            "error: expected p of at least 1, got 0");
}

TEST(Pooling, MaxUnpool) {
  Arg x = f32({1, 1, 1, 2}, {5, 6}), at = i64({1, 1, 1, 2}, {1, 7});
  Attrs attrs = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  EXPECT_EQ(evaluated("max_unpool", {x, at}, attrs),
            "1x1x2x4xf32 0 5 0 0 0 0 0 6");
  EXPECT_EQ(evaluated("max_unpool", {x, at, ints({1, 1, 2, 5})}, attrs),
            "1x1x2x5xf32 0 5 0 0 0 0 0 0 6 0");
  EXPECT_EQ(shapesOf("max_unpool", {x, at, unknown(DLC_I64, {4})}, attrs),
            "1x1x?x?xf32");
  EXPECT_EQ(shapesOf("max_unpool", {x, at, ints({1, 1, 2, 3})}, attrs),
            "error: operand 2: expected dimension 3 to be at least 4, got 3");
  EXPECT_EQ(evaluated("max_unpool", {x, i64({1, 1, 1, 2}, {1, 8})}, attrs),
            "error: max_unpool: expected an index in [0, 8), got 8 at "
            "position 1");
  EXPECT_EQ(shapesOf("max_unpool", {x, ints({1})}, attrs),
            "error: operand 1: expected the shape of 1x1x1x2xf32, got 1xi64");
  attrs.push_back({"pads", Ints{0, 3, 0, 3}});
  EXPECT_EQ(shapesOf("max_unpool", {x, at}, attrs),
            "error: expected pads that leave spatial dim 1 an extent, got 3 "
            "and 3");
}

TEST(Pooling, MaxRoiPool) {
  Arg x = iota(DLC_F32, {1, 1, 3, 4});
  Attrs attrs = {{"pooled_shape", Ints{1, 2}}};
  EXPECT_EQ(evaluated("max_roi_pool", {x, f32({1, 5}, {0, 0, 0, 3, 2})}, attrs),
            "1x1x1x2xf32 10 12");
  EXPECT_EQ(evaluated("max_roi_pool", {x, f32({1, 5}, {0, 9, 9, 9, 9})}, attrs),
            "1x1x1x2xf32 0 0");
  EXPECT_EQ(evaluated("max_roi_pool", {x, f32({0, 5}, {})}, attrs),
            "0x1x1x2xf32");
  EXPECT_EQ(evaluated("max_roi_pool", {x, f32({1, 5}, {1, 0, 0, 3, 2})}, attrs),
            "error: max_roi_pool: region 0: expected a batch in [0, 1), got "
            "1");
  EXPECT_EQ(
      evaluated("max_roi_pool", {x, f32({1, 5}, {0, kNaN, 0, 3, 2})}, attrs),
      "error: max_roi_pool: region 0: expected finite corners, got nan");
  EXPECT_EQ(shapesOf("max_roi_pool", {x, unknown(DLC_F32, {-1, 4})}, attrs),
            "error: operand 1: expected regions of 5 values, got ?x4xf32");
}

TEST(Pooling, RoiAlign) {
  Arg x = iota(DLC_F32, {1, 1, 3, 3}), batch = ints({0});
  Arg region = f32({1, 4}, {0, 0, 2, 2});
  Attrs attrs = {{"coordinate_transformation_mode", "output_half_pixel"},
                 {"sampling_ratio", 1}};
  EXPECT_EQ(evaluated("roi_align", {x, region, batch}, attrs), "1x1x1x1xf32 5");
  EXPECT_EQ(evaluated("roi_align", {x, region, batch}), "1x1x1x1xf32 3");
  attrs.push_back({"mode", "max"});
  EXPECT_EQ(
      evaluated("roi_align", {x, f32({1, 4}, {0, 0, 3, 3}), batch}, attrs),
      "1x1x1x1xf32 2.25");
  EXPECT_EQ(evaluated("roi_align", {x, region, ints({1})}),
            "error: roi_align: region 0: expected a batch in [0, 1), got 1");
  EXPECT_EQ(evaluated("roi_align", {x, f32({1, 4}, {0, 0, 1e9, 1}), batch}),
            "error: roi_align: expected a region of at most 65536 samples, "
            "got [0, 1e+09]");
  EXPECT_EQ(evaluated("roi_align", {x, f32({1, 4}, {kNaN, 0, 1, 1}), batch}),
            "error: roi_align: expected a region of at most 65536 samples, "
            "got [nan, 1]");
  EXPECT_EQ(shapesOf("roi_align",
                     {x, unknown(DLC_F32, {-1, 4}), unknown(DLC_I64, {3})},
                     {{"output_height", 2}}),
            "3x1x2x1xf32");
  EXPECT_EQ(shapesOf("roi_align", {x, region, ints({0, 0})}),
            "error: operand 2: expected a batch for each of 1 regions, got "
            "2xi64");
  EXPECT_EQ(shapesOf("roi_align", {x, region, batch}, {{"output_width", 0}}),
            "error: expected a pooled extent of at least 1, got 1 x 0");
}
