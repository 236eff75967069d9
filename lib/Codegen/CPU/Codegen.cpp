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

/// One module per kernel, whatever the number of threads: the bytes of the
/// result must not depend on it.
static FailureOr<LLVMKernel> lowerKernel(FunctionOpInterface kernel,
                                         const TargetOptions &target,
                                         const LLVMLowering &lowering) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointToStart(module->getBody());
  if (failed(emitKernel(builder, kernel, target)) ||
      failed(lowering.run(*module)))
    return failure();
  return translateKernel(*module, target);
}

namespace {
/// What one code computes.
struct Shared {
  std::vector<KernelVariant> variants;
  std::vector<std::pair<std::string, std::string>> names; ///< First, another.
};
} // namespace

FailureOr<ObjectCode> dlc::codegen::compileKernels(ModuleOp module,
                                                   const TargetOptions &target,
                                                   unsigned threads) {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();

  // MLIR's part is in this thread, whose context may be for one thread only;
  // most of the time goes into LLVM's. A layer has the same code for several
  // numbers of rows, which only the grid tells, and layers that were quantised
  // the same code but for numbers: it is made once.
  const LLVMLowering lowering(module.getContext());
  std::vector<LLVMKernel> kernels;
  std::vector<Shared> shared;
  std::map<CodeHash, std::pair<size_t, std::string>> known;
  std::map<CodeHash, size_t> alike;
  for (auto kernel : module.getOps<FunctionOpInterface>()) {
    auto function = dyn_cast<kernel::FuncOp>(kernel.getOperation());
    if (kernel.isExternal() || (function && kernel::isForGPU(function)))
      continue;
    FailureOr<LLVMKernel> lowered = lowerKernel(kernel, target, lowering);
    if (failed(lowered))
      return failure();
    std::string name = kernel.getName().str();
    auto [same, isNew] = known.try_emplace(lowered->hash());
    if (!isNew) {
      auto &[index, first] = same->second;
      shared[index].names.emplace_back(first, std::move(name));
      continue;
    }
    const size_t index =
        alike.try_emplace(lowered->hashWithoutNumbers(), kernels.size())
            .first->second;
    same->second = {index, name};
    std::vector<uint32_t> numbers = lowered->numbers();
    if (index == kernels.size()) {
      kernels.push_back(std::move(*lowered));
      shared.emplace_back();
    }
    shared[index].variants.push_back({std::move(name), std::move(numbers)});
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
