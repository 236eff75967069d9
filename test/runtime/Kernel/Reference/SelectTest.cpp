// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

TEST(Select, TopK) {
  Arg x = f32({2, 3}, {1, 3, 2, 5, 5, 4});
  EXPECT_EQ(evaluated("top_k", {x, scalar(2)}),
            "2x2xf32 3 2 5 5; 2x2xi64 1 2 0 1");
  EXPECT_EQ(evaluated("top_k", {x, ints({1})}, {{"largest", 0}}),
            "2x1xf32 1 4; 2x1xi64 0 2");
  EXPECT_EQ(evaluated("top_k", {x, ints({1})}, {{"axis", 0}}),
            "1x3xf32 5 5 4; 1x3xi64 1 1 1");
  EXPECT_EQ(evaluated("top_k", {x, scalar(0)}), "2x0xf32; 2x0xi64");
  // NaN is greater than every number.
  Arg nan = f32({3}, {1, kNaN, kInf});
  EXPECT_EQ(evaluated("top_k", {nan, scalar(3)}),
            "3xf32 nan inf 1; 3xi64 1 2 0");
  EXPECT_EQ(evaluated("top_k", {nan, scalar(3)}, {{"largest", 0}}),
            "3xf32 1 inf nan; 3xi64 0 2 1");
  // Zeros are equal, whatever their sign.
  EXPECT_EQ(evaluated("top_k", {f32({4}, {-2, -0.0f, 0, -kInf}), scalar(4)}),
            "4xf32 -0 0 -2 -inf; 4xi64 1 2 0 3");
  EXPECT_EQ(
      evaluated("top_k", {i64({2}, {INT64_MAX, INT64_MAX - 1}), scalar(1)}),
      "1xi64 9223372036854775807; 1xi64 0");
}

/// Many elements, of which most are none of the first: equal ones, NaNs and
/// zeros of both signs among them.
TEST(Select, TopKOfMany) {
  std::mt19937 random(7);
  const float some[] = {kNaN, HUGE_VALF, -HUGE_VALF, 0.0f, -0.0f, 1, 2, -3};
  for (int64_t extent : {1, 15, 16, 17, 64, 500, 3000})
    for (bool isOfFew : {false, true}) {
      std::vector<double> values(extent);
      for (double &value : values)
        value = isOfFew || random() % 64 == 0
                    ? some[random() % std::size(some)]
                    : static_cast<float>(random() % 100000) - 5e4f;
      for (int largest : {0, 1}) {
        std::vector<int64_t> order(extent);
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
          const double x = values[largest ? b : a], y = values[largest ? a : b];
          return y != y ? x == x : x < y;
        });
        for (int64_t k : {int64_t{1}, int64_t{7}, int64_t{100}, extent}) {
          if (k > extent)
            continue;
          std::string expected;
          for (int64_t i = 0; i < k; ++i)
            expected += " " + std::to_string(order[i]);
          // A line, and one of two that lie in each other.
          const std::string line =
              evaluated("top_k", {f32({extent}, values), scalar(k)},
                        {{"largest", largest}});
          EXPECT_EQ(line.substr(line.find("xi64") + 4), expected);
          std::vector<double> both(2 * extent, 5);
          for (int64_t i = 0; i < extent; ++i)
            both[2 * i] = values[i];
          const std::string lines =
              evaluated("top_k", {f32({extent, 2}, both), scalar(k)},
                        {{"largest", largest}, {"axis", 0}});
          expected.clear();
          for (int64_t i = 0; i < k; ++i)
            expected +=
                " " + std::to_string(order[i]) + " " + std::to_string(i);
          EXPECT_EQ(lines.substr(lines.find("xi64") + 4), expected);
        }
      }
    }
}

