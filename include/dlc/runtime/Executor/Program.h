// SPDX-License-Identifier: Apache-2.0
//
// A compiled program, loaded and ready: kernels resolved, library entries
// prepared, launches checked against the shape rules.

#ifndef DLC_RUNTIME_EXECUTOR_PROGRAM_H
#define DLC_RUNTIME_EXECUTOR_PROGRAM_H

#include "dlc/runtime/Artifact/Loader.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/Device/CPU/Features.h"
#include "dlc/runtime/Device/Context.h"
#include "dlc/runtime/Kernel/Library.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::rt {

/// Where a program finds its kernels.
struct ProgramOptions {
  const LibraryEntry *(*findLibraryEntry)(std::string_view name) =
      lookupLibraryEntry;
  const LibraryEntry *(*findEntryOfOperation)(std::string_view operation) =
      lookupEntryOfOperation;
  const ref::Operation *(*findOperation)(std::string_view name) = ref::lookup;
  /// False leaves machine code unloaded: such a program can be examined, not
  /// executed. For tools that read artifacts they do not trust.
  bool loadsCode = true;
  /// What the processor has, as far as machine code may use it.
  CPUFeatures features = CPUFeatures::ofHost();
};

/// An input or an output.
struct Port {
  std::string name;
  TensorType type; ///< Dimensions of kUnknownDim differ from run to run.
  /// Of an output that is a new value of an input, and unless it is bound
  /// elsewhere takes its place in memory: the number of the input.
  std::optional<size_t> updates = std::nullopt;
  /// Of an input: the state of random numbers, 2xi64: a seed and the number of
  /// the run.
  bool isRandomState = false;
  /// Of a program for several shapes: of each dimension the number of its extent
  /// that may also be smaller than in all of these, or -1; empty without any.
  std::vector<int32_t> padded = {};
};

/// What a program takes; sizes in bytes.
struct ProgramStatistics {
  uint64_t arenaBytes = 0;           ///< Planned for transient values.
  uint64_t lowerBoundBytes = 0;      ///< Peak of live bytes: no plan is below.
  uint64_t constantBytes = 0;        ///< Weights, mapped from the file.
  uint64_t codeBytes = 0;            ///< The chosen object.
  std::optional<size_t> object;      ///< Its number, where there is one.
  std::vector<size_t> deviceObjects; ///< Of devices that are no host.
  size_t kernels = 0;
  size_t launches = 0;
  size_t dynamicValues = 0; ///< Values that come from the pool.
  /// Parts that run one after the other or at the same time, in a program of
  /// several streams; 0 in all others, whose launches run in order.
  size_t segments = 0;
  /// What loading it would tell people, in words: libraries that are missing.
  std::vector<std::string> remarks;
};

/// What a trace says of a launch.
struct LaunchInfo {
  std::string_view label;  ///< The model's node; may be empty.
  std::string_view kernel; ///< Symbol or entry.
  uint64_t flops;          ///< Modelled, of one launch.
  uint64_t bytes;          ///< Modelled traffic of one launch.
  Context device;
  uint32_t stream; ///< Of the device.
  bool isCopy;     ///< Moves bytes, maybe from another device.
};

/// Immutable once loaded; shared by any number of threads, each with its own
/// Execution. Outlives its executions.
class Program {
public:
  ~Program();

  /// Maps the file at `path`. Errors: those of Artifact::open() and create().
  static Result<std::unique_ptr<Program>>
  load(const std::string &path, const ProgramOptions &options = {});

  /// Takes over an artifact. Errors: Unsupported (no object for this machine,
  /// an unknown kernel, a device that this build lacks), DataLoss.
  static Result<std::unique_ptr<Program>>
  create(Artifact artifact, const ProgramOptions &options = {});

  std::span<const Port> inputs() const;
  std::span<const Port> outputs() const;
  /// The position of the input (output) of that name.
  std::optional<size_t> findInput(std::string_view name) const;
  std::optional<size_t> findOutput(std::string_view name) const;

  /// Of a program for a batch of any size, how many examples it computes at
  /// once: each of these numbers, the largest first and 1 last. Empty for one
  /// that computes what it is given as a whole. The batch is the first
  /// dimension of ports that leave it open; other ports are the same for all
  /// examples.
  std::vector<int64_t> batches() const;

  /// Of a program for several shapes, those that it runs: of each what its
  /// inputs have to be, and its batches. A run takes the first that the shapes
  /// of the inputs fit. Empty for one that runs by itself. They live as long as
  /// this program.
  std::vector<const Program *> shapes() const;

  const ProgramStatistics &statistics() const;
  /// Of all programs that this one runs.
  size_t launchCount() const;
  LaunchInfo launch(size_t index) const;
  const Artifact &artifact() const;

  /// For Execution.
  struct State;
  const State &implementation() const { return *state; }

private:
  explicit Program(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_PROGRAM_H
