// SPDX-License-Identifier: Apache-2.0
//
// The threaded engines in trouble: closed while busy, stuck, waiting inside
// operations. Nothing here depends on how long things take.

#include "EngineTesting.h"

#include "dlc/runtime/Base/Wait.h"

#include <mutex>
#include <unistd.h>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

class ThreadedEngine : public testing::TestWithParam<EngineOptions> {
protected:
  const Context cpu = Context::cpu();
};

INSTANTIATE_TEST_SUITE_P(, ThreadedEngine, testing::ValuesIn(threadedEngines()),
                         [](auto &info) { return engineName(info.param); });

} // namespace

//===----------------------------------------------------------------------===//
// Together and alone
//===----------------------------------------------------------------------===//

TEST(Order, ReadersRunTogether) {
  auto engine = makeEngine({.cpuWorkers = 4, .callerHelp = CallerHelp::Never});
  Variable x = makeVariables(*engine, 1)[0];
  // Each waits for the others: only together can they end.
  std::atomic<int> inside = 0;
  for (int i = 0; i != 4; ++i)
    EXPECT_OK(engine->pushSync(
        [&] {
          ++inside;
          until([&] { return inside == 4; });
        },
        Context::cpu(), {x}, {}));
  EXPECT_OK(engine->waitForVariable(x, VariableUse::Write));
}

TEST(Order, WritersRunAlone) {
  auto engine = makeEngine({.cpuWorkers = 4});
  Variable x = makeVariables(*engine, 1)[0];
  std::atomic<int> inside = 0;
  for (int i = 0; i != 1000; ++i)
    EXPECT_OK(engine->pushSync(
        [&, isWriter = i % 3 == 0] {
          int before = isWriter ? inside.fetch_add(100) : inside.fetch_add(1);
          EXPECT_TRUE(isWriter ? before == 0 : before < 100);
          inside.fetch_sub(isWriter ? 100 : 1);
        },
        Context::cpu(), i % 3 ? VariableList({x}) : VariableList(),
        i % 3 ? VariableList() : VariableList({x})));
  EXPECT_OK(engine->waitForAll());
}

TEST_P(ThreadedEngine, AWaitToReadIgnoresReaders) {
  if (GetParam().cpuWorkers < 2)
    GTEST_SKIP() << "one thread is busy with the reader";
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  Gate gate;
  EXPECT_OK(engine->pushSync([] {}, cpu, {}, {x}));
  std::atomic<bool> isReading = false;
  EXPECT_OK(engine->pushSync(
      [&] {
        isReading = true;
        gate.pass();
      },
      cpu, {x}, {}));
  until([&] { return isReading.load(); });
  EXPECT_OK(engine->waitForVariable(x));
  gate.open();
  EXPECT_OK(engine->waitForVariable(x, VariableUse::Write));
}

TEST_P(ThreadedEngine, DeletesWhilePending) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  Gate gate;
  std::vector<int> order;
  EXPECT_OK(engine->pushSync(
      [&] {
        gate.pass();
        order.push_back(1);
      },
      cpu, {}, {x}));
  EXPECT_OK(engine->deleteVariable([&] { order.push_back(2); }, cpu, x));
  EXPECT_ERROR(engine->pushSync([] {}, cpu, {x}, {}), InvalidArgument,
               "deleted");
  EXPECT_EQ(engine->statistics().variables, 1u);
  gate.open();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(engine->statistics().variables, 0u);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// The order of eleven operations in one lane behind a closed gate.
static void expectPriorities(Context context, OperationProperty property,
                             EngineKind kind) {
  auto engine = makeEngine(
      {.kind = kind, .cpuWorkers = 1, .callerHelp = CallerHelp::Never});
  Gate gate;
  std::atomic<bool> isBusy = false;
  std::vector<int> order;
  EXPECT_OK(engine->pushSync(
      [&] {
        isBusy = true;
        gate.pass();
      },
      context, {}, {}, {.property = property}));
  until([&] { return isBusy.load(); });
  for (int i : {0, 3, -2, 5, 3, -7, 0, 9, 100'000, -100'000, 5})
    EXPECT_OK(engine->pushSync([&order, i] { order.push_back(i); }, context, {},
                               {}, {.property = property, .priority = i}));
  gate.open();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(order,
            (std::vector<int>{100'000, 9, 5, 5, 3, 3, 0, 0, -2, -7, -100'000}));
}

