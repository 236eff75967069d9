// SPDX-License-Identifier: Apache-2.0
//
// What an execution holds: an address and a shape for every value, and the
// argument lists of all launches, filled in as far as they are known.

#ifndef DLC_RUNTIME_EXECUTOR_EXECUTIONSTATE_H
#define DLC_RUNTIME_EXECUTOR_EXECUTIONSTATE_H

#include "BatchExecution.h"
#include "DynamicCalls.h"
#include "PaddedPorts.h"
#include "PortEnds.h"
#include "ProgramState.h"
#include "dlc/runtime/Base/ForkGuard.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/Storage/Manager.h"

#include <atomic>

namespace dlc::rt {

/// The queues of an execution, and what it does with them.
class DeviceRun {
public:
  /// `arguments`: the addresses of all launches, which stay where they are.
  /// `records`: what is repeated becomes one piece of work.
  Status prepare(const Program::State &program, std::vector<void *> &arguments,
                 bool records);
  bool isUsed() const { return !queues.empty(); }
  /// In the child of a fork() neither the devices nor locked memory is there.
  Status checkProcess() const;
  /// `isTimed`: finish() is to tell how long it took.
  Status launch(const LaunchRecord &record, bool isTimed);
  /// Runs a segment by calling `runAll`, between what it waits for and what
  /// waits for it, or queues what that did before.
  template <typename RunAll>
  Status runSegment(uint32_t segment, RunAll &&runAll, bool isWatched);
  /// Waits for a launch, or for everything. `nanoseconds`: what the device took
  /// for a kernel that was timed; of others it stays as it is.
  Status finish(const LaunchRecord &record, uint64_t &nanoseconds);
  Status finishAll();

  /// Since the last call of it.
  QueueTime takeQueueTime() {
    return {queuedLaunches.exchange(0), queueNanoseconds.exchange(0)};
  }

private:
  /// How far recording a segment is.
  enum class Step : uint8_t { Never, Plain, Next, Done };

  Status begin(uint32_t segment);
  Status end(uint32_t segment);
  Status recordTime(const LaunchRecord &record, bool isEnd);

  const Program::State *program = nullptr;
  const DeviceWork *work = nullptr;
  std::optional<ForkGuard> guard; ///< Of an execution that uses devices.
  std::vector<std::unique_ptr<DeviceQueue>> queues;
  std::vector<std::unique_ptr<DeviceEvent>> events; ///< Of segments; or null.
  std::vector<Step> steps;                          ///< Of segments.
  /// Of each queue: around the launch that is timed.
  std::vector<std::array<std::unique_ptr<DeviceEvent>, 2>> times;
  std::vector<std::unique_ptr<DeviceRecording>> recordings;
  /// Of each argument its address, which is what a queue is given.
  std::vector<void *> parameters;
  /// The same of the operands of all calls of libraries; null for absent ones.
  std::vector<void *> operands;
  /// Of segments of kernels alone; by the threads of streams.
  std::atomic<uint64_t> queuedLaunches = 0, queueNanoseconds = 0;
};

struct Execution::State {
  State(const Program &program, WorkerPool *workers);
  State(const State &) = delete;

  Status prepare(const ExecutionOptions &options);
  void setPort(Place place, size_t index, void *address);
  Status checkApart(Place place, size_t index, const TensorView &tensor) const;
  template <bool isObserved, bool tells> Status runLaunches();
  template <bool isObserved, bool tells> Status runInOrder();
  Status prepareParts(const ExecutionOptions &options);
  Status runParts(PortListener *listener);
  void observeMemory(uint32_t device);
  void releasePool();

  const Program &owner;
  const Program::State &program;
  WorkerPool *workers;
  LaunchObserver *observer = nullptr;

  std::vector<std::shared_ptr<ArenaMemory>> arenas;
  std::vector<std::string> remarks; ///< What people are told of its memory.
  PageBuffer ownedOutputs;          ///< Of static outputs.
  std::vector<uint64_t> ownedOffsets;
  std::vector<AlignedBuffer> dynamicOutputs; ///< Kept from run to run.
  StorageManagerPtr pool;                    ///< Null where nothing is dynamic.

