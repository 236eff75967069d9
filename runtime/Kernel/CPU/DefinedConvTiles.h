// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv as it is defined, element by element: for weights that are not
// finite, which padding with zeros would turn into NaN. See Vector.h for who
// may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_DEFINEDCONVTILES_H
#define DLC_RUNTIME_KERNEL_CPU_DEFINEDCONVTILES_H

#include "Activations.h"

namespace dlc::rt::cpu {
namespace {

/// The offset of a row of a channel in a tensor of `planes` x `height` rows
/// of `width`, and with `step` how far its elements lie apart.
struct RowPlace {
  RowPlace(bool isBlocked, int64_t image, int64_t channel, int64_t planes,
           int64_t row, int64_t height, int64_t width)
      : step(isBlocked ? kChannelBlock : 1) {
    const int64_t plane = image * planes + channel / step;
    offset = (plane * height + row) * width * step + channel % step;
  }
  int64_t offset, step;
};

/// The sum of the taps inside of the image: others are no terms.
inline double definedSum(const DefinedConvPlan &plan, const float *x,
                         const float *w, int64_t image, int64_t channel,
                         int64_t row, int64_t column) {
  const int64_t groupIn = plan.inChannels / plan.group;
  const int64_t group = channel / (plan.outChannels / plan.group);
  double sum = 0;
  for (int64_t c = 0; c < groupIn; ++c)
    for (int64_t i = 0; i < plan.kernelH; ++i) {
      const int64_t inY = row * plan.strideH - plan.padTop + i * plan.dilationH;
      if (inY < 0 || inY >= plan.inH)
        continue;
      const RowPlace from(plan.isBlockedX, image, group * groupIn + c,
                          plan.inPlanes, inY, plan.inH, plan.inW);
      const float *taps =
          w + ((channel * groupIn + c) * plan.kernelH + i) * plan.kernelW;
      for (int64_t j = 0; j < plan.kernelW; ++j) {
        const int64_t inX =
            column * plan.strideW - plan.padLeft + j * plan.dilationW;
        if (inX >= 0 && inX < plan.inW)
          sum += double{x[from.offset + inX * from.step]} * taps[j];
      }
    }
  return sum;
}

/// Tiles are rows of y: of a channel, or of a block of channels.
void runDefinedConv(const DefinedConvPlan &plan, void *const *arguments,
                    int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const int64_t step = plan.isBlockedY ? kChannelBlock : 1;
  const int64_t blocks = plan.outPlanes;
  const bool clamp = isClamp(plan.epilogue);
  const float low = clampLow(plan.epilogue), high = clampHigh(plan.epilogue);
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t row = tile % plan.outH, block = tile / plan.outH % blocks;
    const int64_t image = tile / plan.outH / blocks;
    const int64_t first = tile * plan.outW * step;
    for (int64_t i = 0; i < plan.outW * step; ++i) {
      const int64_t channel = block * step + i % step;
      if (channel >= plan.outChannels) {
        y[first + i] = 0; // Nobody's.
        continue;
      }
      auto value = static_cast<float>(
          definedSum(plan, x, w, image, channel, row, i / step));
      value += bias ? bias[channel] : 0;
      value += residual ? residual[first + i] : 0;
      if (clamp) { // As maxOf() and minOf(), which keep NaN.
        value = low > value ? low : value;
        value = high < value ? high : value;
      }
      y[first + i] = value;
    }
    activateRest(y + first, plan.outW * step, 1, plan.outW * step,
                 plan.epilogue);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_DEFINEDCONVTILES_H