TEST(Lanes, PrioritiesCountInEach) {
  using enum OperationProperty;
  expectPriorities(Context::cpu(), Normal, EngineKind::Threaded);
  expectPriorities(Context::cpu(1), Normal, EngineKind::PerDevice);
  expectPriorities(Context::cpu(), CPUPrioritized, EngineKind::PerDevice);
  expectPriorities(Context::null(), Normal, EngineKind::PerDevice);
  expectPriorities(Context::null(), CopyToDevice, EngineKind::PerDevice);
  expectPriorities(Context::null(2), GPUPrioritized, EngineKind::PerDevice);
  expectPriorities(Context::cuda(), CopyFromDevice, EngineKind::PerDevice);
}

TEST(Lanes, DoNotHoldEachOtherUp) {
  auto engine = makeEngine({.cpuWorkers = 1, .callerHelp = CallerHelp::Never});
  // Each waits for all: only in lanes of their own can they end.
  using enum OperationProperty;
  const std::pair<Context, OperationProperty> lanes[] = {
      {Context::cpu(), Normal},          {Context::cpu(), CPUPrioritized},
      {Context::cpu(1), Normal},         {Context::null(), Normal},
      {Context::null(), CopyFromDevice}, {Context::null(), GPUPrioritized},
      {Context::null(1), Normal},        {Context::cuda(), Normal}};
  std::atomic<size_t> inside = 0;
  for (auto [context, property] : lanes)
    EXPECT_OK(engine->pushSync(
        [&] {
          ++inside;
          until([&] { return inside == std::size(lanes); });
        },
        context, {}, {}, {.property = property}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(engine->statistics().threads, std::size(lanes));
}

TEST(Lanes, TooManyDevicesAreRefused) {
  auto engine = makeEngine({.cpuWorkers = 1});
  Status status;
  for (int16_t i = 0; i != 100 && status.isOk(); ++i)
    status = engine->pushSync([] {}, Context::null(i), {}, {});
  EXPECT_ERROR(std::move(status), Unsupported, "at most 64 lanes");
  EXPECT_OK(engine->pushSync([] {}, Context::null(), {}, {}));
  EXPECT_OK(engine->waitForAll());
}

//===----------------------------------------------------------------------===//
// Waiting inside operations
//===----------------------------------------------------------------------===//

TEST_P(ThreadedEngine, WaitsInsideNest) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 20);
  std::function<void(size_t)> push = [&](size_t i) {
    EXPECT_OK(engine->pushSync(
        [&, i] {
          if (i + 1 == v.size())
            return;
          push(i + 1);
          EXPECT_OK(engine->waitForVariable(v[i + 1]));
        },
        Context::cpu(), {}, {v[i]}));
  };
  push(0);
  EXPECT_OK(engine->waitForVariable(v[0]));
  EXPECT_EQ(*engine->version(v[19]), 1u);
}

TEST(WaitsInside, DoNotBuryEachOther) {
  // On one stack `first` would wait below `second`, which waits for it.
  auto engine = makeEngine({.cpuWorkers = 1, .callerHelp = CallerHelp::Never});
  std::vector<Variable> v = makeVariables(*engine, 3);
  Gate gate;
  EXPECT_OK(engine->pushSync(
      [&] {
        gate.pass();
        EXPECT_OK(engine->waitForVariable(v[1]));
      },
      Context::cpu(), {}, {v[0]}, {.name = "first"}));
  EXPECT_OK(engine->pushSync([&] { EXPECT_OK(engine->waitForVariable(v[0])); },
                             Context::cpu(), {}, {v[2]}, {.name = "second"}));
  EXPECT_OK(engine->pushSync([] {}, Context::cpu(), {}, {v[1]}));
  gate.open();
  EXPECT_OK(engine->waitForAll());
}

