// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/System.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

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

/// Whether huge pages were asked for at `address`, by /proc/self/smaps.
static bool wantsHugePages(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  bool isInside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      isInside = begin <= reinterpret_cast<uintptr_t>(address) &&
                 reinterpret_cast<uintptr_t>(address) < end;
    else if (isInside && line.starts_with("VmFlags:"))
      return line.find(" hg") != std::string::npos;
  }
  return false;
}

/// Of what is touched in a small arena's scratch, each part would cost one.
TEST(Memory, HugePagesAreForLargeBuffers) {
  Result<PageBuffer> small = PageBuffer::allocate(8 << 20);
  Result<PageBuffer> large = PageBuffer::allocate(64 << 20);
  ASSERT_TRUE(small.isOk() && large.isOk());
  EXPECT_FALSE(wantsHugePages(small->data()));
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "the system has none";
  EXPECT_TRUE(wantsHugePages(large->data()));
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
