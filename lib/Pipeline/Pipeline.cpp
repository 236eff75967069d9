// SPDX-License-Identifier: Apache-2.0

#include "dlc/Pipeline/Pipeline.h"
#include "dlc/passes/Conversion/Passes.h"
#include "dlc/passes/Graph/Passes.h"
#include "dlc/passes/Plan/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::pipeline;

static constexpr llvm::StringLiteral phaseTable[] = {
    "import", "graph", "placed",  "fused",
    "kernel", "plan",  "codegen", "artifact"};

StringRef dlc::pipeline::nameOf(Phase phase) {
  return phaseTable[static_cast<size_t>(phase)];
}

std::optional<Phase> dlc::pipeline::phaseOf(StringRef name) {
  for (auto [i, known] : llvm::enumerate(phaseTable))
    if (known == name)
      return static_cast<Phase>(i);
  return std::nullopt;
}

std::string dlc::pipeline::phaseNames() {
  // Code has no text.
  return llvm::join(llvm::make_filter_range(phaseTable,
                                            [](StringRef name) {
                                              return name !=
                                                     nameOf(Phase::Codegen);
                                            }),
                    ", ");
}

static constexpr llvm::StringLiteral precisionTable[] = {"fp32", "fp32-strict",
                                                         "bf16", "tf32"};

std::optional<Precision> dlc::pipeline::precisionOf(StringRef name) {
  for (auto [i, known] : llvm::enumerate(precisionTable))
    if (known == name)
      return static_cast<Precision>(i);
  return std::nullopt;
}

StringRef dlc::pipeline::nameOf(Precision precision) {
  return precisionTable[static_cast<size_t>(precision)];
}

std::string dlc::pipeline::precisionNames() {
  return llvm::join(ArrayRef(precisionTable), ", ");
}

std::optional<library::GPULibraries>
dlc::pipeline::gpuLibrariesOf(StringRef name) {
  using enum library::GPULibraries;
  return llvm::StringSwitch<std::optional<library::GPULibraries>>(name)
      .Case("auto", WhereFaster)
      .Case("always", Always)
      .Case("never", Never)
      .Default(std::nullopt);
}

static void addVerifier(OpPassManager &manager, graph::VerifiedPhase phase) {
  manager.nest<func::FuncOp>().addPass(graph::createVerifyPass({phase}));
}

/// With `isOfHost` alone there are integers in the place of floats: other
/// devices have faster products of these, and gradients are of these.
static void addGraphPhase(OpPassManager &manager, bool isOfHost) {
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(graph::createInferTypesPass());
  function.addPass(createCanonicalizerPass());
  if (isOfHost) {
    function.addPass(graph::createHoistQuantizationPass());
    function.addPass(graph::createMultiplyIntegersPass());
  }
  function.addPass(graph::createFoldConstantsPass());
  function.addPass(graph::createAlterLayoutPass());
  function.addPass(graph::createFoldConstantsPass());
  function.addPass(graph::createSimplifyInferencePass());
  function.addPass(graph::createMergeBranchesPass());
  function.addPass(createCanonicalizerPass());
  function.addPass(createCSEPass());
  function.addPass(graph::createFoldConstantsPass());
  function.addPass(graph::createInferTypesPass());
}

/// Bfloat16 that products take for a float, as convert-kernel-to-call has them.
static int64_t partsOf(const PipelineOptions &options) {
  constexpr int64_t rounded = 1, exact = 3;
  return options.precision == Precision::BF16 ? rounded : exact;
}

static conversion::ConvertKernelToCallPassOptions
callOptions(const PipelineOptions &options) {
  const bool isStrict = options.precision == Precision::FP32Strict;
  return {isStrict, partsOf(options),
          isStrict ? library::GPULibraries::Never : options.gpuLibraries,
          options.precision == Precision::BF16   ? "bf16"
          : options.precision == Precision::TF32 ? "tf32"
                                                 : ""};
}

/// Channels of a block of the CPU library's convolutions, and of those that are
/// generated for GPUs: 16 bytes of short floats.
static constexpr int64_t kChannelBlock = 16, kGeneratedChannelBlock = 8;

