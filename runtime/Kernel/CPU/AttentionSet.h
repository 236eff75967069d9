// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of cpu.attention share; as KernelSet.h, and without
// inline functions for the same reason.

#ifndef DLC_RUNTIME_KERNEL_CPU_ATTENTIONSET_H
#define DLC_RUNTIME_KERNEL_CPU_ATTENTIONSET_H

#include "KernelSet.h"

namespace dlc::rt::cpu {

/// The matrices of a dense tensor, whose dimensions may be in any order.
struct MatrixView {
  int rank; ///< Dimensions in front of the matrix.
  int64_t dims[kMaxBatchRank], steps[kMaxBatchRank];
  int64_t rowStep, columnStep; ///< 0 where one element stands for all.
};

/// What becomes of the scores, in this order.
enum class MaskForm : int {
  Add,    ///< f32 that are added.
  Keep,   ///< Booleans: the others become `fill`.
  Drop,   ///< Booleans: these become `fill`.
  Causal, ///< Columns beyond row + causalOffset become `fill`.
};
inline constexpr int kMaxMasks = 4;
/// Stack scratch of one run(): the more keys fit, the less often rows are
/// weighed again. It stays within the smallest second caches, 256 KiB.
inline constexpr int64_t kAttentionScratchBytes = 224 * 1024;
/// Elements of a key and of a value, at most: a panel of 16 of both, and the
/// scores, must fit in there.
inline constexpr int64_t kMaxFeatures = 512;
/// Rows of a tile, at most.
inline constexpr int64_t kMaxAttentionRows = 384;

/// y = softmax(masks(scale * (queryScale * q) k)) v for `batch` matrices of q
/// and y. Tiles are numbered matrix, row block, the last fastest.
struct AttentionPlan {
  int64_t batch;
  int64_t shared; ///< Matrices of q, one after the other, for each of k and v.
  int64_t rows, keys;
  int64_t features, values; ///< Of a query and a key; of a value.
  int64_t rowBlock, rowBlocks;
  MatrixView q, k, v, y; ///< k has a row for each feature, and a column a key.
  int maskCount;
  MaskForm forms[kMaxMasks];
  MatrixView masks[kMaxMasks]; ///< Those of Causal mean nothing.
  int64_t causalOffset;
  float queryScale, scale, fill;
  /// Queries, keys, values and weights are rounded to bfloat16; `isShort`: the
  /// former three are bfloat16 in memory. There is no queryScale then.
  bool isRounded, isShort;
};

/// arguments: q, k, v, the masks, y.
struct AttentionKernels {
  void (*run)(const AttentionPlan &plan, void *const *arguments, int64_t begin,
              int64_t end);
};

extern const AttentionKernels baselineAttention;
extern const AttentionKernels modelAttentionTiles; ///< Of what is rounded.
#ifdef DLC_KERNELS_X86
extern const AttentionKernels avx2Attention;
extern const AttentionKernels avx512Attention;
extern const AttentionKernels avx512bf16Attention; ///< Of what is rounded.
extern const AttentionKernels amxAttentionTiles;
#endif

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ATTENTIONSET_H
