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
    EXPECT_EQ(engine->statistics().bulks, 3u);
    EXPECT_EQ(engine->statistics().completed, 25u);
    EXPECT_EQ(*engine->version(v[2]), 25u);
    EXPECT_OK(engine->pushSync([&] { order.push_back(25); }, cpu, {}, {v[2]}));
    EXPECT_ERROR(engine->pushSync([] {}, cpu, {v[2]}, {v[2]}), InvalidArgument,
                 "twice");
  }
  EXPECT_OK(engine->waitForAll());
  for (int i = 0; i != 26; ++i)
    EXPECT_EQ(order[i], i);
}

TEST_P(Bulks, FailOneByOne) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 6);
  auto fail = [] { return makeError(StatusCode::DataLoss, "boom"); };
  EXPECT_OK(engine->pushSync(fail, cpu, {}, {v[4]}, {.name = "before"}));
  std::vector<int> ran;
  auto push = [&](int number, Variable read, Variable written, const char *name,
                  const char *origin = nullptr) {
    EXPECT_OK(engine->pushSync([&ran, number] { ran.push_back(number); }, cpu,
                               {read}, {written},
                               {.name = name, .origin = origin}));
  };
  {
    BulkScope bulk(*engine, 10);
    push(0, v[1], v[0], "first");
    EXPECT_OK(engine->pushSync(fail, cpu, {v[0]}, {v[1]},
                               {.name = "second", .origin = "net: 2"}));
    push(2, v[1], v[2], "third", "net: 3");
    push(3, v[0], v[3], "fourth");
    push(4, v[4], v[5], "fifth");
  }
  EXPECT_OK(engine->stop());
  EXPECT_OK(engine->start());
  EXPECT_EQ(ran, (std::vector{0, 3}));
  EXPECT_EQ(engine->statistics().failed, 2u);
  EXPECT_EQ(engine->statistics().skipped, 2u);
  for (auto [i, version] : {std::pair(0, 1), {1, 1}, {2, 0}, {3, 1}, {5, 0}})
    EXPECT_EQ(*engine->version(v[i]), uint64_t(version)) << i;
  EXPECT_OK(engine->waitForVariable(v[0]));
  EXPECT_OK(engine->waitForVariable(v[3]));
  EXPECT_EQ(engine->waitForVariable(v[2]).message(),
            "operation 'second' (net: 2): boom; skipped because of it: "
            "'third' (net: 3)");
  EXPECT_OK(engine->waitForVariable(v[1])); // Told of once.
  EXPECT_EQ(engine->waitForVariable(v[5]).message(),
            "operation 'before': boom; skipped because of it: 'fifth'");
  EXPECT_OK(engine->waitForAll());
}

// Errors do not travel along resources, in bulks neither.
TEST_P(Bulks, LeaveResourcesClean) {
  auto engine = makeEngine(GetParam());
  Variable space = *engine->newVariable(VariableKind::Resource);
  Variable x = makeVariables(*engine, 1)[0];
  bool ran = false;
  {
    BulkScope bulk(*engine, 2);
    EXPECT_OK(
        engine->pushSync([] { return makeError(StatusCode::DataLoss, "boom"); },
                         cpu, {}, {space}));
    EXPECT_OK(engine->pushSync([&] { ran = true; }, cpu, {}, {space, x}));
  }
  EXPECT_OK(engine->waitForVariable(x));
  EXPECT_TRUE(ran);
  EXPECT_ERROR(engine->waitForAll(), DataLoss, "boom");
}

namespace {
/// The names of what it is told of.
class Names final : public EngineObserver {
public:
  std::vector<std::string> started, finished;

private:
  void onStart(const OperationInfo &operation) override {
    started.push_back(operation.name);
  }
  void onFinish(const OperationInfo &operation, const Status &status) override {
    finished.push_back(operation.name + std::string(status.isOk() ? "" : "!"));
  }
};
} // namespace

