// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/Heap.h"
#include "../../../runtime/Storage/Poison.h"
#include "TestSource.h"
#include "dlc/abi/Tensor.h"
#include "dlc/runtime/Base/Memory.h"

#include <cstring>
#include <random>
#include <set>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

/// A heap over a source that checks it, with 64 KiB granules.
struct TestHeap {
  explicit TestHeap(size_t cap = SIZE_MAX, bool repeats = false)
      : heap(source, cap, repeats) {}

  HeapBlock *allocate(size_t bytes, StreamId stream = 0) {
    HeapBlock *block = heap.allocate(bytes, stream, whyNot);
    if (block)
      unpoison(source, block->start, block->bytes); // As managers do.
    return block;
  }

  SourceState state{.granule = 65536};
  TestSource source{state};
  Heap heap;
  Status whyNot;
};

constexpr size_t granule = 65536;

} // namespace

TEST(HeapBins, FindsTheSmallestThatFits) {
  HeapBins bins;
  std::vector<HeapBlock> blocks(4000);
  std::multiset<size_t> sizes;
  std::mt19937_64 random(1);
  for (HeapBlock &block : blocks) {
    block.bytes = ((random() >> (random() % 50 + 14)) + 1) * 64;
    bins.insert(&block);
    sizes.insert(block.bytes);
  }
  EXPECT_EQ(bins.largest()->bytes, *sizes.rbegin());
  for (int i = 0; i != 20'000; ++i) {
    size_t wanted = ((random() >> (random() % 50 + 14)) + 1) * 64;
    HeapBlock *found = bins.find(wanted);
    auto best = sizes.lower_bound(wanted);
    ASSERT_EQ(found != nullptr, best != sizes.end());
    if (!found)
      continue;
    ASSERT_GE(found->bytes, wanted);
    // Lists are a 32nd of a size wide.
    ASSERT_LE(found->bytes, *best + *best / 8);
  }
  size_t walked = 0, last = 0;
  for (HeapBlock *block = bins.firstOfAtLeast(0); block;
       block = bins.following(block), ++walked) {
    ASSERT_GE(block->bytes + block->bytes / 16, last); // Rises, list by list.
    last = block->bytes;
  }
  EXPECT_EQ(walked, blocks.size());
  for (HeapBlock &block : blocks)
    bins.remove(&block);
  EXPECT_EQ(bins.find(0), nullptr);
  EXPECT_EQ(bins.largest(), nullptr);
}

TEST(Heap, SplitsAndJoins) {
  TestHeap test;
  HeapBlock *a = test.allocate(1000), *b = test.allocate(2000),
            *c = test.allocate(3000);
  ASSERT_TRUE(a && b && c);
  // One after the other, rounded to the alignment.
  EXPECT_EQ(b->start, a->start + 1024);
  EXPECT_EQ(c->start, b->start + 2048);
  EXPECT_TRUE(isAligned(c->start, DLC_ALIGNMENT));
  EXPECT_EQ(test.heap.statistics().usedBytes, 1024u + 2048 + 3008);
  std::byte *start = a->start;
  // In whatever order: the gap joins with both sides.
  test.heap.release(a);
  test.heap.release(c);
  test.heap.release(b);
  HeapStatistics statistics = test.heap.statistics();
  EXPECT_EQ(statistics.usedBytes, 0u);
  EXPECT_EQ(statistics.usedBlocks, 0u);
  EXPECT_EQ(statistics.largestFreeBytes, statistics.committedBytes);
  HeapBlock *whole = test.allocate(6000);
  EXPECT_EQ(whole->start, start);
  EXPECT_EQ(test.heap.statistics().commits, 1u);
  test.heap.release(whole);
}

TEST(Heap, GrowsInPlace) {
  TestHeap test;
  HeapBlock *first = test.allocate(granule), *second = test.allocate(granule);
  std::byte *start = first->start;
  test.heap.release(second);
  // The free granule is the beginning of the larger block.
  HeapBlock *larger = test.allocate(3 * granule);
  EXPECT_EQ(larger->start, start + granule);
  EXPECT_EQ(test.heap.statistics().committedBytes, 4 * granule);
  test.heap.release(first);
  test.heap.release(larger);
}

