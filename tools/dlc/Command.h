// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of dlc and what they share.

#ifndef DLC_TOOLS_DLC_COMMAND_H
#define DLC_TOOLS_DLC_COMMAND_H

#include "dlc/Compiler/Compiler.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/Executor/Program.h"
#include "dlc/runtime/IO/Numpy.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlc::tool {

// Exit codes.
inline constexpr int kOk = 0;
inline constexpr int kBadInput = 1;
inline constexpr int kBadUsage = 2;

/// Ends the command with a message on stderr ("dlc: error: ...").
struct Failure {
  std::string message;
  int exitCode = kBadInput;
};

/// Throws a Failure when `status` is one.
void check(rt::Status status);

template <typename T> T take(rt::Result<T> result) {
  if (!result.isOk())
    throw Failure{result.status().message()};
  return std::move(*result);
}

/// Options of every command that compiles.
struct ModelOptions {
  std::string path;
  std::vector<std::string> shapes; ///< "data=1x3x224x224"
  std::string target = "host";
  std::string precision = "fp32";
  unsigned threads = 0;
  bool remarks = false;
  bool timing = false;
  std::string reproducer;

  void add(CLI::App &app, bool acceptsArtifact);
  bool isArtifact() const;
  /// The compiler's options; throws on malformed shapes.
  CompileOptions compileOptions() const;
};

/// "1x3x224x224" -> {1, 3, 224, 224}; throws a Failure (usage) otherwise.
std::vector<int64_t> parseShape(const std::string &text);

/// Throws a Failure with the compilation's messages when `result` is one;
/// prints its warnings otherwise.
void check(llvm::LogicalResult result, const Compilation &compilation);

using rt::HostTensor;

/// Zeroed memory for a tensor of a static type.
HostTensor makeZeros(const rt::TensorType &type);

using NamedTensors = std::map<std::string, HostTensor>;

/// Where a command's input values come from.
struct InputOptions {
  std::vector<std::string> files; ///< "name=x.npy"
  std::string archive;            ///< "in.npz"
  bool random = false;
  uint64_t seed = 1;

  void add(CLI::App &app);
  /// Values read from files; random ones are made by fill().
  NamedTensors read() const;
};

/// A program and where it came from.
struct LoadedModel {
  rt::AlignedBuffer bytes; ///< What a program compiled here lives in.
  std::unique_ptr<rt::Program> program;
  double compileMs = 0, loadMs = 0;
};

/// Compiles `options.path`, or loads it when it is an artifact. Shapes of
/// `values` specialise inputs whose dimensions are not known.
LoadedModel loadModel(const ModelOptions &options, const NamedTensors &values);

/// One tensor for each input of the program, in order, out of `values`, or
/// random where `inputs.random` allows it; throws when a name is unknown, a
/// value is missing or has the wrong type.
std::vector<HostTensor> makeInputs(const rt::Program &program,
                                   const InputOptions &inputs,
                                   NamedTensors values);

/// Milliseconds on the monotonic clock.
double now();

// Each adds its subcommand and sets `run` when it is chosen.
using Action = std::function<int()>;
void addCompile(CLI::App &app, Action &run);
void addRun(CLI::App &app, Action &run);
void addBench(CLI::App &app, Action &run);
void addTest(CLI::App &app, Action &run);
void addExplain(CLI::App &app, Action &run);
void addDump(CLI::App &app, Action &run);
void addPlanMemory(CLI::App &app, Action &run);
void addLater(CLI::App &app, Action &run);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_COMMAND_H
