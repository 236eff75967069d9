// SPDX-License-Identifier: Apache-2.0
//
// What every engine does alike: order, versions, refusals, errors, life.

#include "EngineTesting.h"

#include "dlc/runtime/Engine/Profiler.h"

#include <algorithm>
#include <chrono>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

class AnyEngine : public testing::TestWithParam<EngineOptions> {
protected:
  void SetUp() override { engine = makeEngine(GetParam()); }
  std::unique_ptr<Engine> engine;
  const Context cpu = Context::cpu();
};

INSTANTIATE_TEST_SUITE_P(, AnyEngine, testing::ValuesIn(allEngines()),
                         [](auto &info) { return engineName(info.param); });

Status fails(const char *text) {
  return makeError(StatusCode::DataLoss, "%s", text);
}

} // namespace

//===----------------------------------------------------------------------===//
// Order and versions
//===----------------------------------------------------------------------===//

TEST_P(AnyEngine, RunsInOrderAlongAVariable) {
  Variable x = makeVariables(*engine, 1)[0];
  std::vector<int> order;
  for (int i = 0; i != 1000; ++i)
    EXPECT_OK(engine->pushSync([&, i] { order.push_back(i); }, cpu, {}, {x}));
  EXPECT_OK(engine->waitForVariable(x));
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i != 1000; ++i)
    EXPECT_EQ(order[i], i);
}

TEST_P(AnyEngine, CountsCompletedWrites) {
  Variable x = makeVariables(*engine, 1)[0];
  EXPECT_EQ(*engine->version(x), 0u);
  for (int i = 0; i != 10; ++i)
    EXPECT_OK(engine->pushSync([] {}, cpu, {x}, {}));
  EXPECT_OK(engine->waitForVariable(x, VariableUse::Write));
  EXPECT_EQ(*engine->version(x), 0u);
  for (int i = 0; i != 10; ++i)
    EXPECT_OK(engine->pushSync([] {}, cpu, {}, {x}));
  EXPECT_OK(engine->waitForVariable(x));
  EXPECT_EQ(*engine->version(x), 10u);
}

