// SPDX-License-Identifier: Apache-2.0
//
// A loaded program as the executor sees it: plain arrays, indices resolved.

#ifndef DLC_RUNTIME_EXECUTOR_PROGRAMSTATE_H
#define DLC_RUNTIME_EXECUTOR_PROGRAMSTATE_H

#include "DynamicCalls.h"
#include "Schedule.h"

#include "dlc/abi/Kernel.h"
#include "dlc/runtime/Device/CPU/CodeObject.h"
#include "dlc/runtime/Device/Device.h"
#include "dlc/runtime/Executor/Program.h"
#include "dlc/runtime/Storage/Manager.h"

#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace dlc::abi {
struct Kernel;
struct Program;
} // namespace dlc::abi

namespace dlc::rt {

/// How a launch is carried out.
enum class LaunchKind : uint8_t {
  Generated, ///< A function over tiles.
  Library,   ///< A prepared entry over tiles.
  Copy,      ///< Bytes from one value to another.
  Queued,    ///< A kernel or a copy that a queue of a device does.
  Reference, ///< A computation; all shapes were known at load.
  Dynamic,   ///< A computation whose shapes are found while running.
  AnyShape,  ///< A function over tiles of elements, of shapes found likewise.
};

enum class Place : uint8_t { Input, Output, Constant, Arena, Pool };

/// A value of the plan.
struct ValueRecord {
  TensorType type;
  Place place;
  bool isStatic;
  uint32_t device;
  uint32_t index;  ///< Of the input or the output.
  uint64_t offset; ///< Into the section, the arena, the input or the output.
  uint64_t bytes;  ///< 0 while unknown.
};

/// What a queue of a device does for a launch.
struct QueuedLaunch {
  uint32_t queue;           ///< Into DeviceWork::queues.
  void *function = nullptr; ///< Of generated code.
  DeviceGrid grid = {};
  /// Instead of code: a call of a library, and which arguments of the launch it
  /// takes, in its order, -1 for an absent one.
  std::unique_ptr<DeviceCall> call = nullptr;
  std::vector<int32_t> operands = {};
  size_t firstOperand = 0; ///< Among those of all launches.
  /// A copy from another device than that of the queue; else null.
  const Device *owner = nullptr;
  /// Done when the launch is: among launches of the host.
  bool isAwaited = false;

  bool isCopy() const { return !function && !call; }
};

/// What run() reads for each launch: one cache line.
struct LaunchRecord {
  LaunchKind kind;
  /// Whether outputs come from the pool or are dynamic.
  bool allocates = false;
  uint32_t firstArgument = 0; ///< Into State::arguments.
  uint32_t inputCount = 0;
  uint32_t argumentCount = 0;
  int64_t tiles = 0; ///< AnyShape: elements of one.
  uint64_t nanoseconds = 0; ///< On one thread, modelled; of known shapes.
  uint32_t steps = 1;       ///< Library: of which each takes its share.
  /// Launches from this one on that workers compute as one grid: none of them
  /// uses memory that another one writes.
  uint32_t atOnce = 1;
  union {
    DlcKernelFunction function;    ///< Generated, AnyShape.
    const PreparedKernel *library; ///< Library.
    QueuedLaunch *queued;          ///< Queued.
    const ref::Operation *operation;
  };
  const Attributes *attributes = nullptr;
  /// Pool values that no later launch reads: a range of State::released.
  uint32_t firstReleased = 0, releasedCount = 0;

  LaunchRecord() : function(nullptr) {}
};

static_assert(sizeof(void *) != 8 || sizeof(LaunchRecord) == 64);

/// At most so many launches are one grid.
inline constexpr uint32_t mostAtOnce = 16;

/// What only traces and messages say of a launch, and where it runs.
struct LaunchNames {
  std::string label;
  std::string kernel;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  uint32_t device = 0;
  uint32_t stream = 0; ///< Of the device, as numbered in the plan.
};

/// A library, open, or why there is none; neither before it is asked for.
struct OpenLibrary {
  std::shared_ptr<void> session;
  std::string missing;
};

/// What a device has of a file, for all of its programs.
struct FileOnDevice {
  std::shared_ptr<Device> device;
  StorageManagerPtr memory;         ///< Of the device; of all programs.
  std::unique_ptr<DeviceCode> code; ///< Null without kernels there.
  size_t object = 0;                ///< Its number.
  /// How kernels are launched in that code, by number, no blocks for those that
  /// are not there; empty: all as they say.
  std::vector<DeviceGrid> grids;
  /// Constants, by their offsets in the file.
  struct Piece {
    std::byte *address;
    uint64_t bytes;
  };
  std::map<uint64_t, Piece> constants;
  std::vector<Allocation> blocks; ///< What they are in.
};

/// A device with memory of its own, as a program uses it.
struct UsedDevice {
  std::shared_ptr<Device> device; ///< Null for the host.
  std::shared_ptr<FileOnDevice> file;
  /// Where each value is that is a constant and read there.
  std::unordered_map<uint32_t, std::byte *> constantAddresses;
  /// Libraries of the device's maker, by the first part of the names of their
  /// entries. Ended before the device.
  std::map<std::string, OpenLibrary> libraries;
  /// Other devices that read its memory, and whether they can do it without
  /// the host.
  std::map<uint32_t, bool> readers;
};

/// What programs on such devices have.
struct DeviceWork {
  std::vector<UsedDevice> devices; ///< As Program::State::devices; or none.
  std::vector<uint32_t> queues;    ///< Of each: its device.
  /// By the device, and the stream of the plan that it works for.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> queueOfStream;
  std::deque<QueuedLaunch> launches;
  size_t operandCount = 0; ///< Of all calls of libraries.
  /// What people are told of launches, and how many these are: libraries that
  /// are not called, copies between devices that go through the host.
  std::map<std::string, size_t> remarks;
  /// Of devices of the host: copies from or to others touch the arena.
  std::set<uint32_t> hostEnds;
  StorageManagerPtr locked; ///< Memory for such arenas; null where none is.

