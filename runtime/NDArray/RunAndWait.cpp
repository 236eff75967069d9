// SPDX-License-Identifier: Apache-2.0

#include "RunAndWait.h"

#include "dlc/runtime/Base/Shared.h"

#include <memory>
#include <mutex>

using namespace dlc::rt;

namespace {
/// Shared by the caller and the operation, which may outlive the wait: one
/// that fails (the engine is being closed) leaves it in the queue.
struct Run {
  std::mutex mutex; ///< Guards what follows, also while `function` runs.
  std::function<Status()> function;
  bool isWanted = true;
  bool hasRun = false;
};
} // namespace

/// One try. An operation that is skipped because of an error that another
/// thread's wait has returned meanwhile leaves no error for ours: then
/// `hasRun` stays false.
static Status tryRun(Engine &engine, const std::shared_ptr<Run> &run,
                     Context context, const std::vector<Variable> &reads,
                     std::vector<Variable> writes, Variable done,
                     const char *name, bool &hasRun) {
  auto function = [run]() -> Status {
    std::lock_guard lock(run->mutex);
    run->hasRun = true;
    return run->isWanted ? run->function() : Status::ok();
  };
  writes.push_back(done);
  PushOptions options;
  options.name = name;
  Status status =
      engine.pushSync(std::move(function), context, reads, writes, options);
  if (status.isOk())
    status = engine.waitForVariable(done);
  std::lock_guard lock(run->mutex);
  run->isWanted = status.isOk() && !run->hasRun;
  hasRun = run->hasRun;
  return status;
}

Status dlc::rt::runAndWait(Engine &engine, std::function<Status()> function,
                           Context context, const std::vector<Variable> &reads,
                           const std::vector<Variable> &writes,
                           const char *name) {
  // Variables of their own tell our operation from others that use the same.
  Result<Variable> done = engine.newVariable();
  if (!done.isOk())
    return std::move(done.status());
  auto run = makeShared<Run>();
  Status status;
  if (run)
    run->function = std::move(function);
  else
    status = makeError(StatusCode::OutOfMemory, "no memory for an operation");
  for (bool hasRun = false; status.isOk() && !hasRun;)
    status = tryRun(engine, run, context, reads, writes, *done, name, hasRun);
  (void)engine.deleteVariable(*done).isOk(); // Nobody else knows of it.
  return status;
}
