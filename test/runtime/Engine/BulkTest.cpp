// SPDX-License-Identifier: Apache-2.0
//
// Bulks: what joins them, what pushes them, and whose they are.

#include "EngineTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

class Bulks : public testing::TestWithParam<EngineOptions> {
protected:
  const Context cpu = Context::cpu();
};

INSTANTIATE_TEST_SUITE_P(, Bulks, testing::ValuesIn(threadedEngines()),
                         [](auto &info) { return engineName(info.param); });

} // namespace

TEST_P(Bulks, AreOneOperation) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 3);
  std::vector<int> order;
  {
    BulkScope bulk(*engine, 10);
    for (int i = 0; i != 25; ++i)
      EXPECT_OK(engine->pushSync([&order, i] { order.push_back(i); }, cpu,
                                 {v[i % 2]}, {v[2]}));
    // A wait of this thread sees all of them.
    EXPECT_OK(engine->waitForVariable(v[2]));
    EXPECT_EQ(order.size(), 25u);
    EXPECT_EQ(engine->statistics().completed, 3u);
    EXPECT_OK(engine->pushSync([&] { order.push_back(25); }, cpu, {}, {v[2]}));
    EXPECT_ERROR(engine->pushSync([] {}, cpu, {v[2]}, {v[2]}), InvalidArgument,
                 "twice");
  }
  EXPECT_OK(engine->waitForAll());
  for (int i = 0; i != 26; ++i)
    EXPECT_EQ(order[i], i);
}

TEST_P(Bulks, EndWithAnError) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  BulkScope bulk(*engine, 10);
  int ran = 0;
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[0]}));
  EXPECT_OK(
      engine->pushSync([] { return makeError(StatusCode::DataLoss, "boom"); },
                       cpu, {}, {v[1]}, {.name = "second"}));
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[1]}));
  EXPECT_ERROR(engine->waitForVariable(v[0]), DataLoss,
               "operation 'bulk': operation 'second': boom");
  EXPECT_EQ(ran, 1);
}

//===----------------------------------------------------------------------===//
// What pushes them
//===----------------------------------------------------------------------===//

TEST_P(Bulks, ArePushedByWhateverIsNotJoined) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  auto op = engine->newOperator([] {}, {}, {v[1]});
  const std::pair<const char *, std::function<void()>> calls[] = {
      {"another context",
       [&] { EXPECT_OK(engine->pushSync([] {}, Context::cpu(1), {}, {})); }},
      {"a priority",
       [&] {
         EXPECT_OK(engine->pushSync([] {}, cpu, {}, {}, {.priority = 1}));
       }},
      {"a property",
       [&] {
         EXPECT_OK(engine->pushSync([] {}, cpu, {}, {},
                                    {.property = OperationProperty::NoSkip}));
       }},
      {"an asynchronous operation",
       [&] {
         EXPECT_OK(engine->pushAsync(
             [](Completion done) { EXPECT_OK(done.complete()); }, cpu, {}, {}));
       }},
      {"an operator", [&] { EXPECT_OK(engine->push(*op, cpu)); }},
      {"a deletion",
       [&] { EXPECT_OK(engine->deleteVariable(*engine->newVariable())); }},
      {"a wait", [&] { EXPECT_OK(engine->waitForVariable(v[0])); }},
      {"a size that is reached",
       [&] { EXPECT_OK(take(engine->setBulkSize(2).status())); }},
  };
  for (auto &[what, call] : calls) {
    SCOPED_TRACE(what);
    BulkScope bulk(*engine, 10);
    int ran = 0;
    for (int i = 0; i != 2; ++i)
      EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[0]}));
    waitElsewhere(*engine);
    EXPECT_EQ(ran, 0);
    call();
    waitElsewhere(*engine);
    EXPECT_EQ(ran, 2);
  }
}

TEST_P(Bulks, ASmallerSizeKeepsWhatFits) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  BulkScope bulk(*engine, 10);
  int ran = 0;
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
  EXPECT_EQ(*engine->setBulkSize(3), 10u);
  waitElsewhere(*engine);
  EXPECT_EQ(ran, 0);
  for (int i = 0; i != 2; ++i)
    EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
  waitElsewhere(*engine);
  EXPECT_EQ(ran, 3);
}

//===----------------------------------------------------------------------===//
// Whose they are
//===----------------------------------------------------------------------===//

TEST_P(Bulks, ScopesNest) {
  auto engine = makeEngine(GetParam());
  {
    BulkScope outer(*engine, 10);
    {
      BulkScope inner(*engine, 4);
      EXPECT_EQ(*engine->setBulkSize(4), 4u);
    }
    EXPECT_EQ(*engine->setBulkSize(10), 10u);
  }
  EXPECT_EQ(*engine->setBulkSize(0), 0u);
}

