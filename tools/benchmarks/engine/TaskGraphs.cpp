// SPDX-License-Identifier: Apache-2.0
//
// The runtime's static schedule.

#include "DLC.h"
#include "Peer.h"

#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Engine/TaskGraph.h"

#include <pthread.h>

using namespace dlc;
using namespace dlc::bench;

namespace {

class RecordedTaskGraph : public RecordedSchedule {
public:
  RecordedTaskGraph(rt::TaskGraph made, std::unique_ptr<rt::WorkerPool> pool)
      : graph(std::move(made)), workers(std::move(pool)),
        runner(graph, workers.get()), lanes(runner.lanes()) {}

  std::string name() const override { return "TaskGraph"; }

  void run() override {
    caller = pthread_self();
    for (Lane &lane : lanes)
      lane.tasks = 0;
    check(runner.run(
        [](void *self, uint32_t, unsigned lane) {
          static_cast<RecordedTaskGraph *>(self)->lanes[lane].count();
          task();
          return rt::Status::ok();
        },
        this));
  }

  double shared() const override {
    double own = 0;
    for (const Lane &lane : lanes)
      if (lane.tasks && pthread_equal(lane.thread, caller))
        own += lane.tasks;
    return 1 - own / graph.taskCount();
  }

private:
  /// Of one thread in each run, which need not be the same in all.
  struct alignas(64) Lane {
    uint32_t tasks = 0;
    pthread_t thread = {};

    void count() {
      if (!tasks++)
        thread = pthread_self();
    }
  };
  rt::TaskGraph graph;
  std::unique_ptr<rt::WorkerPool> workers;
  rt::TaskGraphRunner runner;
  std::vector<Lane> lanes;
  pthread_t caller = {};
};

} // namespace

std::unique_ptr<RecordedSchedule>
dlc::bench::recordTaskGraph(const Schedule &schedule, unsigned threads) {
  std::vector<rt::TaskGraph::Edge> edges;
  for (const Schedule::Edge &edge : schedule.edges)
    edges.push_back({edge.before, edge.after});
  rt::Result<rt::TaskGraph> graph =
      rt::TaskGraph::create(std::vector<std::string>(schedule.tasks), edges);
  check(graph.status());
  rt::Result<std::unique_ptr<rt::WorkerPool>> workers =
      rt::WorkerPool::create({.threads = threads});
  check(workers.status());
  return std::make_unique<RecordedTaskGraph>(std::move(*graph),
                                             std::move(*workers));
}
