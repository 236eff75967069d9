// SPDX-License-Identifier: Apache-2.0
//
// The core of the naive engine: one thread at a time runs operations, inside
// its pushes. The parts: Naive.cpp and NaiveLife.cpp.

#ifndef DLC_RUNTIME_ENGINE_NAIVECORE_H
#define DLC_RUNTIME_ENGINE_NAIVECORE_H

#include "Check.h"
#include "EngineImpl.h"
#include "Failure.h"
#include "Watchdog.h"

#include "dlc/runtime/Base/ForkGuard.h"
#include "dlc/runtime/Base/Shared.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <pthread.h>

namespace dlc::rt {

struct NaiveVariable {
  uint32_t stamp = 0, nextFree = 0;
  uint64_t version = 0;
  Poison *poison = nullptr;
  bool isResource = false; ///< Errors do not travel along it.
  bool isOfRuntime = false;
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

  /// Forgets one of them; the others stay in their order.
  void remove(Variable variable) {
    writeCount -= writes(variable);
    std::ranges::remove(list.get(), list.get() + count, variable);
    --count;
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
  bool hasReleased = false;        ///< What it still holds is `ownUses`.
  Context context;
  PushOptions options;
  uint64_t id = 0;
  bool deletesVariable = false;
  Operator deletedOperator;

  const NaiveUses &uses() const {
    return shared && !hasReleased ? shared->uses : ownUses;
  }
};

/// Where the completion of one asynchronous operation arrives.
class NaiveCell final : public CompletionSink {
public:
  explicit NaiveCell(std::shared_ptr<const ForkGuard> fork)
      : fork(std::move(fork)) {}
  void retain() override { references.fetch_add(1, std::memory_order_relaxed); }
  void release() override {
    if (fork->isChild())
      return; // It stays as it is, and with it the guard.
    // Release and acquire: the last one sees what all did before.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }
  Status complete(void *, uint64_t, Status status) override {
    // A thread that is not there may hold the lock.
    if (fork->isChild())
      return refuseChild();
    std::lock_guard guard(mutex);
    if (isGivenUp)
      return refuseGivenUp();
    if (isDone)
      return refuseCompleted();
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
  const std::shared_ptr<const ForkGuard> fork;
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
  std::atomic<bool> hasReturned = false; ///< And waits for its completion.
  unsigned ticks = 0;                    ///< Of the watchdog.
};

class NaiveCore final : public EngineImpl {
public:
  NaiveCore(Engine &engine, const EngineOptions &options)
      : engine(engine), options(options), stamps(this) {}
  ~NaiveCore() override {
    for (uint32_t i = 0; i != variables.end(); ++i)
      failures.release(variables[i].poison);
  }

  Status initialise() override {
    if (!fork)
      return makeError(StatusCode::OutOfMemory, "no memory for an engine");
    return options.watchdogMilliseconds
               ? watchdog.start(options.watchdogMilliseconds, *this,
                                options.onStall)
               : Status::ok();
  }
  Result<Variable> newVariable(VariableKind kind, VariableOwner owner) override;
  bool isOfRuntime(Variable variable) override;
  Status deleteVariable(Task function, Context context,
                        Variable variable) override;
  Result<Operator> newOperator(Task function, bool isAsync, VariableList reads,
                               VariableList writes,
                               const PushOptions &options) override;
  Status deleteOperator(Operator operation) override;
  Status push(Operator operation, Context context, int priority) override;
  Status push(Task &function, bool isAsync, Context context,
              const VariableList &reads, const VariableList &writes,
              const PushOptions &options) override;
  Status release(const RunContext &run, Variable variable) override;
  Result<unsigned> setBulkSize(unsigned operations) override;
  Status waitForVariable(Variable variable, VariableUse use) override;
  Status waitForAll() override;
  Status stop() override;
  Status start() override;
  Status close() override;
  void forgetGivenUp() override {} // Nobody else is told of it.
  Result<uint64_t> version(Variable variable) override;
  bool isCalledInside() override;
  std::string describeInside() override;
  bool isWriting(Variable variable) override;
  bool isHolding(Variable variable, VariableUse use) override;
  std::string dump() override;
  EngineStatistics statistics() override;

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
  /// Waits until this thread is the only one that runs operations, unless one
  /// of them makes the call, and lets the next thread come as it ends.
  class Turn {
  public:
    Turn(NaiveCore &core, Lock &lock);
    ~Turn(); ///< With the lock held.
    bool isInside() const { return !isOwn; }

  private:
    NaiveCore &core;
    bool isOwn;
  };

  std::string nameInside() const;
  void submit(Turn &turn, Lock &lock, std::unique_ptr<NaiveOperation> &given);
  void submitDeletion(Lock &lock, std::unique_ptr<NaiveOperation> &given);
  void defer(std::unique_ptr<NaiveOperation> &given);
  void runDeferred(Lock &lock);
  bool runOneOfDeferred(Lock &lock);
  void run(Lock &lock, NaiveOperation &operation);
  bool call(Lock &lock, NaiveOperation &operation, Status &status);
  Status closeOnce(Lock &lock);
  std::string describeAll() const;
  friend Watchdog;
  std::string findStalled();
  void finish(NaiveOperation &operation, Poison *poison, bool isSkipped);

  Engine &engine;
  const EngineOptions options;
  /// For completions, which may outlive the engine.
  const std::shared_ptr<const ForkGuard> fork = makeShared<ForkGuard>();

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
  /// Pushed inside an operation, and deletions of other threads: the thread
  /// whose turn it is runs them before its turn ends.
  NaiveOperation *firstDeferred = nullptr, **lastDeferred = &firstDeferred;
  GivenUp givenUp;
  uint64_t nextId = 0;
  EngineStatistics numbers;

  /// Guards the watchdog as it ends. Taken without the other mutex.
  std::mutex watchdogMutex;
  Watchdog watchdog; ///< The last: it looks at what is above.
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_NAIVECORE_H
