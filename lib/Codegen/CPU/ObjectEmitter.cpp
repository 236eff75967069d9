// SPDX-License-Identifier: Apache-2.0

#include "ObjectEmitter.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
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

FailureOr<LLVMKernel>
dlc::codegen::translateKernel(ModuleOp module, const TargetOptions &target) {
  LLVMKernel kernel;
  kernel.context = std::make_unique<llvm::LLVMContext>();
  kernel.module =
      translateModuleToLLVMIR(module, *kernel.context, "dlc-kernels");
  if (!kernel.module)
    return failure();
  kernel.machine = createMachine(module.getLoc(), target);
  if (!kernel.machine)
    return failure();
  kernel.module->setTargetTriple(llvm::Triple(target.triple));
  kernel.module->setDataLayout(kernel.machine->createDataLayout());
  for (llvm::Function &function : *kernel.module)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", "x86-64");
      function.addFnAttr("target-features", target.featureString());
      function.addFnAttr(llvm::Attribute::NoUnwind);
      if (target.vectorBytes() == 64)
        function.addFnAttr("prefer-vector-width", "512");
      kernel.function = &function;
    }
  return kernel;
}

CodeHash LLVMKernel::hash() {
  const std::string name = function->getName().str();
  function->setName("");
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, nullptr);
  function->setName(name);
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
      {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  return {hash.low64, hash.high64};
}

void LLVMKernel::addName(llvm::StringRef name) {
  llvm::GlobalAlias::create(name, function);
}

ObjectBuffer dlc::codegen::emitObject(LLVMKernel kernel) {
  optimize(*kernel.module, *kernel.machine);
  ObjectBuffer buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager codegen;
  // The only reason to refuse is a target that cannot make objects; ours can.
  if (kernel.machine->addPassesToEmitFile(codegen, stream, nullptr,
                                          llvm::CodeGenFileType::ObjectFile))
    llvm_unreachable("x86 makes objects");
  codegen.run(*kernel.module);
  return buffer;
}
