// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.conv_weight_gradient of a plain x and a gradient in blocks,
// that of first layers. See Vector.h for who may include it.
//
// As in BlockedWeightTiles.h lanes are output channels; elements of x come from
// strips of its rows with the padding in them, a few kilobytes that stay in L1.

#ifndef DLC_RUNTIME_KERNEL_CPU_STRIPWEIGHTTILES_H
#define DLC_RUNTIME_KERNEL_CPU_STRIPWEIGHTTILES_H

#include "BlockedWeightTiles.h"

namespace dlc::rt::cpu {
namespace {

/// One call: sums[term][16] += the products of some terms of x and sixteen
/// channels of g, over a line of pixels.
struct StripArguments {
  const float *x;
  const int64_t *offsets; ///< Of each term, of the first pixel.
  int64_t xPixel;
  const float *g;
  int64_t pixels;
  float *sums;
};

template <int rows> void stripKernel(const StripArguments &t) {
  Vec sums[rows][kBlockVectors] = {};
  const float *x[rows];
  DLC_UNROLL for (int i = 0; i < rows; ++i) x[i] = t.x + t.offsets[i];
  const int64_t xPixel = t.xPixel;
  const float *g = t.g;
  for (int64_t p = 0; p < t.pixels; ++p, g += kChannelBlock) {
    const int64_t at = p * xPixel;
    if constexpr (rows < kBlockVectors) {
      Vec factors[rows];
      DLC_UNROLL for (int i = 0; i < rows; ++i) factors[i] = splat(x[i][at]);
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
        const Vec factor = splat(x[i][at]);
        DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v) sums[i][v] +=
            factor * row[v];
        DLC_KEEP_LOADS_HERE();
      }
    }
  }
  DLC_UNROLL for (int i = 0; i < rows; ++i) {
    float *target = t.sums + i * kChannelBlock;
    DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v, target += kLanes)
        store(target, load(target) + sums[i][v]);
  }
}

constexpr int kStripRows = kLanes == 4 ? 2 : 6;

inline void addStripProducts(const StripArguments &t, int64_t rows) {
  using Kernel = void (*)(const StripArguments &);
  static constexpr Kernel kernels[] = {
      nullptr,        stripKernel<1>, stripKernel<2>,
#if DLC_VECTOR_BYTES > 16
      stripKernel<3>, stripKernel<4>, stripKernel<5>,
      stripKernel<6>
#endif
  };
  kernels[rows](t);
}

/// Rows of taps [unitBegin, unitEnd), counted through all channels of x, and
/// one block of output channels.
struct StripWeightTile {
  const BlockedWeightPlan &plan;
  const float *x, *g; ///< The block's, in the first image.
  int64_t unitBegin, unitEnd;
  float *sums;      ///< [terms][16].
  int64_t *offsets; ///< Of terms.
  float *strip;

  void run() const;
  int64_t terms() const { return (unitEnd - unitBegin) * plan.kernelW; }

private:
  int64_t stripWidth() const {
    return (plan.outW - 1) * plan.strideW +
           (plan.kernelW - 1) * plan.dilationW + 1;
  }
  void packStrip(const float *image, int64_t line) const;
};

/// What the windows of a line read of each row.
inline void StripWeightTile::packStrip(const float *image, int64_t line) const {
  const int64_t width = stripWidth();
  for (int64_t unit = unitBegin; unit < unitEnd; ++unit) {
    const int64_t channel = unit / plan.kernelH, tap = unit % plan.kernelH;
    const int64_t row =
        line * plan.strideH - plan.padTop + tap * plan.dilationH;
    const bool isInside = row >= 0 && row < plan.inH;
    const float *source =
        image + (channel * plan.inH + row) * plan.inW - plan.padLeft;
    float *target = strip + (unit - unitBegin) * width;
    // Too much is written where the next row will be.
    for (int64_t j = 0; j < width; j += kLanes)
      store(target + j,
            isInside
                ? maskedLoad(source + j, lanes(plan.padLeft - j,
                                               plan.padLeft + plan.inW - j))
                : Vec{});
  }
}

inline void StripWeightTile::run() const {
  for (int64_t term = 0; term < terms(); ++term)
    offsets[term] = term / plan.kernelW * stripWidth() +
                    term % plan.kernelW * plan.dilationW;
  for (int64_t i = 0; i < terms() * kChannelBlock; i += kLanes)
    store(sums + i, Vec{});
  const int64_t channels = plan.inBlocks / plan.kernelH;
  StripArguments t = {};
  t.x = strip;
  t.xPixel = plan.strideW;
  t.pixels = plan.outW;
  const int64_t calls = (terms() + kStripRows - 1) / kStripRows;
  for (int64_t image = 0; image < plan.batch; ++image)
    for (int64_t line = 0; line < plan.outH; ++line) {
      packStrip(x + image * channels * plan.inH * plan.inW, line);
      t.g = g + (image * plan.outBlocks * plan.outH + line) * plan.outW *
                    kChannelBlock;
      for (int64_t call = 0; call < calls; ++call) {
        const int64_t term = shareOf(terms(), call, calls);
        t.offsets = offsets + term;
        t.sums = sums + term * kChannelBlock;
        addStripProducts(t, shareOf(terms(), call + 1, calls) - term);
      }
    }
}

void runStripWeightGradient(const BlockedWeightPlan &plan,
                            void *const *arguments, int64_t begin,
                            int64_t end) {
  // Strips are written by whole vectors: the last one may end behind.
  alignas(64) char scratch[kScratchBytes + sizeof(Vec)];
  const int64_t allTerms = plan.inBlocks * plan.kernelW;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t out = tile % plan.outBlocks, in = tile / plan.outBlocks;
    const int64_t first = shareOf(plan.inBlocks, in, plan.inTiles);
    const int64_t last = shareOf(plan.inBlocks, in + 1, plan.inTiles);
    auto *sums = reinterpret_cast<float *>(scratch);
    const int64_t count = (last - first) * plan.kernelW;
    auto *offsets = reinterpret_cast<int64_t *>(sums + count * kChannelBlock);
    const StripWeightTile t{plan,
                            static_cast<const float *>(arguments[0]),
                            static_cast<const float *>(arguments[1]) +
                                out * plan.outH * plan.outW * kChannelBlock,
                            first,
                            last,
                            sums,
                            offsets,
                            reinterpret_cast<float *>(offsets + count)};
    t.run();
    writeWeights(sums, t.terms(), kChannelBlock,
                 static_cast<float *>(arguments[2]) +
                     out * kChannelBlock * allTerms + first * plan.kernelW,
                 allTerms);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_STRIPWEIGHTTILES_H
