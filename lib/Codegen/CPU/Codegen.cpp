// SPDX-License-Identifier: Apache-2.0

#include "dlc/Codegen/CPU/Codegen.h"

#include "KernelEmitter.h"
#include "ObjectEmitter.h"

#include "dlc/Codegen/CPU/Passes.h"

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

#include <atomic>
#include <thread>

using namespace mlir;
using namespace dlc::codegen;

void dlc::codegen::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

/// One module per kernel, whatever the number of threads: the bytes of the
/// result must not depend on it.
static FailureOr<ObjectBuffer> compileKernel(FunctionOpInterface kernel,
                                             const TargetOptions &target) {
  MLIRContext *context = kernel.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder builder(context);
  builder.setInsertionPointToStart(module->getBody());
  if (failed(emitKernel(builder, kernel, target)) ||
      failed(lowerToLLVMDialect(*module)))
    return failure();
  return emitObject(*module, target);
}

FailureOr<ObjectCode> dlc::codegen::compileKernels(ModuleOp module,
                                                   const TargetOptions &target,
                                                   unsigned threads) {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();

  SmallVector<FunctionOpInterface> kernels;
  for (auto kernel : module.getOps<FunctionOpInterface>())
    if (!kernel.isExternal())
      kernels.push_back(kernel);
  SmallVector<ObjectBuffer> objects(kernels.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> ok = true;
  auto work = [&] {
    for (size_t i = next++; i < kernels.size() && ok; i = next++) {
      FailureOr<ObjectBuffer> object = compileKernel(kernels[i], target);
      if (failed(object))
        ok = false;
      else
        objects[i] = std::move(*object);
    }
  };
  std::vector<std::thread> workers;
  if (module.getContext()->isMultithreadingEnabled())
    for (size_t i = 1; i < std::min<size_t>(threads, kernels.size()); ++i)
      workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  if (!ok)
    return failure();

  FailureOr<std::string> bytes = linkSharedObject(module.getLoc(), objects);
  if (failed(bytes))
    return failure();
  return ObjectCode{std::move(*bytes), target.triple, target.features};
}