TEST_P(AnyEngine, TellsTheFunctionWhereItRuns) {
  Context where = Context::null(3);
  RunContext seen;
  EXPECT_OK(engine->pushSync([&](const RunContext &run) { seen = run; }, where,
                             {}, {}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(seen.engine, engine.get());
  EXPECT_EQ(seen.context, where);
}

TEST_P(AnyEngine, RunsOperatorsManyTimes) {
  std::vector<Variable> v = makeVariables(*engine, 2);
  int count = 0;
  auto op =
      engine->newOperator([&] { ++count; }, {v[0]}, {v[1]}, {.name = "count"});
  ASSERT_TRUE(op.isOk());
  for (int i = 0; i != 100; ++i)
    EXPECT_OK(engine->push(*op, cpu));
  EXPECT_OK(engine->waitForVariable(v[1]));
  EXPECT_EQ(count, 100);
  EXPECT_OK(engine->push(*op, cpu));
  EXPECT_OK(engine->deleteOperator(*op));
  EXPECT_ERROR(engine->push(*op, cpu), InvalidArgument, "operator");
  EXPECT_ERROR(engine->deleteOperator(*op), InvalidArgument, "operator");
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(count, 101);
  EXPECT_EQ(engine->statistics().operators, 0u);
}

TEST_P(AnyEngine, DestroysWhatFunctionsHold) {
  auto held = std::make_shared<int>(5);
  Variable x = makeVariables(*engine, 1)[0];
  EXPECT_OK(engine->pushSync([held] {}, cpu, {}, {x}));
  EXPECT_OK(engine->pushSync([held] { return fails("boom"); }, cpu, {}, {x}));
  EXPECT_OK(engine->pushSync([held] {}, cpu, {}, {x})); // Is skipped.
  EXPECT_ERROR(engine->pushSync([held] {}, cpu, {x}, {x}), InvalidArgument,
               "twice");
  auto op = engine->newOperator([held] {}, {}, {x});
  EXPECT_OK(engine->push(*op, cpu));
  EXPECT_OK(engine->deleteOperator(*op));
  EXPECT_OK(engine->deleteVariable([held] {}, cpu, x));
  EXPECT_ERROR(engine->waitForAll(), DataLoss, "boom");
  EXPECT_EQ(held.use_count(), 1);
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

// Lists are compared in other ways as they get longer.
TEST_P(AnyEngine, RefusesDuplicatesInListsOfAnyLength) {
  for (size_t length : {2, 63, 64, 65, 255, 256, 257, 5000}) {
    std::vector<Variable> v = makeVariables(*engine, length);
    std::ranges::reverse(v);
    VariableList first(v.data(), length / 2);
    VariableList second(v.data() + length / 2, length - length / 2);
    EXPECT_OK(engine->pushSync([] {}, Context::cpu(), first, second));
    for (auto [from, to] : {std::pair<size_t, size_t>(0, length - 1),
                            {length - 1, 0},
                            {length / 2, length / 2 - 1}}) {
      SCOPED_TRACE(std::to_string(length) + ": " + std::to_string(to));
      Variable before = std::exchange(v[to], v[from]);
      std::string text = "variable " + std::to_string(v[from].index) + " twice";
      EXPECT_ERROR(engine->pushSync([] {}, Context::cpu(), first, second),
                   InvalidArgument, text);
      EXPECT_ERROR(engine->newOperator([] {}, first, second).status(),
                   InvalidArgument, text);
      v[to] = before;
    }
    EXPECT_OK(engine->deleteVariable(v[0]));
    EXPECT_ERROR(engine->pushSync([] {}, Context::cpu(), first, second),
                 InvalidArgument, "deleted");
  }
  EXPECT_OK(engine->waitForAll());
}

TEST_P(AnyEngine, RefusesDuplicates) {
  std::vector<Variable> v = makeVariables(*engine, 600);
  auto nothing = [] {};
  EXPECT_ERROR(engine->pushSync(nothing, cpu, {v[0], v[0]}, {}),
               InvalidArgument, "twice");
  EXPECT_ERROR(engine->pushSync(nothing, cpu, {}, {v[1], v[2], v[1]}),
               InvalidArgument, "twice");
  EXPECT_ERROR(engine->pushSync(nothing, cpu, {v[0], v[1]}, {v[2], v[1]}),
               InvalidArgument, "variable 1 twice");
  EXPECT_ERROR(engine->newOperator(nothing, {v[0]}, {v[0]}).status(),
               InvalidArgument, "twice");
  // Indices that differ by a multiple of 256 are no duplicates.
  EXPECT_OK(engine->pushSync(nothing, cpu, {v[0], v[256]}, {v[512]}));
  EXPECT_OK(engine->pushSync(nothing, cpu, {}, v));
  v.push_back(v[300]);
  EXPECT_ERROR(engine->pushSync(nothing, cpu, v, {}), InvalidArgument, "twice");
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(engine->statistics().completed, 2u);
}

TEST_P(AnyEngine, RefusesHandlesThatAreNotItsOwn) {
  auto other = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  Variable foreign = makeVariables(*other, 1)[0];
  auto nothing = [] {};
  EXPECT_EQ(x.index, foreign.index);
  EXPECT_ERROR(engine->pushSync(nothing, cpu, {foreign}, {}), InvalidArgument,
               "belongs to another");
  EXPECT_ERROR(engine->pushSync(nothing, cpu, {Variable()}, {}),
               InvalidArgument, "null");
  EXPECT_ERROR(engine->waitForVariable(foreign), InvalidArgument, "another");
  EXPECT_ERROR(engine->version(foreign).status(), InvalidArgument, "another");
  EXPECT_ERROR(engine->deleteVariable(foreign), InvalidArgument, "another");
  Variable wild = {4'000'000, 77};
  EXPECT_ERROR(engine->deleteVariable(wild), InvalidArgument, "another");
  wild.index = UINT32_MAX;
  EXPECT_ERROR(engine->deleteVariable(wild), InvalidArgument, "another");
  EXPECT_ERROR(engine->push(Operator(), cpu), InvalidArgument, "null");
  Context nowhere = {DeviceKind(17), -1};
  EXPECT_ERROR(engine->pushSync(nothing, nowhere, {x}, {}), InvalidArgument,
               "device");
  EXPECT_OK(engine->deleteVariable(x));
  EXPECT_ERROR(engine->deleteVariable(x), InvalidArgument, "deleted");
  EXPECT_ERROR(engine->pushSync(nothing, cpu, {}, {x}), InvalidArgument,
               "deleted");
  EXPECT_OK(engine->waitForAll());
  Variable again = makeVariables(*engine, 1)[0];
  EXPECT_EQ(again.index, x.index);
  EXPECT_ERROR(engine->waitForVariable(x), InvalidArgument, "deleted");
}

TEST_P(AnyEngine, RefusesOperatorsWhoseVariablesWent) {
  Variable x = makeVariables(*engine, 1)[0];
  auto op = engine->newOperator([] {}, {}, {x});
  EXPECT_OK(engine->deleteVariable(x));
  EXPECT_OK(engine->waitForAll());
  makeVariables(*engine, 1);
  EXPECT_ERROR(engine->push(*op, cpu), InvalidArgument, "deleted");
}

//===----------------------------------------------------------------------===//
// Deleting
//===----------------------------------------------------------------------===//

TEST_P(AnyEngine, DeletesAVariableAfterItsLastUser) {
  Variable x = makeVariables(*engine, 1)[0];
  std::vector<int> order;
  EXPECT_OK(engine->pushSync([&] { order.push_back(1); }, cpu, {}, {x}));
  EXPECT_OK(engine->deleteVariable([&] { order.push_back(2); }, cpu, x));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(engine->statistics().variables, 0u);
}

TEST_P(AnyEngine, DeletesAfterErrorsToo) {
  Variable x = makeVariables(*engine, 1)[0];
  bool isDeleted = false;
  EXPECT_OK(engine->pushSync([] { return fails("boom"); }, cpu, {}, {x}));
  EXPECT_OK(engine->deleteVariable([&] { isDeleted = true; }, cpu, x));
  EXPECT_ERROR(engine->waitForAll(), DataLoss, "boom");
  EXPECT_TRUE(isDeleted);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_P(AnyEngine, ErrorsTravelAlongVariables) {
  std::vector<Variable> v = makeVariables(*engine, 4);
  int ran = 0;
  EXPECT_OK(engine->pushSync([] { return fails("no such weight"); }, cpu, {},
                             {v[0]}, {.name = "load", .origin = "net: 7"}));
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {v[0]}, {v[1]},
                             {.name = "conv", .origin = "net: 8"}));
  EXPECT_OK(
      engine->pushSync([&] { ++ran; }, cpu, {v[1]}, {v[2]}, {.name = "relu"}));
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[3]}));
  EXPECT_OK(engine->waitForVariable(v[3]));
  EXPECT_EQ(ran, 1);
  Status status = engine->waitForVariable(v[2]);
  EXPECT_EQ(status.code(), StatusCode::DataLoss);
  EXPECT_EQ(status.message(),
            "operation 'load' (net: 7): no such weight; skipped because of it: "
            "'conv' (net: 8), 'relu'");
  // Delivered once; then all is usable again.
  for (Variable x : v)
    EXPECT_OK(engine->waitForVariable(x));
  EXPECT_OK(engine->waitForAll());
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {v[0]}, {v[2]}));
  EXPECT_OK(engine->waitForVariable(v[2]));
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(*engine->version(v[0]), 1u);
  EXPECT_EQ(*engine->version(v[1]), 0u);
  EXPECT_EQ(*engine->version(v[2]), 1u);
  EngineStatistics numbers = engine->statistics();
  EXPECT_EQ(numbers.failed, 1u);
  EXPECT_EQ(numbers.skipped, 2u);
}

