// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.conv_weight_gradient on blocked tensors [N][C/16][H][W][16].
// See Vector.h for who may include it.
//
// Lanes are output channels: for each tap, the sixteen elements of x under a
// pixel times the sixteen of the gradient add to 16 x 16 sums. Elements are
// read where they are, along the lines of pixels whose tap is inside of the
// image.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDWEIGHTTILES_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDWEIGHTTILES_H

#include "BlockedTiles.h"
#include "ConvPack.h"

namespace dlc::rt::cpu {
namespace {

/// One call: sums[row][16] = or += the products of channel `row` of x and
/// sixteen channels of g, over lines of pixels.
struct OuterArguments {
  const float *x;
  int64_t xPixel, xLine;
  const float *g; ///< Pixels lie kChannelBlock apart.
  int64_t gLine;
  int64_t lines, pixels;
  float *sums;
  int64_t sumStride; ///< From row to row.
  bool accumulate;
};

template <int rows> void outerKernel(const OuterArguments &t) {
  Vec sums[rows][kBlockVectors] = {};
  const int64_t xPixel = t.xPixel;
  for (int64_t line = 0; line < t.lines; ++line) {
    const float *x = t.x + line * t.xLine, *g = t.g + line * t.gLine;
    for (const float *end = g + t.pixels * kChannelBlock; g != end;
         g += kChannelBlock, x += xPixel) {
      if constexpr (rows < kBlockVectors) {
        Vec factors[rows];
        DLC_UNROLL for (int i = 0; i < rows; ++i) factors[i] = splat(x[i]);
        DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v) {
          const Vec row = load(g + v * kLanes);
          DLC_UNROLL for (int i = 0; i < rows; ++i) sums[i][v] +=
              factors[i] * row;
          DLC_KEEP_LOADS_HERE();
        }
      } else {
        Vec row[kBlockVectors];
        DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v) row[v] =
            load(g + v * kLanes);
        DLC_UNROLL for (int i = 0; i < rows; ++i) {
          const Vec factor = splat(x[i]);
          DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v) sums[i][v] +=
              factor * row[v];
          DLC_KEEP_LOADS_HERE();
        }
      }
    }
  }
  DLC_UNROLL for (int i = 0; i < rows; ++i) {
    float *target = t.sums + i * t.sumStride;
    DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v, target += kLanes)
        store(target, t.accumulate ? load(target) + sums[i][v] : sums[i][v]);
  }
}

/// All sixteen rows: 6 x 2 vectors of sums, or 2 x 4, with 16 registers.
inline void addOuterProducts(OuterArguments t) {
#if DLC_VECTOR_BYTES == 64
  outerKernel<16>(t);
#else
  constexpr int most = kLanes == 8 ? 6 : 2;
  constexpr int calls = (kChannelBlock + most - 1) / most;
  const OuterArguments first = t;
  for (int64_t c = 0; c < calls; ++c) {
    const int64_t row = shareOf(kChannelBlock, c, calls);
    t.x = first.x + row;
    t.sums = first.sums + row * t.sumStride;
    if (shareOf(kChannelBlock, c + 1, calls) - row == most)
      outerKernel<most>(t);
    else
      outerKernel<most - 1>(t);
  }
#endif
}

/// Turns sums [terms][channels], a multiple of 16, to rows of terms, which lie
/// `stride` apart.
inline void writeWeights(const float *sums, int64_t terms, int64_t channels,
                         float *target, int64_t stride) {
  for (int64_t out = 0; out < channels; out += kLanes) {
    int64_t term = 0;
    for (; term + 4 <= terms; term += 4) {
      Vec v[4];
      DLC_UNROLL for (int j = 0; j < 4; ++j) v[j] =
          load(sums + (term + j) * channels + out);
      turnQuads(v);
      DLC_UNROLL for (int j = 0; j < 4; ++j)
          storeQuads(target + (out + j) * stride + term, 4 * stride, v[j]);
    }
    for (; term < terms; ++term)
      for (int lane = 0; lane < kLanes; ++lane)
        target[(out + lane) * stride + term] =
            sums[term * channels + out + lane];
  }
}

/// Blocks [inBegin, inEnd) of x and [outBegin, outEnd) of the gradient, of one
/// group.
struct BlockedWeightTile {
  const BlockedWeightPlan &plan;
  const float *x, *g; ///< Of the group, in the first image.
  int64_t inBegin, inEnd, outBegin, outEnd;
  float *sums; ///< [channels of x][taps][output channels].

