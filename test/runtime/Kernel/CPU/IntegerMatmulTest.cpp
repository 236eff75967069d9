// SPDX-License-Identifier: Apache-2.0
//
// cpu.integer_matmul beside sums of 64 bits, which it is equal to.

#include "KernelTesting.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

/// Bytes with a guard on both sides, at an odd address.
class Bytes {
public:
  explicit Bytes(size_t count) : memory(count + 2 * kGuard, kValue) {}
  uint8_t *data() { return memory.data() + kGuard; }
  size_t size() const { return memory.size() - 2 * kGuard; }
  bool guardsIntact() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (memory[i] != kValue || memory[memory.size() - 1 - i] != kValue)
        return false;
    return true;
  }

private:
  static constexpr size_t kGuard = 65;
  static constexpr uint8_t kValue = 0xa5;
  std::vector<uint8_t> memory;
};

enum class Values { Any, Extreme };

struct Case {
  Shape a, b;
  DataType typeA = DLC_U8, typeB = DLC_I8;
  Shape zeroA = {}, zeroB = {};
  Values values = Values::Any;
  bool hasZeros = true;
};

/// A call, its operands and what it is to give.
struct IntegerCall {
  explicit IntegerCall(const Case &c);

  KernelCall view() const { return {inputs, outputs, attributes}; }
  int64_t valueOf(size_t input, int64_t at) {
    const uint8_t byte = values[input].data()[at];
    return inputs[input].type == DLC_U8 ? int64_t{byte}
                                        : static_cast<int8_t>(byte);
  }
  /// The workspace, if the call has one.
  void addWorkspace() {
    const size_t bytes = lookup().workspaceBytes(view());
    if (bytes > 0)
      outputs.push_back({DLC_U8, {static_cast<int64_t>(bytes)}});
  }
  /// Packs b, as the compiler does.
  void pack();
  static const LibraryEntry &lookup() {
    return *lookupLibraryEntry("cpu.integer_matmul");
  }

  std::vector<TensorType> inputs, outputs;
  Attributes attributes;
  std::vector<Bytes> values;
  std::vector<int32_t> expected;
};

} // namespace

static size_t bytesOf(const TensorType &type) {
  return static_cast<size_t>(*elementCount(type.shape));
}

IntegerCall::IntegerCall(const Case &c)
    : inputs{{c.typeA, c.a},
             {c.typeB, c.b},
             {c.typeA, c.zeroA},
             {c.typeB, c.zeroB}} {
  Random random(bytesOf(inputs[0]) + bytesOf(inputs[1]));
  for (const TensorType &type : inputs) {
    const bool isZeroPoint = values.size() >= 2;
    values.emplace_back(bytesOf(type));
    for (size_t i = 0; i < values.back().size(); ++i) {
      auto byte = static_cast<uint8_t>(random.below(256));
      if (c.values == Values::Extreme)
        byte = type.type == DLC_U8 ? (byte & 1 ? 255 : 0)
                                   : (byte & 1 ? 0x80 : 0x7f);
      values.back().data()[i] = isZeroPoint && !c.hasZeros ? 0 : byte;
    }
  }
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
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const int64_t zeroA = valueOf(2, 0);
        const int64_t zeroB = valueOf(3, values[3].size() > 1 ? j : 0);
        uint32_t sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += static_cast<uint32_t>(
              (valueOf(0, (batch % matricesA * m + i) * k + l) - zeroA) *
              (valueOf(1, (batch % matricesB * k + l) * n + j) - zeroB));
        expected.push_back(static_cast<int32_t>(sum));
      }
}

void IntegerCall::pack() {
  const LibraryEntry &entry = lookup();
  attributes.set("packed_b", int64_t{1});
  attributes.set("packed_shape", inputs[1].shape);
  Bytes packed(entry.packedBytes(view(), 1));
  entry.pack(view(), 1, values[1].data(), packed.data());
  EXPECT_TRUE(packed.guardsIntact());
  inputs[1] = {DLC_F32, {static_cast<int64_t>(packed.size() / sizeof(float))}};
  values[1] = std::move(packed);
}

/// A call as prepareIntegerMatmul() takes it, of operands as they were.
static KernelCall logical(const IntegerCall &call,
                          std::vector<TensorType> &inputs,
                          Attributes &attributes) {
  inputs = call.inputs;
  for (const Attribute &attribute : call.attributes)
    if (attribute.name != "packed_shape")
      attributes.set(attribute.name, attribute.value);
  std::span<const int64_t> shape = call.attributes.getInts("packed_shape");
  if (!shape.empty())
    inputs[1].shape.assign(shape.begin(), shape.end());
  return {inputs, call.outputs, attributes};
}