TEST_P(Bulks, ShowTheirParts) {
  Names names;
  EngineOptions options = GetParam();
  options.observer = &names;
  auto engine = makeEngine(options);
  std::vector<Variable> v = makeVariables(*engine, 2);
  Gate gate;
  std::atomic<bool> isInside = false;
  {
    BulkScope bulk(*engine, 3);
    EXPECT_OK(
        engine->pushSync([] { return makeError(StatusCode::DataLoss, "boom"); },
                         cpu, {}, {v[0]}, {.name = "a"}));
    EXPECT_OK(engine->pushSync(
        [&] {
          // As it is for this part, whatever the others do.
          EXPECT_TRUE(engine->isWriting(v[1]));
          EXPECT_FALSE(engine->isWriting(v[0]));
          isInside = true;
          gate.pass();
        },
        cpu, {}, {v[1]}, {.name = "b"}));
    EXPECT_NE(engine->dump().find("2 collected"), std::string::npos);
    EXPECT_OK(engine->pushSync([] {}, cpu, {v[0]}, {}, {.name = "c"}));
  }
  until([&] { return isInside.load(); });
  std::string text = engine->dump();
  EXPECT_NE(text.find("operation 'b' in a bulk of 3 #1 on cpu:0: runs"),
            std::string::npos)
      << text;
  gate.open();
  EXPECT_ERROR(engine->waitForAll(), DataLoss, "operation 'a'");
  EXPECT_EQ(names.started, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names.finished, (std::vector<std::string>{"a!", "b"}));
}

namespace {
/// The numbers of what it is told of.
class Numbers final : public EngineObserver {
public:
  std::vector<std::pair<std::string, uint64_t>> started, finished;

private:
  void onStart(const OperationInfo &operation) override {
    started.emplace_back(operation.name, operation.id);
  }
  void onFinish(const OperationInfo &operation, const Status &) override {
    finished.emplace_back(operation.name, operation.id);
  }
};
} // namespace

TEST_P(Bulks, PartsHaveNumbersOfTheirOwn) {
  Numbers numbers;
  EngineOptions options = GetParam();
  options.observer = &numbers;
  auto engine = makeEngine(options);
  Variable x = makeVariables(*engine, 1)[0];
  auto push = [&](const char *name) {
    EXPECT_OK(engine->pushSync([] {}, cpu, {}, {x}, {.name = name}));
  };
  push("first");
  {
    BulkScope bulk(*engine, 100);
    // In several blocks.
    for (int i = 0; i != 100; ++i)
      push("part");
  }
  push("last");
  EXPECT_OK(engine->waitForAll());
  ASSERT_EQ(numbers.started.size(), 102u);
  EXPECT_EQ(numbers.started, numbers.finished);
  for (size_t i = 1; i != 102; ++i)
    EXPECT_GT(numbers.started[i].second, numbers.started[i - 1].second) << i;
}

TEST_P(Bulks, HoldManyVariables) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 1000);
  std::vector<int> sums(1000);
  {
    BulkScope bulk(*engine, 100'000);
    for (int i = 0; i != 3000; ++i)
      EXPECT_OK(engine->pushSync([&sums, i] { ++sums[i % 1000]; }, cpu,
                                 {v[(i + 500) % 1000]}, {v[i % 1000]}));
    // Too many to be joined.
    EXPECT_OK(engine->pushSync([] {}, cpu, v, {}));
    EXPECT_OK(engine->waitForAll());
  }
  EXPECT_EQ(sums, std::vector(1000, 3));
  for (Variable x : v)
    EXPECT_EQ(*engine->version(x), 3u);
  EXPECT_GE(engine->statistics().bulks, 3000u / 256);
  EXPECT_LE(engine->statistics().bulks, 2 * 3000u / 128);
}

