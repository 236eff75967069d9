// SPDX-License-Identifier: Apache-2.0
//
// Which elements that a body reads lie side by side in memory.

#ifndef DLC_LIB_CODEGEN_NVPTX_NEIGHBOURS_H
#define DLC_LIB_CODEGEN_NVPTX_NEIGHBOURS_H

#include "../Common/LoopPlan.h"

#include "llvm/ADT/SmallBitVector.h"

namespace dlc::codegen::gpu {

/// The dimensions of a structured operation.
using Dims = llvm::SmallBitVector;

/// The largest power of two, up to `most`, that divides the extent of `dim`; 1
/// where that is not known.
int64_t evenWidth(const LoopPlan &loops, unsigned dim, int64_t most);

/// Answers for the body of one operation. Addresses of arguments of a kernel,
/// and of shared memory, are multiples of 16 bytes.
class Neighbours {
public:
  Neighbours(mlir::linalg::LinalgOp op, const LoopPlan &loops,
             const ViewMap &views)
      : op(op), block(op.getBlock()), loops(loops), views(views) {}

  /// The dimensions that `value` of the body changes with.
  Dims dimsOf(mlir::Value value) const;
  /// The operand that an argument of the body stands for; null for other
  /// values.
  const LoopOperand *operandOf(mlir::Value value) const;
  /// How many elements of `element`, an argument or a load of the body, lie
  /// side by side along `dim` at multiples of their size: at most `most`, and 1
  /// where there are none.
  int64_t widthAlong(mlir::Value element, unsigned dim, int64_t most) const;

protected:
  int64_t extentOf(unsigned dim) const {
    return *mlir::getConstantIntValue(loops.ranges[dim]);
  }
  bool isStep(mlir::Value index, unsigned dim, int64_t width) const;

  mlir::linalg::LinalgOp op;
  mlir::Block *block; ///< The body.
  const LoopPlan &loops;
  const ViewMap &views;
};

} // namespace dlc::codegen::gpu

#endif // DLC_LIB_CODEGEN_NVPTX_NEIGHBOURS_H
