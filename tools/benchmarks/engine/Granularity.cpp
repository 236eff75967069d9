// SPDX-License-Identifier: Apache-2.0
//
// How short tasks may be.

#include "Calibrate.h"
#include "Measure.h"

#include "dlc/runtime/Base/Wait.h"

#include <algorithm>
#include <cmath>
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

/// The time of all tasks one after the other.
static double serialTime(size_t count) {
  uint64_t begin = rt::nowNanoseconds();
  for (size_t i = 0; i != count; ++i)
    task();
  return rt::nowNanoseconds() - begin;
}

/// For each peer the share of the workers' time that went into tasks of
/// `nanoseconds`.
static std::vector<double> efficiencies(const Peers &peers,
                                        const Pattern &pattern,
                                        double nanoseconds,
                                        const Settings &settings) {
  ScopedTaskLength length(nanoseconds);
  std::vector<double> serial;
  std::vector<std::vector<double>> times(peers.size());
  for (unsigned pass = 0; pass != std::max(5u, settings.passes / 3); ++pass) {
    serial.push_back(serialTime(pattern.size()));
    for (size_t i = 0; i != peers.size(); ++i) {
      times[i].push_back(peers[i]->run(pattern, {}).total);
      usleep(500);
    }
  }
  std::vector<double> result;
  for (const std::vector<double> &time : times)
    result.push_back(medianOf(serial) / (settings.workers * medianOf(time)));
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
