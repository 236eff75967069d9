// SPDX-License-Identifier: Apache-2.0
//
// Threads that share the tiles of one kernel with the caller.

#ifndef DLC_RUNTIME_DEVICE_CPU_WORKERPOOL_H
#define DLC_RUNTIME_DEVICE_CPU_WORKERPOOL_H

#include "dlc/runtime/Base/Status.h"

#include <cstdint>
#include <memory>
#include <type_traits>

namespace dlc::rt {

struct WorkerPoolOptions {
  /// Threads that compute, the caller among them. 0 means one for each core of
  /// the memory node that the creating thread runs on, as far as the process
  /// may use them and control groups give it the time (ThreadPlacement); where
  /// there are other nodes, the workers stay on that one.
  unsigned threads = 0;
  /// How long an idle worker looks for more work before it sleeps, in
  /// microseconds. Consecutive kernels of a program come within a few.
  unsigned spinMicroseconds = 50;
  /// Keeps each worker on a processor of its own, a core as long as there are
  /// any (ThreadPlacement::order), the first of which is left to the caller.
  /// For machines that nothing else runs on. Without it workers may run on all
  /// processors that they could before but the one that they were last woken
  /// from, where these are as many as there are workers.
  bool pinsWorkers = false;
  /// How long workers leave the place of a caller that has left to it, where
  /// there are other callers: a program that runs again and again comes back.
  unsigned placeMicroseconds = 200;
};

/// A fixed set of threads. parallelFor() may be called from several threads at
/// once and from inside a tile: callers count as threads, and the workers that
/// are left are spread over their calls. Idle workers sleep and cost nothing.
/// In the child of a fork(), which has no workers, each caller computes alone.
///
/// Each thread begins with its own part of the tiles, the same one in every
/// call of as many tiles, so that it finds in its cache what it wrote in the
/// last; then it takes from the ends of the others' parts.
class WorkerPool {
public:
  /// Computes tiles [begin, end) of `context`; must not throw.
  using TileFunction = void (*)(void *context, int64_t begin, int64_t end);

  /// Below this modelled time, in nanoseconds, a call runs on the caller
  /// alone: the hand-over would cost about as much.
  static constexpr uint64_t shareAbove = 5'000;
  /// Below this modelled time sleeping workers are left asleep; waking one
  /// takes about 27 microseconds in a virtual machine.
  static constexpr uint64_t wakeAbove = 30'000;
  /// But for calls that follow each other so soon that a worker would have
  /// stayed awake: they are woken when so much has gone without them.
  static constexpr uint64_t wakeAfter = 4 * wakeAbove;

  /// More threads are refused: a slip of the caller, which a system would take
  /// seconds or all of its memory to follow.
  static constexpr unsigned maxThreads = 1024;

  /// Starts the workers. Errors: InvalidArgument (more than maxThreads),
  /// Unavailable (the system has no thread).
  static Result<std::unique_ptr<WorkerPool>>
  create(const WorkerPoolOptions &options = {});
  ~WorkerPool(); ///< Closes the pool.

  /// The calling thread is one of those that compute for as long as this lives,
  /// also between its calls: a program that runs beside another one keeps its
  /// processor. On one thread, which may nest them.
  class Caller {
  public:
    explicit Caller(WorkerPool &pool);
    ~Caller();
    Caller(const Caller &) = delete;
    Caller &operator=(const Caller &) = delete;

  private:
    WorkerPool &pool;
    const void *outer; ///< What the thread computed for before.
  };

  /// Stops and joins the workers, after the calls in progress. From then on
  /// parallelFor() runs on its caller.
  void close();

  unsigned threads() const;

  /// Wakes sleeping workers, which then look for work as long as after a call.
  /// For a program of many kernels each too small to wake them for.
  void wake();

  /// Calls `function` over disjoint ranges that cover [0, tiles) and returns
  /// when all are done. `nanoseconds` is the modelled time of the whole on one
  /// thread; UINT64_MAX when it is not known and surely large. Allocates
  /// nothing. Where the caller shared the tiles, `idleFrom`, unless null, gets
  /// the time from which it had none left and waited (nowNanoseconds()).
  void parallelFor(int64_t tiles, uint64_t nanoseconds, TileFunction function,
                   void *context, uint64_t *idleFrom = nullptr);

  /// The same for a callable `(int64_t begin, int64_t end)`.
  template <typename Function>
  void parallelFor(int64_t tiles, uint64_t nanoseconds, Function &&function,
                   uint64_t *idleFrom = nullptr) {
    using Callable = std::remove_reference_t<Function>;
    parallelFor(
        tiles, nanoseconds,
        [](void *context, int64_t begin, int64_t end) {
          (*static_cast<Callable *>(context))(begin, end);
        },
        const_cast<void *>(static_cast<const void *>(&function)), idleFrom);
  }

private:
  struct State;
  explicit WorkerPool(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_DEVICE_CPU_WORKERPOOL_H
