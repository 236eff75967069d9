// SPDX-License-Identifier: Apache-2.0

#include "KernelEmitter.h"

#include "../Common/KernelWalker.h"
#include "../Common/LoopEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dlc::codegen;

namespace {

/// One thread walks over a range of tiles.
class KernelEmitter final : public KernelWalker {
public:
  using KernelWalker::KernelWalker;

  LogicalResult emit();

private:
  LogicalResult bindArguments(Value arguments);
  LogicalResult emitStructured(linalg::LinalgOp op,
                               ArrayRef<Value> initial) override {
    return emitStructuredOp(builder, op, target, views, scalars, initial);
  }
  Value allocate(Location loc, int64_t bytes) override;
  void store(Location loc, Value value, const View &view,
             Value offset) override {
    BodyEmitter body(builder, target, views, scalars);
    body.store(loc, value, view, offset, 0, 1, {});
  }

  LLVM::LLVMFuncOp function;
};

} // namespace

LogicalResult KernelEmitter::emit() {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {pointer, i64, i64});
  function = LLVM::LLVMFuncOp::create(builder, loc, kernel.getName(), type);
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  if (failed(bindArguments(entry->getArgument(0))))
    return failure();
  auto loop =
      scf::ForOp::create(builder, loc, entry->getArgument(1),
                         entry->getArgument(2), buildI64(builder, loc, 1));
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  builder.setInsertionPointToStart(loop.getBody());
  return emitTile(loop.getInductionVar());
}

LogicalResult KernelEmitter::bindArguments(Value arguments) {
  Type pointer = arguments.getType();
  for (auto [index, argument] : llvm::enumerate(kernel.getArguments())) {
    if (failed(checkArgument(argument)))
      return failure();
    Value place = LLVM::GEPOp::create(
        builder, loc, pointer, pointer, arguments,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    Value base = LLVM::LoadOp::create(builder, loc, pointer, place);
    if (failed(bindMemRef(argument, base, {})))
      return failure();
  }
  return success();
}

/// Scratch memory lives for the whole call, not for a tile.
Value KernelEmitter::allocate(Location loc, int64_t bytes) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  Value size = buildI64(builder, loc, bytes);
  return LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      builder.getI8Type(), size, /*alignment=*/64);
}

LogicalResult dlc::codegen::emitKernel(OpBuilder &builder,
                                       FunctionOpInterface kernel,
                                       const TargetOptions &target) {
  if (!llvm::hasSingleElement(kernel.getFunctionBody()))
    return kernel.emitError("expected a body of one block");
  return KernelEmitter(builder, kernel, target).emit();
}
