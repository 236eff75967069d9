// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of dlc and what they share. Nothing here knows the compiler,
// so that programs compiled before start without loading it.

#ifndef DLC_TOOLS_DLC_COMMAND_H
#define DLC_TOOLS_DLC_COMMAND_H

#include "CommandLine.h"
#include "Output.h"

#include "dlc/Frontend/MXNet/LayerHints.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/Executor/Program.h"
#include "dlc/runtime/IO/Numpy.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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

/// What loading a program, or making an execution, tells people, on stderr.
void printRemarks(const std::vector<std::string> &remarks);
/// Of a program that outlives it; prints its remarks.
std::unique_ptr<rt::Execution>
makeExecution(const rt::Program &program, const rt::ExecutionOptions &options);

template <typename T> T take(rt::Result<T> result) {
  if (!result.isOk())
    throw Failure{result.status().message()};
  return std::move(*result);
}

/// What "NAME=VALUE" has before and behind its last '='. Throws a Failure
/// (usage), that `expected` was, without '=' or a name.
std::pair<std::string, std::string> splitNamed(const std::string &text,
                                               const std::string &expected);

/// Options of every command that compiles.
struct ModelOptions {
  std::string path;
  std::string params;              ///< Values of parameters; "" for none.
  std::vector<std::string> layers; ///< "body.0=net0_dense1"
  bool guessesLayers = false;
  std::vector<std::string> shapes; ///< "data=1x3x224x224"
  std::vector<std::string> constants; ///< "sr=16000"
  std::vector<std::string> places; ///< "head=cpu:1"
  std::string target = "host";
  std::string precision = "fp32";
  std::string gpuLibraries = "auto";
  bool tunes = false;
  double tuneSeconds = 0;  ///< 0 where the user says nothing.
  std::string tuningCache; ///< "" for none, or the user's own where it tunes.
  unsigned threads = 0;
  bool remarks = false;
  bool timing = false;
  bool verifyNumerics = false;
  std::string memoryBudget;         ///< "512MiB"; "" for none.
  std::vector<std::string> extents; ///< "sequence=32,64".
  std::string batches;              ///< "1,4,16"; "" for the default.
  std::string reproducer;
  bool keepsAll = false; ///< Nothing is computed again.
  bool wholeBatches = false; ///< None is computed in parts.
  bool training = false; ///< Layers are those of training.
  /// Outputs whose gradients are given, all of floats where there are none;
  /// unset for a program without gradients.
  std::optional<std::vector<std::string>> heads;

  void add(Syntax &syntax, bool acceptsArtifact);
  /// What add() adds for parameters.
  void addParams(Syntax &syntax);
  void addConstants(Syntax &syntax);
  void addTraining(Syntax &syntax);
  /// `layers` by path; throws a Failure (usage) on malformed ones, and for
  /// hints without `params`.
  mxnet::LayerHints layerHints() const;
  /// `constants` by the name of the input; throws a Failure (usage) on
  /// malformed ones.
  std::map<std::string, double> inputConstants() const;
  /// `shapes` by the name of the input; throws a Failure (usage) on malformed
  /// ones.
  std::map<std::string, std::vector<int64_t>> inputShapes() const;
  /// `places` by the name of the group; throws a Failure (usage) on malformed
  /// ones.
  std::map<std::string, std::string> groupDevices() const;
  /// `batches`; nullopt for the default. Throws a Failure (usage).
  std::optional<std::vector<int64_t>> batchSizes() const;
  std::map<std::string, std::vector<int64_t>> extentSizes() const;
  /// "--extent none".
  bool hasNoExtents() const;
  /// Bytes of `memoryBudget`, 0 for none; throws a Failure (usage).
  int64_t budgetBytes() const;
  /// The file at `path` begins as an artifact does.
  bool isArtifact() const;

  /// The cache that `--tune` writes, as far as the user names it; "" for none.
  std::string tuningOutput() const { return tunes ? tuningCache : ""; }

  /// The first option on the command line that says how to compile, or null.
  std::function<const char *()> compileOption;
};

/// Thrown by commands that need the compiler where it is not linked in; main()
/// hands the whole command line to the program that has it.
struct NeedsCompiler {};

using rt::HostTensor;

/// Shapes with unknown dimensions may be one.
bool mayBe(const std::vector<int64_t> &shape,
           const std::vector<int64_t> &other);

/// Zeroed memory for a tensor of a static type.
HostTensor makeZeros(const rt::TensorType &type);

using NamedTensors = std::map<std::string, HostTensor>;

/// Where a command's input values come from.
struct InputOptions {
  std::vector<std::string> files; ///< "name=x.npy"
  std::string archive;            ///< "in.npz"
  bool random = false;
  uint64_t seed = 1;

  void add(Syntax &syntax);
  /// Values read from files; random ones are made by makeInputs().
  NamedTensors read() const;
  /// The file that read() has this value from.
  std::string fileOf(const std::string &name) const;
};

/// Inputs that have neither a value nor, for random ones, a shape: all of them
/// are said at once.
class MissingInputs {
public:
  /// Whether an input without a value is missing, which this keeps.
  bool add(const std::string &name, const rt::TensorType &type,
           const InputOptions &inputs);
  /// Throws if any is.
  void check(const ModelOptions &model) const;

private:
  std::vector<std::string> values, shapes;
  std::string options; ///< That would say the shapes.
};

/// A program and where it came from.
struct LoadedModel {
  rt::AlignedBuffer bytes; ///< What a program compiled here lives in.
  std::unique_ptr<rt::Program> program;
  double compileMs = 0, loadMs = 0;
  /// Of a program with gradients, those of the model, which come first.
  size_t inputs = 0, outputs = 0;
  /// Values of inputs that are parameters, where files have them.
  NamedTensors parameters;
  /// Names of values that a network of MXNet does not read: labels.
  std::vector<std::string> unread;
};

/// The files that a command reads.
std::vector<UsedFile> filesRead(const ModelOptions &model,
                                const InputOptions &inputs);

/// Loads `options.path` when it is an artifact, by its content or its suffix
/// .dlc, else compiles it. Takes labels out of the values, with a note: files
/// of examples have them, and inference does not read them.
LoadedModel loadModel(const ModelOptions &options, const InputOptions &inputs,
                      NamedTensors &values);

/// Compiles `options.path` in memory. Shapes of `values`, which `inputs` gave,
/// specialise inputs whose dimensions are not known. Without the compiler:
/// throws NeedsCompiler.
LoadedModel compileModel(const ModelOptions &options,
                         const InputOptions &inputs,
                         const NamedTensors &values);

/// One tensor for each input of the program, in order, out of `values`, or
/// random where `inputs.random` allows it, in the shapes that `model` asks for;
/// the state of random numbers is `inputs.seed` where `values` have none.
/// Values for a network of MXNet get the elements of the input's type. Throws
/// when a name is unknown, a shape does not fit, or a value is missing.
std::vector<HostTensor> makeInputs(const rt::Program &program,
                                   const ModelOptions &model,
                                   const InputOptions &inputs,
                                   NamedTensors values);

/// Milliseconds on the monotonic clock.
double now();

// Each adds its command.
void addCompile(CommandLine &line);
void addRun(CommandLine &line);
void addBench(CommandLine &line);
void addTest(CommandLine &line);
void addTrain(CommandLine &line);
void addExplain(CommandLine &line);
void addDump(CommandLine &line);
void addPlanMemory(CommandLine &line);
void addExport(CommandLine &line);
void addImportReport(CommandLine &line);

/// Runs the program that has the compiler with this command line; returns only
/// to say that it cannot.
int delegate(char **argv);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_COMMAND_H
