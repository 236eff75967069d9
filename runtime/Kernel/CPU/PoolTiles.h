// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.max_pool_gradient. See Vector.h for who may include it.
//
// A row of windows looks for its largest elements tap by tap, many windows side
// by side; only what they pass on goes one by one, as windows overlap.

#ifndef DLC_RUNTIME_KERNEL_CPU_POOLTILES_H
#define DLC_RUNTIME_KERNEL_CPU_POOLTILES_H

#include "ConvPack.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Windows next to each other, and the element that each has found: its value
/// and its place in the plane, negative while there is none.
struct LargestElements {
  static constexpr int64_t most = 256;
  float value[most];
  int32_t place[most];
};

/// Windows [begin, end) look at one tap, of which that of window 0 is `row[0]`
/// and `place` in the plane. `stride` is 0 where it is not known.
template <int stride>
inline void lookAt(LargestElements &found, const float *row, int64_t place,
                   int64_t begin, int64_t end, int64_t anyStride) {
  const int64_t step = stride > 0 ? stride : anyStride;
  for (int64_t i = begin; i < end; ++i) {
    const float value = row[i * step], best = found.value[i];
    const bool isLarger =
        (found.place[i] < 0) | ((best == best) & !(value <= best));
    found.value[i] = isLarger ? value : best;
    found.place[i] =
        isLarger ? static_cast<int32_t>(place + i * step) : found.place[i];
  }
}

/// `count` windows of output row `y` from output column `x` on.
inline void findLargest(const MaxPoolPlan &plan, const float *plane, int64_t y,
                        int64_t x, int64_t count, LargestElements &found) {
  for (int64_t i = 0; i < count; ++i) {
    found.value[i] = 0;
    found.place[i] = -1;
  }
  // Taps that meet the image: a window may be far larger.
  const int64_t firstRow = y * plan.strideH - plan.padTop;
  const int64_t firstColumn = x * plan.strideW - plan.padLeft;
  const int64_t lastColumn = firstColumn + (count - 1) * plan.strideW;
  const int64_t endY =
      least(firstReaching(plan.inH, firstRow, plan.dilationH), plan.kernelH);
  const int64_t endX =
      least(firstReaching(plan.inW, firstColumn, plan.dilationW), plan.kernelW);
  for (int64_t kernelY = firstReaching(0, firstRow, plan.dilationH);
       kernelY < endY; ++kernelY) {
    const int64_t inY = firstRow + kernelY * plan.dilationH;
    for (int64_t kernelX = firstReaching(0, lastColumn, plan.dilationW);
         kernelX < endX; ++kernelX) {
      const int64_t origin =
          x * plan.strideW + kernelX * plan.dilationW - plan.padLeft;
      const int64_t begin =
          least(firstReaching(0, origin, plan.strideW), count);
      const int64_t end =
          least(firstReaching(plan.inW, origin, plan.strideW), count);
      const int64_t place = inY * plan.inW + origin;
      const float *row = plane + place;
      if (plan.strideW == 1)
        lookAt<1>(found, row, place, begin, end, 1);
      else if (plan.strideW == 2)
        lookAt<2>(found, row, place, begin, end, 2);
      else
        lookAt<0>(found, row, place, begin, end, plan.strideW);
    }
  }
}

void runMaxPoolGradient(const MaxPoolPlan &plan, void *const *arguments,
                        int64_t begin, int64_t end) {
  const int64_t inSize = plan.inH * plan.inW, outSize = plan.outH * plan.outW;
  const int64_t first = begin * plan.planeBlock;
  const int64_t last = least(end * plan.planeBlock, plan.planes);
  for (int64_t plane = first; plane < last; ++plane) {
    const float *x = static_cast<const float *>(arguments[0]) + plane * inSize;
    const float *g = static_cast<const float *>(arguments[1]) + plane * outSize;
    float *result = static_cast<float *>(arguments[2]) + plane * inSize;
    for (int64_t i = 0; i < inSize; ++i)
      result[i] = 0;
    for (int64_t row = 0; row < plan.outH; ++row) {
      for (int64_t column = 0; column < plan.outW;
           column += LargestElements::most) {
        const int64_t count = least(LargestElements::most, plan.outW - column);
        LargestElements found;
        findLargest(plan, x, row, column, count, found);
        for (int64_t i = 0; i < count; ++i)
          if (found.place[i] >= 0)
            result[found.place[i]] += g[row * plan.outW + column + i];
      }
    }
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_POOLTILES_H
