// SPDX-License-Identifier: Apache-2.0
//
// Running a task graph. Each lane (the caller and the workers that come) does
// the first task that it made ready next, without a queue, and offers the
// others in a queue of its own, from which it takes the newest and the other
// lanes the oldest.

#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Engine/TaskGraph.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

using namespace dlc::rt;

namespace {

constexpr uint32_t none = UINT32_MAX;

/// Ready tasks of one lane: positions [taken, added) of an array that holds
/// every task of the graph, so that no position is used again in a run but by
/// its owner. Both ends are one word, changed by one atomic operation (unless
/// the owner is alone): a task is taken by exactly one lane.
///
/// A thief reads the position after it has taken it: the owner adds behind it
/// from then on. All changes of the word are read-modify-write operations, so
/// a thief that reads any of them synchronizes with the add() that released
/// the position.
class ReadyQueue {
public:
  /// False when there is no memory.
  bool prepare(size_t capacity) {
    tasks.reset(new (std::nothrow) uint32_t[capacity]);
    return tasks != nullptr;
  }

  /// Between runs.
  void clear() { ends.store(0, std::memory_order_relaxed); }

  /// Where the owner writes tasks before it adds them.
  uint32_t *positions() {
    return tasks.get() + uint32_t(ends.load(std::memory_order_relaxed));
  }

  /// By the owner: makes `count` positions tasks. Seq_cst, with
  /// State::sleepers: see State::sleep().
  template <bool isShared> void add(uint32_t count) {
    if constexpr (isShared)
      ends.fetch_add(count, std::memory_order_seq_cst);
    else
      ends.store(ends.load(std::memory_order_relaxed) + count,
                 std::memory_order_relaxed);
  }

  /// By the owner: the newest task. Relaxed: the owner wrote it itself.
  template <bool isShared> bool takeNewest(uint32_t &task) {
    uint64_t seen = ends.load(std::memory_order_relaxed);
    do {
      if (isEmpty(seen))
        return false;
    } while (isShared && !ends.compare_exchange_weak(
                             seen, seen - 1, std::memory_order_relaxed));
    if constexpr (!isShared)
      ends.store(seen - 1, std::memory_order_relaxed);
    task = tasks[uint32_t(seen) - 1];
    return true;
  }

  /// By any lane: the oldest task.
  bool takeOldest(uint32_t &task) {
    uint64_t seen = ends.load(std::memory_order_relaxed);
    while (!isEmpty(seen))
      if (ends.compare_exchange_weak(seen, seen + oneTaken,
                                     std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        task = tasks[seen >> 32];
        return true;
      }
    return false;
  }

  bool mayHaveTasks() const {
    return !isEmpty(ends.load(std::memory_order_seq_cst));
  }

private:
  static constexpr uint64_t oneTaken = uint64_t(1) << 32;
  static bool isEmpty(uint64_t ends) { return (ends >> 32) == uint32_t(ends); }

  alignas(64) std::atomic<uint64_t> ends = 0; ///< taken << 32 | added.
  std::unique_ptr<uint32_t[]> tasks;
};

/// Keeps a lane from taking tasks of others that are too short for it: each
/// one taken costs both lanes about what these take, so that two do less than
/// one. Counts attempts, whether they take one or not, and reads the clock once
/// in so many.
class Patience {
public:
  /// To be asked before each attempt.
  bool isCalledFor() {
    if (attempts++ % attemptsATime)
      return false;
    uint64_t now = nowNanoseconds();
    return now - std::exchange(since, now) < attemptsATime * shortNanoseconds;
  }

  /// Leaves the others alone until `isOver`, or for as long as waking a
  /// sleeping lane takes: it is not late by more when tasks become long.
  template <typename Predicate> void rest(Predicate isOver) {
    spinUntil(restNanoseconds, isOver);
    since = nowNanoseconds();
  }

private:
  static constexpr uint64_t restNanoseconds = 10'000;
  static constexpr uint32_t attemptsATime = 8;
  static constexpr uint64_t shortNanoseconds = 150;
  uint32_t attempts = 0;
  uint64_t since = 0;
};

} // namespace

struct TaskGraphRunner::State {
  State(const TaskGraph &graph, WorkerPool *workers);

  const TaskGraph &graph;
  WorkerPool *workers;
  unsigned laneCount;

  /// Predecessors of each task that are not done; set again as the task
  /// becomes ready, for the next run.
  std::unique_ptr<std::atomic<uint32_t>[]> waiting;
  std::unique_ptr<ReadyQueue[]> queues;
  bool hasRoom; ///< For all of these.

  /// A task that runs its own graph again would find the queues in use.
  std::atomic<bool> isRunning = false;

