// SPDX-License-Identifier: Apache-2.0

#include "Naive.h"

#include "Failure.h"
#include "Shell.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>

using namespace dlc::rt;

namespace {

struct NaiveVariable {
  uint32_t stamp = 0, nextFree = 0;
  uint64_t version = 0;
  Poison *poison = nullptr;
  bool isResource = false; ///< Errors do not travel along it.
};

/// The variables of an operation, in memory of its own.
struct NaiveUses {
  std::unique_ptr<Variable[]> list; ///< The written ones first.
  uint32_t writeCount = 0, count = 0;

  bool assign(VariableList reads, VariableList writes) {
    count = reads.size() + writes.size();
    writeCount = writes.size();
    list.reset(new (std::nothrow) Variable[count]);
    if (!list)
      return false;
    std::ranges::copy(writes, list.get());
    std::ranges::copy(reads, list.get() + writeCount);
    return true;
  }
  std::span<const Variable> written() const { return {list.get(), writeCount}; }
  std::span<const Variable> all() const { return {list.get(), count}; }

  bool writes(Variable variable) const {
    return std::ranges::count(written(), variable);
  }
  bool uses(Variable variable) const {
    return std::ranges::count(all(), variable);
  }

  /// Whether one of the two must end before the other starts.
  bool conflictsWith(const NaiveUses &other) const {
    return std::ranges::any_of(written(),
                               [&](Variable v) { return other.uses(v); }) ||
           std::ranges::any_of(other.written(),
                               [&](Variable v) { return uses(v); });
  }
};

struct NaiveOperator {
  uint32_t stamp = 0, nextFree = 0;
  Task task;
  bool isAsync = false;
  NaiveUses uses;
  PushOptions options;
};

/// An operation that waits for its turn or runs.
struct NaiveOperation {
  NaiveOperation *next = nullptr;
  Task task;
  bool isAsync = false;
  NaiveUses ownUses;
  NaiveOperator *shared = nullptr; ///< Whose function and variables these are.
  Context context;
  PushOptions options;
  uint64_t id = 0;
  bool deletesVariable = false;
  Operator deletedOperator;

  const NaiveUses &uses() const { return shared ? shared->uses : ownUses; }
};

/// Where the completion of one asynchronous operation arrives.
class NaiveCell final : public CompletionSink {
public:
  void retain() override { references.fetch_add(1, std::memory_order_relaxed); }
  void release() override {
    // Release and acquire: the last one sees what all did before.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }
  Status complete(void *, uint64_t, Status status) override {
    std::lock_guard guard(mutex);
    if (isGivenUp)
      return makeError(StatusCode::Unavailable,
                       "the engine closed before this operation completed");
    if (isDone)
      return makeError(StatusCode::InvalidArgument,
                       "expected one completion of an operation, got another");
    isDone = true;
    result = std::move(status);
    changed.notify_all();
    return Status::ok();
  }
  void giveUp() {
    std::lock_guard guard(mutex);
    isGivenUp = !isDone;
    changed.notify_all();
  }
  /// False when it was given up.
  bool await(Status &status) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return isDone || isGivenUp; });
    status = std::move(result);
    return isDone;
  }

private:
  std::mutex mutex; ///< Guards the state below.
  std::condition_variable changed;
  bool isDone = false, isGivenUp = false;
  Status result;
  std::atomic<uint32_t> references = 1;
};

/// A running operation; those below it on the stack wait inside.
struct Frame {
  NaiveOperation &operation;
  NaiveCell *cell;
  Frame *below;
};

class NaiveCore {
public:
  NaiveCore(Engine &engine, const EngineOptions &options)
      : engine(engine), options(options),
        stamps(reinterpret_cast<uintptr_t>(this) * 0x9e3779b97f4a7c15u ^
               std::chrono::steady_clock::now().time_since_epoch().count()) {}
  ~NaiveCore() {
    for (uint32_t i = 0; i != variables.end(); ++i)
      failures.release(variables[i].poison);
  }

