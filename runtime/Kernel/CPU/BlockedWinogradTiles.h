// SPDX-License-Identifier: Apache-2.0
//
// F(4x4, 3x3) on blocked tensors, as WinogradTiles.h has it: lanes are channels
// here, so nothing is turned round. See Vector.h for who may include it.
//
// Where four outputs do not divide an image, some tiles have three, 14 are two
// of four and two of three. Those are F(3, 3) with the points 0, p, -p, q and
// infinity, for which weights are the same numbers, but one less in six.
//
// Inputs of a block of tiles are transformed to [36][C/16][tiles][16]. Weights
// are transformed as they are multiplied, two of a row of the 6x6 numbers at a
// time, into the first cache: 36 numbers for 9 would take longer to read from
// memory. Packed ones come half transformed, as 18, of which the first and the
// last number of a row are multiplied where they are; those that are packed in
// each run come as the 9. Where a convolution has four tiles at most even 18
// take too long: then they are the 9, too, and what they are transformed to is
// multiplied in registers.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADTILES_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADTILES_H

#include "BlockedTiles.h"
#include "BlockedWinogradWeights.h"

#include <iterator>
#include <type_traits>

namespace dlc::rt::cpu {
namespace {

/// Tiles are fetched so far ahead: rows of pixels are short streams, at whose
/// ends the processor's own prefetching begins anew.
constexpr int64_t kTilesAhead = 2;

/// Where a tile is: of its first output.
struct TilePlace {
  int64_t image, row, column;
};

/// A tile has three outputs in place of four, and no point -q, in directions in
/// which it is narrow.
struct TileAt : TilePlace {
  bool isNarrowH, isNarrowW;
};

/// Walks through tiles image by image, row by row.
class TileWalk {
public:
  TileWalk(const WinogradPlan &plan, int64_t tile)
      : plan(plan), column(tile % plan.tilesW),
        row(tile / plan.tilesW % plan.tilesH),
        image(tile / plan.tilesW / plan.tilesH) {}

  TileAt at() const {
    const int64_t behindH = row - (plan.tilesH - plan.narrowH);
    const int64_t behindW = column - (plan.tilesW - plan.narrowW);
    return {{image, 4 * row - most<int64_t>(behindH, 0),
             4 * column - most<int64_t>(behindW, 0)},
            behindH >= 0,
            behindW >= 0};
  }
  void advance() {
    if (++column < plan.tilesW)
      return;
    column = 0;
    if (++row < plan.tilesH)
      return;
    row = 0;
    ++image;
  }

private:
  const WinogradPlan &plan;
  int64_t column, row, image;
};

/// Calls function(isNarrowH, isNarrowW) with constants.
template <typename Function>
[[gnu::always_inline]] inline void ofForm(bool isNarrowH, bool isNarrowW,
                                          Function &&function) {
  constexpr std::true_type yes;
  constexpr std::false_type no;
  if (!isNarrowH && !isNarrowW)
    function(no, no);
  else if (!isNarrowH)
    function(no, yes);
  else if (!isNarrowW)
    function(yes, no);
  else
    function(yes, yes);
}

/// Tiles [begin, end), which are block `index` of a plan.
struct TileRange {
  TileRange(const WinogradPlan &plan, int64_t index)
      : TileRange(plan, index, plan.firstBlock + index * plan.blockStep) {}
  int64_t count() const { return end - begin; }
  int64_t begin, end;
  int64_t pointStride; ///< From one point to the next.
  int64_t offset;      ///< Of the transformed inputs in the workspace.

private:
  TileRange(const WinogradPlan &plan, int64_t index, int64_t number)
      : begin(shareOf(plan.tiles, number, plan.allBlocks)),
        end(shareOf(plan.tiles, number + 1, plan.allBlocks)),
        pointStride(count() * plan.inChannels + kWinogradGap) {
    // Of the blocks in front of it those that have one tile more are the first.
    const int64_t longer = plan.tiles % plan.allBlocks - plan.firstBlock;
    const int64_t before =
        index * (plan.tiles / plan.allBlocks) +
        least(index,
              most<int64_t>(longer + plan.blockStep - 1, 0) / plan.blockStep);
    offset = 36 * (before * plan.inChannels + index * kWinogradGap);
  }
};

/// The tiles of a block in the order in which their numbers lie: narrow in
/// width alone, in none, in height alone and in both, so that those that have a
/// point follow each other. A block is of few images: threads keep what is
/// theirs.
struct BlockTiles {
  static constexpr int64_t kMost = kWinogradSums / kHalfChannels;

