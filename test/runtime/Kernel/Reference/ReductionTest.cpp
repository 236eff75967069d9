// SPDX-License-Identifier: Apache-2.0

#include "TestTensor.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref;
using namespace dlc::rt::ref::test;

static const DataType numbers[] = {DLC_I8,  DLC_I16,  DLC_I32, DLC_I64,
                                   DLC_U8,  DLC_U16,  DLC_U32, DLC_U64,
                                   DLC_F16, DLC_BF16, DLC_F32, DLC_F64};

static Attributes keep(bool keepDims) {
  return attributes({{"keepdims", int64_t(keepDims)}});
}

TEST(Reduce, AllTypes) {
  for (DataType type : numbers) {
    SCOPED_TRACE(std::string(nameOf(type)));
    TestTensor x = tensor(type, {2, 3}, {1, 5, 3, 4, 2, 6});
    TestTensor rows = i64({1}, {1});
    auto expect = [&](const char *name, double first, double second) {
      expectResult(name, {x, rows}, {}, tensor(type, {2, 1}, {first, second}));
    };
    expect("reduce_sum", 9, 12);
    expect("reduce_mean", 3, 4);
    expect("reduce_max", 5, 6);
    expect("reduce_min", 1, 2);
    expect("reduce_prod", 15, 48);
  }
}

TEST(Reduce, AnySetOfAxes) {
  std::vector<double> values;
  for (int i = 0; i < 24; ++i)
    values.push_back(i);
  TestTensor x = f32({2, 3, 4}, values);
  auto sum = [&](std::vector<int64_t> axes, TestTensor expected) {
    int64_t count = static_cast<int64_t>(axes.size());
    expectResult("reduce_sum", {x, i64({count}, axes)}, keep(false), expected);
  };
  sum({0}, f32({3, 4}, {12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34}));
  sum({-2}, f32({2, 4}, {12, 15, 18, 21, 48, 51, 54, 57}));
  sum({2, 0}, f32({3}, {60, 92, 124}));
  sum({0, 1, 2}, f32({}, {276}));
  sum({}, x);
  expectResult("reduce_sum", {x}, {}, f32({1, 1, 1}, {276}));
  expectResult("reduce_sum", {x}, keep(false), f32({}, {276}));
  expectResult("reduce_max", {f32({}, {3})}, {}, f32({}, {3}));
}

TEST(Reduce, OverNothing) {
  TestTensor x = f32({2, 0}, {}), axes = i64({1}, {1});
  auto expect = [&](const char *name, double value) {
    expectResult(name, {x, axes}, keep(false), f32({2}, {value, value}));
  };
  expect("reduce_sum", 0);
  expect("reduce_prod", 1);
  expect("reduce_max", -kInf);
  expect("reduce_min", kInf);
  expect("reduce_mean", kNaN);
  TestTensor bytes = intTensor(DLC_I8, {0}, {});
  expectResult("reduce_max", {bytes}, keep(false),
               intTensor(DLC_I8, {}, {-128}));
  expectResult("reduce_min", {bytes}, keep(false),
               intTensor(DLC_I8, {}, {127}));
  expectResult("reduce_mean", {bytes}, keep(false), intTensor(DLC_I8, {}, {0}));
  expectResult("reduce_min", {boolean({0}, {})}, keep(false), boolean({}, {1}));
  expectResult("reduce_sum", {f32({0, 3}, {}), axes}, {}, f32({0, 1}, {}));
}

TEST(Reduce, NaNWins) {
  TestTensor x = f32({3}, {1, kNaN, 2});
  expectResult("reduce_max", {x}, keep(false), f32({}, {kNaN}));
  expectResult("reduce_min", {x}, keep(false), f32({}, {kNaN}));
  expectResult("reduce_max", {f32({2}, {-kInf, -kInf})}, keep(false),
               f32({}, {-kInf}));
}

