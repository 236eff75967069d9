// SPDX-License-Identifier: Apache-2.0
//
// Joining changes nothing: random operations of several threads leave the same
// values, versions and errors as one after the other would, for every engine
// and size of bulks, with delays, failures, deletions and waits among them.

#include "EngineTesting.h"

#include "dlc/runtime/Base/Wait.h"

#include <random>
#include <set>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr unsigned cellCount = 60;

struct Step {
  enum Kind { Compute, Fail, Delete, Look, WaitForAll } kind = Compute;
  unsigned thread = 0; ///< That pushes it.
  std::vector<unsigned> reads;
  unsigned write = 0;
  unsigned nanoseconds = 0; ///< That it takes.
  int priority = 0;
  bool isAsync = false;
  Context context;
  std::string name;
};

std::vector<Step> makeSteps(uint64_t seed, unsigned count, unsigned threads) {
  std::mt19937_64 random(seed);
  std::vector<Step> steps(count);
  unsigned thread = 0;
  for (unsigned i = 0; i != count; ++i) {
    Step &step = steps[i];
    unsigned kind = random() % 1000;
    step.kind = kind < 20   ? Step::Fail
                : kind < 35 ? Step::Delete
                : kind < 50 ? Step::Look
                : kind < 60 ? Step::WaitForAll
                            : Step::Compute;
    if (random() % 8 == 0)
      thread = random() % threads;
    step.thread = thread;
    std::set<unsigned> used = {step.write = random() % cellCount};
    for (unsigned left = random() % 6; left; --left)
      if (unsigned read = random() % cellCount; used.insert(read).second)
        step.reads.push_back(read);
    step.nanoseconds = random() % 4 ? 0 : random() % 2'000;
    unsigned rare = random() % 200;
    step.priority = rare == 0;
    step.isAsync = rare == 1;
    step.context = rare == 2   ? Context::cpu(1)
                   : rare == 3 ? Context::null()
                               : Context::cpu();
    step.name = "step " + std::to_string(i);
  }
  return steps;
}

/// What a variable guards; on the heap, so that a use after the deletion is
/// found.
struct Cell {
  uint64_t value = 1;
};

uint64_t combine(const Step &step, Cell *const *cells) {
  uint64_t sum = 0;
  for (unsigned read : step.reads)
    sum = sum * 31 + cells[read]->value;
  return cells[step.write]->value * 1'099'511'628'211u + sum + 1;
}

/// What comes of the steps, one after the other.
struct Expected {
  struct Variable {
    uint64_t version = 0;
    /// Failed steps whose error may have reached it. Which of two does depends
    /// on the order in which inputs become free.
    std::set<unsigned> errors;
  };
  std::vector<Variable> variables = std::vector<Variable>(cellCount);
  std::vector<uint64_t> values, deleted;
  std::vector<uint64_t> looks;           ///< At values; of a poisoned one 0.
  std::vector<std::set<unsigned>> waits; ///< Errors that each one finds.
  std::set<unsigned> left;               ///< That nobody was told of.
  std::set<unsigned> skippedSteps;
  uint64_t failed = 0, completed = 0;
};

Expected expect(const std::vector<Step> &steps) {
  Expected result;
  std::vector<Cell> storage(cellCount);
  std::vector<Cell *> cells;
  for (Cell &cell : storage)
    cells.push_back(&cell);
  for (unsigned i = 0; i != steps.size(); ++i) {
    const Step &step = steps[i];
    Expected::Variable &written = result.variables[step.write];
    Cell &cell = *cells[step.write];
    if (step.kind == Step::WaitForAll) {
      result.waits.push_back(std::move(result.left));
      result.left.clear();
      for (Expected::Variable &variable : result.variables)
        variable.errors.clear();
      continue;
    }
    if (step.kind == Step::Look) {
      result.looks.push_back(written.errors.empty() ? cell.value : 0);
      continue;
    }
    ++result.completed;
    if (step.kind == Step::Delete) {
      result.deleted.push_back(cell.value);
      cell = {};
      written = {};
      continue;
    }
    std::set<unsigned> errors = written.errors;
    for (unsigned read : step.reads)
      errors.merge(std::set(result.variables[read].errors));
    if (!errors.empty()) {
      result.skippedSteps.insert(i);
      written.errors = std::move(errors);
      continue;
    }
    ++written.version;
    if (step.kind == Step::Fail) {
      ++result.failed;
      result.left.insert(i);
      written.errors = {i};
    } else {
      cell.value = combine(step, cells.data());
    }
  }
  for (const Cell &cell : storage)
    result.values.push_back(cell.value);
  return result;
}

