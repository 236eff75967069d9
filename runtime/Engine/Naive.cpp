// SPDX-License-Identifier: Apache-2.0
//
// The naive engine: variables, operators, and running.

#include "NaiveCore.h"

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Variables and operators
//===----------------------------------------------------------------------===//

Result<Variable> NaiveCore::newVariable(VariableKind kind,
                                        VariableOwner owner) {
  Lock lock(mutex);
  if (isClosed)
    return refuseClosed();
  Variable variable = {0, stamps.next()};
  DLC_RETURN_IF_ERROR(variables.add(variable.stamp, variable.index));
  variables[variable.index].version = 0;
  variables[variable.index].isResource = kind == VariableKind::Resource;
  variables[variable.index].isOfRuntime = owner == VariableOwner::Runtime;
  return variable;
}

bool NaiveCore::isOfRuntime(Variable variable) {
  Lock lock(mutex);
  return variables.isCurrent(variable.index, variable.stamp) &&
         variables[variable.index].isOfRuntime;
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
  operation->task = std::move(function);
  operation->context = context;
  operation->options = {.property = OperationProperty::DeleteVariable,
                        .name = "delete a variable"};
  operation->deletesVariable = true;
  Lock lock(mutex);
  if (!variables.isCurrent(variable.index, variable.stamp))
    return refuseVariable(variable);
  variables.retire(variable.index);
  submitDeletion(lock, operation);
  return Status::ok();
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
  submitDeletion(lock, operation);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

NaiveCore::Turn::Turn(NaiveCore &core, Lock &lock)
    : core(core), isOwn(!core.isInside()) {
  if (!isOwn)
    return;
  core.turnEnded.wait(lock, [&] { return !core.isTaken; });
  core.isTaken = true;
  core.owner = pthread_self();
}

NaiveCore::Turn::~Turn() {
  if (!isOwn)
    return;
  core.isTaken = false;
  core.turnEnded.notify_all();
}

/// What remains in `given` is for the caller to destroy without the lock, since
/// what its function holds may call the engine.
void NaiveCore::submit(Turn &turn, Lock &lock,
                       std::unique_ptr<NaiveOperation> &given) {
  given->id = nextId++;
  if (turn.isInside())
    return defer(given);
  run(lock, *given);
  runDeferred(lock);
}

/// Does not wait for the turn: the operation that runs may wait for this
/// thread.
void NaiveCore::submitDeletion(Lock &lock,
                               std::unique_ptr<NaiveOperation> &given) {
  given->id = nextId++;
  if (isTaken)
    return defer(given);
  Turn turn(*this, lock);
  run(lock, *given);
  runDeferred(lock);
}

void NaiveCore::defer(std::unique_ptr<NaiveOperation> &given) {
  *lastDeferred = given.release();
  lastDeferred = &(*lastDeferred)->next;
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
    lock.unlock();
    delete candidate; // With what its function holds, if that did not run.
    lock.lock();
    return true;
  }
  return false;
}

void NaiveCore::run(Lock &lock, NaiveOperation &operation) {
  if (operation.deletedOperator) {
    NaiveOperator &place = operators[operation.deletedOperator.index];
    if (!place.stamp)
      return; // close() has forgotten it already.
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
  bool isSkipped = (poison && !isNeverSkipped(operation.options.property)) ||
                   (isGivingUp && !operation.deletesVariable);
  Poison *outcome = nullptr;
  if (isGivingUp && !operation.deletesVariable) {
    givenUp.nameWaiting(
        describeOperation(operation.options.name, operation.options.origin));
    givenUp.addSkipped();
  }
  if (isSkipped) {
    if (poison)
      outcome = failures.extend(poison, operation.options.name,
                                operation.options.origin);
    ++numbers.skipped;
  } else {
    Status status;
    if (!call(lock, operation, status))
      givenUp.addHanging(
          describeOperation(operation.options.name, operation.options.origin));
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
  if (isAsync && !(cell = new (std::nothrow) NaiveCell(fork))) {
    status = makeError(StatusCode::OutOfMemory, "no memory for its completion");
    return true;
  }
  Frame frame{operation, cell, top};
  top = &frame;
  lock.unlock();
  RunContext context = {&engine, operation.context, 0, &operation};
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
  if (cell) {
    frame.hasReturned = true;
    isCompleted = cell->await(status);
  }
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
  Turn turn(*this, lock); // What is checked now stays so.
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
  submit(turn, lock, operation);
  return Status::ok();
}

Status NaiveCore::push(Task &function, bool isAsync, Context context,
                       const VariableList &reads, const VariableList &writes,
                       const PushOptions &options) {
  if (!context.isValid())
    return refuseContext(context);
  if (function.isEmpty())
    return refuseTask();
  std::unique_ptr<NaiveOperation> operation(new (std::nothrow) NaiveOperation);
  if (!operation || !operation->ownUses.assign(reads, writes))
    return refuseTask();
  Lock lock(mutex);
  Turn turn(*this, lock); // What is checked now stays so.
  DLC_RETURN_IF_ERROR(checkOpen());
  DLC_RETURN_IF_ERROR(checkVariables(variables, reads, writes));
  operation->task = std::move(function);
  operation->isAsync = isAsync;
  operation->context = context;
  operation->options = options;
  submit(turn, lock, operation);
  return Status::ok();
}

Status NaiveCore::release(const RunContext &run, Variable variable) {
  auto *operation = static_cast<NaiveOperation *>(run.operation);
  Lock lock(mutex);
  if (!operation || operation->deletesVariable)
    return refuseRelease(operation ? "a deletion" : "", variable);
  if (!operation->uses().uses(variable))
    return refuseRelease(
        describeOperation(operation->options.name, operation->options.origin),
        variable);
  if (operation->shared && !operation->hasReleased) {
    const NaiveUses &all = operation->shared->uses;
    if (!operation->ownUses.assign(all.all().subspan(all.writeCount),
                                   all.written()))
      return refuseTask();
    operation->hasReleased = true;
  }
  variables[variable.index].version += operation->uses().writes(variable);
  operation->ownUses.remove(variable);
  return Status::ok();
}

Result<unsigned> NaiveCore::setBulkSize(unsigned operations) {
  Lock lock(mutex);
  if (operations > 1)
    DLC_RETURN_IF_ERROR(checkOpen());
  return 0u; // Everything runs at once: nothing to join.
}
