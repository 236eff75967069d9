// SPDX-License-Identifier: Apache-2.0

#include "TestTensor.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref;
using namespace dlc::rt::ref::test;

static const DataType numbers[] = {DLC_I8,  DLC_I16,  DLC_I32, DLC_I64,
                                   DLC_U8,  DLC_U16,  DLC_U32, DLC_U64,
                                   DLC_F16, DLC_BF16, DLC_F32, DLC_F64};

static Attributes equation(const char *text) {
  return attributes({{"equation", text}});
}

TEST(Matmul, AllTypes) {
  for (DataType type : numbers) {
    SCOPED_TRACE(std::string(nameOf(type)));
    expectResult("matmul",
                 {tensor(type, {2, 3}, {1, 2, 3, 4, 5, 6}),
                  tensor(type, {3, 2}, {1, 0, 0, 1, 2, 3})},
                 {}, tensor(type, {2, 2}, {7, 11, 16, 23}));
  }
}

TEST(Matmul, BatchesBroadcast) {
  TestTensor a = f32({2, 1, 1, 2}, {1, 2, 3, 4});
  TestTensor b = f32({3, 2, 1}, {1, 1, 1, 0, 0, 1});
  expectResult("matmul", {a, b}, {}, f32({2, 3, 1, 1}, {3, 1, 2, 7, 3, 4}));
}

TEST(Matmul, WideRowsAndEmptySums) {
  std::vector<double> row(200), twice(200);
  for (int i = 0; i < 200; ++i) {
    row[i] = i;
    twice[i] = 2 * i;
  }
  expectResult("matmul", {f32({1, 1}, {2}), f32({1, 200}, row)}, {},
               f32({1, 200}, twice));
  expectResult("matmul", {f32({2, 0}, {}), f32({0, 1}, {})}, {},
               f32({2, 1}, {0, 0}));
  expectResult(
      "matmul",
      {intTensor(DLC_I8, {1, 1}, {100}), intTensor(DLC_I8, {1, 1}, {3})}, {},
      intTensor(DLC_I8, {1, 1}, {44}));
}

TEST(Matmul, InfersAndRefuses) {
  EXPECT_EQ(inferred("matmul", {typed(DLC_F32, {-1, 1, 2, 3}),
                                typed(DLC_F32, {5, -1, 7})}),
            "?x5x2x7xf32");
  EXPECT_EQ(inferred("matmul", {unranked(DLC_F32), typed(DLC_F32, {2, 3})}),
            "*xf32");
  EXPECT_EQ(
      inferred("matmul", {typed(DLC_F32, {2, 3}), typed(DLC_F32, {4, 5})}),
      "error: operand 1: expected 3 rows, got 4");
  EXPECT_EQ(inferred("matmul", {typed(DLC_F32, {3}), typed(DLC_F32, {3, 5})}),
            "error: operand 0: expected rank at least 2, got 1");
  EXPECT_EQ(inferred("matmul", {typed(DLC_F32, {INT64_MAX / 8, 1}),
                                typed(DLC_F32, {1, INT64_MAX / 8})}),
            "error: result 0: expected a size that fits 63 bits, got "
            "1152921504606846975x1152921504606846975xf32");
}

TEST(IntegerMatmul, ZeroPointsAreTakenOff) {
  TestTensor a = tensor(DLC_U8, {2, 2}, {0, 255, 3, 4});
  TestTensor b = tensor(DLC_I8, {2, 2}, {-128, 127, 1, -1});
  // (-3, 252), (0, 1) times (-130, 124), (-1, -4)
  expectResult("integer_matmul",
               {a, b, tensor(DLC_U8, {}, {3}), tensor(DLC_I8, {2}, {2, 3})}, {},
               tensor(DLC_I32, {2, 2}, {138, -1380, -1, -4}));
  // One for each row: (0, 255), (-2, -1) times (-128, 127), (1, -1)
  expectResult("integer_matmul",
               {a, b, tensor(DLC_U8, {2, 1}, {0, 5}), tensor(DLC_I8, {}, {0})},
               {}, tensor(DLC_I32, {2, 2}, {255, -255, 255, -253}));
}

TEST(IntegerMatmul, BatchesBroadcast) {
  expectResult("integer_matmul",
               {tensor(DLC_I8, {2, 1, 1}, {2, -3}),
                tensor(DLC_U8, {1, 2}, {10, 200}), tensor(DLC_I8, {1}, {0}),
                tensor(DLC_U8, {1, 1}, {0})},
               {}, tensor(DLC_I32, {2, 1, 2}, {20, 400, -30, -600}));
}

TEST(IntegerConv, NothingIsOutside) {
  // 3 - 2 and 255 - 2 times 1 + 1 and 2 + 1, with a border of nothing.
  expectResult("integer_conv",
               {tensor(DLC_U8, {1, 1, 2}, {3, 255}),
                tensor(DLC_I8, {1, 1, 2}, {1, 2}), tensor(DLC_U8, {1}, {2}),
                tensor(DLC_I8, {}, {-1})},
               attributes({{"pads", std::vector<int64_t>{1, 1}}}),
               tensor(DLC_I32, {1, 1, 3}, {3, 761, 506}));
}

TEST(IntegerConv, ZeroPointsOfChannelsAndGroups) {
  expectResult("integer_conv",
               {tensor(DLC_I8, {1, 2, 1}, {5, 7}),
                tensor(DLC_U8, {2, 1, 1}, {10, 20}), tensor(DLC_I8, {}, {1}),
                tensor(DLC_U8, {2}, {8, 30})},
               attributes({{"group", int64_t{2}}}),
               tensor(DLC_I32, {1, 2, 1}, {8, -60}));
}

