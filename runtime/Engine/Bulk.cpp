// SPDX-License-Identifier: Apache-2.0
//
// Bulks: consecutive small operations of one thread that become one.

#include "Core.h"

using namespace dlc::rt;

namespace {

/// One function of a bulk.
struct BulkPart {
  BulkPart *next = nullptr;
  Task task;
  const char *name = nullptr;
  const char *origin = nullptr;
};

/// The functions of a bulk, in their order: the function of one operation.
class BulkBody {
public:
  BulkBody() = default;
  BulkBody(BulkBody &&other) noexcept
      : first(std::exchange(other.first, nullptr)), last(other.last) {}
  ~BulkBody() {
    while (first)
      delete std::exchange(first, first->next);
  }

  void append(BulkPart *part) {
    (first ? last->next : first) = part;
    last = part;
  }

  Status operator()(const RunContext &bulk) {
    RunContext context = bulk;
    context.operation = nullptr; // Its variables are those of other parts, too.
    for (BulkPart *part = first; part; part = part->next) {
      TaskCall call = {TaskAction::RunAndDiscard, &context};
      part->task.thunk(part->task.payload, call);
      part->task.release();
      if (!call.status.isOk())
        return std::move(call.status)
            .withContext(describeOperation(part->name, part->origin));
    }
    return Status::ok();
  }

private:
  BulkPart *first = nullptr, *last = nullptr;
};

} // namespace

/// What one thread collects outside of operations, or inside one.
struct dlc::rt::BulkState {
  BulkState *next = nullptr; ///< In the list of all, which only grows.
  std::atomic<bool> isUsed = true;
  std::atomic<uint64_t> owner = 0; ///< See threadNumber(); 0 for none.
  uint64_t scope = 0;              ///< As EngineCore::bulkScope(). Its own.
  unsigned limit = 0;              ///< Its own.

  /// Guards what follows, which close() empties.
  SpinLock lock;
  unsigned count = 0;
  Context context;
  uint64_t bytes = 0;
  BulkBody body;
  /// The union of the parts: each variable once, as written if one writes it.
  struct Member {
    Variable variable;
    bool isWritten;
  };
  std::unique_ptr<Member[]> members;
  size_t memberCount = 0, capacity = 0;

  /// Makes room for `more` members; false when there is no memory.
  bool reserve(size_t more) {
    if (memberCount + more <= capacity)
      return true;
    size_t wanted = std::max(2 * capacity, memberCount + more);
    auto *grown = new (std::nothrow) Member[wanted];
    if (!grown)
      return false;
    std::copy(members.get(), members.get() + memberCount, grown);
    members.reset(grown);
    capacity = wanted;
    return true;
  }
  void add(Variable variable, bool isWritten) {
    for (size_t i = 0; i != memberCount; ++i)
      if (members[i].variable == variable) {
        members[i].isWritten |= isWritten;
        return;
      }
    members[memberCount++] = {variable, isWritten};
  }
  /// Empties it and hands over the functions.
  BulkBody take() {
    count = 0;
    memberCount = 0;
    bytes = 0;
    return std::move(body);
  }
};

/// Tells the operations apart that one thread is in: 0 outside of all. A thread
/// that waits, or pushes, may run others, whose pushes are not its own.
static uint64_t scopeOf(const CoreOperation *operation) {
  return operation ? operation->id + 1 : 0;
}

uint64_t EngineCore::bulkScope() const {
  Worker *self = findSelf();
  return scopeOf(self ? self->running : nullptr);
}

/// Of no other thread, unlike pthread_self(), which comes again: a thread that
/// ends may leave a bulk behind.
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
  BulkState *bulk = bulks.load(std::memory_order_acquire);
  // Acquire: what its last owner left.
  while (bulk && bulk->isUsed.exchange(true, std::memory_order_acquire))
    bulk = bulk->next;
  if (!bulk) {
    bulk = new (std::nothrow) BulkState;
    if (!bulk)
      return nullptr;
    bulk->next = bulks.load(std::memory_order_relaxed);
    // Release: the bulk comes with the pointer.
    while (!bulks.compare_exchange_weak(
        bulk->next, bulk, std::memory_order_release, std::memory_order_relaxed))
      ;
  }
  bulk->scope = bulkScope();
  bulk->owner.store(threadNumber(), std::memory_order_relaxed);
  // Relaxed: a thread looks for its own bulk only.
  bulkCount.fetch_add(1, std::memory_order_relaxed);
  return bulk;
}

/// Empty, to whoever comes next.
void EngineCore::giveBulk(BulkState &bulk) {
  bulkCount.fetch_sub(1, std::memory_order_relaxed);
  bulk.owner.store(0, std::memory_order_relaxed);
  bulk.isUsed.store(false, std::memory_order_release);
}

