// SPDX-License-Identifier: Apache-2.0
//
// F(4x4, 3x3) on blocked tensors, as WinogradTiles.h has it: lanes are channels
// here, so nothing is turned round. See Vector.h for who may include it.
//
// Inputs of a block of tiles are transformed to [36][C/16][tiles][16]. Weights
// are transformed as they are multiplied, a row of the 6x6 numbers at a time,
// into the first cache: 36 numbers for 9 would take longer to read from memory.
// Packed ones come half transformed, as 18, those that are packed in each run
// as the 9. Where a convolution has four tiles at most even 18 take too long:
// then they are the 9, too, and what they are transformed to is multiplied in
// registers.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADTILES_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADTILES_H

#include "BlockedTiles.h"
#include "BlockedWinogradWeights.h"

#include <iterator>

namespace dlc::rt::cpu {
namespace {

/// Tiles are fetched so far ahead: rows of pixels are short streams, at whose
/// ends the processor's own prefetching begins anew.
constexpr int64_t kTilesAhead = 2;

/// Where the outputs of a tile are.
struct TileAt {
  TileAt(const WinogradPlan &plan, int64_t tile) {
    const int64_t index = plan.firstTile + tile;
    column = index % plan.tilesW * 4;
    row = index / plan.tilesW % plan.tilesH * 4;
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
        offset(36 * (begin * plan.inChannels + index * kWinogradGap)) {}
  int64_t count() const { return end - begin; }
  int64_t begin, end;
  int64_t pointStride; ///< From one point to the next.
  int64_t offset;      ///< Of the transformed inputs in the workspace.
};

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Two rows of B^T d, of the six elements of each column that inputOf(row,
/// column) gives, to twelve of the 36 numbers: so few that registers hold them.
template <int firstRow, int lastRow, typename Function, typename Combine>
[[gnu::always_inline]] inline void
transformRows(Function &&inputOf, Combine &&combine, float *target,
              int64_t pointStride) {
  Vec first[6], last[6];
  DLC_UNROLL for (int j = 0; j < 6; ++j) combine(
      [&](int i) __attribute__((always_inline)) { return inputOf(i, j); },
      first[j], last[j]);
  transformInputs(first);
  DLC_UNROLL for (int j = 0; j < 6; ++j)
      store(target + (firstRow * 6 + j) * pointStride, first[j]);
  transformInputs(last);
  DLC_UNROLL for (int j = 0; j < 6; ++j)
      store(target + (lastRow * 6 + j) * pointStride, last[j]);
}

template <typename Function>
[[gnu::always_inline]] inline void
transformTile(Function &&inputOf, float *target, int64_t pointStride) {
  auto outer =
      [](auto &&d, Vec &first, Vec &last)
          __attribute__((always_inline)) { outerInputs(d, first, last); };
  auto ofP = [](auto &&d, Vec &first, Vec &last)
                 __attribute__((always_inline)) {
                   innerInputs(d, kP, kQQ, first, last);
                 };
  auto ofQ = [](auto &&d, Vec &first, Vec &last)
                 __attribute__((always_inline)) {
                   innerInputs(d, kQ, kPP, first, last);
                 };
  transformRows<0, 5>(inputOf, outer, target, pointStride);
  transformRows<1, 2>(inputOf, ofP, target, pointStride);
  transformRows<3, 4>(inputOf, ofQ, target, pointStride);
}

/// What a tile reads of a plane, but for the pixels that it shares with the one
/// on its left.
inline void fetchTile(const WinogradPlan &plan, const TileAt &at,
                      const float *x) {
  const int64_t top = at.row - plan.padTop;
  const int64_t left = at.column - plan.padLeft + 2;
  const float *origin = x + (top * plan.inW + left) * kChannelBlock;
  for (int64_t i = 0; i < 6; ++i)
    DLC_UNROLL for (int64_t j = 0; j < 4; ++j)
        __builtin_prefetch(origin + (i * plan.inW + j) * kChannelBlock);
}

/// The numbers of a tile, for one vector of channels of `x`, the plane.
[[gnu::always_inline]] inline void
transformBlocked(const WinogradPlan &plan, const TileAt &at, const float *x,
                 float *target, int64_t pointStride) {
  const int64_t top = at.row - plan.padTop, left = at.column - plan.padLeft;
  const int64_t rowStride = plan.inW * kChannelBlock;
  const float *origin = x + top * rowStride + left * kChannelBlock;
  if (top >= 0 && left >= 0 && top + 6 <= plan.inH && left + 6 <= plan.inW)
    return transformTile(
        [&](int i, int j) __attribute__((always_inline)) {
          return load(origin + i * rowStride + j * kChannelBlock);
        },
        target, pointStride);
  // Where to load from is chosen: what a branch would guess changes with tiles.
  bool hasColumn[6];
  for (int j = 0; j < 6; ++j)
    hasColumn[j] = left + j >= 0 && left + j < plan.inW;
  Vec inside[6][6];
  for (int i = 0; i < 6; ++i) {
    const bool hasRow = top + i >= 0 && top + i < plan.inH;
    DLC_UNROLL for (int j = 0; j < 6; ++j) inside[i][j] = load(
        (hasRow & hasColumn[j]) ? origin + i * rowStride + j * kChannelBlock
                                : kZeros);
  }
  transformTile([&](int i, int j)
                    __attribute__((always_inline)) { return inside[i][j]; },
                target, pointStride);
}

/// Tiles of the grid: block of tiles, block of channels, the last fastest.
void runBlockedWinogradInput(const WinogradPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  auto *transformed = static_cast<float *>(arguments[5]);
  const int64_t blocks = plan.inChannels / kChannelBlock;
  const int64_t planeSize = plan.inH * plan.inW * kChannelBlock;
  for (int64_t tile = begin; tile < end; ++tile) {
    const TileRange range(plan, tile / blocks);
    const int64_t block = tile % blocks;
    float *target =
        transformed + range.offset + block * range.count() * kChannelBlock;
    for (int64_t t = range.begin; t < range.end; ++t, target += kChannelBlock) {
      const TileAt at(plan, t);
      if (plan.isLarge && t + kTilesAhead < range.end) {
        const TileAt later(plan, t + kTilesAhead);
        fetchTile(plan, later, x + (later.image * blocks + block) * planeSize);
      }
      for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes)
        transformBlocked(plan, at,
                         x + (at.image * blocks + block) * planeSize + lane,
                         target + lane, range.pointStride);
    }
  }
}

//===----------------------------------------------------------------------===//
// Products and outputs
//===----------------------------------------------------------------------===//

/// The nine taps, as packBlocked() has them, or for few tiles
/// [OC/16][C][9][16].
struct TapWeights {
  TapWeights(const WinogradPlan &plan, const float *w, int64_t channel) {
    const bool isForFew = plan.hasFewWeights;
    const int64_t group = channel / kWideChannels * kWideChannels;
    const int64_t width = least(kWideChannels, plan.outChannels - group);
    first = w + 9 * plan.inChannels * (isForFew ? channel : group) +
            (isForFew ? 0 : channel - group);
    panel = isForFew ? 9 * plan.inChannels * kChannelBlock : kChannelBlock;
    term = isForFew ? 9 * kChannelBlock : width;
    tap = isForFew ? kChannelBlock : kChannelBlock * width;
    block = 9 * kChannelBlock * (isForFew ? kChannelBlock : width);
  }
  /// Tap 0 of an input channel and the vector of output channels that is `out`
  /// behind the first one.
  const float *at(int64_t c, int64_t out) const {
    return first + c / kChannelBlock * block + c % kChannelBlock * term +
           out / kChannelBlock * panel + out % kChannelBlock;
  }

