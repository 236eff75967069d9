// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the threaded engine cost by themselves, least of many: the
// inputs of simulate.py.

#include "DLC.h"
#include "Measure.h"

#include "dlc/runtime/Base/Wait.h"

#include <algorithm>
#include <atomic>
#include <sched.h>
#include <thread>

using namespace dlc;
using namespace dlc::bench;

namespace {

/// Of one operation: what the pushing thread spends, and what the only worker
/// does for it until it is forgotten.
struct OperationCost {
  double push, schedule;
};

/// The least of what `measure` returns.
template <typename Measure> double leastOf(unsigned times, Measure measure) {
  double least = 1e18;
  for (unsigned i = 0; i != times; ++i)
    least = std::min<double>(least, measure());
  return least;
}

/// Gives its processor up where the other thread may need it.
template <typename Predicate> void await(Predicate isDone) {
  while (!rt::spinUntil(20'000, isDone))
    sched_yield();
}

} // namespace

/// While an operation holds up the only worker nothing is registered; then the
/// worker does all by itself. `bulk`: so many operations are joined.
static OperationCost measureOperations(rt::Engine &engine,
                                       const std::vector<rt::Variable> &all,
                                       const Pattern &pattern, unsigned bulk,
                                       unsigned rounds) {
  OperationCost least = {1e18, 1e18};
  for (unsigned round = 0; round != rounds; ++round) {
    // On a line of its own: the worker looks at it all the time.
    alignas(64) std::atomic<bool> isFree = false;
    alignas(64) std::atomic<bool> isHeld = false;
    check(engine.pushSync(
        [&] {
          isHeld = true;
          await([&] { return isFree.load(); });
        },
        rt::Context::cpu(), {}, {}));
    await([&] { return isHeld.load(); });
    uint64_t begin = rt::nowNanoseconds();
    rt::BulkScope scope(engine, bulk);
    for (size_t i = 0; i != pattern.size(); ++i) {
      rt::Variable reads[16];
      for (int k = 0; k != pattern.readCount; ++k)
        reads[k] = all[pattern.readsOf(i)[k]];
      check(engine.pushSync([] { task(); }, rt::Context::cpu(),
                            {reads, size_t(pattern.readCount)},
                            {&all[pattern.writes[i]], 1}));
    }
    check(scope.end());
    uint64_t pushed = rt::nowNanoseconds();
    isFree = true;
    check(engine.waitForAll());
    uint64_t done = rt::nowNanoseconds();
    double count = double(pattern.size());
    least.push = std::min(least.push, (pushed - begin) / count);
    least.schedule = std::min(least.schedule, (done - pushed) / count);
  }
  return least;
}

/// One way of a cache line between two threads.
static double measureLine() {
  constexpr uint32_t rounds = 200;
  std::atomic<uint32_t> ball = 0;
  auto awaitBall = [&](uint32_t wanted) {
    // Without a pause for as long as it usually takes.
    for (int i = 0; i != 1000; ++i)
      if (ball.load(std::memory_order_acquire) == wanted)
        return;
    await([&] { return ball.load(std::memory_order_acquire) == wanted; });
  };
  std::thread other([&] {
    for (uint32_t i = 1; i < 2 * rounds; i += 2) {
      awaitBall(i);
      ball.store(i + 1, std::memory_order_release);
    }
  });
  uint64_t begin = 0;
  for (uint32_t i = 0; i != 2 * rounds; i += 2) {
    awaitBall(i);
    if (i == rounds) // The threads have met.
      begin = rt::nowNanoseconds();
    ball.store(i + 1, std::memory_order_release);
  }
  awaitBall(2 * rounds);
  double time = double(rt::nowNanoseconds() - begin);
  other.join();
  return time / rounds;
}

void dlc::bench::measureCosts(const Settings &settings, Report &report) {
  report.beginTable("costs of the parts", "ns, the least of many");
  rt::EngineOptions options;
  options.cpuWorkers = 1;
  options.callerHelp = rt::CallerHelp::Never;
  rt::Result<std::unique_ptr<rt::Engine>> engine = rt::Engine::create(options);
  check(engine.status());
  std::vector<rt::Variable> variables;
  for (int i = 0; i != Pattern::variableCount; ++i) {
    rt::Result<rt::Variable> variable = (*engine)->newVariable();
    check(variable.status());
    variables.push_back(*variable);
  }
  // They fit into the queue: 400 lines of one, 800 of the other.
  unsigned rounds = 20 * settings.passes;
  OperationCost few =
      measureOperations(**engine, variables, independentWrites(400), 1, rounds);
  OperationCost many =
      measureOperations(**engine, variables, randomReads(400, 10), 1, rounds);
  OperationCost parts = measureOperations(**engine, variables,
                                          independentWrites(400), 16, rounds);
  OperationCost partsOfChain =
      measureOperations(**engine, variables, chain(400), 16, rounds);
  OperationCost lone =
      measureOperations(**engine, variables, chain(400), 1, rounds);
  // While another thread may collect, and has nothing.
  OperationCost beside;
  std::thread([&] {
    rt::BulkScope scope(**engine, 16);
    std::thread([&] {
      beside = measureOperations(**engine, variables, chain(400), 1, rounds);
    }).join();
  }).join();
  auto add = [&](const char *name, double nanoseconds) {
    report.addFigure(name, "PerDevice", "ns", nanoseconds);
  };
  double pushOfVariable = (many.push - few.push) / 10;
  double scheduleOfVariable = (many.schedule - few.schedule) / 10;
  add("push", few.push - pushOfVariable);
  add("push_variable", pushOfVariable);
  add("schedule", few.schedule - scheduleOfVariable);
  add("schedule_variable", scheduleOfVariable);
  // Of the first pattern, and of a chain, one by one and in bulks of 16.
  add("push_write", few.push);
  add("schedule_write", few.schedule);
  add("push_part", parts.push);
  add("schedule_part", parts.schedule);
  add("push_link", lone.push);
  add("schedule_link", lone.schedule);
  add("push_link_beside_bulk", beside.push);
  add("push_link_part", partsOfChain.push);
  add("schedule_link_part", partsOfChain.schedule);
  add("line", leastOf(settings.passes, measureLine));
  add("pause", leastOf(settings.passes, [] {
        uint64_t begin = rt::nowNanoseconds();
        for (int i = 0; i != 1000; ++i)
          rt::relax();
        return double(rt::nowNanoseconds() - begin) / 1000;
      }));
  add("system_call", leastOf(settings.passes, [] {
        std::atomic<uint32_t> word = 0;
        uint64_t begin = rt::nowNanoseconds();
        for (int i = 0; i != 100; ++i)
          rt::futexWake(word, 1);
        return double(rt::nowNanoseconds() - begin) / 100;
      }));
}
