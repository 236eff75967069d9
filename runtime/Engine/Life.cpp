// SPDX-License-Identifier: Apache-2.0
//
// The life of a core: start, stop, close; and completions, which may come after
// it.

#include "Core.h"

#include "dlc/runtime/Device/CPU/Processors.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include <algorithm>
#include <sched.h>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Completions
//===----------------------------------------------------------------------===//

void CompletionHub::retain() {
  references.fetch_add(1, std::memory_order_relaxed);
}

void CompletionHub::release() {
  if (guard.isChild())
    return;
  // Acquire and release: the last one sees what all did before.
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete this;
}

Status CompletionHub::complete(void *operation, uint64_t run, Status result) {
  if (guard.isChild())
    return refuseChild();
  std::lock_guard lock(mutex);
  if (!core)
    return makeError(StatusCode::Unavailable,
                     "the engine of this operation is closed: it has completed "
                     "before or was given up");
  return core->complete(*static_cast<CoreOperation *>(operation), run,
                        std::move(result));
}

void CompletionHub::endThread(BulkState *bulk) {
  if (guard.isChild())
    return;
  std::lock_guard lock(mutex);
  if (core) // Otherwise there is no such bulk.
    core->leaveBulk(*bulk);
}

void CompletionHub::detach() {
  std::lock_guard lock(mutex);
  core = nullptr;
}

bool CompletionHub::isDetached() {
  if (guard.isChild())
    return true;
  std::lock_guard lock(mutex);
  return !core;
}

/// The right to complete the operation, which one caller gets.
static bool claim(CoreOperation &operation, uint64_t run) {
  uint64_t seen = operation.async.load(std::memory_order_relaxed);
  do {
    if (seen >> 3 != run || (seen & claimedBit))
      return false;
    // Acquire: what the thread that started the operation wrote into it.
  } while (!operation.async.compare_exchange_weak(seen, seen | claimedBit,
                                                  std::memory_order_acquire,
                                                  std::memory_order_relaxed));
  return true;
}

