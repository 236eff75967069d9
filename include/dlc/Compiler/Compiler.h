// SPDX-License-Identifier: Apache-2.0
//
// The C++ embedding API of the compiler: a model in, IR at any phase or a
// compiled program out.

#ifndef DLC_COMPILER_COMPILER_H
#define DLC_COMPILER_COMPILER_H

#include "dlc/Frontend/Faults.h"
#include "dlc/Frontend/MXNet/LayerHints.h"
#include "dlc/Pipeline/Pipeline.h"
#include "dlc/Training/Options.h"
#include "dlc/Tuning/Tuner.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Tensor.h"

#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlc {

namespace symbol {
class Symbol;
struct LoweringOptions;
} // namespace symbol

using pipeline::Phase;

/// The most examples that a program for a batch of any size computes at once.
inline constexpr int64_t mostBatch = 65536;
/// Whether these can be CompileOptions::batches.
bool areBatches(llvm::ArrayRef<int64_t> batches);
/// Whether these can be the sizes of one of CompileOptions::extents.
bool isExtent(llvm::ArrayRef<int64_t> sizes);

struct CompileOptions {
  /// Shapes of inputs by name. They fill in the dimensions that the model
  /// leaves open and must agree with those that it declares; -1 says nothing.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Inputs of an ONNX model that always are this number, in all of their
  /// elements; the program has none of them. Their shapes are known.
  std::map<std::string, double> constants;
  /// Sizes of extents that the model leaves open, by their names, or that of an
  /// input and the number of the extent in it, "x.2": at least one of each,
  /// from 1 up and each once. There is a program for each combination, 1024 at
  /// most, and a run takes the one that its inputs fit, or the next larger one
  /// of a model that can be padded. With gradients, or state that runs leave to
  /// each other, one size of each.
  std::map<std::string, std::vector<int64_t>> extents;
  /// Without `extents`: where a model leaves one open beside the batch, and can
  /// be padded, it has programs for the usual lengths of sequences, up to 512,
  /// and one for any. Not on a GPU, nor with parameters as inputs.
  bool hasUsualSizes = true;
  /// Values of parameters (.params): those of an MXNet network, or in place of
  /// those that an ONNX model's file has (onnx::ImportOptions::params); empty
  /// for none.
  std::string params;
  mxnet::LayerHints layers; ///< Of an MXNet network's `params`.
  /// `params` may lack parameters of an ONNX model.
  bool takesSomeParams = false;
  /// Parameters are inputs of the program instead of constants in it;
  /// `initialValues` has what the model's file and `params` say of them.
  bool keepsParameters = false;
  /// The semantics of training: batch statistics, dropout, the gradients of
  /// layers that are losses. Implies keepsParameters.
  bool isTraining = false;
  /// Where the model leaves the size of the batch open, and nothing else, the
  /// program is made of some for these numbers of examples, ascending from 1,
  /// which compute a batch of any size one after the other. Empty: it computes
  /// with the size as it comes, slowly. Unset: for 1, 4 and 16, and for more as
  /// long as reading weights takes much of the time.
  std::optional<std::vector<int64_t>> batches;
  /// The devices of groups of operations (ctx_group of MXNet's symbols), like
  /// "cpu:1". Without any, all is on cpu:0; with some, each group of the
  /// model needs one, and no other gets one.
  std::map<std::string, std::string> groups;
  /// host, x86-64, x86-64-v2, x86-64-v3 or x86-64-v4, or several of them with
  /// commas: kernels are generated for each, and a machine runs the best of
  /// those that it can run. With GPUs like cuda:sm_90 among them, or alone,
  /// cuda:0 runs what it has kernels for, by the newest code that it can run.
  std::string target = "host";
  pipeline::Precision precision = pipeline::Precision::FP32;
  library::GPULibraries gpuLibraries = library::GPULibraries::WhereFaster;
  /// Layouts and algorithms are chosen by a model of what library calls take,
  /// or by their times on this machine where these are known.
  struct Tuning {
    /// A file of known times (dlc/Tuning/Table.h), which gets what is measured;
    /// empty for none. One that cannot be read is left out with a warning.
    std::string cache;
    /// How long calls may be measured; 0: none is. Asks for the target host.
    double seconds = 0;
  } tuning;
  /// Threads that generate code; 0 means one per processor.
  unsigned threads = 0;
  /// Branches the memory planner's search may expand for each arena.
  int64_t searchSteps = 20'000;
  /// Set for a program that computes gradients, too: it has one more input for
  /// each output differentiated, its gradient, and one more output for each
  /// input differentiated by, in their order, behind those of the model.
  std::optional<pipeline::GradientOptions> gradient;
  /// Bytes that all arenas together may have; 0 for no limit. What does not fit
  /// is computed again instead of kept. A model that needs more is refused with
  /// the smallest budget that it can be compiled for.
  int64_t memoryBudget = 0;
  /// Programs with gradients compute cheap operations again where that saves
  /// memory; with this, and without a budget, they keep everything.
  bool keepsAll = false;
  /// Batches are computed whole, also where caches do not hold their values; a
  /// memory budget may still want them in parts.
  bool wholeBatches = false;
  /// Where a failing phase leaves a reproducer for dlc-opt; empty for none.
  std::string reproducer;
  /// For programs that are a compiler and nothing else, because it takes over
  /// the process's handlers of fatal signals: a crash in a phase is a failure
  /// of it, and a crash or a failure behind the placed phase, where the model
  /// has been accepted and the fault is the compiler's, leaves a reproducer
  /// among the temporary files when `reproducer` names no other.
  bool guard = false;
  /// Told of each remark ("category: model.onnx: node 'Conv_1': text"), which
  /// is one line; null drops them.
  std::function<void(const std::string &)> onRemark;
  /// Told of each phase as it begins; null for none.
  std::function<void(Phase)> onPhase;
  /// Fails where a pass over Graph operations changes what they compute
  /// (createNumericsVerifier). Slow: every pass runs the model twice, in
  /// portable code.
  bool verifyNumerics = false;
  /// Prints the time that each pass took to stderr.
  bool timing = false;
};