  const float *first;
  int64_t panel; ///< From sixteen output channels to the next.
  int64_t block; ///< From sixteen input channels to the next.
  int64_t term;  ///< From input channel to input channel, of sixteen.
  int64_t tap;
};

/// Output channels [channelBegin, channelEnd), of one group of panels, of a
/// block of tiles.
struct BlockedWinogradTile {
  const WinogradPlan &plan;
  const TileRange range;
  const float *transformed; ///< Of the block.
  const float *x;
  const TapWeights w;           ///< From channelBegin on.
  const float *half;            ///< As halfWeights() says; null without them.
  const float *halfEnd;         ///< Of all of them.
  const float *bias, *residual; ///< Null when absent.
  float *y;
  int64_t channelBegin, channelEnd;
  float *halves;  ///< [terms][3][channels], where `half` is null.
  float *weights; ///< [2][terms][channels], with a gap.
  float *sums;    ///< [36][panels][tiles][16], with gaps.

  void run() const;

private:
  int64_t channels() const { return channelEnd - channelBegin; }
  int64_t weightStride() const {
    return plan.kBlock * channels() + kWinogradGap;
  }
  int64_t sumStride() const {
    return range.count() * channels() + kWinogradGap;
  }
  /// Of the parts [6][C][3][channels], [c][3][channels] of a row.
  const float *halfWeights(int row, int64_t c) const {
    return half + (row * plan.inChannels + c) * 3 * channels();
  }
  using Outputs = Vec[4][4];

