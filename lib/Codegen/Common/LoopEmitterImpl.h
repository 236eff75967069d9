// SPDX-License-Identifier: Apache-2.0
//
// How the loops of one structured operation are emitted: what LoopEmitter.cpp
// (loops over vectors), LoopTiles.cpp (square blocks) and LoopReductions.cpp
// (accumulators) share.

#ifndef DLC_LIB_CODEGEN_COMMON_LOOPEMITTERIMPL_H
#define DLC_LIB_CODEGEN_COMMON_LOOPEMITTERIMPL_H

#include "LoopPlan.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace dlc::codegen {

/// Where the loops stand: per operand an offset in elements, per dimension
/// the index (null: 0).
struct Cursor {
  llvm::SmallVector<mlir::Value> offsets;
  llvm::SmallVector<mlir::Value> indices;
};

/// Emits the loops of one operation as they are planned.
class LoopEmitter {
public:
  LoopEmitter(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
              const LoopPlan &plan, const TargetOptions &target,
              const ViewMap &views, const ValueMap &outer,
              llvm::ArrayRef<mlir::Value> initial)
      : builder(builder), loc(op->getLoc()), op(op), plan(plan), outer(outer),
        initial(initial), body(builder, target, views, outer) {}

  llvm::LogicalResult emit();

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  /// Emits part of a loop's body; takes and gives the carried values.
  using LoopBody =
      llvm::function_ref<Values(mlir::Value index, mlir::ValueRange carried)>;

  Values buildFor(mlir::Value low, mlir::Value high, int64_t step,
                  mlir::ValueRange carried, LoopBody emitBody);
  Cursor advance(const Cursor &cursor, unsigned dim, mlir::Value index);
  int64_t vectorStride(const LoopOperand &operand) const {
    return plan.vectorDim ? operand.strides[*plan.vectorDim] : 0;
  }

  /// The first element of everything.
  Cursor start();
  void emitParallel(unsigned depth, const Cursor &cursor);
  void emitVectors(const Cursor &cursor, unsigned dim, bool onlyRest = false);
  void emitTiles(const Cursor &cursor);
  void emitTile(const Cursor &cursor);
  Values transpose(Values rows);
  void emitBlock(const Cursor &cursor, int64_t width, int64_t copies,
                 mlir::Value mask);
  void emitScalarReduction(const Cursor &cursor);
  Values emitReduced(unsigned depth, const Cursor &cursor, int64_t width,
                     int64_t copies, mlir::Value mask,
                     mlir::ValueRange carried);
  Values emitReducedVectors(const Cursor &cursor, mlir::ValueRange carried);
  Values emitBodies(llvm::ArrayRef<Cursor> cursors, int64_t width,
                    mlir::Value mask, const ValueMap &prepared,
                    mlir::ValueRange accumulators);
  bool emitInside(mlir::Operation &inside, const Cursor &cursor, int64_t width,
                  ValueMap &values);
  Values yieldBody(const Cursor &cursor, int64_t width, mlir::Value mask,
                   const ValueMap &values, mlir::ValueRange accumulators);
  ValueMap prepareUniform(const Cursor &cursor, std::optional<unsigned> inner);

  Values readAccumulators(const Cursor &cursor, int64_t width,
                          mlir::Value mask);
  void writeAccumulators(const Cursor &cursor, mlir::ValueRange values,
                         int64_t width, mlir::Value mask);
  Values identities(int64_t width);
  mlir::Value combine(const Accumulator &accumulator, mlir::Value a,
                      mlir::Value b);
  Values combineCopies(mlir::ValueRange values, int64_t copies);
  mlir::Value combineLanes(const Accumulator &accumulator, mlir::Value vector);
  mlir::Value buildMask(mlir::Value count, int64_t width);
  /// First index and mask or count of the remainder of a vector loop.
  mlir::Value rangeOf(unsigned dim);
  mlir::Value wholePart(mlir::Value range, int64_t step);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::linalg::LinalgOp op;
  const LoopPlan &plan;
  const ValueMap &outer;
  llvm::ArrayRef<mlir::Value> initial;
  BodyEmitter body;
  bool failed = false;
};

/// The value of a constant; null is 0.
inline std::optional<int64_t> constantOf(mlir::Value value) {
  if (!value)
    return 0;
  return mlir::getConstantIntValue(value);
}

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_LOOPEMITTERIMPL_H
