// SPDX-License-Identifier: Apache-2.0

#include "KernelEmitter.h"

#include "dlc/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace dlc::codegen {
#define GEN_PASS_DEF_EMITLOOPSPASS
#include "dlc/Codegen/CPU/Passes.h.inc"
} // namespace dlc::codegen

using namespace mlir;
using namespace dlc::codegen;

namespace {

struct EmitLoopsPass
    : public dlc::codegen::impl::EmitLoopsPassBase<EmitLoopsPass> {
  using EmitLoopsPassBase::EmitLoopsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<TargetOptions> target = TargetOptions::get(targetName);
    if (!target) {
      module.emitError("expected target ")
          << TargetOptions::names() << ", got '" << targetName << "'";
      return signalPassFailure();
    }
    SmallVector<FunctionOpInterface> kernels(
        module.getOps<FunctionOpInterface>());
    for (FunctionOpInterface kernel : kernels) {
      OpBuilder builder(kernel);
      if (failed(emitKernel(builder, kernel, *target)))
        return signalPassFailure();
      kernel->erase();
    }
  }
};

} // namespace
