// SPDX-License-Identifier: Apache-2.0
//
// The threads: how they find operations, run them, sleep and are woken.

#include "Core.h"

#include <cstring>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Working
//===----------------------------------------------------------------------===//

/// In how many engines the calling thread is a worker, or lends itself as one:
/// in most threads none, and then nobody looks for it among the workers.
static constinit thread_local unsigned employers = 0;

void *EngineCore::workerMain(void *argument) {
  Worker &worker = *static_cast<Worker *>(argument);
  employers = 1;
  worker.thread.store(pthread_self(), std::memory_order_relaxed);
  static_cast<EngineCore *>(worker.core)->work(worker);
  return nullptr;
}

void EngineCore::work(Worker &worker) {
  Lane &lane = *worker.lane;
  if (!takePermit(lane))
    return;
  for (;;) {
    // The lock is held here.
    CoreOperation *operation = next(worker, &lane);
    bool isUseless = !operation && isOutrun(worker);
    unlock(!operation);
    if (operation) {
      run(worker, *operation);
    } else {
      // Acquire: pairs with the release in endThreads().
      if (isStopping.load(std::memory_order_acquire))
        return;
      if (isUseless)
        nap();
      else
        idle(worker, lane);
    }
    core.lock();
    if (lane.permits >= 0) [[likely]]
      continue;
    // One whose operation waited inside goes on: there is one too many.
    retireFinished(worker);
    ++lane.permits;
    unlock();
    if (!takePermit(lane))
      return;
  }
}

/// Whether others have run many short operations of the lane since `worker`
/// found none: they follow from each other. With the lock held.
bool EngineCore::isOutrun(Worker &worker) const {
  constexpr uint64_t many = 64, shortNanoseconds = 400;
  uint64_t completed = worker.lane->completed;
  if (worker.isVain && completed - worker.vainSince < many)
    return false;
  uint64_t now = nowNanoseconds();
  bool areShort = now - worker.vainFrom < many * shortNanoseconds;
  worker.vainSince = completed;
  worker.vainFrom = now;
  return std::exchange(worker.isVain, true) && areShort;
}

