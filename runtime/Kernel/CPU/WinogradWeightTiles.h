// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv_weight_gradient of 3x3 taps on blocked tensors, as the adjoint of
// F(4x4, 3x3): where that one is A^T [(G w G^T) . (B^T d B)] A, the gradient of
// w is G^T [sum of (A g A^T) . (B^T d B)] G over all tiles of 4x4 gradients g
// and 6x6 inputs d, with the points of WinogradTiles.h. See Vector.h for who
// may include it.
//
// Of some tiles both are transformed to [36][C/16 + OC/16][tiles][16]; for each
// of the 36 the products of their channels are summed, 16 x 16 at a time; when
// all tiles are done, sums are transformed back. What is not finite is computed
// again by the definition, as in WinogradTiles.h.

#ifndef DLC_RUNTIME_KERNEL_CPU_WINOGRADWEIGHTTILES_H
#define DLC_RUNTIME_KERNEL_CPU_WINOGRADWEIGHTTILES_H

#include "BlockedWeightTiles.h"
#include "BlockedWinogradTiles.h"

namespace dlc::rt::cpu {
namespace {

/// A u: four numbers of a row or a column to six.
[[gnu::always_inline]] inline void transformFour(const Vec (&u)[4],
                                                 Vec (&t)[6]) {
  const Vec evenP = u[0] + kPP * u[2], oddP = kP * (u[1] + kPP * u[3]);
  const Vec evenQ = u[0] + kQQ * u[2], oddQ = kQ * (u[1] + kQQ * u[3]);
  t[0] = u[0];
  t[1] = evenP + oddP;
  t[2] = evenP - oddP;
  t[3] = evenQ + oddQ;
  t[4] = evenQ - oddQ;
  t[5] = u[3];
}

/// G^T m: six sums to three weights.
[[gnu::always_inline]] inline void transformToThree(const Vec (&m)[6],
                                                    Vec (&w)[3]) {
  const Vec sumP = kByP * (m[1] + m[2]), differenceP = kByP * (m[1] - m[2]);
  const Vec sumQ = kByQ * (m[3] + m[4]), differenceQ = kByQ * (m[3] - m[4]);
  w[0] = kByBoth * m[0] + sumP + sumQ;
  w[1] = kP * differenceP + kQ * differenceQ;
  w[2] = kPP * sumP + kQQ * sumQ + m[5];
}

/// The 36 numbers of a tile of gradients, for one vector of channels of `g`,
/// the plane.
[[gnu::always_inline]] inline void
transformGradient(const WinogradPlan &plan, const TileAt &at, const float *g,
                  float *target, int64_t pointStride) {
  Vec half[6][4];
  for (int j = 0; j < 4; ++j) {
    Vec u[4], t[6];
    for (int i = 0; i < 4; ++i) {
      const int64_t row = at.row + i, column = at.column + j;
      u[i] = row < plan.outH && column < plan.outW
                 ? load(g + (row * plan.outW + column) * kChannelBlock)
                 : Vec{};
    }
    transformFour(u, t);
    DLC_UNROLL for (int i = 0; i < 6; ++i) half[i][j] = t[i];
  }
  for (int i = 0; i < 6; ++i) {
    Vec t[6];
    transformFour(half[i], t);
    DLC_UNROLL for (int j = 0; j < 6; ++j)
        store(target + (i * 6 + j) * pointStride, t[j]);
  }
}

/// Floats from one of the 36 to the next.
inline int64_t pointStrideOf(const WinogradPlan &plan) {
  return plan.tiles * (plan.inChannels + plan.outChannels) + kWinogradGap;
}

/// Tiles of the grid: block of tiles, block of channels of x, then of g, the
/// last fastest.
void runWinogradWeightInput(const WinogradPlan &plan, void *const *arguments,
                            int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *g = static_cast<const float *>(arguments[1]);
  auto *transformed = static_cast<float *>(arguments[3]);
  const int64_t inBlocks = plan.inChannels / kChannelBlock;
  const int64_t outBlocks = plan.outChannels / kChannelBlock;
  const int64_t blocks = inBlocks + outBlocks;
  const int64_t inSize = plan.inH * plan.inW * kChannelBlock;
  const int64_t outSize = plan.outH * plan.outW * kChannelBlock;
  const int64_t pointStride = pointStrideOf(plan);
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t block = tile % blocks;
    float *target = transformed + block * plan.tiles * kChannelBlock;
    const int64_t last = shareOf(plan.tiles, tile / blocks + 1, plan.blocks);
    int64_t t = shareOf(plan.tiles, tile / blocks, plan.blocks);
    for (TileWalk walk(plan, plan.firstTile + t); t < last;
         ++t, walk.advance()) {
      const TileAt at = walk.at();
      for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes) {
        float *to = target + t * kChannelBlock + lane;
        if (block < inBlocks)
          transformBlocked<false, false>(
              plan, at, x + (at.image * inBlocks + block) * inSize + lane, to,
              pointStride);
        else
          transformGradient(
              plan, at,
              g + (at.image * outBlocks + block - inBlocks) * outSize + lane,
              to, pointStride);
      }
    }
  }
}

/// A block of x's channels and one of the gradient's.
struct WeightPair {
  WeightPair(const WinogradPlan &plan, int64_t index)
      : in(index / (plan.outChannels / kChannelBlock)),
        out(index % (plan.outChannels / kChannelBlock)) {}
  /// Of the 36 sums of 16 x 16.
  static constexpr int64_t kSums = 36 * kChannelBlock * kChannelBlock;
  int64_t in, out;
};

