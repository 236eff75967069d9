// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

TEST(Indexing, Gather) {
  Arg x = iota(DLC_F32, {3, 2});
  EXPECT_EQ(evaluated("gather", {x, ints({2, -3})}), "2x2xf32 5 6 1 2");
  EXPECT_EQ(evaluated("gather", {x, scalar(-1)}, {{"axis", 1}}), "3xf32 2 4 6");
  EXPECT_EQ(evaluated("gather", {x, i64({1, 2}, {1, 0})}, {{"axis", -1}}),
            "3x1x2xf32 2 1 4 3 6 5");
  EXPECT_EQ(evaluated("gather", {x, i32({1}, {1})}), "1x2xf32 3 4");
  EXPECT_EQ(evaluated("gather", {x, ints({})}), "0x2xf32");
  EXPECT_EQ(
      shapesOf("gather", {unknown(DLC_I8, {-1, 4}), unknown(DLC_I64, {2, -1})}),
      "2x?x4xi8");
  EXPECT_EQ(shapesOf("gather", {x, anyRank(DLC_I64)}), "*xf32");
}

TEST(Indexing, GatherRejects) {
  Arg x = iota(DLC_F32, {3, 2});
  EXPECT_EQ(evaluated("gather", {x, ints({0, 3})}),
            "error: gather: expected an index in [-3, 3), got 3 at position "
            "1");
  EXPECT_EQ(evaluated("gather", {x, ints({INT64_MIN})}),
            "error: gather: expected an index in [-3, 3), got "
            "-9223372036854775808 at position 0");
  EXPECT_EQ(evaluated("gather", {f32({0, 2}, {}), ints({0})}),
            "error: gather: expected an index in [0, 0), got 0 at position 0");
  EXPECT_EQ(evaluated("gather", {f32({}, {1}), ints({0})}),
            "error: gather: operand 0: expected rank at least 1, got 0");
  EXPECT_EQ(evaluated("gather", {x, f32({1}, {0})}),
            "error: gather: operand 1: expected i32 or i64, got f32");
  EXPECT_EQ(shapesOf("gather", {x, unknown(DLC_I64, Ints(16, 1))}),
            "error: result 0: expected rank at most 16, got 17");
}

TEST(Indexing, ResolveIndices) {
  Attrs one = {{"extents", Ints{3}}};
  EXPECT_EQ(evaluated("resolve_indices", {ints({2, -3, -1, 0})}, one),
            "4xi64 2 0 2 0");
  EXPECT_EQ(evaluated("resolve_indices", {i32({}, {-1})}, one), "i32 2");
  EXPECT_EQ(evaluated("resolve_indices", {ints({})}, one), "0xi64");
  EXPECT_EQ(evaluated("resolve_indices", {i64({2, 2}, {-1, -1, 1, 0})},
                      {{"extents", Ints{3, 5}}}),
            "2x2xi64 2 4 1 0");
  EXPECT_EQ(shapesOf("resolve_indices", {unknown(DLC_I64, {2, -1})},
                     {{"extents", Ints{3, 5}}}),
            "2x?xi64");
}

TEST(Indexing, ResolveIndicesRejects) {
  EXPECT_EQ(
      evaluated("resolve_indices", {ints({0, 3})}, {{"extents", Ints{3}}}),
      "error: resolve_indices: expected an index in [-3, 3), got 3 at "
      "position 1");
  EXPECT_EQ(evaluated("resolve_indices", {i64({1, 2}, {2, -6})},
                      {{"extents", Ints{3, 5}}}),
            "error: resolve_indices: expected an index in [-5, 5), got -6 at "
            "position 1");
  EXPECT_EQ(evaluated("resolve_indices", {ints({0, 1, 2})},
                      {{"extents", Ints{3, 5}}}),
            "error: resolve_indices: expected one extent, or one per place "
            "along the last dimension of 3xi64, got 2");
  EXPECT_EQ(evaluated("resolve_indices", {ints({0})}, {{"extents", Ints{}}}),
            "error: resolve_indices: expected one extent, or one per place "
            "along the last dimension of 1xi64, got 0");
}

