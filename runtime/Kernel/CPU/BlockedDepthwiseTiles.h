// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolutions of blocked tensors [N][C/16][H][W][16]: lanes are
// channels, so each element is multiplied where it is. See Vector.h for who may
// include it.
//
// Some outputs of a row are summed in registers; each element under them is
// loaded once for every row of taps. Weights are packed [C/16][taps][16].

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDDEPTHWISETILES_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDDEPTHWISETILES_H

#include "Activations.h"
#include "BlockedTiles.h"

namespace dlc::rt::cpu {
namespace {

/// Output rows of one vector of channels of a plane.
struct BlockedRows {
  const BlockedDepthwisePlan &plan;
  const float *x;
  const float *w;
  Vec bias, low, high;   ///< The bounds of a clamp, or infinite ones.
  const float *residual; ///< Of the first row; null when absent.
  float *y;              ///< Of the first row.
  int64_t first, last;
};

/// One of them.
struct BlockedRow : BlockedRows {
  explicit BlockedRow(const BlockedRows &rows) : BlockedRows(rows), row(first) {
    firstIn = row * plan.strideH - plan.padTop;
    if (plan.inRows < plan.inH)
      firstIn = (firstIn % plan.inRows + plan.inRows) % plan.inRows;
  }
  /// Goes on to the next row.
  void step() {
    ++row;
    firstIn += plan.strideH;
    // Of few rows in memory the first one is where the last one was followed.
    if (plan.inRows < plan.inH && firstIn >= plan.inRows)
      firstIn %= plan.inRows;
    y += plan.outW * kChannelBlock;
    if (residual)
      residual += plan.outW * kChannelBlock;
  }

  int64_t row;
  int64_t firstIn; ///< Where the row under the first tap is, or would be.

  int64_t inRow(int64_t tap) const {
    return row * plan.strideH - plan.padTop + tap * plan.dilationH;
  }
  bool hasRow(int64_t tap) const {
    return inRow(tap) >= 0 && inRow(tap) < plan.inH;
  }
  /// Of a tap that hasRow(). Taps reach over all rows in memory at most once.
  const float *xRow(int64_t tap) const {
    int64_t at = firstIn + tap * plan.dilationH;
    if (at >= plan.inRows)
      at -= plan.inRows;
    return x + at * plan.inW * kChannelBlock;
  }