/// The numbers after each "'step ".
std::vector<unsigned> stepsIn(const std::string &text) {
  std::vector<unsigned> numbers;
  for (size_t at = 0; (at = text.find("'step ", at)) != std::string::npos;)
    numbers.push_back(std::stoul(text.substr(at += 6)));
  return numbers;
}

class Runner {
public:
  Runner(Engine &engine, const std::vector<Step> &steps,
         const Expected &expected)
      : engine(engine), steps(steps), expected(expected),
        variables(makeVariables(engine, cellCount)),
        deleted(expected.deleted.size()) {
    for (unsigned i = 0; i != cellCount; ++i)
      cells.push_back(new Cell);
  }
  ~Runner() {
    for (Cell *cell : cells)
      delete cell;
  }

  /// The threads take turns: the steps are pushed in their order. Bulks that
  /// they have begun are pushed as they end.
  void push(unsigned threadCount, unsigned bulk) {
    std::atomic<unsigned> turn = 0;
    auto pushOwn = [&](unsigned own) {
      EXPECT_TRUE(engine.setBulkSize(bulk).isOk());
      for (unsigned i = 0; i != steps.size(); ++i) {
        if (steps[i].thread != own)
          continue;
        for (unsigned now; (now = turn) != i;)
          turn.wait(now);
        doStep(steps[i]);
        turn = i + 1;
        turn.notify_all();
      }
    };
    std::vector<std::thread> threads;
    for (unsigned own = 0; own != threadCount; ++own)
      threads.emplace_back(pushOwn, own);
    for (std::thread &thread : threads)
      thread.join();
  }

  void check() {
    // Waits without taking the errors.
    EXPECT_OK(engine.stop());
    EXPECT_OK(engine.start());
    std::vector<uint64_t> values;
    for (Cell *cell : cells)
      values.push_back(cell->value);
    EXPECT_EQ(values, expected.values);
    EXPECT_EQ(deleted, expected.deleted);
    EngineStatistics numbers = engine.statistics();
    EXPECT_EQ(numbers.failed, expected.failed);
    EXPECT_EQ(numbers.skipped, expected.skippedSteps.size());
    EXPECT_EQ(numbers.completed, expected.completed);
    std::set<unsigned> left = expected.left;
    for (unsigned i = 0; i != cellCount; ++i) {
      EXPECT_EQ(*engine.version(variables[i]), expected.variables[i].version);
      checkWait(engine.waitForVariable(variables[i]),
                expected.variables[i].errors, left);
      EXPECT_OK(engine.deleteVariable(variables[i]));
    }
    checkWaitForAll(engine.waitForAll(), left);
  }

private:
  void doStep(const Step &step) {
    Variable &written = variables[step.write];
    switch (step.kind) {
    case Step::WaitForAll:
      checkWaitForAll(engine.waitForAll(), expected.waits[waits++]);
      return;
    case Step::Look:
      // An error that is returned here would not be at its other variables.
      if (uint64_t value = expected.looks[looks++]) {
        EXPECT_OK(engine.waitForVariable(written));
        EXPECT_EQ(cells[step.write]->value, value);
      }
      return;
    case Step::Delete: {
      Cell *old = std::exchange(cells[step.write], new Cell);
      uint64_t *log = &deleted[deletions++];
      EXPECT_OK(engine.deleteVariable(
          [old, log] {
            *log = old->value;
            delete old;
          },
          step.context, written));
      written = makeVariables(engine, 1)[0];
      return;
    }
    default:
      break;
    }
    std::vector<Variable> reads;
    for (unsigned read : step.reads)
      reads.push_back(variables[read]);
    PushOptions options = {.priority = step.priority,
                           .name = step.name.c_str()};
    auto run = [&step, cells = cells] {
      for (uint64_t end = nowNanoseconds() + step.nanoseconds;
           nowNanoseconds() < end;)
        relax();
      if (step.kind == Step::Fail)
        return makeError(StatusCode::DataLoss, "as planned");
      cells[step.write]->value = combine(step, cells.data());
      return Status::ok();
    };
    if (step.isAsync)
      EXPECT_OK(engine.pushAsync(
          [run](Completion done) { EXPECT_OK(done.complete(run())); },
          step.context, reads, {written}, options));
    else
      EXPECT_OK(engine.pushSync(run, step.context, reads, {written}, options));
  }

