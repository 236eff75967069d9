// SPDX-License-Identifier: Apache-2.0
//
// Dependencies: records become operations, operations become ready, and what
// they held goes to the next. All with the core's lock held.

#include "Core.h"

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// Whether all records are wanted: by a waiter, or because one with a priority
/// may be among them, which only counts among those that are known.
bool EngineCore::takesAll(const Lane *lane) const {
  return !lane || lane->ready.hasPriorities() ||
         prioritized.load(std::memory_order_relaxed) != registeredPrioritized ||
         options.fuzzSeed;
}

/// Whether more should be ready before a worker of `lane` goes to run: one for
/// itself, and one for each lane whose workers would otherwise sleep.
bool EngineCore::isHungry(const Lane &lane) const {
  bool sleeps = lane.sleepers.load(std::memory_order_relaxed);
  if (lane.readyCount.load(std::memory_order_relaxed) < 1u + sleeps)
    return true;
  unsigned count = laneCount.load(std::memory_order_relaxed);
  for (unsigned i = 0; count > 1 && i != count; ++i)
    if (lanes[i]->sleepers.load(std::memory_order_relaxed) &&
        !lanes[i]->readyCount.load(std::memory_order_relaxed))
      return true;
  return false;
}

/// Takes records from the ring in the order of their tickets: all that are
/// published, or with a lane until that has enough. Few at a time, so that what
/// is known of them stays in the nearest caches.
void EngineCore::registerPushed(Lane *lane) {
  uint64_t ticket = head.load(std::memory_order_relaxed), before = ticket;
  bool isOut = false;
  for (unsigned budget = 64; takesAll(lane) || (budget && isHungry(*lane));
       budget -= budget != 0) {
    if (!ring.isPublished(ticket))
      break;
    __builtin_prefetch(&ring[ticket + 3]);
    uint64_t slots;
    if (!registerRecord(ticket, slots)) {
      isOut = true; // Until an operation completes and leaves its memory.
      break;
    }
    ticket += slots;
  }
  if (isOut != isStuck.load(std::memory_order_relaxed))
    isStuck.store(isOut, std::memory_order_relaxed);
  if (ticket != before)
    head.store(ticket, std::memory_order_relaxed);
  finishWaiters();
}

/// False when there is no memory for it.
bool EngineCore::registerRecord(uint64_t ticket, uint64_t &slots) {
  const Slot::Head &head = ring[ticket].head;
  CoreOperation *operation;
  if (head.flags & isPreparedFlag) {
    std::memcpy(&operation, head.payload, sizeof(operation));
    slots = 1;
    pool.addSingle(operation);
    start(*operation, slots, head.lane);
    for (uint32_t i = 0; i != operation->useCount; ++i)
      addUse(*operation, operation->uses()[i], operation->uses()[i].variable,
             operation->uses()[i].writes);
    if (operation->is(isSharedFlag))
      attachOperator(*operation);
    seal(*operation);
    return true;
  }
  uint32_t count = head.reads + head.writes, room = count;
  if (head.flags & isSharedFlag) [[unlikely]] {
    Operator handle;
    std::memcpy(&handle, head.payload, sizeof(handle));
    if (const CoreOperator *shared = findOperator(handle))
      room = shared->shape.load().count;
  }
  operation = pool.take(room);
  if (!operation)
    return false;
  bool isExtended = head.flags & isExtendedFlag;
  slots = 1 + (isExtended || count > Slot::headVariables);
  operation->thunk = head.thunk;
  std::memcpy(operation->payload, head.payload, Task::payloadSize);
  operation->name = head.name;
  operation->priority = head.priority;
  operation->context = {head.kind, head.index};
  operation->property = head.property;
  operation->flags = head.flags;
  operation->useCount = 0;
  const uint32_t *rest = ring[ticket + 1].rest.words;
  Extension extension = {};
  if (isExtended) {
    std::memcpy(&extension, rest, sizeof(extension));
    rest += Slot::extensionWords;
  }
  operation->origin = extension.origin;
  operation->bytes = extension.bytes;
  start(*operation, slots, head.lane);
  if (head.flags & (isSharedFlag | isOperatorDeletionFlag)) [[unlikely]]
    attachOperator(*operation);
  for (uint32_t i = 0; i != count; ++i) {
    uint32_t packed = i < Slot::headVariables ? head.variables[i]
                                              : rest[i - Slot::headVariables];
    addUse(*operation, operation->uses()[operation->useCount++], packed,
           i < head.writes);
  }
  seal(*operation);
  return true;
}

