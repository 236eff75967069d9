// SPDX-License-Identifier: Apache-2.0
//
// What pushers do: check, draw a ticket, write a record, wake a worker.

#include "Core.h"

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Variables and operators
//===----------------------------------------------------------------------===//

Result<Variable> EngineCore::newVariable(VariableKind kind,
                                         VariableOwner owner) {
  std::lock_guard guard(core);
  if (isClosed)
    return refuseClosed();
  Variable variable = {0, stamps.next()};
  DLC_RETURN_IF_ERROR(variables.add(variable.stamp, variable.index));
  variables[variable.index].isResource = kind == VariableKind::Resource;
  variables[variable.index].isOfRuntime = owner == VariableOwner::Runtime;
  return variable;
}

bool EngineCore::isOfRuntime(Variable variable) {
  std::lock_guard guard(core);
  return variables.isCurrent(variable.index, variable.stamp) &&
         variables[variable.index].isOfRuntime;
}

Status EngineCore::deleteVariable(Task function, Context context,
                                  Variable variable) {
  if (!context.isValid())
    return refuseContext(context);
  if (function.isEmpty())
    return refuseTask();
  DLC_RETURN_IF_ERROR(flushOwnBulk());
  const BulkState *own = hasBulks() ? findBulk() : nullptr;
  bool mayBeCollected;
  {
    std::lock_guard guard(core);
    if (!variables.isCurrent(variable.index, variable.stamp))
      return refuseVariable(variable);
    variables.retire(variable.index);
    // Not by this thread, which has nothing collected. Acquire: see giveBulk().
    mayBeCollected = bulkCount.load(std::memory_order_acquire) > (own != 0);
  }
  if (mayBeCollected) [[unlikely]]
    // From now on nothing joins that uses it. What has comes before.
    if (Status status =
            flushBulksBefore(noVariables, {&variable, 1}, own, true);
        !status.isOk()) {
      std::lock_guard guard(core);
      variables.restore(variable.index);
      return status;
    }
  const VariableList deleted(&variable, 1);
  static constexpr PushOptions deletion = {
      .property = OperationProperty::DeleteVariable,
      .name = "delete a variable"};
  Request request = {.task = &function,
                     .flags = isDeletionFlag,
                     .context = context,
                     .writes = deleted,
                     .options = deletion};
  std::unique_lock life(lifeMutex, std::defer_lock);
  Status status = submitDeletion(request, life);
  if (!life.owns_lock() && status.isOk())
    return status;
  core.lock();
  if (status.isOk())
    endVariable(variable.index);
  else
    variables.restore(variable.index);
  core.unlock();
  if (!status.isOk())
    return status;
  life.unlock(); // What the function calls may take it.
  return runAtOnce(function, context);
}

/// Deletions are accepted until nothing is in flight, so that neither an
/// operation nor who is to complete one waits for an engine that stops. After
/// that `life` is locked: nothing uses what is deleted. Holders of it do not
/// wait for operations then.
Status EngineCore::submitDeletion(const Request &request,
                                  std::unique_lock<std::mutex> &life) {
  for (;;) {
    if (tail.load(std::memory_order_relaxed) & endedBit) {
      life.lock();
      if (state != State::Running)
        return Status::ok();
      life.unlock(); // It was started again.
    }
    Result<Lane *> lane = laneFor(request.context, request.options.property);
    if (!lane.isOk())
      return std::move(lane.status());
    Status status = submit(request, **lane);
    // There is a lane: only that the engine has ended makes it unavailable.
    if (status.code() != StatusCode::Unavailable)
      return status;
  }
}

Status EngineCore::runAtOnce(Task &function, Context context) {
  RunContext run = {&engine, context, 0};
  TaskCall call = {TaskAction::RunAndDiscard, &run};
  function.thunk(function.payload, call);
  function.release();
  return std::move(call.status);
}

