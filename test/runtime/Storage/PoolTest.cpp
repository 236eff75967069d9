// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/Pool.h"
#include "dlc/runtime/Base/Memory.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace dlc::rt;

TEST(Pool, BlocksHoldWhatWasAsked) {
  Pool pool;
  // Around every boundary of the size classes.
  for (size_t bytes = 0; bytes < 70'000; bytes += bytes < 5000 ? 1 : 61) {
    void *block = pool.allocate(bytes);
    ASSERT_TRUE(block && isAligned(block, DLC_ALIGNMENT));
    std::memset(block, 0xff, bytes); // AddressSanitizer sees an overrun.
    ASSERT_GE(pool.usedBytes(), bytes);
    ASSERT_LE(pool.usedBytes(), bytes + bytes / 4 + DLC_ALIGNMENT);
    pool.release(block, bytes);
    ASSERT_EQ(pool.usedBytes(), 0u);
  }
}

TEST(Pool, LargestClassesFit) {
  Pool pool;
  for (size_t bytes : {Pool::largestKept - 1, Pool::largestKept,
                       Pool::largestKept + 1, 2 * Pool::largestKept}) {
    void *block = pool.allocate(bytes);
    ASSERT_TRUE(block);
    static_cast<char *>(block)[bytes - 1] = 1;
    pool.release(block, bytes);
    EXPECT_EQ(pool.usedBytes(), 0u);
  }
  // The first two share a block; the larger ones went back.
  EXPECT_EQ(pool.keptBytes(), Pool::largestKept);
}

TEST(Pool, ReusesBlocksAndGivesThemBack) {
  Pool pool;
  void *first = pool.allocate(1000);
  pool.release(first, 1000);
  EXPECT_EQ(pool.keptBytes(), 1024u);
  EXPECT_EQ(pool.allocate(990), first); // Of the same class.
  EXPECT_EQ(pool.keptBytes(), 0u);
  pool.release(first, 990);
  pool.trim();
  EXPECT_EQ(pool.keptBytes(), 0u);
}

TEST(Pool, SaysWhenThereIsNoMemory) {
  Pool pool;
  EXPECT_EQ(pool.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(pool.allocate(SIZE_MAX / 4), nullptr);
  EXPECT_EQ(pool.usedBytes(), 0u);
}
