// SPDX-License-Identifier: Apache-2.0
//
// Deletions: while the engine stops or closes, before completions, at the limit
// of the budget, in races with pushes, and out of functions that go. What is
// wrong here mostly hangs.

#include "EngineTesting.h"

#include <array>
#include <bit>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

class Deletions : public testing::TestWithParam<EngineOptions> {
protected:
  bool isNaive() const { return GetParam().kind == EngineKind::Naive; }
  const Context cpu = Context::cpu();
};

INSTANTIATE_TEST_SUITE_P(, Deletions, testing::ValuesIn(allEngines()),
                         [](auto &info) { return engineName(info.param); });

/// Deletes a variable as it goes, as arrays do.
class Holder {
public:
  Holder(Engine &engine, Variable variable)
      : engine(engine), variable(variable) {}
  ~Holder() { EXPECT_OK(engine.deleteVariable(variable)); }

private:
  Engine &engine;
  Variable variable;
};

std::shared_ptr<Holder> hold(Engine &engine) {
  return std::make_shared<Holder>(engine, makeVariables(engine, 1)[0]);
}

void end(Engine &engine, bool closes) {
  EXPECT_OK(closes ? engine.close() : engine.stop());
}

/// Whether the engine has begun to stop or to close.
bool refusesPushes(Engine &engine) {
  Status status = engine.pushSync([] {}, Context::cpu(), {}, {});
  return status.code() == StatusCode::Unavailable;
}

} // namespace

//===----------------------------------------------------------------------===//
// While the engine ends
//===----------------------------------------------------------------------===//

TEST_P(Deletions, OperationsMakeAndDeleteWhileTheEngineEnds) {
  for (bool closes : {false, true}) {
    if (isNaive() && !closes)
      continue; // It refuses pushes only when the last one has returned.
    auto engine = makeEngine(GetParam());
    std::vector<Variable> v = makeVariables(*engine, 2);
    Operator op = *engine->newOperator([] {}, {}, {v[1]});
    std::atomic<bool> isRunning = false;
    bool isDeleted = false;
    auto body = [&] {
      isRunning = true;
      until([&] { return refusesPushes(*engine); });
      Result<Variable> made = engine->newVariable();
      EXPECT_EQ(made.isOk(), !closes);
      if (made.isOk())
        EXPECT_OK(engine->deleteVariable(*made));
      Result<Operator> other = engine->newOperator([] {}, {}, {v[0]});
      EXPECT_EQ(other.isOk(), !closes);
      if (other.isOk())
        EXPECT_OK(engine->deleteOperator(*other));
      EXPECT_OK(engine->deleteOperator(op));
      EXPECT_OK(engine->deleteVariable([&] { isDeleted = true; },
                                       Context::cpu(), v[1]));
      EXPECT_ERROR(engine->start(), InvalidArgument, "inside");
    };
    std::thread pusher(
        [&] { EXPECT_OK(engine->pushSync(body, Context::cpu(), {}, {v[0]})); });
    until([&] { return isRunning.load(); });
    end(*engine, closes);
    pusher.join();
    EXPECT_TRUE(isDeleted);
    EXPECT_EQ(engine->statistics().variables, 1u);
    EXPECT_EQ(engine->statistics().operators, 0u);
  }
}

TEST_P(Deletions, AThreadDeletesBeforeItCompletes) {
  for (bool closes : {false, true}) {
    auto engine = makeEngine(GetParam());
    std::vector<Variable> v = makeVariables(*engine, 2);
    Operator op = *engine->newOperator([] {}, {}, {v[0]});
    Completion kept;
    std::atomic<bool> isKept = false, hasEnded = false;
    bool isDeleted = false;
    std::thread pusher([&] {
      EXPECT_OK(engine->pushAsync(
          [&](Completion done) {
            kept = std::move(done);
            isKept = true;
          },
          Context::cpu(), {}, {v[0]}));
    });
    until([&] { return isKept.load(); });
    std::thread ender([&] {
      end(*engine, closes);
      hasEnded = true;
    });
    // A push of this thread would wait for its turn in the naive engine.
    if (!isNaive())
      until([&] { return refusesPushes(*engine); });
    EXPECT_OK(engine->deleteVariable([&] { isDeleted = true; }, cpu, v[1]));
    EXPECT_OK(engine->deleteOperator(op));
    EXPECT_FALSE(hasEnded);
    EXPECT_OK(kept.complete());
    ender.join();
    pusher.join();
    EXPECT_TRUE(isDeleted);
    EXPECT_EQ(engine->statistics().variables, 1u);
    EXPECT_EQ(engine->statistics().operators, 0u);
  }
}