Result<Operator> EngineCore::newOperator(Task function, bool isAsync,
                                         VariableList reads,
                                         VariableList writes,
                                         const PushOptions &options) {
  if (function.isEmpty())
    return refuseTask();
  DLC_RETURN_IF_ERROR(checkVariables(variables, reads, writes));
  // Given and taken back outside of the lock.
  std::unique_ptr<OperatorVariables, decltype(&OperatorVariables::end)> room(
      OperatorVariables::make(reads.size() + writes.size()),
      OperatorVariables::end);
  if (!room)
    return refuseTask();
  std::lock_guard guard(core);
  if (isClosed)
    return refuseClosed();
  Operator handle = {0, stamps.next()};
  DLC_RETURN_IF_ERROR(operators.add(handle.stamp, handle.index));
  room.reset(operators[handle.index].fill(room.release(), std::move(function),
                                          isAsync, reads, writes, options));
  return handle;
}

Status EngineCore::deleteOperator(Operator handle) {
  DLC_RETURN_IF_ERROR(flushOwnBulk());
  {
    std::lock_guard guard(core);
    if (!operators.isCurrent(handle.index, handle.stamp))
      return refuseOperator(handle);
    operators.retire(handle.index);
  }
  Task task;
  std::memcpy(task.payload, &handle.index, sizeof(handle.index));
  static constexpr PushOptions deletion = {
      .property = OperationProperty::DeleteVariable,
      .name = "delete an operator"};
  Request request = {.task = &task,
                     .flags = isOperatorDeletionFlag,
                     .context = Context::cpu(),
                     .options = deletion};
  std::unique_lock life(lifeMutex, std::defer_lock);
  Status status = submitDeletion(request, life);
  if (!status.isOk()) {
    std::lock_guard guard(core);
    operators.restore(handle.index);
  } else if (life.owns_lock()) {
    life.unlock();
    forgetOperator(handle.index);
  }
  return status;
}

/// Nothing uses it any more. Harmless when close() has forgotten it already.
void EngineCore::forgetOperator(uint32_t index) {
  Task task; // Destroyed outside of the lock.
  std::lock_guard guard(core);
  CoreOperator &place = operators[index];
  if (!place.stamp)
    return;
  task = std::move(place.task);
  place.deletion = nullptr;
  operators.remove(index);
}

//===----------------------------------------------------------------------===//
// Pushing
//===----------------------------------------------------------------------===//

Status EngineCore::push(Operator handle, Context context, int priority) {
  DLC_RETURN_IF_ERROR(flushOwnBulk());
  if (isCollecting()) [[unlikely]]
    DLC_RETURN_IF_ERROR(flushBulks());
  if (!context.isValid())
    return refuseContext(context);
  if (!operators.isCurrent(handle.index, handle.stamp))
    return isRefusing() ? refuseNow() : refuseOperator(handle);
  // Another thread may delete it meanwhile. What was read is of one operator
  // when that has not begun; and when it begins later, the registration finds
  // out, for the record names the operator only.
  CoreOperator::Shape shape = operators[handle.index].shape.load();
  if (!operators.isCurrent(handle.index, handle.stamp))
    return refuseOperator(handle);
  for (uint32_t i = 0; i != shape.count; ++i)
    if (Variable variable = shape.variables->begin()[i].load();
        !variables.isCurrent(variable.index, variable.stamp))
      return operators.isCurrent(handle.index, handle.stamp)
                 ? refuseVariable(variable)
                 : refuseOperator(handle);
  Task task; // Carries the operator only.
  std::memcpy(task.payload, &handle, sizeof(handle));
  shape.options.priority = priority;
  Request request = {
      .task = &task,
      .flags = uint8_t(isSharedFlag | (shape.isAsync ? isAsyncFlag : 0)),
      .context = context,
      .options = shape.options};
  if (shape.count > Slot::mostVariables)
    request.operatorVariables = shape.count;
  return submit(request);
}

