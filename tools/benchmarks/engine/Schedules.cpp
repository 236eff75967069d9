// SPDX-License-Identifier: Apache-2.0
//
// Static schedules: recorded once, run many times.

#include "Calibrate.h"
#include "Measure.h"

#include "dlc/runtime/Base/Wait.h"

#include <random>
#include <unistd.h>

using namespace dlc;
using namespace dlc::bench;

static Schedule chainSchedule(uint32_t tasks) {
  Schedule schedule{"chain", tasks, {}};
  for (uint32_t i = 0; i + 1 < tasks; ++i)
    schedule.edges.push_back({i, i + 1});
  return schedule;
}

/// `rounds` times from one task to `width` tasks and back to one.
static Schedule fanSchedule(uint32_t rounds, uint32_t width) {
  Schedule schedule{"fan-out and in", rounds * (width + 1) + 1, {}};
  for (uint32_t round = 0; round != rounds; ++round) {
    uint32_t first = round * (width + 1);
    for (uint32_t i = 1; i <= width; ++i) {
      schedule.edges.push_back({first, first + i});
      schedule.edges.push_back({first + i, first + width + 1});
    }
  }
  return schedule;
}

static Schedule randomSchedule(uint32_t tasks, unsigned degree) {
  Schedule schedule{"random, degree " + std::to_string(degree), tasks, {}};
  std::mt19937 random(1);
  for (uint32_t i = 1; i != tasks; ++i)
    for (unsigned k = 0; k != degree; ++k)
      schedule.edges.push_back(
          {i - 1 - uint32_t(random() % std::min(i, 200u)), i});
  return schedule;
}

static Schedule wavefrontSchedule(uint32_t side) {
  Schedule schedule{"wavefront", side * side, {}};
  for (uint32_t i = 0; i != side; ++i)
    for (uint32_t j = 0; j != side; ++j) {
      uint32_t task = i * side + j;
      if (i + 1 != side)
        schedule.edges.push_back({task, task + side});
      if (j + 1 != side)
        schedule.edges.push_back({task, task + 1});
    }
  return schedule;
}

static double timeOf(RecordedSchedule &schedule) {
  uint64_t begin = rt::nowNanoseconds();
  schedule.run();
  return rt::nowNanoseconds() - begin;
}

/// Nanoseconds an edge, and how much the other threads did.
static void measure(const Schedule &schedule, unsigned threads, unsigned passes,
                    Report &report) {
  std::vector<std::unique_ptr<RecordedSchedule>> peers;
  peers.push_back(recordTaskGraph(schedule, threads));
  if (std::unique_ptr<RecordedSchedule> graph =
          recordFlowGraph(schedule, threads))
    peers.push_back(std::move(graph));
  std::vector<Series> series(peers.size());
  double shared = 0;
  // One after the other, with a pause between: threads of a peer look for work
  // for a while after its run, on a processor that the next one's need.
  for (size_t i = 0; i != peers.size(); ++i, usleep(10'000))
    for (unsigned pass = 0; pass <= passes; ++pass) {
      double time = timeOf(*peers[i]);
      if (pass)
        series[i].add({0, time}, schedule.edges.size());
      if (pass && i == 0)
        shared += peers[0]->shared() / passes;
    }
  std::string name = "static " + schedule.name + ", " +
                     std::to_string(threads) +
                     (threads > 1 ? " threads" : " thread");
  for (size_t i = 0; i != peers.size(); ++i)
    report.addSeries(name, peers[i]->name(), series[i], 0);
  if (threads > 1)
    report.addFigure(name, peers[0]->name(), "done_by_others", shared);
}

/// Tasks of a microsecond: the share of the threads' time that is useful.
static void measureEfficiency(const Schedule &schedule, unsigned threads,
                              unsigned passes, Report &report) {
  ScopedTaskLength length(1000);
  std::unique_ptr<RecordedSchedule> alone = recordTaskGraph(schedule, 1);
  std::unique_ptr<RecordedSchedule> together =
      recordTaskGraph(schedule, threads);
  std::vector<double> ratios, shares;
  for (unsigned pass = 0; pass != passes; ++pass) {
    double serial = timeOf(*alone);
    ratios.push_back(serial / (threads * timeOf(*together)));
    shares.push_back(together->shared());
  }
  std::string name = "static " + schedule.name + ", 1 us tasks";
  report.addFigure(name, "TaskGraph", "efficiency", medianOf(ratios));
  report.addFigure(name, "TaskGraph", "done_by_others", medianOf(shares));
}

void dlc::bench::measureSchedules(const Settings &settings, Report &report) {
  report.beginTable("static schedules, empty tasks", "ns an edge");
  const Schedule schedules[] = {chainSchedule(10'000), fanSchedule(100, 100),
                                randomSchedule(10'000, 4),
                                wavefrontSchedule(100)};
  for (const Schedule &schedule : schedules)
    for (unsigned threads : {1u, settings.workers})
      measure(schedule, threads, 3 * settings.passes, report);
  for (const Schedule &schedule : schedules)
    if (schedule.name != "chain")
      measureEfficiency(schedule, settings.workers, settings.passes, report);
}
