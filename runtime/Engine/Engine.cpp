// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Engine/Engine.h"

#include "Check.h"
#include "EngineImpl.h"
#include "TextTable.h"

#include "dlc/runtime/Base/ForkGuard.h"

#include <bit>
#include <cstdio>
#include <cstdlib>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

Status dlc::rt::refuseVariable(Variable variable) {
  if (!variable)
    return makeError(StatusCode::InvalidArgument,
                     "expected a variable, got null");
  return makeError(StatusCode::InvalidArgument,
                   "expected a variable of this engine, got one that was "
                   "deleted or belongs to another (%u/%08x)",
                   variable.index, variable.stamp);
}

Status dlc::rt::refuseOperator(Operator operation) {
  if (!operation)
    return makeError(StatusCode::InvalidArgument,
                     "expected an operator, got null");
  return makeError(StatusCode::InvalidArgument,
                   "expected an operator of this engine, got one that was "
                   "deleted or belongs to another (%u/%08x)",
                   operation.index, operation.stamp);
}

Status dlc::rt::refuseDuplicate(Variable variable) {
  return makeError(StatusCode::InvalidArgument,
                   "expected each variable once, got variable %u twice",
                   variable.index);
}

Status dlc::rt::refuseContext(Context context) {
  return makeError(StatusCode::InvalidArgument,
                   "expected a device, got kind %d with number %d",
                   int(context.kind), int(context.index));
}

Status dlc::rt::refuseTask() {
  return makeError(StatusCode::OutOfMemory, "no memory for the function");
}

Status dlc::rt::refuseClosed() {
  return makeError(StatusCode::Unavailable, "the engine is closed");
}

Status dlc::rt::refuseStopped() {
  return makeError(StatusCode::Unavailable, "the engine is stopped");
}

Status dlc::rt::refuseChild() {
  return makeError(StatusCode::Unavailable,
                   "this process is a fork of the engine's, which has to be "
                   "started anew in it");
}

Status dlc::rt::refuseRelease(const std::string &holder, Variable variable) {
  const char *who = holder.empty() ? "no operation" : holder.c_str();
  if (!variable)
    return makeError(StatusCode::InvalidArgument,
                     "expected a variable to give back, got null from %s", who);
  return makeError(StatusCode::InvalidArgument,
                   "expected a variable that the operation holds and may give "
                   "back, got variable %u from %s",
                   variable.index, who);
}

Status dlc::rt::refuseCompleted() {
  return makeError(StatusCode::InvalidArgument,
                   "expected one completion of an operation, got another: it "
                   "has completed already");
}

Status dlc::rt::refuseGivenUp() {
  return makeError(StatusCode::Unavailable,
                   "the engine closed before this operation completed");
}

Status dlc::rt::refuseInside(const char *what) {
  return makeError(StatusCode::InvalidArgument,
                   "expected to %s an engine outside of its operations, got "
                   "that inside one",
                   what);
}

//===----------------------------------------------------------------------===//
// Long lists
//===----------------------------------------------------------------------===//

