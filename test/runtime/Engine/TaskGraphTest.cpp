// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Engine/TaskGraph.h"

#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <random>
#include <thread>

using namespace dlc::rt;

namespace {

using Edges = std::vector<TaskGraph::Edge>;

std::vector<std::string> namesOf(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i != count; ++i)
    names.push_back("t" + std::to_string(i));
  return names;
}

TaskGraph makeGraph(size_t count, const Edges &edges) {
  Result<TaskGraph> graph = TaskGraph::create(namesOf(count), edges);
  EXPECT_TRUE(graph.isOk()) << graph.status().message();
  return std::move(*graph);
}

std::string failureOf(size_t count, const Edges &edges) {
  Result<TaskGraph> graph = TaskGraph::create(namesOf(count), edges);
  if (graph.isOk())
    return "";
  EXPECT_EQ(graph.status().code(), StatusCode::InvalidArgument);
  return graph.status().message();
}

std::unique_ptr<WorkerPool> makeWorkers(unsigned threads) {
  return std::move(*WorkerPool::create({.threads = threads}));
}

/// Runs `function(task, lane)`.
template <typename Function>
Status run(TaskGraphRunner &runner, Function function) {
  return runner.run(
      [](void *context, uint32_t task, unsigned lane) -> Status {
        return (*static_cast<Function *>(context))(task, lane);
      },
      &function);
}

/// Waits until `flag` is set; false after ten seconds.
bool await(const std::atomic<bool> &flag) {
  return spinUntil(10'000'000'000, [&] { return flag.load(); });
}

/// Edges from lower to higher tasks, about `degree` into each.
Edges randomEdges(std::mt19937 &random, uint32_t count, unsigned degree,
                  uint32_t reach) {
  Edges edges;
  for (uint32_t task = 1; task != count; ++task) {
    uint32_t window = std::min(task, reach);
    for (unsigned i = random() % (2 * degree + 1); i-- != 0;)
      edges.push_back({task - 1 - uint32_t(random() % window), task});
  }
  return edges;
}

/// A value of each task that depends on those of its predecessors, with their
/// numbers: wrong order or a lost write changes it. Plain memory, so that
/// ThreadSanitizer judges the synchronization.
struct Values {
  Values(uint32_t count, const Edges &edges)
      : predecessors(count), value(count, 0) {
    for (const TaskGraph::Edge &edge : edges)
      predecessors[edge.after].push_back(edge.before);
  }

  void compute(uint32_t task, uint64_t seed) {
    uint64_t sum = seed + task;
    for (uint32_t before : predecessors[task])
      sum = sum * 6364136223846793005u + value[before];
    value[task] = sum;
  }

  std::vector<uint64_t> serial(uint64_t seed) {
    for (uint32_t task = 0; task != value.size(); ++task)
      compute(task, seed);
    return std::exchange(value, std::vector<uint64_t>(value.size(), 0));
  }

  std::vector<std::vector<uint32_t>> predecessors;
  std::vector<uint64_t> value;
};

} // namespace

TEST(TaskGraph, RefusesWhatHasNoOrder) {
  EXPECT_EQ(failureOf(3, {{0, 1}, {1, 3}}),
            "edge 1: task 3 does not exist: there are 3");
  EXPECT_EQ(failureOf(0, {{0, 0}}),
            "edge 0: task 0 does not exist: there are 0");
  EXPECT_EQ(failureOf(2, {{1, 1}}),
            "expected an order of the tasks, got the cycle t1 -> t1");
  // The cycle itself, not what leads into it or follows from it.
  EXPECT_EQ(failureOf(6, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}, {4, 5}}),
            "expected an order of the tasks, got the cycle t1 -> t2 -> t3 -> "
            "t1");
  // Those without a name by their number.
  TaskGraph::Edge circle[] = {{0, 1}, {1, 2}, {2, 1}};
  EXPECT_EQ(TaskGraph::create({"a", "", "c"}, circle).status().message(),
            "expected an order of the tasks, got the cycle task 1 -> c -> "
            "task 1");
  Edges ring;
  for (uint32_t i = 0; i != 100; ++i)
    ring.push_back({i, (i + 1) % 100});
  std::string message = failureOf(100, ring);
  EXPECT_NE(message.find(" -> ... -> "), std::string::npos) << message;
  EXPECT_LT(message.size(), 150u);
}

