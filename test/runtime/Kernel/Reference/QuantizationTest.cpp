// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

static Arg u8(Ints shape, Floats values) {
  return tensor(DLC_U8, std::move(shape), std::move(values));
}

TEST(Quantization, PerTensor) {
  Arg x = f32({7}, {0, 1, 3, 5, 1000, -1000, kNaN});
  // Halves round to even: 0.5, 1.5, 2.5.
  EXPECT_EQ(evaluated("quantize_linear", {x, f32({}, {2}), u8({}, {10})}),
            "7xu8 10 10 12 12 255 0 10");
  EXPECT_EQ(evaluated("quantize_linear",
                      {x, f32({1}, {2}), tensor(DLC_I8, {1}, {-1})}),
            "7xi8 -1 -1 1 1 127 -128 -1");
  EXPECT_EQ(evaluated("quantize_linear", {f32({2}, {kInf, -kInf}), f32({}, {1}),
                                          tensor(DLC_I16, {}, {0})}),
            "2xi16 32767 -32768");
  EXPECT_EQ(
      evaluated("quantize_linear", {tensor(DLC_I32, {1}, {70000}), f32({}, {1}),
                                    tensor(DLC_U16, {}, {0})}),
      "1xu16 65535");
  EXPECT_EQ(
      evaluated("quantize_linear", {f32({0}, {}), f32({}, {1}), u8({}, {0})}),
      "0xu8");
}

TEST(Quantization, Precision) {
  // 1.0005 is 1 in f16, so that the halves fall to even.
  Arg x = f32({1}, {1.0003});
  EXPECT_EQ(evaluated("quantize_linear", {x, f32({}, {2}), u8({}, {0})}),
            "1xu8 1");
  EXPECT_EQ(evaluated("quantize_linear", {x, f32({}, {2}), u8({}, {0})},
                      {{"precision", DLC_F16}}),
            "1xu8 0");
  EXPECT_EQ(shapesOf("quantize_linear", {x, f32({}, {2}), u8({}, {0})},
                     {{"precision", DLC_I8}}),
            "error: expected a float precision, got i8");
}

TEST(Quantization, PerAxisAndBlocked) {
  Arg x = iota(DLC_F32, {2, 3});
  EXPECT_EQ(evaluated("quantize_linear",
                      {x, f32({3}, {1, 2, 3}), u8({3}, {0, 10, 20})}),
            "2x3xu8 1 11 21 4 12 22");
  EXPECT_EQ(evaluated("quantize_linear",
                      {x, f32({2}, {1, 2}), u8({2}, {0, 10})}, {{"axis", -2}}),
            "2x3xu8 1 2 3 12 12 13");
  EXPECT_EQ(evaluated("quantize_linear",
                      {x, f32({2, 2}, {1, 2, 3, 4}), u8({2, 2}, {0, 1, 2, 3})},
                      {{"axis", 1}, {"block_size", 2}}),
            "2x3xu8 1 2 3 3 4 5");
  EXPECT_EQ(evaluated("dequantize_linear",
                      {tensor(DLC_I8, {3, 2}, {1, 2, 3, 4, 5, 6}),
                       f32({2, 2}, {1, 10, 2, 20}),
                       tensor(DLC_I8, {2, 2}, {0, 1, 0, 1})},
                      {{"axis", 0}, {"block_size", 2}}),
            "3x2xf32 1 10 3 30 10 100");
}

TEST(Quantization, Dequantize) {
  EXPECT_EQ(evaluated("dequantize_linear",
                      {u8({3}, {0, 128, 255}), f32({}, {0.5}), u8({}, {128})}),
            "3xf32 -64 0 63.5");
  EXPECT_EQ(evaluated("dequantize_linear",
                      {tensor(DLC_I32, {1}, {-7}), tensor(DLC_F16, {}, {0.5}),
                       tensor(DLC_I32, {}, {0})}),
            "1xf16 -3.5");
  EXPECT_EQ(evaluated("dequantize_linear",
                      {u8({0, 2}, {}), f32({2}, {1, 1}), u8({2}, {0, 0})}),
            "0x2xf32");
}

TEST(Quantization, Rejects) {
  Arg x = unknown(DLC_F32, {2, -1});
  EXPECT_EQ(
      shapesOf("quantize_linear", {x, f32({3}, {1, 1, 1}), u8({3}, {0, 0, 0})}),
      "2x?xu8");
  EXPECT_EQ(shapesOf("quantize_linear",
                     {x, f32({3}, {1, 1, 1}), u8({3}, {0, 0, 0})},
                     {{"axis", 0}}),
            "error: operand 1: expected a scale, or scales of shape 2xf32, "
            "got 3xf32");
  EXPECT_EQ(shapesOf("quantize_linear", {x, f32({3}, {1, 1, 1}), u8({}, {0})}),
            "error: operand 2: expected the shape of 3xf32, got u8");
  EXPECT_EQ(shapesOf("quantize_linear", {x, f32({1}, {1}), u8({1}, {0})},
                     {{"block_size", 2}}),
            "error: operand 1: expected scales of blocks of shape 2x?xf32, "
            "got 1xf32");
  EXPECT_EQ(shapesOf("quantize_linear", {x, f32({}, {1}), scalar(0)}),
            "error: operand 2: expected i8, u8, i16 or u16, got i64");
  EXPECT_EQ(shapesOf("dequantize_linear",
                     {u8({2}, {0, 0}), f32({}, {1}), tensor(DLC_I8, {}, {0})}),
            "error: operand 2: expected u8 as operand 0, got i8");
  EXPECT_EQ(shapesOf("dequantize_linear",
                     {u8({2}, {0, 0}), f32({2}, {1, 1}), u8({2}, {0, 0})}),
            "error: expected an axis in [-1, 1), got 1");
  EXPECT_EQ(shapesOf("quantize_linear", {x, f32({}, {1}), u8({}, {0})},
                     {{"block_size", -1}}),
            "error: expected a block_size of at least 0, got -1");
}

TEST(Requantize, RoundsAndSaturates) {
  TestTensor x = tensor(DLC_I32, {1, 2, 3}, {1, 3, -5, 1000, -1000, 8});
  expectResult("requantize",
               {x, f32({2, 1}, {0.5, 0.25}), f32({}, {0.5}),
                tensor(DLC_U8, {}, {10})},
               {}, tensor(DLC_U8, {1, 2, 3}, {11, 12, 8, 255, 0, 12}));
  expectResult("requantize",
               {x, f32({2, 1}, {0.5, 0.25}), f32({}, {0.5}),
                tensor(DLC_I8, {1}, {-1})},
               {}, tensor(DLC_I8, {1, 2, 3}, {0, 1, -3, 127, -128, 1}));
}

TEST(Requantize, NaNIsTheZeroPoint) {
  expectResult("requantize",
               {tensor(DLC_I32, {2}, {1, 2}), f32({2}, {kInf, NAN}),
                f32({}, {-kInf}), tensor(DLC_U8, {}, {7})},
               {}, tensor(DLC_U8, {2}, {7, 7}));
}
