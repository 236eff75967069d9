// SPDX-License-Identifier: Apache-2.0

#include "ObjectEmitter.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace dlc::codegen;

static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(Location loc, const TargetOptions &target) {
  initializeTarget();
  std::string error;
  llvm::Triple triple(target.triple);
  const llvm::Target *llvmTarget =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget) {
    emitError(loc, "expected a known target: ") << error;
    return nullptr;
  }
  return std::unique_ptr<llvm::TargetMachine>(llvmTarget->createTargetMachine(
      triple, "x86-64", target.featureString(), llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// The loops come vectorised and unrolled; what is left for LLVM is cleaning
/// up, hoisting and combining.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = true;
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

static LogicalResult emitFile(ModuleOp module, const TargetOptions &target,
                              llvm::CodeGenFileType type,
                              llvm::raw_pwrite_stream &stream) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "dlc-kernels");
  if (!llvmModule)
    return failure();
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(module.getLoc(), target);
  if (!machine)
    return failure();
  llvmModule->setTargetTriple(llvm::Triple(target.triple));
  llvmModule->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *llvmModule)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", "x86-64");
      function.addFnAttr("target-features", target.featureString());
      function.addFnAttr(llvm::Attribute::NoUnwind);
      if (target.vectorBytes() == 64)
        function.addFnAttr("prefer-vector-width", "512");
    }
  optimize(*llvmModule, *machine);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, type))
    return module.emitError("expected a target that can emit objects");
  codegen.run(*llvmModule);
  return success();
}

FailureOr<ObjectBuffer> dlc::codegen::emitObject(ModuleOp module,
                                                 const TargetOptions &target) {
  ObjectBuffer buffer;
  llvm::raw_svector_ostream stream(buffer);
  if (failed(
          emitFile(module, target, llvm::CodeGenFileType::ObjectFile, stream)))
    return failure();
  return buffer;
}

FailureOr<std::string> dlc::codegen::emitAssembly(ModuleOp module,
                                                  const TargetOptions &target) {
  ObjectBuffer buffer;
  llvm::raw_svector_ostream stream(buffer);
  if (failed(emitFile(module, target, llvm::CodeGenFileType::AssemblyFile,
                      stream)))
    return failure();
  return std::string(buffer.begin(), buffer.end());
}