  BlockTiles(const WinogradPlan &plan, const TileRange &range)
      : count(range.count()) {
    TileAt all[kMost];
    int64_t places[5] = {}; // The last are of none.
    TileWalk walk(plan, range.begin);
    for (int64_t i = 0; i < count; ++i, walk.advance()) {
      all[i] = walk.at();
      ++places[formOf(all[i]) + 1];
    }
    for (int form = 1; form < 4; ++form)
      places[form + 1] += places[form];
    firstWide = places[1];
    firstHigh = places[2];
    firstNarrow = places[3];
    for (int64_t i = 0; i < count; ++i)
      at[places[formOf(all[i])]++] = all[i];
  }

  int64_t count;
  /// Not narrow in width; narrow in height; in both, to the end.
  int64_t firstWide, firstHigh, firstNarrow;
  TileAt at[kMost];

private:
  static int formOf(const TileAt &tile) {
    return tile.isNarrowH ? tile.isNarrowW ? 3 : 2 : tile.isNarrowW ? 0 : 1;
  }
};

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// B^T d of a narrow tile: five numbers of a row or a column to those of all
/// points but -q.
[[gnu::always_inline]] inline void transformNarrow(Vec (&d)[6]) {
  Vec e[4];
  DLC_UNROLL for (int i = 0; i < 4; ++i) e[i] = d[i + 1] - kQ * d[i];
  d[0] = e[2] - kPP * e[0];
  d[5] = e[3] - kPP * e[1];
  d[3] = d[3] - kPP * d[1];
  d[1] = plusProduct(e[2], kP, e[1]);
  d[2] = minusProduct(e[2], kP, e[1]);
}

/// Numbers 0 and 5 of it, 1 and 2, or 3 and nothing.
template <int firstRow, typename Function>
[[gnu::always_inline]] inline void narrowInputs(Function &&d, Vec &first,
                                                Vec &last) {
  auto e = [&](int i)
               __attribute__((always_inline)) { return d(i + 1) - kQ * d(i); };
  if constexpr (firstRow == 0) {
    first = e(2) - kPP * e(0);
    last = e(3) - kPP * e(1);
  } else if constexpr (firstRow == 1) {
    first = plusProduct(e(2), kP, e(1));
    last = minusProduct(e(2), kP, e(1));
  } else {
    first = d(3) - kPP * d(1);
  }
}

/// The same of a tile that is not, or is.
template <bool isNarrow, int firstRow, typename Function>
[[gnu::always_inline]] inline void pairOfInputs(Function &&d, Vec &first,
                                                Vec &last) {
  if constexpr (isNarrow)
    narrowInputs<firstRow>(d, first, last);
  else if constexpr (firstRow == 0)
    outerInputs(d, first, last);
  else if constexpr (firstRow == 1)
    innerInputs(d, kP, kQQ, first, last);
  else
    innerInputs(d, kQ, kPP, first, last);
}

/// Two rows of B^T d, of the elements of each column that inputOf(row, column)
/// gives, to twelve of the 36 numbers: so few that registers hold them.
template <bool isNarrowH, bool isNarrowW, int firstRow, int lastRow,
          typename Function>
[[gnu::always_inline]] inline void
transformRows(Function &&inputOf, float *target, int64_t pointStride) {
  Vec first[6], last[6];
  DLC_UNROLL for (int j = 0; j < (isNarrowW ? 5 : 6); ++j)
      pairOfInputs<isNarrowH, firstRow>(
          [&](int i) __attribute__((always_inline)) { return inputOf(i, j); },
          first[j], last[j]);
  auto put = [&](int row, Vec(&d)[6]) __attribute__((always_inline)) {
    if constexpr (isNarrowW)
      transformNarrow(d);
    else
      transformInputs(d);
    DLC_UNROLL for (int j = 0; j < 6; ++j) if (!isNarrowW || j != 4)
        store(target + (row * 6 + j) * pointStride, d[j]);
  };
  put(firstRow, first);
  if constexpr (!isNarrowH || lastRow != 4)
    put(lastRow, last);
}

template <bool isNarrowH, bool isNarrowW, typename Function>
[[gnu::always_inline]] inline void
transformTile(Function &&inputOf, float *target, int64_t pointStride) {
  transformRows<isNarrowH, isNarrowW, 0, 5>(inputOf, target, pointStride);
  transformRows<isNarrowH, isNarrowW, 1, 2>(inputOf, target, pointStride);
  transformRows<isNarrowH, isNarrowW, 3, 4>(inputOf, target, pointStride);
}

/// Fetches so many pixels of a plane from (top, left) on.
template <int64_t rows, int64_t columns>
inline void fetchPixels(const WinogradPlan &plan, int64_t top, int64_t left,
                        const float *x) {
  const float *origin = x + (top * plan.inW + left) * kChannelBlock;
  for (int64_t i = 0; i < rows; ++i)
    DLC_UNROLL for (int64_t j = 0; j < columns; ++j)
        __builtin_prefetch(origin + (i * plan.inW + j) * kChannelBlock);
}

/// What a tile reads of a plane, but for the pixels that it shares with the one
/// on its left.
inline void fetchTile(const WinogradPlan &plan, const TileAt &at,
                      const float *x) {
  fetchPixels<6, 4>(plan, at.row - plan.padTop, at.column - plan.padLeft + 2,
                    x);
}

/// Calls function(pixelOf), where pixelOf(i, j) is a vector of channels of the
/// pixel that many rows and columns behind (top, left) of `x`, the plane; zeros
/// outside of it.
template <int height, int width, typename Function>
[[gnu::always_inline]] inline void
withPixels(const WinogradPlan &plan, int64_t top, int64_t left, const float *x,
           Function &&function) {
  const int64_t rowStride = plan.inW * kChannelBlock;
  const float *origin = x + top * rowStride + left * kChannelBlock;
  if (top >= 0 && left >= 0 && top + height <= plan.inH &&
      left + width <= plan.inW)
    return function([&](int i, int j) __attribute__((always_inline)) {
      return load(origin + i * rowStride + j * kChannelBlock);
    });
  // Where to load from is chosen: what a branch would guess changes with tiles.
  bool hasColumn[width];
  for (int j = 0; j < width; ++j)
    hasColumn[j] = left + j >= 0 && left + j < plan.inW;
  Vec inside[height][width];
  for (int i = 0; i < height; ++i) {
    const bool hasRow = top + i >= 0 && top + i < plan.inH;
    DLC_UNROLL for (int j = 0; j < width; ++j) inside[i][j] = load(
        (hasRow & hasColumn[j]) ? origin + i * rowStride + j * kChannelBlock
                                : kZeros);
  }
  function([&](int i, int j)
               __attribute__((always_inline)) { return inside[i][j]; });
}

/// The numbers of a tile, for one vector of channels of `x`, the plane.
template <bool isNarrowH, bool isNarrowW>
[[gnu::always_inline]] inline void
transformBlocked(const WinogradPlan &plan, const TileAt &at, const float *x,
                 float *target, int64_t pointStride) {
  withPixels<isNarrowH ? 5 : 6, isNarrowW ? 5 : 6>(
      plan, at.row - plan.padTop, at.column - plan.padLeft,
      x, [&](auto &&pixelOf) __attribute__((always_inline)) {
        transformTile<isNarrowH, isNarrowW>(pixelOf, target, pointStride);
      });
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
    const BlockTiles tiles(plan, range);
    for (int64_t t = 0; t < tiles.count; ++t, target += kChannelBlock) {
      const TileAt at = tiles.at[t];
      if (plan.isLarge && t + kTilesAhead < tiles.count) {
        const TileAt &later = tiles.at[t + kTilesAhead];
        fetchTile(plan, later, x + (later.image * blocks + block) * planeSize);
      }
      const float *plane = x + (at.image * blocks + block) * planeSize;
      ofForm(
          at.isNarrowH, at.isNarrowW,
          [&](auto isNarrowH, auto isNarrowW) __attribute__((always_inline)) {
            for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes)
              transformBlocked<isNarrowH, isNarrowW>(
                  plan, at, plane + lane, target + lane, range.pointStride);
          });
    }
  }
}

