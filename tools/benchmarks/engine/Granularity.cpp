// SPDX-License-Identifier: Apache-2.0
//
// How short tasks may be.

#include "Calibrate.h"
#include "Measure.h"

#include "dlc/runtime/Base/Wait.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <unistd.h>

using namespace dlc;
using namespace dlc::bench;

/// Turns of task()'s loop in a nanosecond, measured once.
static double turnsPerNanosecond() {
  static const double turns = [] {
    double best = 0;
    for (int i = 0; i != 20; ++i) {
      taskIterations = 1'000'000;
      uint64_t begin = rt::nowNanoseconds();
      task();
      best =
          std::max(best, taskIterations / double(rt::nowNanoseconds() - begin));
    }
    taskIterations = 0;
    return best;
  }();
  return turns;
}

ScopedTaskLength::ScopedTaskLength(double nanoseconds) {
  double turns = turnsPerNanosecond();
  taskIterations = std::lround(nanoseconds * turns);
}

ScopedTaskLength::~ScopedTaskLength() { taskIterations = 0; }

/// The time of all tasks on bare threads that have an equal share each: what
/// the machine can do. Two processors are often less than twice one.
static double bareTime(size_t count, unsigned threads) {
  std::atomic<unsigned> ready = 0;
  std::atomic<uint64_t> begin = 0, end = 0;
  auto share = [&] {
    if (++ready == threads)
      begin = rt::nowNanoseconds();
    while (!begin.load())
      rt::relax();
    for (size_t i = 0; i != count / threads; ++i)
      task();
    uint64_t now = rt::nowNanoseconds(), last = end.load();
    while (last < now && !end.compare_exchange_weak(last, now))
      ;
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back(share);
  share();
  for (std::thread &other : others)
    other.join();
  return end - begin;
}

/// For each peer how fast tasks of `nanoseconds` were done, where bare threads
/// make 1.
static std::vector<double> efficiencies(const Peers &peers,
                                        const Pattern &pattern,
                                        double nanoseconds,
                                        const Settings &settings) {
  ScopedTaskLength length(nanoseconds);
  std::vector<double> bare;
  std::vector<std::vector<double>> times(peers.size());
  for (unsigned pass = 0; pass != std::max(5u, settings.passes / 3); ++pass) {
    bare.push_back(bareTime(pattern.size(), settings.workers));
    for (size_t i = 0; i != peers.size(); ++i) {
      times[i].push_back(peers[i]->run(pattern, {}).total);
      usleep(500);
    }
  }
  std::vector<double> result;
  for (const std::vector<double> &time : times)
    result.push_back(medianOf(bare) / medianOf(time));
  return result;
}

void dlc::bench::measureGranularity(const Peers &peers,
                                    const Settings &settings, Report &report) {
  report.beginTable("tasks at which the workers are half efficient", "ns");
  const double lengths[] = {100,  150,  220,  330,  500,  700,
                            1000, 1500, 2200, 3300, 5000, 10000};
  size_t n = settings.operations * 2 / 5;
  for (const Pattern &pattern : {independentWrites(n), randomReads(n, 2)}) {
    std::vector<double> found(peers.size(), 0), last(peers.size(), 0);
    double previous = 0;
    for (double length : lengths) {
      std::vector<double> now = efficiencies(peers, pattern, length, settings);
      for (size_t i = 0; i != peers.size(); ++i) {
        // Between two lengths by their logarithms.
        if (!found[i] && now[i] >= 0.5)
          found[i] =
              last[i] > 0 && last[i] < 0.5
                  ? previous * std::pow(length / previous,
                                        (0.5 - last[i]) / (now[i] - last[i]))
                  : length;
        last[i] = now[i];
      }
      previous = length;
    }
    for (size_t i = 0; i != peers.size(); ++i)
      if (found[i])
        report.addFigure("METG " + pattern.name, peers[i]->name(), "task_ns",
                         found[i]);
      else
        report.addNote("METG " + pattern.name, peers[i]->name(),
                       "not half efficient with tasks of 10 us");
  }
}