Status EngineCore::push(Task &function, bool isAsync, Context context,
                        const VariableList &reads, const VariableList &writes,
                        const PushOptions &options) {
  if (!context.isValid())
    return refuseContext(context);
  if (function.isEmpty())
    return refuseTask();
  Request request = {&function, uint8_t(isAsync ? isAsyncFlag : 0),
                     context,   reads,
                     writes,    options};
  BulkState *own = nullptr;
  if (hasBulks()) [[unlikely]] {
    own = findBulk();
    if (own && isBulked(request))
      return collect(*own, request);
  }
  DLC_RETURN_IF_ERROR(checkVariables(variables, reads, writes));
  if (isCollecting()) [[unlikely]] {
    DLC_RETURN_IF_ERROR(flushBulksBefore(reads, writes, own));
    if (own)
      DLC_RETURN_IF_ERROR(flushOwnBulk(*own));
  }
  return submit(request);
}

Result<Lane *> EngineCore::laneFor(Context context,
                                   OperationProperty property) {
  uint32_t key = keyFor(context, property);
  // Acquire: the lanes come with their number.
  unsigned count = laneCount.load(std::memory_order_acquire);
  for (unsigned i = 0; i != count; ++i)
    if (lanes[i]->key == key)
      return lanes[i];
  return makeLane(key);
}

Status EngineCore::submit(const Request &request) {
  Result<Lane *> lane = laneFor(request.context, request.options.property);
  if (!lane.isOk())
    return std::move(lane.status());
  return submit(request, **lane);
}

Status EngineCore::submit(const Request &request, Lane &lane) {
  const PushOptions &options = request.options;
  bool isDeletion = request.flags & (isDeletionFlag | isOperatorDeletionFlag);
  size_t count =
      request.reads.size() + request.writes.size() + request.operatorVariables;
  CoreOperation *prepared = nullptr;
  bool isExtended = options.origin || options.bytes;
  if (count > (isExtended ? Slot::extendedVariables : Slot::mostVariables)) {
    prepared = prepare(request);
    if (!prepared)
      return makeError(StatusCode::OutOfMemory,
                       "no memory for an operation of %zu variables", count);
    isExtended = false;
  }
  uint64_t slots =
      1 + (!prepared && (isExtended || count > Slot::headVariables));
  uint64_t ticket;
  Status status = admitBytes(options.bytes);
  if (status.isOk()) {
    status = reserve(slots, isDeletion, ticket);
    if (!status.isOk())
      returnBytes(options.bytes);
  }
  if (!status.isOk()) {
    if (prepared) {
      std::lock_guard guard(core);
      pool.giveSingle(prepared);
    }
    return status;
  }
  if (options.priority)
    prioritized.fetch_add(1, std::memory_order_relaxed);
  Slot::Head &head = ring[ticket].head;
  head.lane = lane.number;
  if (prepared) {
    writePrepared(*prepared, ticket);
  } else {
    writeRecord(request, ticket, isExtended);
  }
  request.task->release();
  ring.publish(ticket);
  fence.frequent();
  wakeIfAsleep(lane);
  return Status::ok();
}

void EngineCore::writeRecord(const Request &request, uint64_t ticket,
                             bool isExtended) {
  const PushOptions &options = request.options;
  Slot::Head &head = ring[ticket].head;
  head.reads = uint8_t(request.reads.size());
  head.writes = uint8_t(request.writes.size());
  head.flags = request.flags | (isExtended ? isExtendedFlag : 0);
  head.priority = options.priority;
  head.kind = request.context.kind;
  head.index = request.context.index;
  head.property = options.property;
  head.thunk = request.task->thunk;
  std::memcpy(head.payload, request.task->payload, Task::payloadSize);
  head.name = options.name;
  uint32_t *word = head.variables;
  uint32_t *end = word + Slot::headVariables;
  uint32_t *rest = ring[ticket + 1].rest.words;
  if (isExtended) {
    Extension extension = {options.origin, options.bytes};
    std::memcpy(rest, &extension, sizeof(extension));
    rest += Slot::extensionWords;
  }
  for (const VariableList *list : {&request.writes, &request.reads})
    for (const Variable &variable : *list) {
      if (word == end)
        word = rest;
      *word++ = packVariable(variable);
    }
}

