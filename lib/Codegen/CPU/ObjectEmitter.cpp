// SPDX-License-Identifier: Apache-2.0

#include "ObjectEmitter.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Target/TargetMachine.h"

#include <map>
#include <mutex>
#include <optional>

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

CodeHash dlc::codegen::hashOf(llvm::StringRef code) {
  const llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(code));
  return {hash.low64, hash.high64};
}

//===----------------------------------------------------------------------===//
// Kernels that differ in numbers
//===----------------------------------------------------------------------===//

/// The f32 that `value` is, or all elements of which are; null for others.
static llvm::ConstantFP *numberIn(llvm::Value *value) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant || !constant->getType()->getScalarType()->isFloatTy())
    return nullptr;
  if (auto *number = llvm::dyn_cast<llvm::ConstantFP>(constant);
      number && !constant->getType()->isVectorTy())
    return number;
  return constant->getType()->isVectorTy()
             ? llvm::dyn_cast_or_null<llvm::ConstantFP>(
                   constant->getSplatValue())
             : nullptr;
}

/// The operands of `function` that are numbers, in their order.
static std::vector<llvm::Use *> usesOfNumbers(llvm::Function &function) {
  std::vector<llvm::Use *> uses;
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      for (llvm::Use &operand : instruction.operands())
        if (numberIn(operand))
          uses.push_back(&operand);
  return uses;
}

std::vector<uint32_t> LLVMKernel::numbers() const {
  std::vector<uint32_t> numbers;
  for (llvm::Use *use : usesOfNumbers(*function))
    numbers.push_back(static_cast<uint32_t>(
        numberIn(*use)->getValueAPF().bitcastToAPInt().getZExtValue()));
  return numbers;
}

CodeHash LLVMKernel::hashWithoutNumbers() {
  std::vector<std::pair<llvm::Use *, llvm::Value *>> numbers;
  for (llvm::Use *use : usesOfNumbers(*function)) {
    numbers.emplace_back(use, use->get());
    use->set(llvm::ConstantFP::get(use->get()->getType(), 1.0));
  }
  const std::string name = function->getName().str();
  function->setName("");
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, nullptr);
  function->setName(name);
  for (auto [use, value] : numbers)
    use->set(value);
  return hashOf(text);
}

/// A function with the body of `function` and one argument more.
static llvm::Function *withArgument(llvm::Function &function,
                                    llvm::Type *type) {
  llvm::SmallVector<llvm::Type *> types(function.getFunctionType()->params());
  types.push_back(type);
  auto *result = llvm::Function::Create(
      llvm::FunctionType::get(function.getReturnType(), types, false),
      llvm::GlobalValue::InternalLinkage, "", function.getParent());
  result->copyAttributesFrom(&function);
  result->addFnAttr(llvm::Attribute::NoInline);
  result->splice(result->begin(), &function);
  for (auto [old, argument] : llvm::zip(function.args(), result->args()))
    old.replaceAllUsesWith(&argument);
  return result;
}

/// Places of numbers that are not the same in all variants: of those that are
/// the same as each other in each of them, the number of the first in a table.
static std::vector<std::optional<size_t>>
placesInTable(llvm::ArrayRef<KernelVariant> variants, size_t &size) {
  std::map<std::vector<uint32_t>, size_t> known;
  std::vector<std::optional<size_t>> places;
  for (size_t i = 0; i != variants.front().numbers.size(); ++i) {
    std::vector<uint32_t> own;
    for (const KernelVariant &variant : variants)
      own.push_back(variant.numbers[i]);
    places.emplace_back();
    if (!llvm::all_equal(own))
      places.back() = known.try_emplace(own, known.size()).first->second;
  }
  size = known.size();
  return places;
}

void LLVMKernel::share(llvm::ArrayRef<KernelVariant> variants) {
  size_t count = 0;
  const auto places = placesInTable(variants, count);
  llvm::Type *pointer = llvm::PointerType::getUnqual(*context);
  llvm::Function *code = withArgument(*function, pointer);
  llvm::IRBuilder<> builder(*context);
  builder.SetInsertPoint(&code->getEntryBlock(),
                         code->getEntryBlock().getFirstInsertionPt());
  llvm::Value *table = code->getArg(code->arg_size() - 1);
  // Read at the beginning: in loops they would be read again.
  std::vector<llvm::Value *> read(count);
  llvm::DenseMap<std::pair<size_t, llvm::Type *>, llvm::Value *> vectors;
  for (auto [use, place] : llvm::zip_equal(usesOfNumbers(*code), places)) {
    if (!place)
      continue;
    llvm::Value *&number = read[*place];
    if (!number)
      number = builder.CreateLoad(builder.getFloatTy(),
                                  builder.CreateConstInBoundsGEP1_64(
                                      builder.getFloatTy(), table, *place));
    llvm::Type *type = use->get()->getType();
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    llvm::Value *&value = vectors[{*place, type}];
    if (!value)
      value = vector
                  ? builder.CreateVectorSplat(vector->getElementCount(), number)
                  : number;
    use->set(value);
  }
  for (const KernelVariant &variant : variants) {
    std::vector<uint32_t> numbers(count);
    for (auto [place, number] : llvm::zip_equal(places, variant.numbers))
      if (place)
        numbers[*place] = number;
    llvm::Constant *values = llvm::ConstantDataArray::get(*context, numbers);
    auto *own = new llvm::GlobalVariable(
        *module, values->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, values);
    own->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    llvm::Function *named = function;
    if (variant.name != function->getName()) {
      named = llvm::Function::Create(function->getFunctionType(),
                                     function->getLinkage(), variant.name,
                                     module.get());
      named->copyAttributesFrom(function);
    }
    builder.SetInsertPoint(llvm::BasicBlock::Create(*context, "", named));
    llvm::SmallVector<llvm::Value *> arguments;
    for (llvm::Argument &argument : named->args())
      arguments.push_back(&argument);
    arguments.push_back(own);
    llvm::CallInst *call = builder.CreateCall(code, arguments);
    call->setTailCall();
    if (named->getReturnType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(call);
  }
}

void LLVMKernel::addName(llvm::StringRef name, llvm::StringRef other) {
  llvm::GlobalAlias::create(other, module->getFunction(name));
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