TEST_P(Bulks, WaitForTheBudget) {
  EngineOptions options = GetParam();
  options.maxOperations = 16;
  options.maxBytes = 100;
  auto engine = makeEngine(options);
  std::vector<Variable> v = makeVariables(*engine, 2);
  for (uint64_t bytes : {0, 10}) {
    Gate gate;
    EXPECT_OK(engine->pushSync([&] { gate.pass(); }, cpu, {}, {v[0]}));
    std::atomic<unsigned> pushed = 0;
    int ran = 0;
    std::thread pusher([&] {
      BulkScope bulk(*engine, 4);
      for (; pushed != 200; ++pushed)
        EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[0]},
                                   {.bytes = bytes}));
    });
    // 15 bulks; or 2 of 40 bytes.
    unsigned most = bytes ? 8 : 60;
    until([&] { return engine->statistics().inFlight == 1 + most / 4; });
    EXPECT_LE(pushed, most + 4);
    gate.open();
    pusher.join();
    EXPECT_OK(engine->waitForAll());
    EXPECT_EQ(ran, 200);
    EXPECT_EQ(engine->statistics().bytesInFlight, 0u);
  }
}

// What one part waits for must not be another part: that is found out.
TEST_P(Bulks, RefuseWaitsForTheirOwn) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 3);
  BulkScope bulk(*engine, 3);
  EXPECT_OK(engine->pushSync(
      [&] {
        EXPECT_OK(engine->waitForVariable(v[2]));
        EXPECT_ERROR(engine->waitForVariable(v[1]), InvalidArgument,
                     "operation 'wait' in a bulk of 3 would wait for itself");
      },
      cpu, {}, {v[0]}, {.name = "wait"}));
  EXPECT_OK(engine->pushSync([] {}, cpu, {}, {v[1]}));
  EXPECT_OK(engine->pushSync([] {}, cpu, {}, {v[1]}));
  EXPECT_OK(engine->waitForAll());
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

// A scope may end when its engine has: it is over for what comes next.
TEST_P(Bulks, EndOnStoppedAndClosedEngines) {
  auto engine = makeEngine(GetParam());
  int ran = 0;
  Variable x = makeVariables(*engine, 1)[0];
  {
    BulkScope outer(*engine, 10);
    {
      BulkScope inner(*engine, 4);
      EXPECT_OK(engine->stop());
      EXPECT_OK(inner.end());
    }
    EXPECT_OK(engine->start());
    EXPECT_EQ(*engine->setBulkSize(10), 10u);
    EXPECT_OK(engine->stop());
    EXPECT_OK(outer.end());
  }
  EXPECT_OK(engine->start());
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
  waitElsewhere(*engine);
  EXPECT_EQ(ran, 1);
  BulkScope last(*engine, 10);
  EXPECT_OK(engine->close());
  EXPECT_OK(last.end());
}

// A scope that could not begin leaves the one around it alone.
TEST_P(Bulks, BeginOnRunningEnginesAlone) {
  auto engine = makeEngine(GetParam());
  EXPECT_OK(engine->stop());
  EXPECT_ERROR(engine->setBulkSize(10).status(), Unavailable, "stopped");
  {
    BulkScope bulk(*engine, 10);
    EXPECT_OK(engine->start());
    EXPECT_ERROR(bulk.end(), Unavailable, "stopped");
    EXPECT_OK(bulk.end());
  }
  EXPECT_EQ(*engine->setBulkSize(0), 0u);
  EXPECT_OK(engine->close());
  EXPECT_ERROR(engine->setBulkSize(10).status(), Unavailable, "closed");
  EXPECT_EQ(*engine->setBulkSize(0), 0u);
}

namespace {
/// Begins a bulk when its thread ends.
struct LateBulk {
  Engine *engine = nullptr;
  ~LateBulk() {
    if (engine)
      EXPECT_ERROR(engine->setBulkSize(10).status(), Unavailable,
                   "expected a thread that goes on");
  }
};
} // namespace

TEST_P(Bulks, DoNotBeginWhenTheirThreadEnds) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  int ran = 0;
  std::thread([&] {
    // Made before what ends the bulks of the thread: outlives it.
    static thread_local LateBulk late;
    late.engine = engine.get();
    EXPECT_EQ(*engine->setBulkSize(10), 0u);
    EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
  }).join();
  EXPECT_OK(engine->waitForVariable(x));
  EXPECT_EQ(ran, 1);
}

