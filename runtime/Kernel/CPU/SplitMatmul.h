// SPDX-License-Identifier: Apache-2.0
//
// cpu.matmul on tiles of bfloat16. See Vector.h for who may include it; that
// file says with kPlainKernels which kernels compute tiles of the grid with
// elements that have no such parts.

#ifndef DLC_RUNTIME_KERNEL_CPU_SPLITMATMUL_H
#define DLC_RUNTIME_KERNEL_CPU_SPLITMATMUL_H

#include "BatchOffset.h"
#include "GridRuns.h"
#include "SplitProduct.h"
#include "WriteResults.h"

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

/// Tiles of the grid that follow each other in one row of it are one block, in
/// which a is split once.
template <int parts>
inline void runSplitMatmulOf(const MatmulPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  SplitScratch<parts> scratch;
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
      writeMatrix(plan, arguments, scratch.sums + first, block.sumStride(),
                  part.column + first, part.at + first, part.rows,
                  last - first);
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