//===----------------------------------------------------------------------===//
// Products and outputs
//===----------------------------------------------------------------------===//

/// All taps, as packBlocked() has them, or for few tiles [OC/16][C][9][16].
struct TapWeights {
  TapWeights(const WinogradPlan &plan, const float *w, int64_t channel) {
    const bool isForFew = plan.hasFewWeights;
    const int64_t taps = plan.side * plan.side;
    const int64_t group = channel / kWideChannels * kWideChannels;
    const int64_t width = least(kWideChannels, plan.outChannels - group);
    first = w + taps * plan.inChannels * (isForFew ? channel : group) +
            (isForFew ? 0 : channel - group);
    panel = isForFew ? taps * plan.inChannels * kChannelBlock : kChannelBlock;
    term = isForFew ? taps * kChannelBlock : width;
    tap = isForFew ? kChannelBlock : kChannelBlock * width;
    block = taps * kChannelBlock * (isForFew ? kChannelBlock : width);
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

/// The tiles of a block that have a point, dealt out evenly to calls.
struct PointCalls {
  int64_t begin, calls; ///< Of each panel, or of all that go together.
  int64_t each, longer; ///< Tiles of a call; so many have one more.
  int64_t aheadLines;   ///< Of weights, for each sixteen terms of a call.

  /// Three lines of weights for each term and panel, which six columns fetch.
  static PointCalls of(int64_t begin, int64_t end, int64_t panels) {
    const int64_t wide = least<int64_t>(kMostPanels, panels);
    const int64_t atOnce = wide <= kTwinPanels ? 2 * kMostPixels : kMostPixels;
    const int64_t count = end - begin;
    const int64_t calls = (count + atOnce - 1) / atOnce;
    const int64_t divisor = most<int64_t>(calls, 1);
    const int64_t sharing = 2 * divisor * (panels / wide);
    return {begin, calls, count / divisor, count % divisor,
            (kChannelBlock * panels + sharing - 1) / sharing};
  }
  int64_t pixelsOf(int64_t call) const { return each + (call < longer); }
};

/// Those of all points, of a product of so many panels.
struct CallsOfPoints {
  CallsOfPoints(const BlockTiles &tiles, int64_t panels) {
    forms[0][0] = PointCalls::of(0, tiles.count, panels);
    forms[0][1] = PointCalls::of(tiles.firstWide, tiles.firstNarrow, panels);
    forms[1][0] = PointCalls::of(0, tiles.firstHigh, panels);
    forms[1][1] = PointCalls::of(tiles.firstWide, tiles.firstHigh, panels);
  }

  const PointCalls &of(int row, int column) const {
    return forms[row == 4][column == 4];
  }

private:
  PointCalls forms[2][2]; ///< Without tiles narrow in height, in width.
};

/// What becomes of the outputs of tiles, of channels [channelBegin,
/// channelEnd), a vector of which is for each of 4x4.
struct TileWriter {
  using Outputs = Vec[4][4];

  const WinogradPlan &plan;
  const float *bias, *residual; ///< Null when absent.
  float *y;
  int64_t channelBegin, channelEnd;

  template <int64_t outputs = 4> void fetchOutputs(const TilePlace &at) const;
  template <bool isNarrowH, bool isNarrowW>
  void write(const TilePlace &at, int64_t channel, Outputs &out) const;
};

/// The same of a blocked x.
struct TileOutputs : TileWriter {
  const float *x;
  const TapWeights w; ///< From channelBegin on.

  /// By the definition.
  void computeDirectly(const TilePlace &at, int64_t channel,
                       Outputs &out) const;
};

/// Those of one group of panels, of a block of tiles.
struct BlockedWinogradTile : TileOutputs {
  const TileRange range;
  const BlockTiles &tiles;
  const CallsOfPoints calls;
  const float *transformed; ///< Of the block.
  const float *half;        ///< As halfWeights() says; null without them.
  const float *halfEnd;     ///< Of all of them.
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

  template <int row> const float *halfRow(int64_t first, int64_t terms) const;
  void transformPair(const float *source, float point, int64_t terms) const;
  void multiplyPoint(int row, int column, int done, BlockedArguments &t,
                     const float *source, int64_t first) const;
  template <int row> void computeRow() const;
  template <int row, int group, int tiles, bool isMixed>
  void multiplyFewColumns(int64_t out, int64_t first, int64_t terms) const;
  template <int row, int tiles, bool isMixed>
  void multiplyFewRow(int64_t out, int64_t first, int64_t terms) const;
  template <int tiles, bool isMixed = false> void multiplyFew() const;
  template <bool isNarrowH, bool isNarrowW>
  bool transformOutputs(int64_t tile, int64_t channel, Outputs &out) const;
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
      store(target, plusProduct(even, point, odd));
      store(target + stride, minusProduct(even, point, odd));
    }
}

/// t has all but what the point, its panels and its tiles say; the row's
/// columns before this one are `done`.
inline void BlockedWinogradTile::multiplyPoint(int row, int column, int done,
                                               BlockedArguments &t,
                                               const float *source,
                                               int64_t first) const {
  const PointCalls &own = calls.of(row, column);
  const int64_t count = range.count(), point = 6 * row + column;
  const int64_t panels = channels() / kChannelBlock;
  // Those of as many terms are the next ones, if there are any.
  const float *next =
      half ? halfWeights(row, first + t.blocks * kChannelBlock) : nullptr;
  const int64_t step = t.blocks * own.aheadLines * kChannelBlock;
  const int64_t left = half ? halfEnd - next : 0;
  for (int64_t panel = 0, wide; panel < panels; panel += wide) {
    wide = least<int64_t>(kMostPanels, panels - panel);
    t.w = source + panel * kChannelBlock;
    t.x = transformed + point * range.pointStride + first * count +
          own.begin * kChannelBlock;
    t.y = sums + point * sumStride() +
          (panel * count + own.begin) * kChannelBlock;
    int64_t at = (done * (panels / wide) + panel / wide) * own.calls * step;
    for (int64_t c = 0; c < own.calls; ++c, at += step) {
      const int64_t pixels = own.pixelsOf(c);
      const bool fetches = at + step <= left;
      t.ahead = fetches ? next + at : nullptr;
      t.aheadLines = fetches ? own.aheadLines : 0;
      blockedKernelOf<BlockedForm::Points>(pixels, wide)(t);
      t.x += pixels * kChannelBlock;
      t.y += pixels * kChannelBlock;
    }
  }
}

template <int row> inline void BlockedWinogradTile::computeRow() const {
  BlockedArguments t = {};
  t.taps = 1;
  t.blockStride = t.yPanel = range.count() * kChannelBlock;
  t.aheadStride = kChannelBlock;
  for (int64_t first = 0; first < plan.inChannels; first += plan.kBlock) {
    const int64_t terms = least(plan.kBlock, plan.inChannels - first);
    const int64_t width = channels();
    const float *source = halfRow<row>(first, terms);
    t.blocks = terms / kChannelBlock;
    t.accumulate = first > 0;
    t.wStride = 3 * width;
    multiplyPoint(row, 0, 0, t, source, first);
    multiplyPoint(row, 5, 1, t, source + 2 * width, first);
    t.wStride = width;
    transformPair(source, kP, terms);
    multiplyPoint(row, 1, 2, t, weights, first);
    multiplyPoint(row, 2, 3, t, weights + weightStride(), first);
    transformPair(source, kQ, terms);
    multiplyPoint(row, 3, 4, t, weights, first);
    multiplyPoint(row, 4, 5, t, weights + weightStride(), first);
  }
}

/// The numbers of a row that are summed at once: all with 32 registers, with 16
/// pairs that are made of the same.
template <int group> struct FewColumns {
  static constexpr int count = kLanes == 16 ? 6 : 2;
  static constexpr int pairs[3][2] = {{0, 5}, {1, 2}, {3, 4}};
  static constexpr int at(int i) { return count == 6 ? i : pairs[group][i]; }
};

/// Whether tile `i` has a point, of four that are `isMixed`, a wide and a
/// narrow one in each direction.
constexpr bool hasPoint(bool isMixed, int i, int row, int column) {
  return !isMixed || ((row != 4 || i < 2) && (column != 4 || i == 1 || i == 2));
}

/// A vector of channels, whose sums of some of a row of the numbers fit into
/// registers.
template <int row, int group, int tiles, bool isMixed>
inline void BlockedWinogradTile::multiplyFewColumns(int64_t out, int64_t first,
                                                    int64_t terms) const {
  using Columns = FewColumns<group>;
  constexpr int64_t kTaps = 9 * kChannelBlock;
  const int64_t pointStride = range.pointStride, stride = sumStride();
  float *target = sums + 6 * row * stride +
                  out / kChannelBlock * tiles * kChannelBlock +
                  out % kChannelBlock;
  Vec own[Columns::count][tiles] = {};
  const float *a = transformed + 6 * row * pointStride + first * tiles;
  const float *taps = w.at(first, out);
  const bool isLast = first + 2 * terms > plan.inChannels &&
                      channelBegin + out + kChannelBlock >= plan.outChannels;
  const float *ahead =
      taps + (isLast ? 0 : terms * kTaps) + row * terms * kTaps / 6;
  for (int64_t c = 0; c < terms; c += kChannelBlock) {
    for (int64_t l = 0; l < kChannelBlock; ++l, taps += kTaps) {
      // Three lines for two terms.
      for (int64_t i = l % 2; group == 0 && i < 2; ++i, ahead += kChannelBlock)
        __builtin_prefetch(ahead, 0, 2);
      Vec g[3], t[6];
      transformHalf<row>(taps, kChannelBlock, g);
      transformThree(g, t);
      DLC_UNROLL for (int j = 0; j < Columns::count; ++j) {
        const float *from = a + Columns::at(j) * pointStride + l;
        DLC_UNROLL for (int i = 0; i < tiles;
                        ++i) if (hasPoint(isMixed, i, row, Columns::at(j)))
            own[j][i] += t[Columns::at(j)] * splat(from[i * kChannelBlock]);
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

template <int row, int tiles, bool isMixed>
inline void BlockedWinogradTile::multiplyFewRow(int64_t out, int64_t first,
                                                int64_t terms) const {
  multiplyFewColumns<row, 0, tiles, isMixed>(out, first, terms);
  if constexpr (FewColumns<0>::count == 2) {
    multiplyFewColumns<row, 1, tiles, isMixed>(out, first, terms);
    multiplyFewColumns<row, 2, tiles, isMixed>(out, first, terms);
  }
}

template <int tiles, bool isMixed>
inline void BlockedWinogradTile::multiplyFew() const {
  for (int64_t out = 0; out < channels(); out += kLanes)
    for (int64_t first = 0; first < plan.inChannels; first += plan.kBlock) {
      const int64_t terms = least(plan.kBlock, plan.inChannels - first);
      multiplyFewRow<0, tiles, isMixed>(out, first, terms);
      multiplyFewRow<1, tiles, isMixed>(out, first, terms);
      multiplyFewRow<2, tiles, isMixed>(out, first, terms);
      multiplyFewRow<3, tiles, isMixed>(out, first, terms);
      multiplyFewRow<4, tiles, isMixed>(out, first, terms);
      multiplyFewRow<5, tiles, isMixed>(out, first, terms);
    }
}

/// A^T m: the sums of points 0, p, -p, q and infinity to three outputs of three
/// taps, or four of two.
template <int outputs>
[[gnu::always_inline]] inline void transformFiveBack(const Vec (&m)[5],
                                                     Vec (&y)[4]) {
  constexpr auto both = static_cast<float>(1 / (double{kPP} * kQ));
  constexpr auto plus = static_cast<float>(1 / (2 * double{kPP} * (kP - kQ)));
  constexpr auto minus = static_cast<float>(-1 / (2 * double{kPP} * (kP + kQ)));
  constexpr auto ofQ = static_cast<float>(1 / (double{kQ} * (kQQ - kPP)));
  const Vec first = plus * m[1], second = minus * m[2];
  const Vec sum = first + second, difference = first - second;
  y[0] = both * m[0] + sum + ofQ * m[3];
  y[1] = kP * difference + kQ * ofQ * m[3];
  y[2] = kPP * sum + kQQ * ofQ * m[3];
  if constexpr (outputs == 4)
    y[3] = kP * kPP * difference + kQ * kQQ * ofQ * m[3];
  y[outputs - 1] += m[4];
}

template <bool isNarrow>
[[gnu::always_inline]] inline void transformSums(const Vec (&m)[6],
                                                 Vec (&y)[4]) {
  if constexpr (isNarrow)
    transformFiveBack<3>({m[0], m[1], m[2], m[3], m[5]}, y);
  else
    transformBack<false>(m, y);
}

template <bool isNarrowH, bool isNarrowW>
[[gnu::always_inline]] inline bool areFinite(const TileWriter::Outputs &out) {
  Vec rows[4] = {};
  DLC_UNROLL for (int i = 0; i < (isNarrowH ? 3 : 4); ++i) rows[i] =
      (out[i][0] + out[i][1]) + (isNarrowW ? out[i][2] : out[i][2] + out[i][3]);
  // NaN when something is not finite, or so large that it may soon not be.
  const Vec zero = ((rows[0] + rows[1]) + (rows[2] + rows[3])) * 0.0f;
  const IntVec isZero = zero == Vec{};
  bool isFinite = true;
  DLC_UNROLL for (int lane = 0; lane < kLanes; ++lane) isFinite &=
      isZero[lane] != 0;
  return isFinite;
}

/// False if an output is not finite.
template <bool isNarrowH, bool isNarrowW>
[[gnu::always_inline]] inline bool
BlockedWinogradTile::transformOutputs(int64_t tile, int64_t channel,
                                      Outputs &out) const {
  constexpr int height = isNarrowH ? 3 : 4;
  const int64_t at = channel - channelBegin;
  const float *source =
      sums + (at / kChannelBlock * range.count() + tile) * kChannelBlock +
      at % kChannelBlock;
  const int64_t stride = sumStride();
  Vec half[height][6];
  DLC_UNROLL for (int j = 0; j < 6; ++j) {
    if (isNarrowW && j == 4)
      continue;
    Vec m[6], y[4];
    DLC_UNROLL for (int i = 0; i < 6; ++i) if (!isNarrowH || i != 4) m[i] =
        load(source + (i * 6 + j) * stride);
    transformSums<isNarrowH>(m, y);
    DLC_UNROLL for (int i = 0; i < height; ++i) half[i][j] = y[i];
  }
  DLC_UNROLL for (int i = 0; i < height; ++i)
      transformSums<isNarrowW>(half[i], out[i]);
  return areFinite<isNarrowH, isNarrowW>(out);
}

inline void TileOutputs::computeDirectly(const TilePlace &at, int64_t channel,
                                         Outputs &out) const {
  const int64_t blocks = plan.inChannels / kChannelBlock;
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t top = (at.row + i / 4) * plan.step - plan.padTop;
    const int64_t left = (at.column + i % 4) * plan.step - plan.padLeft;
    Vec sum = {};
    for (int64_t c = 0; c < plan.inChannels; ++c)
      for (int64_t tap = 0; tap < plan.side * plan.side; ++tap) {
        const int64_t inY = top + tap / plan.side, inX = left + tap % plan.side;
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
template <int64_t outputs>
inline void TileWriter::fetchOutputs(const TilePlace &at) const {
  for (int64_t channel = channelBegin; channel < channelEnd;
       channel += kChannelBlock) {
    const int64_t panel =
        at.image * (plan.outChannels / kChannelBlock) + channel / kChannelBlock;
    const float *target =
        y +
        ((panel * plan.outH + at.row) * plan.outW + at.column) * kChannelBlock;
    for (int64_t i = 0; i < outputs; ++i)
      DLC_UNROLL for (int64_t j = 0; j < outputs; ++j)
          __builtin_prefetch(target + (i * plan.outW + j) * kChannelBlock, 1);
  }
}

template <bool isNarrowH, bool isNarrowW>
[[gnu::always_inline]] inline void
TileWriter::write(const TilePlace &at, int64_t channel, Outputs &out) const {
  constexpr int height = isNarrowH ? 3 : 4, width = isNarrowW ? 3 : 4;
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
    DLC_UNROLL for (int j = 0; j < width; ++j) {
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
  const bool isWhole = columns >= width;
  DLC_UNROLL for (int i = 0; i < height; ++i) {
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
    if (plan.narrowH > 0)
      multiplyFew<kFewTiles, /*isMixed=*/true>();
    else
      (this->*few[range.count() - 1])();
  } else {
    computeRow<0>();
    computeRow<1>();
    computeRow<2>();
    computeRow<3>();
    computeRow<4>();
    computeRow<5>();
  }
  for (int64_t tile = 0; tile < tiles.count; ++tile) {
    const TileAt at = tiles.at[tile];
    if (plan.isLarge && tile + 1 < tiles.count)
      fetchOutputs(tiles.at[tile + 1]);
    ofForm(
        at.isNarrowH, at.isNarrowW,
        [&](auto isNarrowH, auto isNarrowW) __attribute__((always_inline)) {
          for (int64_t channel = channelBegin; channel < channelEnd;
               channel += kLanes) {
            Outputs out;
            if (!transformOutputs<isNarrowH, isNarrowW>(tile, channel, out))
                [[unlikely]]
              computeDirectly(at, channel, out);
            write<isNarrowH, isNarrowW>(at, channel, out);
          }
        });
  }
}

/// Of output channels [begin, end).
inline TileOutputs outputsOf(const WinogradPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  return {{plan, static_cast<const float *>(arguments[2]),
           static_cast<const float *>(arguments[3]),
           static_cast<float *>(arguments[4]), begin, end},
          static_cast<const float *>(arguments[0]),
          TapWeights(plan, static_cast<const float *>(arguments[6]), begin)};
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
  const int64_t parts = (plan.outChannels + plan.outBlock - 1) / plan.outBlock;
  const int64_t perChannel = kHalfPoints * plan.inChannels;
  for (int64_t tile = begin; tile < end; ++tile) {
    const TileRange range(plan, tile / parts);
    const int64_t channel = tile % parts * plan.outBlock;
    const int64_t last = least(channel + plan.outBlock, plan.outChannels);
    const BlockTiles tiles(plan, range);
    BlockedWinogradTile{outputsOf(plan, arguments, channel, last),
                        range,
                        tiles,
                        CallsOfPoints(tiles, (last - channel) / kChannelBlock),
                        transformed + range.offset,
                        half ? half + channel * perChannel : nullptr,
                        half ? half + plan.outChannels * perChannel : nullptr,
                        halves,
                        weights,
                        sums}
        .run();
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDWINOGRADTILES_H