/// An input or output of a model.
struct ModelPort {
  std::string name;
  rt::TensorType type;
  bool isRandomState = false; ///< Of random numbers that the model draws.
};

/// What a model's file says of an input that keepsParameters made.
struct InitialValue {
  std::string name;
  rt::TensorType type;
  std::vector<std::byte> bytes;
  bool isFixed = false; ///< No other may take its place.
};

/// The launches of a program.
struct LaunchCounts {
  size_t all = 0;
  /// Those of Reference kernels, which are slow, by operator ("resize").
  std::map<std::string, size_t> byReferenceKernel;
  /// Those of shapes that are found while running, for which a library's call is
  /// made ready then, where it takes them.
  std::map<std::string, size_t> byLibraryOfShapes;
};

/// A target: the part for the host ("host" where it says nothing of it) and the
/// one for a GPU, which may be empty.
struct TargetParts {
  std::string host = "host", gpu = {};
};
/// Takes CompileOptions::target apart; neither part is known to be one.
TargetParts splitTarget(llvm::StringRef target);
/// What is wrong with a target; empty when it can be compiled for.
std::string checkTarget(llvm::StringRef target);

/// One model on its way through the compiler. Not thread-safe; several
/// compilations may run at once in different threads.
class Compilation {
public:
  explicit Compilation(CompileOptions options = {});
  ~Compilation();

  /// Reads an .onnx file, an MXNet network (-symbol.json) or Graph text
  /// (.mlir).
  llvm::LogicalResult import(const std::string &path);
  /// Takes a symbol, with the parameters that the options name; `name` stands
  /// for the model in messages.
  llvm::LogicalResult import(const symbol::Symbol &symbol,
                             const std::string &name);
  /// Takes a symbol as `lowering` says, which has all that it needs: the
  /// options' shapes and parameters are not looked at.
  llvm::LogicalResult import(const symbol::Symbol &symbol,
                             const symbol::LoweringOptions &lowering);
  /// Reads an ONNX model in memory, which must outlive the compilation.
  llvm::LogicalResult importOnnx(llvm::StringRef bytes,
                                 const std::string &name);

