// SPDX-License-Identifier: Apache-2.0
//
// What pushers do: check, draw a ticket, write a record, wake a worker.

#include "Core.h"

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Variables and operators
//===----------------------------------------------------------------------===//

Result<Variable> EngineCore::newVariable(VariableKind kind) {
  if (isRefusing()) {
    std::lock_guard life(lifeMutex);
    if (state == State::Closed)
      return refuseClosed();
  }
  std::lock_guard guard(core);
  Variable variable = {0, stamps.next()};
  DLC_RETURN_IF_ERROR(variables.add(variable.stamp, variable.index));
  variables[variable.index].isResource = kind == VariableKind::Resource;
  return variable;
}

Status EngineCore::deleteVariable(Task function, Context context,
                                  Variable variable) {
  if (!context.isValid())
    return refuseContext(context);
  if (function.isEmpty())
    return refuseTask();
  DLC_RETURN_IF_ERROR(flushOwnBulk());
  {
    std::lock_guard guard(core);
    if (!variables.isCurrent(variable.index, variable.stamp))
      return refuseVariable(variable);
    variables.retire(variable.index);
  }
  Request request = {
      .task = &function,
      .flags = isDeletionFlag,
      .context = context,
      .writes = {&variable, 1},
      .options = {.property = OperationProperty::DeleteVariable,
                  .name = "delete a variable"},
  };
  for (;;) {
    Status status = submit(request);
    if (status.isOk())
      return status;
    std::lock_guard life(lifeMutex);
    if (state == State::Running && status.code() == StatusCode::Unavailable &&
        !isRefusing())
      continue; // It was started again in between.
    std::unique_lock guard(core);
    if (state == State::Running) {
      variables.restore(variable.index);
      return status;
    }
    // Nothing is in flight.
    CoreVariable &place = variables[variable.index];
    failures.release(std::exchange(place.poison, nullptr));
    place.version = 0;
    variables.remove(variable.index);
    guard.unlock();
    return runAtOnce(function, context);
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
  if (isRefusing()) {
    std::lock_guard life(lifeMutex);
    if (state == State::Closed)
      return refuseClosed();
  }
  size_t count = reads.size() + writes.size();
  auto *list = new (std::nothrow) Variable[count];
  if (!list)
    return refuseTask();
  std::copy(writes.begin(), writes.end(), list);
  std::copy(reads.begin(), reads.end(), list + writes.size());
  std::unique_lock guard(core);
  Operator handle = {0, stamps.next()};
  Status status = operators.add(handle.stamp, handle.index);
  if (!status.isOk()) {
    guard.unlock();
    delete[] list;
    return status;
  }
  CoreOperator &place = operators[handle.index];
  place.task = std::move(function);
  place.isAsync = isAsync;
  place.writeCount = uint32_t(writes.size());
  place.count = uint32_t(count);
  place.variables = list;
  place.options = options;
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
  Request request = {.task = &task,
                     .flags = isOperatorDeletionFlag,
                     .context = Context::cpu(),
                     .options = {.property = OperationProperty::DeleteVariable,
                                 .name = "delete an operator"}};
  for (;;) {
    Status status = submit(request);
    if (status.isOk())
      return status;
    std::lock_guard life(lifeMutex);
    if (state == State::Running && status.code() == StatusCode::Unavailable &&
        !isRefusing())
      continue;
    if (state == State::Running) {
      std::lock_guard guard(core);
      operators.restore(handle.index);
      return status;
    }
    forgetOperator(handle.index);
    return Status::ok();
  }
}

/// Nothing uses it any more.
void EngineCore::forgetOperator(uint32_t index) {
  std::unique_lock guard(core);
  CoreOperator &place = operators[index];
  Task task = std::move(place.task); // Destroyed outside of the lock.
  std::unique_ptr<Variable[]> list(std::exchange(place.variables, nullptr));
  place.deletion = nullptr;
  operators.remove(index);
  guard.unlock();
}

//===----------------------------------------------------------------------===//
// Pushing
//===----------------------------------------------------------------------===//

Status EngineCore::push(Operator handle, Context context, int priority) {
  DLC_RETURN_IF_ERROR(flushOwnBulk());
  if (!context.isValid())
    return refuseContext(context);
  if (!operators.isCurrent(handle.index, handle.stamp))
    return isRefusing() ? refuseNow() : refuseOperator(handle);
  const CoreOperator &shared = operators[handle.index];
  for (uint32_t i = 0; i != shared.count; ++i)
    if (Variable variable = shared.variables[i];
        !variables.isCurrent(variable.index, variable.stamp))
      return refuseVariable(variable);
  Task task; // Carries the operator only.
  std::memcpy(task.payload, &handle, sizeof(handle));
  Request request = {
      .task = &task,
      .flags = uint8_t(isSharedFlag | (shared.isAsync ? isAsyncFlag : 0)),
      .context = context,
      .options = shared.options};
  request.options.priority = priority;
  if (shared.count > Slot::mostVariables) {
    request.writes = {shared.variables, shared.writeCount};
    request.reads = {shared.variables + shared.writeCount,
                     shared.count - shared.writeCount};
  }
  return submit(request);
}

Status EngineCore::push(Task &function, bool isAsync, Context context,
                        VariableList reads, VariableList writes,
                        const PushOptions &options) {
  if (!context.isValid())
    return refuseContext(context);
  if (function.isEmpty())
    return refuseTask();
  DLC_RETURN_IF_ERROR(checkVariables(variables, reads, writes));
  Request request = {&function, uint8_t(isAsync ? isAsyncFlag : 0),
                     context,   reads,
                     writes,    options};
  if (bulkCount.load(std::memory_order_relaxed)) [[unlikely]]
    if (BulkState *bulk = findBulk()) {
      if (isBulked(request))
        return addToBulk(*bulk, request);
      DLC_RETURN_IF_ERROR(flushBulk(*bulk));
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
  const PushOptions &options = request.options;
  Result<Lane *> found = laneFor(request.context, options.property);
  if (!found.isOk())
    return std::move(found.status());
  Lane &lane = **found;
  bool isAlways =
      request.flags & (isDeletionFlag | isOperatorDeletionFlag) && isInside();
  size_t count = request.reads.size() + request.writes.size();
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
  Status status = admitBytes(options.bytes, isAlways);
  if (status.isOk()) {
    status = reserve(slots, isAlways, ticket);
    if (!status.isOk() && options.bytes)
      bytesInFlight.fetch_sub(options.bytes, std::memory_order_relaxed);
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
    head.flags = isPreparedFlag;
    std::memcpy(head.payload, &prepared, sizeof(prepared));
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
  for (const VariableList &list : {request.writes, request.reads})
    for (const Variable &variable : list) {
      if (word == end)
        word = rest;
      *word++ = packVariable(variable);
    }
}

/// An operation with more variables than a record holds.
CoreOperation *EngineCore::prepare(const Request &request) {
  size_t count = request.reads.size() + request.writes.size();
  core.lock();
  CoreOperation *operation = pool.takeSingle(uint32_t(count));
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
Status EngineCore::reserve(uint64_t slots, bool isAlways, uint64_t &ticket) {
  uint64_t seen = tail.load(std::memory_order_relaxed);
  for (;;) {
    if ((seen & refusesBit) && !isAlways)
      return refuseNow();
    ticket = seen & ~refusesBit;
    // Acquire, here and in hasRoom(): whoever published the limit has read
    // what was in the lines below it.
    if (ticket + slots > seenLimit.load(std::memory_order_acquire) &&
        !hasRoom(ticket + slots)) {
      DLC_RETURN_IF_ERROR(awaitRoom(ticket + slots, isAlways));
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

/// Within the budget or, inside an operation, in the ring at all.
bool EngineCore::hasRoom(uint64_t end) {
  uint64_t known = limit.load(std::memory_order_acquire);
  seenLimit.store(known, std::memory_order_release);
  if (end <= known)
    return true;
  return end <= roomLimit.load(std::memory_order_acquire) && isInside();
}

Status EngineCore::awaitRoom(uint64_t end, bool isAlways) {
  if (isInside()) {
    // Never waits, since what would make room may wait for this operation.
    core.lock();
    registerPushed(nullptr);
    bool isOut = isStuck.load(std::memory_order_relaxed);
    unlock();
    if (isOut)
      return makeError(StatusCode::OutOfMemory, "no memory for operations");
    if (!hasRoom(end))
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
  auto isRefused = [&] { return isRefusing() && !isAlways; };
  // Some room at a time, so that the lines do not go to and fro.
  auto hasSome = [&] {
    // Not at each turn: those who make room write the line.
    for (int i = 0; i != 16; ++i)
      relax();
    return end + wakeRoom / 2 <= limit.load(std::memory_order_relaxed) ||
           isRefused();
  };
  if (spinUntil(spinNanoseconds, hasSome))
    return Status::ok();
  uint32_t epoch = roomEpoch.load(std::memory_order_acquire);
  hasRoomWaiters.store(true, std::memory_order_release);
  fence.rare(); // Pairs with the one in unlock().
  if (!hasRoom(end) && !isRefused())
    futexWait(roomEpoch, epoch);
  return Status::ok();
}

/// Counts `bytes` as in flight, when they may be.
Status EngineCore::admitBytes(uint64_t bytes, bool isAlways) {
  if (!bytes)
    return Status::ok();
  uint64_t most = options.maxBytes ? options.maxBytes : UINT64_MAX;
  bool isFree = isAlways || isInside();
  uint64_t seen = bytesInFlight.load(std::memory_order_relaxed);
  for (;;) {
    bool fits = seen == 0 || (bytes <= most && seen <= most - bytes);
    if (isFree || fits) {
      // Relaxed: the number guards no memory.
      if (bytesInFlight.compare_exchange_weak(seen, seen + bytes,
                                              std::memory_order_relaxed))
        return Status::ok();
      continue;
    }
    uint32_t epoch = roomEpoch.load(std::memory_order_acquire);
    hasRoomWaiters.store(true, std::memory_order_release);
    fence.rare(); // Pairs with the one in unlock().
    bool isRefused = isRefusing();
    if (bytesInFlight.load(std::memory_order_relaxed) == seen && !isRefused)
      futexWait(roomEpoch, epoch);
    if (isRefused)
      return refuseNow();
    seen = bytesInFlight.load(std::memory_order_relaxed);
  }
}