TEST(Select, TopKRejects) {
  Arg x = f32({2, 3}, {1, 3, 2, 5, 5, 4});
  EXPECT_EQ(shapesOf("top_k", {x, scalar(4)}),
            "error: expected k in [0, 3], got 4");
  EXPECT_EQ(shapesOf("top_k", {x, scalar(-1)}),
            "error: expected k in [0, 3], got -1");
  EXPECT_EQ(shapesOf("top_k", {x, scalar(1)}, {{"axis", 2}}),
            "error: expected an axis in [-2, 2), got 2");
  EXPECT_EQ(shapesOf("top_k", {f32({}, {1}), scalar(1)}),
            "error: operand 0: expected rank at least 1, got 0");
  EXPECT_EQ(shapesOf("top_k", {x, unknown(DLC_I64, {1})}), "2x?xf32; 2x?xi64");
  EXPECT_EQ(shapesOf("top_k", {anyRank(DLC_F16), scalar(1)}), "*xf16; *xi64");
  EXPECT_EQ(computed("top_k", {x, scalar(2)}, {},
                     {{DLC_F32, {2, 1}}, {DLC_I64, {2, 1}}}),
            "error: result 0: expected 2x2xf32, got memory for 2x1xf32");
}

TEST(Select, NonZero) {
  EXPECT_EQ(evaluated("non_zero", {f32({2, 2}, {0, 3, kNaN, -0.0})}),
            "2x2xi64 0 1 1 0");
  EXPECT_EQ(evaluated("non_zero", {boolean({3}, {1, 0, 1})}), "1x2xi64 0 2");
  EXPECT_EQ(evaluated("non_zero", {f32({2}, {0, 0})}), "1x0xi64");
  EXPECT_EQ(evaluated("non_zero", {f32({}, {4})}), "0x1xi64");
  EXPECT_EQ(evaluated("non_zero", {f32({0, 3}, {})}), "2x0xi64");
  // The values are known; the shape still is not.
  EXPECT_EQ(shapesOf("non_zero", {f32({2}, {1, 1})}), "1x?xi64");
  EXPECT_EQ(shapesOf("non_zero", {anyRank(DLC_F32)}), "?x?xi64");
}

TEST(Select, Unique) {
  Arg x = f32({6}, {2, 1, 1, 3, 4, 3});
  EXPECT_EQ(evaluated("unique", {x}, {}, 4),
            "4xf32 1 2 3 4; 4xi64 1 0 3 4; 6xi64 1 0 0 2 3 2; 4xi64 2 1 2 1");
  EXPECT_EQ(evaluated("unique", {x}, {{"sorted", 0}}, 4),
            "4xf32 2 1 3 4; 4xi64 0 1 3 4; 6xi64 0 1 1 2 3 2; 4xi64 1 2 2 1");
  EXPECT_EQ(evaluated("unique", {f32({2}, {kNaN, kNaN})}, {}, 4),
            "1xf32 nan; 1xi64 0; 2xi64 0 0; 1xi64 2");
  EXPECT_EQ(evaluated("unique", {f32({0}, {})}, {}, 4),
            "0xf32; 0xi64; 0xi64; 0xi64");
  EXPECT_EQ(evaluated("unique", {tensor(DLC_I8, {}, {-3})}, {}, 4),
            "1xi8 -3; 1xi64 0; 1xi64 0; 1xi64 1");
}

TEST(Select, UniqueAlongAxis) {
  Arg x = f32({2, 3}, {1, 0, 1, 2, 5, 2});
  EXPECT_EQ(evaluated("unique", {x}, {{"axis", 1}}, 4),
            "2x2xf32 0 1 5 2; 2xi64 1 0; 3xi64 1 0 1; 2xi64 1 2");
  EXPECT_EQ(evaluated("unique", {f32({3, 0}, {})}, {{"axis", 0}}, 4),
            "1x0xf32; 1xi64 0; 3xi64 0 0 0; 1xi64 3");
  EXPECT_EQ(shapesOf("unique", {x}, {{"axis", -1}}, 4),
            "2x?xf32; ?xi64; ?xi64; ?xi64");
  EXPECT_EQ(shapesOf("unique", {x}, {{"axis", 2}}, 4),
            "error: expected an axis in [-2, 2), got 2");
}

