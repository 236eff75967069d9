// SPDX-License-Identifier: Apache-2.0
//
// Looking inside: versions, numbers, who waits for whom, and the watchdog.

#include "Core.h"

#include <cstring>

using namespace dlc::rt;

Result<uint64_t> EngineCore::version(Variable variable) {
  std::lock_guard guard(core);
  if (!variables.isCurrent(variable.index, variable.stamp))
    return refuseVariable(variable);
  return variables[variable.index].version;
}

/// Also of a variable that is about to be deleted: its place is taken until all
/// that use it have completed.
bool EngineCore::isWriting(Variable variable) {
  Worker *self = findSelf();
  CoreOperation *own = self ? self->running : nullptr;
  std::lock_guard guard(core);
  if (variable.index >= variables.end() ||
      variables[variable.index].stamp != variable.stamp)
    return false;
  CoreOperation *writer = variables[variable.index].writer;
  if (!own || !writer || writer != own || !own->is(isBulkFlag))
    return writer && (!own || writer == own);
  // Of a bulk, by the part that runs.
  BulkPart *part = BulkParts::of(*own).now();
  return part && std::ranges::count(part->written(), variable.index);
}

std::string EngineCore::describeInside() {
  Worker *self = findSelf();
  std::lock_guard guard(core);
  return self && self->running ? titleOf(*self->running) : "";
}

bool EngineCore::isHolding(Variable variable, VariableUse use) {
  Worker *self = findSelf();
  CoreOperation *own = self ? self->running : nullptr;
  if (!own)
    return false;
  bool isRead = use == VariableUse::Read;
  std::lock_guard guard(core);
  if (variable.index >= variables.end() ||
      variables[variable.index].stamp != variable.stamp)
    return false;
  if (own->is(isBulkFlag)) { // By the part that runs.
    BulkPart *part = BulkParts::of(*own).now();
    return part && std::ranges::count(isRead ? part->all() : part->written(),
                                      variable.index);
  }
  return std::ranges::any_of(
      std::span(own->uses(), own->useCount), [&](const Use &held) {
        return held.variable == variable.index && (isRead || held.writes);
      });
}

EngineStatistics EngineCore::statistics() {
  std::lock_guard guard(core);
  EngineStatistics result = numbers;
  result.inFlight =
      (tail.load(std::memory_order_relaxed) & ticketMask) - retiredSlots;
  result.bytesInFlight = bytesInFlight.load(std::memory_order_relaxed);
  result.variables = variables.size();
  result.operators = operators.size();
  result.threads = threadCount.load(std::memory_order_relaxed);
  result.allocations = pool.allocations();
  return result;
}

//===----------------------------------------------------------------------===//
// Dumping
//===----------------------------------------------------------------------===//

/// With its number, if it has one.
std::string EngineCore::numbered(CoreOperation &operation) {
  std::string title = titleOf(operation);
  return operation.is(isWaitFlag)
             ? title
             : title + " #" + std::to_string(idOf(operation));
}

/// Who holds the variable that `use` waits for.
void EngineCore::describeHolder(const Use &use, std::string &text) {
  const CoreVariable &variable = variables[use.variable];
  text += std::string("    waits to ") + (use.writes ? "write" : "read") +
          " variable " + std::to_string(use.variable) + ", ";
  if (variable.writer)
    text += "written by " + numbered(*variable.writer) + "\n";
  else if (variable.readers)
    text += "read by " + std::to_string(variable.readers) + " operations\n";
  else
    text += "behind others\n";
}

void EngineCore::describe(CoreOperation &operation, std::string &text) {
  text += "  " + numbered(operation) + " on " + toString(operation.context);
  if (operation.isRunning) {
    text +=
        operation.hasReturned() ? ": waits for its completion\n" : ": runs\n";
    return;
  }
  if (!operation.waiting) {
    text += ": is ready\n";
    return;
  }
  text += ": waits\n";
  for (uint32_t i = 0; i != operation.useCount; ++i) {
    const Use &use = operation.uses()[i];
    if (use.variable != Use::none && !use.isGranted)
      describeHolder(use, text);
  }
}

std::string EngineCore::describeAll() {
  uint64_t end = tail.load(std::memory_order_relaxed);
  uint64_t pushed = end & ticketMask;
  uint64_t count = 0;
  for (BulkState *bulk = bulks.load(std::memory_order_acquire); bulk;
       bulk = bulk->next)
    count += bulk->count.load(std::memory_order_relaxed);
  std::string collected =
      count ? ", " + std::to_string(count) + " collected in bulks" : "";
  std::string text =
      options.kind == EngineKind::Threaded ? "threaded" : "per-device";
  text += " engine: " + std::to_string(pushed - retiredSlots) + " in flight, " +
          std::to_string(pushed - head.load(std::memory_order_relaxed)) +
          " not registered, " + std::to_string(readyTotal) + " ready, " +
          std::to_string(numbers.completed) + " completed" + collected +
          (isClosed           ? ", closed"
           : end & refusesBit ? ", stopped"
                              : "") +
          "\n";
  size_t shown = 0, others = 0;
  pool.forEach([&](CoreOperation &operation) {
    if (shown == 256) {
      ++others;
      return;
    }
    ++shown;
    describe(operation, text);
  });
  if (others)
    text += "  and " + std::to_string(others) + " more\n";
  return text;
}

std::string EngineCore::dump() {
  core.lock();
  registerPushed(nullptr);
  std::string text = describeAll();
  unlock();
  return text;
}

//===----------------------------------------------------------------------===//
// The watchdog
//===----------------------------------------------------------------------===//

/// Which operations run since the last but one tick, each told once; empty if
/// none. No clock is read when an operation starts.
std::string EngineCore::findStalled() {
  std::string text;
  core.lock();
  ++watchTick;
  pool.forEach([&](CoreOperation &operation) {
    if (!operation.isRunning)
      return;
    // An id tells this run from earlier ones of the same block, and each part
    // of a bulk from the others.
    if (uint64_t id = idOf(operation) + 1; operation.seenId != id) {
      operation.seenId = id;
      operation.seenTick = watchTick;
      return;
    }
    if (operation.seenTick + 1 != watchTick)
      return; // Told before.
    text += numbered(operation) + " on " + toString(operation.context) +
            (operation.hasReturned() ? " has not completed after "
                                     : " has not returned after ") +
            std::to_string(options.watchdogMilliseconds) + " ms\n";
  });
  if (!text.empty()) {
    registerPushed(nullptr); // Those that wait, also when all threads are busy.
    text += describeAll();
  }
  unlock();
  return text;
}
