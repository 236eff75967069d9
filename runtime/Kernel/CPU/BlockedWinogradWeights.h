// SPDX-License-Identifier: Apache-2.0
//
// Packs weights for blocked tensors in a run, where they are not constants, and
// transforms those of F(4x4, 3x3): G g G^T of each output and input channel, as
// packWinograd() writes them, [36][OC/64][C][64]. See Vector.h for who may
// include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADWEIGHTS_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADWEIGHTS_H

#include "WinogradTiles.h"

namespace dlc::rt::cpu {
namespace {

/// G g: three numbers of a row or a column to six.
[[gnu::always_inline]] inline void transformThree(const Vec (&g)[3],
                                                  Vec (&t)[6]) {
  constexpr double p = kWinogradP, q = kWinogradQ, pp = p * p, qq = q * q;
  constexpr double ofP = 1 / (2 * pp * (pp - qq)),
                   ofQ = 1 / (2 * qq * (qq - pp));
  auto scaled = [](double factor, Vec value) __attribute__((always_inline)) {
    return static_cast<float>(factor) * value;
  };
  const Vec evenP = scaled(ofP, g[0]) + scaled(pp * ofP, g[2]);
  const Vec evenQ = scaled(ofQ, g[0]) + scaled(qq * ofQ, g[2]);
  const Vec oddP = scaled(p * ofP, g[1]), oddQ = scaled(q * ofQ, g[1]);
  t[0] = scaled(1 / (pp * qq), g[0]);
  t[1] = evenP + oddP;
  t[2] = evenP - oddP;
  t[3] = evenQ + oddQ;
  t[4] = evenQ - oddQ;
  t[5] = g[2];
}

constexpr int64_t kWeightTerms = 9 * kChannelBlock;
constexpr int64_t kWideChannels = kPanelGroup * kChannelBlock;

/// Turns `terms`, a multiple of four, of `channels` rows, which lie `stride`
/// apart, to columns: term i becomes the row at rowOf(i).
template <typename Function>
[[gnu::always_inline]] inline void turnRows(const float *source, int64_t stride,
                                            int64_t channels, int64_t terms,
                                            Function &&rowOf) {
  for (int64_t out = 0; out < channels; out += kLanes)
    for (int64_t term = 0; term < terms; term += 4) {
      Vec v[4];
      DLC_UNROLL for (int j = 0; j < 4; ++j) v[j] =
          joinQuads([&](int q) __attribute__((always_inline)) {
            return source + (out + 4 * q + j) * stride + term;
          });
      turnQuads(v);
      DLC_UNROLL for (int j = 0; j < 4; ++j) store(rowOf(term + j) + out, v[j]);
    }
}

void packPanels(const float *source, int64_t stride, int64_t channels,
                int64_t taps, float *target) {
  turnRows(source, stride, channels, kChannelBlock * taps, [&](int64_t term) {
    return target + (term % taps * kChannelBlock + term / taps) * channels;
  });
}

/// One vector of output channels of one input channel, to its place in 36 rows.
[[gnu::always_inline]] inline void
transformWeights(const float (*taps)[kWideChannels], int64_t out,
                 float (*points)[kWideChannels]) {
  Vec half[6][3];
  DLC_UNROLL for (int j = 0; j < 3; ++j) {
    Vec g[3], t[6];
    DLC_UNROLL for (int i = 0; i < 3; ++i) g[i] = load(taps[3 * i + j] + out);
    transformThree(g, t);
    DLC_UNROLL for (int i = 0; i < 6; ++i) half[i][j] = t[i];
  }
  for (int i = 0; i < 6; ++i) {
    Vec t[6];
    transformThree(half[i], t);
    DLC_UNROLL for (int j = 0; j < 6; ++j) store(points[6 * i + j] + out, t[j]);
  }
}

/// Tiles of the grid: group of panels, block of input channels, the last
/// fastest.
void runBlockedWinogradWeights(const WinogradPlan &plan, void *const *arguments,
                               int64_t begin, int64_t end) {
  alignas(64) float turned[kWeightTerms][kWideChannels];
  alignas(64) float points[36][kWideChannels];
  static_assert(sizeof(turned) + sizeof(points) <= kScratchBytes);
  auto *target = static_cast<float *>(arguments[1]);
  const auto *source = static_cast<const float *>(arguments[6]);
  const int64_t blocks = plan.inChannels / kChannelBlock;
  const int64_t stride = 9 * plan.inChannels;
  const int64_t pointStride = (plan.outEnd - plan.outBegin) * plan.inChannels;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t first = plan.outBegin + tile / blocks * kWideChannels;
    const int64_t c = tile % blocks * kChannelBlock;
    const int64_t width = least(kWideChannels, plan.outEnd - first);
    turnRows(source + first * stride + 9 * c, stride, width, kWeightTerms,
             [&](int64_t term) { return turned[term]; });
    float *rows =
        target + (first - plan.outBegin) * plan.inChannels + c * width;
    for (int64_t i = 0; i < kChannelBlock; ++i, rows += width) {
      for (int64_t out = 0; out < width; out += kLanes)
        transformWeights(turned + 9 * i, out, points);
      // Rows of the 36 lie far apart, often in one set of a cache: whole ones
      // are written.
      for (int64_t point = 0; point < 36; ++point)
        for (int64_t out = 0; out < width; out += kLanes)
          store(rows + point * pointStride + out, load(points[point] + out));
    }
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADWEIGHTS_H
