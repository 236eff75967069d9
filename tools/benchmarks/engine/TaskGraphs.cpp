// SPDX-License-Identifier: Apache-2.0
//
// The runtime's static schedule.

#include "Peer.h"

#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Engine/TaskGraph.h"

#include <cstdio>
#include <cstdlib>

using namespace dlc;
using namespace dlc::bench;

namespace {

class RecordedTaskGraph : public RecordedSchedule {
public:
  RecordedTaskGraph(rt::TaskGraph made, unsigned threads)
      : graph(std::move(made)),
        workers(std::move(*rt::WorkerPool::create({.threads = threads}))),
        runner(graph, workers.get()), done(threads) {}

  std::string name() const override { return "TaskGraph"; }

  void run() override {
    for (Count &lane : done)
      lane.tasks = 0;
    rt::Status status = runner.run(
        [](void *self, uint32_t, unsigned lane) {
          ++static_cast<RecordedTaskGraph *>(self)->done[lane].tasks;
          task();
          return rt::Status::ok();
        },
        this);
    if (!status.isOk())
      std::abort(); // No task fails.
  }

  double shared() const override {
    return 1 - double(done[0].tasks) / graph.taskCount();
  }

private:
  struct alignas(64) Count {
    uint32_t tasks = 0;
  };
  rt::TaskGraph graph;
  std::unique_ptr<rt::WorkerPool> workers;
  rt::TaskGraphRunner runner;
  std::vector<Count> done; ///< By each lane.
};

} // namespace

std::unique_ptr<RecordedSchedule>
dlc::bench::recordTaskGraph(const Schedule &schedule, unsigned threads) {
  std::vector<rt::TaskGraph::Edge> edges;
  for (const Schedule::Edge &edge : schedule.edges)
    edges.push_back({edge.before, edge.after});
  rt::Result<rt::TaskGraph> graph =
      rt::TaskGraph::create(std::vector<std::string>(schedule.tasks), edges);
  if (!graph.isOk()) {
    std::fprintf(stderr, "%s: %s\n", schedule.name.c_str(),
                 graph.status().message().c_str());
    std::exit(1);
  }
  return std::make_unique<RecordedTaskGraph>(std::move(*graph), threads);
}