TEST(Heap, TrimGivesBackAllThatIsFree) {
  TestHeap test;
  HeapBlock *blocks[5];
  for (HeapBlock *&block : blocks)
    block = test.allocate(3 * granule + 64);
  std::memset(blocks[2]->start, 7, 3 * granule + 64);
  test.heap.release(blocks[1]);
  test.heap.release(blocks[3]);
  size_t before = test.state.committedBytes;
  size_t trimmed = test.heap.trim();
  EXPECT_EQ(trimmed, before - test.state.committedBytes);
  EXPECT_LE(test.state.committedBytes, before - 4 * granule);
  EXPECT_EQ(test.heap.statistics().committedBytes, test.state.committedBytes);
  EXPECT_EQ(blocks[2]->start[3 * granule + 63], std::byte(7));
  // The holes are filled again before the heap grows at its end.
  blocks[1] = test.allocate(2 * granule);
  EXPECT_LT(blocks[1]->start, blocks[4]->start);
  for (int i : {0, 1, 2, 4})
    test.heap.release(blocks[i]);
  test.heap.trim();
  EXPECT_EQ(test.state.committedBytes, 0u);
  EXPECT_EQ(test.state.reservedBytes, 0u); // The region went too.
}

TEST(Heap, KeepsNoMoreThanTold) {
  TestHeap test;
  HeapBlock *small = test.allocate(100), *large = test.allocate(10 * granule);
  test.heap.release(large, 20 * granule);
  EXPECT_EQ(test.heap.statistics().decommits, 0u);
  large = test.allocate(10 * granule);
  test.heap.release(large, 5 * granule);
  EXPECT_EQ(test.heap.statistics().committedBytes, granule);
  test.heap.release(small);
}

TEST(Heap, TheCapBoundsWhatIsTaken) {
  TestHeap test(10 * granule + 5); // Not a multiple.
  HeapBlock *half = test.allocate(6 * granule);
  ASSERT_TRUE(half);
  EXPECT_EQ(test.allocate(5 * granule), nullptr);
  EXPECT_EQ(test.whyNot.code(), StatusCode::OutOfMemory);
  HeapBlock *rest = test.allocate(4 * granule);
  ASSERT_TRUE(rest) << test.whyNot.message();
  EXPECT_EQ(test.state.committedBytes, 10 * granule);
  test.heap.release(rest);
  test.heap.release(half);
}

TEST(Heap, SaysWhatTheCapIsUsedFor) {
  TestHeap test(10 * granule);
  auto bytes = [](size_t granules) {
    return std::to_string(granules * granule);
  };
  const std::string cap = "of a limit of " + bytes(10) + " bytes, ";
  HeapBlock *used = test.allocate(2 * granule);
  EXPECT_EQ(test.allocate(9 * granule), nullptr);
  EXPECT_EQ(test.whyNot.message(), cap + bytes(2) + " are in use");
  HeapBlock *other = test.allocate(8 * granule, 3);
  ASSERT_TRUE(other);
  test.heap.release(other);
  EXPECT_EQ(test.allocate(8 * granule, 5), nullptr);
  EXPECT_EQ(test.whyNot.message(),
            cap + bytes(2) + " are in use, " + bytes(8) +
                " free for other streams until those are synchronized (stream "
                "3)");
  test.heap.synchronized(3);
  test.heap.release(used);
}

TEST(Heap, StreamsDoNotShareUntilSynchronized) {
  TestHeap test;
  HeapBlock *one = test.allocate(1000, 1);
  std::byte *start = one->start;
  test.heap.release(one);
  EXPECT_TRUE(test.heap.hasFree(1));
  HeapBlock *two = test.allocate(1000, 2), *host = test.allocate(1000, 0);
  EXPECT_NE(two->start, start);
  EXPECT_NE(host->start, start);
  // Its own stream has it at once.
  HeapBlock *again = test.allocate(900, 1);
  EXPECT_EQ(again->start, start);
  test.heap.release(again);
  test.heap.synchronized(1);
  EXPECT_FALSE(test.heap.hasFree(1));
  HeapBlock *shared = test.allocate(1000, 2);
  EXPECT_EQ(shared->start, start);
  for (HeapBlock *block : {two, host, shared})
    test.heap.release(block);
  test.heap.synchronized(2);
  EXPECT_EQ(test.heap.statistics().largestFreeBytes, granule);
}

TEST(Heap, RefusesWhatCannotBe) {
  TestHeap test;
  for (size_t bytes : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 1, SIZE_MAX / 8})
    EXPECT_EQ(test.allocate(bytes), nullptr);
  EXPECT_EQ(test.whyNot.code(), StatusCode::OutOfMemory);
  HeapBlock *block = test.allocate(1);
  ASSERT_TRUE(block);
  test.heap.release(block);
}

