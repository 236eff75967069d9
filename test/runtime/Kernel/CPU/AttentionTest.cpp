// SPDX-License-Identifier: Apache-2.0
//
// cpu.attention against the chain of Reference kernels that it stands for.

#include "KernelTesting.h"

#include "dlc/runtime/Kernel/Library.h"
#include "dlc/runtime/Kernel/Reference/Evaluate.h"

#include <numeric>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct MaskCase {
  int64_t form; ///< As the attribute `masks` has it.
  Shape shape;
};

struct AttentionCase {
  Shape queries, keys; ///< Dimensions in front of the matrices.
  int64_t m, n, k, p;
  std::vector<MaskCase> masks = {};
  /// Orders in memory, empty for that of the matrices.
  Shape qOrder = {}, kOrder = {}, vOrder = {}, yOrder = {};
  double scale = 1, fill = -kInfinity;
  /// Scores near one: the exponential magnifies their errors.
  double queryScale = 1 / std::sqrt(static_cast<double>(k));
  int64_t causalOffset = 0;

  std::string text() const {
    std::string text;
    for (const Shape *shape : {&queries, &keys, &qOrder, &kOrder})
      for (int64_t dim : *shape)
        text += std::to_string(dim) + (dim == shape->back() ? " " : ".");
    for (int64_t size : {m, n, k, p})
      text += std::to_string(size) + "x";
    for (const MaskCase &mask : masks)
      text += " mask " + std::to_string(mask.form);
    return text;
  }
};

Shape with(Shape shape, int64_t rows, int64_t columns) {
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

/// The shape in memory of a tensor that is `shape` in the given order.
Shape inMemory(const Shape &shape, const Shape &order) {
  if (order.empty())
    return shape;
  Shape memory(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    memory[order[i]] = shape[i];
  return memory;
}

/// Where the elements of such a tensor lie in memory, in its own order.
std::vector<int64_t> placesOf(const Shape &shape, const Shape &order) {
  Shape memory = inMemory(shape, order);
  std::vector<int64_t> places;
  int64_t count = *elementCount(shape);
  for (int64_t index = 0; index < count; ++index) {
    Shape at(shape.size());
    int64_t rest = index;
    for (size_t i = shape.size(); i-- > 0; rest /= shape[i])
      at[order.empty() ? i : order[i]] = rest % shape[i];
    int64_t place = 0;
    for (size_t i = 0; i < memory.size(); ++i)
      place = place * memory[i] + at[i];
    places.push_back(place);
  }
  return places;
}

Call makeCall(const AttentionCase &c) {
  Random random(c.m * 1000 + c.n * 100 + c.k * 10 + c.p);
  Call call;
  call.addInput(f32(inMemory(with(c.queries, c.m, c.k), c.qOrder)), random);
  call.addInput(f32(inMemory(with(c.keys, c.k, c.n), c.kOrder)), random);
  call.addInput(f32(inMemory(with(c.keys, c.n, c.p), c.vOrder)), random);
  call.output = f32(inMemory(with(c.queries, c.m, c.p), c.yOrder));
  auto setInts = [&](const char *name, const Shape &values) {
    if (!values.empty())
      call.attributes.set(name, values);
  };
  setInts("q_order", c.qOrder);
  setInts("k_order", c.kOrder);
  setInts("v_order", c.vOrder);
  setInts("y_order", c.yOrder);
  Shape forms;
  for (const MaskCase &mask : c.masks) {
    forms.push_back(mask.form);
    if (mask.form == 3)
      continue;
    TensorType type = f32(mask.shape);
    call.addInput(type, random);
    if (mask.form == 0)
      continue;
    auto *bytes = reinterpret_cast<uint8_t *>(call.values.back().data());
    for (int64_t i = 0; i < call.values.back().size(); ++i)
      bytes[i] = random.below(3) != 0 ? mask.form == 1 : mask.form == 2;
    call.inputs.back().type = DLC_BOOL;
  }
  setInts("masks", forms);
  if (!forms.empty())
    setInts("scores", with(c.queries, c.m, c.n));
  call.attributes.set("scale", c.scale);
  call.attributes.set("query_scale", c.queryScale);
  call.attributes.set("fill", c.fill);
  call.attributes.set("causal_offset", c.causalOffset);
  return call;
}

/// A tensor of the Reference kernels.
struct Value {
  DataType type = DLC_F32;
  Shape shape;
  std::vector<float> floats;
  std::vector<uint8_t> booleans;

  TensorView view() const {
    const void *data = type == DLC_BOOL
                           ? static_cast<const void *>(booleans.data())
                           : floats.data();
    return {type, shape, const_cast<void *>(data)};
  }
};

Value evaluate(const char *name, std::initializer_list<const Value *> inputs) {
  std::vector<TensorView> views;
  for (const Value *input : inputs)
    views.push_back(input->view());
  std::vector<ref::OwnedTensor> results;
  Status status = ref::evaluate(*ref::lookup(name), views, {}, 1, results);
  EXPECT_TRUE(status.isOk()) << name << ": " << status.message();
  const auto *data = static_cast<const float *>(results.at(0).data());
  Value value;
  value.shape.assign(results[0].shape().begin(), results[0].shape().end());
  value.floats.assign(data, data + *elementCount(value.shape));
  return value;
}

Value scalar(double value) {
  return {DLC_F32, {}, {static_cast<float>(value)}, {}};
}

/// An operand in its own order; keys and values once for each query.
Value read(Call &call, size_t input, const AttentionCase &c, const Shape &batch,
           int64_t rows, int64_t columns, const Shape &order) {
  Value value;
  value.shape = with(c.queries, rows, columns);
  std::vector<int64_t> places = placesOf(with(batch, rows, columns), order);
  const int64_t matrix = rows * columns;
  const int64_t count = *elementCount(c.queries);
  const int64_t shared = count / *elementCount(batch);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < matrix; ++j)
      value.floats.push_back(
          call.values[input].data()[places[i / shared * matrix + j]]);
  return value;
}

/// The mask of a call, or the one that causality stands for.
Value readMask(Call &call, size_t &input, const AttentionCase &c,
               const MaskCase &mask) {
  if (mask.form == 3) {
    Value value{DLC_BOOL, {c.m, c.n}, {}, {}};
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j)
        value.booleans.push_back(j <= i + c.causalOffset);
    return value;
  }
  GuardedBuffer &buffer = call.values[input++];
  if (mask.form == 0)
    return {DLC_F32,
            mask.shape,
            {buffer.data(), buffer.data() + buffer.size()},
            {}};
  const auto *bytes = reinterpret_cast<const uint8_t *>(buffer.data());
  return {DLC_BOOL, mask.shape, {}, {bytes, bytes + buffer.size()}};
}

