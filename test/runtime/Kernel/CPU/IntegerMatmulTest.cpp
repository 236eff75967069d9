// SPDX-License-Identifier: Apache-2.0
//
// cpu.integer_matmul beside sums of 64 bits, which it is equal to.

#include "IntegerTesting.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

struct Case {
  Shape a, b;
  DataType typeA = DLC_U8, typeB = DLC_I8;
  Shape zeroA = {}, zeroB = {};
  Values values = Values::Any;
  bool hasZeros = true;
};

/// A call, its operands and what it is to give.
struct MatmulCall : IntegerCall {
  explicit MatmulCall(const Case &c);
};

} // namespace

MatmulCall::MatmulCall(const Case &c)
    : IntegerCall("cpu.integer_matmul",
                  {{c.typeA, c.a},
                   {c.typeB, c.b},
                   {c.typeA, c.zeroA},
                   {c.typeB, c.zeroB}},
                  prepareIntegerMatmul) {
  fill(c.values, c.hasZeros);
  // Batches of a, of which b has all or one.
  Shape shape(c.a.begin(), c.a.end() - 1);
  shape.push_back(c.b.back());
  if (c.b.size() > c.a.size())
    shape.insert(shape.begin(), c.b.begin(), c.b.end() - c.a.size());
  outputs.push_back({DLC_I32, shape});
  const int64_t m = c.a[c.a.size() - 2], k = c.a.back(), n = c.b.back();
  const int64_t matricesA = m * k ? *elementCount(c.a) / (m * k) : 1;
  const int64_t matricesB = k * n ? *elementCount(c.b) / (k * n) : 1;
  const int64_t batches = std::max(matricesA, matricesB);
  expected.resize(batches * m * n * sizeof(int32_t));
  for (int64_t i = 0; i < batches * m * n; ++i) {
    const int64_t batch = i / (m * n), row = i / n % m, j = i % n;
    uint32_t sum = 0;
    for (int64_t l = 0; l < k; ++l)
      sum += static_cast<uint32_t>(
          (valueOf(0, (batch % matricesA * m + row) * k + l) - valueOf(2, 0)) *
          (valueOf(1, (batch % matricesB * k + l) * n + j) - zeroOf(j)));
    std::memcpy(expected.data() + i * sizeof(sum), &sum, sizeof(sum));
  }
}

/// With b as it is, and packed; of sums and of what is rounded.
static void check(const Case &c) {
  for (bool isPacked : {false, true})
    for (DataType type : {DLC_I32, DLC_U8, DLC_I8}) {
      SCOPED_TRACE(toString(TensorType{c.typeA, c.a}) + " times " +
                   toString(TensorType{c.typeB, c.b}) + " to " +
                   std::string(nameOf(type)) + (isPacked ? " packed" : ""));
      MatmulCall call(c);
      if (type != DLC_I32)
        call.requantize(type, c.zeroB.empty() ? Shape() : Shape{c.b.back()}, 1);
      if (isPacked)
        call.pack("packed_b");
      else
        call.addWorkspace();
      call.check();
    }
}

/// Instructions that add up two products of bytes saturate for some of these
/// pairs and not for most.
TEST(IntegerMatmulTest, FewLargePairs) {
  for (DataType b : {DLC_I8, DLC_U8})
    for (int64_t m : {3, 6, 17, 64})
      for (int64_t n : {16, 40, 150})
        check({{m, 700}, {700, n}, DLC_U8, b, {}, {}, Values::Usual});
}

/// Rows that are read where they are, if nothing is to be added up of them.
TEST(IntegerMatmulTest, RowsInPlace) {
  for (int64_t k : {4, 32, 36, 64, 128, 132, 196, 6400})
    for (int64_t m : {1, 4, 16, 21, 48, 130}) {
      Case c = {{2, m, k}, {k, 70}};
      c.hasZeros = false;
      check(c);
    }
}

TEST(IntegerMatmulTest, EveryType) {
  for (DataType a : {DLC_U8, DLC_I8})
    for (DataType b : {DLC_U8, DLC_I8})
      for (Values values : {Values::Any, Values::Extreme})
        for (bool hasZeros : {false, true}) {
          check({{5, 130}, {130, 70}, a, b, {}, {}, values, hasZeros});
          check({{33, 64}, {64, 33}, a, b, {1}, {33}, values, hasZeros});
        }
}

TEST(IntegerMatmulTest, EveryWidth) {
  for (int64_t n : {1, 2, 15, 16, 17, 31, 32, 47, 48, 49, 63, 64, 65, 129})
    for (int64_t m : {1, 3, 6, 16, 19})
      check({{m, 37}, {37, n}, DLC_U8, DLC_I8, {}, {n}});
}