namespace {

/// Blocks filled with a byte each, to see that none overlap.
struct Filled {
  HeapBlock *block;
  unsigned char fill;
  bool isIntact() const {
    for (size_t i = 0; i != block->bytes; i += 64)
      if (block->start[i] != std::byte(fill))
        return false;
    return block->start[block->bytes - 1] == std::byte(fill);
  }
};

} // namespace

/// Random use with trims, streams and, when `failEvery` is not 0, failures.
static void useAtRandom(TestHeap &test, unsigned seed, unsigned failEvery) {
  std::mt19937 random(seed);
  std::vector<Filled> live;
  unsigned failures = 0;
  for (int i = 0; i != 20'000; ++i) {
    test.state.callsUntilFailure =
        failEvery && random() % failEvery == 0 ? random() % 3 : SIZE_MAX;
    unsigned what = random() % 100;
    if (what < 50) {
      size_t bytes = size_t(1) << (random() % 18);
      bytes += random() % bytes;
      HeapBlock *block = test.allocate(bytes, random() % 3);
      failures += !block;
      if (!block)
        continue;
      ASSERT_GE(block->bytes, bytes);
      live.push_back({block, static_cast<unsigned char>(random())});
      std::memset(block->start, live.back().fill, block->bytes);
    } else if (what < 97 && !live.empty()) {
      size_t k = random() % live.size();
      ASSERT_TRUE(live[k].isIntact());
      test.heap.release(live[k].block, what < 60 ? 10 * granule : SIZE_MAX);
      live[k] = live.back();
      live.pop_back();
    } else if (what == 98) {
      test.heap.synchronized(random() % 3);
    } else if (what == 99 && random() % 10 == 0) {
      test.heap.trim();
    }
    HeapStatistics statistics = test.heap.statistics();
    ASSERT_EQ(statistics.usedBlocks, live.size());
    ASSERT_EQ(statistics.committedBytes, test.state.committedBytes);
  }
  EXPECT_EQ(failures != 0, failEvery != 0);
  test.state.callsUntilFailure = SIZE_MAX;
  for (const Filled &filled : live) {
    ASSERT_TRUE(filled.isIntact());
    test.heap.release(filled.block);
  }
  test.heap.synchronized(1);
  test.heap.synchronized(2);
  test.heap.trim();
  EXPECT_EQ(test.state.committedBytes, 0u);
}

TEST(Heap, BlocksNeverOverlap) {
  for (unsigned seed : {1, 2, 3}) {
    TestHeap test;
    useAtRandom(test, seed, 0);
  }
}

TEST(Heap, SurvivesFailuresOfTheSource) {
  for (unsigned seed : {4, 5, 6}) {
    TestHeap test;
    useAtRandom(test, seed, 4);
  }
}

/// As a program does: each value lives while a few later ones are made.
static void useInRounds(TestHeap &test, unsigned rounds) {
  constexpr size_t values = 60, lifetime = 3;
  for (unsigned round = 0; round != rounds; ++round) {
    std::mt19937_64 random(7);
    std::array<HeapBlock *, values> blocks = {};
    for (size_t i = 0; i != values + lifetime; ++i) {
      if (i < values)
        blocks[i] = test.allocate((random() % 40 + 1) * granule);
      if (i >= lifetime)
        test.heap.release(blocks[i - lifetime]);
    }
  }
}

TEST(Heap, LearnsWhatRepeats) {
  auto callsOfLastRounds = [](bool repeats) {
    TestHeap test(SIZE_MAX, repeats);
    useInRounds(test, 50);
    const HeapStatistics before = test.heap.statistics();
    useInRounds(test, 10);
    const HeapStatistics after = test.heap.statistics();
    EXPECT_LE(after.peakCommittedBytes, after.peakUsedBytes * 13 / 8);
    return after.commits + after.decommits - before.commits - before.decommits;
  };
  EXPECT_GT(callsOfLastRounds(false), 0u);
  EXPECT_EQ(callsOfLastRounds(true), 0u);
}

TEST(Heap, AddressesMayBeFew) {
  TestHeap test;
  test.state.regionBytes = size_t(1) << 62; // More than there are.
  HeapBlock *block = test.allocate(granule);
  ASSERT_TRUE(block) << test.whyNot.message();
  EXPECT_LT(test.state.reservedBytes, size_t(1) << 47);
  test.heap.release(block);
}
