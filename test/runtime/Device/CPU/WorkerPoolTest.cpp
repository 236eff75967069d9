// SPDX-License-Identifier: Apache-2.0
//
// Every tile once, whoever computes it; idle workers cost nothing.

#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "../../InChild.h"
#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/Device/CPU/Processors.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <gtest/gtest.h>
#include <mutex>
#include <sched.h>
#include <set>
#include <thread>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr uint64_t surelyLarge = UINT64_MAX;

std::unique_ptr<WorkerPool> makePool(unsigned threads, unsigned spin = 50,
                                     unsigned place = 200) {
  auto pool = WorkerPool::create({.threads = threads,
                                  .spinMicroseconds = spin,
                                  .placeMicroseconds = place});
  EXPECT_TRUE(pool.isOk()) << pool.status().message();
  return std::move(*pool);
}

void sleepMilliseconds(int count) {
  std::this_thread::sleep_for(std::chrono::milliseconds(count));
}

/// Processor time of all threads of this process.
double processSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/// Adds one to the count of each tile.
void countTiles(WorkerPool &pool, std::vector<int> &counts, uint64_t cost) {
  pool.parallelFor(int64_t(counts.size()), cost,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i != end; ++i)
                       ++counts[i];
                   });
}

/// Where a number of threads meet, if they come within some milliseconds: one
/// that found no tile any more, since others were faster, never does.
class Meeting {
public:
  explicit Meeting(int expected) : expected(expected) {}

  void attend() {
    if (++inside == expected)
      haveMet = true;
    const uint64_t latest = nowNanoseconds() + 50'000'000;
    while (!haveMet && nowNanoseconds() < latest)
      std::this_thread::yield();
    --inside;
  }
  bool isOver() const { return haveMet; }

private:
  const int expected;
  std::atomic<int> inside = 0;
  std::atomic<bool> haveMet = false;
};

/// Of a loop until something is so that scheduling decides.
class Patience {
public:
  bool isLeft() const { return nowNanoseconds() < end; }

private:
  const uint64_t end = nowNanoseconds() + 20'000'000'000;
};

} // namespace

