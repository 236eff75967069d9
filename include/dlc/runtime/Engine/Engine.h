// SPDX-License-Identifier: Apache-2.0
//
// The dependency engine: runs any function as soon as the variables that it
// reads and writes are free. The model is MXNet's (Chen et al., "MXNet: A
// Flexible and Efficient Machine Learning Library for Heterogeneous
// Distributed Systems", section 3.1); docs/Rationale/Runtime.md says what is
// different and why the threaded engines are correct.
//
//   auto engine = std::move(*Engine::create());
//   Variable x = *engine->newVariable(), y = *engine->newVariable();
//   engine->pushSync([&] { produce(); }, Context::cpu(), {}, {x});
//   engine->pushSync([&] { consume(); }, Context::cpu(), {x}, {y});
//   Status status = engine->waitForVariable(y);

#ifndef DLC_RUNTIME_ENGINE_ENGINE_H
#define DLC_RUNTIME_ENGINE_ENGINE_H

#include "dlc/runtime/Engine/Task.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace dlc::rt {

class EngineImpl;
class ForkGuard;
class TextTable;

/// What an operation is, for the choice of the thread that runs it. Values are
/// part of the C API: append, never reorder.
enum class OperationProperty : uint8_t {
  Normal = 0,
  CopyFromDevice = 1, ///< Runs in the copy lane of its device.
  CopyToDevice = 2,   ///< Runs in the copy lane of its device.
  CPUPrioritized = 3, ///< Runs in the lane for urgent host work.
  GPUPrioritized = 4, ///< Runs in the lane for urgent work of its device.
  Async = 5,          ///< Only starts work that goes on elsewhere; as Normal.
  DeleteVariable = 6, ///< Ends something: runs even when its inputs failed.
  NoSkip = 7,         ///< Runs even when its inputs failed; what it writes
                      ///< stays poisoned if it was.
};

/// What goes with an operation. Texts are borrowed until it has completed
/// (for an operator: until its deletion has completed) and are usually
/// literals; Engine::keepText() keeps others.
struct PushOptions {
  OperationProperty property = OperationProperty::Normal;
  /// Among operations that are ready in one lane, the higher goes first; equal
  /// ones go in the order in which they became ready.
  int priority = 0;
  const char *name = nullptr;   ///< For errors, dumps and profiles.
  const char *origin = nullptr; ///< Where it comes from: "net.onnx: conv1".
  /// Memory that the operation keeps occupied until it has completed, for
  /// EngineOptions::maxBytes.
  uint64_t bytes = 0;
};

/// What a variable stands for.
enum class VariableKind : uint8_t {
  Value,    ///< What operations hand on; errors travel along it.
  Resource, ///< What each operation uses anew, as temporary space: the error
            ///< of one is no matter of the next.
};

/// Whose a variable is: those of the runtime's own arrays and resources are not
/// for the caller of a C function to delete.
enum class VariableOwner : uint8_t { Caller, Runtime };

/// How a variable is used.
enum class VariableUse : uint8_t { Read, Write };

/// Whether threads of the application run operations of host devices while the
/// engine makes them wait. Such a thread may hold locks that an operation
/// takes; then choose Never.
enum class CallerHelp : uint8_t {
  Never,
  Waiting,           ///< In waitForVariable() and waitForAll().
  WaitingAndPushing, ///< Also in a push that finds the budget used up.
};

enum class EngineKind : uint8_t {
  Naive,     ///< Runs each operation inside the push, for debugging: one at a
             ///< time, so that pushes and waits of other threads wait until it
             ///< has completed, an asynchronous one too.
  Threaded,  ///< One pool of threads for all devices.
  PerDevice, ///< For each device a pool, a copy lane and a lane for urgent
             ///< work, each started at its first use.
};

/// One operation, as observers see it. Texts may be null; valid in the call.
struct OperationInfo {
  /// Ascends in the order of pushes, with gaps. Each part of a bulk has its
  /// own.
  uint64_t id;
  const char *name;
  const char *origin;
  Context context;
  OperationProperty property;
  int priority;
  unsigned worker; ///< As RunContext::worker.
};

/// Told of what the engine does, by the thread that does it; several at once.
/// The two calls of an operation come from one thread and nest like brackets
/// with those of others.
class EngineObserver {
public:
  virtual ~EngineObserver() = default;
  /// The function is about to be called.
  virtual void onStart(const OperationInfo &operation) = 0;
  /// The function has returned; an asynchronous operation goes on. `status` is
  /// that of the function.
  virtual void onFinish(const OperationInfo &operation,
                        const Status &status) = 0;
};

struct EngineOptions {
  EngineKind kind = EngineKind::PerDevice;

