// SPDX-License-Identifier: Apache-2.0
//
// Tiles of a grid that follow each other in one row of it: they need the same
// rows of one operand, which are made ready once for all of them. See Vector.h
// for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_GRIDRUNS_H
#define DLC_RUNTIME_KERNEL_CPU_GRIDRUNS_H

#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Columns with their padding to whole panels.
inline int64_t paddedColumns(int64_t columns) {
  return (columns + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
}

/// Of a product of matrices: tiles from `tile` on, as many as there are before
/// `end` with at most `mostColumns` columns.
struct MatmulRun {
  MatmulRun(const MatmulPlan &plan, int64_t tile, int64_t end,
            int64_t mostColumns) {
    const int64_t columnIndex = tile % plan.columnBlocks;
    const int64_t rest = tile / plan.columnBlocks;
    batch = rest / plan.rowBlocks;
    row = rest % plan.rowBlocks * plan.rowBlock;
    rows = least(plan.rowBlock, plan.m - row);
    count = least(least(end - tile, plan.columnBlocks - columnIndex),
                  mostColumns / plan.columnBlock);
    column = columnIndex * plan.columnBlock;
    columns = least(count * plan.columnBlock, plan.n - column);
    at = (batch * plan.m + row) * plan.n + column;
  }
  int64_t batch, row, rows, column, columns;
  int64_t count; ///< Tiles.
  int64_t at;    ///< Of the first element in c.
};

/// Of a convolution of blocked tensors whose tiles of one block of pixels
/// follow each other, unless panels are slowest; `channels` are those of a
/// group, with their padding.
struct ConvRun {
  ConvRun(const BlockedPlan &plan, int64_t channels, int64_t tile, int64_t end,
          int64_t mostColumns)
      : plan(plan), channels(channels) {
    const int64_t blocks = plan.batch * plan.group * plan.pixelBlocks;
    const bool isSlow = plan.isPanelSlowest;
    groupIndex = isSlow ? tile / blocks : tile % plan.groupBlocks;
    const int64_t block = isSlow ? tile % blocks : tile / plan.groupBlocks;
    pixelIndex = block % plan.pixelBlocks;
    outer = block / plan.pixelBlocks;
    group = outer % plan.group;
    pixel = pixelAt(pixelIndex);
    pixels = pixelAt(pixelIndex + 1) - pixel;
    column = columnAt(0);
    const int64_t most =
        isSlow ? 1 : least(end - tile, plan.groupBlocks - groupIndex);
    while (count < most && columnAt(count + 1) - column <= mostColumns)
      ++count;
    columns = columnAt(count) - column;
  }

  /// The first tile of a block of pixels, of an image and group.
  static int64_t tileOf(const BlockedPlan &plan, int64_t block) {
    return plan.isPanelSlowest ? block : block * plan.groupBlocks;
  }

  /// Elements in front of the image and group in x, and in y and a residual.
  int64_t inputOffset() const {
    return outer * plan.inChannels * plan.inH * plan.inW;
  }
  int64_t outputOffset() const {
    return outer * plan.outChannels * plan.outPlane;
  }
  /// Of the first channel of the group; null where there is none.
  const float *biasOf(void *const *arguments) const {
    const auto *bias = static_cast<const float *>(arguments[2]);
    return bias ? bias + group * plan.outChannels : nullptr;
  }

  /// Where tile `index` of the run begins.
  int64_t columnAt(int64_t index) const {
    const int64_t unit = plan.columnUnit, units = (channels + unit - 1) / unit;
    return least(part(units, groupIndex + index, plan.groupBlocks) * unit,
                 channels);
  }
  static int64_t part(int64_t total, int64_t index, int64_t count) {
    return total * index / count;
  }
  int64_t pixelAt(int64_t block) const {
    const int64_t unit = plan.pixelUnit;
    return part(plan.pixels / unit, block, plan.pixelBlocks) * unit;
  }

  const BlockedPlan &plan;
  const int64_t channels;
  int64_t groupIndex; ///< Of the block of panels.
  int64_t outer; ///< Image and group.
  int64_t pixelIndex; ///< Of the block of pixels.
  int64_t group, pixel, pixels, column, columns;
  int64_t count = 1; ///< Tiles.
};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_GRIDRUNS_H