TEST_P(AnyEngine, ErrorsTellOfSkippedOperationsWithoutNames) {
  std::vector<Variable> v = makeVariables(*engine, 2);
  EXPECT_OK(engine->pushSync([] { return fails("no such weight"); }, cpu, {},
                             {v[0]}, {.name = "load"}));
  EXPECT_OK(engine->pushSync([] { ADD_FAILURE(); }, cpu, {v[0]}, {v[1]}));
  EXPECT_EQ(engine->waitForVariable(v[1]).message(),
            "operation 'load': no such weight; skipped because of it: one "
            "without name");
}

TEST_P(AnyEngine, WaitForAllGivesTheFirstErrorAndCountsTheRest) {
  std::vector<Variable> v = makeVariables(*engine, 3);
  for (int i = 0; i != 3; ++i)
    EXPECT_OK(engine->pushSync([] { return fails("boom"); }, cpu, {}, {v[i]}));
  EXPECT_ERROR(engine->waitForAll(), DataLoss, "and 2 more errors");
  EXPECT_OK(engine->waitForAll());
  EXPECT_OK(engine->waitForVariable(v[1]));
}

TEST_P(AnyEngine, ALongChainKeepsAShortText) {
  Variable x = makeVariables(*engine, 1)[0];
  EXPECT_OK(engine->pushSync([] { return fails("boom"); }, cpu, {}, {x}));
  for (int i = 0; i != 5000; ++i)
    EXPECT_OK(engine->pushSync([] {}, cpu, {}, {x}, {.name = "next"}));
  Status status = engine->waitForVariable(x);
  EXPECT_NE(status.message().find("'next' and more"), std::string::npos);
  EXPECT_LT(status.message().size(), 300u);
}

TEST_P(AnyEngine, OperatorsStartClean) {
  Variable x = makeVariables(*engine, 1)[0];
  int calls = 0;
  auto op = engine->newOperator(
      [&] { return ++calls == 1 ? fails("first") : Status::ok(); }, {}, {x});
  EXPECT_OK(engine->push(*op, cpu));
  EXPECT_ERROR(engine->waitForVariable(x), DataLoss, "first");
  EXPECT_OK(engine->push(*op, cpu));
  EXPECT_OK(engine->waitForVariable(x));
  EXPECT_EQ(calls, 2);
}

