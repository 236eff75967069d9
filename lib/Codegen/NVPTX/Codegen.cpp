// SPDX-License-Identifier: Apache-2.0

#include "dlc/Codegen/NVPTX/Codegen.h"

#include "../Common/LowerToLLVM.h"
#include "KernelEmitter.h"

#include "dlc/Codegen/CPU/Codegen.h"
#include "dlc/dialects/Kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// Indices are 64 bits wide and mostly small: a GPU has no units for such wide
/// ones. What they may be is known from the extents of loops and of blocks.
static LogicalResult narrowIndices(ModuleOp module) {
  PassManager manager(module.getContext());
  arith::ArithIntRangeNarrowingOptions options;
  options.bitwidthsSupported = {32};
  manager.addPass(arith::createArithIntRangeNarrowing(options));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  return manager.run(module);
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(Location loc, const GPUTarget &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *known = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!known) {
    emitError(loc, "expected a known target: ") << error;
    return nullptr;
  }
  return std::unique_ptr<llvm::TargetMachine>(known->createTargetMachine(
      triple, target.name, target.feature, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Default));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

static FailureOr<std::string> emitPtx(ModuleOp module,
                                      const GPUTarget &target) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, "dlc-kernels");
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(module.getLoc(), target);
  if (!translated || !machine)
    return failure();
  translated->setTargetTriple(llvm::Triple(kTriple));
  translated->setDataLayout(machine->createDataLayout());
  for (const llvm::Function &function : *translated)
    if (function.isDeclaration() && !function.isIntrinsic())
      return module.emitError("unsupported: a GPU has no function ")
             << function.getName();
  optimize(*translated, *machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    llvm_unreachable("NVPTX makes text");
  passes.run(*translated);
  return text.str().str();
}

FailureOr<GPUCode> dlc::codegen::compileGPUKernels(ModuleOp module,
                                                   const GPUTarget &target) {
  GPUCode code;
  code.name = target.name;
  DialectRegistry registry;
  registerCodegenDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
  OpBuilder builder(kernels->getBodyRegion());
  gpu::declareShared(builder, module.getLoc());
  for (auto function : module.getOps<kernel::FuncOp>()) {
    if (!kernel::isForGPU(function))
      continue;
    builder.setInsertionPointToEnd(kernels->getBody());
    FailureOr<GPUGrid> grid = gpu::emitKernel(
        builder, cast<FunctionOpInterface>(function.getOperation()), target);
    if (failed(grid))
      return failure();
    code.grids[function.getSymName().str()] = *grid;
  }
  if (code.grids.empty())
    return code;
  if (failed(narrowIndices(*kernels)) ||
      failed(LLVMLowering(kernels->getContext()).run(*kernels)))
    return failure();
  FailureOr<std::string> ptx = emitPtx(*kernels, target);
  if (failed(ptx))
    return failure();
  code.ptx = std::move(*ptx);
  if (std::string ptxas = findPtxas(); !ptxas.empty()) {
    FailureOr<std::string> cubin =
        assemble(module.getLoc(), code.ptx, target, ptxas);
    if (failed(cubin))
      return failure();
    code.cubin = std::move(*cubin);
  }
  return code;
}
