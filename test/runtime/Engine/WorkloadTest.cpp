// SPDX-License-Identifier: Apache-2.0
//
// Random operations leave the same bits as one after the other would, whatever
// the engine, its threads and the size of bulks; with failures and deletions
// mixed in. The workload is that of MXNet's threaded_engine_test: operations
// that read 2 to 20 of 100 variables for 1 to 10 microseconds.

#include "EngineTesting.h"

#include "dlc/runtime/Base/Wait.h"

#include <algorithm>
#include <random>
#include <set>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr size_t cellCount = 100;

/// What a variable guards; on the heap, so that a use after the deletion is
/// found.
struct Cell {
  uint64_t value;
};

struct Step {
  enum Kind { Compute, Fail, Replace } kind = Compute;
  std::vector<uint32_t> reads;
  uint32_t write = 0;
  unsigned nanoseconds = 0;
  int priority = 0;
  Context context;
};

struct Mix {
  unsigned steps = 10'000;
  unsigned failPerMille = 0;
  unsigned replacePerMille = 0;
  bool hasPriorities = false;
  bool hasDevices = false;
  bool isAsync = false;
  unsigned longest = 10'000; ///< Nanoseconds.
};

std::vector<Step> makeSteps(uint64_t seed, const Mix &mix) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> order(cellCount);
  for (uint32_t i = 0; i != cellCount; ++i)
    order[i] = i;
  std::vector<Step> steps(mix.steps);
  for (Step &step : steps) {
    unsigned reads = 2 + random() % 19;
    for (unsigned i = 0; i != reads + 1; ++i)
      std::swap(order[i], order[i + random() % (cellCount - i)]);
    step.reads.assign(order.begin(), order.begin() + reads);
    step.write = order[reads];
    step.nanoseconds =
        mix.longest ? 1'000 + random() % (mix.longest - 1'000) : 0;
    unsigned kind = random() % 1000;
    if (kind < mix.failPerMille)
      step.kind = Step::Fail;
    else if (kind < mix.failPerMille + mix.replacePerMille)
      step.kind = Step::Replace;
    if (mix.hasPriorities)
      step.priority = int(random() % 5) - 2;
    if (mix.hasDevices) {
      Context choices[] = {Context::cpu(), Context::cpu(1), Context::null(),
                           Context::null(1), Context::cpuPinned()};
      step.context = choices[random() % 5];
    }
  }
  return steps;
}

uint64_t combine(const Step &step, Cell *const *cells) {
  uint64_t sum = 0;
  for (uint32_t read : step.reads)
    sum = sum * 31 + cells[read]->value;
  return cells[step.write]->value * 1'099'511'628'211u + sum;
}

/// One after the other; what each cell holds at the end, the log of what
/// replaced cells held, and whether a failure has poisoned the cell.
struct Outcome {
  std::vector<uint64_t> values, replaced;
  std::vector<char> isPoisoned;
  bool operator==(const Outcome &) const = default;
};

Outcome runSerially(const std::vector<Step> &steps) {
  std::vector<Cell> storage(cellCount, Cell{1});
  std::vector<Cell *> cells;
  for (Cell &cell : storage)
    cells.push_back(&cell);
  Outcome outcome;
  outcome.isPoisoned.resize(cellCount);
  std::vector<char> &poisoned = outcome.isPoisoned;
  for (const Step &step : steps) {
    if (step.kind == Step::Replace) {
      outcome.replaced.push_back(cells[step.write]->value);
      *cells[step.write] = {1};
      poisoned[step.write] = false;
      continue;
    }
    bool isSkipped = poisoned[step.write];
    for (uint32_t read : step.reads)
      isSkipped |= poisoned[read];
    if (isSkipped || step.kind == Step::Fail)
      poisoned[step.write] = true;
    else
      cells[step.write]->value = combine(step, cells.data());
  }
  for (const Cell &cell : storage)
    outcome.values.push_back(cell.value);
  return outcome;
}

void spin(unsigned nanoseconds) {
  if (!nanoseconds)
    return;
  for (uint64_t end = nowNanoseconds() + nanoseconds; nowNanoseconds() < end;)
    relax();
}

