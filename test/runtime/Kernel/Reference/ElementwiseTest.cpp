// SPDX-License-Identifier: Apache-2.0

#include "TestTensor.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dlc::rt;
using namespace dlc::rt::ref;
using namespace dlc::rt::ref::test;

static const DataType floats[] = {DLC_F16, DLC_BF16, DLC_F32, DLC_F64};
static const DataType numbers[] = {DLC_I8,  DLC_I16,  DLC_I32, DLC_I64,
                                   DLC_U8,  DLC_U16,  DLC_U32, DLC_U64,
                                   DLC_F16, DLC_BF16, DLC_F32, DLC_F64};

TEST(Unary, FunctionsOfFloats) {
  struct Case {
    const char *name;
    double x, y;
  };
  const Case cases[] = {
      {"abs", -2.5, 2.5},
      {"neg", 2.5, -2.5},
      {"sign", -2.5, -1},
      {"sign", 0, 0},
      {"ceil", 1.25, 2},
      {"floor", -1.25, -2},
      {"round", 2.5, 2},
      {"round", 3.5, 4},
      {"sqrt", 9, 3},
      {"rsqrt", 4, 0.5},
      {"exp", 1, std::exp(1)},
      {"log", 2, std::log(2)},
      {"sin", 1, std::sin(1)},
      {"cos", 1, std::cos(1)},
      {"tan", 1, std::tan(1)},
      {"asin", .5, std::asin(.5)},
      {"acos", .5, std::acos(.5)},
      {"atan", .5, std::atan(.5)},
      {"sinh", 1, std::sinh(1)},
      {"cosh", 1, std::cosh(1)},
      {"tanh", 1, std::tanh(1)},
      {"asinh", 1, std::asinh(1)},
      {"acosh", 2, std::acosh(2)},
      {"atanh", .5, std::atanh(.5)},
      {"erf", .5, std::erf(.5)},
      {"reciprocal", 4, .25},
      {"relu", -1, 0},
      {"relu", 1.5, 1.5},
      {"sigmoid", 0, .5},
      {"softplus", 0, std::log(2)},
      {"softsign", -1, -.5},
      {"silu", 1, 0.7310585786300049},
      {"mish", 1, 0.8650983882673103},
      {"hard_swish", 1, 2. / 3},
      {"elu", -1, std::expm1(-1)},
      {"celu", -1, std::expm1(-1)},
      {"selu", -1, -1.1113307},
      {"selu", 2, 2.10140204},
      {"leaky_relu", -2, -.02},
      {"hard_sigmoid", 1, .7},
      {"thresholded_relu", 1, 0},
      {"thresholded_relu", 1.5, 1.5},
      {"shrink", -2, -2},
      {"shrink", .25, 0},
      {"gelu", 1, 0.8413447460685429},
      {"swish", 1, 0.7310585786300049},
  };
  const double tolerance[] = {1e-3, 8e-3, 2e-7, 2e-7};
  for (size_t i = 0; i < std::size(floats); ++i)
    for (const Case &c : cases)
      expectResult(c.name, {tensor(floats[i], {1}, {c.x})}, {},
                   tensor(floats[i], {1}, {c.y}), tolerance[i]);
}

TEST(Unary, StopGradientKeepsEveryBit) {
  expectResult("stop_gradient", {f32({3}, {1.5, -0.0, 3e38})}, {},
               f32({3}, {1.5, -0.0, 3e38}));
  expectResult("stop_gradient", {i64({2}, {INT64_MIN, 5})}, {},
               i64({2}, {INT64_MIN, 5}));
  expectResult("stop_gradient", {f32({0}, {})}, {}, f32({0}, {}));
  expectResult("copy", {i64({2}, {INT64_MIN, 5})}, {},
               i64({2}, {INT64_MIN, 5}));
}

TEST(Unary, KeepsNaN) {
  for (const char *name :
       {"abs", "neg", "sign", "ceil", "round", "exp", "relu", "sigmoid", "elu",
        "hard_sigmoid", "leaky_relu", "gelu", "softplus", "hard_swish"})
    expectResult(name, {f32({1}, {kNaN})}, {}, f32({1}, {kNaN}));
}

TEST(Unary, LargeArgumentsDoNotOverflow) {
  expectResult("softplus", {f32({2}, {1000, -1000})}, {}, f32({2}, {1000, 0}));
  expectResult("sigmoid", {f32({2}, {1000, -1000})}, {}, f32({2}, {1, 0}));
  expectResult("mish", {f32({2}, {1000, -1000})}, {}, f32({2}, {1000, 0}));
}

