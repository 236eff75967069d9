// SPDX-License-Identifier: Apache-2.0
//
// Bulks: consecutive small operations of one thread that become one. Each part
// keeps its own error, versions and place in the order of pushes: whoever
// pushes, deletes or waits for what another thread has collected pushes that
// first, and so does a thread, an operation or an engine that ends.

#include "Bulk.h"

#include "Core.h"

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Whose they are
//===----------------------------------------------------------------------===//

static Status refuseBulk() {
  return makeError(StatusCode::OutOfMemory, "no memory for a bulk");
}

namespace {

/// A bulk that its thread has begun and not ended. The hub tells engines apart,
/// also those that have ended: it is kept, so that no other has its address.
struct BulkEntry {
  BulkEntry *next;
  CompletionHub *hub;
  uint64_t scope; ///< As EngineCore::bulkScope().
  BulkState *bulk;
};

/// Those of the calling thread. Without a destructor, which would be looked for
/// by each push; ThreadEnd has one.
constinit thread_local BulkEntry *ownBulks = nullptr;

/// The thread ends, and has pushed its bulks: none begins from here on outside
/// of operations.
constinit thread_local bool isThreadOver = false;

BulkEntry **findEntry(const CompletionHub *hub, uint64_t scope) {
  BulkEntry **link = &ownBulks;
  while (*link && ((*link)->hub != hub || (*link)->scope != scope))
    link = &(*link)->next;
  return link;
}

void drop(BulkEntry **link) {
  BulkEntry *entry = std::exchange(*link, (*link)->next);
  entry->hub->release();
  delete entry;
}

/// Pushes what the thread has collected when it ends.
class ThreadEnd {
public:
  ~ThreadEnd() {
    isThreadOver = true;
    for (; ownBulks; drop(&ownBulks))
      ownBulks->hub->endThread(ownBulks->bulk);
  }

  /// Forgets what belongs to engines that have ended, or to the parent's.
  void clean() {
    for (BulkEntry **link = &ownBulks; *link;)
      if ((*link)->hub->isDetached())
        drop(link);
      else
        link = &(*link)->next;
  }
};

thread_local ThreadEnd threadEnd;

} // namespace

/// Tells the operations apart that one thread is in: 0 outside of all. A thread
/// that waits, or pushes, may run others, whose pushes are not its own.
static uint64_t scopeOf(const CoreOperation *operation) {
  return operation ? operation->id + 1 : 0;
}

uint64_t EngineCore::bulkScope() const {
  Worker *self = findSelf();
  return scopeOf(self ? self->running : nullptr);
}

/// That of the calling thread where it is, or null.
BulkState *EngineCore::findBulk() const {
  if (!ownBulks) [[likely]]
    return nullptr;
  BulkEntry *entry = *findEntry(hub, bulkScope());
  return entry ? entry->bulk : nullptr;
}

/// One that nobody uses, or a new one, for the calling thread where it is.
Result<BulkState *> EngineCore::takeBulk() {
  uint64_t scope = bulkScope();
  if (!scope && isThreadOver)
    return makeError(StatusCode::Unavailable,
                     "expected a thread that goes on to collect a bulk, got "
                     "one that ends and has pushed those that it had");
  if (!scope)
    threadEnd.clean();
  auto *entry =
      new (std::nothrow) BulkEntry{ownBulks, hub, scope, /*bulk=*/nullptr};
  BulkState *bulk = bulks.load(std::memory_order_acquire);
  // Acquire: what its last owner left.
  while (entry && bulk &&
         (bulk->isUsed.load(std::memory_order_relaxed) ||
          bulk->isUsed.exchange(true, std::memory_order_acquire)))
    bulk = bulk->next;
  bool isNew = !bulk;
  if (!entry || (isNew && !(bulk = new (std::nothrow) BulkState))) {
    delete entry;
    return refuseBulk();
  }
  entry->bulk = bulk;
  hub->retain();
  ownBulks = entry;
  // With the lock, which who refuses a variable or all pushes has held before
  // it looks at the list: it finds the bulk, or the bulk finds the refusal.
  std::lock_guard guard(core);
  if (isNew) {
    bulk->next = bulks.load(std::memory_order_relaxed);
    bulks.store(bulk, std::memory_order_release); // The bulk comes with it.
  }
  bulkCount.fetch_add(1, std::memory_order_relaxed);
  return bulk;
}

