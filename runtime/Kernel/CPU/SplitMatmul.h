// SPDX-License-Identifier: Apache-2.0
//
// cpu.matmul on tiles of bfloat16. See Vector.h for who may include it; that
// file says with kPlainKernels which kernels compute tiles of the grid with
// elements that have no such parts.

#ifndef DLC_RUNTIME_KERNEL_CPU_SPLITMATMUL_H
#define DLC_RUNTIME_KERNEL_CPU_SPLITMATMUL_H

#include "Activations.h"
#include "BatchOffset.h"
#include "GridRuns.h"
#include "SplitProduct.h"

namespace dlc::rt::cpu {
namespace {

struct MatrixRows {
  const float *a; ///< Of the first row.
  int64_t stride;
  const float *terms(int64_t term) const { return a + term; }
  [[gnu::always_inline]] const float *at(const float *terms,
                                         int64_t row) const {
    return terms + row * stride;
  }
};

/// c = act(sums + bias + residual), `columns` of each row; bias and residual
/// are null where absent.
inline void writeSums(const float *sums, int64_t sumStride, const float *bias,
                      const float *residual, float *c, int64_t stride,
                      int64_t rows, int64_t columns, const Epilogue &epilogue) {
  const bool clamp = isClamp(epilogue);
  const Vec low = splat(clampLow(epilogue)), high = splat(clampHigh(epilogue));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t j = 0; j < columns; j += kLanes) {
      const int64_t at = row * stride + j;
      Vec value = load(sums + row * sumStride + j);
      if (bias)
        value += loadFirst(bias + j, columns - j);
      if (residual)
        value += loadFirst(residual + at, columns - j);
      if (clamp)
        value = minOf(maxOf(value, low), high);
      storeFirst(c + at, value, columns - j);
    }
  activateRest(c, stride, rows, columns, epilogue);
}

/// Tiles of the grid that follow each other in one row of it are one block, in
/// which a is split once.
template <int parts>
inline void runSplitMatmulOf(const MatmulPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  SplitScratch<parts> scratch;
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *c = static_cast<float *>(arguments[4]);
  int64_t tile = begin;
  while (tile < end) {
    const MatmulRun part(plan, tile, end, kSplitColumns);
    const MatrixRows rows = {static_cast<const float *>(arguments[0]) +
                                 batchOffset(plan, plan.aSteps, part.batch) +
                                 part.row * plan.lda,
                             plan.lda};
    const MatrixPanels panels = {static_cast<const float *>(arguments[1]) +
                                     batchOffset(plan, plan.bSteps, part.batch),
                                 plan.k,
                                 plan.n,
                                 plan.ldb,
                                 plan.packedB ? plan.packedWidth : 0,
                                 part.column};
    SplitBlock<parts, MatrixRows, MatrixPanels> block(
        rows, panels, part.rows, part.columns, plan.k, scratch);
    block.run();
    for (int64_t i = 0; i < part.count; ++i, ++tile) {
      const int64_t first = i * plan.columnBlock;
      const int64_t last = least(first + plan.columnBlock, part.columns);
      if (!block.isExact(first, last)) [[unlikely]] {
        kPlainKernels.matmul(plan, arguments, tile, tile + 1);
        continue;
      }
      const int64_t at = part.at + first;
      writeSums(scratch.sums + first, block.sumStride(),
                bias ? bias + part.column + first : nullptr,
                residual ? residual + at : nullptr, c + at, plan.n, part.rows,
                last - first, plan.epilogue);
    }
  }
}

void runSplitMatmul(const MatmulPlan &plan, void *const *arguments,
                    int64_t begin, int64_t end) {
  runSplitMatmulOf<3>(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_SPLITMATMUL_H
