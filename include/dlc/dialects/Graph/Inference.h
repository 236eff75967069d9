// SPDX-License-Identifier: Apache-2.0
//
// Result types from the shape rules of the Reference kernels.

#ifndef DLC_DIALECTS_GRAPH_INFERENCE_H
#define DLC_DIALECTS_GRAPH_INFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/ValueRange.h"

#include <optional>

namespace dlc::graph {

/// Appends the types of the results of operation `name` ("graph.conv"). Values
/// of operands count where a `graph.constant` defines them. A failure is
/// reported at `location`, when there is one.
llvm::LogicalResult inferTypes(llvm::StringRef name, mlir::MLIRContext *context,
                               std::optional<mlir::Location> location,
                               mlir::ValueRange operands,
                               mlir::DictionaryAttr attributes,
                               size_t resultCount,
                               llvm::SmallVectorImpl<mlir::Type> &types);

/// As above, for operands of which only types and values are at hand:
/// `values[i]` may be null. `operandTypes` are tensors or NoneType.
llvm::LogicalResult inferTypes(llvm::StringRef name, mlir::MLIRContext *context,
                               std::optional<mlir::Location> location,
                               mlir::TypeRange operandTypes,
                               llvm::ArrayRef<mlir::ElementsAttr> values,
                               mlir::DictionaryAttr attributes,
                               size_t resultCount,
                               llvm::SmallVectorImpl<mlir::Type> &types);

/// True when both types can be those of one value: the same element type, the
/// same rank and dimensions where both are known.
bool isCompatible(mlir::Type a, mlir::Type b);
bool areCompatible(mlir::TypeRange a, mlir::TypeRange b);

/// The type that knows what either of two compatible types knows.
mlir::Type mergeTypes(mlir::Type a, mlir::Type b);

/// Creates a Graph operation with inferred result types. Where types do not
/// fit, reports an error at `location` and returns null: unlike the generated
/// builders, which abort, this is for input that may be wrong. `resultCount`
/// is the number of results.
mlir::Operation *
createInferred(mlir::OpBuilder &builder, mlir::Location location,
               llvm::StringRef name, mlir::ValueRange operands,
               llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
               size_t resultCount = 1);

namespace detail {

/// Checks that the result types of `op` are compatible with the inferred ones.
llvm::LogicalResult checkTypes(mlir::Operation *op);

/// The length of the vector `operands[1]`, as far as its type tells: how many
/// results an operation with variadic results (split) has; else 0.
size_t lengthOfSecond(mlir::ValueRange operands);

template <typename ConcreteOp> size_t resultCount(mlir::ValueRange operands) {
  using namespace mlir::OpTrait;
  if constexpr (ConcreteOp::template hasTrait<OneResult>())
    return 1;
  else if constexpr (ConcreteOp::template hasTrait<NResults<2>::Impl>())
    return 2;
  else if constexpr (ConcreteOp::template hasTrait<NResults<3>::Impl>())
    return 3;
  else if constexpr (ConcreteOp::template hasTrait<NResults<4>::Impl>())
    return 4;
  else
    return lengthOfSecond(operands);
}

} // namespace detail
} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_INFERENCE_H