/// After everything that looks for convolutions and what is around them in
/// plain form: gradients, batch normalisations.
static void addBlocks(OpPassManager &manager, const PipelineOptions &pipeline) {
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(graph::createDecomposePass());
  function.addPass(graph::createFoldConstantsPass());
  function.addPass(graph::createWidenShortFloatsPass({pipeline.offload}));
  function.addPass(graph::createFoldConstantsPass()); // Of weights.
  graph::SplitBatchPassOptions split;
  split.parts = pipeline.batchParts;
  function.addPass(graph::createSplitBatchPass(split));
  if (!pipeline.offload.empty()) {
    function.addPass(graph::createMergeProductsPass());
    function.addPass(graph::createPadChannelsPass(
        {kGeneratedChannelBlock, /*isBetween=*/false}));
    function.addPass(graph::createFoldConstantsPass());
  } else if (pipeline.precision == Precision::BF16) {
    // Tiles hardly take longer for them; floats do, and may be infinite.
    function.addPass(
        graph::createPadChannelsPass({kChannelBlock, /*isBetween=*/true}));
    function.addPass(graph::createFoldConstantsPass());
  }
  graph::AlterLayoutPassOptions options;
  options.isGenerated = !pipeline.offload.empty();
  // The libraries of GPUs want channels last.
  options.channelBlock =
      !options.isGenerated ? kChannelBlock
      : pipeline.gpuLibraries == library::GPULibraries::Always
          ? graph::kAllChannels
          : kGeneratedChannelBlock;
  options.asksLibraries =
      options.isGenerated &&
      pipeline.gpuLibraries == library::GPULibraries::WhereFaster &&
      pipeline.precision != Precision::FP32Strict;
  options.isStrict = pipeline.precision == Precision::FP32Strict;
  options.bf16Parts = partsOf(pipeline);
  options.plainGradients = pipeline.plainGradients;
  function.addPass(graph::createAlterLayoutPass(options));
  function.addPass(graph::createFoldConstantsPass());
  function.addPass(createCanonicalizerPass());
  if (options.isGenerated || pipeline.gradient || pipeline.wholeBatches)
    return;
  split.parts = 0;
  split.isStrict = options.isStrict;
  split.bf16Parts = options.bf16Parts;
  function.addPass(graph::createSplitBatchPass(split));
}

static void placeDevices(OpPassManager &manager, ArrayRef<std::string> groups,
                         bool isOfGroups = false) {
  graph::PlaceDevicesPassOptions placing;
  placing.groups.assign(groups.begin(), groups.end());
  placing.isOfGroups = isOfGroups;
  manager.nest<func::FuncOp>().addPass(graph::createPlaceDevicesPass(placing));
}

/// The main function of a module of the graph phase gets its gradient, of which
/// addSplit() keeps a part. What gradients are made of is simplified like the
/// rest.
static void addGradient(OpPassManager &manager,
                        const GradientOptions &options) {
  graph::GradientPassOptions pass;
  pass.heads.assign(options.heads.begin(), options.heads.end());
  pass.wrt.assign(options.wrt.begin(), options.wrt.end());
  pass.add.assign(options.add.begin(), options.add.end());
  manager.nest<func::FuncOp>().addPass(graph::createGradientPass(pass));
  addGraphPhase(manager, /*isOfHost=*/false);
}

/// Values as large as the largest that a kernel with repetitions may touch: all
/// of that is live at once. The gradients of resnet50_v1 at batch 32 (those of
/// tools/benchmarks/memory.py, graph-recompute{budget=0}, this and planning)
/// need 800, 797, 797, 848, 848 and 1060 MB with 3, 4, 5, 6, 8 and 12; they are
/// 586 launches with 5, and 631 with 4.
static constexpr int64_t kRepeatedValues = 5;

void dlc::pipeline::addRecompute(OpPassManager &manager,
                                 const PipelineOptions &options) {
  manager.nest<func::FuncOp>().addPass(graph::createResolveIndicesPass());
  manager.addPass(createCSEPass());
  if (!options.keepsAll || options.recomputeBudget >= 0)
    manager.nest<func::FuncOp>().addPass(
        graph::createRecomputePass({options.recomputeBudget}));
}

/// Behind what decides for both parts what is kept: only that is handed on.
void dlc::pipeline::addSplit(OpPassManager &manager,
                             const PipelineOptions &options) {
  if (!options.gradient ||
      options.gradient->part == GradientOptions::Part::Whole)
    return;
  graph::SplitGradientPassOptions split;
  split.part = options.gradient->part == GradientOptions::Part::Forward
                   ? graph::GradientPart::Forward
                   : graph::GradientPart::Backward;
  split.arguments = options.gradient->arguments;
  split.results = options.gradient->results;
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(graph::createSplitGradientPass(split));
  if (!options.offload.empty()) // What is handed on is in memory of the host.
    function.addPass(graph::createInsertCopiesPass());
}

void dlc::pipeline::addFusion(OpPassManager &manager,
                              const PipelineOptions &options) {
  // Each convolution turns its weights back itself: nothing merges these now.
  if (!options.offload.empty())
    manager.nest<func::FuncOp>().addPass(graph::createArrangeWeightsPass());
  manager.nest<func::FuncOp>().addPass(graph::createFuseOperatorsPass(
      {options.recomputeBudget < 0 ? 0 : kRepeatedValues}));
  addVerifier(manager, graph::VerifiedPhase::Fused);
}