std::vector<float> reference(const AttentionCase &c, Call &call) {
  Value q = read(call, 0, c, c.queries, c.m, c.k, c.qOrder);
  Value k = read(call, 1, c, c.keys, c.k, c.n, c.kOrder);
  Value v = read(call, 2, c, c.keys, c.n, c.p, c.vOrder);
  Value queryScale = scalar(c.queryScale), scale = scalar(c.scale);
  Value fill = scalar(c.fill);
  Value scaled = evaluate("mul", {&q, &queryScale});
  Value product = evaluate("matmul", {&scaled, &k});
  Value scores = evaluate("mul", {&product, &scale});
  size_t input = 3;
  for (const MaskCase &mask : c.masks) {
    Value m = readMask(call, input, c, mask);
    scores = mask.form == 0   ? evaluate("add", {&scores, &m})
             : mask.form == 2 ? evaluate("select", {&m, &fill, &scores})
                              : evaluate("select", {&m, &scores, &fill});
  }
  Value weights = evaluate("softmax", {&scores});
  return evaluate("matmul", {&weights, &v}).floats;
}

/// The result in its own order.
std::vector<float> inOrder(const AttentionCase &c,
                           const std::vector<float> &values) {
  std::vector<float> result;
  for (int64_t place : placesOf(with(c.queries, c.m, c.p), c.yOrder))
    result.push_back(values.at(place));
  return result;
}

