// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of cpu.pool, cpu.softmax, cpu.reduce and cpu.norm share;
// as KernelSet.h, and without inline functions for the same reason.

#ifndef DLC_RUNTIME_KERNEL_CPU_ROWSET_H
#define DLC_RUNTIME_KERNEL_CPU_ROWSET_H

#include "KernelSet.h"

namespace dlc::rt::cpu {

/// One dimension of windows over plain images.
struct PoolExtent {
  int64_t in, out, kernel, stride, dilation, begin, end;
  /// Windows next to each other: one of twice as many taps is two of them.
  bool isTwice;
};

/// Tiles are numbered block of planes (of batch and channels), block of rows.
struct PoolPlan {
  /// Floats of the rows that a thread combines at once, and most that windows
  /// of one of them reach over: the pitch is below twice that.
  static constexpr int64_t scratch = 4096, mostPitch = 2048;

  PoolExtent height, width;
  int64_t planes;
  int64_t inner; ///< Elements side by side at each position, of windows apart.
  /// Several planes where a block has all rows, else one.
  int64_t planeBlock, rowBlock, rowBlocks;
  /// How many windows of a row are combined at once, 0 where a single one is
  /// too wide, and how far rows are apart meanwhile: a multiple of the step.
  int64_t columns, pitch;
  int64_t planesAtOnce; ///< Whose rows are combined together.
  bool isWhole; ///< A single window of all elements.
  /// Windows of one row each follow each other in memory, those of the next row
  /// behind them: rows are as if they were one.
  bool isOneRow;
  bool isMax;
  bool countsPadding; ///< Of a mean: also the elements that are padded.
};

/// Rows of `length` elements that lie `inner` apart, of as many rows beside
/// each other. A tile is `rowBlock` rows where that is one, else `columnBlock`
/// rows beside each other: numbered matrix, block of columns.
struct RowsPlan {
  int64_t rows, length, inner;
  int64_t rowBlock;
  int64_t columnBlock, columnBlocks;
};

struct SoftmaxPlan : RowsPlan {
  bool isLog;
};

struct ReducePlan : RowsPlan {
  enum class Fold : uint8_t { Sum, Greatest, Least };
  Fold fold;
  bool isMean;
  uint8_t resultAt; ///< Among the arguments.
};

/// The mean of some elements, and the sum of the squares of their differences
/// from it; of what is not centered the mean is 0.
struct NormMoments {
  double mean, squares;
};

/// Rows of `length` elements. Where these are parts of one, those are tiles,
/// else `rowBlock` rows.
struct NormPlan {
  int64_t rows, length;
  /// Each has a scale and a bias; 0: each place of a row has.
  int64_t channels;
  int64_t inner; ///< Elements of a channel, where there are any.
  int64_t rowBlock, part, parts;
  double epsilon;
  bool isCentered, hasBias;
  uint8_t inputs;
};

struct RowKernels {
  void (*pool)(const PoolPlan &plan, void *const *arguments, int64_t begin,
               int64_t end);
  void (*softmax)(const SoftmaxPlan &plan, void *const *arguments,
                  int64_t begin, int64_t end);
  void (*reduce)(const ReducePlan &plan, void *const *arguments, int64_t begin,
                 int64_t end);
  void (*normRows)(const NormPlan &plan, void *const *arguments, int64_t begin,
                   int64_t end);
  /// The moments of parts, in a workspace, and then what is made with them.
  void (*normMoments)(const NormPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end);
  void (*normParts)(const NormPlan &plan, void *const *arguments, int64_t begin,
                    int64_t end);
};

extern const RowKernels baselineRows;
#ifdef DLC_KERNELS_X86
extern const RowKernels avx2Rows;
extern const RowKernels avx512Rows;
#endif

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ROWSET_H
