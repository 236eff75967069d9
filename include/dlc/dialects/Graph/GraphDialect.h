// SPDX-License-Identifier: Apache-2.0
//
// The Graph dialect and the interfaces of its operations. The operations
// themselves are in GraphOps.h.

#ifndef DLC_DIALECTS_GRAPH_GRAPHDIALECT_H
#define DLC_DIALECTS_GRAPH_GRAPHDIALECT_H

#include "dlc/dialects/Graph/Inference.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

namespace dlc::graph {

/// How an operation reads its operands, which decides what may share a kernel.
enum class FusionKind {
  /// Element by element, operands broadcast.
  Elementwise,
  /// Each element of a result is one element of an operand, at a place known
  /// beforehand or given by data.
  Movement,
  /// Each element of a result is a fold over dimensions of the operand.
  Reduction,
  /// A reduction over trailing dimensions, then elementwise (softmax, norms).
  Row,
  /// Contractions and convolutions.
  Anchor,
  /// Stands alone.
  Opaque,
};

llvm::StringRef stringifyFusionKind(FusionKind kind);

/// What changes of an operation whose dimensions are permuted or blocked.
struct PermutedOp {
  llvm::SmallVector<mlir::NamedAttribute> attributes; ///< The new values.
  /// Operands, by number, that are constants then.
  llvm::SmallVector<std::pair<unsigned, mlir::DenseElementsAttr>> constants;
};

/// A scalar or vector of integers of which some are known.
using PartialInts = llvm::SmallVector<std::optional<int64_t>>;

/// The trait of operations that make a few integers of floats, in steps: a
/// gradient that is asked for through them is an error.
template <typename ConcreteOp>
class RoundsToIntegers
    : public mlir::OpTrait::TraitBase<ConcreteOp, RoundsToIntegers> {};

/// Dimensions of a sum of products, inner ones last: a tile of the result is a
/// rectangle of points of `rows` and points of `columns`.
struct FactorDims {
  llvm::SmallVector<unsigned> rows, columns;
};

class ElementReader;
class Gradients;
struct Index;

namespace detail {
/// (operand, 0) for each operand of the static type of result 0.
llvm::SmallVector<std::pair<unsigned, unsigned>>
sameTypePairs(mlir::Operation *op);
/// `buildElementAt` of views: the same element in other dimensions.
mlir::Value buildViewAt(mlir::Operation *op, ElementReader &reader,
                        llvm::ArrayRef<Index> position);
/// `buildGradients` of views: the gradient in the dimensions of the operand.
llvm::LogicalResult buildViewGradient(mlir::Operation *op,
                                      Gradients &gradients);
/// `ReductionOpInterface` of operations that fold elements of an operand.
std::optional<llvm::SmallVector<int64_t>>
getReducedExtents(mlir::Operation *op);
mlir::Value buildReducedAt(mlir::Operation *op, ElementReader &reader,
                           llvm::ArrayRef<Index> position,
                           llvm::ArrayRef<Index> folded);
/// `LayoutOpInterface::permute` where attribute `axis` names a dimension.
std::optional<PermutedOp> permuteAxis(mlir::Operation *op,
                                      llvm::ArrayRef<int64_t> perm);
/// The same where an operand lists dimensions; nullopt unless they are known.
std::optional<PermutedOp> permuteAxes(mlir::OpOperand &axes,
                                      llvm::ArrayRef<int64_t> perm);
/// `LayoutOpInterface::block` of a reduction; nullopt unless its axes are known
/// and none is that of channels. Without `keepdims` they must be all but that,
/// with the first or without.
std::optional<PermutedOp> blockReduction(mlir::OpOperand &axes, bool keepdims);
} // namespace detail

/// Marks operations that a Reference kernel defines; checks their types.
template <typename ConcreteOp>
class ReferenceInference
    : public mlir::OpTrait::TraitBase<ConcreteOp, ReferenceInference> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::checkTypes(op);
  }
};

/// True for operations that a Reference kernel defines: all but those of
/// structure (constants, regions).
inline bool isComputed(mlir::Operation *op) {
  return op->hasTrait<ReferenceInference>();
}

} // namespace dlc::graph

#include "dlc/dialects/Graph/GraphDialect.h.inc"

#include "dlc/dialects/Graph/GraphInterfaces.h.inc"

namespace dlc::graph {

/// The kind of any operation; Opaque for those of other dialects.
FusionKind getFusionKind(mlir::Operation *op);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_GRAPHDIALECT_H