TEST(Indexing, GatherElements) {
  Arg x = iota(DLC_U8, {2, 2});
  EXPECT_EQ(evaluated("gather_elements", {x, i64({2, 2}, {0, 0, 1, -2})},
                      {{"axis", 1}}),
            "2x2xu8 1 1 4 3");
  EXPECT_EQ(evaluated("gather_elements", {x, i64({3, 1}, {1, 0, 1})}),
            "3x1xu8 3 1 3");
  EXPECT_EQ(evaluated("gather_elements", {x, i64({0, 2}, {})}), "0x2xu8");
  EXPECT_EQ(evaluated("gather_elements", {x, i64({1, 1}, {2})}),
            "error: gather_elements: expected an index in [-2, 2), got 2 at "
            "position 0");
  EXPECT_EQ(shapesOf("gather_elements", {x, unknown(DLC_I64, {2, 3})}),
            "error: operand 1: expected dimension 1 to be at most 2, got 3");
  EXPECT_EQ(shapesOf("gather_elements", {x, ints({0})}),
            "error: operand 1: expected rank 2, got 1");
  EXPECT_EQ(shapesOf("gather_elements", {x, unknown(DLC_I64, {-1, 2})}),
            "?x2xu8");
}

TEST(Indexing, GatherNd) {
  Arg x = iota(DLC_I16, {2, 2, 2});
  EXPECT_EQ(evaluated("gather_nd", {x, i64({2, 2}, {0, 1, 1, -2})}),
            "2x2xi16 3 4 5 6");
  EXPECT_EQ(evaluated("gather_nd", {x, i64({1, 3}, {1, 1, 0})}), "1xi16 7");
  EXPECT_EQ(
      evaluated("gather_nd", {x, i64({2, 1}, {1, 0})}, {{"batch_dims", 1}}),
      "2x2xi16 3 4 5 6");
  EXPECT_EQ(evaluated("gather_nd", {x, i64({0, 2}, {})}), "0x2xi16");
  EXPECT_EQ(evaluated("gather_nd", {x, i64({1, 2}, {0, 2})}),
            "error: gather_nd: expected an index in [-2, 2), got 2 at "
            "position 1");
  EXPECT_EQ(shapesOf("gather_nd", {x, unknown(DLC_I64, {3, -1})}), "*xi16");
  EXPECT_EQ(shapesOf("gather_nd", {x, unknown(DLC_I64, {3, 4})}),
            "error: operand 1: expected tuples of 1 to 3 indices, got 4");
  EXPECT_EQ(
      shapesOf("gather_nd", {x, unknown(DLC_I64, {3, 1})}, {{"batch_dims", 1}}),
      "error: operand 1: expected dimension 0 to be 2, got 3");
  EXPECT_EQ(
      shapesOf("gather_nd", {x, unknown(DLC_I64, {2, 1})}, {{"batch_dims", 2}}),
      "error: expected batch_dims in [0, 1], got 2");
}

TEST(Indexing, ScatterElements) {
  Arg x = iota(DLC_F32, {1, 4});
  Arg at = i64({1, 2}, {1, -1}), updates = f32({1, 2}, {10, 20});
  Attrs axis = {{"axis", 1}};
  EXPECT_EQ(evaluated("scatter_elements", {x, at, updates}, axis),
            "1x4xf32 1 10 3 20");
  Arg twice = i64({1, 2}, {1, 1});
  auto reduced = [&](std::string how) {
    return evaluated("scatter_elements", {x, twice, f32({1, 2}, {-3, 5})},
                     {{"axis", 1}, {"reduction", how}});
  };
  EXPECT_EQ(reduced("add"), "1x4xf32 1 4 3 4");
  EXPECT_EQ(reduced("mul"), "1x4xf32 1 -30 3 4");
  EXPECT_EQ(reduced("max"), "1x4xf32 1 5 3 4");
  EXPECT_EQ(reduced("min"), "1x4xf32 1 -3 3 4");
  EXPECT_EQ(reduced("sum"), "error: scatter_elements: expected reduction "
                            "none, add, mul, max or min, got sum");
}

TEST(Indexing, ScatterReducesEveryType) {
  Attrs add = {{"reduction", "add"}}, mul = {{"reduction", "mul"}};
  EXPECT_EQ(evaluated("scatter_elements",
                      {tensor(DLC_I8, {1}, {127}), ints({0}),
                       tensor(DLC_I8, {1}, {1})},
                      add),
            "1xi8 -128");
  EXPECT_EQ(evaluated("scatter_elements",
                      {i64({1}, {INT64_MAX}), ints({0}), ints({2})}, mul),
            "1xi64 -2");
  EXPECT_EQ(
      evaluated("scatter_elements",
                {boolean({2}, {1, 0}), ints({0, 1}), boolean({2}, {1, 0})},
                add),
      "2xbool 1 0");
  EXPECT_EQ(evaluated("scatter_elements",
                      {tensor(DLC_F16, {1}, {2048}), ints({0}),
                       tensor(DLC_F16, {1}, {1})},
                      add),
            "1xf16 2048");
  EXPECT_EQ(evaluated("scatter_elements",
                      {f32({1}, {1}), ints({0}), f32({1}, {kNaN})},
                      {{"reduction", "max"}}),
            "1xf32 nan");
}