  void run() const;

private:
  int64_t taps() const { return plan.kernelH * plan.kernelW; }
  int64_t width() const { return (outEnd - outBegin) * kChannelBlock; }
  void addLines(int64_t image, int64_t begin, int64_t end) const;
  void addTaps(OuterArguments t, int64_t begin, int64_t end) const;
};

/// Lines [begin, end) of g: t.x, t.g and t.sums are of the image's first pixel
/// and of the first tap.
inline void BlockedWeightTile::addTaps(OuterArguments t, int64_t begin,
                                       int64_t end) const {
  const OuterArguments origin = t;
  for (int64_t tap = 0; tap < taps(); ++tap) {
    const int64_t y = tap / plan.kernelW * plan.dilationH - plan.padTop;
    const int64_t x = tap % plan.kernelW * plan.dilationW - plan.padLeft;
    const int64_t line = most(begin, firstReaching(0, y, plan.strideH));
    const int64_t pixel = firstReaching(0, x, plan.strideW);
    t.lines = least(end, firstReaching(plan.inH, y, plan.strideH)) - line;
    t.pixels =
        least(plan.outW, firstReaching(plan.inW, x, plan.strideW)) - pixel;
    if (t.lines <= 0 || t.pixels <= 0)
      continue;
    const int64_t row = line * plan.strideH + y;
    t.x =
        origin.x + (row * plan.inW + pixel * plan.strideW + x) * kChannelBlock;
    t.g = origin.g + (line * plan.outW + pixel) * kChannelBlock;
    t.sums = origin.sums + tap * width();
    addOuterProducts(t);
  }
}

inline void BlockedWeightTile::addLines(int64_t image, int64_t begin,
                                        int64_t end) const {
  const int64_t xBlock = plan.inH * plan.inW * kChannelBlock;
  const int64_t gBlock = plan.outH * plan.outW * kChannelBlock;
  const int64_t xImage = image * plan.group * plan.inBlocks * xBlock;
  const int64_t gImage = image * plan.group * plan.outBlocks * gBlock;
  OuterArguments t = {};
  t.xPixel = plan.strideW * kChannelBlock;
  t.xLine = plan.strideH * plan.inW * kChannelBlock;
  t.gLine = plan.outW * kChannelBlock;
  t.sumStride = taps() * width();
  t.accumulate = true;
  for (int64_t in = inBegin; in < inEnd; ++in)
    for (int64_t out = outBegin; out < outEnd; ++out) {
      t.x = x + xImage + in * xBlock;
      t.g = g + gImage + out * gBlock;
      t.sums = sums + (in - inBegin) * kChannelBlock * t.sumStride +
               (out - outBegin) * kChannelBlock;
      addTaps(t, begin, end);
    }
}

inline void BlockedWeightTile::run() const {
  const int64_t count = (inEnd - inBegin) * kChannelBlock * taps() * width();
  for (int64_t i = 0; i < count; i += kLanes)
    store(sums + i, Vec{});
  for (int64_t image = 0; image < plan.batch; ++image)
    for (int64_t line = 0; line < plan.outH; line += plan.lineBlock)
      addLines(image, line, least(line + plan.lineBlock, plan.outH));
}

void runBlockedWeightGradient(const BlockedWeightPlan &plan,
                              void *const *arguments, int64_t begin,
                              int64_t end) {
  alignas(64) float sums[kScratchBytes / sizeof(float)];
  const int64_t taps = plan.kernelH * plan.kernelW;
  const int64_t terms = plan.inBlocks * kChannelBlock * taps;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t out = tile % plan.outTiles;
    const int64_t in = tile / plan.outTiles % plan.inTiles;
    const int64_t group = tile / plan.outTiles / plan.inTiles;
    const BlockedWeightTile t{
        plan,
        static_cast<const float *>(arguments[0]) +
            group * plan.inBlocks * plan.inH * plan.inW * kChannelBlock,
        static_cast<const float *>(arguments[1]) +
            group * plan.outBlocks * plan.outH * plan.outW * kChannelBlock,
        shareOf(plan.inBlocks, in, plan.inTiles),
        shareOf(plan.inBlocks, in + 1, plan.inTiles),
        shareOf(plan.outBlocks, out, plan.outTiles),
        shareOf(plan.outBlocks, out + 1, plan.outTiles),
        sums};
    t.run();
    const int64_t row = (group * plan.outBlocks + t.outBegin) * kChannelBlock;
    writeWeights(sums, (t.inEnd - t.inBegin) * kChannelBlock * taps,
                 (t.outEnd - t.outBegin) * kChannelBlock,
                 static_cast<float *>(arguments[2]) + row * terms +
                     t.inBegin * kChannelBlock * taps,
                 terms);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDWEIGHTTILES_H