  /// Of each value; null while it has no memory.
  std::vector<void *> addresses;
  /// Of each value; as declared until a dynamic value gets its shape.
  std::vector<std::vector<int64_t>> shapes;
  /// Of each pool value: its memory while it has any.
  std::vector<Allocation> blocks;
  /// Addresses in the order of Program::State::arguments.
  std::vector<void *> arguments;
  /// Positions in `arguments` of each value, as compressed rows.
  std::vector<uint32_t> slotStart, slots;
  /// Values that are, or look into, each input and output.
  std::vector<std::vector<uint32_t>> inputViews, outputViews;
  /// Of each output: it has memory of the caller's.
  std::vector<bool> isBoundElsewhere;
  size_t unboundInputs = 0;
  PortEnds portEnds;                ///< Without ends unless they are told.
  PortListener *listener = nullptr; ///< Of the run in progress.
  bool hasRun = false;              ///< The last run succeeded.
  /// By the numbers of launches, of operations with the sums behind them apart;
  /// not changed in themselves by a run.
  std::unordered_map<size_t, DynamicCalls> dynamicCalls, sumCalls;
  /// Of each launch, of the run in progress: a call in front of it computed it.
  std::vector<bool> isSummed;
  DeviceRun deviceRun;
  PartExecutions parts; ///< Of the programs that this one runs.
  /// Of a program for a batch of any size, what runs it; else null.
  std::unique_ptr<BatchExecution> batch;
  std::unique_ptr<PaddedPorts> padded; ///< Of a program for several shapes.

private:
  friend class Execution;

  /// What a thread needs for the launch that it is at.
  struct Lane {
    State *state;
    unsigned index;
    /// The computation in progress, for its allocator.
    const LaunchRecord *computing = nullptr;
    Status allocationStatus;
    std::vector<TensorView> inputTensors, outputTensors;
    std::vector<void *> callArguments; ///< Of a library, with a workspace.
    /// Of an operation with the sum behind it.
    std::vector<TensorView> sumTensors;
    std::vector<int32_t> sumValues;
    ref::ComputeContext::Allocator allocateResult;
    ref::ComputeContext::Sharer share; ///< Among the workers.
    /// Calls of share() are of its parts, by any thread.
    bool isSharing = false;
  };

  Status allocateArena(SharedArenas &from, uint32_t device);
  Status allocateArenas(SharedArenas *shared);
  void indexSlots();
  void placeValues();
  void setAddress(uint32_t value, void *address);

  Status prepareLanes(const ExecutionOptions &options);
  template <bool isObserved, bool tells>
  Status launch(size_t index, Lane &lane);
  Status perform(const LaunchRecord &record, Lane &lane);
  /// `launchAt` gives the numbers of `count` launches.
  template <typename LaunchAt>
  Status performAtOnce(uint32_t count, const Lane &lane, LaunchAt launchAt);
  template <bool isObserved, bool tells, typename LaunchAt>
  Status launchAll(size_t count, Lane &lane, LaunchAt launchAt);
  template <bool isObserved, bool tells>
  static Status runSegment(void *state, uint32_t segment, unsigned lane);
  template <typename Function>
  void overTiles(int64_t tiles, uint64_t nanoseconds, const Lane &lane,
                 Function &&tile);
  void shareParts(int64_t count, uint64_t nanoseconds, Lane &lane,
                  const std::function<void(int64_t, int64_t)> &part);
  /// Runs a kernel and those that follow it, each of the modelled time.
  void runChain(const PreparedKernel *kernel, void *const *arguments,
                uint64_t nanoseconds, const Lane &lane);
  void copyBytes(void *target, const void *source, size_t bytes,
                 const Lane &lane);

