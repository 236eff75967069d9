// SPDX-License-Identifier: Apache-2.0
//
// Walks the body of a kernel in destination style and emits what is in it, with
// memrefs taken apart. What a machine does with a structured operation, scratch
// memory or a store is for those who derive from it.

#ifndef DLC_LIB_CODEGEN_COMMON_KERNELWALKER_H
#define DLC_LIB_CODEGEN_COMMON_KERNELWALKER_H

#include "BodyEmitter.h"

#include "dlc/dialects/Kernel/KernelDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dlc::codegen {

/// The `scf.forall` that is a kernel's grid: the only one, at top level.
mlir::scf::ForallOp findGrid(mlir::Block &body);

class KernelWalker {
public:
  KernelWalker(mlir::OpBuilder &builder, mlir::FunctionOpInterface kernel,
               const TargetOptions &target)
      : builder(builder), loc(kernel.getLoc()), kernel(kernel), target(target) {
  }
  virtual ~KernelWalker() = default;

protected:
  /// Emits the body for tile `tile` of the grid, whose last index is fastest.
  llvm::LogicalResult emitTile(mlir::Value tile);
  /// Arguments are memrefs of static shape; fails with a diagnostic.
  llvm::FailureOr<mlir::MemRefType> checkArgument(mlir::Value argument);
  llvm::LogicalResult bindMemRef(mlir::Value memref, mlir::Value base,
                                 mlir::Value offset);

  /// `initial`: see emitStructuredOp().
  virtual llvm::LogicalResult
  emitStructured(mlir::linalg::LinalgOp op,
                 llvm::ArrayRef<mlir::Value> initial) = 0;
  /// Of a device that has code for it.
  virtual llvm::LogicalResult emitAttention(kernel::AttentionOp op);
  /// The address of scratch memory of that many bytes.
  virtual mlir::Value allocate(mlir::Location loc, int64_t bytes) = 0;
  /// Stores one element, `offset` elements into `view`.
  virtual void store(mlir::Location loc, mlir::Value value, const View &view,
                     mlir::Value offset) = 0;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::FunctionOpInterface kernel;
  const TargetOptions &target;
  ViewMap views;
  ValueMap scalars;

private:
  llvm::LogicalResult emitBlock(mlir::Block &block);
  llvm::LogicalResult emitOp(mlir::Operation &op);
  llvm::LogicalResult emitLinalg(mlir::linalg::LinalgOp op);
  llvm::LogicalResult emitFor(mlir::scf::ForOp op);
  llvm::LogicalResult emitAlloca(mlir::memref::AllocaOp op);
  llvm::LogicalResult emitSubView(mlir::memref::SubViewOp op);
  llvm::LogicalResult emitReshape(mlir::Operation &op);
  llvm::LogicalResult emitReinterpretCast(mlir::memref::ReinterpretCastOp op);
  llvm::LogicalResult emitStore(mlir::memref::StoreOp op);
  llvm::LogicalResult emitAffineApply(mlir::affine::AffineApplyOp op);

  bool isFillOf(mlir::linalg::LinalgOp reader, unsigned output,
                mlir::linalg::FillOp fill);
  mlir::Value toI64(mlir::OpFoldResult value);
  mlir::Value expandAffine(mlir::AffineExpr expr, mlir::ValueRange dims,
                           mlir::ValueRange symbols);
};

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_KERNELWALKER_H
