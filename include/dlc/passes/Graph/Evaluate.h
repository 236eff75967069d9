// SPDX-License-Identifier: Apache-2.0
//
// Runs Graph operations on constants with their Reference kernels.

#ifndef DLC_PASSES_GRAPH_EVALUATE_H
#define DLC_PASSES_GRAPH_EVALUATE_H

#include "dlc/runtime/Base/Status.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace dlc::graph {

/// Computes the results of `op` for the given operand values, null for absent
/// ones (NoneType). Appends one constant per result, of the type it turned out
/// to have; the types of `op` itself do not matter. Large results own their
/// memory and are not copied. Thread-safe within one context.
rt::Status
evaluateOperation(mlir::Operation *op,
                  llvm::ArrayRef<mlir::ElementsAttr> operands,
                  llvm::SmallVectorImpl<mlir::ElementsAttr> &results);

/// The results of `op` when they hold one value all over and this follows from
/// the operands being splats, computed on single elements; an empty list when
/// it does not follow. Result types must be static.
llvm::SmallVector<mlir::ElementsAttr>
evaluateSplat(mlir::Operation *op, llvm::ArrayRef<mlir::ElementsAttr> operands);

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_EVALUATE_H
