// SPDX-License-Identifier: Apache-2.0
//
// What decompositions are written with.

#ifndef DLC_DIALECTS_GRAPH_CHAIN_H
#define DLC_DIALECTS_GRAPH_CHAIN_H

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"

namespace dlc::graph {

/// Tensors that become one at a time: kernels of more have no plan (kMaxParts of
/// passes/Conversion/KernelToLinalg).
inline constexpr size_t kMostJoined = 64;

/// Builds Graph operations in a row, with their types inferred.
struct Chain {
  using Value = mlir::Value;

  mlir::OpBuilder &builder;
  mlir::Location loc;

  template <typename Op, typename... Operands>
  Value make(Operands... operands) {
    return Op::create(builder, loc, operands...);
  }
  Value constant(mlir::ElementsAttr value) {
    return ConstantOp::create(builder, loc, value);
  }
  Value scalar(mlir::Type elementType, double value) {
    return constant(
        makeSplat(mlir::RankedTensorType::get({}, elementType), value));
  }
  Value ints(llvm::ArrayRef<int64_t> values) {
    return constant(makeInts(builder.getContext(), values));
  }
  Value integer(int64_t value) {
    return constant(makeInt(builder.getContext(), value));
  }
  /// 0, 1, ..., count - 1.
  Value iota(int64_t count) {
    return make<RangeOp>(integer(0), integer(count), integer(1));
  }
  Value cast(Value x, mlir::Type elementType) {
    auto type = llvm::cast<mlir::TensorType>(x.getType());
    if (type.getElementType() == elementType)
      return x;
    return CastOp::create(builder, loc, type.clone(elementType), x, elementType,
                          /*saturate=*/true);
  }
  Value sum(Value x, llvm::ArrayRef<int64_t> axes) {
    return ReduceSumOp::create(builder, loc, x, ints(axes), /*keepdims=*/true);
  }
  Value mean(Value x, llvm::ArrayRef<int64_t> axes, int64_t count) {
    mlir::Type element =
        llvm::cast<mlir::TensorType>(x.getType()).getElementType();
    return make<MulOp>(sum(x, axes),
                       scalar(element, 1.0 / static_cast<double>(count)));
  }
};

/// Whether `op` is in the body of a kernel. Analyses have copies of operations
/// that are in nothing.
inline bool isInKernel(mlir::Operation *op) {
  return llvm::isa_and_nonnull<LaunchableOpInterface>(op->getParentOp());
}

/// The type to compute in: f32 for narrower floats.
inline mlir::Type computeType(mlir::Type elementType) {
  return elementType.getIntOrFloatBitWidth() < 32
             ? mlir::Float32Type::get(elementType.getContext())
             : elementType;
}

inline bool isShortFloat(mlir::Type elementType) {
  return llvm::isa<mlir::FloatType>(elementType) &&
         computeType(elementType) != elementType;
}

/// Number of elements in `axes`; nullopt when it is not known or zero.
inline std::optional<int64_t> countOf(mlir::RankedTensorType type,
                                      llvm::ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes) {
    if (type.isDynamicDim(axis) || type.getDimSize(axis) == 0)
      return std::nullopt;
    count *= type.getDimSize(axis);
  }
  return count;
}

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_CHAIN_H
