// SPDX-License-Identifier: Apache-2.0
//
// The naive engine: waiting, its life, looking inside.

#include "NaiveCore.h"

#include <chrono>

using namespace dlc::rt;

static std::string describe(const NaiveOperation &operation) {
  return describeOperation(operation.options.name, operation.options.origin);
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
                       "%s would wait for itself over variable %u",
                       nameInside().c_str(), variable.index);
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
    return refuseInside("wait for all of");
  turnEnded.wait(lock, [&] { return !isTaken; });
  return failures.deliverAll();
}

Status NaiveCore::stop() {
  Lock lock(mutex);
  if (isInside())
    return refuseInside("stop");
  if (isClosed)
    return refuseClosed();
  turnEnded.wait(lock, [&] { return !isTaken; });
  isStopped = true;
  return Status::ok();
}

Status NaiveCore::start() {
  Lock lock(mutex);
  if (isInside())
    return refuseInside("start");
  if (isClosed)
    return refuseClosed();
  isStopped = false;
  return Status::ok();
}

Status NaiveCore::close() {
  Lock lock(mutex);
  if (isInside())
    return refuseInside("close");
  Status status = closeOnce(lock);
  lock.unlock();
  std::lock_guard guard(watchdogMutex);
  watchdog.end();
  return status;
}

Status NaiveCore::closeOnce(Lock &lock) {
  isClosed = true;
  auto isIdle = [&] { return !isTaken; };
  if (!options.closePatienceMilliseconds)
    turnEnded.wait(lock, isIdle);
  std::chrono::milliseconds patience(options.closePatienceMilliseconds);
  if (!turnEnded.wait_for(lock, patience, isIdle)) {
    isGivingUp = true;
    for (NaiveOperation *later = firstDeferred; later; later = later->next)
      if (!later->deletesVariable && !later->deletedOperator)
        givenUp.nameWaiting(
            describe(*later) +
            (top ? " behind " + describe(top->operation) + ", which runs"
                 : ""));
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
      Task task = std::move(operators[i].task);
      operators[i].uses = {};
      operators.remove(i);
      lock.unlock();
      task = Task(); // What it holds may call the engine.
      lock.lock();
    }
  return std::exchange(givenUp, {}).status();
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

bool NaiveCore::isCalledInside() {
  Lock lock(mutex);
  return isInside();
}

/// With the lock held.
std::string NaiveCore::nameInside() const {
  return isInside() && top ? describe(top->operation) : "";
}

std::string NaiveCore::describeInside() {
  Lock lock(mutex);
  return nameInside();
}

/// The calling thread is in the operation on top, or in none.
bool NaiveCore::isWriting(Variable variable) {
  Lock lock(mutex);
  Frame *end = isInside() && top ? top->below : nullptr;
  for (Frame *frame = top; frame != end; frame = frame->below)
    if (frame->operation.uses().writes(variable))
      return true;
  return false;
}

bool NaiveCore::isHolding(Variable variable, VariableUse use) {
  Lock lock(mutex);
  if (!isInside() || !top)
    return false;
  const NaiveUses &held = top->operation.uses();
  return use == VariableUse::Read ? held.uses(variable) : held.writes(variable);
}

static std::string titleOf(const NaiveOperation &operation) {
  return describe(operation) + " #" + std::to_string(operation.id) + " on " +
         toString(operation.context);
}

std::string NaiveCore::dump() {
  Lock lock(mutex);
  return describeAll();
}

/// With the lock held.
std::string NaiveCore::describeAll() const {
  std::string text = "naive engine";
  text += isClosed ? ", closed\n" : isStopped ? ", stopped\n" : "\n";
  auto describe = [&](const NaiveOperation &operation, const char *state) {
    text += "  " + titleOf(operation) + ": " + state + "\n";
  };
  for (Frame *frame = top; frame; frame = frame->below)
    describe(frame->operation,
             frame->hasReturned ? "waits for its completion" : "runs");
  for (NaiveOperation *later = firstDeferred; later; later = later->next)
    describe(*later, "waits for the operation that pushed it");
  return text;
}

/// Which operations run since the last but one look, each told once; empty if
/// none.
std::string NaiveCore::findStalled() {
  Lock lock(mutex);
  std::string text;
  for (Frame *frame = top; frame; frame = frame->below)
    if (++frame->ticks == 2)
      text += titleOf(frame->operation) +
              (frame->hasReturned ? " has not completed after "
                                  : " has not returned after ") +
              std::to_string(options.watchdogMilliseconds) + " ms\n";
  return text.empty() ? text : text + describeAll();
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

std::unique_ptr<EngineImpl>
dlc::rt::makeNaiveImpl(Engine &engine, const EngineOptions &options) {
  return std::unique_ptr<EngineImpl>(new (std::nothrow)
                                         NaiveCore(engine, options));
}
