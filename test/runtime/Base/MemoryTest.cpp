// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/System.h"

#include <gtest/gtest.h>

using namespace dlc::rt;

TEST(Memory, BuffersAreAlignedAndNeverNull) {
  for (size_t bytes : {0, 1, 63, 64, 4097, 3 << 20}) {
    Result<AlignedBuffer> heap = AlignedBuffer::allocate(bytes);
    Result<PageBuffer> pages = PageBuffer::allocate(bytes);
    ASSERT_TRUE(heap.isOk() && pages.isOk());
    EXPECT_TRUE(heap->data() && isAligned(heap->data(), DLC_ALIGNMENT));
    EXPECT_TRUE(pages->data() && isAligned(pages->data(), DLC_ALIGNMENT));
    EXPECT_EQ(heap->size(), bytes);
    EXPECT_EQ(pages->size(), bytes);
    for (size_t i = 0; i != bytes; ++i)
      ASSERT_EQ(pages->data()[i], std::byte(0));
  }
}

TEST(Memory, BuffersOfOthersGoOnce) {
  alignas(DLC_ALIGNMENT) std::byte memory[64];
  int released = 0;
  auto release = [](void *count) { ++*static_cast<int *>(count); };
  {
    AlignedBuffer buffer = AlignedBuffer::adopt(memory, release, &released);
    AlignedBuffer moved = std::move(buffer);
    EXPECT_EQ(moved.data(), memory);
    EXPECT_EQ(moved.size(), sizeof(memory));
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Memory, SaysWhenThereIsNone) {
  Result<PageBuffer> pages = PageBuffer::allocate(SIZE_MAX / 2);
  ASSERT_FALSE(pages.isOk());
  EXPECT_EQ(pages.status().code(), StatusCode::OutOfMemory);
}

TEST(Memory, RoundsUp) {
  EXPECT_EQ(alignUp(0, 64), 0u);
  EXPECT_EQ(alignUp(1, 64), 64u);
  EXPECT_EQ(alignUp(64, 64), 64u);
}

TEST(Memory, MoreThanTheMachineHasIsNotAskedFor) {
  uint64_t limit = memoryLimit();
  EXPECT_GT(limit, uint64_t(1) << 20);
  if (limit == UINT64_MAX)
    GTEST_SKIP() << "the system does not say";
  EXPECT_EQ(AlignedBuffer::allocate(limit + 1).status().code(),
            StatusCode::OutOfMemory);
  EXPECT_EQ(PageBuffer::allocate(limit + 1).status().code(),
            StatusCode::OutOfMemory);
}