TEST(Indexing, ScatterElementsRejects) {
  Arg x = iota(DLC_F32, {2, 2}), updates = f32({1, 1}, {0});
  EXPECT_EQ(evaluated("scatter_elements", {x, i64({1, 1}, {2}), updates}),
            "error: scatter_elements: expected an index in [-2, 2), got 2 at "
            "position 0");
  EXPECT_EQ(
      shapesOf("scatter_elements", {x, unknown(DLC_I64, {1, 2}), updates}),
      "error: operand 2: expected 1x2xf32, got 1x1xf32");
  EXPECT_EQ(shapesOf("scatter_elements",
                     {x, unknown(DLC_I64, {1, 3}), unknown(DLC_F32, {1, 3})}),
            "error: operand 1: expected dimension 1 to be at most 2, got 3");
  EXPECT_EQ(shapesOf("scatter_elements",
                     {x, i64({1, 1}, {0}), unknown(DLC_I32, {1, 1})}),
            "error: operand 2: expected f32 as operand 0, got i32");
  EXPECT_EQ(
      shapesOf("scatter_elements", {anyRank(DLC_F32), unknown(DLC_I64, {-1}),
                                    unknown(DLC_F32, {2})}),
      "*xf32");
}

TEST(Indexing, ScatterNd) {
  Arg x = iota(DLC_I32, {2, 2});
  EXPECT_EQ(evaluated("scatter_nd",
                      {x, i64({1, 1}, {-1}), tensor(DLC_I32, {1, 2}, {8, 9})}),
            "2x2xi32 1 2 8 9");
  EXPECT_EQ(
      evaluated("scatter_nd",
                {x, i64({2, 2}, {0, 0, 0, 0}), tensor(DLC_I32, {2}, {3, 4})},
                {{"reduction", "mul"}}),
      "2x2xi32 12 2 3 4");
  EXPECT_EQ(evaluated("scatter_nd",
                      {x, i64({0, 1}, {}), tensor(DLC_I32, {0, 2}, {})}),
            "2x2xi32 1 2 3 4");
  EXPECT_EQ(evaluated("scatter_nd",
                      {x, i64({1, 2}, {0, 2}), tensor(DLC_I32, {1}, {3})}),
            "error: scatter_nd: expected an index in [-2, 2), got 2 at "
            "position 1");
  EXPECT_EQ(shapesOf("scatter_nd",
                     {x, unknown(DLC_I64, {1, 3}), unknown(DLC_I32, {1})}),
            "error: operand 1: expected tuples of 1 to 2 indices, got 3");
  EXPECT_EQ(shapesOf("scatter_nd",
                     {x, unknown(DLC_I64, {3, 1}), unknown(DLC_I32, {3, 3})}),
            "error: operand 2: expected 3x2xi32, got 3x3xi32");
}

TEST(Indexing, TensorScatter) {
  Arg cache = iota(DLC_F32, {2, 3, 1});
  Arg update = f32({2, 2, 1}, {10, 20, 30, 40});
  EXPECT_EQ(evaluated("tensor_scatter", {cache, update}),
            "2x3x1xf32 10 20 3 30 40 6");
  EXPECT_EQ(evaluated("tensor_scatter", {cache, update, ints({1, 0})}),
            "2x3x1xf32 1 10 20 30 40 6");
  EXPECT_EQ(evaluated("tensor_scatter", {cache, update, ints({2, -1})},
                      {{"mode", "circular"}}),
            "2x3x1xf32 20 2 10 40 5 30");
  EXPECT_EQ(evaluated("tensor_scatter",
                      {cache, update, ints({INT64_MAX, INT64_MIN})},
                      {{"mode", "circular"}}),
            "2x3x1xf32 1 10 20 4 30 40");
  EXPECT_EQ(evaluated("tensor_scatter", {cache, update, ints({2, 0})}),
            "error: tensor_scatter: expected to write within [0, 3), got 2 "
            "plus step 1");
  EXPECT_EQ(shapesOf("tensor_scatter", {cache, unknown(DLC_F32, {2, 4, 1})}),
            "error: operand 1: expected dimension 1 to be at most 3, got 4");
  EXPECT_EQ(shapesOf("tensor_scatter", {cache, unknown(DLC_F32, {1, 2, 1})}),
            "error: operand 1: expected dimension 0 to be 2, got 1");
  EXPECT_EQ(shapesOf("tensor_scatter", {cache, update}, {{"axis", -3}}),
            "error: expected a sequence axis other than 0, the batch");
  EXPECT_EQ(shapesOf("tensor_scatter", {cache, update, ints({1})}),
            "error: operand 2: expected 2 values, got 1");
}