TEST(Unary, IntegersWrap) {
  expectResult("abs", {intTensor(DLC_I8, {3}, {-128, -3, 3})}, {},
               intTensor(DLC_I8, {3}, {-128, 3, 3}));
  expectResult("neg", {i64({2}, {INT64_MIN, 5})}, {},
               i64({2}, {INT64_MIN, -5}));
  expectResult("neg", {intTensor(DLC_U8, {1}, {1})}, {},
               intTensor(DLC_U8, {1}, {255}));
  expectResult("sign", {i32({3}, {-7, 0, 7})}, {}, i32({3}, {-1, 0, 1}));
  expectResult("bitwise_not", {intTensor(DLC_U16, {2}, {0, 1})}, {},
               intTensor(DLC_U16, {2}, {0xffff, 0xfffe}));
  expectResult("logical_not", {boolean({2}, {0, 1})}, {}, boolean({2}, {1, 0}));
}

TEST(Unary, TestsOfFloats) {
  TestTensor x = f32({4}, {kNaN, kInf, -kInf, 1});
  expectResult("is_nan", {x}, {}, boolean({4}, {1, 0, 0, 0}));
  expectResult("is_inf", {x}, {}, boolean({4}, {0, 1, 1, 0}));
  expectResult("is_inf", {x}, attributes({{"detect_negative", int64_t(0)}}),
               boolean({4}, {0, 1, 0, 0}));
}

TEST(Unary, Attributes) {
  TestTensor x = f32({2}, {-2, 2});
  expectResult("leaky_relu", {x}, attributes({{"alpha", 0.5}}),
               f32({2}, {-1, 2}));
  expectResult("gelu", {x}, attributes({{"approximate", "tanh"}}),
               f32({2}, {-0.0454023, 1.9545977}), 1e-6);
  expectResult("shrink", {i32({3}, {-3, 1, 3})},
               attributes({{"lambd", 1.5}, {"bias", 1.0}}),
               i32({3}, {-2, 0, 2}));
  expectFailure("gelu", {x}, attributes({{"approximate", "fast"}}),
                "expected approximate \"none\" or \"tanh\", got \"fast\"");
}

TEST(Unary, EmptyAndScalar) {
  expectResult("exp", {f32({2, 0, 3}, {})}, {}, f32({2, 0, 3}, {}));
  expectResult("neg", {f32({}, {1})}, {}, f32({}, {-1}));
}

TEST(Unary, RunsLongerThanABlock) {
  std::vector<double> x, y;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(i);
    y.push_back(-i);
  }
  expectResult("neg", {f32({10, 100}, x)}, {}, f32({10, 100}, y));
}

TEST(Unary, BadCalls) {
  expectFailure("exp", {i32({1}, {1})}, {}, "expected a float type, got i32");
  expectFailure("exp", {}, {}, "expected 1 operand, got 0");
  expectFailure("exp", {TestTensor()}, {},
                "operand 0: expected a tensor, got none");
  expectFailure("logical_not", {f32({1}, {1})}, {}, "expected bool, got f32");
}

TEST(Binary, ArithmeticOnAllTypes) {
  for (DataType type : numbers) {
    SCOPED_TRACE(std::string(nameOf(type)));
    TestTensor a = tensor(type, {2}, {7, 6}), b = tensor(type, {2}, {2, 3});
    expectResult("add", {a, b}, {}, tensor(type, {2}, {9, 9}));
    expectResult("sub", {a, b}, {}, tensor(type, {2}, {5, 3}));
    expectResult("mul", {a, b}, {}, tensor(type, {2}, {14, 18}));
    expectResult("div", {a, b}, {},
                 tensor(type, {2}, {isFloat(type) ? 3.5 : 3, 2}));
    double cube = type == DLC_I8 ? 216 - 256 : 216;
    expectResult("pow", {a, b}, {}, tensor(type, {2}, {49, cube}));
    expectResult("mod", {a, b}, {}, tensor(type, {2}, {1, 0}));
    expectResult("max", {a, b}, {}, tensor(type, {2}, {7, 6}));
    expectResult("min", {a, b}, {}, tensor(type, {2}, {2, 3}));
  }
}

