// SPDX-License-Identifier: Apache-2.0
//
// Variables that an operation gives back before its end.

#include "EngineTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

class Releases : public testing::TestWithParam<EngineOptions> {
protected:
  const Context cpu = Context::cpu();
};

INSTANTIATE_TEST_SUITE_P(, Releases, testing::ValuesIn(allEngines()),
                         [](auto &info) { return engineName(info.param); });

/// Engines where one operation runs while another one does. Threads that wait
/// run none: some operations here wait for them.
class SharedReleases : public Releases {};
INSTANTIATE_TEST_SUITE_P(
    , SharedReleases,
    testing::Values(EngineOptions{.kind = EngineKind::Threaded,
                                  .cpuWorkers = 2,
                                  .callerHelp = CallerHelp::Never},
                    EngineOptions{.kind = EngineKind::PerDevice,
                                  .cpuWorkers = 2,
                                  .callerHelp = CallerHelp::Never}),
    [](auto &info) { return engineName(info.param); });

Status boom() { return makeError(StatusCode::DataLoss, "boom"); }

} // namespace

TEST_P(SharedReleases, StartWhatWaitsForThem) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 3);
  Gate pushed;
  std::atomic<bool> reads = false, writes = false, overtakes = false;
  bool sawNone = false;
  // It ends only when the others have run.
  EXPECT_OK(engine->pushSync(
      [&](const RunContext &run) {
        pushed.pass();
        sawNone = !reads && !writes;
        EXPECT_OK(run.engine->release(run, v[0]));
        until([&] { return reads.load(); });
        sawNone &= !writes;
        EXPECT_OK(run.engine->release(run, v[1]));
        until([&] { return writes.load(); });
        sawNone &= !overtakes;
      },
      cpu, {v[1]}, {v[0], v[2]}));
  EXPECT_OK(engine->pushSync([&] { reads = true; }, cpu, {v[0]}, {}));
  EXPECT_OK(engine->pushSync([&] { writes = true; }, cpu, {}, {v[1]}));
  EXPECT_OK(engine->pushSync([&] { overtakes = true; }, cpu, {v[2]}, {}));
  pushed.open();
  EXPECT_OK(engine->waitForAll());
  EXPECT_TRUE(sawNone);
  EXPECT_TRUE(overtakes);
}

TEST_P(SharedReleases, EndWaitsAndAllowDeletions) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  Gate waited;
  std::atomic<bool> isDeleted = false;
  EXPECT_OK(engine->pushSync(
      [&](const RunContext &run) {
        EXPECT_OK(run.engine->release(run, v[0]));
        waited.pass();
        until([&] { return isDeleted.load(); });
      },
      cpu, {}, {v[0], v[1]}));
  EXPECT_OK(engine->waitForVariable(v[0], VariableUse::Write));
  EXPECT_EQ(*engine->version(v[0]), 1u);
  EXPECT_EQ(*engine->version(v[1]), 0u);
  EXPECT_OK(engine->deleteVariable([&] { isDeleted = true; }, cpu, v[0]));
  waited.open();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(*engine->version(v[1]), 1u);
}

TEST_P(Releases, AreBeyondLaterErrors) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 3);
  EXPECT_OK(engine->pushSync(
      [&](const RunContext &run) {
        EXPECT_OK(run.engine->release(run, v[0]));
        EXPECT_OK(run.engine->release(run, v[2]));
        return boom();
      },
      cpu, {v[2]}, {v[0], v[1]}));
  int ran = 0;
  EXPECT_OK(engine->pushSync([&] { ++ran; }, cpu, {}, {v[2]}));
  EXPECT_OK(engine->waitForVariable(v[0]));
  EXPECT_OK(engine->waitForVariable(v[2]));
  EXPECT_ERROR(engine->waitForVariable(v[1]), DataLoss, "boom");
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(*engine->version(v[0]), 1u);
}

TEST_P(Releases, OfOperatorsAreThoseOfOneRun) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 2);
  auto twice = engine->newOperator(
      [&](const RunContext &run) {
        EXPECT_OK(run.engine->release(run, v[0]));
        EXPECT_OK(run.engine->release(run, v[1]));
      },
      {v[1]}, {v[0]});
  ASSERT_TRUE(twice.isOk()) << twice.status().message();
  for (int i = 0; i != 10; ++i)
    EXPECT_OK(engine->push(*twice, cpu));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(*engine->version(v[0]), 10u);
  EXPECT_EQ(*engine->version(v[1]), 0u);
}

TEST_P(Releases, OfWhatIsNotHeldAreRefused) {
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 3);
  EXPECT_OK(engine->pushSync(
      [&](const RunContext &run) {
        EXPECT_ERROR(run.engine->release(run, v[2]), InvalidArgument,
                     "holds and may give back, got variable " +
                         std::to_string(v[2].index) +
                         " from operation 'early'");
        EXPECT_ERROR(run.engine->release(run, {}), InvalidArgument,
                     "got null from operation 'early'");
        EXPECT_OK(run.engine->release(run, v[0]));
        EXPECT_ERROR(run.engine->release(run, v[0]), InvalidArgument, "holds");
      },
      cpu, {v[0]}, {v[1]}, {.name = "early"}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_ERROR(engine->release({}, v[0]), InvalidArgument, "no operation");
  EXPECT_OK(engine->deleteVariable(
      [&](const RunContext &run) {
        EXPECT_ERROR(run.engine->release(run, v[1]), InvalidArgument,
                     "from a deletion");
      },
      cpu, v[1]));
  EXPECT_OK(engine->waitForAll());
}

// What one part gives back another part may use.
TEST_P(Releases, InBulksAreRefused) {
  if (GetParam().kind == EngineKind::Naive)
    return; // It joins nothing.
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, 1);
  BulkScope bulk(*engine, 2);
  for (int i = 0; i != 2; ++i)
    EXPECT_OK(engine->pushSync(
        [&](const RunContext &run) {
          EXPECT_ERROR(run.engine->release(run, v[0]), InvalidArgument,
                       "from operation 'small' in a bulk of 2");
        },
        cpu, {}, {v[0]}, {.name = "small"}));
  EXPECT_OK(engine->waitForVariable(v[0]));
}

// Many operations, each of which gives back some of what it writes: counts
// that only one at a time may change come out right.
TEST_P(Releases, KeepWritersApart) {
  constexpr int count = 8, operations = 4000;
  auto engine = makeEngine(GetParam());
  std::vector<Variable> v = makeVariables(*engine, count);
  int64_t written[count] = {};
  for (int i = 0; i != operations; ++i) {
    int a = i % count, b = (a + 1 + i % (count - 1)) % count;
    EXPECT_OK(engine->pushSync(
        [&, a, b, i](const RunContext &run) {
          ++written[a];
          if (i % 3)
            EXPECT_OK(run.engine->release(run, v[a]));
          ++written[b];
        },
        cpu, {}, {v[a], v[b]}, {.priority = i % 5}));
  }
  EXPECT_OK(engine->waitForAll());
  int64_t total = 0;
  for (int i = 0; i != count; ++i) {
    EXPECT_EQ(*engine->version(v[i]), uint64_t(written[i]));
    total += written[i];
  }
  EXPECT_EQ(total, 2 * operations);
}