/// What all operations start with. `waiting` holds it back until seal().
void EngineCore::start(CoreOperation &operation, uint64_t slots, uint8_t lane) {
  operation.next = nullptr;
  operation.waiting = 1;
  operation.lane = lane;
  operation.slots = uint8_t(slots);
  operation.isLive = true;
  operation.isRunning = operation.isSkipped = operation.isGivenUp = false;
  // In the order of tickets, too; a ticket alone would be that of all parts.
  operation.id = nextId;
  nextId +=
      operation.is(isBulkFlag) ? BulkParts::of(operation).blocks->partCount : 1;
  operation.poison = nullptr;
  operation.shared = nullptr;
  operation.mark = 0;
  registeredPrioritized += operation.priority != 0;
  if (operation.is(isAsyncFlag))
    operation.async.store(operation.id << 3, std::memory_order_relaxed);
}

/// Null when its deletion was registered before.
CoreOperator *EngineCore::findOperator(Operator handle) const {
  CoreOperator &place = operators[handle.index];
  return place.stamp == handle.stamp && !place.deletion ? &place : nullptr;
}

/// Of a run of an operator, or of its deletion.
void EngineCore::attachOperator(CoreOperation &operation) {
  Operator handle = {};
  bool isDeletion = operation.is(isOperatorDeletionFlag);
  std::memcpy(&handle, operation.payload,
              isDeletion ? sizeof(handle.index) : sizeof(handle));
  if (isDeletion) {
    CoreOperator &place = operators[handle.index];
    operation.waiting += place.runs != 0;
    place.deletion = &operation;
    return;
  }
  CoreOperator *shared = findOperator(handle);
  if (!shared) {
    // Texts went with it.
    operation.name = operation.origin = nullptr;
    poisonLate(operation, "its operator was deleted while it was pushed");
    return;
  }
  operation.shared = shared;
  ++shared->runs;
  CoreOperator::Shape shape = shared->shape.load();
  for (uint32_t i = 0; i != shape.count; ++i)
    addUse(operation, operation.uses()[operation.useCount++],
           packVariable(shape.variables->begin()[i].load()),
           i < shape.writeCount);
}

/// Another thread deleted what the operation needs after the push had checked.
void EngineCore::poisonLate(CoreOperation &operation, const char *what) {
  if (operation.poison)
    return;
  operation.poison = failures.fail(Status(StatusCode::InvalidArgument, what),
                                   operation.name, operation.origin);
}

void EngineCore::addUse(CoreOperation &operation, Use &use, uint32_t packed,
                        bool writes) {
  constexpr uint32_t bits = HandleTable<CoreVariable>::indexBits;
  uint32_t index = packedIndex(packed);
  CoreVariable &variable = variables[index];
  if (variable.stamp << bits != packed - index || !variable.stamp ||
      variable.isDoomed) [[unlikely]] {
    poisonLate(operation, "one of its variables was deleted while it was "
                          "pushed");
    use = {nullptr, &operation, Use::none, writes, true};
    return;
  }
  if (operation.is(isDeletionFlag)) [[unlikely]]
    variable.isDoomed = true;
  use = {nullptr, &operation, index, writes, false};
  enqueue(variable, use);
}

/// Grants the variable or puts the use at the end of its queue.
void EngineCore::enqueue(CoreVariable &variable, Use &use) {
  if (canGrant(variable, use.writes)) {
    hold(use, variable);
    return;
  }
  ++use.operation->waiting;
  (variable.first ? variable.last->next : variable.first) = &use;
  variable.last = &use;
}

bool EngineCore::canGrant(const CoreVariable &variable, bool writes) {
  return !variable.first && !variable.writer && (!writes || !variable.readers);
}

void EngineCore::hold(Use &use, CoreVariable &variable) {
  use.isGranted = true;
  if (use.writes)
    variable.writer = use.operation;
  else
    ++variable.readers;
  if (!variable.poison) [[likely]]
    return;
  if (!FailureBook::isAlive(variable.poison))
    failures.release(std::exchange(variable.poison, nullptr));
  else if (!use.operation->poison)
    use.operation->poison = FailureBook::retain(variable.poison);
}

