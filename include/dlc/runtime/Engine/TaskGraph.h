// SPDX-License-Identifier: Apache-2.0
//
// Tasks whose order is known before they run: recorded once, run many times
// with one counter a task, no queue of variables and no allocation.

#ifndef DLC_RUNTIME_ENGINE_TASKGRAPH_H
#define DLC_RUNTIME_ENGINE_TASKGRAPH_H

#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dlc::rt {

class WorkerPool;

/// A directed graph without cycles. Immutable: any number of threads may use
/// one, each with a TaskGraphRunner of its own.
class TaskGraph {
public:
  /// `after` starts when `before` is done, and sees all that it wrote.
  struct Edge {
    uint32_t before, after;
  };

  /// No tasks.
  TaskGraph() = default;

  /// One task for each name; the names are for messages and may be empty.
  /// Equal edges count once. Takes O(tasks + edges log edges). Errors:
  /// InvalidArgument (an edge to a task that does not exist, a cycle, which the
  /// message shows, or 2^31 tasks or edges), OutOfMemory (more than the machine
  /// has).
  static Result<TaskGraph> create(std::vector<std::string> names,
                                  std::span<const Edge> edges) {
    size_t count = names.size();
    return record(count, std::move(names), edges);
  }
  /// The same of `taskCount` tasks without names.
  static Result<TaskGraph> create(size_t taskCount,
                                  std::span<const Edge> edges) {
    return record(taskCount, {}, edges);
  }

  uint32_t taskCount() const { return predecessorCount.size(); }
  size_t edgeCount() const { return successors.size(); }
  const std::string &name(uint32_t task) const;

  /// The tasks after `task`, ascending.
  std::vector<uint32_t> successorsOf(uint32_t task) const;

private:
  friend class TaskGraphRunner;

  /// Marks a successor that waits for nothing else: its counter is not used.
  static constexpr uint32_t isOnly = uint32_t(1) << 31;

  static Result<TaskGraph> record(size_t count, std::vector<std::string> names,
                                  std::span<const Edge> edges);
  Status checkAcyclic() const;
  std::string findCycle(std::vector<uint32_t> waiting) const;

  std::vector<std::string> names; ///< None, or one for each task.
  /// Compressed rows: those of task t are successors[firstSuccessor[t]] up to
  /// firstSuccessor[t + 1].
  std::vector<uint32_t> firstSuccessor, successors;
  std::vector<uint32_t> predecessorCount;
  std::vector<uint32_t> roots; ///< Descending: the last is taken first.
  bool isChain = true;         ///< Never are two tasks ready.
};

/// What one run at a time of a graph needs.
class TaskGraphRunner {
public:
  /// Does task `task`; must not throw. `lane` tells threads of one run apart:
  /// below the number of threads. In the next run a thread, the caller too, may
  /// have another.
  using TaskFunction = Status (*)(void *context, uint32_t task, unsigned lane);
  /// Called for each time that a lane had no task ready, in nanoseconds of the
  /// monotonic clock.
  using WaitFunction = void (*)(void *context, unsigned lane, uint64_t begin,
                                uint64_t end);

  /// `graph` and `workers` are borrowed and outlive the runner. The caller of
  /// run() and the workers share the tasks; without workers, or when each task
  /// follows the one before, it is alone.
  explicit TaskGraphRunner(const TaskGraph &graph,
                           WorkerPool *workers = nullptr);
  ~TaskGraphRunner();
  /// False when the system had no memory for its counters and queues: then it
  /// runs nothing.
  bool hasRoom() const;

  /// Calls `function` once for each task, each after all that come before it,
  /// and returns when all are done. After a failure each thread starts at most
  /// one task more; the first failure is returned, with the task's name (unless
  /// that is empty) in front, and the graph can be run again. `onWait` may be
  /// null: then no clock is read while there is work. One run at a time, which
  /// allocates nothing but messages; a second, from a task too, is refused with
  /// InvalidArgument. Without room: OutOfMemory.
  Status run(TaskFunction function, void *context,
             WaitFunction onWait = nullptr);

  /// How many threads may take part.
  unsigned lanes() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_TASKGRAPH_H