  /// For a variable that any of `errors` may have reached, if it is in `left`:
  /// that nobody was told of it.
  void checkWait(const Status &status, const std::set<unsigned> &errors,
                 std::set<unsigned> &left) {
    if (status.isOk()) {
      unsigned gone = std::ranges::count_if(
          errors, [&](unsigned error) { return !left.count(error); });
      EXPECT_TRUE(errors.empty() || gone);
      return;
    }
    std::vector<unsigned> numbers = stepsIn(status.message());
    ASSERT_FALSE(numbers.empty()) << status.message();
    EXPECT_EQ(status.message().find("operation 'step "), 0u)
        << status.message();
    EXPECT_TRUE(errors.count(numbers[0])) << status.message();
    EXPECT_EQ(left.erase(numbers[0]), 1u) << status.message();
    for (unsigned i = 1; i != numbers.size(); ++i)
      EXPECT_TRUE(expected.skippedSteps.count(numbers[i])) << status.message();
  }

  void checkWaitForAll(const Status &status, const std::set<unsigned> &left) {
    ASSERT_EQ(status.isOk(), left.empty()) << status.message();
    if (status.isOk())
      return;
    std::vector<unsigned> numbers = stepsIn(status.message());
    ASSERT_EQ(numbers.size(), 1u) << status.message();
    EXPECT_TRUE(left.count(numbers[0])) << status.message();
    size_t more = 0;
    if (size_t at = status.message().find("; and "); at != std::string::npos)
      more = std::stoul(status.message().substr(at + 6));
    EXPECT_EQ(more, left.size() - 1) << status.message();
  }

  Engine &engine;
  const std::vector<Step> &steps;
  const Expected &expected;
  std::vector<Variable> variables;
  std::vector<Cell *> cells;
  std::vector<uint64_t> deleted;
  size_t deletions = 0, waits = 0, looks = 0;
};

class BulkWorkload : public testing::TestWithParam<EngineOptions> {
protected:
  void check(const EngineOptions &options, uint64_t seed, unsigned threads,
             unsigned bulk, unsigned count = 800) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " +
                 std::to_string(threads) + " threads, bulks of " +
                 std::to_string(bulk));
    std::vector<Step> steps = makeSteps(seed, count, threads);
    Expected expected = expect(steps);
    // So that no seed goes without what it is here for.
    EXPECT_TRUE(expected.failed && !expected.skippedSteps.empty() &&
                !expected.deleted.empty() && !expected.waits.empty());
    std::unique_ptr<Engine> engine = makeEngine(options);
    Runner run(*engine, steps, expected);
    run.push(threads, bulk);
    run.check();
  }
};

INSTANTIATE_TEST_SUITE_P(, BulkWorkload, testing::ValuesIn(allEngines()),
                         [](auto &info) { return engineName(info.param); });

} // namespace

TEST_P(BulkWorkload, EqualsSerialForEverySizeAndNumberOfThreads) {
  uint64_t seed = 0;
  for (unsigned bulk : {1, 2, 7, 64})
    for (unsigned threads : {1, 3})
      check(GetParam(), ++seed, threads, bulk);
}

TEST_P(BulkWorkload, EqualsSerialInTightQuarters) {
  EngineOptions options = GetParam();
  options.maxOperations = options.queueSlots = 16;
  options.spinMicroseconds = 0;
  for (CallerHelp help : {CallerHelp::Never, CallerHelp::WaitingAndPushing}) {
    options.callerHelp = help;
    check(options, 21, 3, 5);
  }
}

TEST_P(BulkWorkload, EqualsSerialForManySchedules) {
  EngineOptions options = GetParam();
  for (uint64_t seed = 31; seed != 37; ++seed) {
    options.fuzzSeed = seed;
    check(options, seed, 2, 1 + seed % 10, 600);
  }
}
