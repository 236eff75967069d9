// SPDX-License-Identifier: Apache-2.0
//
// Computations in parts, as several threads share them, give the bytes that one
// thread gives.

#include "TestTensor.h"

#include <gtest/gtest.h>

#include <random>

using namespace dlc::rt;
using namespace dlc::rt::ref;
using namespace dlc::rt::ref::test;

namespace {

using Ints = std::vector<int64_t>;

struct Case {
  std::string name;
  std::vector<TestTensor> inputs;
  Attributes attrs = {};
  size_t results = 1;
};

} // namespace

static TestTensor random(DataType type, Ints shape, int64_t range = 100) {
  std::mt19937 generator(17);
  std::uniform_int_distribution<int64_t> next(0, range);
  TestTensor made{type, shape, {}};
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  std::vector<double> values(count);
  for (double &value : values)
    value = static_cast<double>(next(generator));
  return tensor(type, std::move(shape), values);
}

/// The results of `operation`, from the last part to the first where `parts`.
static std::vector<std::vector<unsigned char>>
resultsOf(Case &test, bool inParts, int64_t &pieces) {
  const Operation *operation = lookup(test.name);
  std::vector<TensorView> inputs;
  std::vector<Operand> operands;
  for (TestTensor &input : test.inputs) {
    inputs.push_back(input.view());
    operands.push_back({{input.type, input.shape}, inputs.back().data});
  }
  std::vector<TensorType> types;
  InferContext inferring(operands, test.attrs, test.results);
  const Status inferred = operation->infer(inferring, types);
  EXPECT_TRUE(inferred.isOk()) << inferred.message();
  std::vector<std::vector<unsigned char>> bytes;
  std::vector<TensorView> outputs;
  bytes.reserve(types.size());
  for (const TensorType &type : types) {
    bytes.emplace_back(*byteCount(type.type, type.shape), 0xa5);
    outputs.push_back({type.type, type.shape, bytes.back().data()});
  }
  ComputeContext::Sharer share = [&](int64_t count, uint64_t,
                                     const auto &part) {
    pieces += count;
    for (int64_t end = count; end > 0; end -= std::min<int64_t>(end, 2))
      part(std::max<int64_t>(end - 2, 0), end);
  };
  ComputeContext context(inputs, outputs, test.attrs, nullptr,
                         inParts ? &share : nullptr);
  const Status status = operation->run(context);
  EXPECT_TRUE(status.isOk()) << status.message();
  return bytes;
}

