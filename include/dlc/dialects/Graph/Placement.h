// SPDX-License-Identifier: Apache-2.0
//
// Where and how often operations are computed: attributes that any operation
// may carry, and the copy between devices.

#ifndef DLC_DIALECTS_GRAPH_PLACEMENT_H
#define DLC_DIALECTS_GRAPH_PLACEMENT_H

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphPlacement.h.inc"

namespace dlc::graph {

/// Of an operation: the #dlc.device that it runs on.
inline constexpr llvm::StringLiteral kDeviceAttr = "device";
/// Of an argument: the #dlc.device where its value is.
inline constexpr llvm::StringLiteral kArgumentDeviceAttr = "graph.device";
/// Of either: the group of operations that it is in.
inline constexpr llvm::StringLiteral kGroupAttr = "graph.group";
/// Of an operation: somebody wants its value not to be kept, but computed again
/// where it is needed later.
inline constexpr llvm::StringLiteral kRecomputeAttr = "graph.recompute";
/// Of an operation: it repeats another one, whose value was not kept until
/// here.
inline constexpr llvm::StringLiteral kRepeatedAttr = "graph.repeated";
/// Of an operation: the part of the batch that it computes, where parts come
/// one after the other (graph-split-batch); none is in a kernel with another.
inline constexpr llvm::StringLiteral kPartAttr = "graph.part";
/// What an operation says of where and how often it is computed, not of what.
inline constexpr llvm::StringLiteral kPlacementAttrs[] = {
    kDeviceAttr, kGroupAttr, kRecomputeAttr, kRepeatedAttr, kPartAttr};
/// Of a function: it holds gradients.
inline constexpr llvm::StringLiteral kGradientAttr = "graph.gradient";
/// Of a function that is a part of such a one: bytes that are handed on.
inline constexpr llvm::StringLiteral kSavedAttr = "graph.saved";

/// Where `op` runs: cpu:0 when it does not say.
DeviceAttr getDevice(mlir::Operation *op);

/// Where a value is: with the operation that makes it, or where the argument
/// says, cpu:0 when neither does.
DeviceAttr getDevice(mlir::Value value);

/// Makes `built`, which takes the place of a part of `op`, run where that does:
/// on its device, in its group, with its part of the batch. What `built` says itself stays.
void copyPlacement(mlir::Operation *op, mlir::Operation *built);

/// The same for all that was built behind `before`, null for the beginning of
/// the block, up to `builder`. Constants follow their users.
void copyPlacement(mlir::Operation *op, mlir::Operation *before,
                   mlir::OpBuilder &builder);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_PLACEMENT_H
