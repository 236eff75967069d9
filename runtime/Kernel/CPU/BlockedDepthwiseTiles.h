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
#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// An output row of one vector of channels.
struct BlockedRow {
  const BlockedDepthwisePlan &plan;
  const float *x; ///< Of the plane.
  const float *w;
  Vec bias;
  const float *residual; ///< Of the row; null when absent.
  float *y;              ///< Of the row.
  int64_t row;

  int64_t inRow(int64_t tap) const {
    return row * plan.strideH - plan.padTop + tap * plan.dilationH;
  }
  bool hasRow(int64_t tap) const {
    return inRow(tap) >= 0 && inRow(tap) < plan.inH;
  }

  [[gnu::always_inline]] void finish(Vec sum, int64_t column) const {
    const int64_t at = column * kChannelBlock;
    if (residual)
      sum += load(residual + at);
    if (isClamp(plan.epilogue))
      sum = minOf(maxOf(sum, splat(clampLow(plan.epilogue))),
                  splat(clampHigh(plan.epilogue)));
    store(y + at, sum);
  }
};

/// Outputs [column, column + count) of a square kernel without dilation. Unless
/// `isInside`, some elements under them may lie outside the image.
template <int kernel, int stride, int count, bool isInside>
void blockedOutputs(const BlockedRow &r, int64_t column) {
  const BlockedDepthwisePlan &plan = r.plan;
  constexpr int width = (count - 1) * stride + kernel;
  const int64_t left = column * stride - plan.padLeft;
  const int64_t begin = -left, end = plan.inW - left;
  Vec sums[count];
  DLC_UNROLL for (int i = 0; i < count; ++i) sums[i] = r.bias;
  for (int64_t tap = 0; tap < kernel; ++tap) {
    if (!r.hasRow(tap))
      continue;
    const float *x = r.x + (r.inRow(tap) * plan.inW + left) * kChannelBlock;
    Vec w[kernel];
    DLC_UNROLL for (int j = 0; j < kernel; ++j) w[j] =
        load(r.w + (tap * kernel + j) * kChannelBlock);
    DLC_UNROLL for (int at = 0; at < width; ++at) {
      if (!isInside && (at < begin || at >= end))
        continue;
      const Vec value = load(x + at * kChannelBlock);
      DLC_UNROLL for (int j = 0; j < kernel; ++j) {
        const int i = (at - j) / stride;
        if (at >= j && (at - j) % stride == 0 && i < count)
          sums[i] += w[j] * value;
      }
    }
  }
  DLC_UNROLL for (int i = 0; i < count; ++i) r.finish(sums[i], column + i);
}

template <int kernel, int stride, int count>
[[gnu::always_inline]] inline void runOutputs(const BlockedRow &r,
                                              int64_t &column) {
  constexpr int width = (count - 1) * stride + kernel;
  for (; column + count <= r.plan.outW; column += count) {
    const int64_t left = column * stride - r.plan.padLeft;
    if (left >= 0 && left + width <= r.plan.inW)
      blockedOutputs<kernel, stride, count, true>(r, column);
    else
      blockedOutputs<kernel, stride, count, false>(r, column);
  }
}

/// Seven at a time: images of networks are multiples of it.
template <int kernel, int stride> void runBlockedRow(const BlockedRow &r) {
  int64_t column = 0;
  runOutputs<kernel, stride, 7>(r, column);
  runOutputs<kernel, stride, 3>(r, column);
  runOutputs<kernel, stride, 1>(r, column);
}

inline void runAnyBlockedRow(const BlockedRow &r) {
  const BlockedDepthwisePlan &plan = r.plan;
  for (int64_t column = 0; column < plan.outW; ++column) {
    Vec sum = r.bias;
    for (int64_t i = 0; i < plan.kernelH; ++i) {
      if (!r.hasRow(i))
        continue;
      for (int64_t j = 0; j < plan.kernelW; ++j) {
        const int64_t inX =
            column * plan.strideW - plan.padLeft + j * plan.dilationW;
        if (inX >= 0 && inX < plan.inW)
          sum += load(r.w + (i * plan.kernelW + j) * kChannelBlock) *
                 load(r.x + (r.inRow(i) * plan.inW + inX) * kChannelBlock);
      }
    }
    r.finish(sum, column);
  }
}

using BlockedRowFunction = void (*)(const BlockedRow &);

inline BlockedRowFunction rowFunctionOf(const BlockedDepthwisePlan &plan) {
  const bool isSquare = plan.kernelH == plan.kernelW &&
                        plan.strideH == plan.strideW && plan.dilationH == 1 &&
                        plan.dilationW == 1;
  const int64_t kernel = plan.kernelH, stride = plan.strideH;
  if (isSquare && kernel == 3 && stride <= 2)
    return stride == 1 ? runBlockedRow<3, 1> : runBlockedRow<3, 2>;
  if (isSquare && kernel == 5 && stride <= 2)
    return stride == 1 ? runBlockedRow<5, 1> : runBlockedRow<5, 2>;
  return runAnyBlockedRow;
}

void runBlockedDepthwise(const BlockedDepthwisePlan &plan,
                         void *const *arguments, int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const BlockedRowFunction run = rowFunctionOf(plan);
  const int64_t inSize = plan.inH * plan.inW * kChannelBlock;
  const int64_t rowSize = plan.outW * kChannelBlock;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t plane = tile / plan.rowBlocks; // Of image and block.
    const int64_t block = plane % plan.blocks;
    const int64_t first = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t last = least(first + plan.rowBlock, plan.outH);
    for (int64_t row = first; row < last; ++row) {
      const int64_t at = (plane * plan.outH + row) * rowSize;
      for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes)
        run({plan, x + plane * inSize + lane,
             w + block * plan.kernelH * plan.kernelW * kChannelBlock + lane,
             bias ? load(bias + block * kChannelBlock + lane) : Vec{},
             residual ? residual + at + lane : nullptr, y + at + lane, row});
    }
    activateRest(y + (plane * plan.outH + first) * rowSize, rowSize,
                 last - first, rowSize, plan.epilogue);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDDEPTHWISETILES_H
