// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

TEST(Movement, Transpose) {
  Arg x = iota(DLC_F64, {2, 3});
  EXPECT_EQ(evaluated("transpose", {x}, {{"perm", Ints{1, 0}}}),
            "3x2xf64 1 4 2 5 3 6");
  EXPECT_EQ(evaluated("transpose", {iota(DLC_I8, {2, 1, 2})},
                      {{"perm", Ints{2, 0, 1}}}),
            "2x2x1xi8 1 3 2 4");
  EXPECT_EQ(evaluated("transpose", {f32({}, {4})}, {{"perm", Ints{}}}),
            "f32 4");
  EXPECT_EQ(evaluated("transpose", {f32({0, 2}, {})}, {{"perm", Ints{1, 0}}}),
            "2x0xf32");
  EXPECT_EQ(shapesOf("transpose", {anyRank(DLC_F32)}, {{"perm", Ints{1, 0}}}),
            "?x?xf32");
  EXPECT_EQ(shapesOf("transpose", {x}, {{"perm", Ints{1, 1}}}),
            "error: expected a permutation of [0, 2), got 1");
  EXPECT_EQ(shapesOf("transpose", {x}, {{"perm", Ints{0}}}),
            "error: expected a permutation of the dimensions of 2x3xf64 in "
            "'perm', got 1 numbers");
}

/// Elements of every size, of extents that squares of them fill or do not, in
/// all orders of three dimensions.
TEST(Movement, TransposesSquares) {
  for (DataType type : {DLC_I8, DLC_F16, DLC_F32, DLC_I64})
    for (Ints shape :
         {Ints{3, 33, 18}, Ints{16, 8, 32}, Ints{1, 47, 5}, Ints{20, 2, 19},
          Ints{1, 2100, 19}, Ints{2, 18, 1030}}) // The last ones in pieces.
      for (Ints perm : {Ints{0, 2, 1}, Ints{1, 0, 2}, Ints{1, 2, 0},
                        Ints{2, 0, 1}, Ints{2, 1, 0}}) {
        const int64_t strides[] = {shape[1] * shape[2], shape[2], 1};
        std::vector<double> source(shape[0] * strides[0]), expected;
        for (size_t i = 0; i < source.size(); ++i)
          source[i] = static_cast<double>(i * 37 % 127);
        const Ints turned = {shape[perm[0]], shape[perm[1]], shape[perm[2]]};
        for (int64_t i = 0; i < turned[0]; ++i)
          for (int64_t j = 0; j < turned[1]; ++j)
            for (int64_t k = 0; k < turned[2]; ++k)
              expected.push_back(
                  source[i * strides[perm[0]] + j * strides[perm[1]] +
                         k * strides[perm[2]]]);
        SCOPED_TRACE(toString(TensorType{type, shape}));
        expectResult("transpose", {tensor(type, shape, source)},
                     attributes({{"perm", perm}}),
                     tensor(type, turned, expected));
      }
}

TEST(Movement, Expand) {
  EXPECT_EQ(evaluated("expand", {iota(DLC_F32, {2, 1}), ints({1, 3})}),
            "2x3xf32 1 1 1 2 2 2");
  EXPECT_EQ(evaluated("expand", {iota(DLC_U8, {2}), ints({2, 1})}),
            "2x2xu8 1 2 1 2");
  EXPECT_EQ(evaluated("expand", {f32({}, {9}), ints({2})}), "2xf32 9 9");
  EXPECT_EQ(evaluated("expand", {f32({1}, {9}), ints({0})}), "0xf32");
  EXPECT_EQ(shapesOf("expand", {unknown(DLC_F32, {-1, 1}), ints({4, 5})}),
            "4x5xf32");
  EXPECT_EQ(shapesOf("expand", {unknown(DLC_F32, {3}), unknown(DLC_I64, {2})}),
            "?x3xf32");
  EXPECT_EQ(shapesOf("expand", {f32({2}, {1, 2}), ints({3})}),
            "error: expected shapes that broadcast, got 2 and 3 in dimension "
            "0");
  EXPECT_EQ(shapesOf("expand", {f32({1}, {1}), ints({-1})}),
            "error: expected dimensions of at least 0, got -1");
  EXPECT_EQ(shapesOf("expand", {f32({1}, {1}), ints({1ll << 40, 1ll << 40})}),
            "error: result 0: expected a size that fits 63 bits, got "
            "1099511627776x1099511627776xf32");
  // Planned for 2 elements, then asked for 3.
  EXPECT_EQ(
      computed("expand", {f32({1}, {1}), ints({3})}, {}, {{DLC_F32, {2}}}),
      "error: result 0: expected 3xf32, got memory for 2xf32");
}

TEST(Movement, Tile) {
  Arg x = iota(DLC_F32, {1, 2});
  EXPECT_EQ(evaluated("tile", {x, ints({2, 2})}), "2x4xf32 1 2 1 2 1 2 1 2");
  EXPECT_EQ(evaluated("tile", {x, ints({0, 1})}), "0x2xf32");
  EXPECT_EQ(evaluated("tile", {f32({}, {3}), ints({})}), "f32 3");
  EXPECT_EQ(shapesOf("tile", {unknown(DLC_F32, {-1, 2}), ints({3, 4})}),
            "?x8xf32");
  EXPECT_EQ(shapesOf("tile", {anyRank(DLC_F32), ints({3, 4})}), "?x?xf32");
  EXPECT_EQ(shapesOf("tile", {x, ints({2})}),
            "error: expected 2 repeats, got 1");
  EXPECT_EQ(shapesOf("tile", {x, ints({-1, 1})}),
            "error: expected repeats of at least 0, got -1");
  EXPECT_EQ(shapesOf("tile", {x, ints({1, INT64_MAX})}),
            "error: dimension 1: 2 times 9223372036854775807 overflows");
}

