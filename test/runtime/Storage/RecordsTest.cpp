// SPDX-License-Identifier: Apache-2.0
//
// Pools without memory for their own records. A program of its own, because it
// replaces the allocator.

#include "dlc/runtime/Storage/Manager.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <vector>

using namespace dlc::rt;

/// Requests that may fail and have not yet; at 0 each fails. Storage makes its
/// records with this form of new, and tests nothing but storage here.
static size_t requestsUntilFailure = SIZE_MAX;
static size_t requests = 0;

void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  ++requests;
  if (requestsUntilFailure == 0)
    return nullptr;
  --requestsUntilFailure;
  return std::malloc(bytes);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept {
  std::free(memory);
}
void *operator new(size_t bytes) {
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  std::abort();
}

/// Splits a pool into many blocks, so that it needs records; returns how many
/// requests failed. From `point` on, the pool gets no memory for records.
static size_t use(size_t point) {
  auto manager = createPooledManager(Context::cpu(), createHostSource());
  std::vector<Allocation> blocks;
  size_t failures = 0;
  requestsUntilFailure = point;
  for (size_t i = 0; i != 3000; ++i) {
    Result<Allocation> block = manager->allocate(200 + i * 64 % 9000, i % 3);
    if (block.isOk()) {
      static_cast<char *>(block->data())[block->bytes() - 1] = 1;
      blocks.push_back(std::move(*block));
    } else {
      EXPECT_EQ(block.status().code(), StatusCode::OutOfMemory);
      ++failures;
    }
    if (i % 4 == 3 && !blocks.empty())
      blocks.erase(blocks.begin() + long(blocks.size() / 2));
    if (i % 500 == 499)
      manager->trim(); // Gives back what it can without records.
  }
  size_t live = 0;
  for (const Allocation &block : blocks)
    live += block.bytes();
  EXPECT_EQ(manager->statistics().liveBytes, live);
  requestsUntilFailure = SIZE_MAX;
  // And with memory all is well again.
  EXPECT_TRUE(manager->allocate(1'000'000).isOk());
  blocks.clear();
  manager->synchronized(1);
  manager->synchronized(2);
  manager->trim();
  EXPECT_EQ(manager->statistics().reservedBytes, 0u);
  return failures;
}

TEST(Records, MayBeMissingAtEveryPoint) {
  requests = 0;
  EXPECT_EQ(use(SIZE_MAX - 1), 0u);
  size_t all = requests;
  EXPECT_GT(all, 10u);
  for (size_t point = 0; point != all; ++point) {
    size_t failures = use(point);
    if (point == 0)
      EXPECT_EQ(failures, 3000u); // Without any there is no pool.
  }
}
