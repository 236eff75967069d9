// SPDX-License-Identifier: Apache-2.0
//
// The table of operations, and what every operation must bear.

#include "TestTensor.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::ref;
using namespace dlc::rt::ref::test;

TEST(Table, IsSortedWithoutDuplicates) {
  std::span<const Operation> all = operations();
  auto notBefore = [](const Operation &a, const Operation &b) {
    return a.name >= b.name;
  };
  auto it = std::adjacent_find(all.begin(), all.end(), notBefore);
  EXPECT_EQ(it, all.end()) << it->name;
}

TEST(Table, LooksUpByName) {
  ASSERT_NE(lookup("add"), nullptr);
  EXPECT_EQ(lookup("add")->name, "add");
  EXPECT_EQ(lookup("ad"), nullptr);
  EXPECT_EQ(lookup(""), nullptr);
  EXPECT_EQ(lookup("zzz"), nullptr);
}

/// Shape rules get whatever a model file says: each must answer or refuse.
TEST(Table, ShapeRulesBearAnyOperands) {
  // The largest value that the enumeration can hold at all.
  auto wrong = static_cast<DataType>(15);
  const std::vector<Operand> choices = {
      {},
      typed(DLC_F32, {}),
      typed(DLC_F32, {-1, 3, -1, 5}),
      typed(DLC_I64, {2}),
      typed(DLC_I64, {-1}),
      typed(DLC_BOOL, {0, 4}),
      typed(DLC_F32, std::vector<int64_t>(17, 1)),
      typed(DLC_F32, {INT64_MAX, INT64_MAX, 1, 1}),
      typed(DLC_F32, {-7, INT64_MIN}),
      typed(wrong, {1}),
      unranked(DLC_F16),
      unranked(DLC_I32),
  };
  const Attributes none;
  for (const Operation &operation : operations()) {
    SCOPED_TRACE(std::string(operation.name));
    for (size_t count = 0; count <= 9; ++count) {
      for (size_t first = 0; first < choices.size(); ++first) {
        for (size_t rest = 0; rest < choices.size(); ++rest) {
          std::vector<Operand> operands(count, choices[rest]);
          if (count)
            operands[0] = choices[first];
          std::vector<TensorType> results;
          InferContext context(operands, none, 1);
          Status status = operation.infer(context, results);
          EXPECT_NE(status.code(), StatusCode::Internal) << status.message();
          EXPECT_TRUE(!status.isOk() || !results.empty());
        }
      }
    }
  }
}

/// The other dimensions of an empty tensor are bounded by nothing, and no loop
/// counts through them.
TEST(Table, ComputationsBearEmptyOperands) {
  constexpr int64_t huge = int64_t(1) << 40;
  const std::vector<std::vector<int64_t>> shapes = {
      {huge, 0},    {0, huge},    {huge, 1, 0},    {1, huge, 0},
      {1, 0, huge}, {0, 1, huge}, {huge, 0, 1, 1}, {1, huge, 1, 0}};
  size_t computed = 0;
  for (const Operation &operation : operations()) {
    SCOPED_TRACE(std::string(operation.name));
    for (const std::vector<int64_t> &shape : shapes) {
      for (size_t count = 1; count <= 5; ++count) {
        std::vector<TestTensor> operands(count, TestTensor{DLC_F32, shape, {}});
        computed += run(operation.name, operands).isOk();
        operands[0].type = DLC_I64;
        computed += run(operation.name, operands).isOk();
      }
    }
  }
  EXPECT_GT(computed, 500u);
  for (const char *name : {"softmax", "log_softmax", "hardmax"})
    EXPECT_TRUE(run(name, {TestTensor{DLC_F32, {huge, 0}, {}}}).isOk());
  for (int64_t axis : {0, 1})
    EXPECT_TRUE(run("gather",
                    {TestTensor{DLC_F32, {huge, 0}, {}}, i64({0}, {})},
                    attributes({{"axis", axis}}))
                    .isOk());
  // What is not empty is zero.
  TestTensor images{DLC_F32, {huge, 1, 0}, {}};
  expectResult("conv_weight_gradient", {images, images},
               attributes({{"kernel_shape", std::vector<int64_t>{1}}}),
               f32({1, 1, 1}, {0}));
}
