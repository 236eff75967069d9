// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of cpu.pool and cpu.softmax share; as KernelSet.h, and
// without inline functions for the same reason.

#ifndef DLC_RUNTIME_KERNEL_CPU_ROWSET_H
#define DLC_RUNTIME_KERNEL_CPU_ROWSET_H

#include "KernelSet.h"

namespace dlc::rt::cpu {

/// One dimension of windows over plain images.
struct PoolExtent {
  int64_t in, out, kernel, stride, dilation, begin, end;
};

/// Tiles are numbered plane (batch and channel), block of rows.
struct PoolPlan {
  PoolExtent height, width;
  int64_t rowBlock, rowBlocks;
  bool isMax;
  bool countsPadding; ///< Of a mean: also the elements that are padded.
};

/// Rows of `length` elements that lie `inner` apart, of as many rows beside
/// each other. A tile is `rowBlock` rows where that is one, else `columnBlock`
/// rows beside each other: numbered matrix, block of columns.
struct SoftmaxPlan {
  int64_t rows, length, inner;
  int64_t rowBlock;
  int64_t columnBlock, columnBlocks;
  bool isLog;
};

struct RowKernels {
  void (*pool)(const PoolPlan &plan, void *const *arguments, int64_t begin,
               int64_t end);
  void (*softmax)(const SoftmaxPlan &plan, void *const *arguments,
                  int64_t begin, int64_t end);
};

extern const RowKernels baselineRows;
#ifdef DLC_KERNELS_X86
extern const RowKernels avx2Rows;
extern const RowKernels avx512Rows;
#endif

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ROWSET_H