TEST(Select, Compress) {
  Arg x = iota(DLC_F32, {2, 3});
  EXPECT_EQ(evaluated("compress", {x, boolean({2}, {0, 1})}, {{"axis", 1}}),
            "2x1xf32 2 5");
  EXPECT_EQ(evaluated("compress", {x, boolean({5}, {0, 1, 0, 0, 1})}),
            "2xf32 2 5");
  EXPECT_EQ(evaluated("compress", {x, boolean({0}, {})}, {{"axis", 0}}),
            "0x3xf32");
  EXPECT_EQ(shapesOf("compress", {x, boolean({2}, {1, 1})}, {{"axis", 0}}),
            "?x3xf32");
  EXPECT_EQ(shapesOf("compress", {x, boolean({3}, {1, 1, 1})}, {{"axis", 0}}),
            "error: operand 1: expected at most 2 values, got 3");
  EXPECT_EQ(shapesOf("compress", {x, unknown(DLC_BOOL, {7})}),
            "error: operand 1: expected at most 6 values, got 7");
  EXPECT_EQ(shapesOf("compress", {x, ints({1})}),
            "error: operand 1: expected bool, got i64");
}

static std::string suppressed(Arg boxes, Arg scores, int64_t most, double iou,
                              double score, int64_t format = 0) {
  return evaluated(
      "non_max_suppression",
      {boxes, scores, scalar(most), f32({}, {iou}), f32({1}, {score})},
      {{"center_point_box", format}});
}

TEST(Select, NonMaxSuppression) {
  // The second box lies over the first one; the third apart.
  Arg boxes = f32({1, 3, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 5, 5, 6, 6});
  Arg scores = f32({1, 1, 3}, {0.9, 0.75, 0.6});
  EXPECT_EQ(suppressed(boxes, scores, 3, 0.5, 0), "2x3xi64 0 0 0 0 0 2");
  EXPECT_EQ(suppressed(boxes, scores, 3, 0.9, 0), "3x3xi64 0 0 0 0 0 1 0 0 2");
  EXPECT_EQ(suppressed(boxes, scores, 3, 0.5, 0.7), "1x3xi64 0 0 0");
  EXPECT_EQ(suppressed(boxes, scores, 1, 0.5, 0), "1x3xi64 0 0 0");
  EXPECT_EQ(suppressed(boxes, scores, 0, 0.5, 0), "0x3xi64");
  EXPECT_EQ(suppressed(boxes, f32({1, 1, 3}, {kNaN, 0.5, 0.6}), 3, 0.5, 0),
            "2x3xi64 0 0 2 0 0 1");
  // Corners may come in any order; [x, y, width, height] when centered.
  EXPECT_EQ(suppressed(f32({1, 2, 4}, {1, 1, 0, 0, 0, 0, 1, 1}),
                       f32({1, 1, 2}, {0.5, 0.6}), 2, 0.5, 0),
            "1x3xi64 0 0 1");
  EXPECT_EQ(suppressed(f32({1, 2, 4}, {1, 1, 2, 2, 1, 1, 2, 1}),
                       f32({1, 1, 2}, {0.5, 0.6}), 2, 0.5, 0, 1),
            "2x3xi64 0 0 1 0 0 0");
}

TEST(Select, NonMaxSuppressionRejects) {
  Arg boxes = unknown(DLC_F32, {1, 3, 4}), scores = unknown(DLC_F32, {1, 2, 3});
  Arg most = scalar(1), half = f32({}, {0.5});
  EXPECT_EQ(shapesOf("non_max_suppression", {boxes, scores, most, half, half}),
            "?x3xi64");
  EXPECT_EQ(shapesOf("non_max_suppression",
                     {boxes, unknown(DLC_F32, {1, 2, 4}), most, half, half}),
            "error: operand 0: expected boxes of shape 1x4x4xf32, got "
            "1x3x4xf32");
  EXPECT_EQ(shapesOf("non_max_suppression",
                     {boxes, scores, most, f32({2}, {1, 1}), half}),
            "error: operand 3: expected one value, got 2xf32");
  EXPECT_EQ(shapesOf("non_max_suppression", {boxes, scores, half, half, half}),
            "error: operand 2: expected i32 or i64, got f32");
  EXPECT_EQ(shapesOf("non_max_suppression", {boxes, scores, most, half, half},
                     {{"center_point_box", 2}}),
            "error: expected center_point_box 0 or 1, got 2");
}

