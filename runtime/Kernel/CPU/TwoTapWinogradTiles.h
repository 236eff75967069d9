// SPDX-License-Identifier: Apache-2.0
//
// 3x3 in steps of two, and 2x2 in steps of one, of blocked tensors. In one
// direction, output i of the former is
//   x[2i] w0 + x[2i + 2] w2, which is F(4, 2) of every other element, with the
//   points 0, p, -p, q and infinity, and x[2i + 1] w1, which is a product:
// nine products for four outputs in place of twelve, 81 for 4x4 in place of
// 144. The latter is F(4, 2) alone, 25 products in place of 64. Where four do
// not divide an image, some tiles have three outputs, 14 are two of four and
// two of three: F(3, 2) with one point less, q.
//
// So there are 36 products of weights, or 25, those of points and of the middle
// in both directions. A product with the middle is of all rows or columns of
// outputs, one with a point of all rows or columns of tiles: a block is some
// rows of tiles, next to each other, of a part of their columns, and of each
// product the inputs are [C/16][rows][columns][16].
//
// The points are those of F(4x4, 3x3), so narrow tiles there and tiles here
// have the same transform of inputs; weights are what the direct algorithm has.

#ifndef DLC_RUNTIME_KERNEL_CPU_TWOTAPWINOGRADTILES_H
#define DLC_RUNTIME_KERNEL_CPU_TWOTAPWINOGRADTILES_H

#include "BlockedWinogradTiles.h"

namespace dlc::rt::cpu {
namespace {

/// Products in one direction: points 0, p, -p, q, infinity, and the middle.
enum TwoTapPart { kZero, kPlusP, kMinusP, kPlusQ, kInfinity, kMiddle };
constexpr int kTwoTapParts = 6;
/// Those that there are in steps of two, or of one.
constexpr int partsOfStep(int64_t step) {
  return step == 2 ? kTwoTapParts : kMiddle;
}

/// Rows or columns of a block, and of what its parts are products.
struct TwoTapSide {
  TwoTapSide(int64_t count, int64_t wide, int64_t firstOutput)
      : count(count), wide(wide), firstOutput(firstOutput) {}
  /// How many a part has: no narrow tile has q.
  int64_t of(int part) const {
    return part == kPlusQ ? wide : part == kMiddle ? middleOf(count) : count;
  }
  /// Outputs of the tiles in front of one.
  int64_t middleOf(int64_t tile) const { return 3 * tile + least(tile, wide); }
  bool isNarrow(int64_t tile) const { return tile >= wide; }

  int64_t count, wide; ///< Tiles; those of four outputs are the first.
  int64_t firstOutput; ///< Of columns.
};

/// One of the blocks of a plan: rows of tiles that follow each other, image by
/// image, so that threads keep what is theirs; those of four outputs come
/// first.
struct TwoTapBlock {
  TwoTapBlock(const WinogradPlan &plan, int64_t index)
      : TwoTapBlock(plan, index, plan.firstBlock + index * plan.blockStep) {}

  /// The image and the first row of outputs of a row of tiles.
  TilePlace placeOf(const WinogradPlan &plan, int64_t row) const {
    const int64_t wideRows = plan.tilesH - plan.narrowH;
    const int64_t wideBefore = wideRowsBefore(plan, firstRow);
    const bool isNarrow = rows.isNarrow(row);
    const int64_t each = isNarrow ? plan.narrowH : wideRows;
    const int64_t at =
        row + (isNarrow ? firstRow - wideBefore - rows.wide : wideBefore);
    return {at / each,
            at % each * (isNarrow ? 3 : 4) + (isNarrow ? 4 * wideRows : 0),
            columns.firstOutput};
  }
  int64_t pixelsOf(int v, int h) const { return rows.of(v) * columns.of(h); }
  /// The calls of all products, of so many panels.
  void planCalls(int parts, int64_t panels) {
    callCount = 0;
    for (int v = 0; v < parts; ++v)
      for (int h = 0; h < parts; ++h) {
        calls[v][h] = PointCalls::of(0, pixelsOf(v, h), panels);
        callCount += calls[v][h].calls;
      }
  }
  /// Of what comes before a product, for each of so many channels.
  int64_t offsetOf(int v, int h, int64_t channels) const {
    return first[v][h] * channels + (v * kTwoTapParts + h) * kWinogradGap;
  }