TEST(Binary, Broadcasts) {
  expectResult("add", {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({3}, {10, 20, 30})},
               {}, f32({2, 3}, {11, 22, 33, 14, 25, 36}));
  expectResult("add", {f32({2, 1}, {1, 2}), f32({1, 3}, {10, 20, 30})}, {},
               f32({2, 3}, {11, 21, 31, 12, 22, 32}));
  expectResult("sub", {f32({}, {1}), f32({2, 1, 2}, {1, 2, 3, 4})}, {},
               f32({2, 1, 2}, {0, -1, -2, -3}));
  expectResult("mul", {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2, 1}, {1, 10})}, {},
               f32({2, 2, 2}, {1, 2, 10, 20, 3, 4, 30, 40}));
  expectResult("add", {f32({0, 3}, {}), f32({1, 3}, {1, 2, 3})}, {},
               f32({0, 3}, {}));
  expectFailure("add", {f32({2}, {1, 2}), f32({3}, {1, 2, 3})}, {},
                "expected shapes that broadcast, got 2 and 3 in dimension 0");
}

TEST(Binary, InfersUnknownShapes) {
  auto infer = [](std::vector<int64_t> a, std::vector<int64_t> b) {
    return inferred("add", {typed(DLC_F32, a), typed(DLC_F32, b)});
  };
  EXPECT_EQ(infer({-1, 3}, {1}), "?x3xf32");
  EXPECT_EQ(infer({-1, 3}, {4, -1}), "4x3xf32");
  EXPECT_EQ(infer({-1}, {-1}), "?xf32");
  EXPECT_EQ(infer({1, 1}, {-1}), "1x?xf32");
  EXPECT_EQ(inferred("add", {unranked(DLC_F32), typed(DLC_F32, {2})}), "*xf32");
  EXPECT_EQ(infer({INT64_MAX / 4, 1}, {1, 8}),
            "error: result 0: expected a size that fits 63 bits, got "
            "2305843009213693951x8xf32");
}

TEST(Binary, IntegersAreDefinedEverywhere) {
  TestTensor low = i32({1}, {INT32_MIN}), minusOne = i32({1}, {-1});
  TestTensor zero = i32({1}, {0}), seven = i32({1}, {-7}), two = i32({1}, {2});
  expectResult("div", {low, minusOne}, {}, low);
  expectResult("div", {low, zero}, {}, zero);
  expectResult("div", {seven, two}, {}, i32({1}, {-3}));
  expectResult("mod", {seven, two}, {}, i32({1}, {1}));
  expectResult("mod", {low, minusOne}, {}, zero);
  expectResult("mod", {low, zero}, {}, zero);
  expectResult("mod", {seven, two}, attributes({{"fmod", int64_t(1)}}),
               minusOne);
  expectResult("div", {i64({1}, {INT64_MIN}), i64({1}, {-1})}, {},
               i64({1}, {INT64_MIN}));
  expectResult("mul", {i64({1}, {INT64_MAX}), i64({1}, {2})}, {},
               i64({1}, {-2}));
  expectResult("add",
               {intTensor(DLC_U8, {1}, {250}), intTensor(DLC_U8, {1}, {10})},
               {}, intTensor(DLC_U8, {1}, {4}));
}

TEST(Binary, Powers) {
  expectResult("pow", {i32({4}, {2, -1, 0, 3}), i64({4}, {31, -3, -1, -2})}, {},
               i32({4}, {INT32_MIN, -1, 0, 0}));
  expectResult("pow", {i32({2}, {2, 4}), f32({2}, {.5, .5})}, {},
               i32({2}, {1, 2}));
  expectResult("pow", {f32({2}, {2, 4}), i32({2}, {-1, 3})}, {},
               f32({2}, {.5, 64}));
  expectResult("pow", {intTensor(DLC_U64, {2}, {-1, 1}), i32({2}, {-1, -1})},
               {}, intTensor(DLC_U64, {2}, {0, 1}));
}

TEST(Binary, FloatRemainders) {
  TestTensor a = f32({3}, {-4.5, 4.5, -6}), b = f32({3}, {2, -2, 3});
  expectResult("mod", {a, b}, {}, f32({3}, {1.5, -1.5, 0}));
  expectResult("mod", {a, b}, attributes({{"fmod", int64_t(1)}}),
               f32({3}, {-.5, .5, 0}));
}