  Status initialise() { return Status::ok(); }
  Result<Variable> newVariable(VariableKind kind);
  Status deleteVariable(Task function, Context context, Variable variable);
  Result<Operator> newOperator(Task function, bool isAsync, VariableList reads,
                               VariableList writes, const PushOptions &options);
  Status deleteOperator(Operator operation);
  Status push(Operator operation, Context context, int priority);
  Status push(Task &function, bool isAsync, Context context, VariableList reads,
              VariableList writes, const PushOptions &options);
  Result<unsigned> setBulkSize(unsigned operations);
  Status waitForVariable(Variable variable, VariableUse use);
  Status waitForAll();
  Status stop();
  Status start();
  Status close();
  Result<uint64_t> version(Variable variable);
  std::string dump();
  EngineStatistics statistics();

private:
  using Lock = std::unique_lock<std::mutex>;

  Status checkOpen() const {
    if (isClosed)
      return refuseClosed();
    return isStopped ? refuseStopped() : Status::ok();
  }
  bool isInside() const {
    return isTaken && pthread_equal(owner, pthread_self());
  }
  Status takeTurn(Lock &lock);
  void endTurn();
  Status submit(Lock &lock, std::unique_ptr<NaiveOperation> operation);
  void runDeferred(Lock &lock);
  bool runOneOfDeferred(Lock &lock);
  void run(Lock &lock, NaiveOperation &operation);
  bool call(Lock &lock, NaiveOperation &operation, Status &status);
  void finish(NaiveOperation &operation, Poison *poison, bool isSkipped);

  Engine &engine;
  const EngineOptions options;

  /// Guards all that follows. Not held while a function runs.
  std::mutex mutex;
  std::condition_variable turnEnded;
  bool isTaken = false; ///< A thread runs operations: `owner`.
  pthread_t owner = {};
  bool isStopped = false, isClosed = false, isGivingUp = false;
  StampSource stamps;
  HandleTable<NaiveVariable> variables;
  HandleTable<NaiveOperator> operators;
  FailureBook failures;
  Frame *top = nullptr;
  /// Pushed inside an operation: they run after it.
  NaiveOperation *firstDeferred = nullptr, **lastDeferred = &firstDeferred;
  std::string givenUp;
  uint64_t nextId = 0;
  EngineStatistics numbers;
};

} // namespace

//===----------------------------------------------------------------------===//
// Variables and operators
//===----------------------------------------------------------------------===//

Result<Variable> NaiveCore::newVariable(VariableKind kind) {
  Lock lock(mutex);
  if (isClosed)
    return refuseClosed();
  Variable variable = {0, stamps.next()};
  DLC_RETURN_IF_ERROR(variables.add(variable.stamp, variable.index));
  variables[variable.index].version = 0;
  variables[variable.index].isResource = kind == VariableKind::Resource;
  return variable;
}

Status NaiveCore::deleteVariable(Task function, Context context,
                                 Variable variable) {
  if (!context.isValid())
    return refuseContext(context);
  if (function.isEmpty())
    return refuseTask();
  std::unique_ptr<NaiveOperation> operation(new (std::nothrow) NaiveOperation);
  if (!operation || !operation->ownUses.assign({}, {variable}))
    return refuseTask();
  Lock lock(mutex);
  if (!variables.isCurrent(variable.index, variable.stamp))
    return refuseVariable(variable);
  variables.retire(variable.index);
  operation->task = std::move(function);
  operation->context = context;
  operation->options = {.property = OperationProperty::DeleteVariable,
                        .name = "delete a variable"};
  operation->deletesVariable = true;
  return submit(lock, std::move(operation));
}

Result<Operator> NaiveCore::newOperator(Task function, bool isAsync,
                                        VariableList reads, VariableList writes,
                                        const PushOptions &options) {
  if (function.isEmpty())
    return refuseTask();
  Lock lock(mutex);
  if (isClosed)
    return refuseClosed();
  DLC_RETURN_IF_ERROR(checkVariables(variables, reads, writes));
  NaiveUses uses;
  if (!uses.assign(reads, writes))
    return refuseTask();
  Operator handle = {0, stamps.next()};
  DLC_RETURN_IF_ERROR(operators.add(handle.stamp, handle.index));
  NaiveOperator &place = operators[handle.index];
  place.task = std::move(function);
  place.isAsync = isAsync;
  place.uses = std::move(uses);
  place.options = options;
  return handle;
}

