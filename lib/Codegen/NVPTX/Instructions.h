// SPDX-License-Identifier: Apache-2.0
//
// What threads, warps and blocks of a GPU can do, as LLVM's intrinsics, and the
// arithmetic of words by which they find their work.

#ifndef DLC_LIB_CODEGEN_NVPTX_INSTRUCTIONS_H
#define DLC_LIB_CODEGEN_NVPTX_INSTRUCTIONS_H

#include "mlir/IR/Builders.h"

namespace dlc::codegen::gpu {

/// The threads of a block, as i32.
struct Threads {
  mlir::Value thread; ///< The number of this one.
  mlir::Value lane;   ///< In its warp.
  mlir::Value warp;   ///< Of its warp.
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

//===----------------------------------------------------------------------===//
// Copies to shared memory
//===----------------------------------------------------------------------===//

/// Sets out to copy 4, 8 or 16 bytes (cp.async); zeros instead where `isThere`
/// (i1, null: always) does not hold.
void copyAsync(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value to,
               mlir::Value from, int64_t bytes, mlir::Value isThere);
/// What this thread has set out to copy since the last time is one group.
void commitCopies(mlir::OpBuilder &builder, mlir::Location loc);
/// All threads see the groups but the `later` last ones, and, `forGroups`, so
/// does multiplyOfGroup().
void waitForCopies(mlir::OpBuilder &builder, mlir::Location loc, int64_t later,
                   bool forGroups = false);

//===----------------------------------------------------------------------===//
// Matrices in registers
//===----------------------------------------------------------------------===//

/// ldmatrix.x4 (PTX ISA 9.7.14.5.15): four matrices of 8 x 8 elements of 16
/// bits, of which 8 lanes each say where the 8 lines are; a lane gets two
/// neighbours of a line, or of a column if matrices are turned.
llvm::SmallVector<mlir::Value> loadMatrices(mlir::OpBuilder &builder,
                                            mlir::Location loc,
                                            mlir::Value from, bool areTurned,
                                            mlir::Type element);
/// mma.m16n8k16 on f16 or bf16: `c`, four f32, and the product of `a`, four
/// pairs, and `b`, two pairs (PTX ISA 9.7.14.5.8).
llvm::SmallVector<mlir::Value>
multiplyMatrices(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Type element, mlir::ValueRange a, mlir::ValueRange b,
                 mlir::ValueRange c);

/// A matrix in shared memory as wgmma takes it.
struct SharedMatrix {
  mlir::Value description; ///< i64.
  bool isTurned;           ///< Neighbours do not lie along the terms.
};
/// wgmma.mma_async.m64nNk16 on f16 or bf16 (PTX ISA 9.7.15.5.2), by the four
/// warps of a group: sets out to add the product of `a` and `b` to `sums`, N /
/// 2 of f32.
llvm::SmallVector<mlir::Value> multiplyOfGroup(mlir::OpBuilder &builder,
                                               mlir::Location loc,
                                               mlir::Type element,
                                               SharedMatrix a, SharedMatrix b,
                                               mlir::ValueRange sums);
/// In front of the first such product: `sums` have been written.
llvm::SmallVector<mlir::Value> waitForRegisters(mlir::OpBuilder &builder,
                                                mlir::Location loc,
                                                mlir::ValueRange sums);
/// Products since the last time are one group, which is waited for.
void commitProducts(mlir::OpBuilder &builder, mlir::Location loc);
llvm::SmallVector<mlir::Value> waitForProducts(mlir::OpBuilder &builder,
                                               mlir::Location loc,
                                               mlir::ValueRange sums);

/// A pair of f16 or bf16 as mma takes it.
mlir::Type getPairType(mlir::Type element);

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Arithmetic of words without sign, for those who emit much of it.
class Words {
protected:
  Words(mlir::OpBuilder &words, mlir::Location place)
      : words(words), place(place) {}

  mlir::Value i32(int64_t value);
  mlir::Value add32(mlir::Value a, mlir::Value b);
  mlir::Value mul32(mlir::Value a, int64_t factor);
  mlir::Value divide32(mlir::Value a, int64_t divisor);
  mlir::Value rest32(mlir::Value a, int64_t divisor);
  mlir::Value isBelow(mlir::Value a, int64_t bound);
  /// As i64.
  mlir::Value widen(mlir::Value a);
  /// Of conditions; null is one that always holds.
  mlir::Value both(mlir::Value a, mlir::Value b);

private:
  mlir::OpBuilder &words;
  mlir::Location place;
};

} // namespace dlc::codegen::gpu

#endif // DLC_LIB_CODEGEN_NVPTX_INSTRUCTIONS_H
