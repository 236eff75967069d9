// SPDX-License-Identifier: Apache-2.0
//
// Engines in the child of a fork().

#include "../InChild.h"
#include "EngineTesting.h"

#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Engine/TaskGraph.h"

#include <optional>
#include <thread>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::test;

#if defined(__SANITIZE_THREAD__)
#define DLC_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DLC_TEST_TSAN 1
#endif
#endif

namespace {

class ForkedEngine : public testing::TestWithParam<EngineOptions> {
protected:
  const Context cpu = Context::cpu();
};

INSTANTIATE_TEST_SUITE_P(, ForkedEngine, testing::ValuesIn(threadedEngines()),
                         [](auto &info) { return engineName(info.param); });

} // namespace

TEST_P(ForkedEngine, SurvivesAFork) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  Gate gate;
  int ran = 0;
  EXPECT_OK(engine->pushSync([&] { gate.pass(); }, cpu, {}, {x}));
  for (int i = 0; i != 10; ++i)
    EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
  int result = inChild([&] {
    auto isRefused = [](Status status) {
      return status.code() == StatusCode::Unavailable &&
             status.message().find("fork") != std::string::npos;
    };
    if (!isRefused(engine->pushSync([] {}, Context::cpu(), {}, {x})) ||
        !isRefused(engine->waitForAll()) ||
        !isRefused(take(engine->newVariable().status())) ||
        !isRefused(engine->close()))
      return 1;
#if !defined(DLC_TEST_TSAN) // Which ends a child that starts threads.
    if (!engine->start().isOk() ||
        engine->waitForVariable(x).code() != StatusCode::InvalidArgument)
      return 1;
    auto mine = engine->newVariable();
    int count = 0;
    for (int i = 0; i != 100; ++i)
      if (!engine->pushSync([&] { ++count; }, Context::cpu(), {}, {*mine})
               .isOk())
        return 1;
    if (!engine->waitForVariable(*mine).isOk() || count != 100)
      return 1;
#endif
    engine.reset();
    return 0;
  });
  EXPECT_EQ(result, 0);
  gate.open();
  EXPECT_OK(engine->waitForVariable(x));
  EXPECT_EQ(ran, 10);
}

// What a thread has collected stays with the parent.
TEST_P(ForkedEngine, LeavesBulksToTheParent) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  EXPECT_TRUE(engine->setBulkSize(10).isOk());
  int ran = 0;
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
  int result = inChild([&] {
    if (engine->setBulkSize(0).isOk() || engine->waitForAll().isOk())
      return 1;
#if !defined(DLC_TEST_TSAN)
    if (!engine->start().isOk() || *engine->setBulkSize(5) != 0 ||
        !engine->pushSync([&] { ++ran; }, Context::cpu(), {}, {}).isOk() ||
        ran || !engine->waitForAll().isOk() || ran != 1 ||
        !engine->setBulkSize(0).isOk())
      return 1;
#endif
    engine.reset();
    return 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(ran, 0);
  EXPECT_OK(engine->waitForVariable(x));
  EXPECT_EQ(ran, 1);
}

// Not even asked: a thread that is not here may hold its lock.
TEST_P(ForkedEngine, ForgetsBulksOfTheParentsOperations) {
#if !defined(DLC_TEST_TSAN) // Which ends a child that starts threads.
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  std::optional<Completion> kept;
  EXPECT_OK(engine->pushAsync(
      [&](Completion done) {
        kept.emplace(std::move(done));
        EXPECT_OK(kept->complete());
      },
      cpu, {}, {x}));
  EXPECT_OK(engine->waitForAll());
  std::atomic<int> busy = 0;
  std::atomic<bool> isOver = false;
  std::vector<std::thread> others(2);
  for (std::thread &other : others)
    other = std::thread([&] {
      for (++busy; !isOver;)
        EXPECT_FALSE(kept->complete().isOk());
    });
  until([&] { return busy == 2; });
  int failures = 0, ran = 0;
  auto inNewEngine = [&] {
    bool isRight = engine->start().isOk() && engine->setBulkSize(5).isOk() &&
                   engine->waitForAll().isOk() && !ran;
    return isRight ? 0 : 1;
  };
  EXPECT_OK(engine->pushSync(
      [&] {
        EXPECT_TRUE(engine->setBulkSize(10).isOk());
        EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
        for (int i = 0; i != 10 && !failures; ++i)
          failures += inChild(inNewEngine);
      },
      cpu, {}, {}));
  waitElsewhere(*engine); // A wait would push what is collected.
  isOver = true;
  for (std::thread &other : others)
    other.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(ran, 1);
#endif
}

// A completion is the parent's, whether the child starts an engine or not.
TEST_P(ForkedEngine, LeavesCompletionsToTheParent) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  std::optional<Completion> kept;
  std::atomic<bool> isKept = false;
  EXPECT_OK(engine->pushAsync(
      [&](Completion done) {
        kept.emplace(std::move(done));
        isKept = true;
      },
      cpu, {}, {x}));
  until([&] { return isKept.load(); });
  int result = inChild([&] {
    bool isRefused =
        kept->complete().code() == StatusCode::Unavailable &&
        kept->complete(makeError(StatusCode::Internal, "again")).code() ==
            StatusCode::Unavailable;
    kept.reset();
    return isRefused ? 0 : 1;
  });
  EXPECT_EQ(result, 0);
  EXPECT_OK(kept->complete());
  EXPECT_OK(engine->waitForVariable(x));
}