/// Runs the function of a step with its cells as they were at the push.
Status runStep(const Step &step, const std::vector<Cell *> &cells) {
  spin(step.nanoseconds);
  if (step.kind == Step::Fail)
    return makeError(StatusCode::DataLoss, "as planned");
  cells[step.write]->value = combine(step, cells.data());
  return Status::ok();
}

Outcome runOn(Engine &engine, const std::vector<Step> &steps, bool isAsync) {
  std::vector<Variable> variables = makeVariables(engine, cellCount);
  std::vector<Cell *> cells;
  for (size_t i = 0; i != cellCount; ++i)
    cells.push_back(new Cell{1});
  Outcome outcome;
  outcome.replaced.resize(std::ranges::count_if(
      steps, [](const Step &step) { return step.kind == Step::Replace; }));
  size_t replacements = 0;
  for (const Step &step : steps) {
    if (step.kind == Step::Replace) {
      Cell *old = cells[step.write];
      uint64_t *log = &outcome.replaced[replacements++];
      EXPECT_OK(engine.deleteVariable(
          [old, log] {
            *log = old->value;
            delete old;
          },
          step.context, variables[step.write]));
      variables[step.write] = makeVariables(engine, 1)[0];
      cells[step.write] = new Cell{1};
      continue;
    }
    std::vector<Variable> reads;
    for (uint32_t read : step.reads)
      reads.push_back(variables[read]);
    PushOptions options = {.priority = step.priority, .name = "step"};
    if (isAsync)
      EXPECT_OK(engine.pushAsync(
          [&step, cells](Completion done) {
            EXPECT_OK(done.complete(runStep(step, cells)));
          },
          step.context, reads, {variables[step.write]}, options));
    else
      EXPECT_OK(engine.pushSync([&step, cells] { return runStep(step, cells); },
                                step.context, reads, {variables[step.write]},
                                options));
  }
  // What reads a poisoned cell does not run. Stopping waits without taking the
  // errors.
  outcome.isPoisoned.assign(cellCount, true);
  for (size_t i = 0; i != cellCount; ++i)
    EXPECT_OK(engine.pushSync(
        [isPoisoned = &outcome.isPoisoned[i]] { *isPoisoned = false; },
        Context::cpu(), {variables[i]}, {}, {.priority = 1}));
  EXPECT_OK(engine.stop());
  EXPECT_OK(engine.start());
  for (size_t i = 0; i != cellCount; ++i) {
    outcome.values.push_back(cells[i]->value);
    EXPECT_OK(engine.deleteVariable(variables[i]));
  }
  (void)engine.waitForAll().isOk(); // The planned errors.
  EXPECT_EQ(engine.statistics().variables, 0u);
  for (Cell *cell : cells)
    delete cell;
  return outcome;
}

class Workload : public testing::TestWithParam<EngineOptions> {
protected:
  void check(const Mix &mix, EngineOptions options, uint64_t seed,
             unsigned bulk = 0) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", bulks of " +
                 std::to_string(bulk));
    std::vector<Step> steps = makeSteps(seed, mix);
    std::unique_ptr<Engine> engine = makeEngine(options);
    EXPECT_TRUE(engine->setBulkSize(bulk).isOk());
    EXPECT_TRUE(runSerially(steps) == runOn(*engine, steps, mix.isAsync));
  }
};

INSTANTIATE_TEST_SUITE_P(, Workload, testing::ValuesIn(allEngines()),
                         [](auto &info) { return engineName(info.param); });

} // namespace