TEST_P(Deletions, RaceWithStopsAndStarts) {
  auto engine = makeEngine(GetParam());
  std::atomic<bool> isDone = false;
  std::atomic<int> deleted = 0;
  std::thread other([&] {
    while (!isDone) {
      EXPECT_OK(engine->stop());
      EXPECT_OK(engine->start());
    }
  });
  for (int i = 0; i != 300; ++i) {
    Variable x = makeVariables(*engine, 1)[0];
    Operator op = *engine->newOperator([] {}, {}, {x});
    EXPECT_OK(engine->deleteVariable([&] { ++deleted; }, cpu, x));
    EXPECT_OK(engine->deleteOperator(op));
  }
  isDone = true;
  other.join();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(deleted, 300);
  EXPECT_EQ(engine->statistics().variables, 0u);
  EXPECT_EQ(engine->statistics().operators, 0u);
}

TEST_P(Deletions, RaceWithClosing) {
  for (int round = 0; round != 20; ++round) {
    auto engine = makeEngine(GetParam());
    std::vector<Operator> operators;
    for (int i = 0; i != 64; ++i)
      operators.push_back(*engine->newOperator([] {}, {}, {}));
    std::thread deleter([&] {
      for (Operator op : operators)
        if (Status status = engine->deleteOperator(op); !status.isOk())
          EXPECT_ERROR(status, InvalidArgument, "deleted");
    });
    EXPECT_OK(engine->close());
    deleter.join();
    EXPECT_EQ(engine->statistics().operators, 0u);
  }
}

TEST_P(Deletions, DoNotWaitForTheBudget) {
  EngineOptions options = GetParam();
  options.maxOperations = options.queueSlots = 16;
  options.callerHelp = CallerHelp::Never;
  auto engine = makeEngine(options);
  std::vector<Variable> v = makeVariables(*engine, 41);
  Completion kept;
  std::atomic<bool> isKept = false;
  std::thread pusher([&] {
    EXPECT_OK(engine->pushAsync(
        [&](Completion done) {
          kept = std::move(done);
          isKept = true;
        },
        Context::cpu(), {}, {v[0]}));
    for (int i = 0; i != 15; ++i)
      EXPECT_OK(engine->pushSync([] {}, Context::cpu(), {}, {v[0]}));
  });
  until([&] { return isKept.load(); });
  if (!isNaive())
    until([&] { return engine->statistics().inFlight == 16; });
  for (int i = 1; i != 41; ++i)
    EXPECT_OK(engine->deleteVariable(v[i]));
  EXPECT_OK(kept.complete());
  pusher.join();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(engine->statistics().variables, 1u);
}

//===----------------------------------------------------------------------===//
// Races with pushes
//===----------------------------------------------------------------------===//

/// A push that has passed its checks may meet a deletion: then the operation
/// ends with an error, and nothing else happens.
TEST_P(Deletions, RaceWithPushesOfTheirVariable) {
  for (int round = 0; round != 50; ++round) {
    auto engine = makeEngine(GetParam());
    std::vector<Variable> v = makeVariables(*engine, 2);
    Operator op = *engine->newOperator([] {}, {v[0]}, {v[1]});
    std::atomic<bool> isReady = false;
    std::thread pusher([&] {
      isReady = true;
      for (int i = 0; i != 20; ++i) {
        Status pushed = engine->pushSync([] {}, Context::cpu(), {}, {v[0]});
        EXPECT_TRUE(pushed.isOk() ||
                    pushed.code() == StatusCode::InvalidArgument);
        pushed = engine->push(op, Context::cpu());
        EXPECT_TRUE(pushed.isOk() ||
                    pushed.code() == StatusCode::InvalidArgument);
      }
    });
    until([&] { return isReady.load(); });
    EXPECT_OK(engine->deleteVariable(v[0]));
    makeVariables(*engine, 1); // Takes its place, when it has gone.
    pusher.join();
    if (Status status = engine->waitForAll(); !status.isOk())
      EXPECT_ERROR(status, InvalidArgument, "was deleted while it was pushed");
    EXPECT_EQ(engine->statistics().variables, 2u);
  }
}

