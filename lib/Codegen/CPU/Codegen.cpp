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
                                         const TargetOptions &target) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointToStart(module->getBody());
  if (failed(emitKernel(builder, kernel, target)) ||
      failed(lowerToLLVMDialect(*module)))
    return failure();
  return translateKernel(*module, target);
}

FailureOr<ObjectCode> dlc::codegen::compileKernels(ModuleOp module,
                                                   const TargetOptions &target,
                                                   unsigned threads) {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();

  // MLIR's part is in this thread, whose context may be for one thread only;
  // most of the time goes into LLVM's. A layer has the same code for several
  // numbers of rows, which only the grid tells: it is made once.
  std::vector<LLVMKernel> kernels;
  std::map<CodeHash, size_t> known;
  for (auto kernel : module.getOps<FunctionOpInterface>()) {
    auto function = dyn_cast<kernel::FuncOp>(kernel.getOperation());
    if (kernel.isExternal() || (function && kernel::isForGPU(function)))
      continue;
    FailureOr<LLVMKernel> lowered = lowerKernel(kernel, target);
    if (failed(lowered))
      return failure();
    auto [same, isNew] = known.try_emplace(lowered->hash(), kernels.size());
    if (isNew)
      kernels.push_back(std::move(*lowered));
    else
      kernels[same->second].addName(kernel.getName());
  }
  SmallVector<ObjectBuffer> objects(kernels.size());
  parallelFor(kernels.size(), threads, [&](size_t i) {
    objects[i] = emitObject(std::move(kernels[i]));
  });

  FailureOr<std::string> bytes = linkSharedObject(module.getLoc(), objects);
  if (failed(bytes))
    return failure();
  return ObjectCode{std::move(*bytes), target.triple, target.features};
}
