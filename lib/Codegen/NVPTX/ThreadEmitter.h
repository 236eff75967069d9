// SPDX-License-Identifier: Apache-2.0
//
// One structured operation, spread over the threads of a block.

#ifndef DLC_LIB_CODEGEN_NVPTX_THREADEMITTER_H
#define DLC_LIB_CODEGEN_NVPTX_THREADEMITTER_H

#include "../Common/LoopEmitterImpl.h"
#include "KernelEmitter.h"

namespace dlc::codegen::gpu {

/// The threads of a block, as i32.
struct Threads {
  mlir::Value thread; ///< The number of this one.
  mlir::Value lane;   ///< In its warp.
  mlir::Value warp;   ///< Of its warp.
};

/// What a block has of the points of a tile, in their order.
struct Share {
  mlir::Value first; ///< i32.
  int64_t count = 0;
};

/// Calls an intrinsic of LLVM.
mlir::Value callIntrinsic(mlir::OpBuilder &builder, mlir::Location loc,
                          llvm::StringRef name, mlir::Type result,
                          mlir::ValueRange operands);
/// All threads of the block wait for each other, and see what they wrote.
void buildBarrier(mlir::OpBuilder &builder, mlir::Location loc);
/// Of a word.
mlir::Value isZero(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value value);
/// What is built next happens only where `condition` (i1) holds; null: always.
void enterIf(mlir::OpBuilder &builder, mlir::Location loc,
             mlir::Value condition);

/// Emits loops as they are planned; vectors are along the last parallel
/// dimension.
class ThreadEmitter : public LoopEmitter {
public:
  /// `exchange`: exchangeBytes() of shared memory.
  ThreadEmitter(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                const LoopPlan &plan, const TargetOptions &target,
                const ViewMap &views, const ValueMap &outer,
                llvm::ArrayRef<mlir::Value> initial, const Threads &threads,
                mlir::Value exchange)
      : LoopEmitter(builder, op, plan, target, views, outer, initial),
        threads(threads), target(target), views(views), exchange(exchange) {}

  llvm::LogicalResult emit();
  /// Of elements without reductions, emits those of `share` alone.
  void setShare(const Share &own) { share = own; }

  /// What threads exchange through shared memory: sums of warps, elements that
  /// are read across the way in which they lie.
  static int64_t exchangeBytes(const LoopPlan &plan);

protected:
  mlir::Value i32(int64_t value);
  // Of words without sign.
  mlir::Value add32(mlir::Value a, mlir::Value b);
  mlir::Value mul32(mlir::Value a, int64_t factor);
  mlir::Value divide32(mlir::Value a, int64_t divisor);
  mlir::Value rest32(mlir::Value a, int64_t divisor);
  mlir::Value isBelow(mlir::Value a, int64_t bound);
  /// Of conditions; null is one that always holds.
  mlir::Value both(mlir::Value a, mlir::Value b);
  void enterIf(mlir::Value condition) { gpu::enterIf(builder, loc, condition); }
  mlir::Value isZero(mlir::Value value) {
    return gpu::isZero(builder, loc, value);
  }
  Cursor locate(const Cursor &cursor, llvm::ArrayRef<unsigned> dims,
                mlir::Value index, int64_t width);
  using AtElement = llvm::function_ref<void(const Cursor &)>;
  void overResults(const Cursor &cursor, mlir::Value first, int64_t step,
                   int64_t width, AtElement emitElement);

  const Threads &threads;
  const TargetOptions &target;
  const ViewMap &views;

private:
  /// Results dealt out to the threads of a block as a rectangle of which each
  /// takes some rows and some columns, which lie `rowThreads` and
  /// `columnThreads` apart: what they share it reads once.
  struct Patches {
    llvm::ArrayRef<unsigned> rows, columns; ///< Dimensions, of plan.parallel.
    int64_t rowCount, columnCount, rowThreads, columnThreads;
    int64_t rowsOfOne() const { return llvm::divideCeil(rowCount, rowThreads); }
    int64_t columnsOfOne() const {
      return llvm::divideCeil(columnCount, columnThreads);
    }
  };

  /// Inputs that lie along `along`, and not along the last parallel dimension.
  struct Squares {
    unsigned along = 0;
    llvm::SmallVector<unsigned> operands;
  };

  mlir::Value countOf(llvm::ArrayRef<unsigned> dims, int64_t width);
  /// Whether all threads of a block sum for one result.
  static bool isForBlock(const LoopPlan &plan);
  static std::optional<Squares> findSquares(const LoopPlan &plan);
  void emitSquares(const Cursor &cursor, const Squares &squares);
  int64_t vectorWidth();
  int64_t reducedWidth();
  bool isForWarp();
  mlir::Value areAligned(const Cursor &cursor, int64_t width);
  void emitElements(const Cursor &cursor);
  std::optional<Patches> findPatches();
  void emitByPatch(const Cursor &cursor, const Patches &patches);
  Values sumPatch(unsigned depth, llvm::ArrayRef<Cursor> cursors,
                  const ValueMap &prepared, mlir::ValueRange carried);
  void emitByThread(const Cursor &cursor);
  void emitByWarp(const Cursor &cursor);
  void emitByBlock(const Cursor &cursor);
  Values reduceStrided(const Cursor &cursor, mlir::Value first, int64_t step);
  Values combineWarp(Values values);
  mlir::Value exchangeLane(mlir::Value value, int64_t distance);
  void writeBy(mlir::Value isWriter, const Cursor &cursor,
               mlir::ValueRange values);

  mlir::Value exchange;
  std::optional<Share> share;
};

} // namespace dlc::codegen::gpu

#endif // DLC_LIB_CODEGEN_NVPTX_THREADEMITTER_H