/// Memory of operations lasts as long as the core, so that a call that comes
/// late or twice finds the word, and in it another run or the bit.
Status EngineCore::complete(CoreOperation &operation, uint64_t run,
                            Status result) {
  if (!claim(operation, run)) {
    std::lock_guard guard(core);
    return isGivingUp ? refuseGivenUp() : refuseCompleted();
  }
  operation.result = std::move(result);
  // Release: the result. Acquire: what the function did before it returned.
  uint64_t before =
      operation.async.fetch_or(completedBit, std::memory_order_acq_rel);
  if (!(before & returnedBit))
    return Status::ok(); // The thread that called the function ends it.
  core.lock();
  retire(operation);
  if (isStuck.load(std::memory_order_relaxed))
    registerPushed(nullptr);
  // Workers may all sleep: pushers wait for any room.
  unlock(true);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

EngineCore::EngineCore(Engine &engine, const EngineOptions &given)
    : options(given), engine(engine), stamps(this), random(given.fuzzSeed) {
  cpuWorkers = options.cpuWorkers
                   ? options.cpuWorkers
                   : std::min(usableProcessors(), WorkerPool::maxThreads);
  spinNanoseconds = uint64_t(options.spinMicroseconds) * 1000;
}

Status EngineCore::initialise() {
  if (options.maxOperations < 16 || options.queueSlots < 16 ||
      options.queueSlots > 1u << 24)
    return makeError(StatusCode::InvalidArgument,
                     "expected at least 16 operations and 16 to 2^24 queue "
                     "slots, got %u and %u",
                     options.maxOperations, options.queueSlots);
  for (unsigned workers : {cpuWorkers, options.priorityWorkers,
                           options.deviceWorkers, options.copyWorkers})
    if (!workers || workers > WorkerPool::maxThreads)
      return makeError(StatusCode::InvalidArgument,
                       "expected 1 to %u workers in each lane, got %u",
                       WorkerPool::maxThreads, workers);
  hub = new (std::nothrow) CompletionHub(*this);
  if (!hub || !ring.create(options.queueSlots) || !pool.prepare())
    return makeError(StatusCode::OutOfMemory, "no memory for an engine");
  uint64_t least = std::min<uint64_t>(ring.size(), options.maxOperations);
  wakeRoom = least / 2;
  limit.store(least, std::memory_order_relaxed);
  roomLimit.store(ring.size(), std::memory_order_relaxed);
  tail.store(refusesBit | endedBit, std::memory_order_relaxed);
  return start();
}

EngineCore::~EngineCore() {
  // Closed by ~Engine(), or never started.
  if (hub) {
    hub->detach();
    hub->release();
  }
  for (uint32_t i = 0; i != variables.end(); ++i)
    failures.release(variables[i].poison);
  for (Lane *lane : lanes)
    delete lane;
  for (Worker *worker = workers; worker;)
    delete std::exchange(worker, worker->next);
  deleteBulks();
}

//===----------------------------------------------------------------------===//
// Start, stop, close
//===----------------------------------------------------------------------===//

Status EngineCore::start() {
  if (isInside())
    return refuseInside("start");
  std::lock_guard life(lifeMutex);
  if (state == State::Closed)
    return refuseClosed();
  if (state == State::Running)
    return Status::ok();
  if (Status status = startThreads(); !status.isOk()) {
    endThreads();
    return status;
  }
  state = State::Running;
  tail.fetch_and(ticketMask, std::memory_order_relaxed);
  return Status::ok();
}

/// Of all lanes and the watchdog. Some may run when it fails. With lifeMutex
/// held.
Status EngineCore::startThreads() {
  {
    std::lock_guard guard(laneMutex);
    areThreadsOn = true;
    unsigned count = laneCount.load(std::memory_order_relaxed);
    for (unsigned i = 0; i != count; ++i)
      DLC_RETURN_IF_ERROR(startLane(*lanes[i]));
  }
  // The first lane starts with the engine, so that what is wrong with threads
  // is found here.
  Result<Lane *> first = laneFor(Context::cpu(), OperationProperty::Normal);
  if (!first.isOk())
    return std::move(first.status());
  return options.watchdogMilliseconds
             ? watchdog.start(options.watchdogMilliseconds, *this,
                              options.onStall)
             : Status::ok();
}

/// Waits until nothing is in flight; false when that took longer than
/// `milliseconds`, unless they are 0.
bool EngineCore::awaitIdle(unsigned milliseconds) {
  Waiter waiter;
  core.lock();
  waiter.next = idleWaiters;
  idleWaiters = &waiter;
  unlock();
  uint64_t patience = uint64_t(milliseconds) * 1'000'000;
  uint64_t deadline = nowNanoseconds() + patience;
  while (!waiter.isDone()) {
    uint64_t now = patience ? nowNanoseconds() : 0;
    if (patience && now >= deadline)
      break;
    waiter.sleep(patience ? deadline - now : 0);
  }
  if (waiter.isDone())
    return true;
  core.lock();
  Waiter **link = &idleWaiters;
  while (*link && *link != &waiter)
    link = &(*link)->next;
  bool isWaiting = *link;
  if (isWaiting)
    *link = waiter.next;
  core.unlock();
  // Taken off by another thread, which is about to signal it.
  while (!isWaiting && !waiter.isDone())
    sched_yield();
  return !isWaiting;
}

/// Refuses pushes, and wakes those that wait for room to tell them.
void EngineCore::refusePushes() {
  {
    std::lock_guard guard(core); // See takeBulk().
    tail.fetch_or(refusesBit, std::memory_order_seq_cst);
  }
  roomEpoch.fetch_add(1, std::memory_order_seq_cst);
  futexWake(roomEpoch, INT32_MAX);
}

/// Refuses deletions too; false while something is in flight.
bool EngineCore::refuseDeletions() {
  std::lock_guard guard(core);
  uint64_t idle = retiredSlots | refusesBit;
  // Relaxed: who sees the bit takes lifeMutex.
  return tail.compare_exchange_strong(idle, idle | endedBit,
                                      std::memory_order_relaxed);
}

/// Lets what was pushed complete, with what was collected, and gives up after
/// `patience` milliseconds, unless they are 0. With lifeMutex held.
void EngineCore::finish(unsigned patience) {
  refusePushes();
  Status flushed;
  do {
    // What finds no memory does when operations have left theirs.
    flushed = flushBulks(/*mayRace=*/true);
    while (!awaitIdle(patience)) {
      giveUp();
      patience = 10; // What it released may be asynchronous again, and running.
    }
    watchdog.end(); // What it calls may delete variables: not after the end.
  } while (!flushed.isOk() || !refuseDeletions());
  endThreads();
}

void EngineCore::endThreads() {
  watchdog.end();
  std::lock_guard guard(laneMutex);
  areThreadsOn = false;
  joinWorkers();
}

Status EngineCore::stop() {
  if (isInside())
    return refuseInside("stop");
  std::lock_guard life(lifeMutex);
  if (state == State::Closed)
    return refuseClosed();
  if (state == State::Stopped)
    return Status::ok();
  finish(0);
  state = State::Stopped;
  return Status::ok();
}

Status EngineCore::close() {
  if (isInside())
    return refuseInside("close");
  std::unique_lock life(lifeMutex);
  if (state == State::Closed)
    return Status::ok();
  core.lock();
  isClosed = true;
  core.unlock();
  if (state == State::Running)
    finish(options.closePatienceMilliseconds);
  state = State::Closed;
  if (hub)
    hub->detach();
  Status status = givenUp.status();
  // What functions hold may call the engine as it goes.
  life.unlock();
  for (uint32_t i = 0; i != operators.end(); ++i)
    forgetOperator(i);
  return status;
}

void EngineCore::forgetGivenUp() {
  std::lock_guard guard(core);
  failures.deliverGivenUp();
}

/// Ends one that waits for its completion, unless that comes just now. True
/// when its function has returned: then it is the caller's to retire.
bool EngineCore::giveUp(CoreOperation &operation) {
  if (!claim(operation, operation.id))
    return false;
  givenUp.addHanging(titleOf(operation));
  operation.isGivenUp = true;
  operation.result = makeError(StatusCode::Unavailable,
                               "the engine closed before it completed");
  uint64_t before =
      operation.async.fetch_or(completedBit, std::memory_order_acq_rel);
  return before & returnedBit;
}

/// Lets nothing more start, and ends the asynchronous operations that wait for
/// their completion.
void EngineCore::giveUp() {
  core.lock();
  isGivingUp = true;
  registerPushed(nullptr);
  CoreOperation *ended = nullptr, *running = nullptr, *waiting = nullptr;
  pool.forEach([&](CoreOperation &operation) {
    if (operation.isRunning && operation.is(isAsyncFlag)) {
      if (!operation.isSkipped && giveUp(operation)) {
        operation.next = ended;
        ended = &operation;
      }
    } else if (operation.isRunning) {
      running = &operation; // Its end is waited for.
    } else if (operation.property != OperationProperty::DeleteVariable) {
      waiting = &operation;
    }
  });
  if (waiting)
    givenUp.nameWaiting(
        titleOf(*waiting) +
        (running ? " behind " + titleOf(*running) + ", which runs" : ""));
  while (ended)
    retire(*std::exchange(ended, ended->next));
  unlock(true);
}

std::unique_ptr<EngineImpl>
dlc::rt::makeThreadedImpl(Engine &engine, const EngineOptions &options) {
  return std::unique_ptr<EngineImpl>(new (std::nothrow)
                                         EngineCore(engine, options));
}
