// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include "dlc/runtime/Base/ForkGuard.h"
#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/Device/CPU/Features.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <vector>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// The pool
//===----------------------------------------------------------------------===//

// One job at a time. Its owner holds `busy`, writes the job, opens the gate and
// changes `epoch`. A worker that sees a new epoch passes the gate, which counts
// it, takes tiles and leaves. The owner takes tiles too, closes the gate and
// waits until the gate is empty: then nobody looks at the job any more.

struct WorkerPool::State {
  static constexpr uint32_t gateOpen = 1u << 31;
  static constexpr uint32_t ownerSleeps = 1u << 30;
  static constexpr uint32_t gateCount = ownerSleeps - 1;

  /// Changes with every job and at close; sleeping workers wait on it. Seq_cst
  /// with `sleepers`: the owner changes epoch, then reads sleepers; a worker
  /// counts itself a sleeper, then reads epoch. One of them sees the other.
  alignas(64) std::atomic<uint32_t> epoch = 0;
  std::atomic<int> sleepers = 0;

  /// Workers inside the job, with the two flags above. Opening releases the
  /// job to them; leaving releases their results to the owner.
  alignas(64) std::atomic<uint32_t> gate = 0;

  /// The first tile that nobody has taken. Relaxed: it orders nothing.
  alignas(64) std::atomic<int64_t> next = 0;

  /// Held by the owner of the job; kept for ever once the pool is closed.
  alignas(64) std::atomic<bool> busy = false;
  std::atomic<bool> stopping = false;

  /// The job: written by the owner while the gate is closed and empty.
  TileFunction function = nullptr;
  void *context = nullptr;
  int64_t tiles = 0;
  int64_t participants = 1;

  const ForkGuard guard;
  uint64_t spinNanoseconds = 0;
  bool isClosed = false;
  std::vector<pthread_t> workers;

  void takeTiles();
  bool enter();
  void leave();
  uint32_t awaitEpoch(uint32_t seen);
  void awaitEmptyGate();
  void work();
  static void *workerMain(void *state) {
    static_cast<State *>(state)->work();
    return nullptr;
  }
};

void WorkerPool::State::takeTiles() {
  int64_t begin = next.load(std::memory_order_relaxed);
  while (begin < tiles) {
    // Half of an equal share each time: few hand-overs at first and small
    // pieces at the end, so that unequal tiles even out.
    int64_t count = std::max<int64_t>(1, (tiles - begin) / (2 * participants));
    if (!next.compare_exchange_weak(begin, begin + count,
                                    std::memory_order_relaxed))
      continue;
    function(context, begin, begin + count);
    begin = next.load(std::memory_order_relaxed);
  }
}

bool WorkerPool::State::enter() {
  uint32_t seen = gate.load(std::memory_order_relaxed);
  while (seen & gateOpen)
    if (gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                   std::memory_order_relaxed))
      return true;
  return false;
}

void WorkerPool::State::leave() {
  uint32_t before = gate.fetch_sub(1, std::memory_order_release);
  if ((before & ownerSleeps) && (before & gateCount) == 1)
    futexWake(gate, 1);
}

void WorkerPool::State::awaitEmptyGate() {
  auto isEmpty = [&] {
    return (gate.load(std::memory_order_acquire) & gateCount) == 0;
  };
  gate.fetch_and(~gateOpen, std::memory_order_relaxed);
  if (spinUntil(spinNanoseconds, isEmpty))
    return;
  uint32_t seen = gate.fetch_or(ownerSleeps, std::memory_order_acquire);
  seen |= ownerSleeps;
  while (seen & gateCount) {
    futexWait(gate, seen);
    seen = gate.load(std::memory_order_acquire);
  }
}

uint32_t WorkerPool::State::awaitEpoch(uint32_t seen) {
  auto isNew = [&] { return epoch.load(std::memory_order_acquire) != seen; };
  if (!spinUntil(spinNanoseconds, isNew)) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while (epoch.load(std::memory_order_seq_cst) == seen)
      futexWait(epoch, seen);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  return epoch.load(std::memory_order_acquire);
}