TEST_P(AnyEngine, SomePropertiesRunOnPoison) {
  using enum OperationProperty;
  for (auto [property, runs] : {std::pair(Normal, 0),
                                {CopyFromDevice, 0},
                                {CopyToDevice, 0},
                                {CPUPrioritized, 0},
                                {GPUPrioritized, 0},
                                {Async, 0},
                                {DeleteVariable, 1},
                                {NoSkip, 1}}) {
    SCOPED_TRACE(int(property));
    Variable x = makeVariables(*engine, 1)[0];
    int ran = 0;
    EXPECT_OK(engine->pushSync([] { return fails("boom"); }, cpu, {}, {x}));
    EXPECT_OK(
        engine->pushSync([&] { ++ran; }, cpu, {}, {x}, {.property = property}));
    EXPECT_ERROR(engine->waitForVariable(x), DataLoss, "boom");
    EXPECT_EQ(ran, runs);
    // The property ends nothing by itself.
    EXPECT_OK(
        engine->pushSync([&] { ++ran; }, cpu, {}, {x}, {.property = property}));
    EXPECT_OK(engine->waitForVariable(x));
    EXPECT_EQ(ran, runs + 1);
  }
}

TEST_P(AnyEngine, RunsWhatBelongsToEveryContext) {
  Variable x = makeVariables(*engine, 1)[0];
  std::vector<std::string> ran;
  const Context contexts[] = {Context::cpu(3), Context::cpuPinned(1),
                              Context::cpuShared(2), Context::null(1),
                              Context::cuda()};
  for (Context context : contexts)
    EXPECT_OK(engine->pushSync(
        [&](const RunContext &run) {
          ran.push_back(toString(run.context));
          return Status::ok();
        },
        context, {}, {x}));
  EXPECT_OK(engine->waitForVariable(x));
  EXPECT_EQ(ran,
            (std::vector<std::string>{"cpu:3", "cpu_pinned:1", "cpu_shared:2",
                                      "null:1", "cuda:0"}));
}

// MXNet's post_fail.
TEST_P(AnyEngine, TheFirstWaitTakesTheErrorOfAllOutputs) {
  std::vector<Variable> v = makeVariables(*engine, 3);
  int ran = 0;
  EXPECT_OK(engine->pushSync([] { return fails("boom"); }, cpu, {v[2]},
                             {v[0], v[1]}, {.name = "split"}));
  EXPECT_ERROR(engine->waitForVariable(v[0]), DataLoss,
               "operation 'split': boom");
  // The other output is usable.
  EXPECT_OK(engine->waitForVariable(v[1]));
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {v[1]}, {v[2]}));
  EXPECT_OK(engine->waitForVariable(v[2]));
  EXPECT_EQ(ran, 1);
  EXPECT_OK(engine->waitForAll());
}

//===----------------------------------------------------------------------===//
// Asynchronous operations
//===----------------------------------------------------------------------===//

TEST_P(AnyEngine, CompletesFromAnotherThread) {
  std::vector<Variable> v = makeVariables(*engine, 2);
  int value = 0;
  std::thread helper;
  EXPECT_OK(engine->pushAsync(
      [&](Completion done) {
        helper = std::thread([&value, done = std::move(done)]() mutable {
          value = 42;
          EXPECT_OK(done.complete());
          EXPECT_ERROR(done.complete(), InvalidArgument, "another");
        });
      },
      cpu, {}, {v[0]}));
  int seen = 0;
  EXPECT_OK(engine->pushSync([&] { seen = value; }, cpu, {v[0]}, {v[1]}));
  EXPECT_OK(engine->waitForVariable(v[1]));
  EXPECT_EQ(seen, 42);
  helper.join();
}

TEST_P(AnyEngine, RunsAsynchronousOperators) {
  std::vector<Variable> v = makeVariables(*engine, 20);
  auto held = std::make_shared<int>(0);
  std::vector<std::thread> helpers;
  int calls = 0;
  auto op = engine->newAsyncOperator(
      [&, held](Completion done) {
        helpers.emplace_back(
            [isBad = ++calls == 3, done = std::move(done)]() mutable {
              EXPECT_OK(done.complete(isBad ? fails("third") : Status::ok()));
            });
      },
      std::span<const Variable>(v).subspan(1), {v[0]},
      {.name = "send", .bytes = 10});
  ASSERT_TRUE(op.isOk());
  for (int i = 0; i != 3; ++i)
    EXPECT_OK(engine->push(*op, cpu));
  EXPECT_ERROR(engine->waitForVariable(v[0]), DataLoss,
               "operation 'send': third");
  EXPECT_OK(engine->push(*op, cpu));
  EXPECT_OK(engine->deleteOperator(*op));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(*engine->version(v[0]), 4u);
  EXPECT_EQ(engine->statistics().bytesInFlight, 0u);
  EXPECT_EQ(held.use_count(), 1);
  for (std::thread &helper : helpers)
    helper.join();
}

