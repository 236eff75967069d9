// SPDX-License-Identifier: Apache-2.0
//
// Element types: their sizes, in bits and in bytes.

#include "dlc/runtime/Base/Tensor.h"

#include <gtest/gtest.h>
#include <vector>

using namespace dlc::rt;

TEST(Tensor, EveryTypeHasANameAndASize) {
  for (int type = 1; type <= kLastType; ++type) {
    auto known = static_cast<DataType>(type);
    EXPECT_EQ(dataTypeOf(nameOf(known)), known);
    EXPECT_GT(bitsOf(known), 0u);
    EXPECT_EQ(isPacked(known), sizeOf(known) == 0);
    EXPECT_GT(alignmentOf(known), 0u);
    EXPECT_EQ(byteCount(known, 0), 0);
    EXPECT_EQ(byteCount(known, 8), bitsOf(known));
    EXPECT_EQ(byteCount(known, -1), std::nullopt);
  }
  EXPECT_EQ(byteCount(DLC_INVALID_TYPE, 1), std::nullopt);
  EXPECT_EQ(nameOf(static_cast<DataType>(kLastType + 1)), "invalid");
}

TEST(Tensor, CountsBytesOfPackedElements) {
  EXPECT_EQ(byteCount(DLC_U4, 1), 1);
  EXPECT_EQ(byteCount(DLC_F4E2M1FN, 5), 3);
  EXPECT_EQ(byteCount(DLC_I2, 4), 1);
  EXPECT_EQ(byteCount(DLC_I2, 5), 2);
  EXPECT_EQ(byteCount(DLC_U2, INT64_MAX), int64_t(1) << 61);
}

TEST(Tensor, SaysWhichSizesOverflow) {
  EXPECT_EQ(byteCount(DLC_I8, INT64_MAX), INT64_MAX);
  EXPECT_EQ(byteCount(DLC_I16, INT64_MAX), std::nullopt);
  int64_t large[] = {INT64_MAX / 2, 3}, open[] = {2, -1}, some[] = {2, 3};
  EXPECT_EQ(byteCount(DLC_U4, large), std::nullopt);
  EXPECT_EQ(byteCount(DLC_F32, open), std::nullopt);
  EXPECT_EQ(byteCount(DLC_F32, some), 24);
  EXPECT_EQ(byteCount(DLC_F32, std::span<const int64_t>()), 4);
}

// Wherever the 0 is: what others compute of the rest, as strides, fits too.
TEST(Tensor, EmptyOnesHaveExtentsThatFit) {
  constexpr int64_t large = int64_t(1) << 40;
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{0, large, large},
        {large, 0, large},
        {large, large, 0}}) {
    EXPECT_EQ(elementCount(shape), std::nullopt);
    EXPECT_EQ(byteCount(DLC_I8, shape), std::nullopt);
  }
  EXPECT_EQ(elementCount(std::vector<int64_t>{large, 0, 8}), 0);
  EXPECT_EQ(elementCount(std::vector<int64_t>{0, -1}), std::nullopt);
  EXPECT_EQ(byteCount(DLC_I8, std::vector<int64_t>{0, INT64_MAX}), 0);
  EXPECT_EQ(byteCount(DLC_F64, std::vector<int64_t>{0, INT64_MAX}),
            std::nullopt);
}
