// SPDX-License-Identifier: Apache-2.0
//
// The core of the threaded engines.
//
//   push      any thread writes a record into a ring; the ticket that it drew
//             is the order of the engine. It touches no variable.
//   schedule  whoever needs work (a worker, a waiter, a pusher that faces a
//             full ring) takes the one lock, retires what it has finished,
//             registers records until something is ready, and takes that.
//             Dependencies are plain memory under the lock, in few caches.
//   run       outside of the lock.
//
// docs/Rationale/Runtime.md argues why that is correct and how it scales. The
// parts: Push.cpp, Schedule.cpp, Workers.cpp, Waits.cpp, Life.cpp, Bulk.cpp and
// Dump.cpp.

#ifndef DLC_RUNTIME_ENGINE_CORE_H
#define DLC_RUNTIME_ENGINE_CORE_H

#include "Bulk.h"
#include "Check.h"
#include "EngineImpl.h"
#include "Lane.h"
#include "Operator.h"
#include "Ring.h"
#include "Sync.h"
#include "Watchdog.h"

#include "dlc/runtime/Base/ForkGuard.h"

#include <cstring>
#include <mutex>

namespace dlc::rt {

class EngineCore;

/// Where completions arrive, and the ends of threads that have begun a bulk;
/// outlives the core as long as one is missing.
class CompletionHub final : public CompletionSink {
public:
  explicit CompletionHub(EngineCore &core) : core(&core) {}
  void retain() override;
  void release() override;
  Status complete(void *operation, uint64_t run, Status result) override;
  void endThread(BulkState *bulk); ///< The calling one, which began it.
  void detach();                   ///< The core ends.
  bool isDetached();               ///< Also when it is the parent's.

private:
  /// In the child of a fork() all of it stays as it is: a thread that is not
  /// there may have held the lock.
  const ForkGuard guard;
  std::mutex mutex; ///< Guards `core`, and that it lives during complete().
  EngineCore *core;
  std::atomic<uint32_t> references = 1;
};

/// A thread that waits for a variable or for all. On its stack.
struct Waiter {
  enum : uint32_t { Pending, Sleeping, Done };
  std::atomic<uint32_t> state = Pending;
  bool takesErrors = false; ///< Of all, when it waits for all.
  Waiter *next = nullptr;
  CoreOperation *owner = nullptr; ///< That waits inside.
  Status status;                  ///< Written before `state` becomes Done.
  /// For a variable: the operation that stands in its queue, and its one use.
  struct Place {
    CoreOperation operation = {};
    Use use = {};
  } place;

  bool isDone() const { return state.load(std::memory_order_acquire) == Done; }
  void signal(); ///< The waiter may end at once.
  /// Sleeps until it is done, or for `nanoseconds` when they are not 0.
  void sleep(uint64_t nanoseconds = 0);
};

inline Waiter &waiterOf(const CoreOperation &place) {
  Waiter *waiter;
  std::memcpy(&waiter, place.payload, sizeof(waiter));
  return *waiter;
}

class EngineCore final : public EngineImpl {
public:
  EngineCore(Engine &engine, const EngineOptions &options);
  ~EngineCore() override;
  Status initialise() override;

  // As in Engine.
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
  void forgetGivenUp() override;
  Result<uint64_t> version(Variable variable) override;
  bool isCalledInside() override { return isInside(); }
  std::string describeInside() override;
  bool isWriting(Variable variable) override;
  bool isHolding(Variable variable, VariableUse use) override;
  std::string dump() override;
  EngineStatistics statistics() override;

  Status complete(CoreOperation &operation, uint64_t run, Status result);
  void leaveBulk(BulkState &bulk);

private:
  enum class State { Running, Stopped, Closed };
  enum class RoomWanted : uint8_t { None, Much, Any };
  static constexpr unsigned maxLanes = 64;
  /// In `tail`: pushes are refused; and deletions too, since nothing is in
  /// flight.
  static constexpr uint64_t refusesBit = uint64_t(1) << 63;
  static constexpr uint64_t endedBit = uint64_t(1) << 62;
  static constexpr uint64_t ticketMask = endedBit - 1;

  static constexpr VariableList noVariables = {};
  static constexpr PushOptions noOptions = {};

  /// What a push hands to the ring.
  struct Request {
    Task *task = nullptr;
    uint8_t flags = 0; ///< OperationFlag.
    Context context;
    // As they are: to copy what was written just now, in other pieces, would
    // wait for the stores.
    const VariableList &reads = noVariables, &writes = noVariables;
    const PushOptions &options = noOptions;
    /// Of the operator, when no record holds so many: room for them is made.
    uint32_t operatorVariables = 0;
  };

