// SPDX-License-Identifier: Apache-2.0
//
// Recording a task graph: compressed rows, and the proof that it has no cycle.

#include "dlc/runtime/Engine/TaskGraph.h"

#include "dlc/runtime/Base/System.h"

#include <algorithm>

using namespace dlc::rt;

static bool isLess(const TaskGraph::Edge &a, const TaskGraph::Edge &b) {
  return a.before != b.before ? a.before < b.before : a.after < b.after;
}

static bool isSame(const TaskGraph::Edge &a, const TaskGraph::Edge &b) {
  return a.before == b.before && a.after == b.after;
}

static Status checkEdges(size_t tasks, std::span<const TaskGraph::Edge> edges) {
  constexpr size_t limit = INT32_MAX;
  if (tasks > limit || edges.size() > limit)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %zu tasks and edges, got %zu and %zu",
                     limit, tasks, edges.size());
  for (size_t i = 0; i != edges.size(); ++i)
    if (uint32_t task = std::max(edges[i].before, edges[i].after);
        task >= tasks)
      return makeError(StatusCode::InvalidArgument,
                       "edge %zu: task %u does not exist: there are %zu", i,
                       task, tasks);
  return Status::ok();
}

/// What recording holds at once, with lists that grow by doubling.
static Status checkMemory(size_t tasks, size_t edges) {
  uint64_t bytes = uint64_t(tasks) * 32 + uint64_t(edges) * 20;
  if (bytes <= memoryLimit())
    return Status::ok();
  return makeError(StatusCode::OutOfMemory,
                   "no memory for a graph of %zu tasks and %zu edges", tasks,
                   edges);
}

Result<TaskGraph> TaskGraph::record(size_t count,
                                    std::vector<std::string> names,
                                    std::span<const Edge> edges) {
  DLC_RETURN_IF_ERROR(checkEdges(count, edges));
  DLC_RETURN_IF_ERROR(checkMemory(count, edges.size()));
  std::vector<Edge> sorted(edges.begin(), edges.end());
  std::sort(sorted.begin(), sorted.end(), isLess);
  sorted.erase(std::unique(sorted.begin(), sorted.end(), isSame), sorted.end());

  TaskGraph graph;
  graph.names = std::move(names);
  graph.firstSuccessor.assign(count + 1, 0);
  graph.predecessorCount.assign(count, 0);
  for (const Edge &edge : sorted) {
    ++graph.firstSuccessor[edge.before + 1];
    ++graph.predecessorCount[edge.after];
    graph.successors.push_back(edge.after);
  }
  for (size_t i = 0; i != count; ++i)
    graph.firstSuccessor[i + 1] += graph.firstSuccessor[i];
  for (uint32_t &successor : graph.successors)
    if (graph.predecessorCount[successor] == 1)
      successor |= isOnly;
  for (size_t i = count; i-- != 0;)
    if (!graph.predecessorCount[i])
      graph.roots.push_back(i);
  DLC_RETURN_IF_ERROR(graph.checkAcyclic());
  graph.isChain = graph.roots.size() <= 1;
  for (size_t i = 0; i != count; ++i)
    if (graph.firstSuccessor[i + 1] - graph.firstSuccessor[i] > 1)
      graph.isChain = false;
  return graph;
}

const std::string &TaskGraph::name(uint32_t task) const {
  static const std::string none;
  return names.empty() ? none : names[task];
}

std::vector<uint32_t> TaskGraph::successorsOf(uint32_t task) const {
  std::vector<uint32_t> result(successors.begin() + firstSuccessor[task],
                               successors.begin() + firstSuccessor[task + 1]);
  for (uint32_t &successor : result)
    successor &= ~isOnly;
  return result;
}

/// Takes away tasks that nothing precedes until none is left (Kahn, 1962).
Status TaskGraph::checkAcyclic() const {
  std::vector<uint32_t> waiting = predecessorCount;
  std::vector<uint32_t> ready = roots;
  size_t done = 0;
  for (; !ready.empty(); ++done) {
    uint32_t task = ready.back();
    ready.pop_back();
    for (uint32_t successor : successorsOf(task))
      if (--waiting[successor] == 0)
        ready.push_back(successor);
  }
  if (done == taskCount())
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected an order of the tasks, got the cycle %s",
                   findCycle(std::move(waiting)).c_str());
}

/// "a -> b -> a". Each task that still waits has a predecessor that waits:
/// going back from one to another leads into a cycle.
std::string TaskGraph::findCycle(std::vector<uint32_t> waiting) const {
  std::vector<uint32_t> cause(taskCount(), UINT32_MAX);
  uint32_t task = 0;
  for (uint32_t i = 0; i != taskCount(); ++i) {
    if (!waiting[i])
      continue;
    task = i;
    for (uint32_t successor : successorsOf(i))
      cause[successor] = i;
  }
  std::vector<bool> isSeen(taskCount(), false);
  for (; !isSeen[task]; task = cause[task])
    isSeen[task] = true;
  // Forwards, from the cycle's lowest task.
  std::vector<uint32_t> path = {task};
  for (uint32_t i = cause[task]; i != task; i = cause[i])
    path.push_back(i);
  std::reverse(path.begin(), path.end());
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()),
              path.end());
  // The middle of a long cycle is left out.
  constexpr size_t shown = 8;
  auto title = [&](uint32_t task) {
    return name(task).empty() ? "task " + std::to_string(task) : name(task);
  };
  std::string text;
  for (size_t i = 0; i != std::min(shown, path.size()); ++i)
    text += title(path[i]) + " -> ";
  return text + (path.size() > shown ? "... -> " : "") + title(path[0]);
}