/// The sums of one of the 36, over the plan's tiles.
inline void multiplyPair(const WinogradPlan &plan, const float *transformed,
                         int64_t point, const WeightPair &pair, float *sums,
                         bool accumulate) {
  const int64_t blockSize = plan.tiles * kChannelBlock;
  const float *own = transformed + point * pointStrideOf(plan);
  OuterArguments t = {};
  t.x = own + pair.in * blockSize;
  t.g = own + (plan.inChannels / kChannelBlock + pair.out) * blockSize;
  t.xPixel = kChannelBlock;
  t.lines = 1;
  t.pixels = plan.tiles;
  t.sums = sums + point * kChannelBlock * kChannelBlock;
  t.sumStride = kChannelBlock;
  t.accumulate = accumulate;
  addOuterProducts(t);
}

/// Tiles of the grid: one of the 36, for all pairs.
void runWinogradWeightProduct(const WinogradPlan &plan, void *const *arguments,
                              int64_t begin, int64_t end) {
  const auto *transformed = static_cast<const float *>(arguments[3]);
  auto *sums = static_cast<float *>(arguments[4]);
  const int64_t pairs =
      plan.inChannels / kChannelBlock * (plan.outChannels / kChannelBlock);
  for (int64_t point = begin; point < end; ++point)
    for (int64_t index = 0; index < pairs; ++index)
      multiplyPair(plan, transformed, point, WeightPair(plan, index),
                   sums + index * WeightPair::kSums, plan.firstTile > 0);
}

/// The nine weights of one vector of output channels by the definition; x and g
/// are those of the first image.
inline void sumDirectly(const WinogradPlan &plan, const float *x,
                        const float *g, Vec (&weights)[9]) {
  DLC_UNROLL for (Vec &weight : weights) weight = Vec{};
  const int64_t images =
      (plan.firstTile + plan.tiles) / (plan.tilesH * plan.tilesW);
  for (int64_t image = 0; image < images; ++image) {
    for (int64_t row = 0; row < plan.outH; ++row)
      for (int64_t column = 0; column < plan.outW; ++column)
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t inY = row + tap / 3 - plan.padTop;
          const int64_t inX = column + tap % 3 - plan.padLeft;
          if (inY < 0 || inY >= plan.inH || inX < 0 || inX >= plan.inW)
            continue;
          weights[tap] += splat(x[(inY * plan.inW + inX) * kChannelBlock]) *
                          load(g + (row * plan.outW + column) * kChannelBlock);
        }
    x += plan.inChannels * plan.inH * plan.inW;
    g += plan.outChannels * plan.outH * plan.outW;
  }
}

/// False if one is not finite.
[[gnu::always_inline]] inline bool transformSums(const float *sums,
                                                 Vec (&weights)[9]) {
  Vec half[3][6], zero = {}; // NaN when something is not finite.
  DLC_UNROLL for (int j = 0; j < 6; ++j) {
    Vec m[6], w[3];
    DLC_UNROLL for (int i = 0; i < 6; ++i) m[i] =
        load(sums + (i * 6 + j) * kChannelBlock * kChannelBlock);
    transformToThree(m, w);
    DLC_UNROLL for (int i = 0; i < 3; ++i) half[i][j] = w[i];
  }
  DLC_UNROLL for (int i = 0; i < 3; ++i) {
    Vec w[3];
    transformToThree(half[i], w);
    DLC_UNROLL for (int j = 0; j < 3; ++j) {
      weights[3 * i + j] = w[j];
      zero += w[j] * 0.0f;
    }
  }
  const IntVec isZero = zero == Vec{};
  bool isFinite = true;
  DLC_UNROLL for (int lane = 0; lane < kLanes; ++lane) isFinite &=
      isZero[lane] != 0;
  return isFinite;
}

/// Tiles of the grid: a pair, whose sums are there or, of few tiles, are made.
void runWinogradWeightResult(const WinogradPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  alignas(64) float own[WeightPair::kSums];
  alignas(64) float rows[9 * kChannelBlock][kChannelBlock];
  static_assert(sizeof(own) + sizeof(rows) <= kScratchBytes);
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *g = static_cast<const float *>(arguments[1]);
  auto *result = static_cast<float *>(arguments[2]);
  const auto *transformed = static_cast<const float *>(arguments[3]);
  const auto *kept = static_cast<const float *>(arguments[4]);
  const int64_t terms = 9 * plan.inChannels;
  for (int64_t tile = begin; tile < end; ++tile) {
    const WeightPair pair(plan, tile);
    for (int64_t point = 0; !kept && point < 36; ++point)
      multiplyPair(plan, transformed, point, pair, own, false);
    const float *sums = kept ? kept + tile * WeightPair::kSums : own;
    for (int64_t c = 0; c < kChannelBlock; ++c)
      for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes) {
        Vec weights[9];
        if (!transformSums(sums + c * kChannelBlock + lane, weights))
            [[unlikely]]
          sumDirectly(
              plan, x + pair.in * plan.inH * plan.inW * kChannelBlock + c,
              g + pair.out * plan.outH * plan.outW * kChannelBlock + lane,
              weights);
        DLC_UNROLL for (int tap = 0; tap < 9; ++tap)
            store(rows[9 * c + tap] + lane, weights[tap]);
      }
    writeWeights(rows[0], 9 * kChannelBlock, kChannelBlock,
                 result + pair.out * kChannelBlock * terms +
                     pair.in * kChannelBlock * 9,
                 terms);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_WINOGRADWEIGHTTILES_H