  int64_t firstRow;
  TwoTapSide rows, columns;
  int64_t offset; ///< Of the transformed inputs in the workspace.
  int64_t first[kTwoTapParts][kTwoTapParts];
  PointCalls calls[kTwoTapParts][kTwoTapParts];
  int64_t callCount; ///< Of a panel, or of all that go together.

private:
  TwoTapBlock(const WinogradPlan &plan, int64_t index, int64_t number)
      : TwoTapBlock(plan, index, number / plan.rowBlocks,
                    number % plan.rowBlocks) {}
  TwoTapBlock(const WinogradPlan &plan, int64_t index, int64_t columnPart,
              int64_t rowPart)
      : firstRow(firstRowOf(plan, rowPart)),
        rows(rowsOf(plan, firstRow, firstRowOf(plan, rowPart + 1))),
        columns(sideOf(plan.tilesW, plan.tilesW - plan.narrowW, columnPart,
                       plan.columnBlocks)),
        offset(index * (plan.blockPixels * plan.inChannels +
                        kTwoTapParts * kTwoTapParts * kWinogradGap)) {
    int64_t before = 0;
    for (int v = 0; v < partsOfStep(plan.step); ++v)
      for (int h = 0; h < partsOfStep(plan.step); ++h) {
        first[v][h] = before;
        before += pixelsOf(v, h);
      }
  }
  /// Those that have a row more are spread over all: of an even number of rows
  /// two blocks that are half of all apart, and go together, have as many.
  static int64_t firstRowOf(const WinogradPlan &plan, int64_t part) {
    return plan.images * plan.tilesH * part / plan.rowBlocks;
  }
  /// Of four outputs, of all in front of one.
  static int64_t wideRowsBefore(const WinogradPlan &plan, int64_t row) {
    const int64_t wideRows = plan.tilesH - plan.narrowH;
    return row / plan.tilesH * wideRows + least(row % plan.tilesH, wideRows);
  }
  static TwoTapSide rowsOf(const WinogradPlan &plan, int64_t begin,
                           int64_t end) {
    return {end - begin,
            wideRowsBefore(plan, end) - wideRowsBefore(plan, begin), 0};
  }
  static TwoTapSide sideOf(int64_t tiles, int64_t wide, int64_t part,
                           int64_t parts) {
    const int64_t begin = shareOf(tiles, part, parts);
    const int64_t count = shareOf(tiles, part + 1, parts) - begin;
    return {count, most<int64_t>(least(wide - begin, count), 0),
            3 * begin + least(begin, wide)};
  }
};

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Numbers 0 and infinity of a tile of three outputs, of every other element,
/// or p and -p.
template <bool isOfP, typename Function>
[[gnu::always_inline]] inline void threeInputs(Function &&d, Vec &first,
                                               Vec &last) {
  if constexpr (isOfP) {
    first = plusProduct(d(2), kP, d(1));
    last = minusProduct(d(2), kP, d(1));
  } else {
    first = d(2) - kPP * d(0);
    last = d(3) - kPP * d(1);
  }
}

/// The same of a tile of four outputs, or of three.
template <bool isNarrow, bool isOfP, typename Function>
[[gnu::always_inline]] inline void pairOfPoints(Function &&d, Vec &first,
                                                Vec &last) {
  if constexpr (isNarrow)
    threeInputs<isOfP>(d, first, last);
  else
    narrowInputs<isOfP ? 1 : 0>(d, first, last);
}

/// Where the inputs of a block of channels are transformed to.
template <int step> struct TwoTapTargets {
  TwoTapTargets(const WinogradPlan &plan, const TwoTapBlock &block,
                float *transformed, int64_t channel)
      : block(block) {
    for (int v = 0; v < partsOfStep(step); ++v)
      for (int h = 0; h < partsOfStep(step); ++h)
        at[v][h] = transformed + block.offsetOf(v, h, plan.inChannels) +
                   channel * block.pixelsOf(v, h);
  }

  /// Of a row of elements, at `row` of those of part v and tile `tile`.
  template <bool isNarrow>
  [[gnu::always_inline]] void put(int v, int64_t row, int64_t tile,
                                  const Vec (&d)[9], int64_t lane) const {
    auto even = [&](int i) __attribute__((always_inline)) {
      return d[step * i];
    };
    Vec t[5];
    pairOfPoints<isNarrow, false>(even, t[kZero], t[kInfinity]);
    pairOfPoints<isNarrow, true>(even, t[kPlusP], t[kMinusP]);
    if constexpr (!isNarrow)
      narrowInputs<3>(even, t[kPlusQ], t[kPlusQ]);
    DLC_UNROLL for (int h = 0; h < kMiddle; ++h) {
      if (isNarrow && h == kPlusQ)
        continue;
      store(at[v][h] + (row * block.columns.of(h) + tile) * kChannelBlock +
                lane,
            t[h]);
    }
    if constexpr (step == 2) {
      float *middle =
          at[v][kMiddle] +
          (row * block.columns.of(kMiddle) + block.columns.middleOf(tile)) *
              kChannelBlock +
          lane;
      DLC_UNROLL for (int j = 0; j < (isNarrow ? 3 : 4); ++j)
          store(middle + j * kChannelBlock, d[2 * j + 1]);
    }
  }

  const TwoTapBlock &block;
  float *at[kTwoTapParts][kTwoTapParts];
};

/// The numbers of a tile, of the elements that inputOf(row, column) gives.
template <int step, bool isNarrowH, bool isNarrowW, typename Function>
[[gnu::always_inline]] inline void
transformTwoTap(Function &&inputOf, const TwoTapTargets<step> &targets,
                int64_t row, int64_t column, int64_t lane) {
  constexpr int width = step * (isNarrowW ? 3 : 4) + 1;
  Vec first[9], last[9];
  auto evenOf = [&](int j) __attribute__((always_inline)) {
    return [&inputOf, j ](int i) __attribute__((always_inline)) {
      return inputOf(step * i, j);
    };
  };
  auto put = [&](int v, int64_t at, const Vec(&d)[9])
      __attribute__((always_inline)) {
    targets.template put<isNarrowW>(v, at, column, d, lane);
  };
  DLC_UNROLL for (int j = 0; j < width; ++j)
      pairOfPoints<isNarrowH, false>(evenOf(j), first[j], last[j]);
  put(kZero, row, first);
  put(kInfinity, row, last);
  DLC_UNROLL for (int j = 0; j < width; ++j)
      pairOfPoints<isNarrowH, true>(evenOf(j), first[j], last[j]);
  put(kPlusP, row, first);
  put(kMinusP, row, last);
  if constexpr (!isNarrowH) {
    DLC_UNROLL for (int j = 0; j < width; ++j)
        narrowInputs<3>(evenOf(j), first[j], last[j]);
    put(kPlusQ, row, first);
  }
  if constexpr (step == 2) {
    const int64_t middle = targets.block.rows.middleOf(row);
    for (int i = 0; i < (isNarrowH ? 3 : 4); ++i) {
      DLC_UNROLL for (int j = 0; j < width; ++j) first[j] =
          inputOf(2 * i + 1, j);
      put(kMiddle, middle + i, first);
    }
  }
}

/// For one vector of channels of `x`, the plane.
template <int step, bool isNarrowH, bool isNarrowW>
[[gnu::always_inline]] inline void
transformTwoTapTile(const WinogradPlan &plan, const TilePlace &at,
                    const float *x, const TwoTapTargets<step> &targets,
                    int64_t row, int64_t column, int64_t lane) {
  constexpr int height = step * (isNarrowH ? 3 : 4) + 1;
  constexpr int width = step * (isNarrowW ? 3 : 4) + 1;
  withPixels<height, width>(
      plan, step * at.row - plan.padTop, step * at.column - plan.padLeft,
      x, [&](auto &&pixelOf) __attribute__((always_inline)) {
        transformTwoTap<step, isNarrowH, isNarrowW>(pixelOf, targets, row,
                                                    column, lane);
      });
}

/// What the tile on the right reads of a plane, but for the pixels that they
/// share.
template <int step>
inline void fetchRight(const WinogradPlan &plan, const TilePlace &at,
                       const float *x) {
  constexpr int64_t width = 4 * step;
  fetchPixels<width + 1, width>(plan, step * at.row - plan.padTop,
                                step * at.column - plan.padLeft + width + 1, x);
}

/// Calls function(place, row, column, isNarrowH, isNarrowW) of all tiles.
template <typename Function>
[[gnu::always_inline]] inline void forEachTile(const WinogradPlan &plan,
                                               const TwoTapBlock &block,
                                               Function &&function) {
  for (int64_t row = 0; row < block.rows.count; ++row) {
    TilePlace at = block.placeOf(plan, row);
    const int64_t first = at.column;
    for (int64_t column = 0; column < block.columns.count; ++column) {
      at.column = first + block.columns.middleOf(column);
      ofForm(
          block.rows.isNarrow(row), block.columns.isNarrow(column),
          [&](auto isNarrowH, auto isNarrowW) __attribute__((always_inline)) {
            function(at, row, column, isNarrowH, isNarrowW);
          });
    }
  }
}

/// Tiles of the grid: block, block of channels, the last fastest.
template <int step>
void runTwoTapInput(const WinogradPlan &plan, void *const *arguments,
                    int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  auto *transformed = static_cast<float *>(arguments[5]);
  const int64_t blocks = plan.inChannels / kChannelBlock;
  const int64_t planeSize = plan.inH * plan.inW * kChannelBlock;
  for (int64_t tile = begin; tile < end; ++tile) {
    const TwoTapBlock block(plan, tile / blocks);
    const int64_t own = tile % blocks;
    const TwoTapTargets<step> targets(plan, block, transformed + block.offset,
                                      own * kChannelBlock);
    forEachTile(
        plan, block,
        [&](const TilePlace &at, int64_t row, int64_t column, auto isNarrowH,
            auto isNarrowW) __attribute__((always_inline)) {
          const float *plane = x + (at.image * blocks + own) * planeSize;
          if (plan.isLarge)
            fetchRight<step>(plan, at, plane);
          for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes)
            transformTwoTapTile<step, isNarrowH, isNarrowW>(
                plan, at, plane + lane, targets, row, column, lane);
        });
  }
}

void runTwoTapWinogradInput(const WinogradPlan &plan, void *const *arguments,
                            int64_t begin, int64_t end) {
  plan.step == 2 ? runTwoTapInput<2>(plan, arguments, begin, end)
                 : runTwoTapInput<1>(plan, arguments, begin, end);
}

//===----------------------------------------------------------------------===//
// Products and outputs
//===----------------------------------------------------------------------===//

/// A^T m: sums of five points to four outputs, or of four to three.
template <bool isNarrow>
[[gnu::always_inline]] inline void transformTwoTapBack(const Vec (&m)[5],
                                                       Vec (&y)[4]) {
  if constexpr (isNarrow) {
    constexpr auto ofZero = static_cast<float>(-1 / double{kPP});
    constexpr auto ofP = static_cast<float>(1 / (2 * double{kPP}));
    const Vec sum = m[kPlusP] + m[kMinusP];
    y[0] = ofP * sum + ofZero * m[kZero];
    y[1] = kP * ofP * (m[kPlusP] - m[kMinusP]);
    y[2] = m[kInfinity] + 0.5f * sum;
  } else {
    transformFiveBack<4>(m, y);
  }
}

/// Those of one group of panels, of a block.
template <int step> struct TwoTapWinogradTile : TileOutputs {
  const TwoTapBlock &block;
  const float *transformed; ///< Of the block.
  const float *nextTaps;    ///< Of whoever is next; null when nobody is.
  float *weights;           ///< [parts][terms][channels], with gaps.
  float *sums; ///< Of each part [panels][rows][columns][16], with gaps.

  void run() const;

private:
  /// Rows of taps of the next terms, which are fetched meanwhile.
  struct Ahead {
    const float *rows;
    int64_t count, each; ///< Rows, and those that two calls fetch.
    int64_t call = 0;

    /// Every other call fetches the first lines of some rows, the one behind it
    /// the second lines.
    void give(BlockedArguments &t) {
      const int64_t row = call / 2 * each;
      t.ahead = rows + row * t.aheadStride + call % 2 * kChannelBlock;
      t.aheadLines = row + each <= count ? each / t.blocks : 0;
      ++call;
    }
  };

  static constexpr int64_t kSide = step + 1; ///< Of windows.

  int64_t channels() const { return channelEnd - channelBegin; }
  int64_t weightStride() const {
    return plan.kBlock * channels() + kWinogradGap;
  }
  Ahead aheadOf(int64_t first, int64_t terms) const;
  template <int part> void transformRow(int64_t first, int64_t terms) const;
  template <int part>
  void computeRow(int64_t first, int64_t terms, Ahead &ahead) const;
  void multiply(int v, int h, BlockedArguments &t, const float *source,
                int64_t sourcePanel, int64_t first, Ahead &ahead) const;
  template <bool isNarrowH, bool isNarrowW>
  bool transformOutputs(int64_t row, int64_t column, int64_t channel,
                        Outputs &out) const;
};

template <int step>
inline typename TwoTapWinogradTile<step>::Ahead
TwoTapWinogradTile<step>::aheadOf(int64_t first, int64_t terms) const {
  const int64_t left = plan.inChannels - first - terms;
  const float *next = left > 0 ? w.at(first + terms, 0) : nextTaps;
  if (!next)
    return {w.first, 0, 0};
  const int64_t rows =
      kSide * kSide * least(left > 0 ? left : plan.kBlock, plan.kBlock);
  // Whole lines for each sixteen terms of a call.
  const int64_t sixteens = terms / kChannelBlock;
  const int64_t pairs = most<int64_t>(block.callCount / 2 * sixteens, 1);
  return {next, rows, (rows + pairs - 1) / pairs * sixteens};
}

/// Whether the weights of a part are taps in one direction.
constexpr bool isTap(int part) {
  return part == kZero || part == kMiddle || part == kInfinity;
}
/// Which row or column of windows of so many.
constexpr int64_t tapOf(int part, int64_t side) {
  return part == kMiddle ? 1 : part == kInfinity ? side - 1 : 0;
}

/// One vector of a row of G g G^T: the numbers that are no taps.
template <int part, int64_t side>
[[gnu::always_inline]] inline void
transformTaps(const float *taps, int64_t tap, float *target, int64_t stride) {
  constexpr float factor = part == kPlusP ? kP : part == kMinusP ? -kP : kQ;
  constexpr int64_t last = (side - 1) * side; ///< The first of its row.
  auto numberOf = [&](int64_t column) __attribute__((always_inline)) {
    if constexpr (isTap(part))
      return load(taps + (tapOf(part, side) * side + column) * tap);
    else
      return load(taps + column * tap) +
             factor * load(taps + (last + column) * tap);
  };
  const Vec left = numberOf(0), right = numberOf(side - 1);
  store(target + kPlusP * stride, plusProduct(left, kP, right));
  store(target + kMinusP * stride, minusProduct(left, kP, right));
  store(target + kPlusQ * stride, plusProduct(left, kQ, right));
  if constexpr (!isTap(part)) {
    store(target + kZero * stride, left);
    store(target + kInfinity * stride, right);
    if constexpr (side == 3)
      store(target + kMiddle * stride, numberOf(1));
  }
}

/// The row of terms [first, first + terms).
template <int step>
template <int part>
[[gnu::noinline]] void
TwoTapWinogradTile<step>::transformRow(int64_t first, int64_t terms) const {
  // What is stored may be these members, for all that the compiler knows.
  const int64_t width = channels(), stride = weightStride();
  const int64_t tap = w.tap, term = w.term, block = w.block;
  for (int64_t out = 0; out < width; out += kLanes) {
    float *target = weights + out;
    const float *taps = w.at(first, out);
    for (int64_t c = 0; c < terms; c += kChannelBlock, taps += block) {
      const float *own = taps;
      DLC_KEEP_ROLLED for (int64_t l = 0; l < kChannelBlock; ++l) {
        transformTaps<part, kSide>(own, tap, target, stride);
        own += term;
        target += width;
      }
    }
  }
}

/// t has all but what the part and its pixels say.
template <int step>
inline void
TwoTapWinogradTile<step>::multiply(int v, int h, BlockedArguments &t,
                                   const float *source, int64_t sourcePanel,
                                   int64_t first, Ahead &ahead) const {
  const int64_t pixels = block.pixelsOf(v, h);
  const int64_t panels = channels() / kChannelBlock;
  const PointCalls &calls = block.calls[v][h];
  t.blockStride = t.yPanel = pixels * kChannelBlock;
  for (int64_t panel = 0, wide; panel < panels; panel += wide) {
    wide = least<int64_t>(kMostPanels, panels - panel);
    t.w = source + panel * sourcePanel;
    t.x = transformed + block.offsetOf(v, h, plan.inChannels) + first * pixels;
    t.y = sums + block.offsetOf(v, h, channels()) + panel * t.yPanel;
    for (int64_t c = 0; c < calls.calls; ++c) {
      const int64_t own = calls.pixelsOf(c);
      ahead.give(t);
      blockedKernelOf<BlockedForm::Points>(own, wide)(t);
      t.x += own * kChannelBlock;
      t.y += own * kChannelBlock;
    }
  }
}

/// Products of part v with those of all columns. Weights that are taps are read
/// where they are.
template <int step>
template <int part>
inline void TwoTapWinogradTile<step>::computeRow(int64_t first, int64_t terms,
                                                 Ahead &ahead) const {
  if (block.rows.of(part) == 0)
    return;
  BlockedArguments t = {};
  t.taps = 1;
  t.blocks = terms / kChannelBlock;
  t.accumulate = first > 0;
  t.aheadStride = w.term;
  if constexpr (isTap(part)) {
    const float *taps = w.at(first, 0) + kSide * tapOf(part, kSide) * w.tap;
    t.wStride = w.term;
    t.wGap = w.block - kChannelBlock * w.term;
    multiply(part, kZero, t, taps, w.panel, first, ahead);
    multiply(part, kInfinity, t, taps + (kSide - 1) * w.tap, w.panel, first,
             ahead);
    if constexpr (step == 2)
      multiply(part, kMiddle, t, taps + w.tap, w.panel, first, ahead);
  }
  transformRow<part>(first, terms);
  t.wStride = channels();
  t.wGap = 0;
  for (int h = 0; h < partsOfStep(step); ++h)
    if (!isTap(part) || !isTap(h))
      multiply(part, h, t, weights + h * weightStride(), kChannelBlock, first,
               ahead);
}

/// False if an output is not finite.
template <int step>
template <bool isNarrowH, bool isNarrowW>
[[gnu::always_inline]] inline bool TwoTapWinogradTile<step>::transformOutputs(
    int64_t row, int64_t column, int64_t channel, Outputs &out) const {
  constexpr int height = isNarrowH ? 3 : 4, width = isNarrowW ? 3 : 4;
  const int64_t at = channel - channelBegin;
  const int64_t middleRow = block.rows.middleOf(row);
  /// Four outputs, or three, of a column of part h.
  auto columnOf = [&](int h, int64_t own, Vec(&y)[4])
      __attribute__((always_inline)) {
    const int64_t columns = block.columns.of(h);
    auto sumOf = [&](int v, int64_t ownRow) __attribute__((always_inline)) {
      return load(
          sums + block.offsetOf(v, h, channels()) +
          (at / kChannelBlock * block.pixelsOf(v, h) + ownRow * columns + own) *
              kChannelBlock +
          at % kChannelBlock);
    };
    Vec m[5];
    DLC_UNROLL for (int v = 0; v < kMiddle; ++v) if (!isNarrowH || v != kPlusQ)
        m[v] = sumOf(v, row);
    transformTwoTapBack<isNarrowH>(m, y);
    if constexpr (step == 2) {
      DLC_UNROLL for (int i = 0; i < height; ++i) y[i] +=
          sumOf(kMiddle, middleRow + i);
    }
  };
  Vec half[4][5];
  DLC_UNROLL for (int h = 0; h < kMiddle; ++h) {
    if (isNarrowW && h == kPlusQ)
      continue;
    Vec y[4];
    columnOf(h, column, y);
    DLC_UNROLL for (int i = 0; i < height; ++i) half[i][h] = y[i];
  }
  DLC_UNROLL for (int i = 0; i < height; ++i)
      transformTwoTapBack<isNarrowW>(half[i], out[i]);
  const int64_t middle = block.columns.middleOf(column);
  DLC_UNROLL for (int j = 0; step == 2 && j < width; ++j) {
    Vec y[4];
    columnOf(kMiddle, middle + j, y);
    DLC_UNROLL for (int i = 0; i < height; ++i) out[i][j] += y[i];
  }
  return areFinite<isNarrowH, isNarrowW>(out);
}

template <int step> inline void TwoTapWinogradTile<step>::run() const {
  for (int64_t first = 0; first < plan.inChannels; first += plan.kBlock) {
    const int64_t terms = least(plan.kBlock, plan.inChannels - first);
    Ahead ahead = aheadOf(first, terms);
    computeRow<kZero>(first, terms, ahead);
    if constexpr (step == 2)
      computeRow<kMiddle>(first, terms, ahead);
    computeRow<kInfinity>(first, terms, ahead);
    computeRow<kPlusP>(first, terms, ahead);
    computeRow<kMinusP>(first, terms, ahead);
    computeRow<kPlusQ>(first, terms, ahead);
  }
  forEachTile(
      plan, block,
      [&](const TilePlace &at, int64_t row, int64_t column, auto isNarrowH,
          auto isNarrowW) __attribute__((always_inline)) {
        for (int64_t channel = channelBegin; channel < channelEnd;
             channel += kLanes) {
          Outputs out;
          if (!transformOutputs<isNarrowH, isNarrowW>(row, column, channel,
                                                      out)) [[unlikely]]
            computeDirectly(at, channel, out);
          write<isNarrowH, isNarrowW>(at, channel, out);
        }
      });
}

/// Those that output channel `channel`, or the first one, begins with.
inline const float *tapsOf(const WinogradPlan &plan, void *const *arguments,
                           int64_t channel) {
  const auto *w = static_cast<const float *>(arguments[6]);
  return TapWeights(plan, w, channel < plan.outChannels ? channel : 0).at(0, 0);
}

template <int step>
void runTwoTapProduct(const WinogradPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end) {
  alignas(64) float weights[kTwoTapParts * (kWinogradWeights + kWinogradGap)];
  alignas(64) float sums[kTwoTapSums * kHalfChannels +
                         kTwoTapParts * kTwoTapParts * kWinogradGap];
  const auto *transformed = static_cast<const float *>(arguments[5]);
  const int64_t parts = (plan.outChannels + plan.outBlock - 1) / plan.outBlock;
  for (int64_t tile = begin; tile < end; ++tile) {
    TwoTapBlock block(plan, tile / parts);
    const int64_t channel = tile % parts * plan.outBlock;
    const int64_t last = least(channel + plan.outBlock, plan.outChannels);
    block.planCalls(partsOfStep(step), (last - channel) / kChannelBlock);
    const TileOutputs outputs = outputsOf(plan, arguments, channel, last);
    TwoTapWinogradTile<step>{outputs,
                             block,
                             transformed + block.offset,
                             tile + 1 < end ? tapsOf(plan, arguments, last)
                                            : nullptr,
                             weights,
                             sums}
        .run();
  }
}

/// Tiles of the grid: block, part of the output channels, the last fastest.
void runTwoTapWinogradProduct(const WinogradPlan &plan, void *const *arguments,
                              int64_t begin, int64_t end) {
  plan.step == 2 ? runTwoTapProduct<2>(plan, arguments, begin, end)
                 : runTwoTapProduct<1>(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_TWOTAPWINOGRADTILES_H