TEST_P(Bulks, BelongToOneThread) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  BulkScope bulk(*engine, 10);
  int mine = 0, others = 0;
  EXPECT_OK(engine->pushSync([&] { ++mine; }, cpu, {}, {v[0]}));
  std::thread([&] {
    EXPECT_OK(engine->pushSync([&] { ++others; }, cpu, {}, {v[1]}));
    EXPECT_OK(engine->waitForVariable(v[1]));
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
// Here it is pushed.
TEST_P(Bulks, AreNotInherited) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  int left = 0, ran = 0;
  std::thread([&] {
    EXPECT_TRUE(engine->setBulkSize(10).isOk());
    EXPECT_OK(engine->pushSync([&] { ++left; }, cpu, {}, {v[0]}));
  }).join();
  waitElsewhere(*engine);
  EXPECT_EQ(left, 1);
  for (int i = 0; i != 5; ++i)
    std::thread([&] {
      EXPECT_EQ(*engine->setBulkSize(0), 0u);
      EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[1]}));
    }).join();
  EXPECT_OK(engine->waitForVariable(v[1]));
  EXPECT_EQ(ran, 5);
  EXPECT_EQ(engine->statistics().bulks, 1u);
}

// The thread ends when the engine has, and another one has its bulk.
TEST_P(Bulks, MayOutliveTheirEngine) {
  auto engine = makeEngine(GetParam());
  std::unique_ptr<Engine> others[3];
  std::atomic<int> ran = 0;
  std::atomic<bool> hasPushed = false;
  Gate gate;
  std::thread thread([&] {
    EXPECT_TRUE(engine->setBulkSize(10).isOk());
    EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {}));
    hasPushed = true;
    gate.pass();
    for (auto &other : others) {
      other = makeEngine(GetParam());
      EXPECT_TRUE(other->setBulkSize(10).isOk());
      EXPECT_OK(other->pushSync([&] { ++ran; }, cpu, {}, {}));
    }
    others[0].reset();
  });
  until([&] { return hasPushed.load(); });
  EXPECT_OK(engine->close());
  EXPECT_EQ(ran, 1);
  engine.reset();
  gate.open();
  thread.join();
  for (int i : {1, 2})
    waitElsewhere(*others[i]);
  EXPECT_EQ(ran, 4);
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
  std::atomic<int> ran = 0;
  for (Variable own : makeVariables(*engine, 20))
    EXPECT_OK(engine->pushSync(
        [&, own] {
          // That of no other operation of this thread is left over.
          EXPECT_EQ(*engine->setBulkSize(10), 0u);
          for (int i = 0; i != 3; ++i)
            EXPECT_OK(
                engine->pushSync([&] { ++ran; }, Context::cpu(), {}, {own}));
        },
        cpu, {}, {}));
  waitElsewhere(*engine); // Which pushes none.
  EXPECT_EQ(ran, 60);
  EXPECT_EQ(engine->statistics().completed, 80u);
  EXPECT_EQ(engine->statistics().bulks, 20u);
}

// What a function holds may push as it goes: for a part that is skipped, and
// for an operator that is deleted.
TEST_P(Bulks, BegunByWhatFunctionsHoldEndWithTheirOperation) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  std::atomic<int> ran = 0;
  auto held = [&] {
    return std::shared_ptr<void>(nullptr, [&](void *) {
      EXPECT_OK(engine->setBulkSize(10).status());
      for (int i = 0; i != 3; ++i)
        EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[1]}));
    });
  };
  auto fail = [] { return makeError(StatusCode::DataLoss, "boom"); };
  {
    BulkScope bulk(*engine, 2);
    EXPECT_OK(engine->pushSync(fail, cpu, {}, {v[0]}));
    EXPECT_OK(engine->pushSync([last = held()] {}, cpu, {}, {v[0]}));
  }
  waitElsewhere(*engine);
  EXPECT_EQ(ran, 3);
  auto shared = engine->newOperator([last = held()] {}, {}, {v[0]});
  ASSERT_TRUE(shared.isOk());
  EXPECT_OK(engine->deleteOperator(*shared));
  waitElsewhere(*engine);
  EXPECT_EQ(ran, 6);
  EXPECT_ERROR(engine->waitForAll(), DataLoss, "boom");
}