TEST(Reduce, Precision) {
  // In f32 the sum would stop at 2^24; in i8 it wraps.
  std::vector<double> ones(1000, 1);
  ones[0] = 0x1p24;
  expectResult("reduce_sum", {f32({1000}, ones)}, keep(false),
               f32({}, {0x1p24 + 1000}), 1e-7);
  expectResult("reduce_sum", {intTensor(DLC_I8, {2}, {127, 2})}, keep(false),
               intTensor(DLC_I8, {}, {-127}));
  expectResult("reduce_prod", {i64({2}, {INT64_MAX, 2})}, keep(false),
               i64({}, {-2}));
  expectResult("reduce_mean", {i32({2}, {-3, -4})}, keep(false), i32({}, {-3}));
}

TEST(Reduce, InfersUnknownShapes) {
  TestTensor axes = i64({1}, {1});
  Operand x = typed(DLC_F32, {-1, 3, 5});
  EXPECT_EQ(inferred("reduce_sum", {x, known(axes)}), "?x1x5xf32");
  EXPECT_EQ(inferred("reduce_sum", {x, known(axes)}, keep(false)), "?x5xf32");
  Operand two = typed(DLC_I64, {2}), any = typed(DLC_I64, {-1});
  EXPECT_EQ(inferred("reduce_sum", {x, two}), "?x?x?xf32");
  EXPECT_EQ(inferred("reduce_sum", {x, two}, keep(false)), "?xf32");
  EXPECT_EQ(inferred("reduce_sum", {x, any}), "?x?x?xf32");
  EXPECT_EQ(inferred("reduce_sum", {x, any}, keep(false)), "*xf32");
  EXPECT_EQ(inferred("reduce_sum", {unranked(DLC_F32)}, keep(false)), "f32");
  EXPECT_EQ(inferred("reduce_sum", {unranked(DLC_F32)}), "*xf32");
}

TEST(Reduce, BadCalls) {
  TestTensor x = f32({2, 2}, {1, 2, 3, 4});
  expectFailure("reduce_sum", {x, i64({1}, {2})}, {},
                "expected an axis in [-2, 2), got 2");
  expectFailure("reduce_sum", {x, i64({2}, {1, -1})}, {},
                "expected distinct axes, got 1 twice");
  expectFailure("reduce_sum", {x, i64({}, {1})}, {},
                "operand 1: expected rank 1, got 0");
  expectFailure("reduce_sum", {x, i32({1}, {1})}, {},
                "operand 1: expected i64, got i32");
  expectFailure("reduce_sum", {boolean({1}, {1})}, {},
                "expected a numeric type, got bool");
  EXPECT_EQ(inferred("reduce_sum", {typed(DLC_F32, {2}), typed(DLC_I64, {2})}),
            "error: expected at most 1 axes, got 2");
}

/// Long lines of few numbers, some of them NaN, along both axes.
TEST(Arg, LongLines) {
  for (int64_t rows : {1, 3, 130, 300})
    for (int64_t columns : {1, 127, 129, 300}) {
      std::vector<double> values;
      for (int64_t i = 0; i < rows * columns; ++i)
        values.push_back(i * 7919 % 103 == 50 ? kNaN
                                              : double(i * 7919 % 13) - 6);
      for (bool isMax : {false, true})
        for (int64_t last : {0, 1})
          for (int64_t axis : {0, 1}) {
            const int64_t length = axis ? columns : rows;
            std::vector<int64_t> expected;
            for (int64_t line = 0; line < rows * columns / length; ++line) {
              int64_t best = 0;
              auto at = [&](int64_t i) {
                return values[axis ? line * columns + i : i * columns + line];
              };
              for (int64_t i = 1; i < length; ++i) {
                const double a = at(i), b = at(best);
                const bool isEqual = a == b || (std::isnan(a) && std::isnan(b));
                const bool isBetter = std::isnan(a) ? !std::isnan(b)
                                      : isMax       ? a > b
                                                    : a < b;
                if (isBetter || (isEqual && last))
                  best = i;
              }
              expected.push_back(best);
            }
            SCOPED_TRACE(std::to_string(rows) + " " + std::to_string(columns));
            expectResult(isMax ? "arg_max" : "arg_min",
                         {f32({rows, columns}, values)},
                         attributes({{"axis", axis},
                                     {"keepdims", int64_t{0}},
                                     {"select_last_index", last}}),
                         i64({rows * columns / length}, expected));
          }
    }
}