TEST(TaskGraph, KeepsEachEdgeOnce) {
  TaskGraph graph = makeGraph(4, {{2, 3}, {0, 1}, {2, 1}, {0, 1}, {2, 3}});
  EXPECT_EQ(graph.taskCount(), 4u);
  EXPECT_EQ(graph.edgeCount(), 3u);
  EXPECT_EQ(graph.successorsOf(2), (std::vector<uint32_t>{1, 3}));
  EXPECT_TRUE(graph.successorsOf(3).empty());
}

TEST(TaskGraph, RunsNothing) {
  TaskGraph graph;
  TaskGraphRunner runner(graph);
  auto never = [](uint32_t, unsigned) {
    ADD_FAILURE() << "there is no task";
    return Status::ok();
  };
  EXPECT_TRUE(run(runner, never).isOk());
  TaskGraph made = makeGraph(0, {});
  EXPECT_TRUE(run(runner, never).isOk());
}

TEST(TaskGraph, EqualsSerialForAnyThreads) {
  std::mt19937 random(1);
  struct Shape {
    uint32_t tasks, degree, reach;
  };
  // Chains, wide and dense graphs, and tasks with many successors.
  for (Shape shape :
       {Shape{300, 1, 1}, Shape{400, 0, 1}, Shape{1, 1, 1}, Shape{500, 2, 50},
        Shape{300, 8, 300}, Shape{400, 1, 400}, Shape{2000, 4, 200}}) {
    Edges edges = randomEdges(random, shape.tasks, shape.degree, shape.reach);
    TaskGraph graph = makeGraph(shape.tasks, edges);
    for (unsigned threads = 1; threads <= 4; ++threads) {
      std::unique_ptr<WorkerPool> workers = makeWorkers(threads);
      TaskGraphRunner runner(graph, workers.get());
      EXPECT_EQ(runner.lanes(), threads);
      Values values(shape.tasks, edges);
      for (uint64_t round = 0; round != 10; ++round) {
        std::vector<uint64_t> expected = values.serial(round);
        Status status = run(runner, [&](uint32_t task, unsigned lane) {
          EXPECT_LT(lane, threads);
          values.compute(task, round);
          return Status::ok();
        });
        ASSERT_TRUE(status.isOk()) << status.message();
        ASSERT_EQ(values.value, expected) << threads << " threads";
      }
    }
  }
}