TEST(IntegerMatmulTest, EveryNumberOfRows) {
  for (int64_t m = 1; m < 70; ++m)
    check({{m, 65}, {65, 40}});
  for (int64_t m : {127, 128, 129, 200, 300})
    check({{m, 70}, {70, 90}, DLC_I8, DLC_U8});
}

TEST(IntegerMatmulTest, EveryNumberOfTerms) {
  for (int64_t k = 1; k < 70; ++k)
    check({{17, k}, {k, 20}, DLC_I8, DLC_I8, {}, {20}});
}

/// Rows that are copied in parts, and fewer of them at a time.
TEST(IntegerMatmulTest, ManyTerms) {
  for (int64_t k : {1000, 1024, 3072, 4032, 4033, 9000})
    check({{35, k}, {k, 19}, DLC_I8, DLC_U8, {}, {19}});
}

/// Sums of more than 31 bits wrap around.
TEST(IntegerMatmulTest, SumsWrapAround) {
  check(
      {{1, 40000}, {40000, 1}, DLC_U8, DLC_U8, {}, {}, Values::Extreme, false});
}

TEST(IntegerMatmulTest, Batches) {
  check({{3, 5, 20}, {20, 30}});
  check({{2, 3, 5, 20}, {20, 30}, DLC_I8, DLC_I8, {1, 1}, {30}});
  check({{3, 18, 20}, {3, 20, 70}, DLC_U8, DLC_U8});
  check({{18, 20}, {4, 20, 7}});
}

TEST(IntegerMatmulTest, EmptyResults) {
  check({{0, 5}, {5, 3}});
  check({{3, 5}, {5, 0}});
  check({{3, 0}, {0, 5}});
}

TEST(IntegerMatmulTest, RefusesOtherCalls) {
  auto refusal = [](auto &&change) {
    MatmulCall call({{2, 3}, {3, 4}});
    change(call);
    return refusalOf(call);
  };
  using Call = MatmulCall;
  EXPECT_EQ(refusal([](Call &c) { c.inputs[0].type = DLC_I16; }),
            "expected a to be i8 or u8, got 2x3xi16");
  EXPECT_EQ(refusal([](Call &c) { c.inputs[1].type = DLC_F32; }),
            "expected b to be i8 or u8, got 3x4xf32");
  EXPECT_EQ(refusal([](Call &c) { c.inputs[2].type = DLC_I8; }),
            "expected a zero point of a to be u8, got i8");
  EXPECT_EQ(refusal([](Call &c) { c.inputs[2].shape = {2}; }),
            "expected a zero point of a of 1 element, got 2xu8");
  EXPECT_EQ(refusal([](Call &c) { c.inputs[3].shape = {3}; }),
            "expected a zero point of b of 1 element or one for each column, "
            "got 3xi8");
  EXPECT_EQ(refusal([](Call &c) { c.outputs[0].type = DLC_F32; }),
            "expected the output to be i32, got 2x4xf32");
  EXPECT_EQ(refusal([](Call &c) {
              c.inputs[1].shape = {4, 4};
            }),
            "expected equal inner dimensions, got 2x3xu8 times 4x4xi8 "
            "giving 2x4xi32");
  EXPECT_EQ(refusal([](Call &c) { c.inputs.pop_back(); }),
            "expected 4 or 7 inputs and an output, got 3 and 1");
  EXPECT_EQ(refusal([](Call &c) { c.attributes.set("packed_b", int64_t{2}); }),
            "expected attribute 'packed_b' to be 0 or 1, got 2");
  EXPECT_EQ(refusal([](Call &c) { c.attributes.set("trans_a", int64_t{1}); }),
            "unknown attribute 'trans_a'");
}

TEST(IntegerMatmulTest, RefusesPackedBytesOfAnotherSize) {
  MatmulCall call({{2, 3}, {3, 4}});
  call.pack("packed_b");
  call.inputs[1].shape[0] -= 1;
  std::unique_ptr<PreparedKernel> kernel;
  Status status = call.entry.prepare(call.view(), kernel);
  EXPECT_FALSE(status.isOk());
  EXPECT_EQ(std::string(status.message()),
            "expected a packed operand of 1088 bytes, got 271xf32");
}

TEST(IntegerMatmulTest, HugeShapesAreNotPlanned) {
  MatmulCall call({{2, 3}, {3, 4}});
  const int64_t most = int64_t{1} << 44;
  call.inputs[0].shape = {1, most};
  call.inputs[1].shape = {most, 1};
  call.outputs[0].shape = {1, 1};
  std::unique_ptr<PreparedKernel> kernel;
  EXPECT_FALSE(call.entry.prepare(call.view(), kernel).isOk());
}

TEST(IntegerMatmulTest, Cost) {
  MatmulCall call({{2, 3}, {3, 4}});
  const KernelCost cost = call.entry.cost(call.view());
  EXPECT_EQ(cost.flops, 48u);
  EXPECT_EQ(cost.bytes, 6u + 12u + 2u + 32u);
}
