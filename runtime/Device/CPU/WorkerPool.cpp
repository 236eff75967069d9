// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include "dlc/runtime/Base/ForkGuard.h"
#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/Device/CPU/Processors.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <span>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

namespace {

/// The tiles of one participant that nobody has taken. It takes from the front,
/// thieves from the back. Relaxed: the words order nothing.
class alignas(64) Share {
public:
  struct Range {
    uint32_t begin, end;
  };

  void reset(Range range) {
    word.store(pack(range), std::memory_order_relaxed);
  }

  /// Half of what is left: few pieces at first, small ones at the end.
  bool takeFront(Range &taken) {
    return take([&](Range &left, uint32_t count) {
      taken = {left.begin, left.begin + count};
      left.begin += count;
    });
  }
  bool takeBack(Range &taken) {
    return take([&](Range &left, uint32_t count) {
      taken = {left.end - count, left.end};
      left.end -= count;
    });
  }

private:
  static uint64_t pack(Range range) {
    return uint64_t(range.end) << 32 | range.begin;
  }

  template <typename Function> bool take(Function &&cut) {
    uint64_t seen = word.load(std::memory_order_relaxed);
    while (true) {
      Range left = {uint32_t(seen), uint32_t(seen >> 32)};
      if (left.begin == left.end)
        return false;
      cut(left, (left.end - left.begin + 1) / 2);
      if (word.compare_exchange_weak(seen, pack(left),
                                     std::memory_order_relaxed))
        return true;
    }
  }

  std::atomic<uint64_t> word = 0; ///< The end above the begin.
};

/// One call of parallelFor(). Its owner holds `busy`, writes the job, opens the
/// gate and changes the pool's epoch. A worker passes the gate, which counts
/// it, takes tiles and leaves. Who finds no tile closes the gate. The owner
/// takes tiles too and waits until the gate is empty: then nobody looks at the
/// job any more.
struct Job {
  static constexpr uint32_t gateOpen = 1u << 31;
  static constexpr uint32_t ownerSleeps = 1u << 30;
  static constexpr uint32_t gateCount = ownerSleeps - 1;

  /// Workers inside, with the two flags above. Opening releases the job to
  /// them; leaving releases their results to the owner.
  alignas(64) std::atomic<uint32_t> gate = 0;
  /// Held by the owner; kept for ever once the pool is closed.
  std::atomic<bool> busy = false;

  /// Written by the owner while the gate is closed and empty.
  WorkerPool::TileFunction function = nullptr;
  void *context = nullptr;
  int64_t firstTile = 0;
  uint32_t participants = 0;
  /// Of each thread of the pool. Apart: where they are never changes.
  alignas(64) std::unique_ptr<Share[]> shares;

  bool enter();
  void leave();
  void awaitEmptyGate(uint64_t spinNanoseconds);
  template <typename Predicate> void compute(unsigned self, Predicate stays);
};

} // namespace

bool Job::enter() {
  uint32_t seen = gate.load(std::memory_order_relaxed);
  while (seen & gateOpen)
    if (gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                   std::memory_order_relaxed))
      return true;
  return false;
}

void Job::leave() {
  uint32_t before = gate.fetch_sub(1, std::memory_order_release);
  if ((before & ownerSleeps) && (before & gateCount) == 1)
    futexWake(gate, 1);
}

void Job::awaitEmptyGate(uint64_t spinNanoseconds) {
  auto isEmpty = [&] {
    return (gate.load(std::memory_order_acquire) & gateCount) == 0;
  };
  if (spinUntil(spinNanoseconds, isEmpty))
    return;
  uint32_t seen = gate.fetch_or(ownerSleeps, std::memory_order_acquire);
  seen |= ownerSleeps;
  while (seen & gateCount) {
    futexWait(gate, seen);
    seen = gate.load(std::memory_order_acquire);
  }
}