TEST_P(AnyEngine, CompletesInsideTheFunction) {
  Variable x = makeVariables(*engine, 1)[0];
  for (int i = 0; i != 100; ++i)
    EXPECT_OK(engine->pushAsync(
        [](const RunContext &, Completion done) { EXPECT_OK(done.complete()); },
        cpu, {}, {x}));
  EXPECT_OK(engine->waitForVariable(x));
  EXPECT_EQ(*engine->version(x), 100u);
}

TEST_P(AnyEngine, CompletesWithAnError) {
  std::vector<Variable> v = makeVariables(*engine, 2);
  EXPECT_OK(engine->pushAsync(
      [](Completion done) { EXPECT_OK(done.complete(fails("link lost"))); },
      cpu, {}, {v[0]}, {.name = "send"}));
  EXPECT_OK(engine->pushSync([] { ADD_FAILURE(); }, cpu, {v[0]}, {v[1]}));
  EXPECT_ERROR(engine->waitForVariable(v[1]), DataLoss,
               "operation 'send': link lost");
}

TEST_P(AnyEngine, ADroppedCompletionIsAnError) {
  Variable x = makeVariables(*engine, 1)[0];
  EXPECT_OK(engine->pushAsync([](Completion) {}, cpu, {}, {x}));
  EXPECT_ERROR(engine->waitForVariable(x), InvalidArgument, "dropped");
}

TEST_P(AnyEngine, ACompletionOutlivesItsEngine) {
  Variable x = makeVariables(*engine, 1)[0];
  Completion kept;
  EXPECT_OK(engine->pushAsync(
      [&](Completion done) {
        EXPECT_OK(done.complete());
        kept = std::move(done);
      },
      cpu, {}, {x}));
  EXPECT_OK(engine->waitForAll());
  engine.reset();
  EXPECT_FALSE(kept.complete().isOk());
}

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

TEST_P(AnyEngine, StopsAndStarts) {
  Variable x = makeVariables(*engine, 1)[0];
  int ran = 0;
  for (int round = 1; round != 4; ++round) {
    EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {x}));
    EXPECT_OK(engine->stop());
    EXPECT_EQ(ran, round);
    EXPECT_OK(engine->stop());
    EXPECT_EQ(engine->statistics().threads, 0u);
    EXPECT_ERROR(engine->pushSync([] {}, cpu, {}, {x}), Unavailable, "stopped");
    EXPECT_OK(engine->waitForVariable(x));
    EXPECT_OK(engine->start());
    EXPECT_OK(engine->start());
  }
  EXPECT_OK(engine->waitForVariable(x));
}

TEST_P(AnyEngine, RefusesEverythingWhenClosed) {
  std::vector<Variable> v = makeVariables(*engine, 2);
  auto op = engine->newOperator([] {}, {}, {v[0]});
  EXPECT_OK(engine->pushSync([] {}, cpu, {}, {v[0]}));
  EXPECT_OK(engine->close());
  EXPECT_OK(engine->close());
  EXPECT_ERROR(engine->pushSync([] {}, cpu, {}, {v[0]}), Unavailable, "closed");
  EXPECT_ERROR(engine->push(*op, cpu), Unavailable, "closed");
  EXPECT_ERROR(engine->newVariable().status(), Unavailable, "closed");
  EXPECT_ERROR(engine->newOperator([] {}, {}, {}).status(), Unavailable,
               "closed");
  EXPECT_ERROR(engine->start(), Unavailable, "closed");
  EXPECT_ERROR(engine->stop(), Unavailable, "closed");
  EXPECT_OK(engine->waitForAll());
}

TEST_P(AnyEngine, DeletesVariablesWhenStoppedOrClosed) {
  std::vector<Variable> v = makeVariables(*engine, 2);
  int deleted = 0;
  EXPECT_OK(engine->stop());
  EXPECT_OK(engine->deleteVariable([&] { ++deleted; }, cpu, v[0]));
  EXPECT_EQ(deleted, 1);
  EXPECT_OK(engine->close());
  EXPECT_OK(engine->deleteVariable([&] { ++deleted; }, cpu, v[1]));
  EXPECT_EQ(deleted, 2);
  EXPECT_EQ(engine->statistics().variables, 0u);
}