TEST(IntegerMatmul, SumsWrapAround) {
  const std::vector<double> many(40000, 255);
  expectResult("integer_matmul",
               {tensor(DLC_U8, {1, 40000}, many),
                tensor(DLC_U8, {40000, 1}, many), tensor(DLC_U8, {}, {0}),
                tensor(DLC_U8, {}, {0})},
               {}, tensor(DLC_I32, {1, 1}, {40000.0 * 255 * 255 - 4294967296}));
}

TEST(Einsum, CommonForms) {
  TestTensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  TestTensor b = f32({3, 2}, {1, 0, 0, 1, 2, 3});
  TestTensor square = f32({2, 2}, {1, 2, 3, 4});
  auto expect = [](const char *text, std::vector<TestTensor> inputs,
                   const TestTensor &expected) {
    SCOPED_TRACE(text);
    expectResult("einsum", std::move(inputs), equation(text), expected);
  };
  expect("ij,jk->ik", {a, b}, f32({2, 2}, {7, 11, 16, 23}));
  expect(" ij , jk ", {a, b}, f32({2, 2}, {7, 11, 16, 23}));
  expect("ij->ji", {a}, f32({3, 2}, {1, 4, 2, 5, 3, 6}));
  expect("ij->", {a}, f32({}, {21}));
  expect("ij->j", {a}, f32({3}, {5, 7, 9}));
  expect("ii->i", {square}, f32({2}, {1, 4}));
  expect("ii", {square}, f32({}, {5}));
  expect("ba", {a}, f32({3, 2}, {1, 4, 2, 5, 3, 6}));
  expect("i,j->ij", {f32({2}, {1, 2}), f32({2}, {3, 4})},
         f32({2, 2}, {3, 4, 6, 8}));
  expect("i,i,i->i", {f32({2}, {1, 2}), f32({2}, {3, 4}), f32({2}, {5, 6})},
         f32({2}, {15, 48}));
  expect(",ij->ij", {f32({}, {2}), square}, f32({2, 2}, {2, 4, 6, 8}));
  expect("Ab,bA->A", {square, square}, f32({2}, {7, 22}));
}

TEST(Einsum, Ellipses) {
  TestTensor a = f32({2, 1, 2}, {1, 2, 3, 4});
  TestTensor b = f32({2, 1}, {10, 1});
  // Batches broadcast; without an ellipsis in the result they are summed.
  expectResult("einsum", {a, b}, equation("...ij,...jk->...ik"),
               f32({2, 1, 1}, {12, 34}));
  expectResult("einsum", {a}, equation("...i->i..."),
               f32({2, 2, 1}, {1, 3, 2, 4}));
  expectResult("einsum", {a}, equation("...i->i"), f32({2}, {4, 6}));
  expectResult("einsum", {a}, equation("i..."), f32({1, 2, 2}, {1, 3, 2, 4}));
  expectResult("einsum", {f32({3, 1}, {1, 2, 3}), f32({2}, {1, 10})},
               equation("...,...->..."), f32({3, 2}, {1, 10, 2, 20, 3, 30}));
}

TEST(Einsum, IntegersAndEmptySums) {
  expectResult("einsum", {i32({2}, {INT32_MAX, 1}), i32({2}, {2, 1})},
               equation("i,i->"), i32({}, {-1}));
  expectResult("einsum", {f32({2, 0}, {})}, equation("ij->i"),
               f32({2}, {0, 0}));
  expectResult("einsum", {f32({2, 0}, {})}, equation("ij->j"), f32({0}, {}));
}

TEST(Einsum, InfersUnknownShapes) {
  auto infer = [](const char *text, std::vector<Operand> operands) {
    return inferred("einsum", std::move(operands), equation(text));
  };
  EXPECT_EQ(infer("ij,jk->ik", {typed(DLC_F32, {-1, 3}), unranked(DLC_F32)}),
            "?x?xf32");
  EXPECT_EQ(infer("...ij->...ji", {unranked(DLC_F32)}), "*xf32");
  EXPECT_EQ(infer("...ij->ij", {unranked(DLC_F32)}), "?x?xf32");
  EXPECT_EQ(
      infer("ij,jk->j", {typed(DLC_F32, {2, -1}), typed(DLC_F32, {4, 5})}),
      "4xf32");
}

TEST(Einsum, BadEquations) {
  TestTensor a = f32({2, 2}, {1, 2, 3, 4});
  auto refuse = [&](const char *text, const char *fragment) {
    SCOPED_TRACE(text);
    expectFailure("einsum", {a}, equation(text), fragment);
  };
  refuse("", "operand 0: expected rank 0, got 2");
  refuse("i", "operand 0: expected rank 1, got 2");
  refuse("ij,jk", "expected 2 operands for the equation, got 1");
  refuse("i1->i", "expected letters and at most one ellipsis");
  refuse("....ij", "expected letters and at most one ellipsis");
  refuse("...i...", "expected letters and at most one ellipsis");
  refuse("ij->ijk", "expected distinct labels of operands");
  refuse("ij->ii", "expected distinct labels of operands");
  refuse("ijk...", "operand 0: expected rank 3 at least, got 2");
  expectFailure("einsum", {a, f32({3}, {1, 2, 3})}, equation("ij,j"),
                "operand 1: expected 2 elements in dimension 0, got 3");
}