TEST_P(Bulks, BelongToOneThread) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  BulkScope bulk(*engine, 10);
  int mine = 0, others = 0;
  EXPECT_OK(engine->pushSync([&] { ++mine; }, cpu, {}, {v[0]}));
  std::thread([&] {
    EXPECT_OK(engine->pushSync([&] { ++others; }, cpu, {}, {v[1]}));
    EXPECT_OK(engine->waitForAll());
    EXPECT_EQ(others, 1);
    BulkScope bulk(*engine, 5);
    EXPECT_OK(engine->pushSync([&] { ++others; }, cpu, {}, {v[1]}));
  }).join();
  EXPECT_EQ(*engine->setBulkSize(10), 10u);
  waitElsewhere(*engine);
  EXPECT_EQ(mine, 0);
  EXPECT_EQ(others, 2);
  EXPECT_OK(bulk.end());
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(mine, 1);
}

// The next thread mostly has the stack and the number of one that has ended.
// MXNet's thread_local_test asks whether what belongs to a thread goes with it.
TEST_P(Bulks, AreNotInherited) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  int lost = 0, ran = 0;
  std::thread([&] {
    EXPECT_TRUE(engine->setBulkSize(10).isOk());
    EXPECT_OK(engine->pushSync([&] { ++lost; }, cpu, {}, {v[0]}));
  }).join();
  for (int i = 0; i != 5; ++i)
    std::thread([&] {
      EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[1]}));
    }).join();
  EXPECT_OK(engine->waitForVariable(v[1]));
  EXPECT_EQ(ran, 5);
  EXPECT_OK(engine->close());
  EXPECT_EQ(lost, 0);
}

TEST_P(Bulks, DoNotCollectForOperationsThatTheThreadHelpsWith) {
  EngineOptions options = GetParam();
  auto engine = makeEngine(options);
  std::vector<Variable> v = makeVariables(*engine, 3);
  // Only the waiting thread is free to run what follows.
  Gate gate;
  std::atomic<unsigned> busy = 0;
  for (unsigned i = 0; i != options.cpuWorkers; ++i)
    EXPECT_OK(engine->pushSync(
        [&] {
          ++busy;
          gate.pass();
        },
        cpu, {}, {}));
  until([&] { return busy == options.cpuWorkers; });
  BulkScope bulk(*engine, 10);
  std::thread::id helper;
  bool ran = false;
  EXPECT_OK(engine->pushSync(
      [&] {
        helper = std::this_thread::get_id();
        EXPECT_OK(engine->pushSync([&] { ran = true; }, cpu, {}, {v[1]}));
        // It has a size of its own, if any.
        EXPECT_EQ(*engine->setBulkSize(3), 0u);
        EXPECT_EQ(*engine->setBulkSize(0), 3u);
      },
      cpu, {}, {v[0]}));
  EXPECT_OK(engine->waitForVariable(v[0]));
  EXPECT_EQ(helper, std::this_thread::get_id());
  gate.open();
  waitElsewhere(*engine);
  EXPECT_TRUE(ran);
  EXPECT_EQ(*engine->setBulkSize(10), 10u);
}

TEST_P(Bulks, EndWithTheirOperation) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  int ran = 0;
  for (int i = 0; i != 20; ++i)
    EXPECT_OK(engine->pushSync(
        [&] {
          // That of no other operation of this thread is left over.
          EXPECT_EQ(*engine->setBulkSize(10), 0u);
          for (int i = 0; i != 3; ++i)
            EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
        },
        cpu, {}, {}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(ran, 60);
  EXPECT_EQ(engine->statistics().completed, 40u);
}

//===----------------------------------------------------------------------===//
// What becomes of those that cannot be pushed
//===----------------------------------------------------------------------===//

TEST_P(Bulks, WithADeletedVariableAreRefused) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  auto held = std::make_shared<int>();
  EXPECT_OK(take(engine->setBulkSize(10).status()));
  EXPECT_OK(engine->pushSync([held] { ++*held; }, cpu, {}, {x}));
  std::thread([&] { EXPECT_OK(engine->deleteVariable(x)); }).join();
  EXPECT_ERROR(engine->setBulkSize(0).status(), InvalidArgument,
               "expected a variable of this engine");
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
  EXPECT_OK(engine->waitForAll());
}

TEST_P(Bulks, OfAnOperationThatAreRefusedAreToldOfOnce) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  auto held = std::make_shared<int>();
  std::atomic<bool> isCollected = false;
  Gate gate;
  EXPECT_OK(engine->pushSync(
      [&, held] {
        EXPECT_OK(take(engine->setBulkSize(10).status()));
        EXPECT_OK(
            engine->pushSync([held] { ++*held; }, Context::cpu(), {}, {x}));
        isCollected = true;
        gate.pass();
      },
      Context::null(), {}, {}, {.name = "collect"}));
  until([&] { return isCollected.load(); });
  EXPECT_OK(engine->deleteVariable(x));
  gate.open();
  EXPECT_ERROR(engine->waitForAll(), InvalidArgument, "operation 'collect'");
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}