  /// Inputs and outputs of the model, after import(); from Phase::Graph on with
  /// the sizes of CompileOptions::extents that there is one of.
  std::vector<ModelPort> inputs() const;
  std::vector<ModelPort> outputs() const;

  /// After import() with `keepsParameters`, in the order of inputs().
  std::vector<InitialValue> initialValues() const;

  /// After import() with `isTraining`, before any later phase: makes the
  /// program one step of training. Inputs and outputs are then those of the
  /// step.
  llvm::FailureOr<training::Step>
  buildTrainingStep(const training::StepOptions &options);

  /// How many library calls had to be compared, from Phase::Kernel on, and
  /// were by time; all 0 without tuning.
  tuning::Tuner::Counts tunedCalls() const;

  /// Of a program for a batch of any size, from Phase::Graph on: the numbers of
  /// examples that are computed at once. Empty for others. Of several shapes,
  /// those of the first.
  std::vector<int64_t> batches() const;

  /// For how many shapes there are programs, from Phase::Graph on; 1 for one
  /// that runs by itself.
  size_t shapes() const;

  /// Whether one of them takes what fits no other, slowly; from Phase::Plan on.
  bool takesOtherShapes() const;

  /// Then, the largest size of the extent that the others have programs for.
  int64_t largestSize() const;
  /// Then, the only size of another extent that they have programs for.
  std::optional<int64_t> onlySize() const;
  /// The names of extents that inputs of the model leave open, each once, as
  /// `CompileOptions::extents` takes them.
  const std::vector<std::string> &openExtents() const;
  /// Why the compiler made no programs of sizes for them, a sentence each.
  const std::vector<std::string> &whyOpen() const;

  /// Which of the extents that have several sizes may also be smaller than in
  /// the programs for these, from Phase::Plan on.
  enum class SmallerSizes { None, OfSome, OfAll };
  SmallerSizes smallerSizes() const;

  /// Whether something runs, from Phase::Plan on, whose inputs have open shapes:
  /// slowly. Not what takesOtherShapes() tells of.
  bool leavesOpen() const;

  /// What the program launches, from Phase::Plan on; nothing before. Without
  /// what takesOtherShapes() tells of.
  LaunchCounts launches() const;

  /// Brings the module up to `phase`, at most Phase::Codegen. A phase that was
  /// passed already is no work.
  llvm::LogicalResult runTo(Phase phase);

  /// The module as text; large constants are elided unless asked for, and so
  /// are locations, which have the names of the model's nodes.
  void print(llvm::raw_ostream &os, bool withConstants = false,
             bool withLocations = false) const;

  /// After import(), before any later phase: the model as the bytes of an ONNX
  /// model of that opset, or of the oldest one that has what it needs where it
  /// is 0 (dlc/Export/ONNX/Export.h).
  llvm::FailureOr<std::string> toOnnx(int64_t opset);

  /// Compiles to the end and writes the program, whole or not at all.
  llvm::LogicalResult write(const std::string &path);
  /// Compiles to the end; the bytes of the file.
  llvm::FailureOr<rt::AlignedBuffer> toMemory();

  /// The messages of all failures and warnings so far, one a line.
  const std::string &messages() const;
  /// The errors so far, one by one: after import(), all that it cannot import.
  const std::vector<frontend::Fault> &faults() const;
  /// Nodes behind these, of which only the operators were looked at.
  size_t unseenNodes() const;
  /// The first failure was that the model is well formed and needs what DLC
  /// does not support.
  bool isUnsupported() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace dlc

#endif // DLC_COMPILER_COMPILER_H
