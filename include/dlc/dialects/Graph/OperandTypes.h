// SPDX-License-Identifier: Apache-2.0
//
// Types of operands from those of results and of other operands: inference
// against the direction of the shape rules.

#ifndef DLC_DIALECTS_GRAPH_OPERANDTYPES_H
#define DLC_DIALECTS_GRAPH_OPERANDTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace dlc::graph {

/// Dimensions, of which mlir::ShapedType::kDynamic are not known; none when not
/// even their number is.
using PartialShape = std::optional<llvm::SmallVector<int64_t>>;

/// What is known of an operation's operands and results, and what a rule finds
/// out of operands. What contradicts is not taken: the shape rule, which knows
/// why, reports it.
class OperandShapes {
public:
  explicit OperandShapes(mlir::Operation *op);

  size_t operandCount() const { return operands.size(); }
  const PartialShape &operand(unsigned index) const { return operands[index]; }
  const PartialShape &result(unsigned index) const { return results[index]; }
  /// A dimension, negative ones from the end; kDynamic where it is not known or
  /// there is none, as of operands that are left out.
  int64_t operandDim(unsigned index, int64_t axis) const;
  int64_t resultDim(unsigned index, int64_t axis) const;

  // Each says something of an operand that is there; of others nothing.

  void setRank(unsigned operand, size_t rank);
  void setDim(unsigned operand, int64_t axis, int64_t dim);
  void set(unsigned operand, const PartialShape &shape);
  /// Both dimensions are the same.
  void equate(unsigned a, int64_t axisA, unsigned b, int64_t axisB);

  /// The operand's type with what is known now.
  mlir::Type typeOf(unsigned operand) const;

private:
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<PartialShape> operands, results;
};

/// Makes the types of operands more precise where the operation tells more of
/// them and `mayRefine` agrees. True when one changed.
bool refineOperands(mlir::Operation *op,
                    llvm::function_ref<bool(mlir::Value)> mayRefine);

/// Gives operations their rules; for the dialect, when it is loaded.
void attachOperandTypes(mlir::MLIRContext *context);

} // namespace dlc::graph

#include "dlc/dialects/Graph/OperandTypes.h.inc"

#endif // DLC_DIALECTS_GRAPH_OPERANDTYPES_H
