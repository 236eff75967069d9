// SPDX-License-Identifier: Apache-2.0
//
// Engines without work: what they cost, and how soon they start again.

#include "DLC.h"
#include "Measure.h"

#include "dlc/runtime/Base/Wait.h"

#include <atomic>
#include <sys/resource.h>
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

/// One start after `pause` nanoseconds without work.
static Sample measureStart(rt::Engine &engine, rt::Variable variable,
                           uint64_t pause) {
  if (pause > 100'000)
    usleep(pause / 1000);
  else
    rt::spinUntil(pause, [] { return false; });
  std::atomic<uint64_t> start = 0;
  uint64_t begin = rt::nowNanoseconds();
  check(engine.pushSync([&] { start = rt::nowNanoseconds(); },
                        rt::Context::cpu(), {}, {variable}));
  uint64_t pushed = rt::nowNanoseconds();
  while (!start.load())
    rt::relax();
  check(engine.waitForVariable(variable));
  return {double(pushed - begin), double(start - begin)};
}

void dlc::bench::measureStarts(const Settings &settings, Report &report) {
  report.beginTable("start after idle",
                    "ns from the push to the start, with two clock reads");
  for (NamedEngine &engine :
       makeEngines(settings.workers, rt::CallerHelp::Never)) {
    rt::Result<rt::Variable> variable = engine.engine->newVariable();
    check(variable.status());
    // Well below and well above the time that threads spin for.
    const struct {
      const char *name;
      uint64_t pause;
      int count;
    } cases[] = {{"start, spinning", 5'000, 1000},
                 {"start, parked", 2'000'000, 300}};
    for (auto &[name, pause, count] : cases) {
      Series series;
      for (int i = 0; i != count; ++i)
        series.add(measureStart(*engine.engine, *variable, pause), 1);
      report.addSeries(name, engine.name, series, 0);
    }
  }
}