void EngineCore::writePrepared(CoreOperation &operation, uint64_t ticket) {
  Slot::Head &head = ring[ticket].head;
  CoreOperation *pointer = &operation;
  head.flags = isPreparedFlag;
  std::memcpy(head.payload, &pointer, sizeof(pointer));
}

/// An operation with more variables than a record holds.
CoreOperation *EngineCore::prepare(const Request &request) {
  size_t count = request.reads.size() + request.writes.size();
  core.lock();
  CoreOperation *operation =
      pool.takeSingle(uint32_t(count) + request.operatorVariables);
  core.unlock();
  if (!operation)
    return nullptr;
  const PushOptions &options = request.options;
  operation->thunk = request.task->thunk;
  std::memcpy(operation->payload, request.task->payload, Task::payloadSize);
  operation->name = options.name;
  operation->origin = options.origin;
  operation->bytes = options.bytes;
  operation->priority = options.priority;
  operation->property = options.property;
  operation->context = request.context;
  operation->flags = request.flags;
  Use *use = operation->uses();
  for (const Variable &variable : request.writes)
    *use++ = {nullptr, operation, packVariable(variable), true, false};
  for (const Variable &variable : request.reads)
    *use++ = {nullptr, operation, packVariable(variable), false, false};
  operation->useCount = uint32_t(count);
  return operation;
}

//===----------------------------------------------------------------------===//
// Room
//===----------------------------------------------------------------------===//

/// Draws `slots` tickets. No thread waits while it holds one, so that the
/// record after the last registered one is always about to be published.
Status EngineCore::reserve(uint64_t slots, bool isDeletion, uint64_t &ticket) {
  uint64_t seen = tail.load(std::memory_order_relaxed);
  for (;;) {
    if (seen & ~ticketMask) [[unlikely]]
      if (!isDeletion || (seen & endedBit))
        return refuseNow();
    ticket = seen & ticketMask;
    // Acquire, here and in hasRoom(): whoever published the limit has read
    // what was in the lines below it.
    if (ticket + slots > seenLimit.load(std::memory_order_acquire) &&
        !hasRoom(ticket + slots, isDeletion)) {
      DLC_RETURN_IF_ERROR(awaitRoom(ticket + slots, isDeletion));
      seen = tail.load(std::memory_order_relaxed);
      continue;
    }
    // Relaxed: the record is published by its lap.
    if (tail.compare_exchange_weak(seen, seen + slots,
                                   std::memory_order_relaxed))
      return Status::ok();
  }
}

Status EngineCore::refuseNow() {
  std::lock_guard guard(core);
  return isClosed ? refuseClosed() : refuseStopped();
}

/// Within the budget or, inside an operation and for a deletion, in the ring at
/// all: who waits for the budget may hold up those that make room.
bool EngineCore::hasRoom(uint64_t end, bool isDeletion) {
  uint64_t known = limit.load(std::memory_order_acquire);
  seenLimit.store(known, std::memory_order_release);
  if (end <= known)
    return true;
  return end <= roomLimit.load(std::memory_order_acquire) &&
         (isDeletion || isInside());
}