TEST_P(AnyEngine, GivesUpWhatNeverCompletes) {
  EngineOptions options = GetParam();
  options.closePatienceMilliseconds = 20;
  engine = makeEngine(options);
  std::vector<Variable> v = makeVariables(*engine, 2);
  auto held = std::make_shared<int>(1);
  Completion kept;
  std::atomic<bool> isKept = false;
  bool isDeleted = false;
  std::thread pusher([&] {
    // In the naive engine this returns as the operation is given up.
    EXPECT_OK(engine->pushAsync(
        [&, held](Completion done) {
          EXPECT_OK(
              engine->pushSync([held] { ADD_FAILURE(); }, cpu, {v[0]}, {v[1]}));
          EXPECT_OK(engine->deleteVariable([&, held] { isDeleted = true; }, cpu,
                                           v[1]));
          kept = std::move(done);
          isKept = true;
        },
        cpu, {}, {v[0]}, {.name = "lost"}));
  });
  while (!isKept)
    std::this_thread::yield();
  EXPECT_ERROR(engine->close(), Unavailable, "gave up");
  pusher.join();
  EXPECT_TRUE(isDeleted);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_ERROR(kept.complete(), Unavailable, "closed");
}

// What hangs is told, not what it holds up.
TEST_P(AnyEngine, NamesWhatHangs) {
  EngineOptions options = GetParam();
  options.closePatienceMilliseconds = 20;
  engine = makeEngine(options);
  std::vector<Variable> v = makeVariables(*engine, 3);
  Completion kept;
  std::atomic<bool> isKept = false;
  std::thread pusher([&] {
    EXPECT_OK(engine->pushAsync(
        [&](Completion done) {
          EXPECT_OK(
              engine->pushSync([] {}, cpu, {v[0]}, {v[1]}, {.name = "victim"}));
          EXPECT_OK(engine->pushSync([] {}, cpu, {v[1]}, {v[2]}));
          kept = std::move(done);
          isKept = true;
        },
        cpu, {}, {v[0]}, {.name = "hanging"}));
  });
  while (!isKept)
    std::this_thread::yield();
  EXPECT_ERROR(engine->close(), Unavailable,
               "gave up operation 'hanging', which has not completed, and 2 "
               "that had not started");
  pusher.join();
  EXPECT_OK(engine->close()); // It has been told.
  EXPECT_OK(engine->waitForAll());
}

// All of them, and what else failed comes next.
TEST_P(AnyEngine, NamesAllThatHang) {
  if (GetParam().kind == EngineKind::Naive)
    return; // There one hangs.
  EngineOptions options = GetParam();
  options.closePatienceMilliseconds = 20;
  engine = makeEngine(options);
  std::vector<Completion> kept(10);
  std::atomic<int> count = 0;
  std::vector<Variable> v = makeVariables(*engine, 10);
  for (int i = 0; i != 10; ++i)
    EXPECT_OK(engine->pushAsync(
        [&, i](Completion done) {
          kept[size_t(i)] = std::move(done);
          ++count;
        },
        cpu, {}, {v[size_t(i)]}, {.name = "lost"}));
  EXPECT_OK(engine->pushSync(
      [] { return makeError(StatusCode::DataLoss, "broken"); }, cpu, {}, {}));
  until([&] { return count == 10; });
  std::string names = "operation 'lost'";
  for (int i = 1; i != 8; ++i)
    names += ", operation 'lost'";
  EXPECT_ERROR(engine->close(), Unavailable,
               "gave up " + names + " and 2 more, which have not completed");
  EXPECT_ERROR(engine->close(), DataLoss, "broken");
  EXPECT_OK(engine->waitForVariable(v[0]));
  EXPECT_OK(engine->waitForAll());
}