  [[gnu::always_inline]] void finish(Vec sum, int64_t column) const {
    const int64_t at = column * kChannelBlock;
    if (residual)
      sum += load(residual + at);
    store(y + at, minOf(maxOf(sum, low), high));
  }
};

/// The rows of taps that are inside of the image: where each begins, and its
/// weights.
template <int kernel> struct BlockedTaps {
  [[gnu::always_inline]] explicit BlockedTaps(const BlockedRow &r) {
    for (int64_t tap = 0; tap < kernel; ++tap)
      if (r.hasRow(tap)) {
        x[count] = r.xRow(tap);
        w[count++] = r.w + tap * kernel * kChannelBlock;
      }
  }
  const float *x[kernel], *w[kernel];
  int count = 0;
};

/// Which of the elements under some outputs of a row may lie outside of it.
enum class Outside {
  None,
  Ends, ///< On each side as many as half a kernel has.
  Any,
};

/// Outputs [column, column + count) of a square kernel without dilation.
template <int kernel, int stride, int count, Outside outside>
[[gnu::always_inline]] inline void
blockedOutputs(const BlockedRow &r, const BlockedTaps<kernel> &taps,
               int64_t column) {
  const BlockedDepthwisePlan &plan = r.plan;
  constexpr int width = (count - 1) * stride + kernel;
  const int64_t left = column * stride - plan.padLeft;
  const int64_t begin = -left, end = plan.inW - left;
  Vec sums[count];
  DLC_UNROLL for (int i = 0; i < count; ++i) sums[i] = r.bias;
  for (int tap = 0; tap < taps.count; ++tap) {
    const float *x = taps.x[tap] + left * kChannelBlock;
    Vec w[kernel];
    DLC_UNROLL for (int j = 0; j < kernel; ++j) w[j] =
        load(taps.w[tap] + j * kChannelBlock);
    DLC_UNROLL for (int at = 0; at < width; ++at) {
      const float *element = x + at * kChannelBlock;
      if constexpr (outside == Outside::Any) {
        if (at < begin || at >= end)
          continue;
      } else if (outside == Outside::Ends && at < kernel / 2) {
        element = at < begin ? kZeros : element;
      } else if (outside == Outside::Ends && at >= width - kernel / 2) {
        element = at >= end ? kZeros : element;
      }
      const Vec value = load(element);
      DLC_UNROLL for (int j = 0; j < kernel; ++j) {
        const int i = (at - j) / stride;
        if (at >= j && (at - j) % stride == 0 && i < count)
          sums[i] += w[j] * value;
      }
    }
  }
  DLC_UNROLL for (int i = 0; i < count; ++i) r.finish(sums[i], column + i);
}

/// Whether it takes less time to choose where to load from, and to multiply
/// zeros, than to branch: not of few outputs, and not where an element is a
/// factor of many.
constexpr bool choosesElements(int kernel, int stride, int count) {
  return count >= 7 && (kernel == 3 || stride > 1);
}

template <int kernel, int stride, int count>
[[gnu::always_inline]] inline void runOutputs(const BlockedRow &r,
                                              const BlockedTaps<kernel> &taps,
                                              int64_t &column) {
  constexpr int width = (count - 1) * stride + kernel;
  for (; column + count <= r.plan.outW; column += count) {
    const int64_t left = column * stride - r.plan.padLeft;
    const int64_t behind = left + width - r.plan.inW;
    if (left >= 0 && behind <= 0)
      blockedOutputs<kernel, stride, count, Outside::None>(r, taps, column);
    else if (choosesElements(kernel, stride, count) && -left <= kernel / 2 &&
             behind <= kernel / 2)
      blockedOutputs<kernel, stride, count, Outside::Ends>(r, taps, column);
    else
      blockedOutputs<kernel, stride, count, Outside::Any>(r, taps, column);
  }
}

/// Seven or fourteen at a time: images of networks are multiples of them.
template <int kernel, int stride> void runBlockedRows(const BlockedRows &rows) {
  for (BlockedRow r(rows); r.row < r.last; r.step()) {
    const BlockedTaps<kernel> taps(r);
    int64_t column = 0;
    if constexpr (kLanes == 16) // With 32 registers.
      runOutputs<kernel, stride, 14>(r, taps, column);
    runOutputs<kernel, stride, 7>(r, taps, column);
    runOutputs<kernel, stride, 3>(r, taps, column);
    runOutputs<kernel, stride, 1>(r, taps, column);
  }
}

/// As blockedOutputs(), of any kernel, and of any stride where that is 0.
template <int stride, int count, bool isInside>
[[gnu::always_inline]] inline void anyOutputs(const BlockedRow &r,
                                              int64_t column) {
  const BlockedDepthwisePlan &plan = r.plan;
  const int64_t step = stride ? stride : plan.strideW;
  const int64_t left = column * step - plan.padLeft;
  Vec sums[count];
  DLC_UNROLL for (int i = 0; i < count; ++i) sums[i] = r.bias;
  for (int64_t tap = 0; tap < plan.kernelH; ++tap) {
    if (!r.hasRow(tap))
      continue;
    const float *x = r.xRow(tap);
    const float *w = r.w + tap * plan.kernelW * kChannelBlock;
    int64_t at = left;
    for (int64_t j = 0; j < plan.kernelW; ++j, at += plan.dilationW) {
      const Vec weight = load(w + j * kChannelBlock);
      DLC_UNROLL for (int i = 0; i < count; ++i) {
        const int64_t inX = at + i * step;
        if (isInside || (inX >= 0 && inX < plan.inW))
          sums[i] += weight * load(x + inX * kChannelBlock);
      }
    }
  }
  DLC_UNROLL for (int i = 0; i < count; ++i) r.finish(sums[i], column + i);
}

template <int stride, int count>
[[gnu::always_inline]] inline void runAnyOutputs(const BlockedRow &r,
                                                 int64_t &column) {
  const BlockedDepthwisePlan &plan = r.plan;
  const int64_t width =
      (count - 1) * plan.strideW + (plan.kernelW - 1) * plan.dilationW + 1;
  for (; column + count <= plan.outW; column += count) {
    const int64_t left = column * plan.strideW - plan.padLeft;
    if (left >= 0 && left + width <= plan.inW)
      anyOutputs<stride, count, true>(r, column);
    else
      anyOutputs<stride, count, false>(r, column);
  }
}

/// Eight sums at once: none waits for the one before.
template <int stride> void runAnyBlockedRows(const BlockedRows &rows) {
  for (BlockedRow r(rows); r.row < r.last; r.step()) {
    int64_t column = 0;
    runAnyOutputs<stride, 8>(r, column);
    runAnyOutputs<stride, 4>(r, column);
    runAnyOutputs<stride, 1>(r, column);
  }
}

using BlockedRowsFunction = void (*)(const BlockedRows &);

inline BlockedRowsFunction rowsFunctionOf(const BlockedDepthwisePlan &plan) {
  const bool isSquare = plan.kernelH == plan.kernelW &&
                        plan.strideH == plan.strideW && plan.dilationH == 1 &&
                        plan.dilationW == 1;
  const int64_t kernel = plan.kernelH, stride = plan.strideH;
  if (isSquare && kernel == 3 && stride <= 2)
    return stride == 1 ? runBlockedRows<3, 1> : runBlockedRows<3, 2>;
  if (isSquare && kernel == 5 && stride <= 2)
    return stride == 1 ? runBlockedRows<5, 1> : runBlockedRows<5, 2>;
  if (isSquare && kernel == 7 && stride == 1)
    return runBlockedRows<7, 1>;
  return plan.strideW == 1   ? runAnyBlockedRows<1>
         : plan.strideW == 2 ? runAnyBlockedRows<2>
                             : runAnyBlockedRows<0>;
}

void runBlockedDepthwise(const BlockedDepthwisePlan &plan,
                         void *const *arguments, int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const BlockedRowsFunction run = rowsFunctionOf(plan);
  const bool clamps = isClamp(plan.epilogue);
  const Vec low = splat(clamps ? clampLow(plan.epilogue) : -__builtin_inff());
  const Vec high = splat(clamps ? clampHigh(plan.epilogue) : __builtin_inff());
  const int64_t inSize = plan.inRows * plan.inW * kChannelBlock;
  const int64_t rowSize = plan.outW * kChannelBlock;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t plane = tile / plan.rowBlocks; // Of image and block.
    const int64_t block = plane % plan.blocks;
    const int64_t first = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t last = least(first + plan.rowBlock, plan.outH);
    const int64_t at = (plane * plan.outRows + first - plan.outFirst) * rowSize;
    for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes) {
      const int64_t channel = block * kChannelBlock + lane;
      run({plan, x + plane * inSize + lane,
           w + block * plan.kernelH * plan.kernelW * kChannelBlock + lane,
           bias ? loadFirst(bias + channel, plan.channels - channel) : Vec{},
           low, high, residual ? residual + at + lane : nullptr, y + at + lane,
           first, last});
    }
    activateRest(y + at, rowSize, last - first, rowSize, plan.epilogue);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDDEPTHWISETILES_H