TEST_P(Bulks, EndAtTheirBounds) {
  EngineOptions options = GetParam();
  options.maxBytes = 100;
  auto engine = makeEngine(options);
  Variable v = makeVariables(*engine, 1)[0];
  auto push = [&](uint64_t bytes) {
    EXPECT_OK(engine->pushSync([] {}, cpu, {}, {v}, {.bytes = bytes}));
  };
  EXPECT_EQ(*engine->setBulkSize(UINT32_MAX), 0u);
  for (uint64_t bytes : {60, 40, 60, 200, 0})
    push(bytes);
  // 100, 60, and 200 alone, but for what needs none: more than fits at all.
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(engine->statistics().bulks, 3u);
  for (int i = 0; i != 4097; ++i)
    push(0);
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(engine->statistics().bulks, 5u);
  EXPECT_EQ(*engine->setBulkSize(0), 4096u);
}

//===----------------------------------------------------------------------===//
// Nothing is lost, and other threads find the order of pushes
//===----------------------------------------------------------------------===//

namespace {
/// Runs `function` in another thread.
template <typename Function> void elsewhere(Function function) {
  std::thread(function).join();
}
} // namespace

TEST_P(Bulks, ArePushedByOtherThreadsThatCallForThem) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 4);
  auto op = engine->newOperator([] {}, {}, {v[1]});
  int ran = 0, seen = -1;
  auto look = [&] { seen = ran; };
  const std::tuple<const char *, bool, std::function<void()>> calls[] = {
      {"a read of what is written", true,
       [&] { EXPECT_OK(engine->pushSync(look, cpu, {v[0]}, {})); }},
      {"a write of what is read", true,
       [&] { EXPECT_OK(engine->pushSync(look, cpu, {}, {v[1]})); }},
      {"a read of what is read", false,
       [&] { EXPECT_OK(engine->pushSync(look, cpu, {v[1]}, {v[2]})); }},
      {"another variable", false,
       [&] { EXPECT_OK(engine->pushSync(look, cpu, {v[3]}, {v[2]})); }},
      {"a joined write", true,
       [&] {
         BulkScope bulk(*engine, 10);
         EXPECT_OK(engine->pushSync([] {}, cpu, {}, {v[2]}));
         EXPECT_OK(engine->pushSync(look, cpu, {}, {v[0]}));
       }},
      {"an operator", true, [&] { EXPECT_OK(engine->push(*op, cpu)); }},
      {"a wait for it", true,
       [&] { EXPECT_OK(engine->waitForVariable(v[0])); }},
      {"a wait for readers", true,
       [&] { EXPECT_OK(engine->waitForVariable(v[1], VariableUse::Write)); }},
      {"a wait for writers of what is read", false,
       [&] { EXPECT_OK(engine->waitForVariable(v[1])); }},
      {"a wait for another", false,
       [&] { EXPECT_OK(engine->waitForVariable(v[3])); }},
      {"a wait for all", true, [&] { EXPECT_OK(engine->waitForAll()); }},
      {"a deletion of another", false,
       [&] { EXPECT_OK(engine->deleteVariable(*engine->newVariable())); }},
  };
  for (auto &[what, isPushed, call] : calls) {
    SCOPED_TRACE(what);
    BulkScope bulk(*engine, 10);
    ran = 0;
    seen = isPushed ? 2 : 0;
    for (int i = 0; i != 2; ++i)
      EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {v[1]}, {v[0]}));
    elsewhere(call);
    waitElsewhere(*engine);
    EXPECT_EQ(ran, isPushed ? 2 : 0);
    EXPECT_EQ(seen, isPushed ? 2 : 0);
    EXPECT_OK(bulk.end());
    waitElsewhere(*engine);
  }
}

TEST_P(Bulks, ComeBeforeDeletionsOfOtherThreads) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  int ran = 0;
  EXPECT_OK(take(engine->setBulkSize(10).status()));
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[1]}));
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {v[0]}, {}));
  elsewhere([&] {
    EXPECT_OK(engine->deleteVariable([&] { EXPECT_EQ(ran, 2); }, cpu, v[0]));
  });
  EXPECT_ERROR(engine->pushSync([&] { ++ran; }, cpu, {v[0]}, {}),
               InvalidArgument, "deleted");
  EXPECT_OK(take(engine->setBulkSize(0).status()));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(ran, 2);
}

