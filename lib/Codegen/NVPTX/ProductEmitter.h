// SPDX-License-Identifier: Apache-2.0
//
// A sum of products by a block of threads, from tiles in shared memory.

#ifndef DLC_LIB_CODEGEN_NVPTX_PRODUCTEMITTER_H
#define DLC_LIB_CODEGEN_NVPTX_PRODUCTEMITTER_H

#include "ProductPlan.h"
#include "ThreadEmitter.h"

namespace dlc::codegen::gpu {

/// Emits the loop over steps: while threads compute with one step in shared
/// memory, later ones are on their way there.
class ProductEmitter : public ThreadEmitter {
public:
  /// `tiles`: product.sharedBytes() of shared memory, which the results may
  /// overlap when `initial` says what these begin with. `block`: the number of
  /// this one (i32) among those of the tile; of several, the results are f32
  /// side by side in shared memory.
  ProductEmitter(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                 const LoopPlan &plan, const TargetOptions &target,
                 const ViewMap &views, const ValueMap &outer,
                 llvm::ArrayRef<mlir::Value> initial, const Threads &threads,
                 const ProductPlan &product, mlir::Value tiles,
                 mlir::Value block)
      : ThreadEmitter(builder, op, plan, target, views, outer, initial, threads,
                      /*exchange=*/{}),
        product(product), tiles(tiles), block(block) {}

  /// Afterwards all results of a tile are with its first block, or, `isShared`,
  /// each block has its part, the n-th of n. Blocks of a tile may still read
  /// from each other then: before they end, finish() is for all.
  llvm::LogicalResult emit(bool isShared);
  void finish();
  /// Behind emit(): all threads of the block see the results. Computes again,
  /// as it is defined, what is no number because a tap that is not there met an
  /// infinite weight. For those who have results then.
  void mend();

private:
  /// Where a result of a thread is, as i32.
  struct Place {
    mlir::Value row, column;
  };

  mlir::Value placeInLines(const ProductSide &side, mlir::Value row,
                           mlir::Value term);
  mlir::Value pointer(const ProductSide &side, mlir::Value stage,
                      mlir::Value row, mlir::Value term);
  mlir::Value load(mlir::Value from, mlir::Type type, int64_t bytes);

  mlir::Value valueOf(mlir::Value value, const Cursor &cursor,
                      ValueMap &values);
  mlir::Value addressOf(mlir::Value element, const Cursor &cursor,
                        ValueMap &values);
  void copyStep(mlir::Value step, mlir::Value stage);
  void copySide(const ProductSide &side, const Cursor &cursor, mlir::Value term,
                mlir::Value stage);
  void copyPiece(const ProductSide &side, const Cursor &cursor,
                 mlir::Value isTerm, mlir::Value to);

  void findParts();
  Values compute(mlir::Value stage, mlir::ValueRange sums);
  mlir::Value readRounded(const ProductSide &side, mlir::Value stage,
                          mlir::Value row, mlir::Value term);
  Values computeRounded(mlir::Value stage, mlir::ValueRange sums);
  mlir::Value describe(const ProductSide &side, mlir::Value stage,
                       mlir::Value row);
  Values startGroups(mlir::Value stage, mlir::ValueRange sums);
  Values computeTensor(mlir::Value stage, mlir::ValueRange sums);
  Values computeVector(mlir::Value stage, mlir::ValueRange sums);
  Values readMatrices(const ProductSide &side, mlir::Value stage,
                      mlir::Value row, mlir::Value term, bool isRows);
  Values readSquare(const ProductSide &side, mlir::Value stage, mlir::Value row,
                    mlir::Value term);
  llvm::SmallVector<Place> placesOf();
  mlir::Value isThere(const Place &place);
  bool hasPairs() const;
  void write(mlir::ValueRange sums);
  mlir::Value isAnyNone(mlir::ValueRange sums);
  void arriveAtBlocks();
  void waitForBlocks();
  void gather(bool isShared);

  const ProductPlan &product;
  mlir::Value tiles, block;
  mlir::Value isSpoiled; ///< Of a tile with one block: a sum is no number, i1.
  mlir::Value row, column, part; ///< First ones of this thread or warp, i32.
};

} // namespace dlc::codegen::gpu

#endif // DLC_LIB_CODEGEN_NVPTX_PRODUCTEMITTER_H
