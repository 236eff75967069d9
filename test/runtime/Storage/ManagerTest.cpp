// SPDX-License-Identifier: Apache-2.0
//
// What every manager of host memory promises, and what the pool adds.

#include "dlc/runtime/Storage/Manager.h"
#include "TestSource.h"
#include "dlc/abi/Tensor.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/System.h"
#include "dlc/runtime/Storage/Shared.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr Context cpu = Context::cpu();

struct Kind {
  const char *name;
  StorageManagerPtr (*create)();
};

class EveryManager : public testing::TestWithParam<Kind> {
protected:
  StorageManagerPtr manager = GetParam().create();
};

Allocation allocate(StorageManager &manager, size_t bytes,
                    StreamId stream = 0) {
  Result<Allocation> block = manager.allocate(bytes, stream);
  EXPECT_TRUE(block.isOk()) << block.status().message();
  return block.isOk() ? std::move(*block) : Allocation();
}

StorageManagerPtr pooled(SourceState &state, const PoolOptions &options = {}) {
  return createPooledManager(cpu, std::make_unique<TestSource>(state), options);
}

} // namespace

INSTANTIATE_TEST_SUITE_P(
    , EveryManager,
    testing::Values(
        Kind{"Naive",
             [] { return createNaiveManager(cpu, createMallocSource()); }},
        Kind{"NaivePages",
             [] { return createNaiveManager(cpu, createHostSource()); }},
        Kind{"Pooled",
             [] { return createPooledManager(cpu, createHostSource()); }},
        Kind{"Shared",
             [] {
               return StorageManagerPtr(createSharedManager(cpu).release());
             }}),
    [](const auto &info) { return std::string(info.param.name); });

TEST_P(EveryManager, BlocksHoldWhatWasAsked) {
  // Around many boundaries of size classes.
  for (size_t bytes = 0; bytes < 200'000; bytes += bytes < 2'000 ? 7 : 611) {
    Allocation block = allocate(*manager, bytes);
    ASSERT_TRUE(block && isAligned(block.data(), DLC_ALIGNMENT)) << bytes;
    ASSERT_EQ(block.bytes(), bytes);
    ASSERT_EQ(block.context(), cpu);
    std::memset(block.data(), 0xff, bytes); // AddressSanitizer sees an overrun.
    StorageStatistics statistics = manager->statistics();
    ASSERT_EQ(statistics.liveBytes, bytes);
    ASSERT_EQ(statistics.liveBlocks, 1u);
  }
  EXPECT_EQ(manager->statistics().liveBytes, 0u);
}

TEST_P(EveryManager, AnEmptyBlockHasAnAddressOfItsOwn) {
  // Unlike MXNet's null: here null says that there is no block.
  Allocation a = allocate(*manager, 0), b = allocate(*manager, 0);
  EXPECT_TRUE(a && b);
  EXPECT_NE(a.data(), b.data());
}

TEST_P(EveryManager, BlocksMove) {
  Allocation a = allocate(*manager, 100);
  void *start = a.data();
  Allocation b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_EQ(b.data(), start);
  a = std::move(b);
  EXPECT_EQ(a.data(), start);
  a = allocate(*manager, 50); // Releases what it had.
  EXPECT_EQ(manager->statistics().liveBlocks, 1u);
  a.reset();
  a.reset(); // Harmless.
  EXPECT_FALSE(a);
  EXPECT_EQ(manager->statistics().liveBlocks, 0u);
}

TEST_P(EveryManager, BlocksOutliveTheOwner) {
  Allocation small = allocate(*manager, 100);
  Allocation large = allocate(*manager, 1'000'000);
  manager.reset();
  std::memset(small.data(), 1, 100);
  std::memset(large.data(), 1, 1'000'000);
  std::thread([block = std::move(small)] {}).join();
  EXPECT_EQ(large.context(), cpu);
}