void WorkerPool::State::work() {
  uint32_t seen = 0;
  while (!stopping.load(std::memory_order_acquire)) {
    seen = awaitEpoch(seen);
    if (!enter())
      continue;
    takeTiles();
    leave();
  }
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

WorkerPool::WorkerPool(std::unique_ptr<State> state)
    : state(std::move(state)) {}

WorkerPool::~WorkerPool() { close(); }

Result<std::unique_ptr<WorkerPool>>
WorkerPool::create(const WorkerPoolOptions &options) {
  if (options.threads > maxThreads)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %u threads, got %u", maxThreads,
                     options.threads);
  unsigned threads = options.threads ? options.threads
                                     : std::min(usableProcessors(), maxThreads);
  std::unique_ptr<State> state(new (std::nothrow) State);
  if (!state)
    return makeError(StatusCode::OutOfMemory, "no memory for a pool");
  state->spinNanoseconds = uint64_t(options.spinMicroseconds) * 1000;
  // From here on the pool's destructor ends the workers of a failed start.
  std::unique_ptr<WorkerPool> pool(new (std::nothrow)
                                       WorkerPool(std::move(state)));
  if (!pool)
    return makeError(StatusCode::OutOfMemory, "no memory for a pool");
  for (unsigned i = 1; i < threads; ++i) {
    pthread_t thread;
    int error =
        pthread_create(&thread, nullptr, State::workerMain, pool->state.get());
    if (error)
      return makeError(StatusCode::Unavailable,
                       "cannot start worker %u of %u: %s", i, threads - 1,
                       std::strerror(error));
    pthread_setname_np(thread, "dlc-worker");
    pool->state->workers.push_back(thread);
  }
  return pool;
}

void WorkerPool::close() {
  if (state->isClosed)
    return;
  state->isClosed = true;
  // The workers are not there to be joined, nor who may hold `busy`.
  if (state->guard.isChild())
    return;
  while (state->busy.exchange(true, std::memory_order_acquire))
    sched_yield();
  state->stopping.store(true, std::memory_order_release);
  state->epoch.fetch_add(1, std::memory_order_seq_cst);
  futexWake(state->epoch, INT32_MAX);
  for (pthread_t worker : state->workers)
    pthread_join(worker, nullptr);
}

unsigned WorkerPool::threads() const {
  return state->guard.isChild() ? 1 : state->workers.size() + 1;
}

void WorkerPool::wake() {
  // A new epoch with nothing behind the gate.
  state->epoch.fetch_add(1, std::memory_order_seq_cst);
  if (state->sleepers.load(std::memory_order_seq_cst))
    futexWake(state->epoch, INT32_MAX);
}

void WorkerPool::parallelFor(int64_t tiles, uint64_t nanoseconds,
                             TileFunction function, void *context,
                             uint64_t *idleFrom) {
  if (tiles <= 0)
    return;
  State &job = *state;
  if (tiles == 1 || nanoseconds < shareAbove || job.workers.empty() ||
      job.guard.isChild() || job.busy.exchange(true, std::memory_order_acquire))
    return function(context, 0, tiles);
  job.function = function;
  job.context = context;
  job.tiles = tiles;
  job.participants = std::min<int64_t>(tiles, threads());
  job.next.store(0, std::memory_order_relaxed);
  job.gate.store(State::gateOpen, std::memory_order_release);
  job.epoch.fetch_add(1, std::memory_order_seq_cst);
  int sleepers = job.sleepers.load(std::memory_order_seq_cst);
  if (sleepers && nanoseconds >= wakeAbove)
    futexWake(job.epoch, int(std::min<int64_t>(sleepers, tiles - 1)));
  job.takeTiles();
  if (idleFrom)
    *idleFrom = nowNanoseconds();
  job.awaitEmptyGate();
  job.busy.store(false, std::memory_order_release);
}