/// NaN and infinities are where the reference has them, the rest is within
/// `bound` of it.
void expectNear(const AttentionCase &c, Call &call,
                const std::vector<float> &expected, float bound) {
  SCOPED_TRACE(c.text());
  for (Isa isa : runnableIsas(call)) {
    SCOPED_TRACE(std::string(nameOf(isa)));
    std::vector<float> raw = runCall(call, prepareAttention, isa);
    ASSERT_EQ(raw.size(), expected.size());
    std::vector<float> values = inOrder(c, raw);
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(expected[i]))
        ASSERT_TRUE(std::isnan(values[i])) << i << ": " << values[i];
      else if (std::isinf(expected[i]))
        ASSERT_EQ(values[i], expected[i]) << i;
      else
        ASSERT_LE(std::fabs(values[i] - expected[i]), bound) << i;
    }
  }
}

float largestOf(const float *values, int64_t count) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i)
    if (std::isfinite(values[i]))
      largest = std::max(largest, std::fabs(values[i]));
  return largest;
}

/// What a call may take as bfloat16 has no more bits than that.
void roundOperands(Call &call) {
  for (size_t operand : {0, 1, 2})
    for (int64_t i = 0; i < call.values[operand].size(); ++i) {
      uint32_t bits;
      std::memcpy(&bits, &call.values[operand].data()[i], sizeof(bits));
      bits &= 0xffff0000u;
      std::memcpy(&call.values[operand].data()[i], &bits, sizeof(bits));
    }
}

/// With operands that are bfloat16 in memory.
Call withShorts(const Call &call) {
  Call result = call;
  for (size_t operand : {0, 1, 2}) {
    GuardedBuffer &floats = result.values[operand];
    const std::vector<uint16_t> shorts = shortsOf(floats.data(), floats.size());
    result.inputs[operand].type = DLC_BF16;
    floats = GuardedBuffer(floatsOf(result.inputs[operand]));
    std::copy_n(shorts.begin(), shorts.size(),
                reinterpret_cast<uint16_t *>(floats.data()));
  }
  return result;
}

/// Weights are off by 2^-9 of themselves at most, and their sum is one.
void expectRoundedChain(const AttentionCase &c, const Call &call) {
  constexpr int64_t fewestRows = 16, fewestElements = 32;
  if (c.m < fewestRows || c.k < fewestElements || c.p < fewestElements)
    return;
  Call rounded = call;
  roundOperands(rounded);
  const std::vector<float> expected = reference(c, rounded);
  const float bound =
      0x1.1p-8f * largestOf(rounded.values[2].data(), rounded.values[2].size());
  rounded.attributes.set("bf16_parts", int64_t{1});
  expectNear(c, rounded, expected, bound);
  Call shorts = withShorts(rounded);
  expectNear(c, shorts, expected, bound);
}

void expectChain(const AttentionCase &c, Call &call) {
  const std::vector<float> expected = reference(c, call);
  expectNear(c, call, expected,
             4e-6f * largestOf(expected.data(),
                               static_cast<int64_t>(expected.size())));
}

void expectChain(const AttentionCase &c) {
  Call call = makeCall(c);
  expectChain(c, call);
  expectRoundedChain(c, call);
}

/// Elements of keys and values, few of them and as many as are rounded.
struct Sizes {
  int64_t k, p;
};

TEST(AttentionTest, OddSizes) {
  constexpr int64_t lengths[] = {1, 2, 3, 5, 7, 13, 31, 33, 63, 100, 127, 200};
  constexpr int64_t sizes[] = {1,  2,  3,  4,  7,  8,  9,
                               15, 17, 31, 48, 64, 65, 128};
  Random random(1);
  for (int64_t m : lengths)
    for (int64_t n : lengths)
      expectChain(
          {{2}, {2}, m, n, sizes[random.below(14)], sizes[random.below(14)]});
}

// More keys than a block has: rows are weighed again.
TEST(AttentionTest, ManyKeys) {
  expectChain({{1}, {1}, 7, 1000, 64, 64});
  expectChain({{1}, {1}, 13, 431, 512, 512});
  expectChain({{1}, {1}, 6, 700, 33, 130, {{0, {6, 700}}}});
  expectChain({{1}, {1}, 33, 3000, 64, 64});
  expectChain({{1}, {1}, 17, 700, 512, 512});
}