  /// Threads of the one pool (Threaded) or of each host device (PerDevice); 0:
  /// one for each processor that this process may use. As the three below at
  /// most 1,024, and fewer where the system has no more threads.
  unsigned cpuWorkers = 0;
  unsigned priorityWorkers = 1; ///< Of the lane for urgent host work.
  unsigned deviceWorkers = 1;   ///< Of each other device; the same for urgent.
  unsigned copyWorkers = 1;     ///< Of the copy lane of each device.
  /// Threads that may stand in for ones whose operation waits inside.
  unsigned maxSpareWorkers = 64;

  /// Operations that are pushed and not completed; a push above it waits. An
  /// operation of up to 16 variables (15 with an origin or bytes) counts twice
  /// when it has more than 4, an origin or bytes. At least 16. Pushes from
  /// inside an operation never wait for it, nor does what another thread pushes
  /// of a bulk.
  unsigned maxOperations = 4096;
  /// The same for the sum of PushOptions::bytes; 0: no limit. An operation
  /// above it waits until nothing else is counted.
  uint64_t maxBytes = 0;
  /// Places for operations that no thread has looked at yet, rounded up to a
  /// power of two, at least 16. 4,096 are 256 KiB: with fewer, pushers that are
  /// faster than the workers sleep and are woken more often.
  unsigned queueSlots = 4096;

  /// How long an idle thread looks for work before it sleeps.
  unsigned spinMicroseconds = 30;
  CallerHelp callerHelp = CallerHelp::Waiting;

  /// How long close() lets operations complete before it gives up those that
  /// have not started and the asynchronous ones; 0: as long as it takes.
  unsigned closePatienceMilliseconds = 0;

  /// When not 0, operations that run longer than this are reported, each once,
  /// with a dump of who waits for whom; the precision is this time again.
  unsigned watchdogMilliseconds = 0;
  /// Receives the watchdog's reports, on its thread; without one they go to
  /// stderr. It may call dump() but not start(), stop() and close().
  std::function<void(const std::string &report)> onStall = {};

  /// Borrowed until the engine is closed; null costs one branch.
  EngineObserver *observer = nullptr;

  /// When not 0, threads pause at random and take a random one among the
  /// operations that are ready, to provoke rare orders. With one thread, and
  /// all operations pushed while the first one runs, a seed replays its order.
  uint64_t fuzzSeed = 0;
};

/// Numbers of an engine at one moment.
struct EngineStatistics {
  /// Operations, with the failed and the skipped; in bulks each.
  uint64_t completed = 0;
  uint64_t failed = 0;  ///< Whose function reported an error.
  uint64_t skipped = 0; ///< Not run, because their inputs failed.
  /// Pushed and not completed, as for maxOperations: a bulk once, from when it
  /// is pushed.
  uint64_t inFlight = 0;
  uint64_t bytesInFlight = 0;
  uint64_t bulks = 0;     ///< That have completed.
  uint64_t variables = 0; ///< That exist.
  uint64_t operators = 0;
  unsigned threads = 0;     ///< Of the engine, the sleeping ones among them.
  uint64_t allocations = 0; ///< Of blocks for operations since the start.
};

/// A dependency engine. All functions may be called by any thread at any time,
/// from inside operations too, unless they say otherwise; only the destructor
/// must be the last.
///
/// A context names the lane that an operation runs in. An engine does not ask
/// whether there is such a device: what its functions do there is theirs.
///
/// Order: operations that read a variable run together; one that writes it runs
/// alone, after all that were pushed before it and before all that are pushed
/// later. Pushes of one thread are in the order of its calls; a push that
/// happens before another one (in the sense of C++) is before it. What an
/// operation wrote is visible to those that run after it because of a variable.
///
/// Errors travel: an operation whose function reports an error poisons the
/// variables that it writes; one that uses a poisoned variable is skipped and
/// poisons what it would have written. The first wait that meets the error
/// returns it, with the name and origin of the operation and the names of those
/// skipped on the way; from then on it poisons nothing, and the variables hold
/// what the failed operation left there. waitForAll() returns the first of the
/// errors not yet returned and counts the others.
///
/// Every function that returns a Status has these errors, besides its own:
/// InvalidArgument (a handle that is null, of another engine, or deleted; a
/// value out of range), Unavailable (the engine is closed or stopped, or this
/// process is a fork() of the engine's), OutOfMemory. Nothing happens then.
///
/// After fork() the child has none of the engine's threads. There each function
/// is refused until start(), which makes a fresh engine: without variables,
/// operators and operations. Those of the parent are refused from then on, and
/// functions that they held are abandoned without a call.
class Engine {
public:
  /// Starts an engine. Errors: InvalidArgument, OutOfMemory, Unavailable (the
  /// system has no thread).
  static Result<std::unique_ptr<Engine>>
  create(const EngineOptions &options = {});
  /// Closes the engine. Errors of operations that nobody was told of are lost:
  /// close() before it returns them. Inside one of its operations, where it
  /// cannot end, it ends the process with a message.
  ~Engine();

  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  //===--------------------------------------------------------------------===//
  // Variables and operators
  //===--------------------------------------------------------------------===//