/// The same of its operator, whose place another one takes, with other
/// variables, and whose texts go: each push is refused, runs, or fails alone.
/// Not even what is never skipped has a function then.
TEST_P(Deletions, RaceWithPushesOfTheirOperator) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 40);
  std::atomic<uint64_t> handle = 0;
  std::atomic<bool> isReady = false, isDone = false;
  std::atomic<int> ran = 0, pushed = 0;
  int refused = 0;
  std::thread pusher([&] {
    while (!isDone) {
      auto op = std::bit_cast<Operator>(handle.load());
      Status status = engine->push(op, Context::cpu());
      if (status.isOk()) {
        ++pushed;
      } else {
        ++refused;
        EXPECT_ERROR(status, InvalidArgument, "operator");
      }
      isReady = true; // And has been refused once, for want of an operator.
    }
  });
  until([&] { return isReady.load(); });
  for (int round = 0; round != 1000; ++round) {
    // In a record, in one with an extension, and in none.
    size_t count = std::array{1, 3, 16, 40}[round % 4];
    auto name = std::make_unique<std::string>("operator of this round");
    Operator op = *engine->newOperator(
        [&ran, expected = uint64_t(round),
         data = std::make_unique<int>(round)] {
          EXPECT_EQ(uint64_t(*data), expected);
          ++ran;
        },
        VariableList(v.data() + 1, count - 1), {v[0]},
        {.property = round / 4 % 2 ? OperationProperty::NoSkip
                                   : OperationProperty::Normal,
         .name = name->c_str(),
         .origin = round % 2 ? name->c_str() : nullptr});
    handle = std::bit_cast<uint64_t>(op);
    if (round % 8 == 0)
      std::this_thread::yield();
    if (int before = pushed; round % 50 == 0) // On any processor: some succeed.
      until([&] { return pushed > before; });
    EXPECT_OK(engine->deleteOperator(op));
    EXPECT_ERROR(engine->deleteOperator(op), InvalidArgument, "deleted");
    // Its last run is over, and with it the text.
    if (Status status = engine->waitForVariable(v[0], VariableUse::Write);
        !status.isOk())
      EXPECT_ERROR(status, InvalidArgument, "was deleted while it was pushed");
    until([&] { return engine->statistics().operators == 0; });
  }
  isDone = true;
  pusher.join();
  if (Status status = engine->waitForAll(); !status.isOk())
    EXPECT_ERROR(status, InvalidArgument, "was deleted while it was pushed");
  EXPECT_GT(refused, 0);
  EXPECT_GT(pushed, 0);
  EngineStatistics numbers = engine->statistics();
  EXPECT_EQ(numbers.failed, 0u);
  // Those that came too late are skipped.
  EXPECT_EQ(uint64_t(ran) + numbers.skipped, uint64_t(pushed));
}

//===----------------------------------------------------------------------===//
// Out of functions
//===----------------------------------------------------------------------===//

TEST_P(Deletions, FunctionsMayHoldVariables) {
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  auto fails = [] { return makeError(StatusCode::DataLoss, "boom"); };
  EXPECT_OK(engine->pushSync([held = hold(*engine)] {}, cpu, {}, {}));
  EXPECT_OK(engine->pushSync(fails, cpu, {}, {x}));
  EXPECT_OK(engine->pushSync([held = hold(*engine)] {}, cpu, {}, {x}));
  EXPECT_ERROR(engine->pushSync([held = hold(*engine)] {}, cpu, {x}, {x}),
               InvalidArgument, "twice");
  // Skipped, and pushed by an operation.
  EXPECT_OK(engine->pushSync(
      [&] {
        EXPECT_OK(engine->pushSync(fails, cpu, {}, {x}));
        EXPECT_OK(engine->pushSync([held = hold(*engine)] {}, cpu, {}, {x}));
      },
      cpu, {}, {}));
  EXPECT_ERROR(engine->waitForAll(), DataLoss, "boom");
  auto op = engine->newOperator([held = hold(*engine)] {}, {}, {});
  EXPECT_OK(engine->deleteOperator(*op));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(engine->statistics().variables, 1u);
}

TEST_P(Deletions, FunctionsMayHoldVariablesWhenTheEngineEnds) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  ASSERT_TRUE(
      engine->newOperator([held = hold(*engine)] {}, {}, {v[0]}).isOk());
  std::thread([&] {
    EXPECT_TRUE(engine->setBulkSize(10).isOk()); // And never ends it.
    EXPECT_OK(engine->pushSync([held = hold(*engine)] {}, cpu, {}, {v[0]}));
  }).join();
  EXPECT_OK(engine->stop());
  // Runs at once, and calls the engine.
  EXPECT_OK(engine->deleteVariable(
      [&, held = hold(*engine)] {
        Variable made = makeVariables(*engine, 1)[0];
        EXPECT_OK(engine->deleteVariable(made));
        if (!isNaive()) // Which runs even this as an operation.
          EXPECT_OK(engine->start());
      },
      cpu, v[1]));
  EXPECT_OK(engine->close());
  EXPECT_EQ(engine->statistics().variables, 1u);
  EXPECT_EQ(engine->statistics().operators, 0u);
}
