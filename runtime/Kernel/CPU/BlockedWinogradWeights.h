// SPDX-License-Identifier: Apache-2.0
//
// Packs weights for blocked tensors in a run, where they are not constants; and
// what transforms those of F(4x4, 3x3), G g G^T, a row of g or of the result at
// a time. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADWEIGHTS_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADWEIGHTS_H

#include "WinogradTiles.h"

namespace dlc::rt::cpu {
namespace {

/// G g: three numbers of a row to six, but for the factors of WinogradTiles.h.
[[gnu::always_inline]] inline void transformThree(const Vec (&g)[3],
                                                  Vec (&t)[6]) {
  const Vec evenP = g[0] + kPP * g[2], evenQ = g[0] + kQQ * g[2];
  t[0] = g[0];
  t[1] = plusProduct(evenP, kP, g[1]);
  t[2] = minusProduct(evenP, kP, g[1]);
  t[3] = plusProduct(evenQ, kQ, g[1]);
  t[4] = minusProduct(evenQ, kQ, g[1]);
  t[5] = g[2];
}

constexpr int64_t kWideChannels = kPanelGroup * kChannelBlock;

/// Rows of four vectors are turned to columns.
void packPanels(const float *source, int64_t stride, int64_t channels,
                int64_t taps, float *target) {
  for (int64_t out = 0; out < channels; out += kLanes)
    for (int64_t term = 0; term < kChannelBlock * taps; term += 4) {
      Vec v[4];
      DLC_UNROLL for (int j = 0; j < 4; ++j) v[j] =
          joinQuads([&](int q) __attribute__((always_inline)) {
            return source + (out + 4 * q + j) * stride + term;
          });
      turnQuads(v);
      DLC_UNROLL for (int j = 0; j < 4; ++j) {
        const int64_t row =
            (term + j) % taps * kChannelBlock + (term + j) / taps;
        store(target + row * channels + out, v[j]);
      }
    }
}

/// Row `row` of G g, of one vector of output channels of one input channel,
/// whose 9 taps lie `tapStride` apart.
template <int row>
[[gnu::always_inline]] inline void
transformHalf(const float *taps, int64_t tapStride, Vec (&half)[3]) {
  constexpr float factor =
      (row == 1 || row == 3 ? 1 : -1) * (row < 3 ? kP : kQ);
  DLC_UNROLL for (int j = 0; j < 3; ++j, taps += tapStride) {
    if constexpr (row == 0)
      half[j] = load(taps);
    else if constexpr (row == 5)
      half[j] = load(taps + 6 * tapStride);
    else
      half[j] = load(taps) + factor * load(taps + 3 * tapStride) +
                factor * factor * load(taps + 6 * tapStride);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADWEIGHTS_H