TEST(Binary, ShiftsAndBits) {
  TestTensor x = intTensor(DLC_U8, {4}, {1, 255, 16, 3});
  TestTensor n = intTensor(DLC_U8, {4}, {7, 4, 8, 200});
  expectResult("shift_left", {x, n}, {},
               intTensor(DLC_U8, {4}, {128, 240, 0, 0}));
  expectResult("shift_right", {x, n}, {},
               intTensor(DLC_U8, {4}, {0, 15, 0, 0}));
  expectResult("shift_right", {i32({3}, {-8, -8, 8}), i32({3}, {1, 40, -1})},
               {}, i32({3}, {-4, -1, 0}));
  TestTensor p = boolean({4}, {0, 0, 1, 1}), q = boolean({4}, {0, 1, 0, 1});
  expectResult("logical_and", {p, q}, {}, boolean({4}, {0, 0, 0, 1}));
  expectResult("logical_or", {p, q}, {}, boolean({4}, {0, 1, 1, 1}));
  expectResult("logical_xor", {p, q}, {}, boolean({4}, {0, 1, 1, 0}));
  TestTensor u = i32({2}, {12, -1}), v = i32({2}, {10, 7});
  expectResult("bitwise_and", {u, v}, {}, i32({2}, {8, 7}));
  expectResult("bitwise_or", {u, v}, {}, i32({2}, {14, -1}));
  expectResult("bitwise_xor", {u, v}, {}, i32({2}, {6, -8}));
}

TEST(Binary, MaxAndMinKeepNaN) {
  TestTensor a = f32({3}, {kNaN, 1, -kInf}), b = f32({3}, {1, kNaN, kInf});
  expectResult("max", {a, b}, {}, f32({3}, {kNaN, kNaN, kInf}));
  expectResult("min", {a, b}, {}, f32({3}, {kNaN, kNaN, -kInf}));
  expectResult("prelu", {f32({3}, {-2, 3, kNaN}), f32({1}, {.5})}, {},
               f32({3}, {-1, 3, kNaN}));
  expectResult("prelu", {i32({2}, {-2, 3}), i32({1}, {5})}, {},
               i32({2}, {-10, 3}));
}

TEST(Binary, BadCalls) {
  expectFailure("add", {f32({1}, {1}), i32({1}, {1})}, {},
                "operand 1: expected f32 as operand 0, got i32");
  expectFailure("add", {boolean({1}, {1}), boolean({1}, {1})}, {},
                "operand 0: expected a numeric type, got bool");
  expectFailure("shift_left", {f32({1}, {1}), f32({1}, {1})}, {},
                "expected an integer type, got f32");
}

TEST(Comparison, AllTypes) {
  for (DataType type : numbers) {
    SCOPED_TRACE(std::string(nameOf(type)));
    TestTensor a = tensor(type, {3}, {1, 2, 3}), b = tensor(type, {1}, {2});
    expectResult("equal", {a, b}, {}, boolean({3}, {0, 1, 0}));
    expectResult("less", {a, b}, {}, boolean({3}, {1, 0, 0}));
    expectResult("less_equal", {a, b}, {}, boolean({3}, {1, 1, 0}));
    expectResult("greater", {a, b}, {}, boolean({3}, {0, 0, 1}));
    expectResult("greater_equal", {a, b}, {}, boolean({3}, {0, 1, 1}));
  }
  expectResult("less",
               {intTensor(DLC_U64, {1}, {1}), intTensor(DLC_U64, {1}, {-1})},
               {}, boolean({1}, {1}));
  expectResult("equal", {i64({1}, {INT64_MAX}), i64({1}, {INT64_MAX - 1})}, {},
               boolean({1}, {0}));
  expectResult("equal", {f32({1}, {kNaN}), f32({1}, {kNaN})}, {},
               boolean({1}, {0}));
  expectResult("equal", {boolean({2}, {1, 0}), boolean({2}, {1, 1})}, {},
               boolean({2}, {1, 0}));
}

TEST(Ternary, Select) {
  expectResult("select",
               {boolean({2, 1}, {1, 0}), f32({2}, {1, 2}), f32({}, {9})}, {},
               f32({2, 2}, {1, 2, 9, 9}));
  expectResult(
      "select",
      {boolean({2}, {1, 0}), i64({2}, {INT64_MAX, 1}), i64({1}, {INT64_MIN})},
      {}, i64({2}, {INT64_MAX, INT64_MIN}));
  expectFailure("select", {f32({1}, {1}), f32({1}, {1}), f32({1}, {1})}, {},
                "operand 0: expected bool, got f32");
  EXPECT_EQ(inferred("select", {typed(DLC_BOOL, {-1, 1}), typed(DLC_I8, {5}),
                                typed(DLC_I8, {})}),
            "?x5xi8");
}