  // Push.cpp
  Result<Lane *> laneFor(Context context, OperationProperty property);
  Status submit(const Request &request);
  Status submit(const Request &request, Lane &lane);
  Status submitDeletion(const Request &request,
                        std::unique_lock<std::mutex> &life);
  CoreOperation *prepare(const Request &request);
  void writeRecord(const Request &request, uint64_t ticket, bool isExtended);
  void writePrepared(CoreOperation &operation, uint64_t ticket);
  Status reserve(uint64_t slots, bool isDeletion, uint64_t &ticket);
  bool isRefusing() const {
    return tail.load(std::memory_order_relaxed) & refusesBit;
  }
  Status refuseNow();
  bool hasRoom(uint64_t end, bool isDeletion);
  Status awaitRoom(uint64_t end, bool isDeletion);
  template <typename Predicate>
  bool sleepForRoom(RoomWanted wanted, uint64_t nanoseconds, Predicate isOver);
  bool hasRoomForBytes(uint64_t seen, uint64_t bytes) const;
  void sleepForBytes(uint64_t seen);
  Status admitBytes(uint64_t bytes);
  void awaitBytes(uint64_t bytes);
  void returnBytes(uint64_t bytes);
  Status runAtOnce(Task &function, Context context);
  void forgetOperator(uint32_t index);

  // Schedule.cpp, with the lock held
  bool takesAll(const Lane *lane) const;
  bool isHungry(const Lane &lane) const;
  void registerPushed(Lane *lane);
  bool registerRecord(uint64_t ticket, uint64_t &slots);
  void start(CoreOperation &operation, uint64_t slots, uint8_t lane);
  CoreOperator *findOperator(Operator handle) const;
  void attachOperator(CoreOperation &operation);
  void poisonLate(CoreOperation &operation, const char *what);
  void addUse(CoreOperation &operation, Use &use, uint32_t packed, bool writes);
  void enqueue(CoreVariable &variable, Use &use);
  static bool canGrant(const CoreVariable &variable, bool writes);
  void hold(Use &use, CoreVariable &variable);
  void seal(CoreOperation &operation);
  void makeReady(CoreOperation &operation);
  CoreOperation *takeReady(Lane &lane);
  void advance(CoreVariable &variable);
  void releaseUse(const Use &use);
  void retire(CoreOperation &operation);
  void endVariable(uint32_t index);
  void finishWaiters();
  void finishIdleWaiters();
  bool isIdle() const;
  uint64_t nextRandom();
  void unlock(bool isStarving = false);
  void wakePushers(uint64_t within, bool hasBytes, bool anyWillDo);

  // Workers.cpp
  static void *workerMain(void *worker);
  void work(Worker &worker);
  bool takePermit(Lane &lane);
  void retireFinished(Worker &worker);
  CoreOperation *next(Worker &worker, Lane *lane);
  void run(Worker &worker, CoreOperation &operation);
  void runObserved(CoreOperation &operation, unsigned number, Task::Thunk thunk,
                   void *payload, TaskCall &call);
  void callObserved(const OperationInfo &info, Task::Thunk thunk, void *payload,
                    TaskCall &call);
  void perturb();
  bool hasWork(const Lane &lane) const;
  void idle(Worker &worker, Lane &lane);
  bool isOutrun(Worker &worker) const;
  static void nap();
  void wakeIfAsleep(Lane &lane);
  void wakeOne(Lane &lane);
  uint32_t keyFor(Context context, OperationProperty property) const;
  Result<Lane *> makeLane(uint32_t key);
  Status startLane(Lane &lane);
  Worker *takeWorker();
  void giveWorker(Worker &worker);
  Status startWorker(Lane &lane);
  void joinWorkers();
  Worker *findSelf() const;
  bool isInside() const {
    Worker *self = findSelf();
    return self && self->running;
  }
  Worker *lendSelf();
  void endLoan(Worker &worker);
  Lane *helpableLane() const;
  bool helpOnce(Worker &worker);

  // Waits.cpp
  Status lockUpTo(uint64_t ticket);
  void place(Waiter &waiter, uint32_t index, VariableUse use);
  void await(Waiter &waiter);
  Status waitInside(Waiter &waiter, Worker &self, Variable variable,
                    VariableUse use);
  Status checkWait(CoreOperation &operation, Variable variable,
                   VariableUse use);
  Status lendPermit(Lane &lane);
  bool wouldWaitForItself(CoreOperation &operation, uint32_t index,
                          VariableUse use);

  // Life.cpp
  Status startThreads();
  bool awaitIdle(unsigned milliseconds);
  void refusePushes();
  bool refuseDeletions();
  void finish(unsigned patience);
  void endThreads();
  bool giveUp(CoreOperation &operation);
  void giveUp();

