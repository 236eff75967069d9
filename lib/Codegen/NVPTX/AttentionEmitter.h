// SPDX-License-Identifier: Apache-2.0
//
// The rows of an attention by a block of threads: scores and weights stay in
// registers (Dao, FlashAttention-2, 2023).

#ifndef DLC_LIB_CODEGEN_NVPTX_ATTENTIONEMITTER_H
#define DLC_LIB_CODEGEN_NVPTX_ATTENTIONEMITTER_H

#include "../Common/BodyEmitter.h"
#include "AttentionPlan.h"
#include "Instructions.h"

#include "dlc/dialects/Kernel/KernelDialect.h"

namespace dlc::codegen::gpu {

class AttentionEmitter : Words {
public:
  /// `shared`: plan.sharedBytes() of shared memory.
  AttentionEmitter(mlir::OpBuilder &builder, kernel::AttentionOp op,
                   const TargetOptions &target, const ViewMap &views,
                   const ValueMap &scalars, const Threads &threads,
                   const AttentionPlan &plan, mlir::Value shared)
      : Words(builder, op.getLoc()), builder(builder), loc(op.getLoc()), op(op),
        views(views), scalars(scalars), threads(threads), plan(plan),
        shared(shared), body(builder, target, views, scalars) {}

  void emit();

private:
  using Values = llvm::SmallVector<mlir::Value>;

  /// What a warp has of its 16 rows, of which each thread has two, in the
  /// layout of mma's accumulators: the greatest scores, as exponents of two,
  /// its part of the sums of weights, and the sums of weighted values.
  struct State {
    Values greatest, weights, sums;
    Values flat() const;
    static State from(mlir::ValueRange values);
  };

  const View &viewOf(mlir::Value memref) const {
    return views.find(memref)->second;
  }
  mlir::Value f32(float value);
  mlir::Value powerOfTwo(mlir::Value value);
  mlir::Value weightOf(mlir::Value score, mlir::Value base);
  mlir::Value greater(mlir::Value a, mlir::Value b);
  mlir::Value overQuad(mlir::Value value, bool isSum);
  mlir::Value finiteOr0(mlir::Value greatest);
  mlir::Value at(mlir::Value pointer, mlir::Value bytes);
  mlir::Value addressOf(const View &view, mlir::Value row, mlir::Value column);
  mlir::Value pack(mlir::Value low, mlir::Value high);

  void findWork();
  int64_t columnsOf(mlir::Value memref) const;
  Values readQueries();
  void copyRows(mlir::Value memref, mlir::Value firstKey, int64_t columns,
                int64_t pitch, mlir::Value to);
  void copyStep(mlir::Value step, mlir::Value stage);
  Values scoresOf(mlir::Value keys, mlir::ValueRange queries);
  float exponentFactor();
  bool scalesLater();
  mlir::Value elementOf(mlir::Value mask, mlir::Value row, mlir::Value key);
  mlir::Value masked(mlir::Value score, mlir::Value row, mlir::Value key);
  Values maskScores(mlir::ValueRange scores, mlir::Value step);
  State addStep(const State &state, mlir::Value step, mlir::Value stage,
                mlir::ValueRange queries);
  State overSteps(const State &state, mlir::Value begin, mlir::Value end,
                  mlir::ValueRange queries);
  mlir::Value countSeenSteps();
  mlir::Value doesHiddenCount(const State &state);
  State overKeys(mlir::ValueRange queries);
  void writeRow(mlir::Value row, mlir::Value column, mlir::Value low,
                mlir::Value high);
  void write(const State &state);
  void leave(const State &state);
  void gather();

  mlir::OpBuilder &builder;
  mlir::Location loc;
  kernel::AttentionOp op;
  const ViewMap &views;
  const ValueMap &scalars;
  const Threads &threads;
  const AttentionPlan &plan;
  mlir::Value shared;
  BodyEmitter body;
  mlir::Value rows;           ///< Of the tile, i32.
  mlir::Value lastKeyOfFirst; ///< That the first row sees, i32; or null.
  mlir::Value row, part;      ///< First of this warp; its part of keys.
  mlir::Value high, wide;     ///< Of this thread in a tile of 16 x 8.
};

} // namespace dlc::codegen::gpu

#endif // DLC_LIB_CODEGEN_NVPTX_ATTENTIONEMITTER_H