TEST(Select, SuppressBoxes) {
  // The second box lies over the first one; the third apart.
  Arg boxes = f32({1, 3, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 5, 5, 6, 6});
  Arg all = boolean({1, 3}, {1, 1, 1});
  auto kept = [&](std::vector<Arg> args, const Attrs &attrs = {}) {
    return evaluated("suppress_boxes", std::move(args), attrs);
  };
  EXPECT_EQ(kept({boxes, all, f32({}, {0.5})}), "1x3xbool 1 0 1");
  EXPECT_EQ(kept({boxes, all, f32({1}, {0.9})}), "1x3xbool 1 1 1");
  // What is no candidate suppresses nothing.
  EXPECT_EQ(kept({boxes, boolean({1, 3}, {0, 1, 0}), f32({}, {0.5})}),
            "1x3xbool 0 1 0");
  EXPECT_EQ(kept({boxes, all, f32({}, {0.5}), i64({1, 3}, {7, -7, 7})}),
            "1x3xbool 1 1 1");
  // Nor does a box that was suppressed: the third overlaps the second only.
  Arg chain = f32({1, 3, 4}, {0, 0, 4, 1, 2, 0, 6, 1, 4, 0, 8, 1});
  EXPECT_EQ(kept({chain, all, f32({}, {0.25})}), "1x3xbool 1 0 1");
  // A third of both is common: as much as the threshold is not too much.
  EXPECT_EQ(kept({tensor(DLC_F64, {1, 2, 4}, {0, 0, 4, 1, 2, 0, 6, 1}),
                  boolean({1, 2}, {1, 1}), tensor(DLC_F64, {}, {1.0 / 3})}),
            "1x2xbool 1 1");
  // Batches have nothing to do with each other.
  EXPECT_EQ(kept({f32({2, 1, 4}, {0, 0, 1, 1, 0, 0, 1, 1}),
                  boolean({2, 1}, {1, 1}), f32({}, {0.5})}),
            "2x1xbool 1 1");
  // [x, y, width, height] when centered; pixels when inclusive.
  Arg pair = boolean({1, 2}, {1, 1});
  EXPECT_EQ(
      kept({f32({1, 2, 4}, {1, 1, 2, 2, 1.5, 1, 2, 2}), pair, f32({}, {0.5})},
           {{"center_point_box", 1}}),
      "1x2xbool 1 0");
  Arg pixels = f32({1, 2, 4}, {0, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_EQ(kept({pixels, pair, f32({}, {0.25})}), "1x2xbool 1 1");
  EXPECT_EQ(kept({pixels, pair, f32({}, {0.25})}, {{"inclusive", 1}}),
            "1x2xbool 1 0");
  // Without area, the wrong way round, or no numbers: nothing in common. Below
  // 0, that is too much; but 0 of 0 is no number.
  Arg odd = f32({1, 4, 4}, {1, 1, 0, 0, 2, 2, 2, 2, kNaN, 0, 1, 1, 0, 0, 1, 1});
  Arg four = boolean({1, 4}, {1, 1, 1, 1});
  EXPECT_EQ(kept({odd, four, f32({}, {0})}), "1x4xbool 1 1 1 1");
  EXPECT_EQ(kept({odd, four, f32({}, {-1})}), "1x4xbool 1 1 1 0");
  EXPECT_EQ(kept({odd, four, f32({}, {kNaN})}), "1x4xbool 1 1 1 1");
  EXPECT_EQ(kept({f32({2, 0, 4}, {}), boolean({2, 0}, {}), f32({}, {0.5})}),
            "2x0xbool");
}

TEST(Select, SuppressBoxesRejects) {
  Arg boxes = unknown(DLC_F32, {2, -1, 4}), all = unknown(DLC_BOOL, {-1, 3});
  Arg half = f32({}, {0.5});
  auto shapes = [&](std::vector<Arg> args, const Attrs &attrs = {}) {
    return shapesOf("suppress_boxes", std::move(args), attrs);
  };
  EXPECT_EQ(shapes({boxes, all, half}), "2x3xbool");
  EXPECT_EQ(shapes({anyRank(DLC_F32), anyRank(DLC_BOOL), half}), "?x?xbool");
  EXPECT_EQ(shapes({boxes, all, half, unknown(DLC_I64, {2, 4})}),
            "error: operand 3: expected 3 in dimension 1, got 4");
  EXPECT_EQ(shapes({unknown(DLC_F32, {2, 3, 5}), all, half}),
            "error: operand 0: expected 4 in dimension 2, got 5");
  EXPECT_EQ(shapes({boxes, unknown(DLC_BOOL, {1, 3}), half}),
            "error: operand 1: expected 2 in dimension 0, got 1");
  EXPECT_EQ(shapes({boxes, all, f32({2}, {1, 1})}),
            "error: operand 2: expected one value, got 2xf32");
  EXPECT_EQ(shapes({boxes, all, tensor(DLC_F64, {}, {1})}),
            "error: operand 2: expected f32 as operand 0, got f64");
  EXPECT_EQ(shapes({boxes, boxes, half}),
            "error: operand 1: expected bool, got f32");
  EXPECT_EQ(shapes({unknown(DLC_F16, {2, 3, 4}), all, half}),
            "error: operand 0: expected f32 or f64, got f16");
  EXPECT_EQ(shapes({boxes, all, half}, {{"center_point_box", -1}}),
            "error: expected center_point_box 0 or 1, got -1");
  EXPECT_EQ(
      shapes({boxes, all, half}, {{"center_point_box", 1}, {"inclusive", 1}}),
      "error: expected corners to be inclusive, got centers");
  EXPECT_EQ(shapes({boxes, all}), "error: expected 3 to 4 operands, got 2");
  EXPECT_EQ(computed("suppress_boxes",
                     {f32({1, 1, 4}, {0, 0, 1, 1}), boolean({1, 1}, {1}), half},
                     {}, {{DLC_BOOL, {1, 2}}}),
            "error: result 0: expected 1x1xbool, got memory for 1x2xbool");
}

TEST(Select, MatchPairs) {
  auto matched = [&](Arg scores, double threshold, int64_t limit = 0) {
    return evaluated("match_pairs", {scores, f32({}, {threshold})},
                     {{"limit", limit}}, 2);
  };
  Arg scores = f32({1, 3, 2}, {0.5, 0.6, 0.1, 0.2, 0.3, 0.4});
  EXPECT_EQ(matched(scores, 0), "1x3xi64 1 -1 0; 1x2xi64 2 0");
  EXPECT_EQ(matched(scores, 0.3), "1x3xi64 1 -1 -1; 1x2xi64 -1 0");
  EXPECT_EQ(matched(scores, 0.6), "1x3xi64 -1 -1 -1; 1x2xi64 -1 -1");
  EXPECT_EQ(matched(scores, 0, 1), "1x3xi64 1 -1 -1; 1x2xi64 -1 0");
  // Equals in row-major order; a NaN is above no threshold.
  EXPECT_EQ(matched(f32({1, 2, 2}, {1, 1, 1, 1}), 0),
            "1x2xi64 0 1; 1x2xi64 0 1");
  EXPECT_EQ(matched(f32({1, 2, 2}, {kNaN, 1, kInf, 3}), 0),
            "1x2xi64 1 0; 1x2xi64 1 0");
  EXPECT_EQ(matched(f32({2, 1, 1}, {1, -1}), 0), "2x1xi64 0 -1; 2x1xi64 0 -1");
  EXPECT_EQ(matched(f32({1, 2, 0}, {}), 0), "1x2xi64 -1 -1; 1x0xi64");
}

TEST(Select, MatchPairsRejects) {
  Arg scores = unknown(DLC_F64, {2, -1, 3}), half = tensor(DLC_F64, {}, {0.5});
  EXPECT_EQ(shapesOf("match_pairs", {scores, half}, {}, 2), "2x?xi64; 2x3xi64");
  EXPECT_EQ(shapesOf("match_pairs", {anyRank(DLC_F32), f32({}, {0})}, {}, 2),
            "?x?xi64; ?x?xi64");
  EXPECT_EQ(shapesOf("match_pairs", {unknown(DLC_F64, {2, 3}), half}, {}, 2),
            "error: operand 0: expected rank 3, got 2");
  EXPECT_EQ(shapesOf("match_pairs", {scores, f32({}, {0})}, {}, 2),
            "error: operand 1: expected f64 as operand 0, got f32");
  EXPECT_EQ(
      shapesOf("match_pairs", {scores, tensor(DLC_F64, {2}, {1, 1})}, {}, 2),
      "error: operand 1: expected one value, got 2xf64");
  EXPECT_EQ(shapesOf("match_pairs", {scores, half}, {{"limit", -1}}, 2),
            "error: expected a limit of at least 0, got -1");
}