// The bulk of an operation as well.
TEST_P(Bulks, OfAnOperationComeBeforeDeletions) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  std::atomic<bool> isCollected = false;
  int ran = 0;
  Gate gate;
  EXPECT_OK(engine->pushSync(
      [&] {
        EXPECT_OK(take(engine->setBulkSize(10).status()));
        EXPECT_OK(engine->pushSync([&] { ++ran; }, Context::null(), {}, {x}));
        isCollected = true;
        gate.pass();
        EXPECT_ERROR(engine->pushSync([&] { ++ran; }, Context::null(), {}, {x}),
                     InvalidArgument, "deleted");
      },
      Context::null(1), {}, {}));
  until([&] { return isCollected.load(); });
  EXPECT_OK(engine->deleteVariable([&] { EXPECT_EQ(ran, 1); }, cpu, x));
  gate.open();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(ran, 1);
}

TEST_P(Bulks, RunWhenTheEngineEnds) {
  enum End { Stop, Close, Destroy };
  for (End end : {Stop, Close, Destroy})
    for (bool isOwn : {true, false}) {
      SCOPED_TRACE(std::to_string(end) + (isOwn ? " own" : " another's"));
      auto engine = makeEngine(GetParam());
      Variable x = makeVariables(*engine, 1)[0];
      int ran = 0;
      std::atomic<bool> hasPushed = false;
      Gate gate;
      auto push = [&] {
        EXPECT_TRUE(engine->setBulkSize(10).isOk());
        EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
        EXPECT_OK(engine->pushSync(
            [] { return makeError(StatusCode::DataLoss, "boom"); }, cpu, {},
            {x}));
        hasPushed = true;
      };
      std::thread other;
      if (isOwn)
        push();
      else
        other = std::thread([&] {
          push();
          gate.pass();
        });
      until([&] { return hasPushed.load(); });
      if (end == Stop) {
        EXPECT_OK(engine->stop());
        EXPECT_ERROR(engine->pushSync([&] { ++ran; }, cpu, {}, {x}),
                     Unavailable, "stopped");
        EXPECT_OK(engine->start());
        EXPECT_ERROR(engine->waitForVariable(x), DataLoss, "boom");
      } else if (end == Close) {
        EXPECT_ERROR(engine->close(), DataLoss, "boom");
        EXPECT_ERROR(engine->pushSync([&] { ++ran; }, cpu, {}, {x}),
                     Unavailable, "closed");
      } else {
        engine.reset();
      }
      gate.open();
      if (!isOwn)
        other.join();
      EXPECT_EQ(ran, 1);
    }
}

// Threads collect while the engine closes: what was accepted runs.
TEST_P(Bulks, AcceptedOnesRunInRaces) {
  for (int round = 0; round != 30; ++round) {
    auto engine = makeEngine(GetParam());
    std::vector<Variable> v = makeVariables(*engine, 3);
    std::atomic<unsigned> accepted = 0, ran = 0, ready = 0;
    auto push = [&](Variable own) {
      EXPECT_TRUE(engine->setBulkSize(4 + round % 5).isOk());
      ++ready;
      for (;;) {
        Status status = engine->pushSync([&] { ++ran; }, cpu, {}, {own, v[2]});
        if (!status.isOk()) {
          EXPECT_EQ(status.code(), round % 2 ? StatusCode::Unavailable
                                             : StatusCode::InvalidArgument);
          return;
        }
        ++accepted;
      }
    };
    std::thread one(push, v[0]), two(push, v[1]);
    until([&] { return ready == 2 && accepted > unsigned(round); });
    if (round % 2)
      EXPECT_OK(engine->close());
    else
      EXPECT_OK(engine->deleteVariable(v[2]));
    one.join();
    two.join();
    EXPECT_OK(engine->close());
    EXPECT_EQ(ran, accepted);
  }
}