/// Empty, to whoever comes next.
void EngineCore::giveBulk(BulkState &bulk) {
  bulk.isLeft = false;
  // Release: who sees that there is none comes after what this one pushed.
  bulkCount.fetch_sub(1, std::memory_order_release);
  bulk.isUsed.store(false, std::memory_order_release);
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

bool EngineCore::isBulked(const Request &request) {
  return !request.flags &&
         request.options.property == OperationProperty::Normal &&
         request.options.priority == 0 &&
         request.reads.size() + request.writes.size() <=
             BulkState::mostVariables;
}

/// Pushes what has to come before the operation, and keeps it in `bulk`, the
/// calling thread's own.
Status EngineCore::collect(BulkState &bulk, const Request &request) {
  // Others push a bulk beyond the budget, and so do deletions and waits: who
  // begins one waits as a push does.
  if (!bulk.count.load(std::memory_order_relaxed))
    DLC_RETURN_IF_ERROR(awaitBudget(request.options.bytes));
  // In this order: a count that is not 0 says that this one is among them.
  uint32_t all = collecting.load(std::memory_order_acquire);
  uint32_t own = bulk.count.load(std::memory_order_relaxed) != 0;
  if (all != own) [[unlikely]]
    DLC_RETURN_IF_ERROR(flushBulksBefore(request.reads, request.writes, &bulk));
  return addToBulk(bulk, request);
}

/// Whether a part that uses `more` variables has to go into another one.
bool EngineCore::isFull(const BulkState &bulk, const Request &request,
                        uint32_t more) const {
  uint32_t count = bulk.count.load(std::memory_order_relaxed);
  return count && (count >= bulk.limit ||
                   (request.options.bytes &&
                    !hasRoomForBytes(bulk.bytes, request.options.bytes)) ||
                   !(bulk.operation->context == request.context) ||
                   bulk.operation->useCount + more > BulkState::mostVariables);
}

Status EngineCore::addToBulk(BulkState &bulk, const Request &request) {
  auto more = uint32_t(request.reads.size() + request.writes.size());
  BulkGuard guard(bulk, fence, BulkGuard::Owner);
  while (isFull(bulk, request, more)) {
    guard.unlock();
    DLC_RETURN_IF_ERROR(pushBulk(bulk));
    guard.lock();
  }
  if (!bulk.count.load(std::memory_order_relaxed)) {
    Result<Lane *> lane = laneFor(request.context, request.options.property);
    if (!lane.isOk())
      return std::move(lane.status());
    bulk.lane = *lane;
  }
  // Both with the lock: who closes the engine, and who deletes a variable,
  // refuses it before the bulks are pushed.
  DLC_RETURN_IF_ERROR(checkVariables(variables, request.reads, request.writes));
  if (isRefusing())
    return refuseNow();
  if (!growBulk(bulk, more))
    return refuseBulk();
  BulkPart *part = bulk.lastBlock->add(request.reads, request.writes);
  part->name = request.options.name;
  part->origin = request.options.origin;
  part->task = std::move(*request.task);
  uint32_t count = bulk.count.load(std::memory_order_relaxed);
  if (count)
    bulk.last->next = part;
  else // Relaxed: who comes after this push sees it anyway.
    collecting.fetch_add(1, std::memory_order_relaxed);
  bulk.last = part;
  part->number = uint16_t(count++);
  bulk.count.store(count, std::memory_order_relaxed);
  for (const Variable &variable : request.writes)
    bulk.add(variable, true);
  for (const Variable &variable : request.reads)
    bulk.add(variable, false);
  bulk.operation->context = request.context;
  bulk.bytes += request.options.bytes;
  guard.unlock();
  // The operation was taken: when there is no memory to push the bulk now, the
  // next one that comes tries it again.
  if (count >= bulk.limit)
    (void)pushBulk(bulk).isOk();
  return Status::ok();
}

/// Makes room for a part with `more` variables, and all that pushing the bulk
/// will need. With its lock held. False when there is no memory.
bool EngineCore::growBulk(BulkState &bulk, uint32_t more) {
  bool isFirst = !bulk.count.load(std::memory_order_relaxed);
  CoreOperation *old = bulk.operation;
  if (old && isFirst)
    old->useCount = 0;
  uint32_t used = old ? old->useCount : 0;
  bool hasUses = old && used + more <= old->capacity;
  bool hasBlock = bulk.lastBlock && bulk.lastBlock->hasRoom(more);
  if (hasUses && hasBlock) [[likely]]
    return true;
  std::lock_guard guard(core);
  if (!hasBlock) {
    BulkBlock *block = bulkBlocks.take();
    if (!block)
      return false;
    (bulk.lastBlock ? bulk.lastBlock->next : bulk.firstBlock) = block;
    bulk.lastBlock = block;
  }
  if (hasUses)
    return true;
  CoreOperation *grown = pool.takeSingle(std::max(
      {OperationPool::largeUses, used + more, old ? 0 : bulk.usualUses}));
  if (!grown)
    return false;
  grown->useCount = used;
  bulk.operation = grown;
  if (!old)
    return true;
  grown->context = old->context;
  for (uint32_t i = 0; i != used; ++i) {
    grown->uses()[i] = old->uses()[i];
    grown->uses()[i].operation = grown;
  }
  pool.giveSingle(old);
  return true;
}

Result<unsigned> EngineCore::setBulkSize(unsigned operations) {
  BulkState *bulk = findBulk();
  unsigned previous = bulk ? bulk->limit : 0;
  if (operations <= 1) {
    if (!bulk)
      return previous;
    DLC_RETURN_IF_ERROR(pushBulk(*bulk));
    drop(findEntry(hub, bulkScope()));
    giveBulk(*bulk);
    return previous;
  }
  if (!bulk) {
    if (isRefusing())
      return refuseNow();
    Result<BulkState *> taken = takeBulk();
    if (!taken.isOk())
      return std::move(taken.status());
    bulk = *taken;
  }
  unsigned limit = std::min(operations, BulkState::mostParts);
  if (bulk->count.load(std::memory_order_relaxed) >= limit)
    DLC_RETURN_IF_ERROR(pushBulk(*bulk));
  bulk->limit = limit;
  return previous;
}

//===----------------------------------------------------------------------===//
// Pushing
//===----------------------------------------------------------------------===//

/// As a push of the thread that collected it: waits while the budget is used
/// up.
Status EngineCore::pushBulk(BulkState &bulk) {
  uint64_t bytes;
  {
    BulkGuard guard(bulk, fence, BulkGuard::Owner);
    if (!bulk.count.load(std::memory_order_relaxed))
      return Status::ok();
    bytes = bulk.bytes;
  }
  DLC_RETURN_IF_ERROR(awaitBudget(bytes));
  BulkGuard guard(bulk, fence, BulkGuard::Owner);
  return flushBulk(bulk, guard);
}

/// Waits as a push does until there is room for an operation, or pushes are
/// refused.
Status EngineCore::awaitBudget(uint64_t bytes) {
  awaitBytes(bytes);
  uint64_t seen;
  while (!((seen = tail.load(std::memory_order_relaxed)) & refusesBit) &&
         !hasRoom(seen + 1, false))
    DLC_RETURN_IF_ERROR(awaitRoom(seen + 1, false));
  return Status::ok();
}

/// By any thread, with the lock, which it releases: beyond the budget, as a
/// deletion, and also while the engine stops or closes, since the operations
/// were accepted before. It waits for none. They stay where they are when there
/// is no memory for records.
Status EngineCore::flushBulk(BulkState &bulk, BulkGuard &guard) {
  if (!bulk.count.load(std::memory_order_relaxed))
    return Status::ok();
  uint64_t ticket;
  DLC_RETURN_IF_ERROR(reserve(1, true, ticket));
  CoreOperation *operation = std::exchange(bulk.operation, nullptr);
  bulk.usualUses = operation->useCount;
  bulk.firstBlock->partCount = bulk.count.load(std::memory_order_relaxed);
  new (operation->payload)
      BulkParts{std::exchange(bulk.firstBlock, nullptr), nullptr};
  bulk.lastBlock = nullptr;
  operation->thunk = nullptr;
  operation->name = operation->origin = nullptr;
  operation->bytes = std::exchange(bulk.bytes, 0);
  operation->priority = 0;
  operation->property = OperationProperty::NoSkip; // Its parts may be.
  operation->flags = isBulkFlag;
  bytesInFlight.fetch_add(operation->bytes, std::memory_order_relaxed);
  Lane &lane = *bulk.lane;
  writePrepared(*operation, ticket);
  ring[ticket].head.lane = lane.number;
  ring.publish(ticket);
  // Release: who sees it draws a later ticket.
  for (std::atomic<uint64_t> &word : bulk.filter)
    word.store(0, std::memory_order_release);
  bulk.count.store(0, std::memory_order_release);
  collecting.fetch_sub(1, std::memory_order_release);
  bool isLeft = bulk.isLeft;
  guard.unlock();
  fence.frequent();
  wakeIfAsleep(lane);
  if (isLeft)
    giveBulk(bulk);
  return Status::ok();
}

/// Those of all threads. `mayRace`: a part may be added just now, by who has
/// not yet seen that pushes are refused.
Status EngineCore::flushBulks(bool mayRace) {
  if (mayRace)
    fence.rare();
  for (BulkState *bulk = bulks.load(std::memory_order_acquire); bulk;
       bulk = bulk->next) {
    // Acquire: when it is empty again, it was pushed before what comes next.
    bool isEntered = mayRace && bulk->lock.isEntered();
    if (!isEntered && !bulk->count.load(std::memory_order_acquire))
      continue;
    BulkGuard guard(*bulk, fence, BulkGuard::Other);
    DLC_RETURN_IF_ERROR(flushBulk(*bulk, guard));
  }
  return Status::ok();
}

/// Those but `own` that an operation with these variables has to come after.
/// `mayRace`: such a part may be added just now, by who has not yet seen that
/// the variable is refused.
Status EngineCore::flushBulksBefore(const VariableList &reads,
                                    const VariableList &writes,
                                    const BulkState *own, bool mayRace) {
  if (mayRace)
    fence.rare();
  for (BulkState *bulk = bulks.load(std::memory_order_acquire); bulk;
       bulk = bulk->next) {
    bool isEntered = mayRace && bulk->lock.isEntered();
    if (bulk == own ||
        (!isEntered && !bulk->mayHoldAny(writes) && !bulk->mayHoldAny(reads)))
      continue;
    BulkGuard guard(*bulk, fence, BulkGuard::Other);
    if (bulk->conflictsWith(reads, writes))
      DLC_RETURN_IF_ERROR(flushBulk(*bulk, guard));
  }
  return Status::ok();
}

Status EngineCore::flushOwnBulk() {
  if (!isCollecting()) [[likely]]
    return Status::ok();
  BulkState *bulk = findBulk();
  return bulk ? flushOwnBulk(*bulk) : Status::ok();
}

Status EngineCore::flushOwnBulk(BulkState &bulk) {
  BulkGuard guard(bulk, fence, BulkGuard::Owner);
  return flushBulk(bulk, guard);
}

/// Its thread or operation ends. What finds no memory now goes with the next
/// call that pushes it.
void EngineCore::leaveBulk(BulkState &bulk) {
  BulkGuard guard(bulk, fence, BulkGuard::Owner);
  bulk.isLeft = true;
  if (bulk.count.load(std::memory_order_relaxed)) {
    (void)flushBulk(bulk, guard).isOk();
    return;
  }
  guard.unlock();
  giveBulk(bulk);
}

/// By the thread that ran its function, which may have begun one.
void EngineCore::endBulkOf(CoreOperation &operation) {
  if (!ownBulks) [[likely]]
    return;
  BulkEntry **link = findEntry(hub, scopeOf(&operation));
  if (!*link)
    return;
  leaveBulk(*(*link)->bulk);
  drop(link);
}

/// They are empty; one that found no memory for its first part may keep some.
void EngineCore::deleteBulks() {
  for (BulkState *bulk = bulks; bulk;) {
    if (bulk->operation)
      pool.giveSingle(bulk->operation);
    BulkBlockPool::end(bulk->firstBlock);
    delete std::exchange(bulk, bulk->next);
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Each part as an operation of its own, except that all variables are held
/// from the first to the last.
void EngineCore::runBulk(Worker &worker, CoreOperation &operation) {
  BulkParts &parts = BulkParts::of(operation);
  // One held a poisoned variable, or a part has failed: no look without.
  bool mayBeSkipped = operation.poison;
  RunContext context = {&engine, operation.context, worker.number, nullptr};
  for (BulkPart *part = parts.blocks->first(); part; part = part->next) {
    parts.enter(part);
    // Relaxed: a part may begin as the engine gives up. A bulk is skipped for
    // no other reason.
    bool isLost = isGivingUp.load(std::memory_order_relaxed);
    if ((mayBeSkipped || isLost) && skipPart(*part, isLost)) {
      part->task = Task(); // What it holds may push as it goes.
      if (hasBulks())
        endBulkOf(operation);
      continue;
    }
    TaskCall call = {TaskAction::RunAndDiscard, &context};
    if (options.observer) [[unlikely]] {
      OperationInfo info = {operation.id + part->number,
                            part->name,
                            part->origin,
                            operation.context,
                            OperationProperty::Normal,
                            0,
                            worker.number};
      callObserved(info, part->task.thunk, part->task.payload, call);
    } else {
      part->task.thunk(part->task.payload, call);
    }
    part->task.release();
    if (hasBulks())
      endBulkOf(operation);
    if (!call.status.isOk()) [[unlikely]] {
      failPart(*part, call.status);
      mayBeSkipped = true;
    }
  }
  endParts(operation);
  worker.finished = &operation;
}

/// Whether the part is not to run: because of the error of a variable of its
/// own, which travels on, or of the end of the engine.
bool EngineCore::skipPart(BulkPart &part, bool isGivenUp) {
  std::lock_guard guard(core);
  Poison *poison = nullptr;
  for (uint32_t index : part.all())
    if (FailureBook::isAlive(variables[index].poison)) {
      poison = variables[index].poison;
      break;
    }
  if (poison)
    poisonWrites(part, failures.extend(poison, part.name, part.origin));
  part.isSkipped = poison || isGivenUp;
  if (isGivenUp) {
    givenUp.nameWaiting(describeOperation(part.name, part.origin) +
                        " in a bulk that runs");
    givenUp.addSkipped();
  }
  numbers.skipped += part.isSkipped;
  return part.isSkipped;
}

void EngineCore::failPart(BulkPart &part, const Status &status) {
  std::lock_guard guard(core);
  poisonWrites(part, failures.fail(status, part.name, part.origin));
  ++numbers.failed;
}

/// With the lock held, and the reference that the caller has.
void EngineCore::poisonWrites(BulkPart &part, Poison *poison) {
  for (uint32_t index : part.written()) {
    CoreVariable &variable = variables[index];
    if (variable.isResource)
      continue;
    failures.release(variable.poison);
    variable.poison = FailureBook::retain(poison);
  }
  failures.release(poison);
}

/// Counts what the parts have done, and forgets them.
void EngineCore::endParts(CoreOperation &operation) {
  core.lock();
  BulkParts &parts = BulkParts::of(operation);
  parts.enter(nullptr);
  BulkBlock *blocks = std::exchange(parts.blocks, nullptr);
  for (BulkPart *part = blocks->first(); part; part = part->next)
    for (uint32_t index : part->written())
      variables[index].version += !part->isSkipped;
  numbers.completed += blocks->partCount - 1; // retire() counts one.
  ++numbers.bulks;
  operation.isSkipped = true; // For retire(): it has written nothing itself.
  BulkBlock *surplus = bulkBlocks.give(blocks);
  core.unlock();
  BulkBlockPool::end(surplus);
}

/// Of a bulk that of the part that runs, or is the first to.
uint64_t EngineCore::idOf(CoreOperation &operation) {
  BulkPart *now =
      operation.is(isBulkFlag) ? BulkParts::of(operation).now() : nullptr;
  return operation.id + (now ? now->number : 0);
}

/// "operation 'conv' (net.onnx: 3)", and for a bulk what runs of it.
std::string EngineCore::titleOf(CoreOperation &operation) {
  if (operation.is(isWaitFlag))
    return "a wait";
  if (!operation.is(isBulkFlag))
    return describeOperation(operation.name, operation.origin);
  BulkParts &parts = BulkParts::of(operation);
  if (!parts.blocks)
    return "a bulk";
  BulkPart *now = parts.now(), *shown = now ? now : parts.blocks->first();
  return describeOperation(shown->name, shown->origin) + " in a bulk of " +
         std::to_string(parts.blocks->partCount);
}
