// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv of blocked tensors on tiles of bfloat16: the product of the elements
// under some pixels and the weights, which are packed as a matrix with a row
// for each block of channels, tap and channel. See SplitMatmul.h.

#ifndef DLC_RUNTIME_KERNEL_CPU_SPLITCONV_H
#define DLC_RUNTIME_KERNEL_CPU_SPLITCONV_H

#include "GridRuns.h"
#include "PixelRows.h"
#include "SplitProduct.h"
#include "WriteResults.h"

namespace dlc::rt::cpu {
namespace {

template <int parts>
inline void runSplitConvOf(const BlockedPlan &plan, void *const *arguments,
                           int64_t begin, int64_t end) {
  SplitScratch<parts> scratch;
  int64_t offsets[kMostSplitTaps * kSplitRows];
  const int64_t terms = plan.inChannels * plan.kernelH * plan.kernelW;
  int64_t tile = begin;
  while (tile < end) {
    const ConvRun part(plan, plan.outChannels, tile, end, kSplitColumns);
    const PixelRows rows(
        plan, static_cast<const float *>(arguments[0]) + part.inputOffset(),
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
    for (int64_t i = 0; i < part.count; ++i, ++tile) {
      const int64_t from = part.columnAt(i), to = part.columnAt(i + 1);
      const int64_t column = from - part.column;
      if (!block.isExact(column, to - part.column)) [[unlikely]]
        kPlainKernels.blockedConv(plan, arguments, tile, tile + 1);
      else
        writePixels(part, arguments, scratch.sums + column, block.sumStride(),
                    from, to - from, part.pixel, part.pixels);
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