TEST(AttentionTest, ManyRows) { expectChain({{2}, {2}, 500, 40, 16, 16}); }

// Queries, keys and values as projections leave them, [S, H, D].
TEST(AttentionTest, OrdersInMemory) {
  for (Sizes sizes : {Sizes{20, 24}, {36, 44}}) {
    AttentionCase c{{2, 3}, {2, 3}, 19, 37, sizes.k, sizes.p};
    c.qOrder = c.vOrder = c.yOrder = {0, 2, 1, 3};
    c.kOrder = {0, 2, 3, 1};
    expectChain(c);
    c.kOrder = {0, 1, 3, 2};
    c.vOrder = {0, 1, 3, 2};
    c.qOrder = {0, 1, 3, 2};
    expectChain(c);
    c.qOrder = {3, 2, 1, 0};
    c.kOrder = {2, 1, 0, 3};
    c.vOrder = {3, 1, 0, 2};
    expectChain(c);
  }
}

TEST(AttentionTest, SharedKeys) {
  for (const Shape &keys : {Shape{2, 2}, Shape{2, 1}, Shape{}}) {
    expectChain({{2, 6}, keys, 9, 21, 16, 8});
    expectChain({{2, 6}, keys, 19, 21, 36, 48});
  }
}

TEST(AttentionTest, Masks) {
  for (auto [k, p] : {Sizes{16, 8}, {40, 33}}) {
    for (int64_t form : {0, 1, 2})
      for (Shape shape : {Shape{2, 3, 17, 37}, Shape{2, 1, 1, 37}, Shape{37},
                          Shape{17, 1}, Shape{3, 1, 37}, Shape{1}, Shape{}}) {
        AttentionCase c{{2, 3}, {2, 3}, 17, 37, k, p, {{form, shape}}};
        c.scale = 0.25;
        c.fill = -1e9;
        expectChain(c);
      }
    AttentionCase several{{2},
                          {2},
                          17,
                          37,
                          k,
                          p,
                          {{0, {37}}, {1, {17, 37}}, {3, {}}, {2, {2, 1, 37}}}};
    several.scale = 0.3;
    several.queryScale = 1.7;
    several.fill = -50;
    expectChain(several);
  }
}

TEST(AttentionTest, Causal) {
  for (auto [k, p] : {Sizes{16, 24}, {32, 64}})
    for (auto [m, n, offset] : {std::tuple{40, 40, 0},
                                {130, 130, 0},
                                {300, 300, 0},
                                {9, 50, 41},
                                {200, 600, 400},
                                {50, 9, 0},
                                {20, 20, -7},
                                {20, 20, -20},
                                {20, 5, 5},
                                {7, 500, -3}}) {
      AttentionCase c{{2}, {2}, m, n, k, p, {{3, {}}}};
      c.causalOffset = offset;
      for (double fill :
           {double(-kInfinity), -3.4028234663852886e38, -1e4, -3.0, 1e3}) {
        c.fill = fill;
        expectChain(c);
      }
    }
}

// What is not finite behaves as in the chain, also where keys are hidden.
// Scores that are rounded are scaled when they are summed, and may overflow
// before.
TEST(AttentionTest, NotFinite) {
  constexpr float large = 3e38f;
  const float specials[] = {kInfinity, -kInfinity, std::nanf(""), large};
  for (bool isCausal : {false, true})
    for (size_t input = 0; input < 4; ++input)
      for (float special : specials)
        for (int64_t place : {0, 5, 130, 399})
          for (int64_t size : {4, 32}) {
            AttentionCase c{{1}, {1}, 20, 400, size, size, {{0, {400}}}};
            if (isCausal)
              c.masks.push_back({3, {}});
            c.causalOffset = 120;
            c.queryScale = 0.125;
            Call call = makeCall(c);
            GuardedBuffer &values = call.values[input];
            values.data()[place % values.size()] = special;
            expectChain(c, call);
            if (special != large)
              expectRoundedChain(c, call);
          }
}

