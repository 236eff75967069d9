// SPDX-License-Identifier: Apache-2.0
//
// Which operations that join their operands are no kernels, since the operands
// are made where they stay.

#ifndef DLC_PASSES_CONVERSION_GRAPHTOKERNEL_JOINS_H
#define DLC_PASSES_CONVERSION_GRAPHTOKERNEL_JOINS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc::conversion {

/// Of a function of Graph operations that are to become kernels, one for each.
llvm::DenseSet<mlir::Operation *> findJoins(mlir::func::FuncOp function);

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_GRAPHTOKERNEL_JOINS_H
