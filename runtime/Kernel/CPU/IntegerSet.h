// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of cpu.integer_matmul and cpu.integer_conv share; as
// KernelSet.h, and without inline functions for the same reason.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERSET_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERSET_H

#include "KernelSet.h"

namespace dlc::rt::cpu {

/// Terms of a packed b come in multiples of that many, those of a tile of AMX.
inline constexpr int64_t kByteTerms = 64;
/// Terms of a column that lie together: what an instruction multiplies.
inline constexpr int64_t kByteGroup = 4;
/// Rows of a that a tile of the grid takes at most, bytes of them that it
/// copies at a time, and terms of each of at least 32 rows.
inline constexpr int64_t kMostByteRows = 128;
inline constexpr int64_t kByteRowsBytes = 160 * 1024;
inline constexpr int64_t kMostByteTerms = kByteRowsBytes / 32 - kByteTerms;
/// Taps of a convolution of each channel by itself, at most.
inline constexpr int64_t kMostByteTaps = 512;

/// c[batch][M][N] = (a - its zero point) * (b - those of its columns), sums in
/// i32 that wrap around. Tiles are numbered batch, row block, column block, the
/// last fastest.
///
/// a is read as u8: one of i8 with 128 added. b is packed, of i8: one of u8
/// with 128 taken off, [columns/64][terms/4][64][4], the last part as wide as
/// there are columns, zero padded to a multiple of kPanelWidth and of
/// kByteTerms, and behind them the sum of each column, in i32.
struct IntegerPlan {
  MatmulPlan product; ///< Of its steps those of b are bytes of packed matrices.
  bool isSignedA, isSignedB;
  int64_t terms;                 ///< Of a packed column.
  int64_t columns;               ///< Of a packed b.
  int64_t termBlock, termBlocks; ///< Terms of a row that are copied at a time.
  bool hasZeroOfColumns;         ///< b has one for each, not one for all.
  /// c is i8 or u8: the sums times a multiplier, plus an offset, rounded, plus
  /// the zero point of c. Of the former there is one for each column or one for
  /// all.
  bool requantizes, hasMultiplierOfColumns, hasOffsetOfColumns, isSignedC;
};

/// What they take: a, the packed b, the zero points of a and of b, and c; where
/// they requantize, also what that takes.
struct IntegerArguments {
  const uint8_t *a;
  const int8_t *b;
  const void *aZero, *bZero;
  const float *multiplier, *offset;
  const void *cZero;
  void *c;
};

/// y of the windows of images: its pixels are the rows of a product, of which b
/// has, for each channel of the result, the terms in the order kernelH,
/// kernelW, channels. Images are [batch][inH][inW][channels]; outside of them
/// are zero points. y is [batch][M][N], or [batch][N][M] where it is plain.
struct IntegerConvPlan {
  IntegerPlan integers;
  Windows windows;
  int64_t channels;
  int64_t run; ///< Taps that follow each other in an image, within a row.
  bool isPlainY;
  /// Each channel is one of the result, of which b has the taps alone: i8 as
  /// above, [columns/64][taps][64], and the sums behind them.
  bool isDepthwise;
};

struct IntegerKernels {
  void (*matmul)(const IntegerPlan &plan, const IntegerArguments &arguments,
                 int64_t begin, int64_t end);
  /// With images in place of a.
  void (*conv)(const IntegerConvPlan &plan, const IntegerArguments &arguments,
               int64_t begin, int64_t end);
  void (*depthwiseConv)(const IntegerConvPlan &plan,
                        const IntegerArguments &arguments, int64_t begin,
                        int64_t end);
  /// Makes images of x [batch][channels][inH][inW], rows [begin, end) of all.
  void (*arrange)(const IntegerConvPlan &plan, const uint8_t *x,
                  uint8_t *images, int64_t begin, int64_t end);
};

extern const IntegerKernels baselineIntegers;
/// With tiles in software.
extern const IntegerKernels modelIntegers;
#ifdef DLC_KERNELS_X86
extern const IntegerKernels avx2Integers;
extern const IntegerKernels avxVnniIntegers;
extern const IntegerKernels avx512Integers;
extern const IntegerKernels vnniIntegers;
extern const IntegerKernels amxIntegers;
#endif

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERSET_H