void dlc::pipeline::addPhase(OpPassManager &manager, Phase phase,
                             const PipelineOptions &options) {
  const bool isOfHost = !options.gradient && options.offload.empty();
  switch (phase) {
  case Phase::Codegen:
  case Phase::Artifact:
    return;
  case Phase::Import:
    return addVerifier(manager, graph::VerifiedPhase::Import);
  case Phase::Graph:
    addGraphPhase(manager, isOfHost);
    // Of weights once for all sizes. A GPU computes short floats of known ones.
    if (isOfHost) {
      OpPassManager &function = manager.nest<func::FuncOp>();
      function.addPass(graph::createWidenShortFloatsPass());
      function.addPass(graph::createFoldConstantsPass());
    }
    if (!options.extents.empty() || options.hasUsualSizes) {
      graph::SpecializeShapesPassOptions shapes;
      shapes.usual = options.hasUsualSizes;
      shapes.byRows = !options.batches || !options.batches->empty();
      if (options.batches)
        shapes.batches.assign(options.batches->begin(), options.batches->end());
      shapes.extents.assign(options.extents.begin(), options.extents.end());
      manager.addPass(graph::createSpecializeShapesPass(shapes));
      addGraphPhase(manager, isOfHost);
    }
    if (!options.gradient && (!options.batches || !options.batches->empty())) {
      // Weights have been folded once for all sizes.
      graph::SpecializeBatchPassOptions batch;
      if (options.batches)
        batch.sizes.assign(options.batches->begin(), options.batches->end());
      manager.addPass(graph::createSpecializeBatchPass(batch));
      addGraphPhase(manager, isOfHost);
    }
    if (options.gradient) {
      // The way back stays where the way there is. Where the rest goes decides
      // graph-offload-operations, if it is to go anywhere.
      placeDevices(manager, options.groups, !options.offload.empty());
      addGradient(manager, *options.gradient);
    }
    addBlocks(manager, options);
    return addVerifier(manager, graph::VerifiedPhase::Graph);
  case Phase::Placed:
    if (!options.offload.empty()) {
      OpPassManager &function = manager.nest<func::FuncOp>();
      function.addPass(graph::createResolveIndicesPass());
      graph::OffloadOperationsPassOptions offload;
      offload.device = options.offload;
      offload.groups.assign(options.groups.begin(), options.groups.end());
      function.addPass(graph::createOffloadOperationsPass(offload));
      function.addPass(graph::createFoldConstantsPass()); // Of parts.
    }
    // With gradients, groups got their devices in the graph phase.
    placeDevices(manager, options.gradient
                              ? ArrayRef<std::string>()
                              : ArrayRef<std::string>(options.groups));
    manager.nest<func::FuncOp>().addPass(graph::createInsertCopiesPass());
    return addVerifier(manager, graph::VerifiedPhase::Placed);
  case Phase::Fused:
    addRecompute(manager, options);
    addSplit(manager, options);
    return addFusion(manager, options);
  case Phase::Kernel:
    manager.addPass(conversion::createConvertGraphToKernelPass());
    manager.addPass(
        conversion::createConvertKernelToCallPass(callOptions(options)));
    if (options.precision == Precision::BF16)
      manager.addPass(conversion::createNarrowValuesPass());
    manager.addPass(conversion::createConvertKernelToLinalgPass());
    manager.addPass(conversion::createVerifyKernelPass());
    return;
  case Phase::Plan: {
    manager.addPass(conversion::createConvertGraphToPlanPass());
    OpPassManager &program = manager.nest<plan::ProgramOp>();
    program.addPass(plan::createScheduleLaunchesPass());
    plan::PackArenasPassOptions packing;
    packing.searchSteps = options.searchSteps;
    program.addPass(plan::createPackArenasPass(packing));
    program.addPass(plan::createVerifyPlanPass());
    return;
  }
  }
}

void dlc::pipeline::registerPipelines() {
  static constexpr Phase ends[] = {Phase::Import, Phase::Graph,  Phase::Placed,
                                   Phase::Fused,  Phase::Kernel, Phase::Plan};
  for (Phase end : ends) {
    std::string name = "dlc-to-" + nameOf(end).str();
    std::string summary =
        "From the import phase to the " + nameOf(end).str() + " phase";
    PassPipelineRegistration<>(name, summary, [end](OpPassManager &manager) {
      for (int phase = 0; phase <= static_cast<int>(end); ++phase)
        addPhase(manager, static_cast<Phase>(phase));
    });
  }
}
