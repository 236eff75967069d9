// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

TEST(Matrix, Det) {
  EXPECT_EQ(evaluated("det", {f32({2, 2}, {0, 2, 3, 4})}), "f32 -6");
  EXPECT_EQ(evaluated("det", {f32({2, 1, 1}, {5, -7})}), "2xf32 5 -7");
  EXPECT_EQ(evaluated("det", {f32({2, 2}, {1, 2, 2, 4})}), "f32 0");
  EXPECT_EQ(evaluated("det", {f32({0, 0}, {})}), "f32 1");
  EXPECT_EQ(shapesOf("det", {unknown(DLC_F32, {2, 3})}),
            "error: expected square matrices, got 2x3xf32");
}

TEST(Matrix, LogDet) {
  EXPECT_EQ(evaluated("log_det", {f32({2, 2}, {0, 2, 3, 4})}),
            "f32 -1; f32 1.7918");
  EXPECT_EQ(evaluated("log_det", {f32({2, 1, 1}, {0, 1})}),
            "2xf32 0 1; 2xf32 -inf 0");
  // A determinant of 1e80.
  EXPECT_EQ(evaluated("log_det", {f32({2, 2}, {1e30f, 0, 0, 1e30f})}),
            "f32 1; f32 138.16");
  EXPECT_EQ(evaluated("log_det", {f32({0, 0}, {})}), "f32 1; f32 0");
  // Not what is 0 decides; the sign of NaN is the processor's.
  std::string text = evaluated("det", {f32({2, 2}, {0, 1, NAN, 2})});
  EXPECT_NE(text.find("nan"), text.npos) << text;
  text = evaluated("log_det", {f32({2, 2}, {0, 1, NAN, 2})});
  EXPECT_EQ(text.find("inf"), text.npos) << text;
}

TEST(Matrix, Inverse) {
  EXPECT_EQ(evaluated("inverse", {f32({2, 2}, {0, 2, 4, 1})}),
            "2x2xf32 -0.125 0.25 0.5 0");
  EXPECT_EQ(evaluated("inverse", {f32({2, 1, 1}, {0, 4})}),
            "2x1x1xf32 nan 0.25");
  EXPECT_EQ(evaluated("inverse", {f32({3, 0, 0}, {})}), "3x0x0xf32");
  EXPECT_EQ(shapesOf("inverse", {unknown(DLC_F32, {kUnknownDim, 3})}),
            "3x3xf32");
}

TEST(Matrix, Cholesky) {
  EXPECT_EQ(evaluated("cholesky", {f32({2, 2}, {4, 2, 2, 5})}),
            "2x2xf32 2 0 1 2");
  // The lower triangle counts.
  EXPECT_EQ(evaluated("cholesky", {f32({2, 2}, {4, NAN, 2, 5})}),
            "2x2xf32 2 0 1 2");
  EXPECT_EQ(evaluated("cholesky", {f32({2, 2}, {1, 2, 2, 1})}),
            "2x2xf32 nan nan nan nan");
  EXPECT_EQ(shapesOf("cholesky", {unknown(DLC_I32, {2, 2})}),
            "error: operand 0: expected a float type, got i32");
}

TEST(Matrix, TriangularSolve) {
  // Above the diagonal nothing is read.
  Arg a = f32({2, 2}, {2, 9, 1, 4}), b = f32({2, 1}, {4, 10});
  EXPECT_EQ(evaluated("triangular_solve", {a, b}), "2x1xf32 2 2");
  EXPECT_EQ(evaluated("triangular_solve", {a, b}, {{"transposed", 1}}),
            "2x1xf32 0.75 2.5");
  EXPECT_EQ(evaluated("triangular_solve", {a, b}, {{"upper", 1}}),
            "2x1xf32 -9.25 2.5");
  EXPECT_EQ(
      evaluated("triangular_solve", {a, b}, {{"upper", 1}, {"transposed", 1}}),
      "2x1xf32 2 -2");
  EXPECT_EQ(evaluated("triangular_solve", {f32({2, 2}, {1, 0, 0, 0}), b}),
            "2x1xf32 4 inf");
  EXPECT_EQ(shapesOf("triangular_solve", {a, f32({3, 1}, {1, 2, 3})}),
            "error: operand 1: expected as many rows and matrices as 2x2xf32 "
            "has, got 3x1xf32");
  EXPECT_EQ(shapesOf("triangular_solve",
                     {unknown(DLC_F32, {4, 3, kUnknownDim}),
                      unknown(DLC_F32, {kUnknownDim, kUnknownDim, 2})}),
            "4x3x2xf32");
}

TEST(Matrix, Eigh) {
  EXPECT_EQ(evaluated("eigh", {f32({2, 2}, {2, 1, 1, 2})}),
            "2xf32 1 3; 2x2xf32 0.70711 0.70711 -0.70711 0.70711");
  EXPECT_EQ(evaluated("eigh", {f32({2, 2}, {5, 0, 0, -3})}),
            "2xf32 -3 5; 2x2xf32 0 1 1 0");
  EXPECT_EQ(evaluated("eigh", {f32({1, 1}, {NAN})}), "1xf32 nan; 1x1xf32 nan");
  EXPECT_EQ(shapesOf("eigh", {unknown(DLC_F32, {4, 3, kUnknownDim})}),
            "4x3xf32; 4x3x3xf32");
}

TEST(Matrix, Lq) {
  EXPECT_EQ(evaluated("lq", {f32({1, 2}, {3, 4})}),
            "1x1xf32 -5; 1x2xf32 -0.6 -0.8");
  EXPECT_EQ(evaluated("lq", {f32({2, 2}, {-3, 4, 1, 2})}),
            "2x2xf32 5 0 1 2; 2x2xf32 -0.6 0.8 0.8 0.6");
  EXPECT_EQ(shapesOf("lq", {unknown(DLC_F32, {3, 2})}),
            "error: expected no more rows than columns, got 3x2xf32");
}
