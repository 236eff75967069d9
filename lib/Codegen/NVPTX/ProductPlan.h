// SPDX-License-Identifier: Apache-2.0
//
// How a block computes a sum of products from tiles in shared memory: a
// decision over a structured operation, made before anything is emitted.
//
//   rows, columns: parallel dimensions of the one factor, and of the other
//   terms:         reduced dimensions, `step` of them in shared memory at once
//
// A matrix product, a convolution with its padding, and the gradient of its
// weights are such sums (implicit GEMM: Chetlur et al., cuDNN, 2014).

#ifndef DLC_LIB_CODEGEN_NVPTX_PRODUCTPLAN_H
#define DLC_LIB_CODEGEN_NVPTX_PRODUCTPLAN_H

#include "../Common/LoopPlan.h"

namespace dlc::codegen::gpu {

/// One factor, as it lies in shared memory: f32, f16 or bf16.
struct ProductSide {
  mlir::Value factor;    ///< Of the body, as f32.
  mlir::Value condition; ///< Of the body; null: always. Else the factor is 0.
  /// Of the body: what memory has, which the factor is without change. Null
  /// where the factor is computed.
  mlir::Value element;
  llvm::SmallVector<unsigned> dims; ///< Outer to inner.
  int64_t count = 1;                ///< Points of `dims`.
  int64_t padded = 0;               ///< With those that only fill up.
  /// Neighbours lie along the terms, in shared memory as in the device's; else
  /// along `dims`.
  bool isAlongTerms = false;
  int64_t width = 1; ///< Elements that are copied at once.
  /// Elements from one row in shared memory to the next; of ProductUnit::Group
  /// places are those of ProductEmitter::placeInLines().
  int64_t pitch = 0;
};

enum class ProductUnit {
  Vector, ///< Threads multiply and add f32.
  Tensor, ///< Warps use mma.sync, m16n8k16 on f16 or bf16, m16n8k8 on tf32.
  /// Groups of four warps use wgmma.mma_async, m64nNk16 on f16 or bf16, which
  /// reads both factors from shared memory.
  Group,
};

struct ProductPlan {
  ProductUnit unit = ProductUnit::Vector;
  mlir::Type element; ///< In shared memory.
  ProductSide rows, columns;
  /// Reduced dimensions: a step is within `inner`, whose last is fastest, for
  /// one point of `outer`.
  llvm::SmallVector<unsigned> outer, inner;
  int64_t outerCount = 1, innerCount = 1;
  int64_t step = 0;  ///< Terms in shared memory at once.
  int64_t steps = 0; ///< Of all terms.
  /// Blocks that share a tile, as a cluster: each takes `ownSteps` steps, the
  /// last one those that are left.
  int64_t blocks = 1;
  int64_t ownSteps = 0;
  int64_t stages = 0; ///< Steps that are in shared memory or on their way.
  /// Threads (Vector), warps (Tensor) or groups along the rows, the columns and
  /// the terms of a step, and what each has of rows and columns: squares of
  /// 4 x 4 (Vector), tiles of 16 x 8 (Tensor) or of 64 x 8 (Group).
  int64_t byRow = 1, byColumn = 1, byTerm = 1;
  int64_t rowParts = 1, columnParts = 1;

  /// Of a thread.
  int64_t sums() const {
    return rowParts * columnParts * (unit == ProductUnit::Vector ? 16 : 4);
  }
  /// Floats are rounded to tf32 as they are read from shared memory.
  bool isRounded() const {
    return unit == ProductUnit::Tensor && element.isF32();
  }
  /// Some terms are left out.
  bool isConditional() const { return rows.condition || columns.condition; }
  int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Bytes of one step of one factor in shared memory.
  int64_t bytesOf(const ProductSide &side) const;
  int64_t sharedBytes() const {
    return stages * (bytesOf(rows) + bytesOf(columns));
  }
};

/// Absent when `op` is no sum of products whose factors have rows and columns
/// of their own, or too small for tiles. `tiles`: of the kernel; a tile may
/// have up to `mostBlocks` blocks. `roundsFloats`: f32 may become tf32.
/// `hasGroups`: of the GPU, ProductUnit::Group.
std::optional<ProductPlan> planProduct(mlir::linalg::LinalgOp op,
                                       const LoopPlan &plan,
                                       const ViewMap &views, int64_t tiles,
                                       int64_t mostBlocks, bool roundsFloats,
                                       bool hasGroups);

} // namespace dlc::codegen::gpu

#endif // DLC_LIB_CODEGEN_NVPTX_PRODUCTPLAN_H
