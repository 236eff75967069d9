// SPDX-License-Identifier: Apache-2.0
//
// The phases of the compiler and the passes that lead from one to the next.

#ifndef DLC_PIPELINE_PIPELINE_H
#define DLC_PIPELINE_PIPELINE_H

#include "dlc/KernelLibrary/GPULibraries.h"

#include "mlir/Pass/PassManager.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc::pipeline {

/// Named states of a module; each ends in a verifier.
enum class Phase {
  Import,   ///< As the front end made it.
  Graph,    ///< Types inferred, constants folded, simplified.
  Placed,   ///< Every operation has a device.
  Fused,    ///< Operations that share a kernel are grouped.
  Kernel,   ///< Every computation is a call of a kernel.
  Plan,     ///< Memory and order are decided.
  Codegen,  ///< Machine code exists.
  Artifact, ///< The file.
};

llvm::StringRef nameOf(Phase phase);
std::optional<Phase> phaseOf(llvm::StringRef name);
/// "import, graph, ..." for messages.
std::string phaseNames();

/// What graph-gradient differentiates by what: names of outputs and inputs, all
/// of floats where there are none, and inputs whose gradients are added to
/// given ones.
struct GradientOptions {
  std::vector<std::string> heads, wrt, add;
  /// The part that becomes the program (graph-split-gradient).
  enum class Part { Whole, Forward, Backward } part = Part::Whole;
  /// How many arguments and results the model has; a Compilation fills it in.
  unsigned arguments = 0, results = 0;
};

/// What results may differ by from those in exact arithmetic, relative to the
/// largest value of each operation's result.
enum class Precision {
  FP32,       ///< By 2e-5: algorithms with fewer operations are allowed.
  FP32Strict, ///< By 4e-6: sums of products are computed as such.
  /// By what rounding both operands of products to the nearest bfloat16 makes,
  /// 2^-8 of each, where the kernel library does so, and by 2^-9 of values that
  /// are kept so and read by others, too; the rest as FP32. On a GPU as TF32,
  /// but libraries may do so.
  BF16,
  /// By what rounding both operands of products to 10 bits makes, 2^-11 of
  /// each, on a GPU; the rest as FP32.
  TF32,
};

/// "fp32", "fp32-strict", "bf16" and "tf32".
std::optional<Precision> precisionOf(llvm::StringRef name);
llvm::StringRef nameOf(Precision precision);
/// "fp32, fp32-strict, bf16, tf32" for messages.
std::string precisionNames();

struct PipelineOptions {
  /// Branches the memory planner's search may expand for each arena.
  int64_t searchSteps = 20'000;
  /// Set to add gradients at the end of the graph phase.
  std::optional<GradientOptions> gradient;
  /// Devices of groups, like "head=cpu:1".
  std::vector<std::string> groups;
  /// Bytes that may be live at once, as graph-recompute models them; -1: none.
  int64_t recomputeBudget = -1;
  /// Without a budget nothing is computed again.
  bool keepsAll = false;
  Precision precision = Precision::FP32;
  /// Gradients of weights take channels as they are, which may take less
  /// memory.
  bool plainGradients = false;
  /// Parts of the batch that the largest values are computed in
  /// (graph-split-batch).
  int64_t batchParts = 1;
  /// No batch is computed in parts that caches hold.
  bool wholeBatches = false;
  /// Sizes of extents that the model leaves open, like "length=16|32"
  /// (graph-specialize-shapes).
  std::vector<std::string> extents;
  /// Without any: the usual ones of an extent that can be padded.
  bool hasUsualSizes = false;
  /// Examples that programs for a batch of any size compute at once
  /// (graph-specialize-batch); empty: what the model leaves open stays open;
  /// unset: the pass decides.
  std::optional<std::vector<int64_t>> batches;
  /// The device that runs what it has kernels for, like "cuda:0"; empty: all is
  /// on cpu:0, but for groups.
  std::string offload;
  library::GPULibraries gpuLibraries = library::GPULibraries::WhereFaster;
};

/// "auto", "always" and "never".
std::optional<library::GPULibraries> gpuLibrariesOf(llvm::StringRef name);

/// Appends the passes that bring a module of the phase before `phase` into
/// `phase`. Phases after Plan have no passes.
void addPhase(mlir::OpPassManager &manager, Phase phase,
              const PipelineOptions &options = {});

/// The steps of Phase::Fused: what is computed again, which part of a gradient
/// is kept, and what shares a kernel. Many budgets leave the same to the
/// others.
void addRecompute(mlir::OpPassManager &manager, const PipelineOptions &options);
void addSplit(mlir::OpPassManager &manager, const PipelineOptions &options);
void addFusion(mlir::OpPassManager &manager, const PipelineOptions &options);

/// Registers `dlc-to-PHASE` pipelines, which start from the import phase.
void registerPipelines();

} // namespace dlc::pipeline

#endif // DLC_PIPELINE_PIPELINE_H
