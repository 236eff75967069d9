// SPDX-License-Identifier: Apache-2.0

#include "dlc/Codegen/CPU/Codegen.h"

#include "../Common/LowerToLLVM.h"
#include "KernelEmitter.h"
#include "ObjectEmitter.h"
#include "Parallel.h"

#include "dlc/dialects/Kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <map>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {
/// Tells kernels apart before they are lowered, which takes longer than to emit
/// them. Attributes and types are unique in a context: their addresses do.
class EmittedCode {
public:
  /// Of the function `kernel` and what it needs.
  EmittedCode(ModuleOp module, StringRef kernel);
  /// The same for kernels that differ in their names alone.
  CodeHash hash() const { return hashOf(text); }

private:
  void add(Operation &op);
  void add(const void *unique) {
    text.append(reinterpret_cast<const char *>(&unique), sizeof(unique));
  }
  void addNumber(const void *of) {
    const size_t next = numbers.size();
    text += std::to_string(numbers.try_emplace(of, next).first->second) + ' ';
  }

  NamedAttribute kernelName;
  std::string text;
  llvm::DenseMap<const void *, size_t> numbers; ///< Of values and blocks.
};

/// What one code computes.
struct Shared {
  std::vector<KernelVariant> variants;
  std::vector<std::pair<std::string, std::string>> names; ///< First, another.
};
} // namespace

EmittedCode::EmittedCode(ModuleOp module, StringRef kernel)
    : kernelName(SymbolTable::getSymbolAttrName(),
                 StringAttr::get(module.getContext(), kernel)) {
  for (Operation &op : *module.getBody())
    add(op);
}

void EmittedCode::add(Operation &op) {
  add(op.getName().getAsOpaquePointer());
  for (NamedAttribute attribute : op.getAttrDictionary())
    if (attribute != kernelName) {
      add(attribute.getName().getAsOpaquePointer());
      add(attribute.getValue().getAsOpaquePointer());
    }
  // Flags of instructions are no attributes.
  text += std::to_string(static_cast<size_t>(op.hashProperties()));
  text += '<';
  for (Value operand : op.getOperands())
    addNumber(operand.getAsOpaquePointer());
  for (Block *successor : op.getSuccessors())
    addNumber(successor);
  text += '>';
  for (Value result : op.getResults()) {
    addNumber(result.getAsOpaquePointer());
    add(result.getType().getAsOpaquePointer());
  }
  for (Region &region : op.getRegions()) {
    text += '{';
    for (Block &block : region) {
      addNumber(&block);
      for (Value argument : block.getArguments()) {
        addNumber(argument.getAsOpaquePointer());
        add(argument.getType().getAsOpaquePointer());
      }
      for (Operation &inner : block)
        add(inner);
    }
    text += '}';
  }
}

FailureOr<ObjectCode> dlc::codegen::compileKernels(ModuleOp module,
                                                   const TargetOptions &target,
                                                   unsigned threads) {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();

  // MLIR's part is in this thread, whose context may be for one thread only. A
  // layer has the same code for several numbers of rows, which only the grid
  // tells, and layers that were quantised the same code but for numbers: it is
  // made once. Each kernel has a module of its own, whatever the number of
  // threads: the bytes of the result must not depend on it.
  const LLVMLowering lowering(module.getContext());
  std::vector<LLVMKernel> kernels;
  std::vector<Shared> shared;
  std::map<CodeHash, std::pair<size_t, std::string>> emitted;
  std::map<CodeHash, size_t> alike; ///< But for numbers.
  OpBuilder builder(module.getContext());
  for (auto kernel : module.getOps<FunctionOpInterface>()) {
    auto function = dyn_cast<kernel::FuncOp>(kernel.getOperation());
    if (kernel.isExternal() || (function && kernel::isForGPU(function)))
      continue;
    OwningOpRef<ModuleOp> own = ModuleOp::create(kernel.getLoc());
    builder.setInsertionPointToStart(own->getBody());
    if (failed(emitKernel(builder, kernel, target)))
      return failure();
    std::string name = kernel.getName().str();
    auto [before, isNew] = emitted.try_emplace(EmittedCode(*own, name).hash());
    if (!isNew) {
      const auto &[index, first] = before->second;
      shared[index].names.emplace_back(first, std::move(name));
      continue;
    }
    if (failed(lowering.run(*own)))
      return failure();
    FailureOr<LLVMKernel> lowered = translateKernel(*own, target);
    if (failed(lowered))
      return failure();
    const size_t index =
        alike.try_emplace(lowered->hashWithoutNumbers(), kernels.size())
            .first->second;
    std::vector<uint32_t> numbers = lowered->numbers();
    if (index == kernels.size()) {
      kernels.push_back(std::move(*lowered));
      shared.emplace_back();
    }
    std::vector<KernelVariant> &variants = shared[index].variants;
    auto same = llvm::find_if(variants, [&](const KernelVariant &variant) {
      return variant.numbers == numbers;
    });
    before->second = {index, same == variants.end() ? name : same->name};
    if (same == variants.end())
      variants.push_back({std::move(name), std::move(numbers)});
    else
      shared[index].names.emplace_back(same->name, std::move(name));
  }
  SmallVector<ObjectBuffer> objects(kernels.size());
  parallelFor(kernels.size(), threads, [&](size_t i) {
    if (shared[i].variants.size() > 1)
      kernels[i].share(shared[i].variants);
    for (const auto &[name, other] : shared[i].names)
      kernels[i].addName(name, other);
    objects[i] = emitObject(std::move(kernels[i]));
  });

  FailureOr<std::string> bytes = linkSharedObject(module.getLoc(), objects);
  if (failed(bytes))
    return failure();
  return ObjectCode{std::move(*bytes), target.triple, target.features};
}