static std::vector<Case> casesOf() {
  const TestTensor none, image = random(DLC_F32, {2, 6, 67, 61}),
                         channels = random(DLC_F32, {6});
  const TestTensor tokens = random(DLC_F32, {3, 171, 65});
  auto attrs = [](std::initializer_list<Attribute> entries) {
    return attributes(entries);
  };
  return {
      {"add", {image, random(DLC_F32, {6, 1, 61})}},
      {"exp", {tokens}},
      {"transpose", {image}, attrs({{"perm", Ints{0, 2, 3, 1}}})},
      {"transpose", {image}, attrs({{"perm", Ints{1, 0, 3, 2}}})},
      {"transpose",
       {random(DLC_U8, {500, 700})},
       attrs({{"perm", Ints{1, 0}}})},
      {"transpose",
       {random(DLC_I64, {7, 90, 8, 33})},
       attrs({{"perm", Ints{0, 2, 1, 3}}})},
      {"concat",
       {random(DLC_F32, {7, 6, 67, 61}), random(DLC_F32, {7, 6, 50, 61})},
       attrs({{"axis", int64_t(2)}})},
      {"concat",
       {random(DLC_F32, {70000}), random(DLC_F32, {90001})},
       attrs({{"axis", int64_t(0)}})},
      {"slice",
       {image, i64({2}, {60, 1}), i64({2}, {0, 60}), i64({2}, {2, 3}),
        i64({2}, {-1, 2})}},
      {"split",
       {random(DLC_F32, {30, 171, 65}), i64({2}, {70, 101})},
       attrs({{"axis", int64_t(1)}}),
       2},
      {"expand", {random(DLC_F32, {171, 1}), i64({3}, {5, 171, 300})}},
      {"tile", {tokens, i64({3}, {2, 1, 3})}},
      {"pad", {image, i64({4}, {3, 2, 5, 4}), f32({}, {7}), i64({2}, {2, 3})}},
      {"pad",
       {image, i64({4}, {3, 2, 5, 4}), f32({}, {0}), i64({2}, {2, 3})},
       attrs({{"mode", std::string("reflect")}})},
      {"gather", {random(DLC_F32, {1000, 64}), random(DLC_I64, {4000}, 999)}},
      {"gather",
       {image, random(DLC_I64, {111}, 60)},
       attrs({{"axis", int64_t(2)}})},
      {"reduce_sum", {tokens, i64({1}, {2})}},
      {"reduce_max", {image, i64({2}, {0, 2})}},
      {"reduce_mean", {image, i64({2}, {2, 3})}},
      {"softmax", {tokens}, attrs({{"axis", int64_t(1)}})},
      {"log_softmax", {tokens}},
      {"batch_norm", {image, channels, channels, channels, channels}},
      {"layer_norm", {tokens, random(DLC_F32, {65}), random(DLC_F32, {65})}},
      {"layer_norm",
       {tokens, random(DLC_F32, {171, 65})},
       attrs({{"axis", int64_t(1)}})},
      {"rms_norm", {tokens, random(DLC_F32, {65})}},
      {"group_norm",
       {image, channels, channels},
       attrs({{"num_groups", int64_t(1)}})},
      {"group_norm",
       {image, channels, channels},
       attrs({{"num_groups", int64_t(6)}})},
      {"max_pool",
       {image},
       attrs({{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 1}}})},
      {"avg_pool", {image}, attrs({{"kernel_shape", Ints{2, 5}}})},
      {"max_pool_gradient",
       {image, random(DLC_F32, {2, 6, 65, 59})},
       attrs({{"kernel_shape", Ints{3, 3}}})},
      {"conv",
       {image, random(DLC_F32, {4, 3, 3, 3})},
       attrs({{"group", int64_t(2)}})},
      {"conv_transpose",
       {image, random(DLC_F32, {6, 4, 3, 3})},
       attrs({{"strides", Ints{2, 2}}})},
      {"resize",
       {image, none, none, i64({4}, {2, 6, 100, 90})},
       attrs({{"mode", std::string("linear")}})},
      {"resize",
       {image, none, f32({4}, {1, 1, 1.5, 1}), none},
       attrs({{"mode", std::string("cubic")}})},
      {"resize",
       {random(DLC_U8, {1, 60, 70, 3}), none, none, i64({4}, {1, 200, 91, 3})},
       attrs({{"mode", std::string("linear")}})},
      {"resize", {image, none, f32({4}, {1, 1, 2, 3}), none}},
      {"quantize_linear", {tokens, f32({}, {3}), tensor(DLC_U8, {}, {9})}},
      {"quantize_linear",
       {tokens, random(DLC_F32, {65}), random(DLC_I8, {65})},
       attrs({{"axis", int64_t(2)}})},
      {"dequantize_linear",
       {random(DLC_U8, {300, 400}), f32({}, {3}), tensor(DLC_U8, {}, {9})}},
      {"select",
       {random(DLC_BOOL, {300, 1}, 1), random(DLC_F32, {400}),
        random(DLC_F32, {300, 400})}},
  };
}

TEST(Parts, OfSeveralThreadsAreTheWhole) {
  for (Case &test : casesOf()) {
    SCOPED_TRACE(
        test.name + " of " +
        toString(TensorType{test.inputs[0].type, test.inputs[0].shape}));
    int64_t pieces = 0;
    const auto whole = resultsOf(test, /*inParts=*/false, pieces);
    EXPECT_EQ(pieces, 0);
    EXPECT_EQ(resultsOf(test, /*inParts=*/true, pieces), whole);
    // Sums of one place come from several windows.
    if (test.name != "max_pool_gradient")
      EXPECT_GT(pieces, 1);
  }
}
