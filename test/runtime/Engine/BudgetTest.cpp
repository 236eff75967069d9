// SPDX-License-Identifier: Apache-2.0
//
// What engines do when as much is in flight as may be. Nothing here depends on
// how long things take.

#include "EngineTesting.h"

#include <chrono>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

class Budgets : public testing::TestWithParam<EngineOptions> {
protected:
  const Context cpu = Context::cpu();
};

INSTANTIATE_TEST_SUITE_P(, Budgets, testing::ValuesIn(threadedEngines()),
                         [](auto &info) { return engineName(info.param); });

} // namespace

TEST_P(Budgets, PushesWaitForTheBudgetOfOperations) {
  EngineOptions options = GetParam();
  options.maxOperations = 64;
  auto engine = makeEngine(options);
  Variable x = makeVariables(*engine, 1)[0];
  Gate gate;
  EXPECT_OK(engine->pushSync([&] { gate.pass(); }, cpu, {}, {x}));
  std::atomic<int> pushed = 0;
  std::thread pusher([&] {
    for (; pushed != 1000; ++pushed)
      EXPECT_OK(engine->pushSync(
          [&] { EXPECT_LE(engine->statistics().inFlight, 64u); }, cpu, {},
          {x}));
  });
  until([&] { return engine->statistics().inFlight == 64; });
  EXPECT_LE(pushed, 63); // The last one may not have returned.
  gate.open();
  pusher.join();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(engine->statistics().completed, 1001u);
}

// However small the bulks are that deletions, or other threads, push.
TEST_P(Budgets, BulksWaitForTheBudgetOfOperations) {
  EngineOptions options = GetParam();
  options.maxOperations = 16;
  auto engine = makeEngine(options);
  Variable x = makeVariables(*engine, 1)[0];
  Gate gate;
  EXPECT_OK(engine->pushSync([&] { gate.pass(); }, cpu, {}, {x}));
  std::atomic<int> pushed = 0;
  std::thread pusher([&] {
    BulkScope bulk(*engine, 8);
    for (; pushed != 1000; ++pushed) {
      Variable temporary = makeVariables(*engine, 1)[0];
      // A deletion does not wait.
      EXPECT_OK(engine->pushSync(
          [&] { EXPECT_LE(engine->statistics().inFlight, 20u); }, cpu, {x},
          {temporary}));
      EXPECT_OK(engine->deleteVariable(temporary));
    }
  });
  until([&] { return engine->statistics().inFlight >= 16; });
  gate.open();
  pusher.join();
  EXPECT_OK(engine->waitForAll());
}

TEST_P(Budgets, PushesWaitForTheBudgetOfBytes) {
  EngineOptions options = GetParam();
  options.maxBytes = 1000;
  auto engine = makeEngine(options);
  Variable x = makeVariables(*engine, 1)[0];
  Gate gate;
  EXPECT_OK(engine->pushSync([&] { gate.pass(); }, cpu, {}, {x}));
  std::atomic<int> pushed = 0;
  std::thread pusher([&] {
    for (; pushed != 100; ++pushed)
      EXPECT_OK(engine->pushSync(
          [&] { EXPECT_LE(engine->statistics().bytesInFlight, 1000u); }, cpu,
          {}, {x}, {.bytes = 300}));
  });
  until([&] { return engine->statistics().bytesInFlight == 900; });
  EXPECT_LE(pushed, 3);
  gate.open();
  pusher.join();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(engine->statistics().bytesInFlight, 0u);
  // More than the budget goes alone.
  EXPECT_OK(engine->pushSync([] {}, cpu, {}, {x}, {.bytes = 5000}));
  EXPECT_OK(engine->waitForAll());
}

TEST_P(Budgets, OperationsPushBeyondTheBudget) {
  EngineOptions options = GetParam();
  options.maxOperations = options.queueSlots = 16;
  options.maxBytes = 10;
  auto engine = makeEngine(options);
  Variable x = makeVariables(*engine, 1)[0];
  int ran = 0;
  EXPECT_OK(engine->pushSync(
      [&] {
        for (int i = 0; i != 500; ++i)
          EXPECT_OK(engine->pushSync([&] { ++ran; }, Context::cpu(), {}, {x},
                                     {.bytes = 100}));
        EXPECT_EQ(ran, 0);
      },
      cpu, {}, {x}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(ran, 500);
}

// Pushers are woken for much room at a time. Here no more is made until the
// push for which there is room has returned.
TEST_P(Budgets, APushIntoTheLastPlaceReturns) {
  EngineOptions options = GetParam();
  options.maxOperations = options.queueSlots = 16;
  for (int milliseconds : {0, 1, 3}) {
    auto engine = makeEngine(options);
    Variable x = makeVariables(*engine, 1)[0];
    Gate first, second;
    auto push = [&](const Gate *gate) {
      EXPECT_OK(engine->pushSync([gate] { gate->pass(); }, cpu, {}, {x}));
    };
    push(&first);
    for (int i = 1; i != 16; ++i)
      push(&second);
    std::atomic<bool> isBegun = false;
    std::thread pusher([&] {
      isBegun = true;
      push(&second);
      second.open();
    });
    until([&] { return isBegun.load(); });
    // So that it mostly looks for room, sleeps for much, or for any.
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    first.open();
    pusher.join();
    EXPECT_OK(engine->waitForAll());
    EXPECT_EQ(engine->statistics().completed, 17u);
  }
}
