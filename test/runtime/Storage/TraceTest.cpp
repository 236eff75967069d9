// SPDX-License-Identifier: Apache-2.0
//
// A long recorded use by several threads: nothing is lost, nothing overlaps,
// the pool is never much larger than what is live, and it can be emptied.

#include "dlc/runtime/Storage/Manager.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dlc::rt;

namespace {

constexpr unsigned threadCount = 4;
#if defined(DLC_TEST_SANITIZED)
constexpr unsigned allocationsPerThread = 25'000;
#else
constexpr unsigned allocationsPerThread = 250'000;
#endif

/// Bytes of this process in memory.
size_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// A block with its number at both ends, so that an overlap shows.
struct Marked {
  Marked(Allocation memory, uint64_t mark)
      : block(std::move(memory)), mark(mark) {
    first() = mark;
    last() = mark;
  }
  uint64_t &first() const { return *static_cast<uint64_t *>(block.data()); }
  uint64_t &last() const {
    return static_cast<uint64_t *>(block.data())[block.bytes() / 8 - 1];
  }
  bool isIntact() const { return first() == mark && last() == mark; }

  Allocation block;
  uint64_t mark;
};

/// Allocations as a training run with changing batch sizes makes them: in each
/// phase a dozen shapes again and again, between them sizes of any kind, and
/// one block in eight released by another thread.
class Trace {
public:
  explicit Trace(StorageManager &manager) : manager(manager) {}

  void run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i != threadCount; ++i)
      threads.emplace_back([this, i] { runThread(i); });
    for (std::thread &thread : threads)
      thread.join();
    mailbox.clear();
  }

  size_t peakLive() const { return peak; }
  size_t faults() const { return broken; }

private:
  static constexpr double smallest = 6, largest = 20; ///< Powers of two.

  void runThread(unsigned id) {
    std::mt19937_64 random(1000 + id);
    auto anySize = [&] {
      double exponent =
          smallest + (largest - smallest) * double(random() >> 11) * 0x1p-53;
      return size_t(std::exp2(exponent)) & ~size_t(7);
    };
    std::vector<size_t> shapes(12);
    std::vector<Marked> live;
    size_t goal = 0;
    for (unsigned i = 0; i != allocationsPerThread; ++i) {
      if (i % 5000 == 0) { // The next phase.
        for (size_t &shape : shapes)
          shape = anySize();
        goal = 50 + random() % 500;
      }
      size_t bytes = random() % 4 ? shapes[random() % 12] : anySize();
      Result<Allocation> block = manager.allocate(bytes);
      ASSERT_TRUE(block.isOk()) << block.status().message();
      addLive(bytes);
      live.emplace_back(std::move(*block), random());
      while (live.size() > goal || (live.size() > goal / 2 && random() % 2)) {
        std::swap(live[random() % live.size()], live.back());
        release(std::move(live.back()), random() % 8 == 0);
        live.pop_back();
      }
    }
    for (Marked &marked : live)
      release(std::move(marked), false);
  }

  void addLive(size_t bytes) {
    size_t now = liveBytes += bytes, before = peak;
    while (now > before && !peak.compare_exchange_weak(before, now))
      continue;
  }

  /// Releases a block, or swaps it for one that another thread left.
  void release(Marked marked, bool givesAway) {
    broken += !marked.isIntact();
    liveBytes -= marked.block.bytes();
    if (!givesAway)
      return;
    liveBytes += marked.block.bytes();
    std::vector<Marked> old;
    {
      std::lock_guard lock(mutex);
      if (mailbox.size() == threadCount)
        old.swap(mailbox);
      mailbox.push_back(std::move(marked));
    }
    for (const Marked &other : old) {
      broken += !other.isIntact();
      liveBytes -= other.block.bytes();
    }
  }

  StorageManager &manager;
  std::atomic<size_t> liveBytes = 0, peak = 0, broken = 0;
  std::mutex mutex;            ///< Guards `mailbox`.
  std::vector<Marked> mailbox; ///< Blocks that changed their thread.
};

} // namespace

TEST(Trace, EndsEmptyAndStaysSmall) {
  auto manager = createPooledManager(Context::cpu(), createHostSource());
  Trace trace(*manager);
  trace.run();
  EXPECT_EQ(trace.faults(), 0u);
  StorageStatistics statistics = manager->statistics();
  EXPECT_EQ(statistics.liveBytes, 0u);
  EXPECT_EQ(statistics.liveBlocks, 0u);
  EXPECT_EQ(statistics.allocations, threadCount * allocationsPerThread);
  EXPECT_EQ(statistics.failures, 0u);
  double ratio =
      double(statistics.peakReservedBytes) / double(trace.peakLive());
  RecordProperty("ratio", std::to_string(ratio));
#if !defined(DLC_TEST_SANITIZED) // There blocks have red zones.
  EXPECT_LE(ratio, 1.25);
#endif
  manager->trim();
  statistics = manager->statistics();
  EXPECT_EQ(statistics.reservedBytes, 0u);
  EXPECT_EQ(statistics.usedBytes, 0u);
}

TEST(Trace, ReleasedMemoryGoesBackToTheSystem) {
  auto manager = createPooledManager(Context::cpu(), createHostSource());
  constexpr size_t blockBytes = 300'000, count = 300; // 90 MB
  size_t before = residentBytes();
  std::vector<Allocation> blocks;
  for (size_t i = 0; i != count; ++i) {
    blocks.push_back(std::move(*manager->allocate(blockBytes)));
    std::memset(blocks.back().data(), 1, blockBytes);
  }
  size_t full = residentBytes();
  EXPECT_GE(full, before + blockBytes * count * 9 / 10);
  // Two of three, so that the rest is in pieces.
  for (size_t i = 0; i != count; ++i)
    if (i % 3)
      blocks[i].reset();
#if !defined(DLC_TEST_SANITIZED) // Their shadow is memory too.
  EXPECT_GE(residentBytes(), full - blockBytes);
#endif
  manager->trim();
  EXPECT_LE(residentBytes(), full - blockBytes * count * 6 / 10);
  blocks.clear();
  manager->trim();
  EXPECT_LE(residentBytes(), full - blockBytes * count * 9 / 10);
  EXPECT_EQ(manager->statistics().reservedBytes, 0u);
}
