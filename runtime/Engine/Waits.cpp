// SPDX-License-Identifier: Apache-2.0
//
// Waiting: for a variable or for all, outside of operations and inside.

#include "Core.h"

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Waiter
//===----------------------------------------------------------------------===//

void Waiter::signal() {
  // Release: `status`, and what the operations waited for have written. After
  // the exchange the waiter may be gone; the address alone is used then.
  if (state.exchange(Done, std::memory_order_release) == Sleeping)
    futexWake(state, 1);
}

void Waiter::sleep(uint64_t nanoseconds) {
  uint32_t expected = Pending;
  state.compare_exchange_strong(expected, Sleeping, std::memory_order_relaxed);
  if (expected == Done)
    return;
  if (nanoseconds)
    futexWaitFor(state, Sleeping, nanoseconds);
  else
    futexWait(state, Sleeping);
}

//===----------------------------------------------------------------------===//
// A place in the queue of a variable
//===----------------------------------------------------------------------===//

/// Locks with all records before `ticket` registered.
Status EngineCore::lockUpTo(uint64_t ticket) {
  for (;;) {
    core.lock();
    registerPushed(nullptr);
    if (head.load(std::memory_order_relaxed) >= ticket)
      return Status::ok();
    bool isOut = isStuck.load(std::memory_order_relaxed);
    unlock();
    if (isOut)
      return makeError(StatusCode::OutOfMemory, "no memory for operations");
    sched_yield(); // Another thread is about to publish a record.
  }
}

/// Puts `waiter` into the queue as an operation that does nothing.
void EngineCore::place(Waiter &waiter, uint32_t index, VariableUse use) {
  CoreOperation &operation = waiter.place.operation;
  Waiter *self = &waiter;
  std::memcpy(operation.payload, &self, sizeof(self));
  operation.flags = isWaitFlag;
  operation.waiting = 1;
  operation.useCount = 1;
  waiter.place.use = {nullptr, &operation, index, use == VariableUse::Write,
                      false};
  enqueue(variables[index], waiter.place.use);
  seal(operation);
  finishWaiters();
}

Status EngineCore::waitForVariable(Variable variable, VariableUse use) {
  DLC_RETURN_IF_ERROR(flushOwnBulk());
  if (isCollecting()) [[unlikely]] {
    VariableList used(&variable, 1), none;
    bool isRead = use == VariableUse::Read;
    DLC_RETURN_IF_ERROR(
        flushBulksBefore(isRead ? used : none, isRead ? none : used, nullptr));
  }
  Worker *self = findSelf();
  if (self && !self->running)
    self = nullptr;
  uint64_t ticket = tail.load(std::memory_order_relaxed) & ticketMask;
  DLC_RETURN_IF_ERROR(lockUpTo(ticket));
  if (!variables.isCurrent(variable.index, variable.stamp)) {
    unlock();
    return refuseVariable(variable);
  }
  Waiter waiter;
  if (self)
    return waitInside(waiter, *self, variable, use);
  place(waiter, variable.index, use);
  unlock();
  await(waiter);
  return std::move(waiter.status);
}

/// Waits in a thread of the application.
void EngineCore::await(Waiter &waiter) {
  Worker *loan = nullptr;
  while (!waiter.isDone()) {
    if (!loan && options.callerHelp != CallerHelp::Never)
      loan = lendSelf();
    if (loan && helpOnce(*loan))
      continue;
    Lane *lane = loan ? helpableLane() : nullptr;
    bool isFound = spinUntil(spinNanoseconds, [&] {
      return waiter.isDone() || (lane && hasWork(*lane));
    });
    if (!isFound)
      waiter.sleep();
  }
  if (loan)
    endLoan(*loan);
}

Status EngineCore::waitForAll() {
  if (isInside())
    return refuseInside("wait for all of");
  DLC_RETURN_IF_ERROR(flushOwnBulk());
  if (isCollecting()) [[unlikely]]
    DLC_RETURN_IF_ERROR(flushBulks());
  Waiter waiter;
  waiter.takesErrors = true;
  core.lock();
  waiter.next = idleWaiters;
  idleWaiters = &waiter;
  unlock();
  await(waiter);
  return std::move(waiter.status);
}