Status NaiveCore::deleteOperator(Operator handle) {
  std::unique_ptr<NaiveOperation> operation(new (std::nothrow) NaiveOperation);
  if (!operation)
    return refuseTask();
  Lock lock(mutex);
  if (!operators.isCurrent(handle.index, handle.stamp))
    return refuseOperator(handle);
  operators.retire(handle.index);
  // Has no function of its own; the operator goes when its turn comes.
  operation->deletedOperator = handle;
  return submit(lock, std::move(operation));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Waits until this thread is the only one that runs operations.
Status NaiveCore::takeTurn(Lock &lock) {
  turnEnded.wait(lock, [&] { return !isTaken; });
  isTaken = true;
  owner = pthread_self();
  return Status::ok();
}

void NaiveCore::endTurn() {
  isTaken = false;
  turnEnded.notify_all();
}

Status NaiveCore::submit(Lock &lock,
                         std::unique_ptr<NaiveOperation> operation) {
  bool isEnd = operation->deletesVariable || operation->deletedOperator;
  operation->id = nextId++;
  if (isInside()) {
    *lastDeferred = operation.release();
    lastDeferred = &(*lastDeferred)->next;
    return Status::ok();
  }
  DLC_RETURN_IF_ERROR(takeTurn(lock));
  Status status = isEnd ? Status::ok() : checkOpen();
  if (status.isOk()) {
    run(lock, *operation);
    runDeferred(lock);
  }
  endTurn();
  return status;
}

void NaiveCore::runDeferred(Lock &lock) {
  while (runOneOfDeferred(lock))
    ;
}

/// Runs the first deferred operation that neither a running one nor an earlier
/// deferred one holds up.
bool NaiveCore::runOneOfDeferred(Lock &lock) {
  for (NaiveOperation **link = &firstDeferred; *link; link = &(*link)->next) {
    NaiveOperation *candidate = *link;
    const NaiveUses &uses = candidate->uses();
    bool isHeldUp =
        candidate->deletedOperator && (top || link != &firstDeferred);
    for (Frame *frame = top; frame && !isHeldUp; frame = frame->below)
      isHeldUp = uses.conflictsWith(frame->operation.uses());
    for (NaiveOperation *earlier = firstDeferred;
         earlier != candidate && !isHeldUp; earlier = earlier->next)
      isHeldUp = uses.conflictsWith(earlier->uses());
    if (isHeldUp)
      continue;
    *link = candidate->next;
    if (!*link)
      lastDeferred = link;
    run(lock, *candidate);
    delete candidate;
    return true;
  }
  return false;
}

void NaiveCore::run(Lock &lock, NaiveOperation &operation) {
  if (operation.deletedOperator) {
    NaiveOperator &place = operators[operation.deletedOperator.index];
    Task task = std::move(place.task);
    place.uses = {};
    operators.remove(operation.deletedOperator.index);
    lock.unlock();
    task = Task(); // Outside of the lock: it may destroy what was captured.
    lock.lock();
    return;
  }
  Poison *poison = nullptr;
  for (Variable used : operation.uses().all())
    if (!poison && FailureBook::isAlive(variables[used.index].poison))
      poison = variables[used.index].poison;
  bool always = operation.options.property == OperationProperty::NoSkip ||
                operation.options.property == OperationProperty::DeleteVariable;
  bool isSkipped =
      (poison && !always) || (isGivingUp && !operation.deletesVariable);
  Poison *outcome = nullptr;
  if (isSkipped) {
    if (poison)
      outcome = failures.extend(poison, operation.options.name);
    ++numbers.skipped;
  } else {
    Status status;
    if (!call(lock, operation, status))
      givenUp =
          describeOperation(operation.options.name, operation.options.origin);
    if (!status.isOk()) {
      outcome = failures.fail(status, operation.options.name,
                              operation.options.origin);
      ++numbers.failed;
    }
  }
  finish(operation, outcome, isSkipped);
}

/// Calls the function without the lock and waits for its completion; false when
/// that was given up.
bool NaiveCore::call(Lock &lock, NaiveOperation &operation, Status &status) {
  NaiveOperator *shared = operation.shared;
  bool isAsync = shared ? shared->isAsync : operation.isAsync;
  NaiveCell *cell = nullptr;
  if (isAsync && !(cell = new (std::nothrow) NaiveCell)) {
    status = makeError(StatusCode::OutOfMemory, "no memory for its completion");
    return true;
  }
  Frame frame = {operation, cell, top};
  top = &frame;
  lock.unlock();
  RunContext context = {&engine, operation.context, 0};
  OperationInfo info = {operation.id,
                        operation.options.name,
                        operation.options.origin,
                        operation.context,
                        operation.options.property,
                        operation.options.priority,
                        0};
  if (options.observer)
    options.observer->onStart(info);
  bool isCompleted = true;
  {
    Completion completion;
    if (cell)
      completion = Completion(*cell, &operation, 0);
    TaskCall taskCall = {shared ? TaskAction::Run : TaskAction::RunAndDiscard,
                         &context, &completion};
    Task &task = shared ? shared->task : operation.task;
    task.thunk(task.payload, taskCall);
    if (!shared)
      task.release();
    status = std::move(taskCall.status);
  }
  if (options.observer)
    options.observer->onFinish(info, status);
  if (cell)
    isCompleted = cell->await(status);
  lock.lock();
  top = frame.below;
  if (cell)
    cell->release();
  return isCompleted;
}

void NaiveCore::finish(NaiveOperation &operation, Poison *poison,
                       bool isSkipped) {
  for (Variable written : operation.uses().written()) {
    NaiveVariable &variable = variables[written.index];
    if (poison && !variable.isResource) {
      failures.release(variable.poison);
      variable.poison = FailureBook::retain(poison);
    }
    variable.version += !isSkipped;
    if (operation.deletesVariable) {
      failures.release(variable.poison);
      variable.poison = nullptr;
      variables.remove(written.index);
    }
  }
  failures.release(poison);
  ++numbers.completed;
}

Status NaiveCore::push(Operator handle, Context context, int priority) {
  if (!context.isValid())
    return refuseContext(context);
  std::unique_ptr<NaiveOperation> operation(new (std::nothrow) NaiveOperation);
  if (!operation)
    return refuseTask();
  Lock lock(mutex);
  DLC_RETURN_IF_ERROR(checkOpen());
  if (!operators.isCurrent(handle.index, handle.stamp))
    return refuseOperator(handle);
  NaiveOperator &shared = operators[handle.index];
  for (Variable variable : shared.uses.all())
    if (!variables.isCurrent(variable.index, variable.stamp))
      return refuseVariable(variable);
  operation->shared = &shared;
  operation->context = context;
  operation->options = shared.options;
  operation->options.priority = priority;
  return submit(lock, std::move(operation));
}

Status NaiveCore::push(Task &function, bool isAsync, Context context,
                       VariableList reads, VariableList writes,
                       const PushOptions &options) {
  if (!context.isValid())
    return refuseContext(context);
  if (function.isEmpty())
    return refuseTask();
  std::unique_ptr<NaiveOperation> operation(new (std::nothrow) NaiveOperation);
  if (!operation || !operation->ownUses.assign(reads, writes))
    return refuseTask();
  Lock lock(mutex);
  DLC_RETURN_IF_ERROR(checkOpen());
  DLC_RETURN_IF_ERROR(checkVariables(variables, reads, writes));
  operation->task = std::move(function);
  operation->isAsync = isAsync;
  operation->context = context;
  operation->options = options;
  return submit(lock, std::move(operation));
}

Result<unsigned> NaiveCore::setBulkSize(unsigned) {
  return 0u; // Everything runs at once: nothing to join.
}

//===----------------------------------------------------------------------===//
// Waiting and life
//===----------------------------------------------------------------------===//

Status NaiveCore::waitForVariable(Variable variable, VariableUse use) {
  Lock lock(mutex);
  if (!variables.isCurrent(variable.index, variable.stamp))
    return refuseVariable(variable);
  if (isInside()) {
    runDeferred(lock);
    auto isHeld = [&](const NaiveUses &uses) {
      return use == VariableUse::Read ? uses.writes(variable)
                                      : uses.uses(variable);
    };
    bool isWaiting = false;
    for (Frame *frame = top; frame; frame = frame->below)
      isWaiting |= isHeld(frame->operation.uses());
    for (NaiveOperation *later = firstDeferred; later; later = later->next)
      isWaiting |= isHeld(later->uses());
    if (isWaiting)
      return makeError(StatusCode::InvalidArgument,
                       "the operation would wait for itself");
  } else {
    turnEnded.wait(lock, [&] { return !isTaken; });
    if (!variables.isCurrent(variable.index, variable.stamp))
      return refuseVariable(variable);
  }
  return failures.deliver(variables[variable.index].poison);
}

Status NaiveCore::waitForAll() {
  Lock lock(mutex);
  if (isInside())
    return refuseInside("waitForAll()");
  turnEnded.wait(lock, [&] { return !isTaken; });
  return failures.deliverAll();
}

Status NaiveCore::stop() {
  Lock lock(mutex);
  if (isInside())
    return refuseInside("stop()");
  if (isClosed)
    return refuseClosed();
  turnEnded.wait(lock, [&] { return !isTaken; });
  isStopped = true;
  return Status::ok();
}

Status NaiveCore::start() {
  Lock lock(mutex);
  if (isClosed)
    return refuseClosed();
  isStopped = false;
  return Status::ok();
}

Status NaiveCore::close() {
  Lock lock(mutex);
  if (isInside())
    return refuseInside("close()");
  isClosed = true;
  auto isIdle = [&] { return !isTaken; };
  if (!options.closePatienceMilliseconds)
    turnEnded.wait(lock, isIdle);
  std::chrono::milliseconds patience(options.closePatienceMilliseconds);
  if (!turnEnded.wait_for(lock, patience, isIdle)) {
    isGivingUp = true;
    while (isTaken) {
      // Each may start another that is not completed.
      for (Frame *frame = top; frame; frame = frame->below)
        if (frame->cell)
          frame->cell->giveUp();
      turnEnded.wait_for(lock, std::chrono::milliseconds(1), isIdle);
    }
  }
  for (uint32_t i = 0; i != operators.end(); ++i)
    if (operators[i].stamp) {
      operators[i].task = Task();
      operators.remove(i);
    }
  if (!givenUp.empty())
    return makeError(StatusCode::Unavailable, "gave up %s",
                     std::exchange(givenUp, {}).c_str());
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Looking inside
//===----------------------------------------------------------------------===//

Result<uint64_t> NaiveCore::version(Variable variable) {
  Lock lock(mutex);
  if (!variables.isCurrent(variable.index, variable.stamp))
    return refuseVariable(variable);
  return variables[variable.index].version;
}

std::string NaiveCore::dump() {
  Lock lock(mutex);
  std::string text = "naive engine";
  text += isClosed ? ", closed\n" : isStopped ? ", stopped\n" : "\n";
  auto describe = [&](const NaiveOperation &operation, const char *state) {
    text +=
        "  " +
        describeOperation(operation.options.name, operation.options.origin) +
        " on " + toString(operation.context) + ": " + state + "\n";
  };
  for (Frame *frame = top; frame; frame = frame->below)
    describe(frame->operation,
             frame->cell ? "waits for its completion" : "runs");
  for (NaiveOperation *later = firstDeferred; later; later = later->next)
    describe(*later, "waits for the operation that pushed it");
  return text;
}

EngineStatistics NaiveCore::statistics() {
  Lock lock(mutex);
  EngineStatistics result = numbers;
  for (Frame *frame = top; frame; frame = frame->below)
    ++result.inFlight;
  for (NaiveOperation *later = firstDeferred; later; later = later->next)
    ++result.inFlight;
  result.variables = variables.size();
  result.operators = operators.size();
  return result;
}

Result<std::unique_ptr<Engine>>
dlc::rt::createNaiveEngine(const EngineOptions &options) {
  if (options.watchdogMilliseconds)
    return makeError(StatusCode::Unsupported,
                     "the naive engine has no watchdog; dump() shows what its "
                     "callers wait for");
  return EngineShell<NaiveCore>::create(options);
}