/// Takes tiles until there are none, or `stays()` says no between two pieces:
/// those of its own share, if it has one, then of the shares behind it.
template <typename Predicate>
void Job::compute(unsigned self, Predicate stays) {
  // Copies: who enters and leaves meanwhile has the line that they are in.
  const WorkerPool::TileFunction own = function;
  void *const argument = context;
  const int64_t first = firstTile;
  const uint32_t count = participants;
  Share::Range range;
  auto computeRange = [&] {
    own(argument, first + range.begin, first + range.end);
  };
  if (self < count)
    while (shares[self].takeFront(range)) {
      computeRange();
      if (!stays())
        return;
    }
  for (uint32_t i = 1; i <= count; ++i)
    while (shares[(self + i) % count].takeBack(range)) {
      computeRange();
      if (!stays())
        return;
    }
  if (gate.load(std::memory_order_relaxed) & gateOpen)
    gate.fetch_and(~gateOpen, std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// The pool
//===----------------------------------------------------------------------===//

namespace {

/// Callers, and places of some that have left and may be back in a moment.
struct Callers {
  uint32_t inside, away;

  static Callers of(uint64_t word) {
    return {uint32_t(word), uint32_t(word >> 32)};
  }
  uint64_t word() const { return uint64_t(away) << 32 | inside; }
};

} // namespace

/// The pool whose tiles the thread computes: its calls inside of them are no
/// further threads.
static thread_local const void *computesFor = nullptr;
/// Whether this thread is a worker of some pool.
static thread_local bool isWorker = false;

struct WorkerPool::State {
  struct Worker {
    State *state;
    unsigned self; ///< From 1; a caller is 0.
    pthread_t thread;
    int keptOff = -1; ///< What keepOffCaller() has taken from it.
  };

  /// Calls at once that workers serve; further callers compute alone.
  static constexpr unsigned maxJobs = 8;

  /// Changes with every job and at close; sleeping workers wait on it. Seq_cst
  /// with `sleepers`: the owner changes epoch, then reads sleepers; a worker
  /// counts itself a sleeper, then reads epoch. One of them sees the other.
  alignas(64) std::atomic<uint32_t> epoch = 0;
  std::atomic<int> sleepers = 0;

  /// Threads that compute, but for workers (Caller). Relaxed, as are the counts
  /// that it is added to: a worker that reads old numbers is one too many, or
  /// one too few, for a piece.
  alignas(64) std::atomic<uint64_t> callers = 0;
  /// Until when places of `callers` are kept, of the first that was.
  std::atomic<uint64_t> keptUntil = 0;
  /// The processor of a caller that workers keep off, -1 for none, and when
  /// that became so. Written by whom `isMoving` belongs to.
  std::atomic<int> keptOff = -1;
  std::atomic<uint64_t> keptOffAt = 0;
  std::atomic_flag isMoving;
  /// What callers have computed alone while workers slept, modelled, and when
  /// the last of it began: calls apart from each other are not summed. Relaxed:
  /// workers may be woken too soon or too late.
  std::atomic<uint64_t> missedNanoseconds = 0, missedAt = 0;
  /// Of `jobs`, the first ones that were ever used.
  std::atomic<unsigned> usedJobs = 0;
  std::atomic<bool> stopping = false;
  Job jobs[maxJobs];

  const ForkGuard guard;
  uint64_t spinNanoseconds = 0, placeNanoseconds = 0;
  bool isClosed = false, isPinned = false;
  unsigned threads = 1;
  std::vector<Worker> workers; ///< With room for all: they stay in place.

  bool prepare(unsigned count);
  Status start(unsigned self);
  Job *claimJob();
  void share(Job &job, uint32_t tiles, uint64_t nanoseconds);
  bool isWorthWaking(uint64_t nanoseconds);
  void keepOffCaller();
  void keepOff(Worker &worker, int own, const cpu_set_t &allowed);
  void enterCaller();
  void leaveCaller();
  void endPlaces();
  bool hasRoomFor(unsigned more) const;
  bool serve(unsigned self);
  void lookAgain();
  void awaitEpoch(uint32_t seen);
  void work(unsigned self);
  static void *workerMain(void *worker);
};

/// False where there is no memory.
bool WorkerPool::State::prepare(unsigned count) {
  threads = count;
  workers.reserve(count);
  for (Job &job : jobs) {
    job.shares.reset(new (std::nothrow) Share[count]);
    if (!job.shares)
      return false;
  }
  return true;
}

void *WorkerPool::State::workerMain(void *worker) {
  // Not a copy: the creator may still be writing the thread's handle.
  const Worker &mine = *static_cast<Worker *>(worker);
  isWorker = true;
  pthread_setname_np(pthread_self(), "dlc-worker");
  mine.state->work(mine.self);
  return nullptr;
}

Status WorkerPool::State::start(unsigned self) {
  Worker &worker = workers.emplace_back(this, self, pthread_t());
  if (int error =
          pthread_create(&worker.thread, nullptr, workerMain, &worker)) {
    workers.pop_back();
    return makeError(StatusCode::Unavailable,
                     "cannot start worker %u of %u: %s", self, threads - 1,
                     std::strerror(error));
  }
  return Status::ok();
}

/// Nothing where all are in use, or the pool is closed.
Job *WorkerPool::State::claimJob() {
  for (unsigned i = 0; i != maxJobs; ++i) {
    Job &job = jobs[i];
    if (job.busy.load(std::memory_order_relaxed) ||
        job.busy.exchange(true, std::memory_order_acquire))
      continue;
    unsigned used = usedJobs.load(std::memory_order_relaxed);
    while (used <= i && !usedJobs.compare_exchange_weak(
                            used, i + 1, std::memory_order_relaxed))
      ;
    return &job;
  }
  return nullptr;
}

/// Divides `tiles` of `job` among the threads, opens it to them and takes part.
/// Where callers are all the threads that there are to be, workers sleep on:
/// who leaves has them look again.
void WorkerPool::State::share(Job &job, uint32_t tiles, uint64_t nanoseconds) {
  uint32_t count = std::min<uint32_t>(tiles, threads);
  job.participants = count;
  for (uint32_t i = 0; i != count; ++i)
    job.shares[i].reset({uint32_t(uint64_t(tiles) * i / count),
                         uint32_t(uint64_t(tiles) * (i + 1) / count)});
  job.gate.store(Job::gateOpen, std::memory_order_release);
  // Either this sees that a caller has left, or that one sees the open gate.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  endPlaces();
  if (hasRoomFor(1)) {
    epoch.fetch_add(1, std::memory_order_seq_cst);
    int asleep = sleepers.load(std::memory_order_seq_cst);
    if (asleep && isWorthWaking(nanoseconds)) {
      keepOffCaller();
      futexWake(epoch, int(std::min<int64_t>(asleep, count - 1)));
    }
  }
  job.compute(0, [this] {
    endPlaces();
    return true;
  });
}

bool WorkerPool::State::isWorthWaking(uint64_t nanoseconds) {
  if (nanoseconds >= wakeAbove)
    return true;
  constexpr auto relaxed = std::memory_order_relaxed;
  const uint64_t now = nowNanoseconds(), last = missedAt.load(relaxed);
  const bool follows = now - last <= spinNanoseconds + wakeAbove;
  missedAt.store(now, relaxed);
  const uint64_t missed =
      (follows ? missedNanoseconds.load(relaxed) : 0) + nanoseconds;
  const bool isEnough = missed >= wakeAfter;
  missedNanoseconds.store(isEnough ? 0 : missed, relaxed);
  return isEnough;
}

/// Where processors are those of a virtual machine, Linux may take a sleeping
/// one for one that the host has taken away, and put a worker that is woken
/// beside its caller, which computes: each then waits for the other, until some
/// milliseconds later one is moved. So a worker may run anywhere else, where
/// there is room for all. It gets back what it was kept off before, unless
/// neither its caller nor the first thread of the process may run there: then
/// others may have taken it from all threads.
void WorkerPool::State::keepOffCaller() {
  // Callers that move more often than that have workers beside them meanwhile.
  constexpr uint64_t pauseNanoseconds = 10'000'000;
  const int own = sched_getcpu();
  if (isPinned || isWorker || guard.isChild() || own < 0 ||
      own >= CPU_SETSIZE || keptOff.load(std::memory_order_relaxed) == own)
    return;
  const Callers known = Callers::of(callers.load(std::memory_order_relaxed));
  const uint64_t now = nowNanoseconds(),
                 last = keptOffAt.load(std::memory_order_relaxed);
  cpu_set_t allowed, ofFirst;
  if (known.inside + known.away > 1 ||
      (last && now - last < pauseNanoseconds) ||
      sched_getaffinity(0, sizeof(allowed), &allowed) ||
      sched_getaffinity(getpid(), sizeof(ofFirst), &ofFirst) ||
      isMoving.test_and_set(std::memory_order_acquire))
    return;
  CPU_OR(&allowed, &allowed, &ofFirst);
  for (Worker &worker : workers)
    keepOff(worker, own, allowed);
  keptOff.store(own, std::memory_order_relaxed);
  keptOffAt.store(now, std::memory_order_relaxed);
  isMoving.clear(std::memory_order_release);
}

/// Of a worker, whose processors others may have changed meanwhile.
void WorkerPool::State::keepOff(Worker &worker, int own,
                                const cpu_set_t &allowed) {
  cpu_set_t before;
  if (pthread_getaffinity_np(worker.thread, sizeof(before), &before))
    return;
  cpu_set_t after = before;
  int taken = -1;
  if (worker.keptOff >= 0 && CPU_ISSET(worker.keptOff, &allowed))
    CPU_SET(worker.keptOff, &after);
  if (CPU_ISSET(own, &after) && CPU_COUNT(&after) >= int(threads)) {
    CPU_CLR(own, &after);
    taken = own;
  }
  if (!CPU_EQUAL(&before, &after) &&
      pthread_setaffinity_np(worker.thread, sizeof(after), &after))
    return;
  worker.keptOff = taken;
}

void WorkerPool::State::enterCaller() {
  uint64_t seen = callers.load(std::memory_order_relaxed);
  Callers next;
  do {
    next = Callers::of(seen);
    ++next.inside;
    next.away -= next.away != 0; // Whosever place it was.
  } while (!callers.compare_exchange_weak(seen, next.word(),
                                          std::memory_order_relaxed));
}

/// Leaves its place to nobody yet where there are other callers: a worker that
/// is woken for the moment between two runs is one thread too many in the next.
/// A place is not kept for longer because others leave as well.
void WorkerPool::State::leaveCaller() {
  endPlaces();
  uint64_t seen = callers.load(std::memory_order_relaxed);
  Callers next;
  do {
    next = Callers::of(seen);
    --next.inside;
    if (placeNanoseconds && (next.inside || next.away) && !next.away++)
      keptUntil.store(nowNanoseconds() + placeNanoseconds,
                      std::memory_order_relaxed);
    // Seq_cst: see share(). Releases the time to who sees the place.
  } while (!callers.compare_exchange_weak(
      seen, next.word(), std::memory_order_seq_cst, std::memory_order_relaxed));
  if (next.inside && !next.away)
    lookAgain();
}

/// Lets workers have the places of those who have not come back in time.
void WorkerPool::State::endPlaces() {
  uint64_t seen = callers.load(std::memory_order_acquire);
  const Callers known = Callers::of(seen);
  if (known.away &&
      nowNanoseconds() >= keptUntil.load(std::memory_order_relaxed) &&
      callers.compare_exchange_strong(seen, known.inside,
                                      std::memory_order_seq_cst))
    lookAgain();
}

/// Whether the threads that compute, with `more` workers, are no more than the
/// pool's. Callers always compute, so that only several can make it untrue.
bool WorkerPool::State::hasRoomFor(unsigned more) const {
  const Callers known = Callers::of(callers.load(std::memory_order_relaxed));
  unsigned active = known.inside + known.away;
  if (active <= 1)
    return true;
  unsigned inside = 0;
  for (unsigned i = 0; i != usedJobs.load(std::memory_order_relaxed); ++i)
    inside += jobs[i].gate.load(std::memory_order_relaxed) & Job::gateCount;
  return active + inside + more <= threads;
}

/// Takes part in the call that the fewest workers serve. False where there is
/// none, or where enough threads compute.
bool WorkerPool::State::serve(unsigned self) {
  Job *chosen = nullptr;
  uint32_t fewest = UINT32_MAX;
  for (unsigned i = 0; i != usedJobs.load(std::memory_order_relaxed); ++i) {
    // Meanwhile: another core may have it, too, half a microsecond away.
    __builtin_prefetch(&jobs[i].shares[self]);
    // Acquire: who opened it is among the callers that are counted below.
    uint32_t gate = jobs[i].gate.load(std::memory_order_acquire);
    if (!(gate & Job::gateOpen) || (gate & Job::gateCount) >= fewest)
      continue;
    fewest = gate & Job::gateCount;
    chosen = &jobs[i];
  }
  if (!chosen || !hasRoomFor(1))
    return false;
  if (chosen->enter()) {
    const void *outer = std::exchange(computesFor, this);
    chosen->compute(self, [this] { return hasRoomFor(0); });
    computesFor = outer;
    chosen->leave();
    // Either this sees the next gate open, or who opens it sees this one left.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  return true;
}

/// Has workers look for a call that has tiles left, if there is one.
void WorkerPool::State::lookAgain() {
  // Either this sees an open gate, or who opened it sees room.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  if (!sleepers.load(std::memory_order_seq_cst))
    return;
  for (unsigned i = 0; i != usedJobs.load(std::memory_order_relaxed); ++i)
    if (jobs[i].gate.load(std::memory_order_relaxed) & Job::gateOpen)
      return (void)futexWake(epoch, INT32_MAX);
}

void WorkerPool::State::awaitEpoch(uint32_t seen) {
  auto isNew = [&] { return epoch.load(std::memory_order_acquire) != seen; };
  // Beside as many callers it would take the processor of one of them.
  if (hasRoomFor(1) && spinUntil(spinNanoseconds, isNew))
    return;
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (epoch.load(std::memory_order_seq_cst) == seen)
    futexWait(epoch, seen);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void WorkerPool::State::work(unsigned self) {
  while (true) {
    // Before it looks: what comes later changes the epoch again.
    uint32_t seen = epoch.load(std::memory_order_acquire);
    if (stopping.load(std::memory_order_acquire))
      return;
    if (!serve(self))
      awaitEpoch(seen);
  }
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

WorkerPool::WorkerPool(std::unique_ptr<State> state)
    : state(std::move(state)) {}

WorkerPool::~WorkerPool() { close(); }

/// Lets a worker run on `processors` alone.
static Status keepOn(pthread_t worker, std::span<const unsigned> processors) {
  ProcessorSet wanted(1 + *std::ranges::max_element(processors));
  if (!wanted.set)
    return makeError(StatusCode::OutOfMemory, "no memory for processors");
  for (unsigned processor : processors)
    wanted.add(processor);
  int error = pthread_setaffinity_np(worker, wanted.bytes, wanted.set);
  return error ? makeError(StatusCode::Unavailable,
                           "cannot keep a worker on processor %u: %s",
                           processors.front(), std::strerror(error))
               : Status::ok();
}

Result<std::unique_ptr<WorkerPool>>
WorkerPool::create(const WorkerPoolOptions &options) {
  if (options.threads > maxThreads)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %u threads, got %u", maxThreads,
                     options.threads);
  ThreadPlacement placement;
  if (!options.threads || options.pinsWorkers)
    placement = placeThreads();
  unsigned threads = options.threads ? options.threads
                                     : std::min(placement.threads, maxThreads);
  std::unique_ptr<State> state(new (std::nothrow) State);
  if (!state || !state->prepare(threads))
    return makeError(StatusCode::OutOfMemory, "no memory for a pool");
  state->spinNanoseconds = uint64_t(options.spinMicroseconds) * 1000;
  state->placeNanoseconds = uint64_t(options.placeMicroseconds) * 1000;
  state->isPinned = options.pinsWorkers;
  // From here on the pool's destructor ends the workers of a failed start.
  std::unique_ptr<WorkerPool> pool(new (std::nothrow)
                                       WorkerPool(std::move(state)));
  if (!pool)
    return makeError(StatusCode::OutOfMemory, "no memory for a pool");
  for (unsigned i = 1; i < threads; ++i) {
    DLC_RETURN_IF_ERROR(pool->state->start(i));
    pthread_t worker = pool->state->workers.back().thread;
    if (options.pinsWorkers)
      DLC_RETURN_IF_ERROR(
          keepOn(worker, {&placement.order[i % placement.order.size()], 1}));
    else if (!options.threads && !placement.node.empty())
      (void)keepOn(worker, placement.node); // Nobody asked for it.
  }
  return pool;
}

void WorkerPool::close() {
  if (state->isClosed)
    return;
  state->isClosed = true;
  // The workers are not there to be joined, nor who may hold a job.
  if (state->guard.isChild())
    return;
  for (Job &job : state->jobs)
    while (job.busy.exchange(true, std::memory_order_acquire))
      sched_yield();
  state->stopping.store(true, std::memory_order_release);
  state->epoch.fetch_add(1, std::memory_order_seq_cst);
  futexWake(state->epoch, INT32_MAX);
  for (const State::Worker &worker : state->workers)
    pthread_join(worker.thread, nullptr);
}

unsigned WorkerPool::threads() const {
  return state->guard.isChild() ? 1 : state->threads;
}

void WorkerPool::wake() {
  state->endPlaces();
  if (!state->hasRoomFor(1))
    return;
  // A new epoch with nothing behind a gate.
  state->epoch.fetch_add(1, std::memory_order_seq_cst);
  if (state->sleepers.load(std::memory_order_seq_cst)) {
    state->keepOffCaller();
    futexWake(state->epoch, INT32_MAX);
  }
}

void WorkerPool::parallelFor(int64_t tiles, uint64_t nanoseconds,
                             TileFunction function, void *context,
                             uint64_t *idleFrom) {
  if (tiles <= 0)
    return;
  State &pool = *state;
  if (tiles == 1 || nanoseconds < shareAbove || pool.threads == 1 ||
      pool.guard.isChild())
    return function(context, 0, tiles);
  const Caller caller(*this);
  if (Job *job = pool.claimJob()) {
    job->function = function;
    job->context = context;
    // A share counts tiles in 32 bits.
    constexpr int64_t most = UINT32_MAX;
    for (int64_t first = 0; first < tiles; first += most) {
      job->firstTile = first;
      pool.share(*job, uint32_t(std::min(most, tiles - first)), nanoseconds);
      if (idleFrom)
        *idleFrom = nowNanoseconds();
      job->awaitEmptyGate(pool.spinNanoseconds);
    }
    job->busy.store(false, std::memory_order_release);
  } else {
    function(context, 0, tiles);
  }
}

WorkerPool::Caller::Caller(WorkerPool &pool)
    : pool(pool), outer(std::exchange(computesFor, pool.state.get())) {
  if (outer != computesFor)
    pool.state->enterCaller();
}

WorkerPool::Caller::~Caller() {
  const bool isFurther = outer != computesFor;
  computesFor = outer;
  if (isFurther)
    pool.state->leaveCaller();
}