TEST(WorkerPool, ComputesEachTileOnce) {
  for (unsigned threads : {1, 2, 3, 8}) {
    std::unique_ptr<WorkerPool> pool = makePool(threads);
    EXPECT_EQ(pool->threads(), threads);
    for (size_t tiles : {0, 1, 2, 3, 7, 64, 1000}) {
      std::vector<int> counts(tiles);
      for (int round = 1; round != 40; ++round) {
        countTiles(*pool, counts, round % 3 ? surelyLarge : 10'000);
        ASSERT_EQ(std::ranges::count(counts, round), int64_t(tiles));
      }
    }
  }
}

TEST(WorkerPool, WorkersTakePart) {
  std::unique_ptr<WorkerPool> pool = makePool(2);
  // Both tiles wait for each other: only two threads can finish them.
  std::atomic<int> inside = 0;
  pool->parallelFor(2, surelyLarge, [&](int64_t begin, int64_t end) {
    ASSERT_EQ(end - begin, 1);
    ++inside;
    while (inside != 2)
      std::this_thread::yield();
  });
  EXPECT_EQ(inside, 2);
}

// What MXNet's omp_threading_count_scope asks of OpenMP: a number of threads is
// not changed by another's.
TEST(WorkerPool, EachHasItsOwnThreads) {
  auto use = [](unsigned threads) {
    std::unique_ptr<WorkerPool> pool = makePool(threads);
    for (int round = 0; round != 20; ++round) {
      std::atomic<unsigned> inside = 0; // All tiles wait for each other.
      pool->parallelFor(threads, surelyLarge, [&](int64_t begin, int64_t end) {
        ASSERT_EQ(end - begin, 1);
        ++inside;
        while (inside != threads)
          std::this_thread::yield();
      });
      EXPECT_EQ(pool->threads(), threads);
    }
  };
  std::thread two(use, 2), four(use, 4);
  use(3);
  two.join();
  four.join();
}

TEST(WorkerPool, UnequalTilesEvenOut) {
  std::unique_ptr<WorkerPool> pool = makePool(2);
  // The first tile lasts until all the others are done, which somebody else
  // must do: the caller has not reserved its half of them.
  std::atomic<int> done = 0;
  pool->parallelFor(8, surelyLarge, [&](int64_t begin, int64_t end) {
    if (begin == 0) {
      done += int(end - 1);
      while (done != 7)
        std::this_thread::yield();
      return;
    }
    done += int(end - begin);
  });
  EXPECT_EQ(done, 7);
}

TEST(WorkerPool, SmallWorkStaysOnTheCaller) {
  std::unique_ptr<WorkerPool> pool = makePool(2);
  std::thread::id caller = std::this_thread::get_id();
  int ranges = 0;
  pool->parallelFor(100, WorkerPool::shareAbove - 1, [&](int64_t, int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    ++ranges;
  });
  EXPECT_EQ(ranges, 1);
  // Between the two limits sleeping workers are left asleep.
  sleepMilliseconds(20);
  pool->parallelFor(100, WorkerPool::wakeAbove - 1, [&](int64_t, int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    sleepMilliseconds(1);
  });
}

TEST(WorkerPool, IdleWorkersSleep) {
  std::unique_ptr<WorkerPool> pool = makePool(8);
  std::vector<int> counts(100);
  countTiles(*pool, counts, surelyLarge);
  sleepMilliseconds(50);
  double before = processSeconds();
  sleepMilliseconds(200);
  EXPECT_LT(processSeconds() - before, 0.005);
}

TEST(WorkerPool, SleepingWorkersWakeForLargeWork) {
  std::unique_ptr<WorkerPool> pool = makePool(2, /*spin=*/0);
  for (int round = 0; round != 20; ++round) {
    sleepMilliseconds(1);
    std::atomic<int> inside = 0;
    pool->parallelFor(2, surelyLarge, [&](int64_t, int64_t) {
      ++inside;
      while (inside != 2)
        std::this_thread::yield();
    });
  }
}

TEST(WorkerPool, SleepingWorkersWakeForSmallWorkThatFollowsOn) {
  std::unique_ptr<WorkerPool> pool = makePool(2);
  const std::thread::id caller = std::this_thread::get_id();
  sleepMilliseconds(20);
  std::atomic<bool> hasHelp = false;
  for (Patience patience; !hasHelp && patience.isLeft();)
    pool->parallelFor(2, WorkerPool::wakeAbove - 1, [&](int64_t, int64_t) {
      hasHelp = hasHelp || std::this_thread::get_id() != caller;
      // Meanwhile a worker that is awake takes the other tile.
      for (uint64_t end = nowNanoseconds() + WorkerPool::wakeAbove / 2;
           nowNanoseconds() < end;)
        ;
    });
  EXPECT_TRUE(hasHelp);
}

TEST(WorkerPool, WakesOnDemand) {
  std::unique_ptr<WorkerPool> pool = makePool(2, /*spin=*/50'000);
  sleepMilliseconds(200);
  double before = processSeconds();
  pool->wake(); // The worker spins for 50 ms, or its share of a busy machine.
  sleepMilliseconds(200);
  EXPECT_GT(processSeconds() - before, 0.0005);
}

TEST(WorkerPool, ServesSeveralCallers) {
  std::unique_ptr<WorkerPool> pool = makePool(3);
  std::vector<std::thread> callers;
  for (int caller = 0; caller != 4; ++caller)
    callers.emplace_back([&] {
      std::vector<int> counts(37);
      for (int round = 1; round != 500; ++round) {
        countTiles(*pool, counts, round % 2 ? surelyLarge : 0);
        ASSERT_EQ(std::ranges::count(counts, round), 37);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(WorkerPool, SpreadsWorkersOverCallers) {
  std::unique_ptr<WorkerPool> pool = makePool(4);
  // In each call both tiles wait for each other, and both calls as well: two
  // callers and two workers must be inside at the same time.
  bool haveMet = false;
  for (int round = 0; round != 100 && !haveMet; ++round) {
    Meeting meeting(4);
    auto call = [&] {
      pool->parallelFor(2, surelyLarge, [&](int64_t begin, int64_t end) {
        ASSERT_EQ(end - begin, 1);
        meeting.attend();
      });
    };
    std::thread other(call);
    call();
    other.join();
    haveMet = meeting.isOver();
  }
  EXPECT_TRUE(haveMet);
}

TEST(WorkerPool, CallersCountAsThreads) {
  std::unique_ptr<WorkerPool> pool = makePool(2);
  constexpr int64_t tiles = 64;
  std::atomic<bool> isFirstInside = false, isSecondInside = false,
                    isFirstOver = false;
  std::atomic<int64_t> firstDone = 0;
  std::atomic<int> firstByWorker = 0, secondByWorker = 0;
  std::thread second([&] {
    isFirstInside.wait(false);
    std::thread::id caller = std::this_thread::get_id();
    pool->parallelFor(tiles, surelyLarge, [&](int64_t, int64_t) {
      if (firstDone != tiles) // The first call is not over.
        secondByWorker += std::this_thread::get_id() != caller;
      isSecondInside = true;
      isSecondInside.notify_all();
      isFirstOver.wait(false);
    });
  });
  std::thread::id caller = std::this_thread::get_id();
  pool->parallelFor(tiles, surelyLarge, [&](int64_t begin, int64_t end) {
    isFirstInside = true;
    isFirstInside.notify_all();
    isSecondInside.wait(false);
    firstByWorker += std::this_thread::get_id() != caller;
    firstDone += end - begin;
  });
  isFirstOver = true;
  isFirstOver.notify_all();
  second.join();
  // The piece that the worker had begun before the second caller came.
  EXPECT_LE(firstByWorker, 1);
  EXPECT_EQ(secondByWorker, 0);
}

TEST(WorkerPool, GivesEachThreadTheSameTiles) {
  std::unique_ptr<WorkerPool> pool = makePool(4);
  // All threads are inside before any takes a second piece: then each one's
  // first piece begins its own part.
  for (int round = 0; round != 20; ++round) {
    std::atomic<int> inside = 0;
    std::mutex mutex;
    std::set<std::thread::id> seen;
    std::set<int64_t> begins;
    pool->parallelFor(64, surelyLarge, [&](int64_t begin, int64_t end) {
      {
        std::lock_guard lock(mutex);
        if (!seen.insert(std::this_thread::get_id()).second)
          return;
        begins.insert(begin);
        EXPECT_EQ(end - begin, 8);
      }
      ++inside;
      while (inside != 4)
        std::this_thread::yield();
    });
    EXPECT_EQ(begins, (std::set<int64_t>{0, 16, 32, 48}));
  }
}

TEST(WorkerPool, ComputesMoreTilesThanAWordCounts) {
  std::unique_ptr<WorkerPool> pool = makePool(2);
  constexpr int64_t tiles = (int64_t(1) << 33) + 5;
  std::atomic<int64_t> sum = 0;
  std::atomic<bool> isOutside = false;
  pool->parallelFor(tiles, surelyLarge, [&](int64_t begin, int64_t end) {
    sum += end - begin;
    isOutside = isOutside || begin < 0 || begin >= end || end > tiles;
  });
  EXPECT_EQ(sum, tiles);
  EXPECT_FALSE(isOutside);
}

TEST(WorkerPool, KeepsItsWorkersOnProcessors) {
  unsigned count = usableProcessors();
  auto pool = WorkerPool::create({.threads = 3, .pinsWorkers = true});
  ASSERT_TRUE(pool.isOk()) << pool.status().message();
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> inside = 0;
  (*pool)->parallelFor(3, surelyLarge, [&](int64_t, int64_t) {
    ++inside;
    while (inside != 3)
      std::this_thread::yield();
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    if (std::this_thread::get_id() != caller)
      EXPECT_EQ(CPU_COUNT(&set), 1);
  });
  EXPECT_EQ(usableProcessors(), count); // The caller runs where it did.
}

namespace {

/// Calls the function on a thread that is kept on one processor.
template <typename Function>
void onProcessor(unsigned processor, Function &&function) {
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    function();
  }).join();
}

/// The processors of the worker of a pool of two, which sleeps before it is
/// called from here. Empty where it did not come.
cpu_set_t processorsOfWorker(WorkerPool &pool) {
  const std::thread::id caller = std::this_thread::get_id();
  cpu_set_t processors;
  CPU_ZERO(&processors);
  sleepMilliseconds(15); // Longer than callers are not followed for.
  Meeting meeting(2);
  pool.parallelFor(2, surelyLarge, [&](int64_t, int64_t) {
    meeting.attend();
    if (std::this_thread::get_id() != caller)
      EXPECT_EQ(sched_getaffinity(0, sizeof(processors), &processors), 0);
  });
  return processors;
}

} // namespace

TEST(WorkerPool, WokenWorkersKeepOffTheirCaller) {
  const std::vector<unsigned> allowed = allowedProcessors();
  if (allowed.size() < 2)
    GTEST_SKIP() << "there is one processor";
  std::unique_ptr<WorkerPool> pool = makePool(2, /*spin=*/0);
  for (size_t i : {0, 1, 0})
    onProcessor(allowed[i], [&] {
      bool isOff = false;
      for (Patience patience; !isOff && patience.isLeft();) {
        const cpu_set_t processors = processorsOfWorker(*pool);
        isOff =
            CPU_COUNT(&processors) > 0 && !CPU_ISSET(allowed[i], &processors);
      }
      EXPECT_TRUE(isOff) << "processor " << allowed[i];
    });
}

// Nobody puts a worker where it may not run.
TEST(WorkerPool, WorkersStayWhereTheyMayRun) {
  const std::vector<unsigned> allowed = allowedProcessors();
  if (allowed.size() < 2)
    GTEST_SKIP() << "there is one processor";
  std::unique_ptr<WorkerPool> pool;
  // Workers may run where they are made.
  onProcessor(allowed[1], [&] { pool = makePool(2, /*spin=*/0); });
  for (size_t i : {0, 1, 0, 1})
    onProcessor(allowed[i], [&] {
      for (int round = 0; round != 3; ++round) {
        const cpu_set_t processors = processorsOfWorker(*pool);
        for (unsigned other : allowed)
          EXPECT_FALSE(other != allowed[1] && CPU_ISSET(other, &processors));
      }
    });
}

TEST(WorkerPool, NestedCallsRun) {
  std::unique_ptr<WorkerPool> pool = makePool(3);
  std::atomic<int> total = 0;
  pool->parallelFor(6, surelyLarge, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i != end; ++i)
      pool->parallelFor(5, surelyLarge, [&](int64_t first, int64_t last) {
        total += int(last - first);
      });
  });
  EXPECT_EQ(total, 30);
}

// A thread inside two calls is one thread: with two of them both inner calls of
// a nest have one each, and with four another one.
TEST(WorkerPool, NestedCallsAreNoFurtherThreads) {
  std::unique_ptr<WorkerPool> pool = makePool(4);
  bool haveMet = false;
  for (int round = 0; round != 100 && !haveMet; ++round) {
    Meeting outer(2), inner(4);
    pool->parallelFor(2, surelyLarge, [&](int64_t, int64_t) {
      outer.attend();
      pool->parallelFor(2, surelyLarge, [&](int64_t begin, int64_t end) {
        ASSERT_EQ(end - begin, 1);
        inner.attend();
      });
    });
    haveMet = inner.isOver();
  }
  EXPECT_TRUE(haveMet);
}

TEST(WorkerPool, WorkersComeBackWhenACallerLeaves) {
  std::unique_ptr<WorkerPool> pool = makePool(2, /*spin=*/0, /*place=*/0);
  std::atomic<bool> isFirstInside = false, isSecondInside = false,
                    isFirstOver = false;
  std::atomic<int> together = 0;
  std::thread second([&] {
    isFirstInside.wait(false);
    pool->parallelFor(64, surelyLarge, [&](int64_t, int64_t) {
      isSecondInside = true;
      isSecondInside.notify_all();
      isFirstOver.wait(false);
      ++together; // The caller alone would wait for ever.
      while (together < 2)
        std::this_thread::yield();
    });
  });
  pool->parallelFor(64, surelyLarge, [&](int64_t, int64_t) {
    isFirstInside = true;
    isFirstInside.notify_all();
    isSecondInside.wait(false);
    sleepMilliseconds(2); // The worker, one too many now, falls asleep.
  });
  isFirstOver = true;
  isFirstOver.notify_all();
  second.join();
  EXPECT_GE(together, 2);
}

/// Between its calls, too, a program's thread is one of the pool's.
TEST(WorkerPool, CallersCountBetweenTheirCalls) {
  std::unique_ptr<WorkerPool> pool = makePool(2, /*spin=*/0, /*place=*/0);
  std::atomic<bool> isThere = false, mayLeave = false;
  std::thread second([&] {
    WorkerPool::Caller caller(*pool);
    WorkerPool::Caller nested(*pool);
    isThere = true;
    isThere.notify_all();
    mayLeave.wait(false);
  });
  isThere.wait(false);
  const std::thread::id caller = std::this_thread::get_id();
  for (int i = 0; i != 20; ++i)
    pool->parallelFor(64, surelyLarge, [&](int64_t, int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
    });
  // The worker comes as soon as the other one leaves, within a call.
  std::atomic<int> together = 0;
  pool->parallelFor(64, surelyLarge, [&](int64_t, int64_t) {
    mayLeave = true;
    mayLeave.notify_all();
    ++together; // The caller alone would wait for ever.
    while (together < 2)
      std::this_thread::yield();
  });
  second.join();
  EXPECT_GE(together, 2);
}

/// Runs of another thread, one after the other.
static void runBeside(WorkerPool &pool, int runs) {
  std::thread([&] {
    for (int i = 0; i != runs; ++i)
      WorkerPool::Caller run(pool);
  }).join();
}

/// Calls until a worker takes part, which it does at some time.
static void callUntilShared(WorkerPool &pool) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> isShared = false;
  while (!isShared)
    pool.parallelFor(64, surelyLarge, [&](int64_t, int64_t) {
      isShared = isShared || std::this_thread::get_id() != caller;
      std::this_thread::yield();
    });
}

/// Who has left is expected back, whatever became of others before.
TEST(WorkerPool, PlacesOfCallersAreKept) {
  std::unique_ptr<WorkerPool> pool =
      makePool(2, /*spin=*/0, /*place=*/1'000'000'000);
  const std::thread::id self = std::this_thread::get_id();
  WorkerPool::Caller caller(*pool);
  for (int i = 0; i != 5; ++i) {
    runBeside(*pool, i % 3 + 1);
    pool->wake();
    pool->parallelFor(64, surelyLarge, [&](int64_t, int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      sleepMilliseconds(1); // A worker that was woken would be here.
    });
  }
}

TEST(WorkerPool, PlacesAreNotKeptForEver) {
  std::unique_ptr<WorkerPool> pool = makePool(2, /*spin=*/0, /*place=*/300);
  for (int round = 0; round != 5; ++round) {
    WorkerPool::Caller caller(*pool);
    runBeside(*pool, 3);
    callUntilShared(*pool);
  }
  // A program that runs often does not keep the place of one that is gone.
  {
    WorkerPool::Caller caller(*pool);
    runBeside(*pool, 1);
  }
  callUntilShared(*pool);
}

/// One program at a time, of whichever thread, has all workers at once.
TEST(WorkerPool, ALoneCallerLeavesNoPlace) {
  std::unique_ptr<WorkerPool> pool =
      makePool(2, /*spin=*/0, /*place=*/1'000'000'000);
  for (int round = 0; round != 20; ++round) {
    runBeside(*pool, 2);
    std::atomic<int> inside = 0;
    pool->parallelFor(2, surelyLarge, [&](int64_t, int64_t) {
      ++inside;
      while (inside != 2)
        std::this_thread::yield();
    });
  }
}

TEST(WorkerPool, RunsOnTheCallerOnceClosed) {
  std::unique_ptr<WorkerPool> pool = makePool(4);
  std::vector<int> counts(10);
  countTiles(*pool, counts, surelyLarge);
  pool->close();
  pool->close();
  countTiles(*pool, counts, surelyLarge);
  EXPECT_EQ(std::ranges::count(counts, 2), 10);
}

TEST(WorkerPool, StartsAndStopsOften) {
  for (int round = 0; round != 50; ++round) {
    std::unique_ptr<WorkerPool> pool = makePool(4, round % 2 ? 0 : 50);
    std::vector<int> counts(16);
    if (round % 3)
      countTiles(*pool, counts, surelyLarge);
  }
}

TEST(WorkerPool, RefusesMoreThreadsThanAnyMachineHas) {
  auto pool = WorkerPool::create({.threads = WorkerPool::maxThreads + 1});
  ASSERT_FALSE(pool.isOk());
  EXPECT_EQ(pool.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(pool.status().message(), "expected at most 1024 threads, got 1025");
  pool = WorkerPool::create({.threads = UINT32_MAX});
  ASSERT_FALSE(pool.isOk());
  EXPECT_EQ(pool.status().message(),
            "expected at most 1024 threads, got 4294967295");
}

TEST(WorkerPool, CountsTheProcessorsByDefault) {
  std::unique_ptr<WorkerPool> pool = makePool(0);
  EXPECT_GE(pool->threads(), 1u);
}

TEST(WorkerPool, SaysSinceWhenItsCallerWaits) {
  std::unique_ptr<WorkerPool> pool = makePool(2);
  auto nothing = [](int64_t, int64_t) {};
  uint64_t before = nowNanoseconds(), idleFrom = 0;
  pool->parallelFor(8, surelyLarge, nothing, &idleFrom);
  EXPECT_GE(idleFrom, before);
  EXPECT_LE(idleFrom, nowNanoseconds());
  idleFrom = 7; // Where nobody shares, nobody waits.
  pool->parallelFor(1, surelyLarge, nothing, &idleFrom);
  pool->parallelFor(8, 1, nothing, &idleFrom);
  EXPECT_EQ(idleFrom, 7u);
}

TEST(WorkerPool, AForkComputesAlone) {
  std::unique_ptr<WorkerPool> pool = makePool(3);
  // Idle, and with another thread in the middle of a call.
  for (bool isBusy : {false, true}) {
    std::atomic<bool> isInside = false, isOver = false;
    std::thread other([&] {
      if (isBusy)
        pool->parallelFor(2, surelyLarge, [&](int64_t, int64_t) {
          isInside = true;
          isOver.wait(false);
        });
    });
    while (isBusy && !isInside)
      std::this_thread::yield();
    EXPECT_EQ(inChild([&] {
                if (pool->threads() != 1)
                  return 1;
                std::vector<int> counts(100);
                countTiles(*pool, counts, surelyLarge);
                pool->wake();
                pool.reset(); // Does not wait for who is not there.
                return std::ranges::count(counts, 1) == 100 ? 0 : 2;
              }),
              0);
    isOver = true;
    isOver.notify_all();
    other.join();
  }
  std::vector<int> counts(100);
  countTiles(*pool, counts, surelyLarge);
  EXPECT_EQ(std::ranges::count(counts, 1), 100);
}