  Result<Variable> newVariable(VariableKind kind = VariableKind::Value,
                               VariableOwner owner = VariableOwner::Caller);
  /// Whether it is one of the runtime's; false for what is no variable.
  bool isOfRuntime(Variable variable);

  /// Forgets `variable` after its last user; further pushes with it are refused
  /// at once. Then calls `function` (always, also after errors) as an operation
  /// in `context`. Never waits, and is accepted while the engine stops or
  /// closes; on a stopped or closed one all that happens at once, in the
  /// caller.
  template <typename Function>
  Status deleteVariable(Function &&function, Context context,
                        Variable variable) {
    return deleteVariable(Task::sync(std::forward<Function>(function)), context,
                          variable);
  }
  Status deleteVariable(Variable variable) {
    return deleteVariable([] {}, Context::cpu(), variable);
  }
  Status deleteVariable(Task function, Context context, Variable variable);

  /// An operation to push many times: what it runs, reads and writes is looked
  /// at once. `function` must bear calls from several threads at once, unless
  /// it writes a variable, which keeps its runs apart.
  template <typename Function>
  Result<Operator> newOperator(Function &&function, VariableList reads,
                               VariableList writes,
                               const PushOptions &options = {}) {
    return newOperator(Task::sync(std::forward<Function>(function)), false,
                       reads, writes, options);
  }
  template <typename Function>
  Result<Operator> newAsyncOperator(Function &&function, VariableList reads,
                                    VariableList writes,
                                    const PushOptions &options = {}) {
    return newOperator(Task::async(std::forward<Function>(function)), true,
                       reads, writes, options);
  }
  Result<Operator> newOperator(Task function, bool isAsync, VariableList reads,
                               VariableList writes, const PushOptions &options);

  /// Forgets an operator after its last run; further pushes are refused at
  /// once. Never waits, as deleteVariable().
  Status deleteOperator(Operator operation);

  //===--------------------------------------------------------------------===//
  // Pushing
  //===--------------------------------------------------------------------===//

  /// Runs an operator once. One that another thread deletes meanwhile is
  /// refused here or, when the deletion overtakes the push, ends with an error.
  Status push(Operator operation, Context context, int priority = 0);

  /// Runs `function` (see Task::sync) when its variables are free. A variable
  /// that appears twice in the lists is refused. Waits while the budget is used
  /// up, except inside an operation.
  template <typename Function>
  Status pushSync(Function &&function, Context context,
                  const VariableList &reads, const VariableList &writes,
                  const PushOptions &options = {}) {
    return push(Task::sync(std::forward<Function>(function)), false, context,
                reads, writes, options);
  }

  /// The same for a function (see Task::async) that only starts the work; the
  /// operation has completed when its Completion is.
  template <typename Function>
  Status pushAsync(Function &&function, Context context,
                   const VariableList &reads, const VariableList &writes,
                   const PushOptions &options = {}) {
    return push(Task::async(std::forward<Function>(function)), true, context,
                reads, writes, options);
  }
  Status push(Task function, bool isAsync, Context context,
              const VariableList &reads, const VariableList &writes,
              const PushOptions &options);

  /// Gives a variable back before the end of the operation that `run` is of:
  /// what waits for it may start. From then on the operation neither touches
  /// what the variable stands for nor names it, and an error that it reports
  /// later does not poison it. By any thread, while the function of the
  /// operation runs. Errors: InvalidArgument (no running operation, as inside
  /// a bulk, the deletion of a variable, or a variable that the operation does
  /// not hold); it then holds what it held, to its end.
  Status release(const RunContext &run, Variable variable);

  /// Joins small operations: from now on up to `operations` consecutive
  /// pushSync() of the calling thread, in one context, of property Normal and
  /// priority 0, with at most 256 variables in all and what maxBytes has room
  /// for, become one operation; 4096 are the most. What they do is what they do
  /// without: each is part of the order of all pushes, with an error and
  /// versions of its own, and runs even if the engine is closed next. Only when
  /// they run is another matter. They are pushed when there are as many; by any
  /// other call of this thread that pushes, deletes or waits; by those of other
  /// threads that use a variable of theirs in a way that conflicts; by
  /// waitForAll(), stop() and close(); and when the thread ends. So whoever
  /// waits by other means makes one of these calls first. From then on the bulk
  /// holds the variables of all, from the first part to the last: what a part
  /// waits for, or what holds a variable of a part, must not wait for another
  /// part; a wait inside a part for what the bulk holds is refused. 0 or 1: no
  /// joining, as at first. Inside an operation it holds for the pushes of that
  /// operation and ends with it. Returns the previous number. Unavailable only
  /// where it would begin: on a stopped or closed engine, and outside of
  /// operations when the thread ends and has pushed its bulks; what has begun
  /// can be changed and ended at any time. After an error what was collected
  /// stays so, and the number is the previous one.
  Result<unsigned> setBulkSize(unsigned operations);