  template <int row>
  const float *halfRow(int64_t first, int64_t terms) const;
  void transformPair(const float *source, float point, int64_t terms) const;
  void multiplyPoint(int64_t point, const float *source, int64_t wStride,
                     int64_t first, int64_t terms) const;
  template <int row> void computeRow() const;
  template <int row, int group, int tiles>
  void multiplyFewColumns(int64_t out, int64_t first, int64_t terms) const;
  template <int row, int tiles>
  void multiplyFewRow(int64_t out, int64_t first, int64_t terms) const;
  template <int tiles> void multiplyFew() const;
  bool transformOutputs(int64_t tile, int64_t channel, Outputs &out) const;
  void computeDirectly(const TileAt &at, int64_t channel, Outputs &out) const;
  void fetchOutputs(const TileAt &at) const;
  void write(const TileAt &at, int64_t channel, Outputs &out) const;
};

/// Terms [first, first + terms) of a row, half transformed: where they are, or
/// in `halves`.
template <int row>
inline const float *BlockedWinogradTile::halfRow(int64_t first,
                                                 int64_t terms) const {
  if (half)
    return halfWeights(row, first);
  // What is stored may be these members, for all that the compiler knows.
  const int64_t width = channels();
  const TapWeights taps = w;
  float *target = halves;
  for (int64_t c = first; c < first + terms; ++c, target += 2 * width)
    for (int64_t out = 0; out < width; out += kLanes, target += kLanes) {
      Vec g[3];
      transformHalf<row>(taps.at(c, out), taps.tap, g);
      DLC_UNROLL for (int j = 0; j < 3; ++j) store(target + j * width, g[j]);
    }
  return halves;
}

/// The numbers of a point and its negative: more than these would push what is
/// multiplied by them out of the first cache.
inline void BlockedWinogradTile::transformPair(const float *source, float point,
                                               int64_t terms) const {
  const int64_t width = channels(), stride = weightStride();
  float *target = weights;
  for (int64_t c = 0; c < terms; ++c, source += 2 * width)
    for (int64_t out = 0; out < width;
         out += kLanes, source += kLanes, target += kLanes) {
      const Vec even = load(source) + point * point * load(source + 2 * width);
      const Vec odd = load(source + width);
      store(target, even + point * odd);
      store(target + stride, even - point * odd);
    }
}

/// `ahead` are the weights to fetch, of which calls `done` to `done` + calls
/// fetch their part.
inline void BlockedWinogradTile::multiplyPoint(int64_t point,
                                               const float *source,
                                               int64_t wStride, int64_t first,
                                               int64_t terms) const {
  const int64_t count = range.count();
  BlockedArguments t = {};
  t.taps = 1;
  t.blocks = terms / kChannelBlock;
  t.blockStride = count * kChannelBlock;
  t.wStride = wStride;
  t.yPanel = count * kChannelBlock;
  t.accumulate = first > 0;
  // Those of as many terms are the next ones, if there are any: three rows for
  // each term, which four columns fetch.
  const int64_t row = point / 6, column = point % 6;
  const bool isInner = column > 0 && column < 5;
  const float *next = half && isInner ? halfWeights(row, first + terms) : nullptr;
  const int64_t left = next ? halfEnd - next : 0;
  for (int64_t panel = 0, wide; panel * kChannelBlock < channels();
       panel += wide) {
    wide = least<int64_t>(kMostPanels, channels() / kChannelBlock - panel);
    const int64_t most = wide <= kTwinPanels ? 2 * kMostPixels : kMostPixels;
    const int64_t calls = (count + most - 1) / most;
    const int64_t rows = (3 * kChannelBlock / 4 + calls - 1) / calls;
    t.w = source + panel * kChannelBlock;
    for (int64_t c = 0; c < calls; ++c) {
      const int64_t begin = shareOf(count, c, calls);
      const int64_t pixels = shareOf(count, c + 1, calls) - begin;
      t.x = transformed + point * range.pointStride + first * count +
            begin * kChannelBlock;
      t.y = sums + point * sumStride() +
            (panel * count + begin) * kChannelBlock;
      const int64_t step = t.blocks * rows * wStride;
      const int64_t done = ((column - 1) * calls + c) * step;
      const bool fetches = done + step <= left;
      t.ahead = fetches ? next + done + panel * kChannelBlock : nullptr;
      t.aheadRows = fetches ? rows : 0;
      blockedKernelOf<BlockedForm::Points>(pixels, wide)(t);
    }
  }
}

template <int row> inline void BlockedWinogradTile::computeRow() const {
  for (int64_t first = 0; first < plan.inChannels; first += plan.kBlock) {
    const int64_t terms = least(plan.kBlock, plan.inChannels - first);
    const int64_t width = channels();
    const float *source = halfRow<row>(first, terms);
    auto multiply = [&](int column, const float *w, int64_t stride) {
      multiplyPoint(6 * row + column, w, stride, first, terms);
    };
    multiply(0, source, 3 * width);
    multiply(5, source + 2 * width, 3 * width);
    transformPair(source, kP, terms);
    multiply(1, weights, width);
    multiply(2, weights + weightStride(), width);
    transformPair(source, kQ, terms);
    multiply(3, weights, width);
    multiply(4, weights + weightStride(), width);
  }
}

/// The numbers of a row that are summed at once: all with 32 registers, with 16
/// pairs that are made of the same.
template <int group> struct FewColumns {
  static constexpr int count = kLanes == 16 ? 6 : 2;
  static constexpr int pairs[3][2] = {{0, 5}, {1, 2}, {3, 4}};
  static constexpr int at(int i) { return count == 6 ? i : pairs[group][i]; }
};

/// A vector of channels, whose sums of some of a row of the numbers fit into
/// registers.
template <int row, int group, int tiles>
inline void BlockedWinogradTile::multiplyFewColumns(int64_t out, int64_t first,
                                                    int64_t terms) const {
  using Columns = FewColumns<group>;
  constexpr int64_t kTaps = 9 * kChannelBlock;
  constexpr int64_t kBlockTaps = kTaps * kChannelBlock;
  const int64_t pointStride = range.pointStride, stride = sumStride();
  float *target = sums + 6 * row * stride +
                  out / kChannelBlock * tiles * kChannelBlock +
                  out % kChannelBlock;
  Vec own[Columns::count][tiles] = {};
  const float *a = transformed + 6 * row * pointStride + first * tiles;
  const float *taps = w.at(first, out);
  const bool isLast = first + 2 * terms > plan.inChannels &&
                      channelBegin + out + kChannelBlock >= plan.outChannels;
  for (int64_t c = 0; c < terms; c += kChannelBlock) {
    // A row fetches a sixth of the weights that come as many terms later.
    const float *ahead =
        taps + (isLast ? 0 : terms * kTaps) + row * kBlockTaps / 6;
    for (int64_t l = 0; l < kChannelBlock; ++l, taps += kTaps) {
      if (group == 0 && l % 2 == 0)
        for (int i = 0; i < 3; ++i, ahead += kChannelBlock)
          __builtin_prefetch(ahead);
      Vec g[3], t[6];
      transformHalf<row>(taps, kChannelBlock, g);
      transformThree(g, t);
      DLC_UNROLL for (int j = 0; j < Columns::count; ++j) {
        const float *from = a + Columns::at(j) * pointStride + l;
        DLC_UNROLL for (int i = 0; i < tiles; ++i) own[j][i] +=
            t[Columns::at(j)] * splat(from[i * kChannelBlock]);
      }
      DLC_KEEP_LOADS_HERE();
    }
    a += tiles * kChannelBlock;
  }
  // As other kernels have it: the error of a long sum is that of its parts.
  DLC_UNROLL for (int j = 0; j < Columns::count; ++j) {
    DLC_UNROLL for (int i = 0; i < tiles; ++i) {
      float *sum = target + Columns::at(j) * stride + i * kChannelBlock;
      store(sum, first > 0 ? own[j][i] + load(sum) : own[j][i]);
    }
  }
}

template <int row, int tiles>
inline void BlockedWinogradTile::multiplyFewRow(int64_t out, int64_t first,
                                                int64_t terms) const {
  multiplyFewColumns<row, 0, tiles>(out, first, terms);
  if constexpr (FewColumns<0>::count == 2) {
    multiplyFewColumns<row, 1, tiles>(out, first, terms);
    multiplyFewColumns<row, 2, tiles>(out, first, terms);
  }
}

template <int tiles> inline void BlockedWinogradTile::multiplyFew() const {
  for (int64_t out = 0; out < channels(); out += kLanes)
    for (int64_t first = 0; first < plan.inChannels; first += plan.kBlock) {
      const int64_t terms = least(plan.kBlock, plan.inChannels - first);
      multiplyFewRow<0, tiles>(out, first, terms);
      multiplyFewRow<1, tiles>(out, first, terms);
      multiplyFewRow<2, tiles>(out, first, terms);
      multiplyFewRow<3, tiles>(out, first, terms);
      multiplyFewRow<4, tiles>(out, first, terms);
      multiplyFewRow<5, tiles>(out, first, terms);
    }
}

/// False if an output is not finite.
[[gnu::always_inline]] inline bool
BlockedWinogradTile::transformOutputs(int64_t tile, int64_t channel,
                                      Outputs &out) const {
  const int64_t at = channel - channelBegin;
  const float *source =
      sums + (at / kChannelBlock * range.count() + tile) * kChannelBlock +
      at % kChannelBlock;
  const int64_t stride = sumStride();
  Vec half[4][6];
  DLC_UNROLL for (int j = 0; j < 6; ++j) {
    Vec m[6], y[4];
    DLC_UNROLL for (int i = 0; i < 6; ++i) m[i] =
        load(source + (i * 6 + j) * stride);
    transformBack<false>(m, y);
    DLC_UNROLL for (int i = 0; i < 4; ++i) half[i][j] = y[i];
  }
  Vec rows[4];
  DLC_UNROLL for (int i = 0; i < 4; ++i) {
    transformBack<false>(half[i], out[i]);
    rows[i] = (out[i][0] + out[i][1]) + (out[i][2] + out[i][3]);
  }
  // NaN when something is not finite, or so large that it may soon not be.
  const Vec zero = ((rows[0] + rows[1]) + (rows[2] + rows[3])) * 0.0f;
  const IntVec isZero = zero == Vec{};
  bool isFinite = true;
  DLC_UNROLL for (int lane = 0; lane < kLanes; ++lane) isFinite &=
      isZero[lane] != 0;
  return isFinite;
}

/// The same by the definition.
inline void BlockedWinogradTile::computeDirectly(const TileAt &at,
                                                 int64_t channel,
                                                 Outputs &out) const {
  const int64_t blocks = plan.inChannels / kChannelBlock;
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t top = at.row + i / 4 - plan.padTop;
    const int64_t left = at.column + i % 4 - plan.padLeft;
    Vec sum = {};
    for (int64_t c = 0; c < plan.inChannels; ++c)
      for (int64_t tap = 0; tap < 9; ++tap) {
        const int64_t inY = top + tap / 3, inX = left + tap % 3;
        if (inY < 0 || inY >= plan.inH || inX < 0 || inX >= plan.inW)
          continue;
        const int64_t plane = at.image * blocks + c / kChannelBlock;
        sum += load(w.at(c, channel - channelBegin) + tap * w.tap) *
               x[((plane * plan.inH + inY) * plan.inW + inX) * kChannelBlock +
                 c % kChannelBlock];
      }
    out[i / 4][i % 4] = sum;
  }
}

/// To be written.
inline void BlockedWinogradTile::fetchOutputs(const TileAt &at) const {
  for (int64_t channel = channelBegin; channel < channelEnd;
       channel += kChannelBlock) {
    const int64_t panel =
        at.image * (plan.outChannels / kChannelBlock) + channel / kChannelBlock;
    const float *target =
        y +
        ((panel * plan.outH + at.row) * plan.outW + at.column) * kChannelBlock;
    for (int64_t i = 0; i < 4; ++i)
      DLC_UNROLL for (int64_t j = 0; j < 4; ++j)
          __builtin_prefetch(target + (i * plan.outW + j) * kChannelBlock, 1);
  }
}

[[gnu::always_inline]] inline void
BlockedWinogradTile::write(const TileAt &at, int64_t channel,
                           Outputs &out) const {
  const Epilogue epilogue = plan.epilogue;
  const bool clamp = isClamp(epilogue);
  const Vec low = splat(clampLow(epilogue)), high = splat(clampHigh(epilogue));
  const Vec start = bias ? load(bias + channel) : Vec{};
  const int64_t outW = plan.outW, rows = plan.outH - at.row;
  const int64_t columns = outW - at.column;
  const int64_t panel =
      at.image * (plan.outChannels / kChannelBlock) + channel / kChannelBlock;
  const int64_t first =
      ((panel * plan.outH + at.row) * outW + at.column) * kChannelBlock +
      channel % kChannelBlock;
  float *target = y + first;
  const float *added = residual ? residual + first : nullptr;
  auto writeRow = [&](int i, bool isWhole) __attribute__((always_inline)) {
    const int64_t row = i * outW * kChannelBlock;
    DLC_UNROLL for (int j = 0; j < 4; ++j) {
      if (!isWhole && j >= columns)
        continue;
      const int64_t offset = row + j * kChannelBlock;
      Vec value = out[i][j] + start;
      if (added)
        value += load(added + offset);
      if (clamp)
        value = minOf(maxOf(value, low), high);
      store(target + offset, value);
      if (!clamp)
        activateRest(target + offset, kLanes, 1, kLanes, epilogue);
    }
  };
  const bool isWhole = columns >= 4;
  DLC_UNROLL for (int i = 0; i < 4; ++i) {
    if (i >= rows)
      continue;
    if (isWhole)
      writeRow(i, true);
    else
      writeRow(i, false);
  }
}

inline void BlockedWinogradTile::run() const {
  if (plan.hasFewWeights) {
    static constexpr decltype(&BlockedWinogradTile::multiplyFew<1>) few[] = {
        &BlockedWinogradTile::multiplyFew<1>,
        &BlockedWinogradTile::multiplyFew<2>,
        &BlockedWinogradTile::multiplyFew<3>,
        &BlockedWinogradTile::multiplyFew<4>};
    static_assert(std::size(few) == kFewTiles);
    (this->*few[range.count() - 1])();
  } else {
    computeRow<0>();
    computeRow<1>();
    computeRow<2>();
    computeRow<3>();
    computeRow<4>();
    computeRow<5>();
  }
  for (int64_t tile = 0; tile < range.count(); ++tile) {
    const TileAt at(plan, range.begin + tile);
    if (plan.isLarge && tile + 1 < range.count())
      fetchOutputs(TileAt(plan, range.begin + tile + 1));
    for (int64_t channel = channelBegin; channel < channelEnd;
         channel += kLanes) {
      Outputs out;
      if (!transformOutputs(tile, channel, out)) [[unlikely]]
        computeDirectly(at, channel, out);
      write(at, channel, out);
    }
  }
}

/// Tiles of the grid: block of tiles, part of the output channels, the last
/// fastest: threads multiply what they have transformed.
void runBlockedWinogradProduct(const WinogradPlan &plan, void *const *arguments,
                               int64_t begin, int64_t end) {
  alignas(64) float halves[3 * kWinogradWeights];
  alignas(64) float weights[2 * (kWinogradWeights + kWinogradGap)];
  alignas(64) float sums[36 * (kWinogradSums + kWinogradGap)];
  const auto *transformed = static_cast<const float *>(arguments[5]);
  const auto *half = static_cast<const float *>(arguments[1]);
  const auto *w = static_cast<const float *>(arguments[6]);
  const int64_t parts = (plan.outChannels + plan.outBlock - 1) / plan.outBlock;
  const int64_t perChannel = kHalfPoints * plan.inChannels;
  for (int64_t tile = begin; tile < end; ++tile) {
    const TileRange range(plan, tile / parts);
    const int64_t channel = tile % parts * plan.outBlock;
    BlockedWinogradTile{plan,
                        range,
                        transformed + range.offset,
                        static_cast<const float *>(arguments[0]),
                        TapWeights(plan, w, channel),
                        half ? half + channel * perChannel : nullptr,
                        half ? half + plan.outChannels * perChannel : nullptr,
                        static_cast<const float *>(arguments[2]),
                        static_cast<const float *>(arguments[3]),
                        static_cast<float *>(arguments[4]),
                        channel,
                        least(channel + plan.outBlock, plan.outChannels),
                        halves,
                        weights,
                        sums}
        .run();
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADTILES_H
