// SPDX-License-Identifier: Apache-2.0
//
// Emits the scalar body of a structured operation for one element or for a
// vector of neighbours along one loop, with its loads and stores.

#ifndef DLC_LIB_CODEGEN_COMMON_BODYEMITTER_H
#define DLC_LIB_CODEGEN_COMMON_BODYEMITTER_H

#include "dlc/Codegen/CPU/Target.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::codegen {

/// A strided block of memory: a memref taken apart. `offset` counts elements
/// (i64; null means 0); a size is an attribute or an i64 value.
struct View {
  mlir::Value base; ///< !llvm.ptr
  mlir::Type element;
  mlir::Value offset;
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<mlir::OpFoldResult> sizes;
};

using ValueMap = llvm::DenseMap<mlir::Value, mlir::Value>;
using ViewMap = llvm::DenseMap<mlir::Value, View>;

/// The type in which an element is computed: `index` as i64, f16 and bf16 as
/// f32 (intermediate values of a fused body are not rounded), integers
/// without their sign.
mlir::Type getComputeType(mlir::Type element);

/// i64 arithmetic that folds constants; a null value means 0.
mlir::Value buildI64(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t value);
mlir::Value addI64(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a,
                   mlir::Value b);
mlir::Value mulI64(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a,
                   int64_t factor);

/// Values that are the same for all lanes stay scalars until an operation
/// mixes them with vectors.
class BodyEmitter {
public:
  BodyEmitter(mlir::OpBuilder &builder, const TargetOptions &target,
              const ViewMap &views, const ValueMap &outer)
      : builder(builder), target(target), views(views), outer(outer) {}

  /// `width` elements from `offset` on, `stride` elements apart, in compute
  /// type; a scalar when width is 1 or stride is 0. Lanes outside `mask`
  /// (null: all) are not touched and read 0.
  mlir::Value load(mlir::Location loc, const View &view, mlir::Value offset,
                   int64_t stride, int64_t width, mlir::Value mask);
  void store(mlir::Location loc, mlir::Value value, const View &view,
             mlir::Value offset, int64_t stride, int64_t width,
             mlir::Value mask);

  /// From now on vectors of neighbours lie at multiples of their size.
  void setVectorsAligned(bool areAligned) { vectorsAreAligned = areAligned; }

  /// Tells that `index`, a vector, is `first` in the first lane and grows by one
  /// from lane to lane.
  void addRamp(mlir::Value index, mlir::Value first) {
    ramps[index] = {first, 1};
  }

  /// Emits `op` of a body. `values` maps its operands; the result is added.
  /// Fails with a diagnostic for operations that have no vector form.
  llvm::LogicalResult emit(mlir::Operation &op, int64_t width,
                           ValueMap &values);

  /// The mapped form of `value`, from the body or from around it.
  mlir::Value lookup(mlir::Value value, const ValueMap &values) const;
  /// `value` as a vector of that width, unless it is one or width is 1.
  mlir::Value broadcast(mlir::Location loc, mlir::Value value, int64_t width);

private:
  /// An index as first + stride * lane.
  struct Ramp {
    mlir::Value first;
    int64_t stride = 0;
  };

  mlir::Value fromMemory(mlir::Location loc, mlir::Value value,
                         mlir::Type element);
  mlir::Value toMemory(mlir::Location loc, mlir::Value value,
                       mlir::Type element);
  mlir::Value halfToFloat(mlir::Location loc, mlir::Value value);
  mlir::Value floatToHalf(mlir::Location loc, mlir::Value value);
  mlir::Value loadStrided(mlir::Location loc, const View &view,
                          mlir::Value offset, int64_t stride, int64_t width);
  mlir::Value address(mlir::Location loc, const View &view, mlir::Value offset);
  mlir::Value emitConversion(mlir::Operation &op, mlir::Value operand,
                             int64_t width);
  mlir::Value emitGather(mlir::memref::LoadOp op, int64_t width,
                         const ValueMap &values);
  void followRamp(mlir::Operation &op, const ValueMap &values);
  llvm::LogicalResult emitMapped(mlir::Operation &op, int64_t width,
                                 ValueMap &values);

  mlir::OpBuilder &builder;
  const TargetOptions &target;
  const ViewMap &views;
  const ValueMap &outer;
  bool vectorsAreAligned = false;
  /// By value of the body. Vectors of them are used by other operations.
  llvm::DenseMap<mlir::Value, Ramp> ramps;
};

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_BODYEMITTER_H
