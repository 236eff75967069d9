// SPDX-License-Identifier: Apache-2.0
//
// Sums in blocks of channels become pixels of a plain tensor. See Vector.h for
// who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_PLAINPIXELS_H
#define DLC_RUNTIME_KERNEL_CPU_PLAINPIXELS_H

#include "Activations.h"
#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Element i of vector j becomes element j of vector i.
[[gnu::always_inline]] inline void turnQuad(Quad (&v)[4]) {
  const Quad low01 = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
  const Quad high01 = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
  const Quad low23 = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
  const Quad high23 = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
  v[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  v[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  v[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

/// Some pixels of a tile of an image whose y is plain.
struct PlainPixels {
  const BlockedPlan &plan;
  const float *bias, *residual; ///< Null when absent.
  float *y;
  int64_t pixelBegin, pixelEnd; ///< At most kMostPixelsOfTile.

  /// Writes panels [panel, panel + panels) of `sums`, [panels][pixels][16].
  void write(const float *sums, int64_t panel, int64_t panels) const;
};

inline void PlainPixels::write(const float *sums, int64_t panel,
                               int64_t panels) const {
  const int64_t count = pixelEnd - pixelBegin;
  const bool clamp = isClamp(plan.epilogue);
  const Vec low = splat(clampLow(plan.epilogue));
  const Vec high = splat(clampHigh(plan.epilogue));
  alignas(64) float rows[4][kMostPixelsOfTile + 16];
  for (int64_t quad = 0; quad < panels * 4; ++quad) {
    const int64_t channel = panel * kChannelBlock + quad * 4;
    const int64_t valid = least<int64_t>(plan.outChannels - channel, 4);
    const float *source =
        sums + quad / 4 * count * kChannelBlock + quad % 4 * 4;
    auto turn = [&](int64_t pixel, auto &&placeOf)
        __attribute__((always_inline)) {
      Quad v[4];
      DLC_UNROLL for (int i = 0; i < 4; ++i) v[i] =
          *reinterpret_cast<const UnalignedQuad *>(source +
                                                   placeOf(i) * kChannelBlock);
      turnQuad(v);
      DLC_UNROLL for (int i = 0; i < 4; ++i) *
          reinterpret_cast<UnalignedQuad *>(rows[i] + pixel) = v[i];
    };
    int64_t pixel = 0;
    for (; pixel + 4 <= count; pixel += 4)
      turn(pixel, [&](int i) { return pixel + i; });
    // The last pixels are read again: what is too much is never written.
    if (pixel < count)
      turn(pixel, [&](int i) { return least(pixel + i, count - 1); });
    const int64_t at = channel * plan.outPlane + pixelBegin;
    for (int64_t i = 0; i < valid; ++i) {
      const Vec start = splat(bias ? bias[channel + i] : 0.0f);
      const int64_t row = at + i * plan.outPlane;
      for (int64_t j = 0; j < count; j += kLanes) {
        Vec value = load(rows[i] + j) + start;
        if (residual)
          value += loadFirst(residual + row + j, count - j);
        if (clamp)
          value = minOf(maxOf(value, low), high);
        storeFirst(y + row + j, value, count - j);
      }
    }
    activateRest(y + at, plan.outPlane, valid, count, plan.epilogue);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PLAINPIXELS_H