static void runAndCompare(IntegerCall &call, Isa isa) {
  std::vector<TensorType> inputs;
  Attributes attributes;
  std::unique_ptr<PreparedKernel> kernel;
  Status status =
      prepareIntegerMatmul(logical(call, inputs, attributes), isa, kernel);
  ASSERT_TRUE(status.isOk()) << status.message();
  for (bool isSplit : {false, true}) {
    SCOPED_TRACE(isSplit ? "split" : "whole");
    Bytes workspace(call.outputs.size() > 1 ? bytesOf(call.outputs[1]) : 0);
    std::vector<int32_t> result(call.expected.size() + 2, 0x5a5a5a5a);
    std::vector<void *> arguments;
    for (Bytes &value : call.values)
      arguments.push_back(value.data());
    arguments.push_back(result.data() + 1);
    arguments.push_back(workspace.data());
    for (const PreparedKernel *step = kernel.get(); step; step = step->next()) {
      Random random(step->tiles());
      for (int64_t end = step->tiles(); end > 0;) {
        const int64_t begin = isSplit ? random.below(end) : 0;
        spoilStack();
        step->run(arguments.data(), begin, end);
        end = begin;
      }
    }
    EXPECT_EQ(result.front(), 0x5a5a5a5a);
    EXPECT_EQ(result.back(), 0x5a5a5a5a);
    EXPECT_TRUE(workspace.guardsIntact());
    EXPECT_TRUE(std::equal(call.expected.begin(), call.expected.end(),
                           result.begin() + 1));
  }
}

/// With b as it is, and packed.
static void check(const Case &c) {
  std::string label = toString(TensorType{c.typeA, c.a}) + " times " +
                      toString(TensorType{c.typeB, c.b});
  for (bool isPacked : {false, true}) {
    IntegerCall call(c);
    if (isPacked)
      call.pack();
    else
      call.addWorkspace();
    for (Isa isa : {Isa::Baseline, Isa::AVX2, Isa::AVX512, Isa::AVX512VNNI,
                    Isa::AMX, Isa::AMXModel})
      if (canRun(isa)) {
        SCOPED_TRACE(label + " " + std::string(nameOf(isa)) +
                     (isPacked ? " packed" : ""));
        runAndCompare(call, isa);
      }
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
    IntegerCall call({{2, 3}, {3, 4}});
    change(call);
    std::string why;
    EXPECT_FALSE(IntegerCall::lookup().isSupported(call.view(), why));
    std::unique_ptr<PreparedKernel> kernel;
    EXPECT_FALSE(IntegerCall::lookup().prepare(call.view(), kernel).isOk());
    return why;
  };
  using Call = IntegerCall;
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
            "expected c to be i32, got 2x4xf32");
  EXPECT_EQ(refusal([](Call &c) {
              c.inputs[1].shape = {4, 4};
            }),
            "expected equal inner dimensions, got 2x3xu8 times 4x4xi8 "
            "giving 2x4xi32");
  EXPECT_EQ(refusal([](Call &c) { c.inputs.pop_back(); }),
            "expected 4 inputs and an output, got 3 and 1");
  EXPECT_EQ(refusal([](Call &c) { c.attributes.set("packed_b", int64_t{2}); }),
            "expected attribute 'packed_b' to be 0 or 1, got 2");
  EXPECT_EQ(refusal([](Call &c) { c.attributes.set("trans_a", int64_t{1}); }),
            "unknown attribute 'trans_a'");
}

TEST(IntegerMatmulTest, RefusesPackedBytesOfAnotherSize) {
  IntegerCall call({{2, 3}, {3, 4}});
  call.pack();
  call.inputs[1].shape[0] -= 1;
  std::unique_ptr<PreparedKernel> kernel;
  Status status = IntegerCall::lookup().prepare(call.view(), kernel);
  EXPECT_FALSE(status.isOk());
  EXPECT_EQ(std::string(status.message()),
            "expected a packed operand of 1088 bytes, got 271xf32");
}

TEST(IntegerMatmulTest, HugeShapesAreNotPlanned) {
  IntegerCall call({{2, 3}, {3, 4}});
  const int64_t most = int64_t{1} << 44;
  call.inputs[0].shape = {1, most};
  call.inputs[1].shape = {most, 1};
  call.outputs[0].shape = {1, 1};
  std::unique_ptr<PreparedKernel> kernel;
  EXPECT_FALSE(IntegerCall::lookup().prepare(call.view(), kernel).isOk());
}

TEST(IntegerMatmulTest, Cost) {
  IntegerCall call({{2, 3}, {3, 4}});
  const KernelCost cost = IntegerCall::lookup().cost(call.view());
  EXPECT_EQ(cost.flops, 48u);
  EXPECT_EQ(cost.bytes, 6u + 12u + 2u + 32u);
}