  /// Where a segment stands between the host and queues.
  struct Border {
    std::optional<uint32_t> queue; ///< That does all of it.
    bool isAwaited = false;        ///< By another stream.
    bool isRecorded = false;       ///< Kernels alone: may be recorded.
    /// Segments of queues, other than its own, that it comes after.
    std::vector<uint32_t> awaits;
  };
  std::vector<Border> borders; ///< Of each segment.

  bool isUsed() const { return !queues.empty(); }
  /// The device that has the memory of `place` on device `index`; null for the
  /// host.
  const UsedDevice *find(uint32_t index) const {
    return !devices.empty() && devices[index].device ? &devices[index]
                                                     : nullptr;
  }
  /// Who has memory for the arena of device `index`; null for pages of the host
  /// that are like any other.
  StorageManager *arenaManager(uint32_t index) const {
    if (const UsedDevice *device = find(index))
      return device->file->memory.get();
    return hostEnds.contains(index) ? locked.get() : nullptr;
  }
};

/// What programs of one file share.
struct ProgramFile {
  explicit ProgramFile(Artifact artifact) : artifact(std::move(artifact)) {}

  const Artifact artifact;
  std::vector<std::unique_ptr<Attributes>> attributes; ///< Of each kernel.
  CodeObject code;
  std::optional<size_t> object; ///< The number of `code`; none without any.
  std::map<std::pair<DeviceKind, int16_t>, std::shared_ptr<FileOnDevice>>
      devices;

  /// Kernels and objects of all programs.
  const abi::Program &whole() const { return artifact.program(); }
};

/// A program that another one runs.
struct PartProgram {
  int64_t rows; ///< Examples, of one by rows; else 0.
  std::unique_ptr<Program> program;
};

struct Program::State {
  State(std::shared_ptr<ProgramFile> file, const abi::Program &plan)
      : file(std::move(file)), plan(plan) {}

  static Result<std::unique_ptr<Program>>
  make(std::shared_ptr<ProgramFile> file, const abi::Program &plan,
       const ProgramOptions &options);

  std::shared_ptr<ProgramFile> file;
  const abi::Program &plan; ///< In the file: its own.
  bool hasCode = false;
  /// By rows: the largest first, one of a single example last; by shape: in the
  /// order that they are tried in. Empty for a program that runs by itself.
  std::vector<PartProgram> parts;
  bool isByShape = false;
  std::vector<ValueRecord> values;
  std::vector<LaunchRecord> launches;
  /// Values of all launches, one after the other; -1 for absent operands.
  std::vector<int32_t> arguments;
  std::vector<uint32_t> released;
  std::vector<LaunchNames> names;
  std::vector<std::unique_ptr<PreparedKernel>> prepared;
  /// Dynamic launches that a library computes as well, by their numbers.
  std::unordered_map<size_t, DynamicEntry> dynamicEntries;
  /// Behind a pointer: executions add to it, and change nothing else here.
  std::unique_ptr<PackedConstants> packedConstants =
      std::make_unique<PackedConstants>();
  std::vector<Port> inputs, outputs;
  std::vector<uint32_t> inputValues, outputValues;
  /// Of each input: the output that updates it.
  std::vector<std::optional<size_t>> updatedBy;
  bool hasUpdates = false;
  /// Of each value, -1 for none: the input whose bytes it has in another shape,
  /// in the same place, and the output that has its bytes, for which it is made
  /// where that is.
  std::vector<int32_t> shownInputs, madeOutputs;
  std::vector<uint64_t> arenaBytes; ///< Of each device.
  std::vector<Context> devices;
  DeviceWork work;
  /// Pairs of device and stream that have launches.
  uint32_t streamCount = 0;
  /// Of a program with several streams; without tasks otherwise, and then run()
  /// never looks at it.
  Schedule schedule;
  size_t mostArguments = 0; ///< Of one launch.
  /// Modelled time of the launches that workers may share.
  uint64_t sharedNanoseconds = 0;
  ProgramStatistics statistics;

  std::span<const int32_t> argumentsOf(const LaunchRecord &launch) const {
    return std::span(arguments).subspan(launch.firstArgument,
                                        launch.argumentCount);
  }
};

/// Builds the state from the plan in it.
Status buildProgram(Program::State &state, const ProgramOptions &options);

/// Opens the devices that have memory of their own, and gives them their code
/// and constants. `loadsCode`: see ProgramOptions.
Status openDevices(Program::State &state, bool loadsCode);
/// Makes launch `index`, a kernel or a copy, one of a queue if it is one of
/// such a device.
Status queueLaunch(Program::State &state, const ProgramOptions &options,
                   size_t index, bool &isQueued);
/// After the schedule: what waits for what.
void findBorders(Program::State &state);

/// After the schedule: which launches that follow each other are one grid.
void joinLaunches(Program::State &state);

/// After the schedule: which sums calls of libraries compute with their own.
void findSums(Program::State &state);

/// The attributes of the entry that a kernel names.
Attributes entryAttributesOf(const abi::Kernel &kernel);

/// "launch 3 (conv1)", for messages.
std::string describeLaunch(const Program::State &state, size_t launch);

/// Whether a tensor of `shape` is one of `type`.
bool shapeMatches(const TensorType &type, std::span<const int64_t> shape);

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_PROGRAMSTATE_H
