// SPDX-License-Identifier: Apache-2.0
//
// F(4x4, 3x3) on blocked tensors, as WinogradTiles.h has it: lanes are channels
// here, so nothing is turned round. See Vector.h for who may include it.
//
// Inputs of a block of tiles are transformed to [36][tiles][C]; for each of the
// 36 they are multiplied by weights packed [36][OC/64][C][64].
//
// F(2x2, 3x3), with the points 0, 1, -1 and infinity, has 16 for 36: more
// products, but less than half as many weights and fewer outputs beyond an
// edge, for images as small as 7x7.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADTILES_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADTILES_H

#include "BlockedTiles.h"
#include "WinogradTiles.h"

namespace dlc::rt::cpu {
namespace {

/// Where the outputs of a tile are.
struct TileAt {
  TileAt(const WinogradPlan &plan, int64_t tile) {
    const int64_t index = plan.firstTile + tile;
    column = index % plan.tilesW * plan.side;
    row = index / plan.tilesW % plan.tilesH * plan.side;
    image = index / plan.tilesW / plan.tilesH;
  }
  int64_t image, row, column;
};

/// Tiles [begin, end) of the chunk, which are block `index`.
struct TileRange {
  TileRange(const WinogradPlan &plan, int64_t index)
      : begin(shareOf(plan.tiles, index, plan.blocks)),
        end(shareOf(plan.tiles, index + 1, plan.blocks)),
        pointStride(count() * plan.inChannels + kWinogradGap),
        offset(plan.points * (begin * plan.inChannels + index * kWinogradGap)) {
  }
  int64_t count() const { return end - begin; }
  int64_t begin, end;
  int64_t pointStride; ///< From one point to the next.
  int64_t offset;      ///< Of the transformed inputs in the workspace.
};

/// B^T d of F(2x2, 3x3): four numbers of a row or a column to four.
[[gnu::always_inline]] inline void transformInputs(Vec (&d)[4]) {
  const Vec first = d[0] - d[2], sum = d[1] + d[2];
  const Vec difference = d[2] - d[1], last = d[1] - d[3];
  d[0] = first;
  d[1] = sum;
  d[2] = difference;
  d[3] = last;
}

/// A^T m of F(2x2, 3x3): four sums to two outputs.
[[gnu::always_inline]] inline void transformBack(const Vec (&m)[4],
                                                 Vec (&y)[2]) {
  y[0] = m[0] + m[1] + m[2];
  y[1] = m[1] - m[2] - m[3];
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The numbers of a tile of `side` x `side` outputs, for one vector of channels
/// of `x`, the plane.
template <int side>
[[gnu::always_inline]] inline void
transformBlocked(const WinogradPlan &plan, const TileAt &at, const float *x,
                 float *target, int64_t pointStride) {
  constexpr int n = side + 2;
  const int64_t top = at.row - plan.padTop, left = at.column - plan.padLeft;
  const bool isInside =
      top >= 0 && left >= 0 && top + n <= plan.inH && left + n <= plan.inW;
  const float *origin = x + (top * plan.inW + left) * kChannelBlock;
  const int64_t rowStride = plan.inW * kChannelBlock;
  Vec half[n][n];
  for (int j = 0; j < n; ++j) {
    Vec d[n];
    const float *column = origin + j * kChannelBlock;
    if (isInside) {
      DLC_UNROLL for (int i = 0; i < n; ++i) d[i] =
          load(column + i * rowStride);
    } else {
      const bool hasColumn = left + j >= 0 && left + j < plan.inW;
      DLC_UNROLL for (int i = 0; i < n; ++i) d[i] =
          hasColumn && top + i >= 0 && top + i < plan.inH
              ? load(column + i * rowStride)
              : Vec{};
    }
    transformInputs(d);
    DLC_UNROLL for (int i = 0; i < n; ++i) half[i][j] = d[i];
  }
  for (int i = 0; i < n; ++i) {
    transformInputs(half[i]);
    DLC_UNROLL for (int j = 0; j < n; ++j)
        store(target + (i * n + j) * pointStride, half[i][j]);
  }
}

template <int side>
inline void transformBlocks(const WinogradPlan &plan, void *const *arguments,
                            int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  auto *transformed = static_cast<float *>(arguments[5]);
  const int64_t blocks = plan.inChannels / kChannelBlock;
  const int64_t planeSize = plan.inH * plan.inW * kChannelBlock;
  for (int64_t tile = begin; tile < end; ++tile) {
    const TileRange range(plan, tile / blocks);
    const int64_t block = tile % blocks;
    float *target = transformed + range.offset + block * kChannelBlock;
    for (int64_t t = range.begin; t < range.end;
         ++t, target += plan.inChannels) {
      const TileAt at(plan, t);
      for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes)
        transformBlocked<side>(
            plan, at, x + (at.image * blocks + block) * planeSize + lane,
            target + lane, range.pointStride);
    }
  }
}

/// Tiles of the grid: block of tiles, block of channels, the last fastest.
void runBlockedWinogradInput(const WinogradPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  if (plan.side == 2)
    transformBlocks<2>(plan, arguments, begin, end);
  else
    transformBlocks<4>(plan, arguments, begin, end);
}

//===----------------------------------------------------------------------===//
// Products and outputs
//===----------------------------------------------------------------------===//

/// Panels [panelBegin, panelEnd), of one group, of a block of tiles of
/// side x side outputs.
template <int side> struct BlockedWinogradTile {
  const WinogradPlan &plan;
  const TileRange range;
  const float *transformed; ///< Of the block.
  const float *x, *w;
  const float *direct;          ///< w before it was transformed.
  const float *bias, *residual; ///< Null when absent.
  float *y;
  int64_t panelBegin, panelEnd;
  float *sums; ///< [points][tiles][channels], with gaps.

  void run() const;

private:
  int64_t channels() const { return (panelEnd - panelBegin) * kChannelBlock; }
  int64_t sumStride() const {
    return range.count() * channels() + kWinogradGap;
  }
  using Outputs = Vec[side][side];
  static constexpr int n = side + 2, points = n * n;

  void multiply() const;
  bool transformOutputs(int64_t tile, int64_t channel, Outputs &out) const;
  void computeDirectly(const TileAt &at, int64_t channel, Outputs &out) const;
  void write(const TileAt &at, int64_t channel, Outputs &out) const;
};

template <int side> inline void BlockedWinogradTile<side>::multiply() const {
  const int64_t count = range.count(), k = plan.inChannels;
  const int64_t calls = (count + kMostPixels - 1) / kMostPixels;
  const int64_t groupBegin = panelBegin / kPanelGroup * kPanelGroup;
  const int64_t groupEnd =
      least(groupBegin + kPanelGroup, plan.outEnd / kChannelBlock);
  const int64_t before = groupBegin * kChannelBlock - plan.outBegin;
  const int64_t pointWeights = (plan.outEnd - plan.outBegin) * k;
  TileArguments t = {};
  t.aStride = k;
  t.bStride = (groupEnd - groupBegin) * kChannelBlock;
  t.cStride = channels();
  for (int64_t point = 0; point < points; ++point) {
    const float *group = w + point * pointWeights + before * k;
    for (int64_t panel = panelBegin, wide; panel < panelEnd; panel += wide) {
      wide = least<int64_t>(kMostPanels, panelEnd - panel);
      for (int64_t done = 0; done < k; done += t.k) {
        t.k = least(plan.kBlock, k - done);
        t.b = group + done * t.bStride + (panel - groupBegin) * kChannelBlock;
        t.accumulate = done > 0;
        Ahead ahead(point < points - 1 ? t.b + pointWeights : nullptr, t.k,
                    calls);
        for (int64_t c = 0; c < calls; ++c) {
          const int64_t first = shareOf(count, c, calls);
          const int64_t rows = shareOf(count, c + 1, calls) - first;
          t.a = transformed + point * range.pointStride + first * k + done;
          t.c = sums + point * sumStride() + first * t.cStride +
                (panel - panelBegin) * kChannelBlock;
          ahead.into(t);
          microKernelOf<AForm::Rows, false>(rows, wide * kBlockVectors)(t);
        }
      }
    }
  }
}

/// False if an output is not finite.
template <int side>
[[gnu::always_inline]] inline bool
BlockedWinogradTile<side>::transformOutputs(int64_t tile, int64_t channel,
                                            Outputs &out) const {
  const float *source =
      sums + tile * channels() + channel - panelBegin * kChannelBlock;
  const int64_t stride = sumStride();
  Vec half[side][n];
  DLC_UNROLL for (int j = 0; j < n; ++j) {
    Vec m[n], y[side];
    DLC_UNROLL for (int i = 0; i < n; ++i) m[i] =
        load(source + (i * n + j) * stride);
    transformBack(m, y);
    DLC_UNROLL for (int i = 0; i < side; ++i) half[i][j] = y[i];
  }
  Vec zero = {}; // NaN when something is not finite.
  DLC_UNROLL for (int i = 0; i < side; ++i) {
    transformBack(half[i], out[i]);
    DLC_UNROLL for (int j = 0; j < side; ++j) zero += out[i][j] * 0.0f;
  }
  const IntVec isZero = zero == Vec{};
  bool isFinite = true;
  DLC_UNROLL for (int lane = 0; lane < kLanes; ++lane) isFinite &=
      isZero[lane] != 0;
  return isFinite;
}

/// The same by the definition.
template <int side>
inline void BlockedWinogradTile<side>::computeDirectly(const TileAt &at,
                                                       int64_t channel,
                                                       Outputs &out) const {
  const int64_t blocks = plan.inChannels / kChannelBlock;
  const float *weights = direct + channel * plan.inChannels * 9;
  for (int64_t i = 0; i < side * side; ++i) {
    const int64_t top = at.row + i / side - plan.padTop;
    const int64_t left = at.column + i % side - plan.padLeft;
    for (int lane = 0; lane < kLanes; ++lane) {
      const float *own = weights + lane * plan.inChannels * 9;
      float sum = 0;
      for (int64_t c = 0; c < plan.inChannels; ++c)
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t inY = top + tap / 3, inX = left + tap % 3;
          if (inY < 0 || inY >= plan.inH || inX < 0 || inX >= plan.inW)
            continue;
          const int64_t plane = at.image * blocks + c / kChannelBlock;
          sum += own[c * 9 + tap] *
                 x[((plane * plan.inH + inY) * plan.inW + inX) * kChannelBlock +
                   c % kChannelBlock];
        }
      out[i / side][i % side][lane] = sum;
    }
  }
}

template <int side>
[[gnu::always_inline]] inline void
BlockedWinogradTile<side>::write(const TileAt &at, int64_t channel,
                                 Outputs &out) const {
  const bool clamp = isClamp(plan.epilogue);
  const Vec low = splat(clampLow(plan.epilogue));
  const Vec high = splat(clampHigh(plan.epilogue));
  const Vec start = bias ? load(bias + channel) : Vec{};
  const int64_t panel =
      at.image * (plan.outChannels / kChannelBlock) + channel / kChannelBlock;
  DLC_UNROLL for (int i = 0; i < side; ++i) {
    DLC_UNROLL for (int j = 0; j < side; ++j) {
      if (at.row + i >= plan.outH || at.column + j >= plan.outW)
        continue;
      const int64_t pixel = at.column + j + (at.row + i) * plan.outW;
      const int64_t offset =
          (panel * plan.outH * plan.outW + pixel) * kChannelBlock +
          channel % kChannelBlock;
      Vec value = out[i][j] + start;
      if (residual)
        value += load(residual + offset);
      if (clamp)
        value = minOf(maxOf(value, low), high);
      store(y + offset, value);
      if (!clamp)
        activateRest(y + offset, kLanes, 1, kLanes, plan.epilogue);
    }
  }
}

template <int side> inline void BlockedWinogradTile<side>::run() const {
  multiply();
  for (int64_t tile = 0; tile < range.count(); ++tile) {
    const TileAt at(plan, range.begin + tile);
    for (int64_t channel = panelBegin * kChannelBlock;
         channel < panelEnd * kChannelBlock; channel += kLanes) {
      Outputs out;
      if (!transformOutputs(tile, channel, out)) [[unlikely]]
        computeDirectly(at, channel, out);
      write(at, channel, out);
    }
  }
}

template <int side>
inline void multiplyBlocks(const WinogradPlan &plan, void *const *arguments,
                           int64_t begin, int64_t end) {
  alignas(64) float sums[kScratchBytes / sizeof(float)];
  const auto *transformed = static_cast<const float *>(arguments[5]);
  const int64_t firstPanel = plan.outBegin / kChannelBlock;
  const int64_t panels = plan.outEnd / kChannelBlock;
  const int64_t panelBlock = plan.outBlock / kChannelBlock;
  for (int64_t tile = begin; tile < end; ++tile) {
    const TileRange range(plan, tile % plan.blocks);
    const int64_t panel = firstPanel + tile / plan.blocks * panelBlock;
    BlockedWinogradTile<side>{plan,
                              range,
                              transformed + range.offset,
                              static_cast<const float *>(arguments[0]),
                              static_cast<const float *>(arguments[1]),
                              static_cast<const float *>(arguments[6]),
                              static_cast<const float *>(arguments[2]),
                              static_cast<const float *>(arguments[3]),
                              static_cast<float *>(arguments[4]),
                              panel,
                              least(panel + panelBlock, panels),
                              sums}
        .run();
  }
}

/// Tiles of the grid: panel block, block of tiles, the last fastest: one part
/// of the weights meets all tiles.
void runBlockedWinogradProduct(const WinogradPlan &plan, void *const *arguments,
                               int64_t begin, int64_t end) {
  if (plan.side == 2)
    multiplyBlocks<2>(plan, arguments, begin, end);
  else
    multiplyBlocks<4>(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADTILES_H