bool EngineCore::isBulked(const Request &request) {
  return !request.flags &&
         request.options.property == OperationProperty::Normal &&
         request.options.priority == 0;
}

Status EngineCore::addToBulk(BulkState &bulk, const Request &request) {
  std::unique_ptr<BulkPart> part(new (std::nothrow) BulkPart);
  std::unique_lock guard(bulk.lock);
  if (bulk.count && !(bulk.context == request.context)) {
    guard.unlock();
    DLC_RETURN_IF_ERROR(flushBulk(bulk));
    guard.lock();
  }
  // With the lock: close() refuses pushes before it empties the bulk.
  if (isRefusing())
    return refuseNow();
  if (!part || !bulk.reserve(request.reads.size() + request.writes.size()))
    return makeError(StatusCode::OutOfMemory, "no memory for a bulk");
  part->task = std::move(*request.task);
  part->name = request.options.name;
  part->origin = request.options.origin;
  bulk.body.append(part.release());
  for (const Variable &variable : request.writes)
    bulk.add(variable, true);
  for (const Variable &variable : request.reads)
    bulk.add(variable, false);
  bulk.context = request.context;
  bulk.bytes += request.options.bytes;
  bool isFull = ++bulk.count >= bulk.limit;
  guard.unlock();
  return isFull ? flushBulk(bulk) : Status::ok();
}

/// Pushes what was collected. When that is refused the functions are destroyed.
Status EngineCore::flushBulk(BulkState &bulk) {
  std::unique_lock guard(bulk.lock);
  if (!bulk.count)
    return Status::ok();
  BulkState::Member *first = bulk.members.get();
  size_t count = bulk.memberCount;
  auto *middle = std::partition(first, first + count,
                                [](auto &member) { return member.isWritten; });
  std::unique_ptr<Variable[]> list(new (std::nothrow) Variable[count]);
  uint64_t bytes = bulk.bytes;
  for (size_t i = 0; list && i != count; ++i)
    list[i] = first[i].variable;
  size_t written = size_t(middle - first);
  Context context = bulk.context;
  BulkBody body = bulk.take();
  guard.unlock();
  Task task = Task::sync(std::move(body));
  if (task.isEmpty() || !list)
    return makeError(StatusCode::OutOfMemory, "no memory for a bulk");
  // One of them may have been deleted since.
  VariableList writes(list.get(), written);
  VariableList reads(list.get() + written, count - written);
  DLC_RETURN_IF_ERROR(checkVariables(variables, reads, writes));
  return submit(
      {&task, 0, context, reads, writes, {.name = "bulk", .bytes = bytes}});
}

Status EngineCore::flushOwnBulk() {
  if (!bulkCount.load(std::memory_order_relaxed)) [[likely]]
    return Status::ok();
  BulkState *bulk = findBulk(bulkScope());
  return bulk ? flushBulk(*bulk) : Status::ok();
}

Result<unsigned> EngineCore::setBulkSize(unsigned operations) {
  BulkState *bulk = findBulk(bulkScope());
  unsigned previous = bulk ? bulk->limit : 0;
  if (operations <= 1) {
    DLC_RETURN_IF_ERROR(endBulk(bulk));
    return previous;
  }
  if (!bulk && !(bulk = takeBulk()))
    return makeError(StatusCode::OutOfMemory, "no memory for a bulk");
  bulk->limit = operations;
  bulk->lock.lock();
  bool isFull = bulk->count >= operations;
  bulk->lock.unlock();
  if (isFull)
    DLC_RETURN_IF_ERROR(flushBulk(*bulk));
  return previous;
}

Status EngineCore::endBulk(BulkState *bulk) {
  if (!bulk)
    return Status::ok();
  Status status = flushBulk(*bulk);
  giveBulk(*bulk);
  return status;
}

/// Pushes what an operation has collected and not pushed as its function
/// returned. waitForAll() tells of it if that fails.
void EngineCore::endBulkOf(CoreOperation &operation) {
  Status status = endBulk(findBulk(scopeOf(&operation)));
  if (status.isOk())
    return;
  std::lock_guard guard(core);
  failures.release(failures.fail(status, operation.name, operation.origin));
}

/// Destroys what threads have collected and not pushed; pushes are refused.
void EngineCore::emptyBulks() {
  for (BulkState *bulk = bulks.load(std::memory_order_acquire); bulk;
       bulk = bulk->next) {
    bulk->lock.lock();
    BulkBody body = bulk->take();
    bulk->lock.unlock();
  }
}

void EngineCore::deleteBulks() {
  for (BulkState *bulk = bulks; bulk;)
    delete std::exchange(bulk, bulk->next);
}