TEST(Arg, TiesAndAxes) {
  TestTensor x = f32({2, 3}, {2, 7, 7, 5, 5, 1});
  auto axis = [](int64_t axis, int64_t keepDims, int64_t last) {
    return attributes(
        {{"axis", axis}, {"keepdims", keepDims}, {"select_last_index", last}});
  };
  expectResult("arg_max", {x}, axis(1, 1, 0), i64({2, 1}, {1, 0}));
  expectResult("arg_max", {x}, axis(-1, 0, 1), i64({2}, {2, 1}));
  expectResult("arg_min", {x}, axis(0, 0, 0), i64({3}, {0, 1, 1}));
  expectResult("arg_min", {x}, {}, i64({1, 3}, {0, 1, 1}));
  expectResult("arg_max", {f32({4}, {1, kNaN, 9, kNaN})}, axis(0, 0, 0),
               i64({}, {1}));
  expectResult("arg_min", {f32({4}, {1, kNaN, -9, kNaN})}, axis(0, 0, 1),
               i64({}, {3}));
  expectResult("arg_max", {f32({2}, {-kInf, -kInf})}, axis(0, 0, 0),
               i64({}, {0}));
  expectResult("arg_max", {intTensor(DLC_U64, {2}, {1, -1})}, axis(0, 0, 0),
               i64({}, {1}));
  expectResult("arg_max", {f32({0, 2}, {})}, axis(1, 0, 0), i64({0}, {}));
  expectFailure("arg_max", {f32({2, 0}, {})}, axis(1, 0, 0),
                "expected elements along axis 1, got none");
  expectFailure("arg_max", {f32({}, {1})}, {}, "expected rank at least 1");
}

TEST(Scan, SumsAndProducts) {
  TestTensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  TestTensor rows = i64({}, {1}), columns = i32({1}, {0});
  expectResult("cumsum", {x, rows}, {}, f32({2, 3}, {1, 3, 6, 4, 9, 15}));
  expectResult("cumsum", {x, columns}, {}, f32({2, 3}, {1, 2, 3, 5, 7, 9}));
  Attributes exclusive = attributes({{"exclusive", int64_t(1)}});
  expectResult("cumsum", {x, rows}, exclusive, f32({2, 3}, {0, 1, 3, 0, 4, 9}));
  Attributes reverse = attributes({{"reverse", int64_t(1)}});
  expectResult("cumsum", {x, rows}, reverse, f32({2, 3}, {6, 5, 3, 15, 11, 6}));
  exclusive.set("reverse", int64_t(1));
  expectResult("cumsum", {x, rows}, exclusive,
               f32({2, 3}, {5, 3, 0, 11, 6, 0}));
  expectResult("cumprod", {x, rows}, {}, f32({2, 3}, {1, 2, 6, 4, 20, 120}));
  expectResult("cumprod", {x, rows}, exclusive,
               f32({2, 3}, {6, 3, 1, 30, 6, 1}));
  expectResult("cumsum", {intTensor(DLC_U8, {2}, {200, 100}), i64({}, {0})}, {},
               intTensor(DLC_U8, {2}, {200, 44}));
  expectResult("cumsum", {f32({0, 2}, {}), rows}, {}, f32({0, 2}, {}));
  expectFailure("cumsum", {x, i64({}, {2})}, {},
                "expected an axis in [-2, 2), got 2");
  expectFailure("cumsum", {x, i64({2}, {0, 1})}, {},
                "operand 1: expected one axis, got 2xi64");
}