TEST(Ternary, ReplaceGradient) {
  expectResult("replace_gradient",
               {f32({2}, {1, -0.0}), f32({2}, {3, 4}), f32({2}, {5, 6})}, {},
               f32({2}, {1, -0.0}));
  expectFailure("replace_gradient",
                {f32({2}, {1, 2}), f32({1}, {3}), f32({2}, {5, 6})}, {},
                "operand 1: expected 2xf32 as operand 0, got 1xf32");
  EXPECT_EQ(inferred("replace_gradient",
                     {typed(DLC_F32, {-1, 2}), typed(DLC_F32, {3, -1}),
                      unranked(DLC_F32)}),
            "3x2xf32");
}

TEST(Ternary, Clamp) {
  expectResult("clamp",
               {f32({4}, {-5, .5, 5, kNaN}), f32({}, {-1}), f32({}, {1})}, {},
               f32({4}, {-1, .5, 1, kNaN}));
  // The upper bound is applied last.
  expectResult("clamp", {i32({2}, {0, 9}), i32({}, {5}), i32({}, {3})}, {},
               i32({2}, {3, 3}));
}

static Attributes to(DataType type) {
  return attributes({{"to", int64_t(type)}});
}

TEST(Conversion, FloatToInteger) {
  TestTensor x = f32({6}, {1.9, -1.9, 300, -300, kNaN, kInf});
  expectResult("cast", {x}, to(DLC_I8),
               intTensor(DLC_I8, {6}, {1, -1, 127, -128, 0, 127}));
  expectResult("cast", {x}, to(DLC_U8),
               intTensor(DLC_U8, {6}, {1, 0, 255, 0, 0, 255}));
  expectResult("cast", {tensor(DLC_F64, {3}, {1e300, -1e300, 0x1p62})},
               to(DLC_I64), i64({3}, {INT64_MAX, INT64_MIN, 1LL << 62}));
  expectResult("cast", {x}, to(DLC_BOOL), boolean({6}, {1, 1, 1, 1, 1, 1}));
  expectResult("cast", {f32({2}, {0, -0.0})}, to(DLC_BOOL),
               boolean({2}, {0, 0}));
}

TEST(Conversion, IntegerToOthers) {
  TestTensor x = i32({4}, {300, -1, 0, 65537});
  expectResult("cast", {x}, to(DLC_U8),
               intTensor(DLC_U8, {4}, {44, 255, 0, 1}));
  expectResult("cast", {x}, to(DLC_BOOL), boolean({4}, {1, 1, 0, 1}));
  expectResult("cast", {x}, to(DLC_F16),
               tensor(DLC_F16, {4}, {300, -1, 0, kInf}));
  // One rounding, not two: through double this would round to even.
  expectResult("cast", {i64({1}, {(1LL << 60) + (1LL << 36) + 1})}, to(DLC_F32),
               f32({1}, {0x1p60 + 0x1p37}));
  expectResult("cast", {intTensor(DLC_U64, {1}, {-1})}, to(DLC_F64),
               tensor(DLC_F64, {1}, {0x1p64}));
  expectResult("cast", {boolean({2}, {0, 1})}, to(DLC_F32), f32({2}, {0, 1}));
}

TEST(Conversion, HalfRoundsToNearestEven) {
  // 1 + 2^-11 is a tie, a little more is not, even in the last bit of double.
  TestTensor x =
      tensor(DLC_F64, {5},
             {1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-52, 65519.9, 65520, 0x1p-25});
  Outcome half = run("cast", {x}, to(DLC_F16));
  ASSERT_EQ(half.error, "");
  EXPECT_EQ(half.results[0].values(),
            std::vector<double>({1, 1 + 0x1p-10, 65504, kInf, 0}));
  TestTensor y = tensor(DLC_F64, {2}, {1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-52});
  Outcome brain = run("cast", {y}, to(DLC_BF16));
  ASSERT_EQ(brain.error, "");
  EXPECT_EQ(brain.results[0].values(), std::vector<double>({1, 1 + 0x1p-7}));
  int64_t tie = (1LL << 60) + (1LL << 52);
  expectResult(
      "cast", {i64({3}, {tie, tie + 1, -tie - 1})}, to(DLC_BF16),
      tensor(DLC_BF16, {3}, {0x1p60, 0x1p60 + 0x1p53, -0x1p60 - 0x1p53}));
}

TEST(Conversion, BitCast) {
  expectResult("bit_cast", {f32({1}, {1})}, to(DLC_I32),
               i32({1}, {0x3f800000}));
  expectFailure("bit_cast", {f32({1}, {1})}, to(DLC_I64),
                "expected a type of 4 bytes in attribute to, got i64");
  expectFailure("cast", {f32({1}, {1})}, {},
                "expected a plain type in attribute to, got 0");
}
