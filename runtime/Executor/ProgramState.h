// SPDX-License-Identifier: Apache-2.0
//
// A loaded program as the executor sees it: plain arrays, indices resolved.

#ifndef DLC_RUNTIME_EXECUTOR_PROGRAMSTATE_H
#define DLC_RUNTIME_EXECUTOR_PROGRAMSTATE_H

#include "Schedule.h"

#include "dlc/abi/Kernel.h"
#include "dlc/runtime/Device/CPU/CodeObject.h"
#include "dlc/runtime/Executor/Program.h"

namespace dlc::rt {

/// How a launch is carried out.
enum class LaunchKind : uint8_t {
  Generated, ///< A function over tiles.
  Library,   ///< A prepared entry over tiles.
  Copy,      ///< Bytes from one value to another.
  Reference, ///< A computation; all shapes were known at load.
  Dynamic,   ///< A computation whose shapes are found while running.
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

/// What run() reads for each launch: one cache line.
struct LaunchRecord {
  LaunchKind kind;
  /// Whether outputs come from the pool or are dynamic.
  bool allocates = false;
  uint32_t firstArgument = 0; ///< Into State::arguments.
  uint32_t inputCount = 0;
  uint32_t argumentCount = 0;
  int64_t tiles = 0;
  uint64_t nanoseconds = 0; ///< Modelled time on one thread.
  uint32_t steps = 1;       ///< Library: of which each takes its share.
  union {
    DlcKernelFunction function;    ///< Generated.
    const PreparedKernel *library; ///< Library.
    const ref::Operation *operation;
  };
  const Attributes *attributes = nullptr;
  /// Pool values that no later launch reads: a range of State::released.
  uint32_t firstReleased = 0, releasedCount = 0;

  LaunchRecord() : function(nullptr) {}
};

/// What only traces and messages say of a launch, and where it runs.
struct LaunchNames {
  std::string label;
  std::string kernel;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  uint32_t device = 0;
  uint32_t stream = 0; ///< Of the device, as numbered in the plan.
};

struct Program::State {
  explicit State(Artifact artifact) : artifact(std::move(artifact)) {}

  Artifact artifact;
  CodeObject code;
  bool hasCode = false;
  std::vector<ValueRecord> values;
  std::vector<LaunchRecord> launches;
  /// Values of all launches, one after the other; -1 for absent operands.
  std::vector<int32_t> arguments;
  std::vector<uint32_t> released;
  std::vector<LaunchNames> names;
  std::vector<std::unique_ptr<Attributes>> attributes; ///< Of each kernel.
  std::vector<std::unique_ptr<PreparedKernel>> prepared;
  std::vector<Port> inputs, outputs;
  std::vector<uint32_t> inputValues, outputValues;
  /// Of each input: the output that updates it.
  std::vector<std::optional<size_t>> updatedBy;
  bool hasUpdates = false;
  std::vector<uint64_t> arenaBytes; ///< Of each device.
  std::vector<Context> devices;
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

/// Builds the state from the artifact in it.
Status buildProgram(Program::State &state, const ProgramOptions &options);

/// "launch 3 (conv1)", for messages.
std::string describeLaunch(const Program::State &state, size_t launch);

/// Whether a tensor of `shape` is one of `type`.
bool shapeMatches(const TensorType &type, std::span<const int64_t> shape);

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_PROGRAMSTATE_H
