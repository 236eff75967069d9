// SPDX-License-Identifier: Apache-2.0

#ifndef DLC_LIB_COMPILER_STATE_H
#define DLC_LIB_COMPILER_STATE_H

#include "dlc/Artifact/Export.h"
#include "dlc/Codegen/CPU/Codegen.h"
#include "dlc/Codegen/NVPTX/Codegen.h"
#include "dlc/Compiler/Compiler.h"
#include "dlc/dialects/Plan/PlanDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/Timing.h"

#include <set>

namespace dlc {

/// What a compilation holds between its phases, and the steps it is made of.
struct Compilation::State {
  explicit State(CompileOptions options);
  ~State();
  void addMessage(mlir::Diagnostic &diagnostic);
  mlir::LogicalResult checkImport();
  mlir::LogicalResult checkRanks();
  mlir::LogicalResult checkShapes(const std::string &path);
  void noteGroups();
  void noteOpenExtents();
  mlir::LogicalResult checkGroups();
  using AddPasses = llvm::function_ref<void(mlir::OpPassManager &,
                                            const pipeline::PipelineOptions &)>;
  mlir::LogicalResult runPasses(Phase phase);
  mlir::LogicalResult runPasses(Phase phase, AddPasses add);
  bool takesUsualSizes() const;
  mlir::LogicalResult
  runGuarded(Phase phase, const std::string &passes,
             llvm::function_ref<mlir::LogicalResult()> work);
  /// False if nothing fits; `least` becomes the least bytes seen, if less.
  mlir::FailureOr<bool> tryBudget(int64_t budget, int64_t &least);
  mlir::FailureOr<bool> fitBudget(int64_t &least);
  mlir::FailureOr<bool> fitBudgetInParts(size_t whole, int64_t &least);
  mlir::LogicalResult fitBudgetSomehow();
  mlir::LogicalResult tryPlacing();
  mlir::LogicalResult placeAgain();
  mlir::FailureOr<int64_t> planArenas();
  mlir::FailureOr<int64_t> planPart(pipeline::GradientOptions::Part part);
  mlir::LogicalResult generateGPUCode();
  mlir::LogicalResult generateCode();
  void startRemarks();
  void startTuning();
  /// The time of a phase until the scope ends; of nothing without timing.
  mlir::TimingScope timeOf(Phase phase);
  void saveTimes();
  artifact::ExportInfo exportInfo() const;
  std::vector<ModelPort> ports(bool wantInputs);

  CompileOptions options;
  mlir::DefaultTimingManager times; ///< Printed at the end of the compilation.
  mlir::TimingScope total;
  std::set<std::string> groups; ///< Of the model as it was read.
  /// Names of what inputs leave open, and why that is not computed for sizes.
  std::vector<std::string> openExtents, whyOpen;
  TargetParts target;
  std::string messages;
  std::vector<frontend::Fault> faults;
  size_t unseenNodes = 0;
  bool hasFailed = false, isUnsupported = false;
  std::unique_ptr<tuning::Tuner> tuner; ///< Null without tuning.
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ModelPort> inputs, outputs;
  std::string modelName;
  Phase reached = Phase::Import;
  int64_t recomputeBudget = -1; ///< What graph-recompute is told.
  /// With a budget, what the graph phase began with, and what it was told:
  /// whether to leave gradients of weights plain, and in how many parts to
  /// compute the batch where it takes most.
  mlir::OwningOpRef<mlir::ModuleOp> imported;
  bool plainGradients = false;
  int64_t batchParts = 1;
  /// What graph-recompute left of the placed module, whether without a budget,
  /// and the bytes of its arenas. Of the way that is tried.
  struct Planned {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    bool isKept;
    int64_t bytes;
  };
  std::vector<Planned> planned;
  /// Under way is a plan that only its size is asked of: what is said of it,
  /// but for errors, is said again of the one that is taken.
  bool isTrial = false;
  std::vector<codegen::ObjectCode> code; ///< One for each target.
  std::vector<codegen::GPUCode> gpuCode; ///< One for each GPU.
};

/// The program that takes what no other one does; null without any.
plan::ProgramOp findProgramForAny(mlir::ModuleOp module);

} // namespace dlc

#endif // DLC_LIB_COMPILER_STATE_H