  /// The run in progress; workers see it through the pool.
  TaskFunction function = nullptr;
  WaitFunction onWait = nullptr;
  void *context = nullptr;

  /// Tasks that are not done. Lanes subtract what they have done before they
  /// look for work elsewhere: 0 ends the run.
  alignas(64) std::atomic<uint32_t> left = 0;
  /// Lanes that sleep or are about to, and the word that they sleep on.
  alignas(64) std::atomic<uint32_t> sleepers = 0;
  std::atomic<uint32_t> wakeups = 0;
  /// Set by the first task that fails, which then owns `failure`; the end of
  /// the run releases that to the caller. Relaxed: a lane that sees it late
  /// starts one task more.
  alignas(64) std::atomic<bool> hasFailed = false;
  Status failure;

  template <bool isShared> void runLane(unsigned lane);
  template <bool isShared> uint32_t doTasks(uint32_t task, unsigned lane);
  void call(uint32_t task, unsigned lane);
  void fail(uint32_t task, Status status);
  bool takeFromOthers(uint32_t &task, unsigned lane);
  bool awaitWork(unsigned lane);
  bool hasWork() const;
  bool isOver() const { return left.load(std::memory_order_seq_cst) == 0; }
  void sleep();
  void wake(uint32_t count);
  void finish(uint32_t done);
};

TaskGraphRunner::State::State(const TaskGraph &graph, WorkerPool *workers)
    : graph(graph), workers(workers),
      laneCount(workers ? workers->threads() : 1),
      waiting(new (std::nothrow) std::atomic<uint32_t>[graph.taskCount()]),
      queues(new (std::nothrow) ReadyQueue[laneCount]),
      hasRoom(waiting && queues) {
  for (unsigned i = 0; hasRoom && i != laneCount; ++i)
    hasRoom = queues[i].prepare(graph.taskCount());
  if (!hasRoom)
    return;
  for (uint32_t i = 0; i != graph.taskCount(); ++i)
    waiting[i].store(graph.predecessorCount[i], std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

inline void TaskGraphRunner::State::call(uint32_t task, unsigned lane) {
  // After a failure the rest is passed over: counters reach their start again.
  if (hasFailed.load(std::memory_order_relaxed)) [[unlikely]]
    return;
  if (Status status = function(context, task, lane); !status.isOk())
      [[unlikely]]
    fail(task, std::move(status));
}

/// Out of line, so that a task which succeeds saves no registers for this.
[[gnu::noinline]] void TaskGraphRunner::State::fail(uint32_t task,
                                                    Status status) {
  if (hasFailed.exchange(true, std::memory_order_relaxed))
    return;
  const std::string &name = graph.name(task);
  failure =
      name.empty() ? std::move(status) : std::move(status).withContext(name);
}

/// Counts one predecessor as done; says whether it was the last of
/// `predecessors`. Acquire and release: whoever counts the last one sees what
/// all of them wrote.
template <bool isShared>
static bool countDown(std::atomic<uint32_t> &waiting, uint32_t predecessors) {
  if constexpr (isShared) {
    // When one is left, nobody else counts: reading that is enough.
    if (waiting.load(std::memory_order_acquire) != 1 &&
        waiting.fetch_sub(1, std::memory_order_acq_rel) != 1)
      return false;
  } else {
    uint32_t others = waiting.load(std::memory_order_relaxed) - 1;
    waiting.store(others, std::memory_order_relaxed);
    if (others)
      return false;
  }
  // Read next in another run.
  waiting.store(predecessors, std::memory_order_relaxed);
  return true;
}

/// Does `task` and what becomes ready by it, one after the other, until
/// nothing does, and offers the rest; returns how many it did.
template <bool isShared>
uint32_t TaskGraphRunner::State::doTasks(uint32_t task, unsigned lane) {
  // In registers: the calls could change what `this` points to.
  const uint32_t *firstSuccessor = graph.firstSuccessor.data();
  const uint32_t *successors = graph.successors.data();
  const uint32_t *predecessors = graph.predecessorCount.data();
  std::atomic<uint32_t> *counters = waiting.get();
  ReadyQueue &queue = queues[lane];
  uint32_t done = 0;
  for (; task != none; ++done) {
    call(task, lane);
    const uint32_t *next = successors + firstSuccessor[task];
    const uint32_t *end = successors + firstSuccessor[task + 1];
    uint32_t *offered = queue.positions(), *firstOffered = offered;
    task = none;
    for (; next != end; ++next) {
      uint32_t successor = *next & ~TaskGraph::isOnly;
      if (successor == *next &&
          !countDown<isShared>(counters[successor], predecessors[successor]))
        continue;
      if (task == none)
        task = successor;
      else
        *offered++ = successor;
    }
    if (uint32_t count = offered - firstOffered) {
      queue.add<isShared>(count);
      if constexpr (isShared)
        wake(count);
    }
  }
  return done;
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

template <bool isShared> void TaskGraphRunner::State::runLane(unsigned lane) {
  uint32_t done = 0, task;
  Patience patience;
  for (;;) {
    while (queues[lane].takeNewest<isShared>(task))
      done += doTasks<isShared>(task, lane);
    if constexpr (!isShared)
      return;
    if (patience.isCalledFor()) {
      finish(std::exchange(done, 0));
      patience.rest([&] { return isOver(); });
    }
    if (takeFromOthers(task, lane)) {
      done += doTasks<isShared>(task, lane);
      continue;
    }
    finish(std::exchange(done, 0));
    if (!awaitWork(lane))
      return;
  }
}

bool TaskGraphRunner::State::takeFromOthers(uint32_t &task, unsigned lane) {
  for (unsigned i = 1; i != laneCount; ++i)
    if (queues[(lane + i) % laneCount].takeOldest(task))
      return true;
  return false;
}

bool TaskGraphRunner::State::hasWork() const {
  return std::any_of(queues.get(), queues.get() + laneCount,
                     [](const ReadyQueue &q) { return q.mayHaveTasks(); });
}

/// Returns when a queue has a task, or with false when the run is over.
bool TaskGraphRunner::State::awaitWork(unsigned lane) {
  auto isDone = [&] { return hasWork() || isOver(); };
  if (isDone())
    return !isOver();
  // Sleeping and being woken takes about as long.
  constexpr uint64_t spinNanoseconds = 50'000;
  uint64_t begin = onWait ? nowNanoseconds() : 0;
  if (!spinUntil(spinNanoseconds, isDone))
    while (!isDone())
      sleep();
  if (onWait)
    onWait(context, lane, begin, nowNanoseconds());
  return !isOver();
}

/// One of two sees the other, for all four are seq_cst: this lane counts
/// itself, then looks for work; whoever adds work (or ends the run) does so,
/// then looks for sleepers. `wakeups` is read first, so that a wakeup between
/// the look and the sleep is not lost.
void TaskGraphRunner::State::sleep() {
  uint32_t seen = wakeups.load(std::memory_order_acquire);
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (!hasWork() && !isOver())
    futexWait(wakeups, seen);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void TaskGraphRunner::State::wake(uint32_t count) {
  uint32_t asleep = sleepers.load(std::memory_order_seq_cst);
  if (!asleep) [[likely]]
    return;
  wakeups.fetch_add(1, std::memory_order_release);
  futexWake(wakeups, std::min(asleep, count));
}

void TaskGraphRunner::State::finish(uint32_t done) {
  // Releases what the tasks wrote to whoever sees the run end.
  if (done && left.fetch_sub(done, std::memory_order_seq_cst) == done)
    wake(laneCount);
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

TaskGraphRunner::TaskGraphRunner(const TaskGraph &graph, WorkerPool *workers)
    : state(new (std::nothrow) State(graph, workers)) {}
TaskGraphRunner::~TaskGraphRunner() = default;

bool TaskGraphRunner::hasRoom() const { return state && state->hasRoom; }

unsigned TaskGraphRunner::lanes() const { return state ? state->laneCount : 0; }

Status TaskGraphRunner::run(TaskFunction function, void *context,
                            WaitFunction onWait) {
  if (!hasRoom()) [[unlikely]]
    return makeError(StatusCode::OutOfMemory, "no memory for a task graph");
  State &run = *state;
  uint32_t count = run.graph.taskCount();
  if (!count)
    return Status::ok();
  if (run.isRunning.exchange(true, std::memory_order_acquire))
    return makeError(StatusCode::InvalidArgument,
                     "expected one run of a task graph at a time, got another "
                     "before its end");
  run.function = function;
  run.context = context;
  run.onWait = onWait;
  for (unsigned i = 0; i != run.laneCount; ++i)
    run.queues[i].clear();
  run.left.store(count, std::memory_order_relaxed);
  std::copy(run.graph.roots.begin(), run.graph.roots.end(),
            run.queues[0].positions());
  run.queues[0].add<true>(run.graph.roots.size());
  // Others would find nothing in a chain, fall asleep, and be waited for.
  if (run.laneCount == 1 || run.graph.isChain)
    run.runLane<false>(0);
  else
    run.workers->parallelFor(run.laneCount, UINT64_MAX,
                             [&](int64_t begin, int64_t end) {
                               for (int64_t lane = begin; lane != end; ++lane)
                                 run.runLane<true>(lane);
                             });
  run.hasFailed.store(false, std::memory_order_relaxed);
  Status failure = std::exchange(run.failure, Status());
  run.isRunning.store(false, std::memory_order_release);
  return failure;
}
