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
      : first(std::exchange(other.first, nullptr)) {}
  ~BulkBody() {
    while (first)
      delete std::exchange(first, first->next);
  }

  Status operator()(const RunContext &context) {
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

  BulkPart *first = nullptr;
};

} // namespace

/// What one thread collects. Only that thread uses it.
struct dlc::rt::BulkState {
  BulkState *next = nullptr;
  pthread_t owner = {};
  unsigned limit = 0, count = 0;
  Context context;
  uint64_t bytes = 0;
  BulkBody body;
  BulkPart **end = &body.first;
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
  void clear() {
    count = 0;
    memberCount = 0;
    bytes = 0;
    end = &body.first;
  }
};

BulkState *EngineCore::findBulk() const {
  std::lock_guard guard(bulkLock);
  for (BulkState *bulk = bulks; bulk; bulk = bulk->next)
    if (pthread_equal(bulk->owner, pthread_self()))
      return bulk;
  return nullptr;
}

bool EngineCore::isBulked(const Request &request) {
  return !request.flags &&
         request.options.property == OperationProperty::Normal &&
         request.options.priority == 0;
}

Status EngineCore::addToBulk(BulkState &bulk, const Request &request) {
  if (bulk.count && !(bulk.context == request.context))
    DLC_RETURN_IF_ERROR(flushBulk(bulk));
  if (isRefusing())
    return refuseNow();
  auto *part = new (std::nothrow) BulkPart;
  if (!part || !bulk.reserve(request.reads.size() + request.writes.size())) {
    delete part;
    return makeError(StatusCode::OutOfMemory, "no memory for a bulk");
  }
  part->task = std::move(*request.task);
  part->name = request.options.name;
  part->origin = request.options.origin;
  *bulk.end = part;
  bulk.end = &part->next;
  for (const Variable &variable : request.writes)
    bulk.add(variable, true);
  for (const Variable &variable : request.reads)
    bulk.add(variable, false);
  bulk.context = request.context;
  bulk.bytes += request.options.bytes;
  return ++bulk.count < bulk.limit ? Status::ok() : flushBulk(bulk);
}

/// Pushes what was collected. When that is refused the functions are destroyed.
Status EngineCore::flushBulk(BulkState &bulk) {
  if (!bulk.count)
    return Status::ok();
  BulkBody body = std::move(bulk.body); // Ends here if there is no memory.
  Task task = Task::sync(std::move(body));
  BulkState::Member *first = bulk.members.get();
  size_t count = bulk.memberCount;
  auto *middle = std::partition(first, first + count,
                                [](auto &member) { return member.isWritten; });
  std::unique_ptr<Variable[]> list(new (std::nothrow) Variable[count]);
  uint64_t bytes = bulk.bytes;
  for (size_t i = 0; list && i != count; ++i)
    list[i] = first[i].variable;
  size_t written = size_t(middle - first);
  bulk.clear();
  if (task.isEmpty() || !list)
    return makeError(StatusCode::OutOfMemory, "no memory for a bulk");
  // One of them may have been deleted since.
  VariableList writes(list.get(), written);
  VariableList reads(list.get() + written, count - written);
  DLC_RETURN_IF_ERROR(checkVariables(variables, reads, writes));
  return submit({&task,
                 0,
                 bulk.context,
                 reads,
                 writes,
                 {.name = "bulk", .bytes = bytes}});
}

Status EngineCore::flushOwnBulk() {
  if (!bulkCount.load(std::memory_order_relaxed)) [[likely]]
    return Status::ok();
  BulkState *bulk = findBulk();
  return bulk ? flushBulk(*bulk) : Status::ok();
}

Result<unsigned> EngineCore::setBulkSize(unsigned operations) {
  BulkState *bulk = findBulk();
  unsigned previous = bulk ? bulk->limit : 0;
  if (operations > 1) {
    if (!bulk) {
      bulk = new (std::nothrow) BulkState;
      if (!bulk)
        return makeError(StatusCode::OutOfMemory, "no memory for a bulk");
      bulk->owner = pthread_self();
      std::lock_guard guard(bulkLock);
      bulk->next = bulks;
      bulks = bulk;
      // Relaxed: a thread looks for its own bulk only.
      bulkCount.fetch_add(1, std::memory_order_relaxed);
    }
    bulk->limit = operations;
    if (bulk->count >= operations)
      DLC_RETURN_IF_ERROR(flushBulk(*bulk));
    return previous;
  }
  if (!bulk)
    return previous;
  Status status = flushBulk(*bulk);
  {
    std::lock_guard guard(bulkLock);
    BulkState **link = &bulks;
    while (*link != bulk)
      link = &(*link)->next;
    *link = bulk->next;
    bulkCount.fetch_sub(1, std::memory_order_relaxed);
  }
  delete bulk;
  if (!status.isOk())
    return status;
  return previous;
}

/// Those of threads that never ended theirs.
void EngineCore::endBulks() {
  while (bulks)
    delete std::exchange(bulks, bulks->next);
}
