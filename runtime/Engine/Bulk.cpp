// SPDX-License-Identifier: Apache-2.0
//
// Bulks: consecutive small operations of one thread that become one. Each part
// keeps its own error, versions and place in the order of pushes: whoever
// pushes, deletes or waits for what another thread has collected pushes that
// first, and so does a thread, an operation or an engine that ends.

#include "Bulk.h"

#include "Core.h"

#include "dlc/runtime/Base/ForkGuard.h"

#include <optional>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Threads that end
//===----------------------------------------------------------------------===//

namespace {

/// No bulk begins from here on: the thread ends, and has pushed its bulks.
thread_local bool isThreadOver = false;

/// The engines in which the calling thread has begun a bulk outside of
/// operations.
class ThreadBulks {
public:
  /// False when there is no memory, or the thread ends.
  bool add(CompletionHub &hub) {
    if (isThreadOver)
      return false;
    if (!guard || guard->isChild()) {
      first = nullptr; // The parent's are abandoned.
      guard.emplace();
    }
    for (Entry **link = &first; *link;)
      if ((*link)->hub->isDetached())
        drop(link);
      else
        link = &(*link)->next;
    auto *entry = new (std::nothrow) Entry{first, &hub};
    if (!entry)
      return false;
    hub.retain();
    first = entry;
    return true;
  }
  void remove(CompletionHub &hub) {
    Entry **link = &first;
    while (*link && (*link)->hub != &hub)
      link = &(*link)->next;
    if (*link)
      drop(link);
  }
  ~ThreadBulks() {
    isThreadOver = true;
    if (!guard || guard->isChild())
      return;
    while (first) {
      first->hub->endThread();
      drop(&first);
    }
  }

private:
  struct Entry {
    Entry *next;
    CompletionHub *hub;
  };
  static void drop(Entry **link) {
    Entry *entry = std::exchange(*link, (*link)->next);
    entry->hub->release();
    delete entry;
  }
  Entry *first = nullptr;
  std::optional<ForkGuard> guard;
};

thread_local ThreadBulks threadBulks;

} // namespace

//===----------------------------------------------------------------------===//
// Whose they are
//===----------------------------------------------------------------------===//

/// Tells the operations apart that one thread is in: 0 outside of all. A thread
/// that waits, or pushes, may run others, whose pushes are not its own.
static uint64_t scopeOf(const CoreOperation *operation) {
  return operation ? operation->id + 1 : 0;
}

uint64_t EngineCore::bulkScope() const {
  Worker *self = findSelf();
  return scopeOf(self ? self->running : nullptr);
}

/// Of no other thread, unlike pthread_self(), which comes again.
static uint64_t threadNumber() {
  static std::atomic<uint64_t> last = 0;
  static thread_local const uint64_t own =
      last.fetch_add(1, std::memory_order_relaxed) + 1;
  return own;
}

/// That of the calling thread in `scope`, or null. Only the thread itself makes
/// its number appear in the list, so that no order is needed.
BulkState *EngineCore::findBulk(uint64_t scope) const {
  uint64_t self = threadNumber();
  for (BulkState *bulk = bulks.load(std::memory_order_acquire); bulk;
       bulk = bulk->next)
    if (bulk->owner.load(std::memory_order_relaxed) == self &&
        bulk->scope == scope)
      return bulk;
  return nullptr;
}

