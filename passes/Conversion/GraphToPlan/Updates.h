// SPDX-License-Identifier: Apache-2.0
//
// Results that take the place of an argument: which launches may write over it,
// and the order that this asks for.

#ifndef DLC_PASSES_CONVERSION_GRAPHTOPLAN_UPDATES_H
#define DLC_PASSES_CONVERSION_GRAPHTOPLAN_UPDATES_H

#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/dialects/Plan/PlanDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::conversion {

/// The calls of a function, and what must run before what.
class UpdateOrder {
public:
  UpdateOrder(mlir::func::FuncOp function, const mlir::SymbolTable &symbols);

  /// True if the call that makes `value` can write it over `argument`: it reads
  /// the argument in place or not at all, and all other readers can run before
  /// it. Then they do, in later answers too.
  bool tryWriteOver(mlir::OpResult value, mlir::BlockArgument argument);

private:
  bool reaches(unsigned from, llvm::ArrayRef<unsigned> targets) const;
  bool readsInPlace(kernel::CallOp call, unsigned result,
                    mlir::BlockArgument argument) const;

  const mlir::SymbolTable &symbols;
  llvm::SmallVector<llvm::SmallVector<unsigned>> next; ///< Call -> calls.
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> readers;
};

/// Puts the launches of a program into an order in which what reads an input
/// comes before what updates it; otherwise they keep theirs.
llvm::LogicalResult orderUpdates(plan::ProgramOp program);

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_GRAPHTOPLAN_UPDATES_H