void EngineCore::seal(CoreOperation &operation) {
  if (--operation.waiting == 0)
    makeReady(operation);
}

void EngineCore::makeReady(CoreOperation &operation) {
  if (operation.is(isWaitFlag)) [[unlikely]] {
    Waiter &waiter = waiterOf(operation);
    waiter.next = grantedWaiters;
    grantedWaiters = &waiter;
    return;
  }
  Lane &lane = *lanes[operation.lane];
  lane.ready.add(&operation);
  // Relaxed, and no read-modify-write: only the holder of the lock writes it.
  lane.readyCount.store(lane.readyCount.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  ++readyTotal;
}

CoreOperation *EngineCore::takeReady(Lane &lane) {
  uint32_t count = lane.readyCount.load(std::memory_order_relaxed);
  if (!count)
    return nullptr;
  lane.readyCount.store(count - 1, std::memory_order_relaxed);
  --readyTotal;
  CoreOperation *operation = options.fuzzSeed
                                 ? lane.ready.takeLater(nextRandom() % count)
                                 : lane.ready.take();
  operation->isRunning = true;
  // Without its operator it has nothing to run, whatever its property.
  bool hasFunction = !operation->is(isSharedFlag) || operation->shared;
  bool isLost = isGivingUp.load(std::memory_order_relaxed) &&
                operation->property != OperationProperty::DeleteVariable;
  operation->isSkipped =
      !hasFunction || isLost ||
      (!operation->isNeverSkipped() && FailureBook::isAlive(operation->poison));
  if (isLost && hasFunction && !operation->is(isBulkFlag)) [[unlikely]]
    givenUp.addSkipped(); // Of a bulk, each part.
  return operation;
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

/// Gives the variable to the use at the head of its queue, or to all reads
/// there.
void EngineCore::advance(CoreVariable &variable) {
  Use *use = variable.first;
  bool isWrite = use->writes;
  do {
    variable.first = use->next;
    hold(*use, variable);
    seal(*use->operation);
    use = variable.first;
  } while (!isWrite && use && !use->writes);
}

void EngineCore::releaseUse(const Use &use) {
  CoreVariable &variable = variables[use.variable];
  if (use.writes)
    variable.writer = nullptr;
  else if (--variable.readers)
    return;
  if (variable.first)
    advance(variable);
}

/// By the thread of the operation or one that it started: the operation is
/// there, and holds its variables.
Status EngineCore::release(const RunContext &run, Variable variable) {
  auto *operation = static_cast<CoreOperation *>(run.operation);
  if (!operation) // That of a part of a bulk, or of none.
    return refuseRelease(describeInside(), variable);
  if (operation->is(isDeletionFlag))
    return refuseRelease("a deletion", variable);
  core.lock();
  Use *use = operation->uses(), *end = use + operation->useCount;
  while (use != end && use->variable != variable.index)
    ++use;
  if (use == end || variables[variable.index].stamp != variable.stamp) {
    std::string title = titleOf(*operation);
    unlock();
    return refuseRelease(title, variable);
  }
  variables[variable.index].version += use->writes;
  releaseUse(*use);
  use->variable = Use::none;
  finishWaiters();
  unlock();
  return Status::ok();
}

void EngineCore::retire(CoreOperation &operation) {
  Poison *outcome = nullptr;
  bool hasWritten = !operation.isSkipped;
  if (!operation.result.isOk()) [[unlikely]] {
    outcome = failures.fail(operation.result, operation.name, operation.origin);
    operation.result = Status::ok();
    ++numbers.failed;
    if (operation.isGivenUp)
      failures.markGivenUp(outcome);
  } else if (operation.isSkipped) [[unlikely]] {
    if (!operation.is(isBulkFlag)) { // Whose parts have done that.
      if (operation.poison)
        outcome =
            failures.extend(operation.poison, operation.name, operation.origin);
      ++numbers.skipped;
    }
  }
  for (Use *use = operation.uses(), *end = use + operation.useCount; use != end;
       ++use) {
    if (use->variable == Use::none) [[unlikely]]
      continue;
    if (use->writes) {
      CoreVariable &variable = variables[use->variable];
      variable.version += hasWritten;
      if (outcome && !variable.isResource) [[unlikely]] {
        failures.release(variable.poison);
        variable.poison = FailureBook::retain(outcome);
      }
      if (operation.is(isDeletionFlag)) [[unlikely]] {
        endVariable(use->variable);
        continue;
      }
    }
    releaseUse(*use);
  }
  failures.release(outcome);
  failures.release(operation.poison);
  if (operation.shared) {
    CoreOperator &shared = *operation.shared;
    if (--shared.runs == 0 && shared.deletion)
      seal(*shared.deletion);
  }
  if (operation.bytes) {
    bytesInFlight.fetch_sub(operation.bytes, std::memory_order_relaxed);
    hasFreedBytes = true;
  }
  ++numbers.completed;
  ++lanes[operation.lane]->completed;
  retiredSlots += operation.slots;
  pool.give(&operation);
  finishWaiters();
}

/// Its deletion has completed; nothing can be in its queue.
void EngineCore::endVariable(uint32_t index) {
  CoreVariable &variable = variables[index];
  failures.release(std::exchange(variable.poison, nullptr));
  variable.writer = nullptr;
  variable.version = 0;
  variable.isDoomed = false;
  variables.remove(index);
}

/// Waits that were granted their variable are over. Not done where they are
/// granted: that would change a queue while advance() walks it.
void EngineCore::finishWaiters() {
  while (Waiter *waiter = grantedWaiters) {
    grantedWaiters = waiter->next;
    CoreOperation &operation = waiter->place.operation;
    waiter->status = failures.deliver(operation.poison);
    failures.release(operation.poison);
    releaseUse(waiter->place.use);
    waiter->next = doneWaiters;
    doneWaiters = waiter;
  }
}

bool EngineCore::isIdle() const {
  // Acquire: the caller then sees what pushers did before.
  return retiredSlots == (tail.load(std::memory_order_acquire) & ticketMask);
}

uint64_t EngineCore::nextRandom() {
  random += 0x9e3779b97f4a7c15u; // SplitMix64.
  uint64_t mixed = (random ^ random >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  return mixed ^ mixed >> 31;
}

//===----------------------------------------------------------------------===//
// The end of a pass
//===----------------------------------------------------------------------===//

/// Publishes what the pass has changed, unlocks, and wakes those who wait for
/// it. `isStarving`: the caller found nothing to run.
void EngineCore::unlock(bool isStarving) {
  uint64_t room = head.load(std::memory_order_relaxed) + ring.size();
  uint64_t within = std::min(room, retiredSlots + options.maxOperations);
  // Release: what was in the lines below has been read.
  roomLimit.store(room, std::memory_order_release);
  limit.store(within, std::memory_order_release);
  if (idleWaiters && isIdle()) [[unlikely]]
    finishIdleWaiters();
  Waiter *done = std::exchange(doneWaiters, nullptr);
  bool hasReady = readyTotal;
  bool hasBytes = std::exchange(hasFreedBytes, false);
  core.unlock();

  fence.frequent(); // Before the looks at who sleeps.
  RoomWanted wanted = roomWanted.load(std::memory_order_relaxed);
  if (wanted != RoomWanted::None) [[unlikely]]
    wakePushers(within, hasBytes, isStarving || wanted == RoomWanted::Any);
  while (done) [[unlikely]] {
    Waiter *next = done->next;
    done->signal();
    done = next;
  }
  if (!hasReady)
    return;
  unsigned count = laneCount.load(std::memory_order_acquire);
  for (unsigned i = 0; i != count; ++i)
    if (lanes[i]->readyCount.load(std::memory_order_relaxed))
      wakeIfAsleep(*lanes[i]);
}

/// Wakes those that sleep for room when there is much, or any, or for bytes.
void EngineCore::wakePushers(uint64_t within, bool hasBytes, bool anyWillDo) {
  uint64_t end = tail.load(std::memory_order_relaxed) & ticketMask;
  if (!hasBytes && within < end + (anyWillDo ? 1 : wakeRoom))
    return;
  // In this order: one that sets it again has the new epoch.
  roomWanted.store(RoomWanted::None, std::memory_order_relaxed);
  roomEpoch.fetch_add(1, std::memory_order_release);
  futexWake(roomEpoch, INT32_MAX);
}

void EngineCore::finishIdleWaiters() {
  while (Waiter *waiter = idleWaiters) {
    idleWaiters = waiter->next;
    if (waiter->takesErrors)
      waiter->status = failures.deliverAll();
    waiter->next = doneWaiters;
    doneWaiters = waiter;
  }
}