/// One that nobody uses, or a new one, for the calling thread and its
/// operation; null when there is no memory.
BulkState *EngineCore::takeBulk() {
  uint64_t scope = bulkScope();
  if (!scope && !threadBulks.add(*hub))
    return nullptr;
  BulkState *bulk = bulks.load(std::memory_order_acquire);
  // Acquire: what its last owner left.
  while (bulk && bulk->isUsed.exchange(true, std::memory_order_acquire))
    bulk = bulk->next;
  bool isNew = !bulk;
  if (isNew && !(bulk = new (std::nothrow) BulkState)) {
    if (!scope)
      threadBulks.remove(*hub);
    return nullptr;
  }
  bulk->scope = scope;
  bulk->owner.store(threadNumber(), std::memory_order_relaxed);
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
  bulk.owner.store(0, std::memory_order_relaxed);
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

Status EngineCore::addToBulk(BulkState &bulk, const Request &request) {
  auto refuse = [] {
    return makeError(StatusCode::OutOfMemory, "no memory for a bulk");
  };
  Result<Lane *> lane = laneFor(request.context, request.options.property);
  if (!lane.isOk())
    return std::move(lane.status());
  std::unique_ptr<BulkPart, decltype(&BulkPart::end)> part(
      BulkPart::make(request.reads, request.writes, request.options),
      BulkPart::end);
  if (!part)
    return refuse();
  std::unique_lock guard(bulk.lock);
  while (bulk.count.load(std::memory_order_relaxed) &&
         (bulk.count.load(std::memory_order_relaxed) >= bulk.limit ||
          (request.options.bytes &&
           !hasRoomForBytes(bulk.bytes, request.options.bytes)) ||
          !(bulk.operation->context == request.context) ||
          bulk.operation->useCount + part->count > BulkState::mostVariables)) {
    guard.unlock();
    DLC_RETURN_IF_ERROR(pushBulk(bulk));
    guard.lock();
  }
  // Both with the lock: who closes the engine, and who deletes a variable,
  // refuses it before the bulks are pushed.
  if (isRefusing())
    return refuseNow();
  for (const VariableList &list : {request.writes, request.reads})
    for (const Variable &variable : list)
      if (!variables.isCurrent(variable.index, variable.stamp))
        return refuseVariable(variable);
  if (!growBulk(bulk, part->count))
    return refuse();
  part->task = std::move(*request.task);
  bulk.last = (bulk.first ? bulk.last->next : bulk.first) = part.release();
  uint32_t count = bulk.count.load(std::memory_order_relaxed) + 1;
  bulk.count.store(count, std::memory_order_relaxed);
  for (const Variable &variable : request.writes)
    bulk.add(variable, true);
  for (const Variable &variable : request.reads)
    bulk.add(variable, false);
  bulk.operation->context = request.context;
  bulk.lane = *lane;
  bulk.bytes += request.options.bytes;
  guard.unlock();
  // The operation was taken: when there is no memory to push the bulk now, the
  // next one that comes tries it again.
  if (count >= bulk.limit)
    (void)pushBulk(bulk).isOk();
  return Status::ok();
}

/// Makes room for `more` variables, and all that pushing the bulk will need.
/// With its lock held. False when there is no memory.
bool EngineCore::growBulk(BulkState &bulk, uint32_t more) {
  CoreOperation *old = bulk.operation;
  uint32_t used = old ? old->useCount : 0;
  if (old && used + more <= old->capacity)
    return true;
  std::lock_guard guard(core);
  CoreOperation *grown =
      pool.takeSingle(std::max(OperationPool::largeUses, used + more));
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
  BulkState *bulk = findBulk(bulkScope());
  unsigned previous = bulk ? bulk->limit : 0;
  if (operations <= 1) {
    if (!bulk)
      return previous;
    DLC_RETURN_IF_ERROR(pushBulk(*bulk));
    if (!bulk->scope)
      threadBulks.remove(*hub);
    giveBulk(*bulk);
    return previous;
  }
  if (!bulk && !(bulk = takeBulk()))
    return makeError(StatusCode::OutOfMemory, "no memory for a bulk");
  bulk->limit = std::min(operations, BulkState::mostParts);
  if (bulk->count.load(std::memory_order_relaxed) >= bulk->limit)
    DLC_RETURN_IF_ERROR(pushBulk(*bulk));
  return previous;
}

//===----------------------------------------------------------------------===//
// Pushing
//===----------------------------------------------------------------------===//

/// As a push of the thread that collected it: waits while the budget is used
/// up.
Status EngineCore::pushBulk(BulkState &bulk) {
  bulk.lock.lock();
  bool isEmpty = !bulk.count.load(std::memory_order_relaxed);
  uint64_t bytes = bulk.bytes;
  bulk.lock.unlock();
  if (isEmpty)
    return Status::ok();
  DLC_RETURN_IF_ERROR(awaitBudget(bytes));
  return flushBulk(bulk);
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

/// By any thread: beyond the budget, as a deletion, and also while the engine
/// stops or closes, since the operations were accepted before. It waits for
/// none. They stay where they are when there is no memory for records.
Status EngineCore::flushBulk(BulkState &bulk) {
  std::unique_lock guard(bulk.lock);
  if (!bulk.count.load(std::memory_order_relaxed))
    return Status::ok();
  uint64_t ticket;
  DLC_RETURN_IF_ERROR(reserve(1, true, ticket));
  CoreOperation *operation = std::exchange(bulk.operation, nullptr);
  new (operation->payload)
      BulkParts{std::exchange(bulk.first, nullptr), nullptr};
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
  bool isLeft = bulk.isLeft;
  guard.unlock();
  fence.frequent();
  wakeIfAsleep(lane);
  if (isLeft)
    giveBulk(bulk);
  return Status::ok();
}

/// Those of all threads.
Status EngineCore::flushBulks() {
  for (BulkState *bulk = bulks.load(std::memory_order_acquire); bulk;
       bulk = bulk->next)
    DLC_RETURN_IF_ERROR(flushBulk(*bulk));
  return Status::ok();
}

/// Those but `own` that an operation with these variables has to come after.
/// `mayRace`: such a part may be added just now, by who has not yet seen that
/// the variable is refused.
Status EngineCore::flushBulksBefore(VariableList reads, VariableList writes,
                                    const BulkState *own, bool mayRace) {
  for (BulkState *bulk = bulks.load(std::memory_order_acquire); bulk;
       bulk = bulk->next) {
    if (bulk == own ||
        (!mayRace && !bulk->mayHoldAny(writes) && !bulk->mayHoldAny(reads)))
      continue;
    bulk->lock.lock();
    bool isBefore = bulk->conflictsWith(reads, writes);
    bulk->lock.unlock();
    if (isBefore)
      DLC_RETURN_IF_ERROR(flushBulk(*bulk));
  }
  return Status::ok();
}

Status EngineCore::flushOwnBulk() {
  if (!hasBulks()) [[likely]]
    return Status::ok();
  BulkState *bulk = findBulk(bulkScope());
  return bulk ? flushBulk(*bulk) : Status::ok();
}

/// Its thread or operation ends. What finds no memory now goes with the next
/// call that pushes it.
void EngineCore::leaveBulk(BulkState &bulk) {
  bulk.owner.store(0, std::memory_order_relaxed);
  bulk.lock.lock();
  bulk.isLeft = true;
  bool isEmpty = !bulk.count.load(std::memory_order_relaxed);
  bulk.lock.unlock();
  if (isEmpty)
    giveBulk(bulk);
  else
    (void)flushBulk(bulk).isOk();
}

void EngineCore::endBulkOf(CoreOperation &operation) {
  if (BulkState *bulk = findBulk(scopeOf(&operation)))
    leaveBulk(*bulk);
}

void EngineCore::endThread() {
  if (BulkState *bulk = findBulk(0))
    leaveBulk(*bulk);
}

void EngineCore::deleteBulks() {
  for (BulkState *bulk = bulks; bulk;)
    delete std::exchange(bulk, bulk->next);
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
  for (BulkPart *part = parts.first; part; part = part->next) {
    std::atomic_ref(parts.running).store(part, std::memory_order_relaxed);
    // Relaxed: a part may begin as the engine gives up. A bulk is skipped for
    // no other reason.
    bool isLost = isGivingUp.load(std::memory_order_relaxed);
    if ((mayBeSkipped || isLost) && skipPart(*part, isLost)) {
      part->task = Task(); // What it holds may push as it goes.
      if (hasBulks())
        endBulkOf(operation);
      continue;
    }
    RunContext context = {&engine, operation.context, worker.number, nullptr};
    TaskCall call = {TaskAction::RunAndDiscard, &context};
    if (options.observer) [[unlikely]] {
      OperationInfo info = {operation.id,
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
    poisonWrites(part, failures.extend(poison, part.name));
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
  BulkPart *first = std::exchange(BulkParts::of(operation).first, nullptr);
  for (BulkPart *part = first; part; part = part->next) {
    for (uint32_t index : part->written())
      variables[index].version += !part->isSkipped;
    ++numbers.completed;
  }
  --numbers.completed; // retire() counts one.
  ++numbers.bulks;
  operation.isSkipped = true; // For retire(): it has written nothing itself.
  core.unlock();
  while (first)
    BulkPart::end(std::exchange(first, first->next));
}

/// "operation 'conv' (net.onnx: 3)", and for a bulk what runs of it.
std::string EngineCore::titleOf(CoreOperation &operation) {
  if (operation.is(isWaitFlag))
    return "a wait";
  if (!operation.is(isBulkFlag))
    return describeOperation(operation.name, operation.origin);
  BulkParts &parts = BulkParts::of(operation);
  BulkPart *shown = parts.now() ? parts.now() : parts.first;
  if (!parts.first)
    return "a bulk";
  size_t count = 0;
  for (BulkPart *part = parts.first; part; part = part->next)
    ++count;
  return describeOperation(shown->name, shown->origin) + " in a bulk of " +
         std::to_string(count);
}