  // Bulk.cpp
  uint64_t bulkScope() const;
  BulkState *findBulk() const;
  Result<BulkState *> takeBulk();
  void giveBulk(BulkState &bulk);
  static bool isBulked(const Request &request);
  Status collect(BulkState &bulk, const Request &request);
  bool isFull(const BulkState &bulk, const Request &request,
              uint32_t more) const;
  Status addToBulk(BulkState &bulk, const Request &request);
  bool growBulk(BulkState &bulk, uint32_t more);
  Status pushBulk(BulkState &bulk);
  /// Some thread may collect. Acquire: see giveBulk().
  bool hasBulks() const { return bulkCount.load(std::memory_order_acquire); }
  /// Some thread has collected something. Acquire: see flushBulk(). Only for
  /// who comes before or after those that collect: not to end or to delete.
  bool isCollecting() const {
    return collecting.load(std::memory_order_acquire);
  }
  Status awaitBudget(uint64_t bytes);
  Status flushBulk(BulkState &bulk, BulkGuard &guard);
  Status flushBulks(bool mayRace = false);
  Status flushBulksBefore(const VariableList &reads, const VariableList &writes,
                          const BulkState *own, bool mayRace = false);
  Status flushOwnBulk();
  Status flushOwnBulk(BulkState &bulk);
  void endBulkOf(CoreOperation &operation);
  void deleteBulks();
  void runBulk(Worker &worker, CoreOperation &operation);
  bool skipPart(BulkPart &part, bool isGivenUp);
  void failPart(BulkPart &part, const Status &status);
  void poisonWrites(BulkPart &part, Poison *poison);
  void endParts(CoreOperation &operation);
  static uint64_t idOf(CoreOperation &operation);
  static std::string titleOf(CoreOperation &operation);

  // Dump.cpp
  static std::string numbered(CoreOperation &operation);
  void describeHolder(const Use &use, std::string &text);
  void describe(CoreOperation &operation, std::string &text);
  std::string describeAll();
  friend Watchdog;
  std::string findStalled();

  // Where pushers meet; limits are published by the holder of the lock.
  alignas(64) std::atomic<uint64_t> tail = 0; ///< With the two bits.
  std::atomic<uint64_t> seenLimit = 0;
  alignas(64) std::atomic<uint64_t> head = 0;
  std::atomic<uint64_t> limit = 0;     ///< Tickets within room and budget.
  std::atomic<uint64_t> roomLimit = 0; ///< Tickets within room.
  std::atomic<uint64_t> bytesInFlight = 0;
  std::atomic<uint64_t> prioritized = 0; ///< Pushes with a priority.
  /// What pushers may sleep for: the most modest counts. Who wakes them wakes
  /// all of them, and takes it back.
  std::atomic<RoomWanted> roomWanted = RoomWanted::None;
  std::atomic<uint32_t> roomEpoch = 0;
  std::atomic<bool> isStopping = false;
  /// The next record cannot be registered for want of memory.
  std::atomic<bool> isStuck = false;

  // Constant after initialise(), and so on lines of their own: pushers read
  // them for each operation.
  alignas(64) const EngineOptions options;
  Engine &engine;
  AsymmetricFence fence;
  Ring ring;
  unsigned cpuWorkers = 1;
  uint64_t spinNanoseconds = 0;
  uint64_t wakeRoom = 0; ///< Sleeping pushers are woken for so much room.
  CompletionHub *hub = nullptr;

  // Only grow.
  Lane *lanes[maxLanes] = {};
  std::atomic<unsigned> laneCount = 0;
  std::atomic<Worker *> workers = nullptr;
  std::atomic<unsigned> workerCount = 0, threadCount = 0;

  std::atomic<uint32_t> bulkCount = 0; ///< In use.
  std::atomic<BulkState *> bulks = nullptr;
  /// Bulks with a part. Changes often: not on the line of what pushers read.
  alignas(64) std::atomic<uint32_t> collecting = 0;

  /// Guards the state below it. Held while the engine stops or closes, which
  /// waits for operations: nothing that these may call, or those that complete
  /// them, takes it before endedBit is set. Taken before laneMutex and `core`.
  alignas(64) std::mutex lifeMutex;
  State state = State::Stopped;
  Watchdog watchdog;

  /// Guards the making of lanes and threads, which operations may ask for while
  /// the engine closes. Taken before `core`.
  std::mutex laneMutex;
  bool areThreadsOn = false;

  /// Guards all that follows, and what the functions of Schedule.cpp touch.
  alignas(64) SpinLock core;
  OperationPool pool;
  BulkBlockPool bulkBlocks;
  FailureBook failures;
  StampSource stamps;
  uint64_t retiredSlots = 0;
  uint64_t nextId = 0;                ///< Parts of bulks have their own.
  uint64_t registeredPrioritized = 0; ///< Of `prioritized`.
  uint64_t readyTotal = 0;
  uint64_t marks = 0, watchTick = 0;
  uint64_t random = 0;
  bool isClosed = false, hasFreedBytes = false;
  std::atomic<bool> isGivingUp = false; ///< Also read without the lock.
  GivenUp givenUp;
  Waiter *grantedWaiters = nullptr; ///< Whose use is granted.
  Waiter *doneWaiters = nullptr;    ///< To signal after unlocking.
  Waiter *idleWaiters = nullptr;    ///< That wait for all.
  EngineStatistics numbers;
  HandleTable<CoreVariable> variables;
  HandleTable<CoreOperator> operators;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_CORE_H
