// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv of blocked tensors on tiles of bfloat16: the product of the elements
// under some pixels and the weights, which are packed as a matrix with a row
// for each block of channels, tap and channel. See SplitMatmul.h.

#ifndef DLC_RUNTIME_KERNEL_CPU_SPLITCONV_H
#define DLC_RUNTIME_KERNEL_CPU_SPLITCONV_H

#include "Activations.h"
#include "GridRuns.h"
#include "PixelRows.h"
#include "SplitProduct.h"

namespace dlc::rt::cpu {
namespace {

/// Some pixels of an image, of one group of channels.
struct PixelBlock {
  const BlockedPlan &plan;
  const float *bias, *residual; ///< Null when absent.
  float *y;
  int64_t first, count;

  /// Writes panels [begin, end) of channels; `sums` has a row for each pixel,
  /// with the channels from the first panel on.
  void write(const float *sums, int64_t stride, int64_t begin,
             int64_t end) const;
};

inline void PixelBlock::write(const float *sums, int64_t stride, int64_t begin,
                              int64_t end) const {
  const bool clamp = isClamp(plan.epilogue);
  const Vec low = splat(clampLow(plan.epilogue));
  const Vec high = splat(clampHigh(plan.epilogue));
  for (int64_t panel = begin; panel < end; ++panel, sums += kChannelBlock) {
    const int64_t at = (panel * plan.outPlane + first) * kChannelBlock;
    for (int64_t i = 0; i < count; ++i)
      DLC_UNROLL for (int64_t j = 0; j < kChannelBlock; j += kLanes) {
        const int64_t element = at + i * kChannelBlock + j;
        Vec value = load(sums + i * stride + j);
        if (bias)
          value += load(bias + panel * kChannelBlock + j);
        if (residual)
          value += load(residual + element);
        if (clamp)
          value = minOf(maxOf(value, low), high);
        store(y + element, value);
      }
    activateRest(y + at, 0, 1, count * kChannelBlock, plan.epilogue);
  }
}

template <int parts>
inline void runSplitConvOf(const BlockedPlan &plan, void *const *arguments,
                           int64_t begin, int64_t end) {
  SplitScratch<parts> scratch;
  int64_t offsets[kMostSplitTaps * kSplitRows];
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  const int64_t terms = plan.inChannels * plan.kernelH * plan.kernelW;
  int64_t tile = begin;
  while (tile < end) {
    const ConvRun part(plan, plan.outChannels, tile, end, kSplitColumns);
    const PixelRows rows(plan,
                         static_cast<const float *>(arguments[0]) +
                             part.outer * plan.inChannels * plan.inH * plan.inW,
                         part.pixel, part.pixels, offsets);
    const MatrixPanels panels = {static_cast<const float *>(arguments[1]) +
                                     part.group * plan.outChannels * terms,
                                 terms,
                                 plan.outChannels,
                                 0,
                                 kPanelGroup * kChannelBlock,
                                 part.column};
    SplitBlock<parts, PixelRows, MatrixPanels> block(
        rows, panels, part.pixels, part.columns, terms, scratch);
    block.run();
    const int64_t size = part.outer * plan.outChannels * plan.pixels;
    const PixelBlock result = {plan,
                               bias ? bias + part.group * plan.outChannels
                                    : nullptr,
                               residual ? residual + size : nullptr,
                               static_cast<float *>(arguments[4]) + size,
                               part.pixel,
                               part.pixels};
    for (int64_t i = 0; i < part.count; ++i, ++tile) {
      const int64_t from = part.columnAt(i), to = part.columnAt(i + 1);
      const int64_t column = from - part.column;
      if (!block.isExact(column, to - part.column)) [[unlikely]]
        kPlainKernels.blockedConv(plan, arguments, tile, tile + 1);
      else
        result.write(scratch.sums + column, block.sumStride(),
                     from / kChannelBlock, to / kChannelBlock);
    }
  }
}

void runSplitConv(const BlockedPlan &plan, void *const *arguments,
                  int64_t begin, int64_t end) {
  runSplitConvOf<3>(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_SPLITCONV_H
