// SPDX-License-Identifier: Apache-2.0

#include "dlc-c/TaskGraph.h"

#include "Handles.h"
#include "dlc/runtime/Engine/TaskGraph.h"

using namespace dlc::rt;

struct DlcTaskGraphImpl {
  std::shared_ptr<const TaskGraph> graph;
};

struct DlcTaskRunnerImpl {
  DlcTaskRunnerImpl(std::shared_ptr<const TaskGraph> shared,
                    WorkerPool *workers)
      : graph(std::move(shared)), runner(*graph, workers) {}

  std::shared_ptr<const TaskGraph> graph;
  TaskGraphRunner runner;
};

DlcStatus dlcTaskGraphCreate(const char *const *names, uint32_t taskCount,
                             const DlcTaskEdge *edges, size_t edgeCount,
                             DlcTaskGraph *graph) {
  static_assert(sizeof(DlcTaskEdge) == sizeof(TaskGraph::Edge));
  if (!graph || (edgeCount && !edges))
    return wrap(missing(graph ? "edges" : "a place for the graph"));
  if (taskCount > INT32_MAX) // Before there are that many names.
    return wrap(makeError(StatusCode::InvalidArgument,
                          "expected less than 2^31 tasks, got %u", taskCount));
  std::vector<std::string> known;
  for (uint32_t i = 0; names && i != taskCount; ++i) {
    if (!names[i])
      return wrap(missing("the name of a task"));
    known.emplace_back(names[i]);
  }
  std::span order(reinterpret_cast<const TaskGraph::Edge *>(edges), edgeCount);
  Result<TaskGraph> result = names ? TaskGraph::create(std::move(known), order)
                                   : TaskGraph::create(taskCount, order);
  if (!result.isOk())
    return wrap(std::move(result.status()));
  auto shared = makeShared<TaskGraph>(std::move(*result));
  if (!shared)
    return wrap(noMemory("a task graph"));
  return makeHandle(graph, std::move(shared));
}

void dlcTaskGraphDestroy(DlcTaskGraph graph) { delete graph; }

DlcStatus dlcTaskRunnerCreate(DlcTaskGraph graph, DlcPool pool,
                              DlcTaskRunner *runner) {
  if (!graph || !runner)
    return wrap(missing(graph ? "a place for the runner" : "a graph"));
  std::unique_ptr<DlcTaskRunnerImpl> made(new (std::nothrow) DlcTaskRunnerImpl(
      graph->graph, pool ? pool->pool.get() : nullptr));
  if (!made || !made->runner.hasRoom())
    return wrap(noMemory("a runner"));
  *runner = made.release();
  return nullptr;
}

void dlcTaskRunnerDestroy(DlcTaskRunner runner) { delete runner; }

uint32_t dlcTaskRunnerLanes(DlcTaskRunner runner) {
  return runner ? runner->runner.lanes() : 0;
}

DlcStatus dlcTaskRunnerRun(DlcTaskRunner runner, DlcTaskFunction function,
                           void *data) {
  if (!runner || !function)
    return wrap(missing(runner ? "a function" : "a runner"));
  struct Call {
    const TaskGraph &graph;
    DlcTaskFunction function;
    void *data;
  } call = {*runner->graph, function, data};
  return wrap(runner->runner.run(
      // What throws ends the process here: the runner could not run again.
      [](void *context, uint32_t task, unsigned lane) noexcept {
        auto &call = *static_cast<Call *>(context);
        Status status = unwrap(call.function(call.data, task, lane));
        if (status.isOk() || !call.graph.name(task).empty())
          return status; // The runner knows the name.
        return std::move(status).withContext("task " + std::to_string(task));
      },
      &call));
}
