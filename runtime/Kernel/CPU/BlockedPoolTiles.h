// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.max_pool_gradient on blocked tensors: lanes are channels,
// and each has found the tap that its window chose. See Vector.h for who may
// include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDPOOLTILES_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDPOOLTILES_H

#include "ConvPack.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// The taps of one window that meet the image, row after row.
struct MeetingTaps {
  MeetingTaps(const MaxPoolPlan &plan, int64_t y, int64_t x)
      : row(y * plan.strideH - plan.padTop),
        column(x * plan.strideW - plan.padLeft),
        beginY(firstReaching(0, row, plan.dilationH)),
        endY(least(firstReaching(plan.inH, row, plan.dilationH), plan.kernelH)),
        beginX(firstReaching(0, column, plan.dilationW)),
        endX(least(firstReaching(plan.inW, column, plan.dilationW),
                   plan.kernelW)) {}

  /// Calls function(number, offset in the plane) for each.
  template <typename Function>
  [[gnu::always_inline]] void forEach(const MaxPoolPlan &plan,
                                      Function &&function) const {
    int32_t number = 0;
    for (int64_t i = beginY; i < endY; ++i)
      for (int64_t j = beginX; j < endX; ++j)
        function(number++, ((row + i * plan.dilationH) * plan.inW + column +
                            j * plan.dilationW) *
                               kChannelBlock);
  }

  int64_t row, column; ///< Of the first tap.
  int64_t beginY, endY, beginX, endX;
};

/// One vector of channels of a plane.
inline void addPoolGradient(const MaxPoolPlan &plan, const float *x,
                            const float *g, float *result) {
  for (int64_t y = 0; y < plan.outH; ++y)
    for (int64_t column = 0; column < plan.outW; ++column) {
      const MeetingTaps taps(plan, y, column);
      Vec best = {};
      IntVec chosen = IntVec{} - 1;
      taps.forEach(plan, [&](int32_t number,
                             int64_t offset) __attribute__((always_inline)) {
        const Vec value = load(x + offset);
        const IntVec isLarger =
            (chosen < 0) | ((best == best) & ~(value <= best));
        best = isLarger ? value : best;
        chosen = isLarger ? IntVec{} + number : chosen;
      });
      const Vec passed = load(g + (y * plan.outW + column) * kChannelBlock);
      taps.forEach(plan, [&](int32_t number,
                             int64_t offset) __attribute__((always_inline)) {
        const Vec own = chosen == number ? passed : Vec{};
        store(result + offset, load(result + offset) + own);
      });
    }
}

void runBlockedMaxPoolGradient(const MaxPoolPlan &plan, void *const *arguments,
                               int64_t begin, int64_t end) {
  const int64_t inSize = plan.inH * plan.inW * kChannelBlock;
  const int64_t outSize = plan.outH * plan.outW * kChannelBlock;
  const int64_t first = begin * plan.planeBlock;
  const int64_t last = least(end * plan.planeBlock, plan.planes);
  for (int64_t plane = first; plane < last; ++plane) {
    float *result = static_cast<float *>(arguments[2]) + plane * inSize;
    for (int64_t i = 0; i < inSize; i += kLanes)
      store(result + i, Vec{});
    for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes)
      addPoolGradient(
          plan,
          static_cast<const float *>(arguments[0]) + plane * inSize + lane,
          static_cast<const float *>(arguments[1]) + plane * outSize + lane,
          result + lane);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDPOOLTILES_H