Status EngineCore::awaitRoom(uint64_t end, bool isDeletion) {
  if (isDeletion || isInside()) {
    // Never waits, since what would make room may wait for this thread.
    core.lock();
    registerPushed(nullptr);
    bool isOut = isStuck.load(std::memory_order_relaxed);
    unlock();
    if (isOut)
      return makeError(StatusCode::OutOfMemory, "no memory for operations");
    if (!hasRoom(end, isDeletion))
      sched_yield(); // Another thread is about to publish a record.
    return Status::ok();
  }
  if (options.callerHelp == CallerHelp::WaitingAndPushing)
    if (Worker *loan = lendSelf()) {
      bool helped = helpOnce(*loan);
      endLoan(*loan);
      if (helped)
        return Status::ok();
    }
  // Some room at a time, so that the lines do not go to and fro.
  auto hasSome = [&] {
    // Not at each turn: those who make room write the line.
    for (int i = 0; i != 16; ++i)
      relax();
    return end + wakeRoom / 2 <= limit.load(std::memory_order_relaxed) ||
           isRefusing();
  };
  if (spinUntil(spinNanoseconds, hasSome))
    return Status::ok();
  // Much room at a time, so that few pushers are woken; but not for long, since
  // what is in flight may wait for what this thread does next.
  constexpr uint64_t patience = 1'000'000;
  auto isOver = [&] { return hasRoom(end, false) || isRefusing(); };
  if (!sleepForRoom(RoomWanted::Much, patience, isOver))
    sleepForRoom(RoomWanted::Any, 0, isOver);
  return Status::ok();
}

/// Sleeps until it is woken or `isOver`, or for `nanoseconds` when they are not
/// 0; false when these went by.
template <typename Predicate>
bool EngineCore::sleepForRoom(RoomWanted wanted, uint64_t nanoseconds,
                              Predicate isOver) {
  // Under the lock: passes before this one are seen by isOver(), those after it
  // see that somebody sleeps. The rare side of the fence would do, too, but it
  // interrupts every processor.
  core.lock();
  // Acquire: before the store, and before what isOver() reads.
  uint32_t epoch = roomEpoch.load(std::memory_order_acquire);
  if (roomWanted.load(std::memory_order_relaxed) < wanted)
    roomWanted.store(wanted, std::memory_order_relaxed);
  core.unlock();
  if (isOver())
    return true;
  if (nanoseconds)
    futexWaitFor(roomEpoch, epoch, nanoseconds);
  else
    futexWait(roomEpoch, epoch);
  return roomEpoch.load(std::memory_order_relaxed) != epoch || isOver();
}

/// Whether `bytes` more may be in flight where `seen` are.
bool EngineCore::hasRoomForBytes(uint64_t seen, uint64_t bytes) const {
  uint64_t most = options.maxBytes ? options.maxBytes : UINT64_MAX;
  return seen == 0 || (bytes <= most && seen <= most - bytes);
}

/// Until not `seen` are in flight, or pushes are refused.
void EngineCore::sleepForBytes(uint64_t seen) {
  sleepForRoom(RoomWanted::Much, 0, [&] {
    return bytesInFlight.load(std::memory_order_relaxed) != seen ||
           isRefusing();
  });
}

/// Waits until `bytes` more may be in flight, or pushes are refused. Who comes
/// in between takes the room.
void EngineCore::awaitBytes(uint64_t bytes) {
  if (!bytes || isInside())
    return;
  for (;;) {
    uint64_t seen = bytesInFlight.load(std::memory_order_relaxed);
    if (hasRoomForBytes(seen, bytes) || isRefusing())
      return;
    sleepForBytes(seen);
  }
}

/// Counts `bytes` as in flight, when they may be.
Status EngineCore::admitBytes(uint64_t bytes) {
  if (!bytes)
    return Status::ok();
  bool isFree = isInside();
  uint64_t seen = bytesInFlight.load(std::memory_order_relaxed);
  for (;;) {
    if (isFree || hasRoomForBytes(seen, bytes)) {
      // Relaxed: the number guards no memory.
      if (bytesInFlight.compare_exchange_weak(seen, seen + bytes,
                                              std::memory_order_relaxed))
        return Status::ok();
      continue;
    }
    sleepForBytes(seen);
    if (isRefusing())
      return refuseNow();
    seen = bytesInFlight.load(std::memory_order_relaxed);
  }
}

/// Of an operation that was admitted and not pushed: others may wait for them.
void EngineCore::returnBytes(uint64_t bytes) {
  if (!bytes)
    return;
  core.lock();
  bytesInFlight.fetch_sub(bytes, std::memory_order_relaxed);
  hasFreedBytes = true;
  unlock();
}