TEST(Movement, Concat) {
  Arg a = iota(DLC_F32, {2, 1}), b = f32({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(evaluated("concat", {a, b}, {{"axis", 1}}), "2x3xf32 1 5 6 2 7 8");
  EXPECT_EQ(evaluated("concat", {b, b}, {{"axis", -2}}),
            "4x2xf32 5 6 7 8 5 6 7 8");
  EXPECT_EQ(evaluated("concat", {f32({2, 0}, {}), a}, {{"axis", 1}}),
            "2x1xf32 1 2");
  EXPECT_EQ(shapesOf("concat", {unknown(DLC_F32, {-1, 1}), b}, {{"axis", 1}}),
            "2x3xf32");
  EXPECT_EQ(shapesOf("concat", {anyRank(DLC_F32), b}, {{"axis", 1}}),
            "2x?xf32");
  EXPECT_EQ(shapesOf("concat", {a, b}, {{"axis", 0}}),
            "error: operand 1: expected dimension 1 to be 1, got 2x2xf32");
  EXPECT_EQ(shapesOf("concat", {a, iota(DLC_I32, {2, 1})}, {{"axis", 0}}),
            "error: operand 1: expected f32 as operand 0, got i32");
  EXPECT_EQ(shapesOf("concat", {f32({}, {1})}, {{"axis", 0}}),
            "error: operand 0: expected rank at least 1, got 0");
  EXPECT_EQ(shapesOf("concat", {a, none()}, {{"axis", 0}}),
            "error: operand 1: expected a tensor, got none");
  EXPECT_EQ(shapesOf("concat", {}, {{"axis", 0}}),
            "error: expected at least 1 operand, got 0");
}

TEST(Movement, Split) {
  Arg x = iota(DLC_F32, {2, 3});
  EXPECT_EQ(evaluated("split", {x, ints({1, 2})}, {{"axis", 1}}, 2),
            "2x1xf32 1 4; 2x2xf32 2 3 5 6");
  EXPECT_EQ(evaluated("split", {x, ints({0, 2})}, {}, 2),
            "0x3xf32; 2x3xf32 1 2 3 4 5 6");
  EXPECT_EQ(shapesOf("split", {x, unknown(DLC_I64, {2})}, {{"axis", -1}}, 2),
            "2x?xf32; 2x?xf32");
  EXPECT_EQ(shapesOf("split", {x, ints({1, 1})}, {{"axis", 1}}, 2),
            "error: expected sizes with sum 3, got 2");
  EXPECT_EQ(shapesOf("split", {x, ints({3})}, {{"axis", 1}}, 2),
            "error: expected a size for each of 2 results, got 1");
  EXPECT_EQ(shapesOf("split", {x, ints({-1, 4})}, {{"axis", 1}}, 2),
            "error: expected sizes of at least 0 with a sum that fits, got "
            "-1");
  EXPECT_EQ(shapesOf("split", {f32({}, {1}), ints({1})}, {}, 1),
            "error: operand 0: expected rank at least 1, got 0");
}

TEST(Movement, Slice) {
  Arg x = iota(DLC_F32, {2, 4});
  EXPECT_EQ(evaluated("slice", {x, ints({1, 0}), ints({2, INT64_MAX}),
                                ints({0, 1}), ints({1, 2})}),
            "1x2xf32 5 7");
  EXPECT_EQ(evaluated("slice", {x, ints({-1}), ints({INT64_MIN}), ints({1}),
                                ints({-1})}),
            "2x4xf32 4 3 2 1 8 7 6 5");
  EXPECT_EQ(
      evaluated("slice", {x, ints({3}), ints({1}), ints({-1}), ints({1})}),
      "2x0xf32");
  // Starts before the first element clamp to it, whatever the direction.
  EXPECT_EQ(
      evaluated("slice", {x, ints({-9}), ints({-9}), ints({1}), ints({-1})}),
      "2x1xf32 1 5");
  EXPECT_EQ(evaluated("slice", {x, ints({3}), ints({INT64_MIN}), ints({1}),
                                ints({INT64_MIN})}),
            "2x1xf32 4 8");
  EXPECT_EQ(evaluated("slice", {f32({0}, {}), ints({0}), ints({5}), ints({0}),
                                ints({-1})}),
            "0xf32");
}

TEST(Movement, SliceInfersWhatItCan) {
  Arg x = unknown(DLC_F32, {-1, 4}), one = unknown(DLC_I64, {1});
  EXPECT_EQ(shapesOf("slice", {x, one, one, ints({0}), ints({1})}), "?x4xf32");
  EXPECT_EQ(shapesOf("slice", {x, ints({1}), ints({3}), ints({1}), ints({1})}),
            "?x2xf32");
  EXPECT_EQ(shapesOf("slice", {x, one, one, one, one}), "?x?xf32");
  EXPECT_EQ(shapesOf("slice", {anyRank(DLC_F32), one, one, one, one}), "*xf32");
  EXPECT_EQ(shapesOf("slice", {x, one, one, ints({2}), one}),
            "error: expected an axis in [-2, 2), got 2");
  EXPECT_EQ(shapesOf("slice", {x, one, ints({1, 2}), one, one}),
            "error: operand 2: expected 1 values as the operands before, got "
            "2");
  EXPECT_EQ(shapesOf("slice", {x, one, one, one, ints({0})}),
            "error: expected steps other than 0");
  EXPECT_EQ(
      computed("slice",
               {f32({2}, {1, 2}), ints({0}), ints({2}), ints({0}), ints({1})},
               {}, {{DLC_F32, {1}}}),
      "error: result 0: expected 2xf32, got memory for 1xf32");
}