//===----------------------------------------------------------------------===//
// Inside operations
//===----------------------------------------------------------------------===//

/// With the lock held, which it releases. The operation of `self` gives its
/// permit to a spare thread while it waits. To run other operations on its own
/// stack instead could bury it under one that waits for it.
Status EngineCore::waitInside(Waiter &waiter, Worker &self, Variable variable,
                              VariableUse use) {
  Lane *lane = self.lane; // Null for a lent thread, which has no permit.
  bool isFree = canGrant(variables[variable.index], use == VariableUse::Write);
  Status status = checkWait(*self.running, variable, use);
  if (status.isOk() && lane && !isFree) {
    DLC_RETURN_IF_ERROR(lendPermit(*lane));
    core.lock();
    status = checkWait(*self.running, variable, use);
  } else {
    lane = nullptr; // Keeps its permit.
  }
  if (status.isOk()) {
    waiter.owner = self.running;
    place(waiter, variable.index, use);
    unlock();
    while (!waiter.isDone())
      if (!spinUntil(spinNanoseconds, [&] { return waiter.isDone(); }))
        waiter.sleep();
    status = std::move(waiter.status);
    if (!lane)
      return status;
    core.lock();
  }
  if (lane)
    --lane->permits;
  unlock();
  return status;
}

/// That the wait of `operation` can end. With the lock held.
Status EngineCore::checkWait(CoreOperation &operation, Variable variable,
                             VariableUse use) {
  if (!variables.isCurrent(variable.index, variable.stamp))
    return refuseVariable(variable);
  if (!wouldWaitForItself(operation, variable.index, use))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "%s would wait for itself over variable %u",
                   titleOf(operation).c_str(), variable.index);
}

/// Lets another thread of the lane run operations: a spare that sleeps, or a
/// new one. With the lock held, which it releases.
Status EngineCore::lendPermit(Lane &lane) {
  ++lane.permits;
  // Those that give up their permit next need no other thread.
  bool needsThread = lane.permits > int(lane.spares);
  unlock();
  Status status;
  if (needsThread) {
    std::lock_guard guard(laneMutex);
    status = lane.threads < lane.workers + options.maxSpareWorkers
                 ? startWorker(lane)
                 : makeError(StatusCode::Unavailable,
                             "expected at most %u operations of a lane to wait "
                             "inside at a time",
                             options.maxSpareWorkers);
    if (!status.isOk()) {
      core.lock();
      --lane.permits;
      core.unlock();
    }
    return status;
  }
  lane.spareEpoch.fetch_add(1, std::memory_order_release);
  futexWake(lane.spareEpoch, 1);
  return status;
}

/// Whether some operation that `operation` holds up, or itself, is among those
/// that a wait for the variable would wait for.
bool EngineCore::wouldWaitForItself(CoreOperation &operation, uint32_t index,
                                    VariableUse use) {
  uint64_t mark = ++marks;
  // Operations that wait or run are in no lane: their links are free for this
  // list.
  operation.mark = mark;
  CoreOperation *first = &operation, *last = &operation;
  operation.next = nullptr;
  bool isFound = false;
  for (; first && !isFound; first = first->next)
    for (uint32_t i = 0; i != first->useCount && !isFound; ++i) {
      const Use &own = first->uses()[i];
      if (own.variable == Use::none)
        continue;
      isFound =
          own.variable == index && (own.writes || use == VariableUse::Write);
      // Behind a use that waits are those that follow it; behind a granted one
      // the whole queue.
      Use *later = own.isGranted ? variables[own.variable].first : own.next;
      for (; later; later = later->next) {
        CoreOperation *follower = later->operation;
        if (follower->is(isWaitFlag)) // In its stead, who waits inside.
          follower = waiterOf(*follower).owner;
        if ((!own.writes && !later->writes) || !follower ||
            follower->mark == mark)
          continue;
        follower->mark = mark;
        follower->next = nullptr;
        last = last->next = follower;
      }
    }
  return isFound;
}
