// SPDX-License-Identifier: Apache-2.0
//
// Cuts a kernel in value semantics into stages: decides the grid, what is
// materialised, and which loops do what. Nothing is rewritten.

#ifndef DLC_PASSES_CONVERSION_KERNELTOLINALG_PLANNER_H
#define DLC_PASSES_CONVERSION_KERNELTOLINALG_PLANNER_H

#include "Stage.h"

#include "dlc/dialects/Kernel/KernelDialect.h"

#include "llvm/ADT/MapVector.h"

namespace dlc::conversion {

/// The most scratch memory a tile may have, in bytes; it lies on the stack.
inline constexpr int64_t kScratchBytes = 64 * 1024;

/// Elements of a tile of a kernel with one stage, at least; on a GPU at most.
inline constexpr int64_t kTileElements = 4096;

/// Elements of a tile of a kernel of any shape: what vectors leave over of a
/// run of elements is computed as one.
inline constexpr int64_t kAnyShapeTile = 64;

/// A tensor that a stage writes and others read.
struct Storage {
  /// By dimension: the grid loop it is bound to, or -1. Scratch holds the
  /// unbound dimensions, and a block of the others.
  llvm::SmallVector<int> grid;
  /// The result of the kernel whose memory it is, or -1 for scratch.
  int result = -1;
};

struct KernelPlan {
  /// The number of elements when all tensors are taken as vectors; else 0.
  /// The last tile may be shorter than the others then.
  int64_t flat = 0;
  llvm::SmallVector<int64_t> grid;
  /// Elements of a dimension that each step of a grid loop stands for.
  llvm::SmallVector<int64_t> blocks;
  /// In order of execution.
  std::vector<Stage> stages;
  llvm::MapVector<mlir::Value, Storage> storage;
  /// By result: the tensor whose elements, in order, are the result's.
  llvm::SmallVector<mlir::Value> sources;
  /// (input, output) pairs that may share memory.
  llvm::SmallVector<int64_t> inPlace;
};

/// Elements of a dimension of `extent` that scratch holds.
inline int64_t heldOf(const KernelPlan &plan, int grid, int64_t extent) {
  return grid < 0 ? extent : plan.blocks[grid];
}

/// Plans `kernel`, whose operations are decomposed. On failure `reason` says
/// why, in words for a note.
llvm::FailureOr<KernelPlan> planKernel(kernel::FuncOp kernel,
                                       std::string &reason);

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_KERNELTOLINALG_PLANNER_H