TEST(WaitsInside, ARingOfWaitsIsRefused) {
  auto engine = makeEngine({.cpuWorkers = 2});
  std::vector<Variable> v = makeVariables(*engine, 2);
  std::atomic<int> inside = 0, refused = 0;
  for (int i = 0; i != 2; ++i)
    EXPECT_OK(engine->pushSync(
        [&, i] {
          ++inside;
          until([&] { return inside == 2; });
          refused += !engine->waitForVariable(v[1 - i]).isOk();
        },
        Context::cpu(), {}, {v[i]}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(refused, 1);
}

TEST(WaitsInside, SparesAreLimited) {
  auto engine = makeEngine(
      {.cpuWorkers = 1, .maxSpareWorkers = 2, .callerHelp = CallerHelp::Never});
  std::vector<Variable> v = makeVariables(*engine, 5);
  Gate gate;
  std::atomic<int> refused = 0, waiting = 0;
  EXPECT_OK(
      engine->pushSync([&] { gate.pass(); }, Context::null(), {}, {v[4]}));
  for (int i = 0; i != 4; ++i)
    EXPECT_OK(engine->pushSync(
        [&] {
          ++waiting;
          Status status = engine->waitForVariable(v[4]);
          refused += status.code() == StatusCode::Unavailable;
        },
        Context::cpu(), {}, {v[i]}));
  until([&] { return refused > 0; });
  gate.open();
  EXPECT_OK(engine->waitForAll());
  EXPECT_GE(refused, 1);
  EXPECT_EQ(waiting, 4);
  EXPECT_LE(engine->statistics().threads, 4u);
}

//===----------------------------------------------------------------------===//
// Closing
//===----------------------------------------------------------------------===//

TEST_P(ThreadedEngine, ClosesWhileBusy) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 4);
  std::atomic<int> accepted = 0, ran = 0, started = 0;
  std::vector<std::thread> pushers;
  for (int thread = 0; thread != 3; ++thread)
    pushers.emplace_back([&, thread] {
      ++started;
      for (;;) {
        Status status = engine->pushSync([&] { ++ran; }, Context::cpu(),
                                         {v[thread]}, {v[3]});
        if (!status.isOk()) {
          EXPECT_EQ(status.code(), StatusCode::Unavailable);
          return;
        }
        ++accepted;
      }
    });
  until([&] { return accepted > 2000; });
  EXPECT_OK(engine->close());
  EXPECT_EQ(ran.load(), int(engine->statistics().completed));
  for (std::thread &pusher : pushers)
    pusher.join();
  EXPECT_EQ(ran, accepted); // Nothing was lost.
  EXPECT_EQ(engine->statistics().threads, 0u);
}

TEST_P(ThreadedEngine, ClosesWhilePushersWaitForRoom) {
  EngineOptions options = GetParam();
  options.maxOperations = 16;
  options.callerHelp = CallerHelp::Never;
  auto engine = makeEngine(options);
  Variable x = makeVariables(*engine, 1)[0];
  Gate gate;
  EXPECT_OK(engine->pushSync([&] { gate.pass(); }, cpu, {}, {x}));
  std::thread pusher([&] {
    Status status;
    while (status.isOk())
      status = engine->pushSync([] {}, Context::cpu(), {}, {x});
    EXPECT_ERROR(std::move(status), Unavailable, "closed");
    gate.open(); // Only then can close() end.
  });
  until([&] { return engine->statistics().inFlight == 16; });
  EXPECT_OK(engine->close());
  pusher.join();
}

TEST_P(ThreadedEngine, CompletionsRaceWithClosing) {
  for (int round = 0; round != 20; ++round) {
    auto engine = makeEngine(GetParam());
    Variable x = makeVariables(*engine, 1)[0];
    std::vector<std::thread> helpers(8);
    for (std::thread &helper : helpers)
      EXPECT_OK(engine->pushAsync(
          [&helper](Completion done) {
            helper = std::thread([done = std::move(done)]() mutable {
              EXPECT_OK(done.complete());
            });
          },
          cpu, {x}, {}));
    EXPECT_OK(engine->close());
    engine.reset();
    for (std::thread &helper : helpers)
      helper.join();
  }
}

//===----------------------------------------------------------------------===//
// Watching
//===----------------------------------------------------------------------===//

namespace {

/// An engine whose watchdog looks every 10 ms, and what it has said.
class Watched {
public:
  explicit Watched(EngineOptions options) {
    options.watchdogMilliseconds = 10;
    options.onStall = [this](const std::string &text) {
      std::lock_guard guard(mutex);
      said += text;
    };
    engine = makeEngine(options);
  }
  std::string report() {
    std::lock_guard guard(mutex);
    return said;
  }

  std::mutex mutex; ///< Guards `said`.
  std::string said;
  std::unique_ptr<Engine> engine;
};

size_t countOf(const std::string &part, const std::string &text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++count;
  return count;
}

} // namespace