  // Dynamic.cpp: values whose memory or shape is found while running.
  size_t bytesOf(uint32_t value) const;
  Status allocateValue(uint32_t value, std::span<const int64_t> shape);
  Status allocateOutputs(const LaunchRecord &record);
  static void *allocateForResult(Lane &lane, size_t index,
                                 std::span<const int64_t> shape);
  void fillTensors(const LaunchRecord &record, Lane &lane);
  Status compute(const LaunchRecord &record, Lane &lane);
  Status computeReference(const LaunchRecord &record, Lane &lane);
  Status computeDynamic(const LaunchRecord &record, Lane &lane);
  Status computeAnyShape(const LaunchRecord &record, Lane &lane);
  bool fitsPool(const LaunchRecord &record, const TensorType &result) const;
  Status allocateOutput(uint32_t value, uint32_t output, size_t bytes);
  bool showInput(const LaunchRecord &record, const TensorType &result);
  bool useMadeOutput(const LaunchRecord &record, const TensorType &result);
  bool takeMemory(uint32_t from, const LaunchRecord &record,
                  const TensorType &result);
  size_t numberOf(const LaunchRecord &record) const;
  void tellOfCall(const LaunchRecord &record, const DynamicCall &call,
                  std::optional<size_t> sum) const;
  const DynamicCall *findCall(const LaunchRecord &record,
                              const DynamicEntry &entry, const Lane &lane);
  Status runCall(const DynamicCall &call, std::span<const int32_t> values,
                 Lane &lane);
  const DynamicCall *findSumCall(const LaunchRecord &record,
                                 const DynamicEntry &entry,
                                 const TensorType &type, Lane &lane);
  Status runSumCall(const DynamicCall &call, const LaunchRecord &record,
                    const DynamicEntry &entry, const TensorType &type,
                    Lane &lane);
  Status inferResults(const LaunchRecord &record,
                      std::vector<TensorType> &results);
  Status prepareResult(uint32_t value, const TensorType &inferred);
  Status checkAllocated(const LaunchRecord &record);
  void releaseValue(uint32_t value);
  void releaseAfter(const LaunchRecord &record);

  // Parts.cpp: runs of programs that are made of others.
  Status placeOutput(size_t output, std::span<const int64_t> shape);
  TensorView viewOf(uint32_t value) const;
  void tellAll(PortListener &listener) const;
  Status runBatch(PortListener *listener);
  bool fits(const Program &part) const;
  Execution *choosePart();
  Status refuseShapes() const;
  Status runByShape(PortListener *listener);
  void takeOutput(size_t output, const TensorView &tensor);
  Status bindSizes(Execution &part);
  Status runPadded(Execution &part, PortListener *listener);

  /// One for each thread that may run launches; in each run a thread has one,
  /// not always the same.
  std::vector<Lane> lanes;
  /// The other threads, of a program with several streams, and its counters.
  std::shared_ptr<WorkerPool> laneThreads;
  std::unique_ptr<TaskGraphRunner> runner;
};

/// The first run of a segment is as it is, so that what fails is known by its
/// name; the second is recorded, and those to come are one piece of work.
template <typename RunAll>
Status DeviceRun::runSegment(uint32_t segment, RunAll &&runAll,
                             bool isWatched) {
  DLC_RETURN_IF_ERROR(begin(segment));
  Step &step = steps[segment];
  const bool isOfKernels = work->borders[segment].isRecorded;
  const uint64_t started = isOfKernels ? nowNanoseconds() : 0;
  bool isRecording = step == Step::Next && !isWatched;
  if (isRecording || (step == Step::Done && !isWatched)) {
    DeviceQueue &queue = *queues[*work->borders[segment].queue];
    if (isRecording) {
      DLC_RETURN_IF_ERROR(queue.beginRecording());
      Status status = runAll();
      Result<std::unique_ptr<DeviceRecording>> recording = queue.endRecording();
      DLC_RETURN_IF_ERROR(std::move(status));
      if (!recording.isOk())
        return std::move(recording.status());
      recordings[segment] = std::move(*recording);
      step = Step::Done;
    }
    DLC_RETURN_IF_ERROR(queue.replay(*recordings[segment]));
  } else {
    DLC_RETURN_IF_ERROR(runAll());
    if (step == Step::Plain)
      step = Step::Next;
  }
  if (isOfKernels) {
    // Relaxed: numbers that are read when the run is over.
    queuedLaunches.fetch_add(program->schedule.segments[segment].launchCount,
                             std::memory_order_relaxed);
    queueNanoseconds.fetch_add(nowNanoseconds() - started,
                               std::memory_order_relaxed);
  }
  return end(segment);
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_EXECUTIONSTATE_H