TEST_P(Workload, EqualsSerialForEveryBulkSize) {
  for (unsigned bulk : {0, 15})
    check({.replacePerMille = 5}, GetParam(), 1, bulk);
  check({.steps = 2'000, .replacePerMille = 5}, GetParam(), 1, 2);
}

TEST_P(Workload, EqualsSerialWithFailures) {
  check({.failPerMille = 2, .replacePerMille = 50}, GetParam(), 2);
}

TEST_P(Workload, EqualsSerialWithAllOfItAtOnce) {
  Mix mix = {.failPerMille = 2,
             .replacePerMille = 50,
             .hasPriorities = true,
             .hasDevices = true};
  EngineOptions options = GetParam();
  check(mix, options, 3);
  options.fuzzSeed = 3; // Random delays.
  check(mix, options, 4);
  for (unsigned bulk : {2, 7, 100})
    check({.steps = 3'000,
           .failPerMille = 2,
           .replacePerMille = 50,
           .hasDevices = true},
          GetParam(), 5, bulk);
}

TEST_P(Workload, EqualsSerialWithPrioritiesAndDevices) {
  check({.steps = 4'000,
         .replacePerMille = 5,
         .hasPriorities = true,
         .hasDevices = true,
         .longest = 2'000},
        GetParam(), 3);
}

TEST_P(Workload, EqualsSerialWhenAsynchronous) {
  check({.steps = 3'000, .failPerMille = 1, .isAsync = true, .longest = 0},
        GetParam(), 4);
}

TEST_P(Workload, EqualsSerialInTightQuarters) {
  EngineOptions options = GetParam();
  options.maxOperations = 16;
  options.queueSlots = 16;
  options.spinMicroseconds = 0;
  check({.steps = 3'000, .longest = 0}, options, 5);
  options.callerHelp = CallerHelp::WaitingAndPushing;
  check({.steps = 3'000, .longest = 0}, options, 6);
  options.callerHelp = CallerHelp::Never;
  check({.steps = 3'000, .longest = 0}, options, 7);
}

TEST_P(Workload, EqualsSerialForManySchedules) {
  EngineOptions options = GetParam();
  for (uint64_t seed = 1; seed != 11; ++seed) {
    options.fuzzSeed = seed;
    check({.steps = 1'000,
           .failPerMille = 2,
           .replacePerMille = 20,
           .hasDevices = true,
           .longest = 0},
          options, seed);
  }
}

//===----------------------------------------------------------------------===//
// Schedules that replay
//===----------------------------------------------------------------------===//

/// The order in which 500 operations ran that one thread could take at will.
static std::vector<int> orderOf(uint64_t seed) {
  std::unique_ptr<Engine> engine = makeEngine({.kind = EngineKind::Threaded,
                                               .cpuWorkers = 1,
                                               .callerHelp = CallerHelp::Never,
                                               .fuzzSeed = seed});
  Gate gate;
  std::vector<Variable> v = makeVariables(*engine, 51);
  std::vector<int> order;
  EXPECT_OK(
      engine->pushSync([&] { gate.pass(); }, Context::cpu(), {}, {v[50]}));
  for (int i = 0; i != 500; ++i)
    EXPECT_OK(engine->pushSync([&order, i] { order.push_back(i); },
                               Context::cpu(), {v[50]}, {v[i % 50]}));
  gate.open();
  EXPECT_OK(engine->waitForAll());
  return order;
}

TEST(Schedules, ASeedReplaysItsOrder) {
  std::vector<int> first = orderOf(7);
  EXPECT_EQ(first.size(), 500u);
  EXPECT_EQ(first, orderOf(7));
  EXPECT_NE(first, orderOf(8));
  // Each of the 50 variables is still written in the order of the pushes.
  std::vector<int> last(50, -1);
  for (int i : first) {
    EXPECT_LT(last[i % 50], i);
    last[i % 50] = i;
  }
}

/// The same with failures, deletions and priorities, and what came of each
/// operation: its number, or one below zero when it failed.
static std::vector<int> mixedOrderOf(EngineKind kind, uint64_t seed) {
  std::unique_ptr<Engine> engine = makeEngine({.kind = kind,
                                               .cpuWorkers = 1,
                                               .callerHelp = CallerHelp::Never,
                                               .fuzzSeed = seed});
  Gate gate;
  std::vector<Variable> v = makeVariables(*engine, 21);
  std::mt19937 random(seed);
  std::vector<int> order;
  std::atomic<bool> runs = false;
  EXPECT_OK(engine->pushSync(
      [&] {
        runs = true;
        gate.pass();
      },
      Context::cpu(), {}, {v[20]}));
  until([&] { return runs.load(); }); // Deletions do not wait for it.
  for (int i = 0; i != 100; ++i) {
    Variable &own = v[random() % 20];
    Variable other = v[random() % 20];
    unsigned choice = random() % 30;
    if (choice == 0) {
      EXPECT_OK(engine->deleteVariable([&order, i] { order.push_back(i); },
                                       Context::cpu(), own));
      own = *engine->newVariable();
      continue;
    }
    std::vector<Variable> reads = {v[20]};
    if (other != own)
      reads.push_back(other);
    EXPECT_OK(engine->pushSync(
        [&order, i, choice] {
          order.push_back(choice == 1 ? -1 - i : i);
          return choice == 1 ? makeError(StatusCode::Internal, "number %d", i)
                             : Status::ok();
        },
        Context::cpu(), reads, {own}, {.priority = int(random() % 3)}));
  }
  gate.open();
  (void)engine->waitForAll().isOk(); // Most seeds have failures.
  order.push_back(int(engine->statistics().skipped));
  return order;
}

TEST(Schedules, SeedsReplayFailuresAndDeletions) {
  std::set<std::vector<int>> all;
  for (EngineKind kind : {EngineKind::Threaded, EngineKind::PerDevice})
    for (uint64_t seed = 1; seed != 6; ++seed) {
      std::vector<int> order = mixedOrderOf(kind, seed);
      EXPECT_EQ(order, mixedOrderOf(kind, seed)) << "seed " << seed;
      all.insert(std::move(order));
    }
  EXPECT_GE(all.size(), 5u);
}

//===----------------------------------------------------------------------===//
// Many
//===----------------------------------------------------------------------===//

/// Crossing orders from two threads, where locks taken one variable at a time
/// would deadlock; each variable counts what it should.
TEST(ManyOperations, AMillionFromTwoThreads) {
  std::unique_ptr<Engine> engine =
      makeEngine({.kind = EngineKind::PerDevice, .cpuWorkers = 2});
  constexpr unsigned count = 16, pushes = 500'000;
  std::vector<Variable> v = makeVariables(*engine, count);
  std::vector<uint64_t> sums(count), expected(count);
  auto push = [&](unsigned seed, std::vector<uint64_t> &mine) {
    std::mt19937 random(seed);
    for (unsigned i = 0; i != pushes; ++i) {
      unsigned r = random();
      unsigned write = r % count, read = (write + 1 + r / count % 15) % count;
      uint64_t *sum = &sums[write];
      Status status = engine->pushSync([sum] { ++*sum; }, Context::cpu(),
                                       {v[read]}, {v[write]});
      if (!status.isOk())
        return status;
      ++mine[write];
    }
    return Status::ok();
  };
  std::vector<uint64_t> others(count);
  std::thread other([&] { EXPECT_OK(push(2, others)); });
  EXPECT_OK(push(1, expected));
  other.join();
  EXPECT_OK(engine->waitForAll());
  for (unsigned i = 0; i != count; ++i)
    EXPECT_EQ(sums[i], expected[i] + others[i]);
  EXPECT_EQ(engine->statistics().completed, 2 * pushes);
}

/// As many threads as in MXNet's thread_safety_test push into one engine, each
/// with a variable of its own and all with one.
TEST_P(Workload, EqualsSerialFromTwentyThreads) {
  constexpr unsigned pushers = 20, pushes = 500;
  EngineOptions options = GetParam();
  options.maxOperations = 64; // They wait for each other, too.
  std::unique_ptr<Engine> engine = makeEngine(options);
  std::vector<Variable> v = makeVariables(*engine, pushers + 1);
  std::vector<uint64_t> values(pushers + 1);
  auto push = [&](unsigned own) {
    for (unsigned i = 0; i != pushes; ++i) {
      uint64_t *sum = &values[own], *all = &values[pushers];
      EXPECT_OK(engine->pushSync([sum, i] { *sum = *sum * 31 + i; },
                                 Context::cpu(), {}, {v[own]}));
      if (i % 10 == 0)
        EXPECT_OK(engine->pushSync([all] { ++*all; }, Context::cpu(), {v[own]},
                                   {v[pushers]}));
      if (i % 100 == 0)
        EXPECT_OK(engine->waitForVariable(v[own]));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned own = 0; own != pushers; ++own)
    threads.emplace_back(push, own);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_OK(engine->waitForAll());
  uint64_t expected = 0;
  for (unsigned i = 0; i != pushes; ++i)
    expected = expected * 31 + i;
  for (unsigned own = 0; own != pushers; ++own)
    EXPECT_EQ(values[own], expected);
  EXPECT_EQ(values[pushers], pushers * (pushes / 10));
}
