// SPDX-License-Identifier: Apache-2.0
//
// First layers: 5x5 to 8x8 taps in steps of two over a plain image of a few
// channels, whose results are blocked. Even and odd rows and columns are four
// phases of a channel, images of half the size, over which the convolution has
// steps of one and half as many taps in each direction: 3, which is F(4, 3), or
// 4, F(3, 4), both with the six points of WinogradTiles.h. So a 7x7 window of
// three channels is one of 4x4 over twelve: 36 x 12 products for nine outputs
// in place of 9 x 147. See Vector.h for who may include it.
//
// A tile of the grid is some tiles of all output channels, or of a part of
// them: their phases are gathered to a strip [6 rows][columns][16], channels
// and phases side by side, and transformed to [36][tiles][16]. Weights are
// transformed when they are packed, [OC/32][36][terms][32].

#ifndef DLC_RUNTIME_KERNEL_CPU_PHASEWINOGRADTILES_H
#define DLC_RUNTIME_KERNEL_CPU_PHASEWINOGRADTILES_H

#include "BlockedWinogradTiles.h"

namespace dlc::rt::cpu {
namespace {

/// Columns of a strip, a multiple of four.
constexpr int64_t kPhaseColumns = (4 * kPhaseTiles + 2 + 3) / 4 * 4;
/// Rows of it.
constexpr int64_t kPhaseRows = 6;
constexpr int64_t kPhasePointStride =
    kPhaseTiles * kChannelBlock + kWinogradGap;
constexpr int64_t kPhaseSumStride = kPhaseTiles * kHalfChannels + kWinogradGap;

/// What the tiles of a grid's tile go through.
struct PhaseScratch {
  alignas(64) float strip[kPhaseRows * kPhaseColumns * kChannelBlock];
  alignas(64) float transformed[36 * kPhasePointStride];
  alignas(64) float sums[36 * kPhaseSumStride];
};

/// Tiles [begin, end) of an image, of `outputs` by as many outputs.
template <int outputs> struct PhaseTile {
  const PhaseWinogradPlan &plan;
  const float *image;
  const float *w;    ///< Transformed.
  const float *taps; ///< [OC/16][C][KH*KW][16].
  int64_t imageIndex, begin, end;
  PhaseScratch &scratch;

  void run(TileWriter writer) const;

private:
  TilePlace placeOf(int64_t tile) const {
    return {imageIndex, tile / plan.tilesW * outputs,
            tile % plan.tilesW * outputs};
  }
  void gather(const TilePlace &at, int64_t columns) const;
  void transform() const;
  void multiply(int64_t channel, int64_t channels,
                const TileWriter &writer) const;
  bool transformOutputs(int64_t tile, int64_t channel,
                        TileWriter::Outputs &out) const;
  void computeDirectly(const TilePlace &at, int64_t channel,
                       TileWriter::Outputs &out) const;
};

/// Phases under the tiles from `at` on: what is outside of the image is zero.
template <int outputs>
inline void PhaseTile<outputs>::gather(const TilePlace &at,
                                       int64_t columns) const {
  const int64_t top = 2 * at.row - plan.phaseTop;
  const int64_t left = 2 * at.column - plan.phaseLeft;
  for (int64_t i = 0; i < kPhaseRows; ++i) {
    float *target = scratch.strip + i * kPhaseColumns * kChannelBlock;
    const int64_t row = top + 2 * i;
    const bool hasRows = row >= 0 && row + 1 < plan.inH;
    for (int64_t c = 0; c < plan.channels; ++c, target += 4) {
      const float *even = image + (c * plan.inH + row) * plan.inW + left;
      const float *odd = even + plan.inW;
      for (int64_t j = 0; j < columns; j += 4) {
        float *pixels = target + j * kChannelBlock;
        const int64_t column = left + 2 * j;
        if (hasRows && column >= 0 && column + 8 <= plan.inW) {
          auto quadOf = [](const float *from) __attribute__((always_inline)) {
            return *reinterpret_cast<const UnalignedQuad *>(from);
          };
          auto put = [&](int pixel, const Quad &quad)
              __attribute__((always_inline)) {
            *reinterpret_cast<UnalignedQuad *>(pixels + pixel * kChannelBlock) =
                quad;
          };
          const Quad e0 = quadOf(even + 2 * j), e1 = quadOf(even + 2 * j + 4);
          const Quad o0 = quadOf(odd + 2 * j), o1 = quadOf(odd + 2 * j + 4);
          put(0, __builtin_shufflevector(e0, o0, 0, 1, 4, 5));
          put(1, __builtin_shufflevector(e0, o0, 2, 3, 6, 7));
          put(2, __builtin_shufflevector(e1, o1, 0, 1, 4, 5));
          put(3, __builtin_shufflevector(e1, o1, 2, 3, 6, 7));
          continue;
        }
        for (int64_t k = 0; k < 16; ++k) {
          const int64_t y = row + k % 4 / 2, x = column + k / 4 * 2 + k % 2;
          const bool isInside =
              y >= 0 && y < plan.inH && x >= 0 && x < plan.inW;
          pixels[k / 4 * kChannelBlock + k % 4] =
              isInside ? image[(c * plan.inH + y) * plan.inW + x] : 0.0f;
        }
      }
    }
  }
}

/// Inputs, those of tiles in one row of them at a time.
template <int outputs> inline void PhaseTile<outputs>::transform() const {
  for (int64_t first = begin, last; first < end; first = last) {
    last = least(end, (first / plan.tilesW + 1) * plan.tilesW);
    gather(placeOf(first), (last - first - 1) * outputs + 6);
    for (int64_t tile = first; tile < last; ++tile)
      for (int64_t lane = 0; lane < plan.inChannels; lane += kLanes) {
        const float *source =
            scratch.strip + (tile - first) * outputs * kChannelBlock + lane;
        transformTile<false, false>(
            [&](int i, int j) __attribute__((always_inline)) {
              return load(source + (i * kPhaseColumns + j) * kChannelBlock);
            },
            scratch.transformed + (tile - begin) * kChannelBlock + lane,
            kPhasePointStride);
      }
  }
}

/// Sums of all points, of one part of the output channels.
template <int outputs>
inline void PhaseTile<outputs>::multiply(int64_t channel, int64_t channels,
                                         const TileWriter &writer) const {
  const int64_t count = end - begin, panels = channels / kChannelBlock;
  const int64_t terms = plan.inChannels;
  BlockedArguments t = {};
  t.blocks = terms / kChannelBlock;
  t.rest = terms % kChannelBlock;
  t.wStride = channels;
  t.yPanel = count * kChannelBlock;
  const PointCalls calls = PointCalls::of(0, count, panels);
  for (int64_t point = 0; point < 36; ++point) {
    // What is written then comes from memory meanwhile.
    if (plan.isLarge)
      for (int64_t tile = shareOf(count, point, 36),
                   last = shareOf(count, point + 1, 36);
           tile < last; ++tile)
        writer.template fetchOutputs<outputs>(placeOf(begin + tile));
    for (int64_t panel = 0, wide; panel < panels; panel += wide) {
      wide = least<int64_t>(kMostPanels, panels - panel);
      t.w =
          w + (36 * channel + point * channels) * terms + panel * kChannelBlock;
      t.x = scratch.transformed + point * kPhasePointStride;
      t.y = scratch.sums + point * kPhaseSumStride + panel * t.yPanel;
      for (int64_t c = 0; c < calls.calls; ++c) {
        const int64_t pixels = calls.pixelsOf(c);
        blockedKernelOf<BlockedForm::Points>(pixels, wide)(t);
        t.x += pixels * kChannelBlock;
        t.y += pixels * kChannelBlock;
      }
    }
  }
}

/// False if an output is not finite; `channel` is that of the part.
template <int outputs>
inline bool
PhaseTile<outputs>::transformOutputs(int64_t tile, int64_t channel,
                                     TileWriter::Outputs &out) const {
  const float *source =
      scratch.sums +
      (channel / kChannelBlock * (end - begin) + tile) * kChannelBlock +
      channel % kChannelBlock;
  Vec half[outputs][6];
  DLC_UNROLL for (int j = 0; j < 6; ++j) {
    Vec m[6], y[4];
    DLC_UNROLL for (int i = 0; i < 6; ++i) m[i] =
        load(source + (i * 6 + j) * kPhaseSumStride);
    transformBack<true, outputs>(m, y);
    DLC_UNROLL for (int i = 0; i < outputs; ++i) half[i][j] = y[i];
  }
  DLC_UNROLL for (int i = 0; i < outputs; ++i)
      transformBack<true, outputs>(half[i], out[i]);
  return areFinite<outputs == 3, outputs == 3>(out);
}

/// By the definition.
template <int outputs>
inline void
PhaseTile<outputs>::computeDirectly(const TilePlace &at, int64_t channel,
                                    TileWriter::Outputs &out) const {
  const int64_t count = plan.kernelH * plan.kernelW;
  for (int64_t i = 0; i < outputs; ++i)
    for (int64_t j = 0; j < outputs; ++j) {
      const int64_t top = 2 * (at.row + i) - plan.padTop;
      const int64_t left = 2 * (at.column + j) - plan.padLeft;
      const float *from =
          taps +
          channel / kChannelBlock * plan.channels * count * kChannelBlock +
          channel % kChannelBlock;
      Vec sum = {};
      for (int64_t c = 0; c < plan.channels; ++c)
        for (int64_t tap = 0; tap < count; ++tap, from += kChannelBlock) {
          const int64_t y = top + tap / plan.kernelW;
          const int64_t x = left + tap % plan.kernelW;
          if (y >= 0 && y < plan.inH && x >= 0 && x < plan.inW)
            sum += load(from) * image[(c * plan.inH + y) * plan.inW + x];
        }
      out[i][j] = sum;
    }
}

template <int outputs>
inline void PhaseTile<outputs>::run(TileWriter writer) const {
  transform();
  for (int64_t first = writer.channelBegin, last = writer.channelEnd;
       first < last; first += kHalfChannels) {
    const int64_t channels =
        least<int64_t>(kHalfChannels, plan.outChannels - first);
    writer.channelBegin = first;
    writer.channelEnd = first + channels;
    multiply(first, channels, writer);
    for (int64_t tile = begin; tile < end; ++tile) {
      const TilePlace at = placeOf(tile);
      for (int64_t channel = 0; channel < channels; channel += kLanes) {
        TileWriter::Outputs out;
        if (!transformOutputs(tile - begin, channel, out)) [[unlikely]]
          computeDirectly(at, first + channel, out);
        writer.write<outputs == 3, outputs == 3>(at, first + channel, out);
      }
    }
  }
}

/// Tiles of the grid: image, block of tiles, part of the output channels, the
/// last fastest.
void runPhaseWinograd(const PhaseWinogradPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end) {
  PhaseScratch scratch;
  // Lanes without a channel are transformed as well.
  __builtin_memset(scratch.strip, 0, sizeof(scratch.strip));
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const int64_t tiles = plan.tilesH * plan.tilesW;
  const int64_t groups = (plan.outChannels + kHalfChannels - 1) / kHalfChannels;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t part = tile % plan.channelParts;
    const int64_t block = tile / plan.channelParts % plan.blocks;
    const int64_t image = tile / plan.channelParts / plan.blocks;
    auto channelOf = [&](int64_t index) {
      return least(shareOf(groups, index, plan.channelParts) * kHalfChannels,
                   plan.outChannels);
    };
    auto runTiles = [&](auto outputs) {
      PhaseTile<outputs.value>{plan,
                               x + image * plan.channels * plan.inH * plan.inW,
                               w,
                               w + 36 * plan.inChannels * plan.outChannels,
                               image,
                               shareOf(tiles, block, plan.blocks),
                               shareOf(tiles, block + 1, plan.blocks),
                               scratch}
          .run({plan, bias, residual, y, channelOf(part), channelOf(part + 1)});
    };
    if (plan.side == 4)
      runTiles(std::integral_constant<int, 3>{});
    else
      runTiles(std::integral_constant<int, 4>{});
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PHASEWINOGRADTILES_H