// Of a bulk, the part that hangs, whatever the time of the others.
TEST_P(ThreadedEngine, TheWatchdogLooksAtEachPartOfABulk) {
  Watched watched(GetParam());
  Engine &engine = *watched.engine;
  Variable x = makeVariables(engine, 1)[0];
  {
    BulkScope bulk(engine, 2);
    for (auto [name, number] : {std::pair("first", "#0"), {"second", "#1"}})
      EXPECT_OK(engine.pushSync(
          [&watched, name, number] {
            std::string told = std::string("operation '") + name +
                               "' in a bulk of 2 " + number +
                               " on cpu:0 has not returned";
            until([&] { return countOf(told, watched.report()) == 1; });
          },
          Context::cpu(), {}, {x}, {.name = name}));
  }
  EXPECT_OK(engine.waitForAll());
}

TEST_P(ThreadedEngine, TheWatchdogNamesWhatNeverReturns) {
  const std::string stall = "operation 'receive' (net: 12) #0 on null:0 has "
                            "not returned after 10 ms";
  const std::string follower =
      "operation 'add' #1 on cpu:0: waits\n    waits to read variable 0, "
      "written by operation 'receive'";
  // A thread that loses its processor between the pushes is too late for the
  // report: then once more.
  for (bool isWhole = false; !isWhole;) {
    Watched watched(GetParam());
    Engine &engine = *watched.engine;
    std::vector<Variable> v = makeVariables(engine, 2);
    Gate gate;
    EXPECT_OK(engine.pushSync([&] { gate.pass(); }, Context::null(), {}, {v[0]},
                              {.name = "receive", .origin = "net: 12"}));
    EXPECT_OK(engine.pushSync([] {}, cpu, {v[0]}, {v[1]}, {.name = "add"}));
    until([&] { return countOf(stall, watched.report()) != 0; });
    EXPECT_EQ(countOf(follower, engine.dump()), 1u) << engine.dump();
    gate.open();
    EXPECT_OK(engine.waitForAll());
    EXPECT_OK(engine.close());
    // Once, whatever else was slow.
    EXPECT_EQ(countOf(stall, watched.report()), 1u) << watched.report();
    isWhole = countOf(follower, watched.report()) != 0;
  }
}

TEST_P(ThreadedEngine, TheWatchdogNamesWhatNeverCompletes) {
  const std::string stall = "operation 'receive' #0 on null:0 has not ";
  // A thread that loses its processor inside of the function may be told of
  // before the function returns: then once more.
  for (bool isCompletion = false; !isCompletion;) {
    Watched watched(GetParam());
    Engine &engine = *watched.engine;
    Completion kept;
    EXPECT_OK(engine.pushAsync([&](Completion done) { kept = std::move(done); },
                               Context::null(), {}, {}, {.name = "receive"}));
    until([&] { return countOf(stall, watched.report()) != 0; });
    EXPECT_OK(kept.complete());
    EXPECT_OK(engine.close());
    EXPECT_EQ(countOf(stall, watched.report()), 1u) << watched.report();
    isCompletion = countOf(stall + "completed after 10 ms", watched.report());
  }
}

// Nobody asked for the reports: they are for people.
TEST_P(ThreadedEngine, TheWatchdogWritesToStderr) {
  int ends[2], before = dup(STDERR_FILENO);
  ASSERT_EQ(pipe(ends), 0);
  dup2(ends[1], STDERR_FILENO);
  EngineOptions options = GetParam();
  options.watchdogMilliseconds = 10;
  auto engine = makeEngine(options);
  Gate gate;
  EXPECT_OK(
      engine->pushSync([&] { gate.pass(); }, cpu, {}, {}, {.name = "receive"}));
  std::string text(4096, '\0');
  text.resize(size_t(read(ends[0], text.data(), text.size()))); // Waits for it.
  gate.open();
  EXPECT_OK(engine->close());
  dup2(before, STDERR_FILENO);
  for (int file : {ends[0], ends[1], before})
    close(file);
  EXPECT_TRUE(text.starts_with("dlc: operation 'receive' #0 on cpu:0 has not "
                               "returned after 10 ms\n"))
      << text;
  EXPECT_NE(text.find(" engine: 1 in flight"), std::string::npos) << text;
}