/// Stays away from the lock, and awake for nobody, for longer than many short
/// operations take: to be woken for each would cost more than they do. Not for
/// so long that it counts when one of them is long.
void EngineCore::nap() {
  std::atomic<uint32_t> never = 0;
  futexWaitFor(never, 0, 100'000);
}

/// Waits as a spare until the lane needs one more thread. Returns with the lock
/// held, or false when the threads end.
bool EngineCore::takePermit(Lane &lane) {
  for (;;) {
    uint32_t epoch = lane.spareEpoch.load(std::memory_order_acquire);
    core.lock();
    if (lane.permits > 0) {
      --lane.permits;
      return true;
    }
    ++lane.spares;
    core.unlock();
    if (!isStopping.load(std::memory_order_acquire))
      futexWait(lane.spareEpoch, epoch);
    core.lock();
    --lane.spares;
    core.unlock();
    if (isStopping.load(std::memory_order_acquire))
      return false;
  }
}

void EngineCore::retireFinished(Worker &worker) {
  if (CoreOperation *finished = std::exchange(worker.finished, nullptr))
    retire(*finished);
  worker.running = nullptr;
}

/// Ends what `worker` has run and takes the next operation of `lane`; null when
/// none is ready. With the lock held.
CoreOperation *EngineCore::next(Worker &worker, Lane *lane) {
  retireFinished(worker);
  registerPushed(lane);
  worker.running = takeReady(*lane);
  worker.isVain = worker.isVain && !worker.running;
  return worker.running;
}

void EngineCore::run(Worker &worker, CoreOperation &operation) {
  if (options.fuzzSeed) [[unlikely]]
    perturb();
  if (operation.flags & (isOperatorDeletionFlag | isBulkFlag)) [[unlikely]] {
    if (operation.is(isBulkFlag))
      return runBulk(worker, operation);
    uint32_t index;
    std::memcpy(&index, operation.payload, sizeof(index));
    forgetOperator(index); // Which may push as it goes.
    if (hasBulks())
      endBulkOf(operation);
    worker.finished = &operation;
    return;
  }
  CoreOperator *shared = operation.shared;
  bool runs = !operation.isSkipped;
  bool isAsync = operation.is(isAsyncFlag) && runs;
  TaskAction action = shared ? TaskAction::Run
                      : runs ? TaskAction::RunAndDiscard
                             : TaskAction::Discard;
  RunContext context = {&engine, operation.context, worker.number, &operation};
  Completion completion;
  if (isAsync)
    completion = Completion(*hub, &operation, operation.id);
  TaskCall call = {action, &context, &completion};
  Task::Thunk thunk = shared ? shared->task.thunk : operation.thunk;
  void *payload = shared ? shared->task.payload : operation.payload;
  if (options.observer && runs) [[unlikely]] {
    runObserved(operation, worker.number, thunk, payload, call);
  } else if (thunk && (runs || !shared)) {
    thunk(payload, call);
  }
  if (hasBulks()) [[unlikely]]
    endBulkOf(operation);
  if (!isAsync) {
    if (runs)
      operation.result = std::move(call.status);
    worker.finished = &operation;
    return;
  }
  // Unless the function has taken it, this is an error. Before the operation
  // may end, since it uses it.
  completion = Completion();
  // Acquire: the result, when the completion came first. Release: all that the
  // function did, when it comes later. Then the operation is not ours any more.
  uint64_t before =
      operation.async.fetch_or(returnedBit, std::memory_order_acq_rel);
  if (before & completedBit)
    worker.finished = &operation;
}

void EngineCore::runObserved(CoreOperation &operation, unsigned number,
                             Task::Thunk thunk, void *payload, TaskCall &call) {
  // A copy: an asynchronous operation may be over when its function returns.
  OperationInfo info = {operation.id,
                        operation.name,
                        operation.origin,
                        operation.context,
                        operation.property,
                        operation.priority,
                        number};
  callObserved(info, thunk, payload, call);
}

void EngineCore::callObserved(const OperationInfo &info, Task::Thunk thunk,
                              void *payload, TaskCall &call) {
  options.observer->onStart(info);
  if (thunk)
    thunk(payload, call);
  options.observer->onFinish(info, call.status);
}

/// For fuzzing: loses the processor, at random.
void EngineCore::perturb() {
  core.lock();
  uint64_t choice = nextRandom() % 8;
  core.unlock();
  for (uint64_t i = 0; choice < 4 && i != choice; ++i)
    sched_yield();
}

//===----------------------------------------------------------------------===//
// Sleeping and waking
//===----------------------------------------------------------------------===//

// A record or a ready operation must not lie while all threads that could take
// it sleep. Who adds it writes it, then looks for sleepers; who goes to sleep
// counts itself a sleeper, then looks for work: Dekker's pattern, with the
// asymmetric fence. It is enough that somebody searches or is being woken: that
// thread looks for work after it has ceased to be counted, with full fences on
// both sides, and wakes the next one if it leaves work behind.
//
// One wake at a time: who sets wakingBit changes the epoch, so that whoever is
// counted then either is woken or does not fall asleep, and takes the bit back
// as it leaves. Who comes later sees the bit and does not sleep either.

bool EngineCore::hasWork(const Lane &lane) const {
  return lane.readyCount.load(std::memory_order_relaxed) ||
         (ring.isPublished(head.load(std::memory_order_relaxed)) &&
          !isStuck.load(std::memory_order_relaxed));
}

void EngineCore::idle(Worker &worker, Lane &lane) {
  auto isWanted = [&] {
    return hasWork(lane) || isStopping.load(std::memory_order_relaxed);
  };
  lane.searchers.fetch_add(1, std::memory_order_relaxed);
  bool isFound = spinUntil(spinNanoseconds, isWanted);
  lane.searchers.fetch_sub(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (isFound)
    return;
  worker.isVain = false; // What goes on when it is woken is another matter.
  uint32_t epoch = lane.epoch.load(std::memory_order_acquire);
  uint32_t seen = lane.sleepers.fetch_add(1, std::memory_order_seq_cst);
  fence.rare(); // Pairs with those after each publication.
  if (!(seen & Lane::wakingBit) && !isWanted())
    futexWait(lane.epoch, epoch);
  seen = lane.sleepers.load(std::memory_order_relaxed);
  while (!lane.sleepers.compare_exchange_weak(
      seen, (seen - 1) & ~Lane::wakingBit, std::memory_order_seq_cst))
    ;
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void EngineCore::wakeIfAsleep(Lane &lane) {
  if (!lane.sleepers.load(std::memory_order_relaxed)) [[likely]]
    return;
  // Pairs with the fences in idle().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!lane.searchers.load(std::memory_order_relaxed))
    wakeOne(lane);
}

void EngineCore::wakeOne(Lane &lane) {
  uint32_t seen = lane.sleepers.load(std::memory_order_relaxed);
  do
    if (!seen || (seen & Lane::wakingBit))
      return;
  while (!lane.sleepers.compare_exchange_weak(seen, seen | Lane::wakingBit,
                                              std::memory_order_seq_cst));
  lane.epoch.fetch_add(1, std::memory_order_seq_cst);
  futexWake(lane.epoch, 1);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

namespace {
enum LaneClass : uint32_t { NormalLane, CopyLane, UrgentLane };

constexpr bool isAccelerator(DeviceKind kind) {
  return kind == DeviceKind::CUDA || kind == DeviceKind::Null;
}
} // namespace

/// All host memory belongs to the processors; copies of an accelerator do not
/// hold up its computations, nor these what is urgent.
uint32_t EngineCore::keyFor(Context context, OperationProperty property) const {
  auto key = [](DeviceKind kind, int16_t index, LaneClass laneClass) {
    return uint32_t(uint16_t(index)) << 16 | uint32_t(kind) << 8 | laneClass;
  };
  if (options.kind == EngineKind::Threaded)
    return key(DeviceKind::CPU, 0, NormalLane);
  if (property == OperationProperty::CPUPrioritized)
    return key(DeviceKind::CPU, 0, UrgentLane);
  if (!isAccelerator(context.kind)) {
    if (property == OperationProperty::GPUPrioritized)
      return key(DeviceKind::CPU, 0, UrgentLane);
    int16_t index = context.kind == DeviceKind::CPU ? context.index : 0;
    return key(DeviceKind::CPU, index, NormalLane);
  }
  bool isCopy = property == OperationProperty::CopyFromDevice ||
                property == OperationProperty::CopyToDevice;
  bool isUrgent = property == OperationProperty::GPUPrioritized;
  return key(context.kind, context.index,
             isCopy     ? CopyLane
             : isUrgent ? UrgentLane
                        : NormalLane);
}

Result<Lane *> EngineCore::makeLane(uint32_t key) {
  std::lock_guard guard(laneMutex);
  unsigned count = laneCount.load(std::memory_order_relaxed);
  for (unsigned i = 0; i != count; ++i)
    if (lanes[i]->key == key)
      return lanes[i];
  if (count == maxLanes)
    return makeError(StatusCode::Unsupported,
                     "expected at most %u lanes of devices", maxLanes);
  std::unique_ptr<Lane> lane(new (std::nothrow) Lane);
  if (!lane)
    return makeError(StatusCode::OutOfMemory, "no memory for a lane");
  auto kind = DeviceKind(key >> 8 & 0xff);
  bool isDevice = isAccelerator(kind);
  uint32_t laneClass = key & 0xff;
  lane->key = key;
  lane->number = uint8_t(count);
  lane->isHelpable = kind != DeviceKind::CUDA && laneClass == NormalLane;
  lane->workers = laneClass == CopyLane     ? options.copyWorkers
                  : isDevice                ? options.deviceWorkers
                  : laneClass == UrgentLane ? options.priorityWorkers
                                            : cpuWorkers;
  lanes[count] = lane.get();
  if (areThreadsOn)
    if (Status status = startLane(*lane); !status.isOk()) {
      lanes[count] = nullptr;
      return status;
    }
  // Release: the lane comes with the count.
  laneCount.store(count + 1, std::memory_order_release);
  return lane.release();
}

/// Fewer threads than asked for will do, none will not. With laneMutex held.
Status EngineCore::startLane(Lane &lane) {
  core.lock();
  lane.permits += int(lane.workers);
  core.unlock();
  Status status;
  unsigned started = 0;
  while (status.isOk() && started != lane.workers)
    if (status = startWorker(lane); status.isOk())
      ++started;
  core.lock();
  lane.permits -= int(lane.workers - started);
  core.unlock();
  return started ? Status::ok() : std::move(status);
}

/// A worker that nobody is, or a new one; null when there is no memory.
Worker *EngineCore::takeWorker() {
  for (Worker *worker = workers.load(std::memory_order_acquire); worker;
       worker = worker->next)
    // Acquire: what its last thread left.
    if (!worker->isUsed.load(std::memory_order_relaxed) &&
        !worker->isUsed.exchange(true, std::memory_order_acquire))
      return worker;
  auto *worker = new (std::nothrow) Worker;
  if (!worker)
    return nullptr;
  worker->core = this;
  worker->number = workerCount.fetch_add(1, std::memory_order_relaxed);
  worker->next = workers.load(std::memory_order_relaxed);
  // Release: the worker comes with the pointer.
  while (!workers.compare_exchange_weak(worker->next, worker,
                                        std::memory_order_release,
                                        std::memory_order_relaxed))
    ;
  return worker;
}

/// Its lane is null: only a thread of the engine has one, which changes under
/// laneMutex. A loan may end while the threads are being joined.
void EngineCore::giveWorker(Worker &worker) {
  worker.thread.store({}, std::memory_order_relaxed);
  worker.isUsed.store(false, std::memory_order_release);
}

/// With laneMutex held.
Status EngineCore::startWorker(Lane &lane) {
  Worker *worker = takeWorker();
  if (!worker)
    return makeError(StatusCode::OutOfMemory, "no memory for a worker");
  worker->lane = &lane;
  int error = pthread_create(&worker->handle, nullptr, workerMain, worker);
  if (error) {
    worker->lane = nullptr;
    giveWorker(*worker);
    return makeError(StatusCode::Unavailable,
                     "cannot start a thread of the engine: %s",
                     std::strerror(error));
  }
  pthread_setname_np(worker->handle, "dlc-engine");
  ++lane.threads;
  threadCount.fetch_add(1, std::memory_order_relaxed);
  return Status::ok();
}

/// Ends all threads; nothing is in flight. With laneMutex held.
void EngineCore::joinWorkers() {
  isStopping.store(true, std::memory_order_release);
  unsigned count = laneCount.load(std::memory_order_relaxed);
  for (unsigned i = 0; i != count; ++i)
    for (std::atomic<uint32_t> *word :
         {&lanes[i]->epoch, &lanes[i]->spareEpoch}) {
      word->fetch_add(1, std::memory_order_release);
      futexWake(*word, INT32_MAX);
    }
  for (Worker *worker = workers.load(std::memory_order_acquire); worker;
       worker = worker->next)
    if (worker->lane) {
      pthread_join(worker->handle, nullptr);
      worker->lane = nullptr;
      giveWorker(*worker);
    }
  for (unsigned i = 0; i != count; ++i) {
    lanes[i]->permits = 0;
    lanes[i]->threads = 0;
  }
  threadCount.store(0, std::memory_order_relaxed);
  isStopping.store(false, std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// Who am I, and may I help
//===----------------------------------------------------------------------===//

/// The worker that the calling thread is, or null. Only the thread itself makes
/// its number appear in the list, so that no order is needed.
Worker *EngineCore::findSelf() const {
  if (!employers)
    return nullptr;
  pthread_t self = pthread_self();
  for (Worker *worker = workers.load(std::memory_order_acquire); worker;
       worker = worker->next)
    if (worker->thread.load(std::memory_order_relaxed) == self)
      return worker;
  return nullptr;
}

Worker *EngineCore::lendSelf() {
  if (!helpableLane())
    return nullptr;
  Worker *worker = takeWorker();
  if (worker) {
    worker->thread.store(pthread_self(), std::memory_order_relaxed);
    ++employers;
  }
  return worker;
}

void EngineCore::endLoan(Worker &worker) {
  core.lock();
  retireFinished(worker);
  unlock();
  giveWorker(worker);
  --employers;
}

/// The lane that a thread of the application helps: one that has something
/// ready, or else the first that it may help.
Lane *EngineCore::helpableLane() const {
  Lane *first = nullptr;
  unsigned count = laneCount.load(std::memory_order_acquire);
  for (unsigned i = 0; i != count; ++i) {
    if (!lanes[i]->isHelpable)
      continue;
    if (lanes[i]->readyCount.load(std::memory_order_relaxed))
      return lanes[i];
    if (!first)
      first = lanes[i];
  }
  return first;
}

/// Runs one operation, if one is ready.
bool EngineCore::helpOnce(Worker &worker) {
  Lane *lane = helpableLane();
  core.lock();
  CoreOperation *operation = next(worker, lane);
  unlock(!operation);
  if (operation)
    run(worker, *operation);
  return operation;
}