TEST_P(AnyEngine, KnowsWhatAnOperationHolds) {
  std::vector<Variable> v = makeVariables(*engine, 3);
  auto look = [&] {
    for (VariableUse use : {VariableUse::Read, VariableUse::Write})
      for (size_t i = 0; i != 3; ++i)
        EXPECT_EQ(engine->isHolding(v[i], use),
                  i == 1 || (i == 0 && use == VariableUse::Read));
  };
  EXPECT_OK(engine->pushSync(look, cpu, {v[0]}, {v[1]}));
  EXPECT_OK(engine->waitForAll());
  {
    BulkScope bulk(*engine, 2); // What other parts hold is not of this one.
    EXPECT_OK(engine->pushSync([] {}, cpu, {}, {v[2]}));
    EXPECT_OK(engine->pushSync(look, cpu, {v[0]}, {v[1]}));
  }
  EXPECT_OK(engine->waitForAll());
  EXPECT_OK(engine->pushSync(
      [&](const RunContext &run) {
        EXPECT_TRUE(engine->isHolding(v[2], VariableUse::Write));
        EXPECT_OK(engine->release(run, v[2]));
        EXPECT_FALSE(engine->isHolding(v[2], VariableUse::Read));
      },
      cpu, {}, {v[2]}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_FALSE(engine->isHolding(v[1], VariableUse::Read));
}

// A function that runs is waited for: what it holds up is told, and it.
TEST_P(AnyEngine, NamesWhatGivenUpWaitedFor) {
  if (GetParam().kind == EngineKind::Naive)
    return; // There nothing waits but for what was pushed inside.
  // One that ends before the patience does holds up nothing: then once more.
  for (bool isGivenUp = false; !isGivenUp;) {
    EngineOptions options = GetParam();
    options.closePatienceMilliseconds = 1;
    engine = makeEngine(options);
    Variable v = makeVariables(*engine, 1)[0];
    std::atomic<bool> isRunning = false;
    auto runOn = [&] {
      isRunning = true;
      until([&] { return !engine->newVariable().isOk(); }); // It is closing.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    EXPECT_OK(engine->pushSync(runOn, cpu, {}, {v}, {.name = "slow"}));
    EXPECT_OK(engine->pushSync([] {}, cpu, {v}, {}, {.name = "victim"}));
    until([&] { return isRunning.load(); });
    Status status = engine->close();
    isGivenUp = !status.isOk();
    EXPECT_TRUE(status.isOk() || status.message() ==
                                     "gave up operation 'victim' behind "
                                     "operation 'slow', which runs")
        << status.message();
  }
}

// Once, and to whoever asks first: close() or a wait after a failed one.
TEST_P(AnyEngine, CloseReturnsWhatNobodyWasToldOf) {
  std::vector<Variable> v = makeVariables(*engine, 2);
  auto fail = [](const char *what) {
    return [what] { return makeError(StatusCode::DataLoss, "%s", what); };
  };
  EXPECT_OK(engine->pushSync(fail("first"), cpu, {}, {v[0]}));
  EXPECT_ERROR(engine->waitForVariable(v[0]), DataLoss, "first");
  EXPECT_OK(engine->pushSync(fail("second"), cpu, {}, {v[1]}));
  EXPECT_OK(engine->stop());
  EXPECT_OK(engine->start());
  EXPECT_ERROR(engine->close(), DataLoss, "second");
  EXPECT_OK(engine->close());
  EXPECT_OK(engine->waitForAll());
}

TEST_P(AnyEngine, WaitsReturnWhatClosingDidNot) {
  Variable v = makeVariables(*engine, 1)[0];
  EXPECT_OK(engine->pushSync(
      [] { return makeError(StatusCode::DataLoss, "boom"); }, cpu, {}, {v}));
  engine->closeUntold();
  EXPECT_ERROR(engine->waitForVariable(v), DataLoss, "boom");
}

TEST_P(AnyEngine, KnowsWhoWrites) {
  std::vector<Variable> v = makeVariables(*engine, 2);
  EXPECT_FALSE(engine->isInside());
  EXPECT_FALSE(engine->isWriting(v[0]));
  EXPECT_OK(engine->pushSync(
      [&] {
        EXPECT_TRUE(engine->isInside());
        EXPECT_TRUE(engine->isWriting(v[0]));
        EXPECT_FALSE(engine->isWriting(v[1]));
        EXPECT_FALSE(engine->isWriting({7, 7}));
        std::thread([&] { // That it hands work to.
          EXPECT_FALSE(engine->isInside());
          EXPECT_TRUE(engine->isWriting(v[0]));
          EXPECT_FALSE(engine->isWriting(v[1]));
        })
            .join();
        EXPECT_OK(engine->deleteVariable(v[0])); // After this operation.
        EXPECT_TRUE(engine->isWriting(v[0]));
      },
      cpu, {v[1]}, {v[0]}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_FALSE(engine->isWriting(v[0]));
}

/// Ends the engine inside of one of its operations.
static void endInside(EngineOptions options) {
  auto engine = makeEngine(options);
  EXPECT_OK(engine->pushSync([&] { engine.reset(); }, Context::cpu(), {}, {}));
  // Not a call of the engine: its pointer is null by now, or soon.
  std::this_thread::sleep_for(std::chrono::seconds(60));
}

using AnyEngineDeathTest = AnyEngine;
INSTANTIATE_TEST_SUITE_P(, AnyEngineDeathTest, testing::ValuesIn(allEngines()),
                         [](const auto &info) {
                           return engineName(info.param);
                         });

TEST_P(AnyEngineDeathTest, EndsTheProcessWhenItEndsInsideAnOperation) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(endInside(GetParam()),
               "expected the end of an engine outside of its operations, got "
               "it inside an operation without name");
}

TEST_P(AnyEngine, RefusesToEndInsideAnOperation) {
  EXPECT_OK(engine->pushSync(
      [this] {
        EXPECT_ERROR(engine->close(), InvalidArgument, "inside");
        EXPECT_ERROR(engine->stop(), InvalidArgument, "inside");
        EXPECT_ERROR(engine->start(), InvalidArgument, "inside");
        EXPECT_ERROR(engine->waitForAll(), InvalidArgument, "inside");
      },
      cpu, {}, {}));
  EXPECT_OK(engine->waitForAll());
}

TEST_P(AnyEngine, KeepsTexts) {
  std::string name = "conv";
  const char *kept = engine->keepText(name);
  name[0] = 'x';
  EXPECT_STREQ(kept, "conv");
  EXPECT_EQ(kept, engine->keepText("conv"));
  EXPECT_NE(kept, engine->keepText("con"));
}

//===----------------------------------------------------------------------===//
// Inside operations
//===----------------------------------------------------------------------===//

TEST_P(AnyEngine, OperationsPushAndWait) {
  Variable out = makeVariables(*engine, 1)[0];
  std::vector<Variable> in = makeVariables(*engine, 200);
  std::vector<int> values(in.size());
  int sum = 0;
  EXPECT_OK(engine->pushSync(
      [&] {
        for (size_t i = 0; i != in.size(); ++i)
          EXPECT_OK(engine->pushSync([&values, i] { values[i] = int(i); },
                                     Context::cpu(), {}, {in[i]}));
        for (size_t i = 0; i != in.size(); ++i) {
          EXPECT_OK(engine->waitForVariable(in[i]));
          sum += values[i];
        }
      },
      cpu, {}, {out}));
  EXPECT_OK(engine->waitForVariable(out));
  EXPECT_EQ(sum, 199 * 200 / 2);
}

TEST_P(AnyEngine, RefusesToWaitForItself) {
  std::vector<Variable> v = makeVariables(*engine, 3);
  EXPECT_OK(engine->pushSync(
      [&] {
        EXPECT_ERROR(engine->waitForVariable(v[0]), InvalidArgument, "itself");
        EXPECT_OK(engine->waitForVariable(v[1]));
        EXPECT_ERROR(engine->waitForVariable(v[1], VariableUse::Write),
                     InvalidArgument, "itself");
        // Over another operation, which waits for this one.
        EXPECT_OK(engine->pushSync([] {}, Context::cpu(), {v[0]}, {v[2]}));
        EXPECT_ERROR(engine->waitForVariable(v[2]), InvalidArgument, "itself");
      },
      cpu, {v[1]}, {v[0]}));
  EXPECT_OK(engine->waitForAll());
}

//===----------------------------------------------------------------------===//
// Threads that end
//===----------------------------------------------------------------------===//

namespace {

/// Ends its thread's use of an engine after all that the engine keeps of it.
class LateCaller {
public:
  Engine *engine = nullptr;
  Variable variable;
  int *ran = nullptr;
  bool collects = false; ///< The engine has bulks.

  ~LateCaller() {
    if (!engine)
      return;
    auto count = [ran = ran] { ++*ran; };
    EXPECT_OK(engine->pushSync(count, Context::cpu(), {}, {variable}));
    EXPECT_OK(engine->pushAsync(
        [&](Completion done) {
          count();
          EXPECT_OK(done.complete());
        },
        Context::cpu(), {}, {variable}));
    EXPECT_OK(engine->pushSync(
        [&] {
          count();
          EXPECT_EQ(*engine->setBulkSize(10), 0u);
          Variable other = makeVariables(*engine, 1)[0];
          EXPECT_OK(engine->pushSync(count, Context::cpu(), {}, {other}));
          EXPECT_OK(engine->waitForVariable(other));
          EXPECT_OK(engine->deleteVariable(other));
        },
        Context::cpu(), {}, {variable}));
    EXPECT_OK(engine->waitForVariable(variable));
    if (collects)
      EXPECT_ERROR(engine->setBulkSize(10).status(), Unavailable, "that ends");
    EXPECT_EQ(*engine->setBulkSize(0), 0u);
    EXPECT_OK(engine->waitForAll());
    EXPECT_FALSE(engine->isInside());
    EXPECT_FALSE(engine->dump().empty());
  }
};

} // namespace

TEST_P(AnyEngine, ServesDestructorsOfThreadsThatEnd) {
  Profiler profiler;
  EngineOptions options = GetParam();
  options.observer = &profiler;
  options.callerHelp = CallerHelp::WaitingAndPushing;
  auto observed = makeEngine(options);
  Variable x = makeVariables(*observed, 1)[0];
  int ran = 0;
  for (int i = 0; i != 20; ++i)
    std::thread([&] {
      // Made first, so it goes last.
      static thread_local LateCaller late;
      late.ran = &ran;
      late.variable = x;
      late.collects = options.kind != EngineKind::Naive;
      EXPECT_OK(observed->waitForAll());
      EXPECT_EQ(*observed->setBulkSize(10), 0u);
      EXPECT_OK(observed->pushSync([&] { ++ran; }, cpu, {}, {x}));
      EXPECT_OK(observed->waitForVariable(x));
      late.engine = observed.get();
    }).join();
  EXPECT_EQ(ran, 20 * 5);
  EXPECT_OK(observed->close());
  EXPECT_GE(profiler.size(), 20u * 5); // Deletions too.
}