TEST(TaskGraph, ShortRunsFollowEachOther) {
  // The end of a run and the begin of the next, while workers come and go.
  TaskGraph graph = makeGraph(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  std::unique_ptr<WorkerPool> workers = makeWorkers(4);
  TaskGraphRunner runner(graph, workers.get());
  uint64_t value[4] = {};
  for (uint64_t round = 1; round <= 5000; ++round) {
    Status status = run(runner, [&](uint32_t task, unsigned) {
      value[task] = task == 0   ? round
                    : task == 3 ? value[1] + value[2]
                                : value[0] + task;
      return Status::ok();
    });
    ASSERT_TRUE(status.isOk());
    ASSERT_EQ(value[3], 2 * round + 3);
  }
}

TEST(TaskGraph, ThreadsShareOneGraph) {
  std::mt19937 random(2);
  Edges edges = randomEdges(random, 500, 3, 100);
  TaskGraph graph = makeGraph(500, edges);
  std::unique_ptr<WorkerPool> workers = makeWorkers(3);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i != 3; ++i)
    threads.emplace_back([&, i] {
      // One pool serves one of them at a time; the others run alone.
      TaskGraphRunner runner(graph, i == 2 ? nullptr : workers.get());
      Values values(500, edges);
      std::vector<uint64_t> expected = values.serial(i);
      for (int round = 0; round != 30; ++round) {
        Status status = run(runner, [&](uint32_t task, unsigned) {
          values.compute(task, i);
          return Status::ok();
        });
        ASSERT_TRUE(status.isOk());
        ASSERT_EQ(values.value, expected);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

namespace {

/// Tasks `first` and `first + 1` of a graph that has begun wait for each other:
/// only two threads can do them.
struct Rendezvous {
  explicit Rendezvous(uint32_t first) : first(first) {}

  Status meet(uint32_t task) {
    if (task != first && task != first + 1)
      return Status::ok();
    arrived[task - first] = true;
    if (!await(arrived[first + 1 - task]))
      return makeError(StatusCode::Internal, "the other task never started");
    return Status::ok();
  }

  uint32_t first;
  std::atomic<bool> arrived[2] = {false, false};
};

} // namespace

TEST(TaskGraph, TwoThreadsReallyShare) {
  std::unique_ptr<WorkerPool> workers = makeWorkers(2);
  TaskGraph roots = makeGraph(2, {});
  TaskGraph fork = makeGraph(3, {{0, 1}, {0, 2}});
  TaskGraphRunner rootRunner(roots, workers.get());
  TaskGraphRunner forkRunner(fork, workers.get());
  for (int round = 0; round != 50; ++round) {
    Rendezvous first(0), second(1);
    unsigned lanes[2] = {};
    Status status = run(rootRunner, [&](uint32_t task, unsigned lane) {
      lanes[task] = lane;
      return first.meet(task);
    });
    ASSERT_TRUE(status.isOk()) << status.message();
    ASSERT_NE(lanes[0], lanes[1]);
    status = run(forkRunner,
                 [&](uint32_t task, unsigned) { return second.meet(task); });
    ASSERT_TRUE(status.isOk()) << status.message();
  }
}

TEST(TaskGraph, AChainStaysOnItsCaller) {
  std::unique_ptr<WorkerPool> workers = makeWorkers(3);
  TaskGraph graph = makeGraph(4, {{2, 0}, {0, 3}, {3, 1}});
  TaskGraphRunner runner(graph, workers.get());
  struct Calls {
    WorkerPool &workers;
    std::vector<uint32_t> order;
    std::thread::id caller = std::this_thread::get_id();
  } calls{*workers, {}};
  for (int round = 1; round != 4; ++round) {
    Status status = runner.run(
        [](void *context, uint32_t task, unsigned lane) {
          Calls &calls = *static_cast<Calls *>(context);
          EXPECT_EQ(std::this_thread::get_id(), calls.caller);
          EXPECT_EQ(lane, 0u);
          calls.order.push_back(task);
          // The pool is free for what tasks share: both tiles wait for each
          // other.
          std::atomic<int> inside = 0;
          calls.workers.parallelFor(2, UINT64_MAX, [&](int64_t, int64_t) {
            ++inside;
            while (inside != 2)
              std::this_thread::yield();
          });
          return Status::ok();
        },
        &calls);
    EXPECT_TRUE(status.isOk());
    EXPECT_EQ(calls.order, (std::vector<uint32_t>{2, 0, 3, 1}));
    calls.order.clear();
  }
}

TEST(TaskGraph, SleepingThreadsAreWoken) {
  // Long enough for idle threads to stop spinning.
  std::unique_ptr<WorkerPool> workers = makeWorkers(2);
  TaskGraph fork = makeGraph(3, {{0, 1}, {0, 2}});
  TaskGraphRunner runner(fork, workers.get());
  for (int round = 0; round != 20; ++round) {
    Rendezvous tasks(1);
    Status status = run(runner, [&](uint32_t task, unsigned) {
      if (task == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return tasks.meet(task);
    });
    ASSERT_TRUE(status.isOk()) << status.message();
  }
}

TEST(TaskGraph, RunsInsideATileOfItsOwnPool) {
  std::unique_ptr<WorkerPool> workers = makeWorkers(3);
  TaskGraph graph = makeGraph(3, {{0, 1}, {1, 2}});
  std::atomic<int> count = 0;
  workers->parallelFor(6, UINT64_MAX, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i != end; ++i) {
      TaskGraphRunner runner(graph, workers.get());
      Status status = run(runner, [&](uint32_t, unsigned) {
        ++count;
        return Status::ok();
      });
      EXPECT_TRUE(status.isOk());
    }
  });
  EXPECT_EQ(count, 18);
}

TEST(TaskGraph, ReportsWaits) {
  struct Waits {
    std::mutex guard; // Of `spans`: lanes report at the same time.
    std::vector<std::pair<uint64_t, uint64_t>> spans;
    std::atomic<bool> isFirstDone = false;
    uint64_t doneAt = 0; // By task 0.
  };
  std::unique_ptr<WorkerPool> workers = makeWorkers(2);
  TaskGraph graph = makeGraph(3, {{0, 2}, {1, 2}});
  TaskGraphRunner runner(graph, workers.get());
  // The lane that does task 1 has nothing to do until task 0 is done, unless it
  // is late: then once more.
  for (bool isSeen = false; !isSeen;) {
    Waits waits;
    Status status = runner.run(
        [](void *context, uint32_t task, unsigned) {
          Waits &waits = *static_cast<Waits *>(context);
          if (task == 1)
            waits.isFirstDone = true;
          if (task == 0) {
            if (!await(waits.isFirstDone))
              return makeError(StatusCode::Internal, "task 1 never started");
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            waits.doneAt = nowNanoseconds();
          }
          return Status::ok();
        },
        &waits,
        [](void *context, unsigned lane, uint64_t begin, uint64_t end) {
          Waits &waits = *static_cast<Waits *>(context);
          EXPECT_LT(lane, 2u);
          EXPECT_LE(begin, end);
          std::lock_guard<std::mutex> lock(waits.guard);
          waits.spans.push_back({begin, end});
        });
    ASSERT_TRUE(status.isOk()) << status.message();
    for (auto [begin, end] : waits.spans)
      if (begin < waits.doneAt) {
        EXPECT_GE(end, waits.doneAt);
        isSeen = true;
      }
  }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(TaskGraph, AFailureStopsTheRunAndNamesItsTask) {
  std::mt19937 random(3);
  Edges edges = randomEdges(random, 400, 2, 40);
  TaskGraph graph = makeGraph(400, edges);
  for (unsigned threads = 1; threads <= 4; ++threads) {
    std::unique_ptr<WorkerPool> workers = makeWorkers(threads);
    TaskGraphRunner runner(graph, workers.get());
    Values values(400, edges);
    std::vector<uint64_t> expected = values.serial(0);
    for (uint32_t bad = 0; bad < 400; bad += 57) {
      std::vector<std::atomic<int>> calls(400);
      Status status = run(runner, [&](uint32_t task, unsigned) {
        ++calls[task];
        return task == bad ? makeError(StatusCode::OutOfMemory, "no room")
                           : Status::ok();
      });
      EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
      EXPECT_EQ(status.message(), "t" + std::to_string(bad) + ": no room");
      EXPECT_EQ(calls[bad], 1);
      for (uint32_t successor : graph.successorsOf(bad))
        EXPECT_EQ(calls[successor], 0);
      // The next run starts clean.
      status = run(runner, [&](uint32_t task, unsigned) {
        values.compute(task, 0);
        return Status::ok();
      });
      ASSERT_TRUE(status.isOk()) << status.message();
      ASSERT_EQ(values.value, expected);
    }
  }
}

TEST(TaskGraph, OneOfManyFailuresIsReported) {
  std::unique_ptr<WorkerPool> workers = makeWorkers(3);
  TaskGraph graph = makeGraph(100, {});
  TaskGraphRunner runner(graph, workers.get());
  for (int round = 0; round != 100; ++round) {
    Status status = run(runner, [](uint32_t task, unsigned) {
      return makeError(StatusCode::Internal, "%u", task);
    });
    unsigned named = 0, failed = 1;
    ASSERT_EQ(std::sscanf(status.message().c_str(), "t%u: %u", &named, &failed),
              2);
    EXPECT_EQ(named, failed);
  }
}