TEST(Naive, LeavesCompletionsToTheParent) {
  auto engine = makeEngine({.kind = EngineKind::Naive});
  Variable x = makeVariables(*engine, 1)[0];
  std::optional<Completion> kept;
  EXPECT_OK(engine->pushAsync(
      [&](Completion done) {
        kept.emplace(std::move(done));
        int result = inChild([&] {
          Status status = kept->complete();
          kept.reset();
          return status.code() == StatusCode::Unavailable ? 0 : 1;
        });
        EXPECT_EQ(result, 0);
        EXPECT_OK(kept->complete());
      },
      Context::cpu(), {}, {x}));
  EXPECT_OK(engine->waitForVariable(x));
}

TEST(Naive, RefusesAfterAFork) {
  auto engine = makeEngine({.kind = EngineKind::Naive});
  Variable x = makeVariables(*engine, 1)[0];
  int result = inChild([&] {
    bool isRight = !engine->pushSync([] {}, Context::cpu(), {}, {x}).isOk() &&
                   engine->start().isOk() && engine->newVariable().isOk() &&
                   engine->waitForAll().isOk();
    return isRight ? 0 : 1;
  });
  EXPECT_EQ(result, 0);
  EXPECT_OK(engine->pushSync([] {}, Context::cpu(), {}, {x}));
}

//===----------------------------------------------------------------------===//
// Pools of workers
//===----------------------------------------------------------------------===//

namespace {

/// Whether all `count` tasks run, of a graph that is one chain.
bool runsTasks(TaskGraphRunner &runner, uint32_t count) {
  uint32_t done = 0;
  Status status = runner.run(
      [](void *done, uint32_t, unsigned) {
        ++*static_cast<uint32_t *>(done);
        return Status::ok();
      },
      &done);
  return status.isOk() && done == count;
}

} // namespace

TEST(ForkedPool, RunsOnItsCaller) {
  std::vector<TaskGraph::Edge> chain;
  for (uint32_t i = 0; i + 1 != 100; ++i)
    chain.push_back({i, i + 1});
  TaskGraph graph =
      std::move(*TaskGraph::create(std::vector<std::string>(100), chain));
  std::unique_ptr<WorkerPool> pool =
      std::move(*WorkerPool::create({.threads = 3}));
  auto runner = std::make_unique<TaskGraphRunner>(graph, pool.get());
  EXPECT_TRUE(runsTasks(*runner, 100));
  auto body = [&] {
    if (!runsTasks(*runner, 100))
      return 1;
    pool->wake();
    runner.reset();
    pool.reset(); // Its threads are not there to be joined.
    return 0;
  };
  EXPECT_EQ(inChild(body), 0);
  EXPECT_TRUE(runsTasks(*runner, 100));
  // While another thread is inside: the child must not wait for it.
  Gate gate;
  std::atomic<bool> isInside = false;
  std::thread other([&] {
    pool->parallelFor(8, UINT64_MAX, [&](int64_t, int64_t) {
      isInside = true;
      gate.pass();
    });
  });
  until([&] { return isInside.load(); });
  EXPECT_EQ(inChild(body), 0);
  gate.open();
  other.join();
  EXPECT_TRUE(runsTasks(*runner, 100));
}