// Its operations run in the thread that pushes them.
TEST(Naive, TheWatchdogNamesWhatStalls) {
  Watched watched({.kind = EngineKind::Naive});
  Engine &engine = *watched.engine;
  Gate gate;
  std::thread pusher([&] {
    EXPECT_OK(engine.pushSync([&] { gate.pass(); }, Context::null(), {}, {},
                              {.name = "receive", .origin = "net: 12"}));
  });
  const std::string stall = "operation 'receive' (net: 12) #0 on null:0";
  until([&] { return countOf(stall, watched.report()) != 0; });
  gate.open();
  pusher.join();
  EXPECT_NE(watched.report().find(stall + " has not returned after 10 ms\n"),
            std::string::npos)
      << watched.report();
  EXPECT_NE(watched.report().find(stall + ": runs\n"), std::string::npos);
  Completion kept;
  std::atomic<bool> isKept = false;
  std::thread other([&] {
    EXPECT_OK(engine.pushAsync(
        [&](Completion done) {
          kept = std::move(done);
          isKept = true;
        },
        Context::cpu(), {}, {}, {.name = "send"}));
  });
  const std::string late = "operation 'send' #1 on cpu:0 has not ";
  until([&] { return isKept && countOf(late, watched.report()); });
  EXPECT_OK(kept.complete());
  other.join();
  EXPECT_EQ(countOf(late, watched.report()), 1u) << watched.report();
  EXPECT_OK(engine.close());
  EXPECT_OK(engine.close());
}

TEST_P(ThreadedEngine, IdleThreadsSleep) {
  EngineOptions options = GetParam();
  options.spinMicroseconds = 1;
  options.maxOperations = 16;
  auto engine = makeEngine(options);
  // Also with the budget used up and nothing to run.
  Completion kept;
  std::atomic<bool> isKept = false;
  Variable x = makeVariables(*engine, 1)[0];
  EXPECT_OK(engine->pushAsync(
      [&](Completion done) {
        kept = std::move(done);
        isKept = true;
      },
      cpu, {}, {x}));
  until([&] { return isKept.load(); });
  for (int i = 0; i != 15; ++i)
    EXPECT_OK(engine->pushSync([] {}, cpu, {}, {x}));
  std::thread pusher(
      [&] { EXPECT_OK(engine->pushSync([] {}, Context::cpu(), {}, {x})); });
  // Processor time stands still at some moment, unless somebody spins.
  auto used = [] {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return uint64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  uint64_t before, after;
  do {
    before = used();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    after = used();
  } while (after - before > 2'000'000);
  EXPECT_OK(kept.complete());
  pusher.join();
  EXPECT_OK(engine->waitForAll());
}

TEST_P(ThreadedEngine, ObserversSeeEachOperation) {
  struct Counter : EngineObserver {
    void onStart(const OperationInfo &info) override {
      starts += std::string_view(info.name) == "seen";
    }
    void onFinish(const OperationInfo &, const Status &status) override {
      failures += !status.isOk();
      ++ends;
    }
    std::atomic<int> starts = 0, ends = 0, failures = 0;
  } counter;
  EngineOptions options = GetParam();
  options.observer = &counter;
  auto engine = makeEngine(options);
  Variable x = makeVariables(*engine, 1)[0];
  for (int i = 0; i != 100; ++i)
    EXPECT_OK(engine->pushSync([] {}, cpu, {}, {x}, {.name = "seen"}));
  EXPECT_OK(
      engine->pushSync([] { return makeError(StatusCode::DataLoss, "boom"); },
                       cpu, {}, {x}, {.name = "seen"}));
  EXPECT_OK(engine->pushSync([] {}, cpu, {}, {x}, {.name = "skipped"}));
  EXPECT_ERROR(engine->waitForAll(), DataLoss, "boom");
  EXPECT_EQ(counter.starts, 101);
  EXPECT_EQ(counter.ends, 101);
  EXPECT_EQ(counter.failures, 1);
}

TEST(Options, AreChecked) {
  auto refuse = [](EngineOptions options) {
    EXPECT_ERROR(Engine::create(options).status(), InvalidArgument, "expected");
  };
  refuse({.maxOperations = 15});
  refuse({.queueSlots = 1});
  refuse({.deviceWorkers = 0});
  refuse({.cpuWorkers = 1'000'000});
  refuse({.priorityWorkers = 1025});
  refuse({.deviceWorkers = 1025});
  refuse({.copyWorkers = 1025});
  refuse({.copyWorkers = 0});
  refuse({.kind = EngineKind(9)});
}