Status dlc::rt::checkDistinct(const VariableList &reads,
                              const VariableList &writes) {
  // A hash table that is at most half full; 0 stands for nothing.
  size_t size = std::bit_ceil(2 * (reads.size() + writes.size()));
  uint32_t onStack[512] = {};
  std::unique_ptr<uint32_t[]> onHeap;
  uint32_t *table = onStack;
  if (size > std::size(onStack)) {
    onHeap.reset(new (std::nothrow) uint32_t[size]());
    if (!(table = onHeap.get()))
      return makeError(StatusCode::OutOfMemory,
                       "no memory to compare %zu variables",
                       reads.size() + writes.size());
  }
  int shift = 32 - std::countr_zero(size);
  for (const VariableList &list : {writes, reads})
    for (const Variable &variable : list) {
      // Consecutive numbers go far apart (Knuth, TAOCP 3, 6.4).
      size_t place = variable.index * 0x9e3779b1u >> shift;
      for (; table[place]; place = (place + 1) & (size - 1))
        if (table[place] == variable.index + 1)
          return refuseDuplicate(variable);
      table[place] = variable.index + 1;
    }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

Completion::~Completion() {
  if (!sink)
    return;
  if (!isAnswered.load(std::memory_order_relaxed))
    (void)complete(makeError(StatusCode::InvalidArgument,
                             "its completion was dropped without a result"))
        .isOk();
  sink->release();
}

Status Completion::complete(Status result) {
  if (!sink)
    return makeError(StatusCode::InvalidArgument,
                     "expected the completion of an operation, got none");
  isAnswered.store(true, std::memory_order_relaxed);
  return sink->complete(operation, run, std::move(result));
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Engine::Engine(const EngineOptions &options) : options(options) {}

Result<std::unique_ptr<Engine>> Engine::create(const EngineOptions &options) {
  std::unique_ptr<Engine> engine(new (std::nothrow) Engine(options));
  if (!engine)
    return makeError(StatusCode::OutOfMemory, "no memory for an engine");
  DLC_RETURN_IF_ERROR(engine->makeImpl());
  return engine;
}

/// What an engine has of its process. Changes nothing when it fails: a child
/// stays one.
Status Engine::makeImpl() {
  std::unique_ptr<ForkGuard> newGuard(new (std::nothrow) ForkGuard);
  std::unique_ptr<TextTable> newTexts(new (std::nothrow) TextTable);
  std::unique_ptr<EngineImpl> newImpl;
  switch (options.kind) {
  case EngineKind::Naive:
    newImpl = makeNaiveImpl(*this, options);
    break;
  case EngineKind::Threaded:
  case EngineKind::PerDevice:
    newImpl = makeThreadedImpl(*this, options);
    break;
  default:
    return makeError(StatusCode::InvalidArgument,
                     "expected a kind of engine, got %d", int(options.kind));
  }
  if (!newGuard || !newTexts || !newImpl)
    return makeError(StatusCode::OutOfMemory, "no memory for an engine");
  DLC_RETURN_IF_ERROR(newImpl->initialise());
  abandon();
  guard = std::move(newGuard);
  texts = std::move(newTexts);
  impl = std::move(newImpl);
  ++started;
  return Status::ok();
}

/// In the child of a fork() what is the parent's cannot be destroyed: the
/// threads that would be joined do not exist, the state may be torn, and the
/// texts may be in use.
void Engine::abandon() {
  (void)impl.release();
  (void)texts.release();
}

Engine::~Engine() {
  if (guard && guard->isChild())
    abandon();
  else if (impl)
    closeUntold();
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

Result<Variable> Engine::newVariable(VariableKind kind, VariableOwner owner) {
  if (guard->isChild())
    return refuseChild();
  return impl->newVariable(kind, owner);
}

bool Engine::isOfRuntime(Variable variable) {
  return !guard->isChild() && impl->isOfRuntime(variable);
}

Status Engine::deleteVariable(Task function, Context context,
                              Variable variable) {
  if (guard->isChild())
    return refuseChild();
  return impl->deleteVariable(std::move(function), context, variable);
}

Result<Operator> Engine::newOperator(Task function, bool isAsync,
                                     VariableList reads, VariableList writes,
                                     const PushOptions &options) {
  if (guard->isChild())
    return refuseChild();
  return impl->newOperator(std::move(function), isAsync, reads, writes,
                           options);
}

Status Engine::deleteOperator(Operator operation) {
  if (guard->isChild())
    return refuseChild();
  return impl->deleteOperator(operation);
}

Status Engine::push(Operator operation, Context context, int priority) {
  if (guard->isChild())
    return refuseChild();
  return impl->push(operation, context, priority);
}

Status Engine::push(Task function, bool isAsync, Context context,
                    const VariableList &reads, const VariableList &writes,
                    const PushOptions &options) {
  if (guard->isChild())
    return refuseChild();
  return impl->push(function, isAsync, context, reads, writes, options);
}

Status Engine::release(const RunContext &run, Variable variable) {
  if (guard->isChild())
    return refuseChild();
  return impl->release(run, variable);
}

Result<unsigned> Engine::setBulkSize(unsigned operations) {
  if (guard->isChild())
    return refuseChild();
  return impl->setBulkSize(operations);
}

Status Engine::waitForVariable(Variable variable, VariableUse use) {
  if (guard->isChild())
    return refuseChild();
  return impl->waitForVariable(variable, use);
}

Status Engine::waitForAll() {
  if (guard->isChild())
    return refuseChild();
  return impl->waitForAll();
}

Status Engine::stop() {
  if (guard->isChild())
    return refuseChild();
  return impl->stop();
}

Status Engine::start() { return guard->isChild() ? makeImpl() : impl->start(); }

Status Engine::close() {
  if (guard->isChild())
    return refuseChild();
  if (Status status = impl->close(); !status.isOk()) {
    impl->forgetGivenUp();
    return status;
  }
  return impl->waitForAll();
}

void Engine::closeUntold() {
  if (guard->isChild())
    return;
  if (impl->isCalledInside()) {
    // Nobody could be told by a status, and to go on without the engine would
    // be to run in memory that is gone.
    const std::string inside = impl->describeInside();
    std::fprintf(stderr,
                 "dlc: expected the end of an engine outside of its "
                 "operations, got it inside %s\n",
                 inside.c_str());
    std::abort();
  }
  (void)impl->close().isOk();
}

Result<uint64_t> Engine::version(Variable variable) {
  if (guard->isChild())
    return refuseChild();
  return impl->version(variable);
}

bool Engine::isInside() const {
  return !guard->isChild() && impl->isCalledInside();
}

bool Engine::isWriting(Variable variable) {
  return !guard->isChild() && impl->isWriting(variable);
}

bool Engine::isHolding(Variable variable, VariableUse use) {
  return !guard->isChild() && impl->isHolding(variable, use);
}

uint64_t Engine::generation() const { return started + guard->isChild(); }

std::string Engine::dump() {
  return guard->isChild() ? refuseChild().message() + "\n" : impl->dump();
}

EngineStatistics Engine::statistics() {
  return guard->isChild() ? EngineStatistics() : impl->statistics();
}

const char *Engine::keepText(std::string_view text) {
  // In a child nothing: a thread of the parent may have held the lock.
  return guard->isChild() ? nullptr : texts->keep(text);
}