// Rows of minus infinity alone, in the first block of keys or in all of them.
TEST(AttentionTest, HiddenRows) {
  for (int64_t rows : {9, 19}) {
    AttentionCase c{{1}, {1}, rows, 500, 64, 64, {{0, {rows, 500}}}};
    Call call = makeCall(c);
    for (int64_t row : {int64_t{1}, int64_t{4}, rows - 1})
      for (int64_t key = 0; key < (row == 4 ? 500 : 450); ++key)
        call.values[3].data()[row * 500 + key] = -kInfinity;
    expectChain(c, call);
    expectRoundedChain(c, call);
  }
}

// Sums of weights times values overflow where the mean does not.
TEST(AttentionTest, LargeValues) {
  for (auto [rows, size] : {std::pair{7, 8}, {17, 32}}) {
    AttentionCase c{{1}, {1}, rows, 500, size, size};
    Call call = makeCall(c);
    for (int64_t i = 0; i < call.values[2].size(); ++i)
      call.values[2].data()[i] = 3e38f;
    expectChain(c, call);
    expectRoundedChain(c, call);
  }
}

std::string whyNot(const Call &call) {
  std::unique_ptr<PreparedKernel> kernel;
  const LibraryEntry *entry = lookupLibraryEntry("cpu.attention");
  std::string why;
  bool isSupported = entry->isSupported(call.view(), why);
  Status status = entry->prepare(call.view(), kernel);
  EXPECT_EQ(status.isOk(), isSupported);
  EXPECT_EQ(status.message(), why);
  return why;
}

TEST(AttentionTest, RefusesOtherCalls) {
  const AttentionCase good{{2}, {2}, 3, 5, 4, 4, {{0, {5}}}};
  auto refused = [&](auto &&change) {
    Call call = makeCall(good);
    change(call);
    return whyNot(call);
  };
  EXPECT_EQ(refused([](Call &) {}), "");
  EXPECT_EQ(refused([](Call &call) { call.inputs.resize(2); }),
            "expected at least 3 inputs, got 2");
  EXPECT_EQ(refused([](Call &call) { call.inputs.resize(3); }),
            "expected an input for each mask");
  EXPECT_EQ(refused([](Call &call) { call.inputs.push_back(f32({5})); }),
            "expected 4 inputs, got 5");
  EXPECT_EQ(refused([](Call &call) { call.inputs[0].type = DLC_F64; }),
            "expected input 0 to be f32, got 2x3x4xf64");
  EXPECT_EQ(refused([](Call &call) { call.inputs[1] = f32({2, 6, 5}); }),
            "expected queries [.., M, K], keys [.., K, N], values [.., N, P] "
            "and an output [.., M, P], got 2x3x4xf32, 2x6x5xf32, 2x5x4xf32 and "
            "2x3x4xf32");
  EXPECT_EQ(refused([](Call &call) { call.inputs[0] = f32({2, 0, 4}); }),
            "expected input 0 to have elements, got 2x0x4xf32");
  EXPECT_EQ(refused([](Call &call) {
              call.inputs[1] = f32({2, 4, 0});
            }),
            "expected input 1 to have elements, got 2x4x0xf32");
  EXPECT_EQ(refused([](Call &call) { call.inputs[3] = f32({4}); }),
            "expected a mask that broadcasts to the scores, got 4xf32");
  EXPECT_EQ(refused([](Call &call) { call.inputs[3].type = DLC_BOOL; }),
            "expected a mask to be f32, got 5xbool");
  auto set = [&](const char *name, auto value) {
    return refused([&](Call &call) { call.attributes.set(name, value); });
  };
  EXPECT_EQ(set("q_order", Shape{0, 1, 1}),
            "expected attribute 'q_order' to be an order of 3 dimensions");
  EXPECT_EQ(set("q_order", Shape{0, 1, 3}),
            "expected attribute 'q_order' to be an order of 3 dimensions");
  EXPECT_EQ(set("v_order", Shape{0, 1}),
            "expected attribute 'v_order' to be an order of 3 dimensions");
  EXPECT_EQ(refused([](Call &call) {
              call.output = f32({2, 4, 3});
              call.attributes.set("y_order", Shape{0, 2, 1});
            }),
            "expected rows of the output to be dense");
  for (Shape scores : {Shape{2, 3, 6}, Shape{3, 5}, Shape{-2, -1, 3, 5},
                       Shape{INT64_MAX, 4, 3, 5}, Shape{5}})
    EXPECT_EQ(set("scores", scores), "expected attribute 'scores' to be the "
                                     "shape of 2 matrices of 3x5");
  EXPECT_EQ(set("masks", Shape{4}),
            "expected attribute 'masks' to hold 0 to 3, got 4");
  EXPECT_EQ(set("masks", Shape{0, 3, 3, 3, 3}),
            "expected at most 4 masks, got 5");
  EXPECT_EQ(set("causal_offset", int64_t{6}),
            "expected attribute 'causal_offset' from -3 to 5, got 6");
  EXPECT_EQ(set("activation", "relu"), "expected no activation");
  EXPECT_EQ(set("shape", int64_t{1}), "unknown attribute 'shape'");
  EXPECT_EQ(whyNot(makeCall({{2}, {2}, 3, 5, 513, 4})),
            "expected keys and values of at most 512 elements, got 513 and 4");
}

