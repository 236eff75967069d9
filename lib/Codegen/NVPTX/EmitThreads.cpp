// SPDX-License-Identifier: Apache-2.0

#include "KernelEmitter.h"

#include "dlc/Codegen/NVPTX/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace dlc::codegen::gpu {
#define GEN_PASS_DEF_EMITTHREADSPASS
#include "dlc/Codegen/NVPTX/Passes.h.inc"
} // namespace dlc::codegen::gpu

using namespace mlir;
using namespace dlc::codegen;

namespace {

struct EmitThreadsPass
    : public dlc::codegen::gpu::impl::EmitThreadsPassBase<EmitThreadsPass> {
  using EmitThreadsPassBase::EmitThreadsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<GPUTarget> gpu = GPUTarget::get(target);
    if (!gpu) {
      module.emitError("expected one of ")
          << GPUTarget::names() << ", got '" << target << "'";
      return signalPassFailure();
    }
    SmallVector<FunctionOpInterface> kernels(
        module.getOps<FunctionOpInterface>());
    OpBuilder builder(module.getBodyRegion());
    gpu::declareShared(builder, module.getLoc());
    for (FunctionOpInterface kernel : kernels) {
      builder.setInsertionPoint(kernel);
      if (failed(gpu::emitKernel(builder, kernel, *gpu)))
        return signalPassFailure();
      kernel->erase();
    }
  }
};

} // namespace
