// SPDX-License-Identifier: Apache-2.0
//
// Engines without work: what they cost, and how soon they start again.

#include "DLC.h"
#include "Measure.h"

#include "dlc/runtime/Base/Wait.h"

#include <atomic>
#include <sched.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace dlc;
using namespace dlc::bench;

static double processorSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &time) {
    return time.tv_sec + time.tv_usec * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void dlc::bench::measureIdle(const Settings &settings, Report &report) {
  report.beginTable("without work", "percent of one processor");
  for (NamedEngine &engine :
       makeEngines(settings.workers, rt::CallerHelp::Never)) {
    for (int i = 0; i != 1000; ++i)
      check(engine.engine->pushSync([] {}, rt::Context::cpu(), {}, {}));
    check(engine.engine->waitForAll());
    usleep(1000);
    double before = processorSeconds();
    usleep(1'000'000);
    report.addFigure("idle", engine.name, "cpu_percent",
                     100 * (processorSeconds() - before));
  }
}

namespace {

/// The processors that this process may use, and those that are not the calling
/// thread's now.
struct Processors {
  Processors() {
    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    CPU_XOR(&others, &all, &here);
    if (!CPU_COUNT(&others))
      others = all;
  }
  static void keepTo(const cpu_set_t &processors) {
    sched_setaffinity(0, sizeof(processors), &processors);
  }

  cpu_set_t all, here, others;
};

/// What a start costs without an engine: one thread that looks at a word for as
/// long as workers do, then sleeps on it.
class BareThread {
public:
  BareThread(uint64_t spinNanoseconds, const cpu_set_t &processors)
      : thread([this, spinNanoseconds, processors] {
          Processors::keepTo(processors);
          work(spinNanoseconds);
        }) {}
  ~BareThread() {
    start(nullptr);
    thread.join();
  }

  /// Stores the time into `*next` soon, from the thread.
  void start(std::atomic<uint64_t> *next) {
    place.store(next, std::memory_order_relaxed);
    word.fetch_add(1, std::memory_order_seq_cst);
    if (isAsleep.load(std::memory_order_seq_cst))
      rt::futexWake(word, 1);
  }

private:
  void work(uint64_t spinNanoseconds) {
    for (uint32_t seen = 0;; ++seen) {
      auto isWanted = [&] { return word.load() != seen; };
      if (!rt::spinUntil(spinNanoseconds, isWanted)) {
        isAsleep.store(true, std::memory_order_seq_cst);
        while (!isWanted())
          rt::futexWait(word, seen);
        isAsleep.store(false, std::memory_order_relaxed);
      }
      std::atomic<uint64_t> *now = place.load(std::memory_order_relaxed);
      if (!now)
        return;
      now->store(rt::nowNanoseconds());
    }
  }

  std::atomic<uint32_t> word = 0;
  std::atomic<bool> isAsleep = false;
  std::atomic<std::atomic<uint64_t> *> place = nullptr;
  std::thread thread;
};

} // namespace

/// One start, by `push(start)`, after `pause` nanoseconds without work.
template <typename Push> static Sample measureStart(uint64_t pause, Push push) {
  if (pause > 100'000)
    usleep(pause / 1000);
  else
    rt::spinUntil(pause, [] { return false; });
  std::atomic<uint64_t> start = 0;
  uint64_t begin = rt::nowNanoseconds();
  push(start);
  uint64_t pushed = rt::nowNanoseconds();
  while (!start.load())
    rt::relax();
  return {double(pushed - begin), double(start - begin)};
}

/// The same with threads that spin for longer than that: what woke them, which
/// takes the waking thread longer than they spin, is not counted.
template <typename Push>
static Sample measureWarmStart(uint64_t pause, Push push) {
  constexpr double longestPush = 5'000;
  for (int i = 0; i != 100; ++i)
    if (measureStart(pause, push).submit < longestPush)
      break;
  return measureStart(pause, push);
}

void dlc::bench::measureStarts(const Settings &settings, Report &report) {
  report.beginTable("start after idle",
                    "ns from the push to the start, with two clock reads",
                    "bare");
  std::vector<NamedEngine> engines =
      makeEngines(settings.workers, rt::CallerHelp::Never);
  std::vector<rt::Variable> variables;
  for (NamedEngine &engine : engines) {
    rt::Result<rt::Variable> variable = engine.engine->newVariable();
    check(variable.status());
    variables.push_back(*variable);
  }
  // A thread that sleeps is woken soonest on the processor of the one that
  // wakes it, which stops for that; one that has stopped itself takes far
  // longer where a hypervisor has to start it. What a system chooses for one
  // thread is not what it chooses for several, so that there are two to compare
  // with.
  Processors processors;
  uint64_t spin = rt::EngineOptions().spinMicroseconds * 1000;
  BareThread bare(spin, processors.all);
  BareThread elsewhere(spin, processors.others);
  auto startBare = [&](std::atomic<uint64_t> &start) { bare.start(&start); };
  auto startElsewhere = [&](std::atomic<uint64_t> &start) {
    elsewhere.start(&start);
  };
  auto startIn = [&](size_t k) {
    return [&, k](std::atomic<uint64_t> &start) {
      check(engines[k].engine->pushSync([&] { start = rt::nowNanoseconds(); },
                                        rt::Context::cpu(), {},
                                        {&variables[k], 1}));
    };
  };
  // Well below and well above the time that threads spin for. Before each, the
  // threads of the one before go to sleep.
  auto measure = [&](const char *name, int count, auto sampleOf) {
    Series alone, apart;
    std::vector<Series> series(engines.size());
    for (int i = 0; i != count; ++i) {
      usleep(500);
      alone.add(sampleOf(startBare), 1);
      Processors::keepTo(processors.here);
      usleep(500);
      apart.add(sampleOf(startElsewhere), 1);
      Processors::keepTo(processors.all);
      for (size_t k = 0; k != engines.size(); ++k) {
        usleep(500);
        series[k].add(sampleOf(startIn(k)), 1);
        check(engines[k].engine->waitForAll());
      }
    }
    double reference = medianOf(alone.total);
    report.addSeries(name, "bare thread", alone, reference);
    report.addSeries(name, "bare thread, elsewhere", apart, reference);
    for (size_t k = 0; k != engines.size(); ++k)
      report.addSeries(name, engines[k].name, series[k], reference);
  };
  measure("start, spinning", 300,
          [](auto push) { return measureWarmStart(5'000, push); });
  measure("start, parked", 300,
          [](auto push) { return measureStart(2'000'000, push); });
}