TEST_P(EveryManager, SaysWhenThereIsNoMemory) {
  for (size_t bytes : {SIZE_MAX, SIZE_MAX - 100, SIZE_MAX / 2, SIZE_MAX / 4 + 1,
                       SIZE_MAX / 8, size_t(memoryLimit()) + 1}) {
    Result<Allocation> block = manager->allocate(bytes);
    ASSERT_FALSE(block.isOk());
    EXPECT_EQ(block.status().code(), StatusCode::OutOfMemory);
    EXPECT_NE(block.status().message().find("cpu:0"), std::string::npos)
        << block.status().message();
  }
  EXPECT_EQ(manager->statistics().failures, 6u);
  EXPECT_EQ(manager->statistics().liveBytes, 0u);
  EXPECT_EQ(manager->allocate(1, maxStreams).status().code(),
            StatusCode::InvalidArgument);
  allocate(*manager, 100);
}

//===----------------------------------------------------------------------===//
// The pool
//===----------------------------------------------------------------------===//

TEST(Pooled, ReusesWhatWasReleased) {
  // The sizes of MXNet's test of its pool: there 32 and 4,095 bytes share a
  // block since both are rounded to a page. Here sizes of a class do, and
  // larger ones wherever they fit.
  auto manager = createPooledManager(cpu, createHostSource(), {.caches = 1});
  Allocation block = allocate(*manager, 3'900);
  void *start = block.data();
  block.reset();
  block = allocate(*manager, 4'000);
  EXPECT_EQ(block.data(), start);
  block.reset();
  block = allocate(*manager, (size_t(2) << 20) + 1);
  start = block.data();
  block.reset();
  block = allocate(*manager, size_t(2) << 20);
  EXPECT_EQ(block.data(), start);
}

TEST(Pooled, CachedBlocksServeLargerRequestsInNeed) {
  SourceState state{.granule = 65536};
  auto manager = pooled(state, {.byteCap = 65536, .caches = 1});
  std::vector<Allocation> blocks;
  while (manager->statistics().usedBytes < 60'000)
    blocks.push_back(allocate(*manager, 1000));
  blocks.clear(); // Into the cache.
  EXPECT_GT(manager->statistics().usedBytes, 0u);
  Allocation all = allocate(*manager, 65'000);
  EXPECT_EQ(manager->statistics().retries, 1u);
  EXPECT_EQ(manager->statistics().failures, 0u);
}

TEST(Pooled, SaysWhatTheCapIs) {
  SourceState state;
  auto manager = pooled(state, {.byteCap = 1'000'000});
  Allocation half = allocate(*manager, 600'000);
  Result<Allocation> more = manager->allocate(600'000);
  ASSERT_FALSE(more.isOk());
  EXPECT_EQ(more.status().code(), StatusCode::OutOfMemory);
  EXPECT_NE(more.status().message().find(
                "cannot allocate 600000 bytes on cpu:0: of a limit of 1000000"),
            std::string::npos)
      << more.status().message();
  half.reset();
  EXPECT_TRUE(allocate(*manager, 990'000));
  EXPECT_LE(state.committedBytes, 1'000'000u);
}

TEST(Pooled, WhatCanNeverBeHadEmptiesNothing) {
  // Beyond the cap, and beyond what the source ever gives at once.
  SourceState state{.mostBytes = size_t(1) << 40};
  auto manager = pooled(state, {.byteCap = size_t(1) << 50});
  allocate(*manager, 1'000'000).reset();
  size_t committed = state.committedBytes, reserved = state.reservedBytes;
  for (size_t bytes : {(size_t(1) << 50) + 1, (size_t(1) << 40) + 1}) {
    Result<Allocation> block = manager->allocate(bytes);
    ASSERT_FALSE(block.isOk());
    EXPECT_EQ(block.status().code(), StatusCode::OutOfMemory);
    EXPECT_EQ(state.committedBytes, committed);
    EXPECT_EQ(state.reservedBytes, reserved);
  }
  StorageStatistics statistics = manager->statistics();
  EXPECT_EQ(statistics.failures, 2u);
  EXPECT_EQ(statistics.retries, 0u);
}

TEST(Pooled, FailsOnlyAfterReleaseAndRetry) {
  SourceState state;
  auto manager = pooled(state, {.caches = 1});
  allocate(*manager, 100'000).reset();
  state.callsUntilFailure = 0;
  EXPECT_FALSE(manager->allocate(1'000'000).isOk());
  // Once: take, give back (which fails too), take.
  size_t calls = state.calls;
  EXPECT_FALSE(manager->allocate(1'000'000).isOk());
  EXPECT_LE(state.calls - calls, 8u);
  StorageStatistics statistics = manager->statistics();
  EXPECT_EQ(statistics.failures, 2u);
  EXPECT_EQ(statistics.retries, 2u);
  // What it has, it still gives.
  EXPECT_TRUE(allocate(*manager, 90'000));
  state.callsUntilFailure = SIZE_MAX;
  EXPECT_TRUE(allocate(*manager, 1'000'000));
}

/// A program of allocations, releases and trims; returns how many failed.
static size_t useWithFailures(SourceState &state) {
  auto manager = pooled(state, {.caches = 2});
  std::vector<Allocation> blocks;
  size_t failures = 0;
  for (size_t i = 0; i != 60; ++i) {
    Result<Allocation> block =
        manager->allocate(1000 * i * (i % 7), i % 5 == 0);
    if (block.isOk())
      blocks.push_back(std::move(*block));
    else
      ++failures;
    if (i % 3 == 0 && !blocks.empty())
      blocks.erase(blocks.begin());
    if (i % 20 == 19)
      manager->trim();
    size_t live = 0;
    for (const Allocation &block : blocks)
      live += block.bytes();
    EXPECT_EQ(manager->statistics().liveBytes, live);
    EXPECT_EQ(manager->statistics().reservedBytes, state.committedBytes);
  }
  return failures;
}

TEST(Pooled, SurvivesAFailureAtEveryPoint) {
  // Its first, second, ... call of the source fails, alone or with all that
  // follow, until none does.
  for (bool failsOnce : {true, false}) {
    size_t failures = 0, point = 0;
    for (bool hasFailed = true; hasFailed; ++point) {
      SourceState state{.callsUntilFailure = point, .failsOnce = failsOnce};
      failures += useWithFailures(state);
      hasFailed = state.hasFailed;
      ASSERT_EQ(state.committedBytes, 0u);
      ASSERT_LT(point, 10'000u);
    }
    EXPECT_GT(point, 20u);
    // One failure is what the retry is for.
    EXPECT_TRUE(failsOnce ? failures == 0 : failures > 20) << failures;
  }
}

TEST(Pooled, AnotherStreamsMemoryComesAfterItsWork) {
  SourceState state;
  std::vector<StreamId> waited;
  auto manager = pooled(
      state, {.byteCap = 1'000'000, .waitForStream = [&](StreamId stream) {
                waited.push_back(stream);
              }});
  Allocation block = allocate(*manager, 900'000, 3);
  void *start = block.data();
  block.reset();
  block = allocate(*manager, 800'000, 3); // Its own needs no wait.
  EXPECT_EQ(block.data(), start);
  EXPECT_TRUE(waited.empty());
  block.reset();
  block = allocate(*manager, 900'000, 4);
  EXPECT_EQ(waited, std::vector<StreamId>{3});
  block.reset();
  manager->synchronized(4);
  allocate(*manager, 900'000, 5);
  EXPECT_EQ(waited.size(), 1u);
}

namespace {
/// A pool of two streams whose waits take until the test says so.
struct SlowStreams {
  SlowStreams() {
    manager =
        pooled(state, {.byteCap = 1'000'000, .waitForStream = [this](StreamId) {
                         ++waiting;
                         isOver.wait(false);
                       }});
  }
  void awaitWaiters(int count) const {
    while (waiting != count)
      std::this_thread::yield();
  }
  void finish() {
    isOver = true;
    isOver.notify_all();
  }

  SourceState state;
  std::atomic<int> waiting = 0;
  std::atomic<bool> isOver = false;
  StorageManagerPtr manager;
};
} // namespace

// Without the pool's lock: with it these would not end.
TEST(Pooled, OthersAllocateWhileOneWaitsForAStream) {
  SlowStreams streams;
  StorageManager &manager = *streams.manager;
  allocate(manager, 800'000, 3).reset();
  Allocation late = allocate(manager, 100'000, 3);
  std::thread needy([&] { EXPECT_TRUE(allocate(manager, 700'000, 4)); });
  streams.awaitWaiters(1);
  // As the work that is waited for may have to.
  EXPECT_TRUE(allocate(manager, 50'000));
  EXPECT_EQ(manager.statistics().liveBlocks, 1u);
  // What is released during the wait may be in use by work queued after it.
  std::byte *start = static_cast<std::byte *>(late.data());
  late.reset();
  streams.finish();
  needy.join();
  Allocation all[] = {allocate(manager, 100'000, 4),
                      allocate(manager, 590'000, 4)};
  EXPECT_EQ(streams.waiting, 1); // Nobody has waited for it since.
  for (const Allocation &block : all)
    EXPECT_FALSE(block.data() <= start &&
                 start <
                     static_cast<std::byte *>(block.data()) + block.bytes());
}

TEST(Pooled, TwoWaitForOneStream) {
  SlowStreams streams;
  StorageManager &manager = *streams.manager;
  allocate(manager, 900'000, 3).reset();
  std::thread first([&] { EXPECT_TRUE(allocate(manager, 300'000, 4)); });
  streams.awaitWaiters(1);
  // The blocks are with the first, but what it waits for is enough for both.
  std::thread second([&] { EXPECT_TRUE(allocate(manager, 300'000, 5)); });
  streams.awaitWaiters(2);
  streams.finish();
  first.join();
  second.join();
  EXPECT_EQ(manager.statistics().failures, 0u);
}

TEST(Pooled, StatisticsAdd) {
  auto manager = createPooledManager(cpu, createHostSource(), {.caches = 1});
  Allocation a = allocate(*manager, 1'000'000), b = allocate(*manager, 500'000);
  a.reset();
  StorageStatistics statistics = manager->statistics();
  EXPECT_EQ(statistics.liveBytes, 500'000u);
  EXPECT_GE(statistics.peakUsedBytes, 1'500'000u);
  EXPECT_GE(statistics.reservedBytes, statistics.peakUsedBytes);
  EXPECT_EQ(statistics.allocations, 2u);
  EXPECT_GE(statistics.largestFreeBytes, 1'000'000u);
  EXPECT_GE(statistics.fragmentation(), 0.0);
  EXPECT_LT(statistics.fragmentation(), 0.5); // The rest is at the end.
  b.reset();
  EXPECT_EQ(manager->statistics().fragmentation(), 0.0);
  manager->trim();
  manager->resetPeaks();
  statistics = manager->statistics();
  EXPECT_EQ(statistics.reservedBytes, 0u);
  EXPECT_EQ(statistics.peakReservedBytes, 0u);
  EXPECT_EQ(statistics.peakUsedBytes, 0u);
}

//===----------------------------------------------------------------------===//
// Observers
//===----------------------------------------------------------------------===//

namespace {
struct LastFigures final : StorageObserver {
  void onStorage(Context device, uint64_t live, uint64_t reserved) override {
    EXPECT_EQ(device, cpu);
    liveBytes = live;
    reservedBytes = reserved;
    ++calls;
  }
  uint64_t liveBytes = 0, reservedBytes = 0;
  int calls = 0;
};
} // namespace

TEST_P(EveryManager, TellsItsObserver) {
  LastFigures figures;
  Allocation before = allocate(*manager, 1000);
  manager->setObserver(&figures);
  Allocation small = allocate(*manager, 500);
  EXPECT_EQ(figures.liveBytes, 1500u);
  EXPECT_GE(figures.reservedBytes, 1500u);
  Allocation large = allocate(*manager, 1'000'000);
  EXPECT_EQ(figures.liveBytes, 1'001'500u);
  small.reset();
  EXPECT_EQ(figures.liveBytes, 1'001'000u);
  EXPECT_FALSE(manager->allocate(SIZE_MAX).isOk());
  EXPECT_EQ(figures.calls, 3);
  // The last block takes the manager with it.
  manager.reset();
  before.reset();
  large.reset();
  EXPECT_EQ(figures.liveBytes, 0u);
  EXPECT_EQ(figures.calls, 5);
}

namespace {
/// Finds more live bytes than there ever were.
struct MostBytes final : StorageObserver {
  void onStorage(Context, uint64_t live, uint64_t) override {
    mostBytes = std::max(mostBytes, live);
    lastBytes = live;
  }
  uint64_t mostBytes = 0, lastBytes = 0;
};
} // namespace

TEST_P(EveryManager, TellsWhatThreadsHoldTogether) {
  constexpr size_t bytes = 64;
  MostBytes figures;
  manager->setObserver(&figures);
  auto holdOne = [&] {
    for (int i = 0; i != 5000; ++i)
      allocate(*manager, bytes).reset();
  };
  std::thread other(holdOne);
  holdOne();
  other.join();
  EXPECT_LE(figures.mostBytes, 2 * bytes);
  EXPECT_EQ(figures.lastBytes, 0u);
}

TEST_P(EveryManager, TellsNobodyAfterwards) {
  LastFigures figures;
  manager->setObserver(&figures);
  Allocation block = allocate(*manager, 500);
  manager->setObserver(nullptr);
  block.reset();
  EXPECT_EQ(figures.calls, 1);
}

namespace {
/// Counts calls, and those after it was replaced.
struct Replaced final : StorageObserver {
  void onStorage(Context, uint64_t, uint64_t) override {
    ++calls;
    if (isReplaced)
      ++lateCalls;
    std::this_thread::yield(); // So that a late call is likely.
    if (isReplaced)
      ++lateCalls;
  }
  std::atomic<bool> isReplaced = false;
  std::atomic<int> calls = 0, lateCalls = 0;
};
} // namespace

// The one before may end as soon as another one is there: no call of it begins
// or goes on.
TEST_P(EveryManager, TellsNobodyThatWasReplaced) {
  std::atomic<bool> isOver = false;
  std::thread others[2];
  for (std::thread &other : others)
    other = std::thread([&] {
      while (!isOver)
        allocate(*manager, 500).reset();
    });
  std::vector<std::unique_ptr<Replaced>> observers;
  for (int i = 0; i != 50; ++i) {
    observers.push_back(std::make_unique<Replaced>());
    Replaced &observer = *observers.back();
    manager->setObserver(&observer);
    while (!observer.calls)
      std::this_thread::yield();
    manager->setObserver(nullptr);
    observer.isReplaced = true;
  }
  isOver = true;
  for (std::thread &other : others)
    other.join();
  for (const auto &observer : observers)
    EXPECT_EQ(observer->lateCalls, 0);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
TEST(PooledDeathTest, FreeBlocksArePoisoned) {
  auto manager = createPooledManager(cpu, createHostSource(), {.caches = 1});
  for (size_t bytes : {100, 1'000'000}) {
    Allocation block = allocate(*manager, bytes);
    auto *start = static_cast<volatile char *>(block.data());
    EXPECT_DEATH(start[bytes] = 1, "use-after-poison"); // Past the end.
    block.reset();
    EXPECT_DEATH(start[bytes / 2] = 1, "use-after-poison");
    block = allocate(*manager, bytes);
    start[bytes / 2] = 1;
  }
}
#endif
#endif