  //===--------------------------------------------------------------------===//
  // Waiting
  //===--------------------------------------------------------------------===//

  /// Waits until all operations pushed before that write `variable`
  /// (VariableUse::Read: the caller may then read) or use it at all
  /// (VariableUse::Write) have completed, and returns the error that poisons
  /// it. Inside an operation a spare thread stands in for the waiting one, so
  /// that nothing stands still; waiting for an operation that waits for the
  /// caller's own is refused with InvalidArgument. Each engine knows its own
  /// waits only: operations of two engines that wait for each other do so for
  /// ever (a watchdog tells of them).
  Status waitForVariable(Variable variable,
                         VariableUse use = VariableUse::Read);

  /// Waits until nothing is in flight. Refused inside an operation.
  Status waitForAll();

  //===--------------------------------------------------------------------===//
  // Life
  //===--------------------------------------------------------------------===//

  /// Waits until nothing is in flight and ends the threads; pushes are refused
  /// until start(). Errors of operations stay for waits, which may come before
  /// that. Refused inside an operation. Harmless when stopped.
  Status stop();
  /// Starts the threads again; in the child of a fork() a fresh engine. Refused
  /// inside an operation. Harmless when running.
  Status start();

  /// Refuses further pushes, also those that wait for the budget, runs what was
  /// pushed, and joins all threads. After closePatienceMilliseconds it gives up
  /// what has not started (its functions are destroyed uncalled, except those
  /// of DeleteVariable) and the asynchronous operations that have not
  /// completed, and returns Unavailable with the name of one that hangs;
  /// functions that run are always waited for. Otherwise returns what
  /// waitForAll() would: the first error not yet returned. Refused inside an
  /// operation. Harmless when closed; a second thread waits for the first.
  Status close();
  /// The same for who has nobody to tell: errors of operations stay for waits,
  /// which may follow. Inside an operation as the destructor.
  void closeUntold();

  //===--------------------------------------------------------------------===//
  // Looking inside
  //===--------------------------------------------------------------------===//

  /// Counts the operations that have completed a write of `variable`, skipped
  /// ones not among them.
  Result<uint64_t> version(Variable variable);

  /// The calling thread is inside of one of the engine's operations.
  bool isInside() const;

  /// Whether the operation that the calling thread is in writes `variable`;
  /// outside of operations, whether any that runs does, as one does that hands
  /// its work to other threads.
  bool isWriting(Variable variable);

  /// Whether the operation whose function the calling thread is in holds
  /// `variable` so that it may use it so: as written for a write. False outside
  /// of operations, and for what was released.
  bool isHolding(Variable variable, VariableUse use);

  /// Which engine this is of those that start() made in children of a fork(),
  /// also before the start there: what belongs to another one is refused.
  uint64_t generation() const;

  /// Who runs and who waits for whom, a line for each operation, for people.
  std::string dump();

  EngineStatistics statistics();

  /// A copy of `text` that lives as long as the engine, the same for equal
  /// texts; null when there is no memory.
  const char *keepText(std::string_view text);

private:
  explicit Engine(const EngineOptions &options);
  Status makeImpl();
  void abandon();

  const EngineOptions options;
  uint64_t started = 0; ///< How many processes started it.
  std::unique_ptr<ForkGuard> guard;
  std::unique_ptr<TextTable> texts;
  std::unique_ptr<EngineImpl> impl;
};

/// Joins the small operations of this thread while it lives. Where that cannot
/// begin, they are pushed one by one; end() says why.
class BulkScope {
public:
  BulkScope(Engine &engine, unsigned operations) : engine(engine) {
    Result<unsigned> result = engine.setBulkSize(operations);
    if (result.isOk())
      previous = *result;
    else
      failure = std::move(result.status());
    hasEnded = !result.isOk();
  }
  /// Pushes what was collected; an error of that push is lost, unless end()
  /// was called before, but not what was collected.
  ~BulkScope() { (void)end().isOk(); }
  BulkScope(const BulkScope &) = delete;
  BulkScope &operator=(const BulkScope &) = delete;

  Status end() {
    if (hasEnded)
      return std::exchange(failure, Status::ok());
    hasEnded = true;
    return std::move(engine.setBulkSize(previous).status());
  }

private:
  Engine &engine;
  unsigned previous = 0;
  bool hasEnded;
  Status failure;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_ENGINE_H