/// Weights of zero and one: every value comes through as it is rounded.
TEST(AttentionTest, RoundedPicksValues) {
  const AttentionCase c{{2}, {2}, 45, 45, 64, 50};
  Call call = makeCall(c);
  float *q = call.values[0].data(), *k = call.values[1].data();
  std::fill_n(q, call.values[0].size(), 0.0f);
  std::fill_n(k, call.values[1].size(), 0.0f);
  for (int64_t batch = 0; batch < 2; ++batch)
    for (int64_t i = 0; i < c.m; ++i) {
      q[(batch * c.m + i) * c.k + i] = 512;
      k[(batch * c.k + i) * c.n + (i * 7 + batch) % c.n] = 8;
    }
  roundOperands(call);
  call.attributes.set("query_scale", 1.0);
  call.attributes.set("bf16_parts", int64_t{1});
  Call shorts = withShorts(call);
  const float *v = call.values[2].data();
  for (Call *one : {&call, &shorts})
    for (Isa isa : runnableIsas(*one)) {
      const std::vector<float> values = runCall(*one, prepareAttention, isa);
      ASSERT_EQ(values.size(), size_t(2 * c.m * c.p));
      for (int64_t batch = 0; batch < 2; ++batch)
        for (int64_t i = 0; i < c.m; ++i)
          for (int64_t p = 0; p < c.p; ++p)
            ASSERT_EQ(values[(batch * c.m + i) * c.p + p],
                      v[(batch * c.n + (i * 7 + batch) % c.n) * c.p + p])
                << nameOf(isa);
    }
}

TEST(AttentionTest, RoundedRefusesLittle) {
  Call call;
  for (const AttentionCase &c : {AttentionCase{{2}, {2}, 15, 45, 64, 50},
                                 AttentionCase{{2}, {2}, 16, 45, 31, 50},
                                 AttentionCase{{2}, {2}, 16, 45, 64, 31}}) {
    call = makeCall(c);
    call.attributes.set("bf16_parts", int64_t{1});
    EXPECT_EQ(whyNot(call),
              "expected at least 16 rows, and keys and values of at least 32 "
              "elements, where 'bf16_parts' is 1, got " +
                  std::to_string(c.m) + ", " + std::to_string(c.k) + " and " +
                  std::to_string(c.p));
  }
  call = makeCall({{2}, {2}, 16, 45, 64, 50});
  call.attributes.set("bf16_parts", int64_t{1});
  EXPECT_EQ(whyNot(call), "");
  call.inputs[0].type = DLC_BF16;
  EXPECT_EQ(whyNot(call), "expected input 1 to be bf16, got 2x64x45xf32");
}

TEST(AttentionTest, Cost) {
  Call call = makeCall({{12}, {12}, 128, 128, 64, 64});
  KernelCost cost = lookupLibraryEntry("cpu.attention")->cost(call.view());
  EXPECT_EQ(cost.flops, 4u * 12 * 128 * 128 * 64);
  EXPECT_EQ(cost.bytes, 4u * 4 * 12 * 128 * 64);
}

} // namespace
