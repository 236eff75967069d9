// SPDX-License-Identifier: Apache-2.0
//
// What an operation and the pass that asks for its gradient say to each other.

#ifndef DLC_DIALECTS_GRAPH_GRADIENTS_H
#define DLC_DIALECTS_GRAPH_GRADIENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace dlc::graph {

/// The gradients around one operation: those of its results, which are known,
/// and those of its operands, which it builds (GradientOpInterface). Null
/// values are gradients of zero. Not thread-safe.
class Gradients {
public:
  /// `ofResults` has one value per result; `wanted` tells of each operand
  /// whether its gradient is of use.
  Gradients(mlir::OpBuilder &builder, mlir::Operation *op,
            llvm::ArrayRef<mlir::Value> ofResults, llvm::ArrayRef<bool> wanted);

  mlir::OpBuilder &builder() { return opBuilder; }
  mlir::Location loc() const { return op->getLoc(); }

  /// The gradient of a result, of the result's type, or null.
  mlir::Value ofResult(unsigned result = 0) const { return results[result]; }

  bool wants(unsigned operand) const { return wanted[operand]; }

  /// Gives the gradient of an operand where it is wanted. `build` is called
  /// only then. A gradient of a larger shape is that of the operand broadcast,
  /// and summed over the dimensions that were repeated.
  void give(unsigned operand, llvm::function_ref<mlir::Value()> build);
  void give(unsigned operand, mlir::Value gradient);

  /// Reports that the operation has no gradient, and why.
  llvm::LogicalResult fail(const llvm::Twine &reason);

  /// The gradients given, one per operand and of its type; fails, having
  /// reported it, when one does not fit its operand.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> finish();

private:
  mlir::OpBuilder &opBuilder;
  mlir::Operation *op;
  llvm::SmallVector<mlir::Value> results, operands;
  llvm::SmallVector<bool> wanted;
};

/// True for values that have gradients: tensors of floats.
bool isContinuous(mlir::Type type);

/// Builds the gradients of the wanted operands of `op`, by its own rule
/// (GradientOpInterface). Fails, having reported it, where it has none.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildGradients(mlir::OpBuilder &builder, mlir::Operation *op,
               llvm::ArrayRef<mlir::Value> ofResults,
               llvm::ArrayRef<bool> wanted);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_GRADIENTS_H
