// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.conv on blocked tensors [N][C/16][H][W][16]. See Vector.h
// for who may include it.
//
// A kernel computes some pixels of some blocks of channels: for each tap and
// block of input channels it multiplies the sixteen elements under each pixel
// by sixteen rows of weights, packed [OC/64][C/16][taps][16][64], or by fewer
// in the last block where channels end within it: what lies behind them in x is
// never read, and in y it is nobody's. Elements are read where they are; which
// those are says a table of offsets for each group of pixels, where what lies
// outside the image is an offset of its own. So pixels are numbered through all
// rows, and no padding is ever copied. Where windows are one pixel and steps
// one, pixels lie next to each other, and there is no table.
//
// First layers, whose x is not blocked, read rows of it where they are, and at
// the borders of the image from a strip with the padding in it. Where y is not
// blocked, a tile of it is summed on the stack and then turned round.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDTILES_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDTILES_H

#include "MicroKernel.h"
#include "PlainPixels.h"

namespace dlc::rt::cpu {
namespace {

/// Vectors of a block of channels.
constexpr int kBlockVectors = kChannelBlock / kLanes;
/// Blocks of output channels of one kernel: 6 x 4 vectors of sums with 32
/// registers, 6 x 2 or 2 x 4 with 16.
constexpr int kMostPanels = kLanes == 16 ? 4 : 1;
constexpr int kMostPixels = kLanes == 4 ? 2 : static_cast<int>(kBlockedRows);
/// Twice as many of at most so many blocks: where pixels lie next to each
/// other, since a call takes time of its own, and of one block, whose sums wait
/// for each other.
constexpr int kTwinPanels = kLanes == 16 ? 2 : 0;
constexpr int kTwinPanelsApart = kLanes == 16 ? 1 : 0;

constexpr int64_t kOutside = -1;
alignas(64) constexpr float kZeros[kChannelBlock] = {};

/// One call of a kernel, for pixels that follow each other.
struct BlockedArguments {
  const float *x;
  /// Blocked x: for each tap the element of each pixel, or kOutside; null where
  /// pixels lie next to each other. Else for each term that of the first pixel.
  const int64_t *offsets;
  int64_t offsetStride; ///< From tap to tap.
  /// Those of the call that follows with the same weights, whose elements are
  /// fetched meanwhile: blocks of channels lie pages apart, more than the
  /// processor's own prefetching follows. Null when there is none, or with more
  /// taps than one, which read elements again.
  const int64_t *nextOffsets;
  bool hasNext; ///< Without offsets: whether a call follows.
  int64_t taps;
  int64_t blocks, blockStride; ///< Of x, whole ones; blocked only.
  int64_t rest;                ///< Channels of one block more, or 0.
  int64_t pixelStride;         ///< Of x; plain only.
  const float *w;
  int64_t wStride; ///< From row to row.
  int64_t wGap;    ///< Behind sixteen rows; of pixels next to each other.
  /// Weights that come later, and how many lines of them, so far apart, are
  /// fetched with each sixteen rows of the call's: they come from memory, and
  /// the processor's own prefetching ends with each page.
  const float *ahead;
  int64_t aheadLines, aheadStride;
  float *y;
  int64_t yPanel;
  bool accumulate;       ///< Add the sum to y, as TileArguments have it.
  const float *bias;     ///< Null when absent.
  const float *residual; ///< As y; null when absent.
  bool clamp;            ///< End with a clamp to [low, high].
  float low, high;
};

using BlockedKernel = void (*)(const BlockedArguments &);

/// The sums of `pixels` pixels and `panels` blocks of channels.
template <int pixels, int panels> struct BlockedSums {
  static constexpr int vectors = panels * kBlockVectors;

  /// Of vector v in y.
  static int64_t offsetOf(int v, int64_t yPanel) {
    return v / kBlockVectors * yPanel + v % kBlockVectors * kLanes;
  }

  [[gnu::always_inline]] void start(const BlockedArguments &t) {
    const float *from = t.residual;
    DLC_UNROLL for (int v = 0; v < vectors; ++v) {
      const Vec bias = t.bias ? load(t.bias + v * kLanes) : Vec{};
      const int64_t at = offsetOf(v, t.yPanel);
      if (from) {
        DLC_UNROLL for (int i = 0; i < pixels; ++i) sums[i][v] =
            bias + load(from + at + i * kChannelBlock);
      } else {
        DLC_UNROLL for (int i = 0; i < pixels; ++i) sums[i][v] = bias;
      }
    }
  }

  /// Adds the product of a term of each pixel and a row of weights.
  template <typename Function>
  [[gnu::always_inline]] void add(Function &&termOf, const float *w) {
    if constexpr (pixels < vectors && kLanes < 16) {
      Vec terms[pixels];
      DLC_UNROLL for (int i = 0; i < pixels; ++i) terms[i] = splat(termOf(i));
      DLC_UNROLL for (int v = 0; v < vectors; ++v) {
        const Vec row = load(w + v * kLanes);
        DLC_UNROLL for (int i = 0; i < pixels; ++i) sums[i][v] +=
            terms[i] * row;
        DLC_KEEP_LOADS_HERE();
      }
    } else {
      Vec row[vectors];
      DLC_UNROLL for (int v = 0; v < vectors; ++v) row[v] =
          load(w + v * kLanes);
      DLC_UNROLL for (int i = 0; i < pixels; ++i) {
        const Vec term = splat(termOf(i));
        DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] +=
            term * row[v];
        DLC_KEEP_LOADS_HERE();
      }
    }
  }

  /// Four terms from termsOf(i) on, of pixels one after the other: there are
  /// not enough registers for where so many begin.
  template <typename Function>
  [[gnu::always_inline]] void addFour(Function &&termsOf, const float *w,
                                      int64_t wStride) {
    static_assert(vectors == 1);
    Vec rows[4];
    DLC_UNROLL for (int j = 0; j < 4; ++j) rows[j] = load(w + j * wStride);
    DLC_UNROLL for (int i = 0; i < pixels; ++i) {
      const float *terms = termsOf(i);
      DLC_UNROLL for (int j = 0; j < 4; ++j) sums[i][0] +=
          splat(terms[j]) * rows[j];
      DLC_KEEP_LOADS_HERE();
    }
  }

  [[gnu::always_inline]] void finish(const BlockedArguments &t) {
    if (t.accumulate) {
      DLC_UNROLL for (int v = 0; v < vectors; ++v) {
        const float *y = t.y + offsetOf(v, t.yPanel);
        DLC_UNROLL for (int i = 0; i < pixels; ++i) sums[i][v] +=
            load(y + i * kChannelBlock);
      }
    }
    if (t.clamp) {
      const Vec low = splat(t.low), high = splat(t.high);
      DLC_UNROLL for (int i = 0; i < pixels; ++i) {
        DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] =
            minOf(maxOf(sums[i][v], low), high);
      }
    }
    DLC_UNROLL for (int v = 0; v < vectors; ++v) {
      float *y = t.y + offsetOf(v, t.yPanel);
      DLC_UNROLL for (int i = 0; i < pixels; ++i)
          store(y + i * kChannelBlock, sums[i][v]);
    }
  }

  Vec sums[pixels][vectors];
};

/// What the next call needs of a block of input and of output channels.
template <int pixels, int panels, typename Function>
[[gnu::always_inline]] inline void
fetchNext(const BlockedArguments &t, Function &&pixelOf, int64_t block) {
  DLC_UNROLL for (int i = 0; i < pixels; ++i)
      __builtin_prefetch(pixelOf(i), 0, 2);
  if (block >= panels)
    return;
  const float *y = t.y + block * t.yPanel + 2 * pixels * kChannelBlock;
  DLC_UNROLL for (int i = 0; i < pixels; ++i)
      __builtin_prefetch(y + i * kChannelBlock, 1, 2);
}

/// Fetches weights that come later: each four of sixteen terms a quarter of the
/// lines, since more wait for each other, and in their order, which processors
/// that fetch on expect.
class WeightFetcher {
public:
  explicit WeightFetcher(const BlockedArguments &t)
      : at(t.ahead), stride(t.aheadStride), lines(t.aheadLines),
        quarter((t.aheadLines + 3) / 4) {}

  [[gnu::always_inline]] void startSixteen() { left = lines; }
  /// Whoever comes next has no use for those of sixteen terms, either.
  [[gnu::always_inline]] void skipSixteen() { at += lines * stride; }
  [[gnu::always_inline]] void fetch() {
    DLC_KEEP_ROLLED for (int64_t i = least(quarter, left); i > 0; --i) {
      __builtin_prefetch(at, 0, 2);
      at += stride;
    }
    left -= quarter;
  }

private:
  const float *at;
  int64_t stride, lines, quarter, left = 0;
};

/// Adds the products of the channels of a block, under each pixel i from
/// pixelOf(i) on, and as many rows of weights, behind which w is then. Where
/// pixels lie apart, each has a place of its own to read.
template <bool lieApart, typename Sums, typename Function>
[[gnu::always_inline]] inline void
addBlock(Sums &sums, Function &&pixelOf, int64_t channels, const float *&w,
         int64_t wStride, WeightFetcher &fetcher) {
  int64_t l = 0;
  for (; l + 4 <= channels; l += 4, w += 4 * wStride) {
    fetcher.fetch();
    if constexpr (lieApart && Sums::vectors == 1) {
      sums.addFour(
          [&](int i) __attribute__((always_inline)) { return pixelOf(i) + l; },
          w, wStride);
      continue;
    }
    DLC_UNROLL for (int j = 0; j < 4; ++j) {
      sums.add(
          [&](int i)
              __attribute__((always_inline)) { return pixelOf(i)[l + j]; },
          w + j * wStride);
    }
  }
  DLC_KEEP_ROLLED for (; l < channels; ++l, w += wStride) sums.add(
      [&](int i) __attribute__((always_inline)) { return pixelOf(i)[l]; }, w);
}

template <int pixels, int panels>
void blockedKernel(const BlockedArguments &t) {
  BlockedSums<pixels, panels> sums;
  sums.start(t);
  const float *w = t.w;
  WeightFetcher fetcher(t);
  const int64_t wStride = t.wStride;
  const int64_t blocks = t.blocks + (t.rest != 0);
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t channels = block < t.blocks ? kChannelBlock : t.rest;
    const float *x = t.x + block * t.blockStride;
    const int64_t *offsets = t.offsets;
    if (t.nextOffsets)
      fetchNext<pixels, panels>(
          t,
          [&](int i)
              __attribute__((always_inline)) { return x + t.nextOffsets[i]; },
          block);
    for (int64_t tap = 0; tap < t.taps; ++tap, offsets += t.offsetStride) {
      // Of dilated windows and of small images many taps meet nothing.
      int64_t all = kOutside;
      DLC_UNROLL for (int i = 0; i < pixels; ++i) all &= offsets[i];
      if (all == kOutside) {
        fetcher.skipSixteen();
        w += channels * wStride;
        continue;
      }
      fetcher.startSixteen();
      const float *a[pixels];
      DLC_UNROLL for (int i = 0; i < pixels; ++i) a[i] =
          offsets[i] == kOutside ? kZeros : x + offsets[i];
      addBlock</*lieApart=*/true>(
          sums, [&](int i) __attribute__((always_inline)) { return a[i]; },
          channels, w, wStride, fetcher);
    }
  }
  sums.finish(t);
}

template <int pixels, int panels> void pointKernel(const BlockedArguments &t) {
  BlockedSums<pixels, panels> sums;
  sums.start(t);
  const float *x = t.x, *w = t.w;
  WeightFetcher fetcher(t);
  const int64_t wStride = t.wStride;
  const int64_t blocks = t.blocks + (t.rest != 0);
  for (int64_t block = 0; block < blocks; ++block, x += t.blockStride) {
    if (t.hasNext)
      fetchNext<pixels, panels>(
          t,
          [&](int i) __attribute__((always_inline)) {
            return x + (2 * pixels + i) * kChannelBlock;
          },
          block);
    fetcher.startSixteen();
    addBlock</*lieApart=*/false>(
        sums,
        [&](int i)
            __attribute__((always_inline)) { return x + i * kChannelBlock; },
        block < t.blocks ? kChannelBlock : t.rest, w, wStride, fetcher);
    w += t.wGap;
  }
  sums.finish(t);
}

template <int pixels, int panels> void plainKernel(const BlockedArguments &t) {
  BlockedSums<pixels, panels> sums;
  sums.start(t);
  const float *w = t.w;
  const int64_t wStride = t.wStride, stride = t.pixelStride;
  for (int64_t term = 0; term < t.taps; ++term, w += wStride) {
    const float *x = t.x + t.offsets[term];
    sums.add(
        [&](int i) __attribute__((always_inline)) { return x[i * stride]; }, w);
  }
  sums.finish(t);
}

/// What the elements under a pixel are.
enum class BlockedForm { Table, Points, Plain };

/// kernels<form>(pixels)[panels].
template <int pixels, BlockedForm form> struct BlockedKernelRow {
  static constexpr int mostPanels = pixels <= kMostPixels ? kMostPanels
                                    : form == BlockedForm::Points
                                        ? kTwinPanels
                                        : kTwinPanelsApart;
  BlockedKernel at[kMostPanels + 1] = {};
  constexpr BlockedKernelRow() { fill<1>(); }
  template <int panels> constexpr void fill() {
    if constexpr (panels <= mostPanels) {
      at[panels] = form == BlockedForm::Table    ? blockedKernel<pixels, panels>
                   : form == BlockedForm::Points ? pointKernel<pixels, panels>
                                                 : plainKernel<pixels, panels>;
      fill<panels + 1>();
    }
  }
};

template <BlockedForm form>
BlockedKernel blockedKernelOf(int64_t pixels, int64_t panels) {
  static constexpr BlockedKernelRow<1, form> one;
  static constexpr BlockedKernelRow<2, form> two;
#if DLC_VECTOR_BYTES > 16
  static constexpr BlockedKernelRow<3, form> three;
  static constexpr BlockedKernelRow<4, form> four;
  static constexpr BlockedKernelRow<5, form> five;
  static constexpr BlockedKernelRow<6, form> six;
  if constexpr (kTwinPanels > 0) {
    static constexpr BlockedKernelRow<7, form> seven;
    static constexpr BlockedKernelRow<8, form> eight;
    static constexpr BlockedKernelRow<9, form> nine;
    static constexpr BlockedKernelRow<10, form> ten;
    static constexpr BlockedKernelRow<11, form> eleven;
    static constexpr BlockedKernelRow<12, form> twelve;
    static constexpr const BlockedKernel *table[] = {
        nullptr,  one.at,   two.at,  three.at, four.at,   five.at,  six.at,
        seven.at, eight.at, nine.at, ten.at,   eleven.at, twelve.at};
    return table[pixels][panels];
  }
  static constexpr const BlockedKernel *table[] = {
      nullptr, one.at, two.at, three.at, four.at, five.at, six.at};
#else
  static constexpr const BlockedKernel *table[] = {nullptr, one.at, two.at};
#endif
  return table[pixels][panels];
}

/// Offsets of all calls for some pixels, which tiles of other channels share.
struct OffsetTable {
  int64_t *offsets;
  int64_t pixelBegin, pixelEnd;
  int64_t width; ///< Of a tap: pixels of a call, at most. 0: there are none.
};

/// One tile: some pixels of an image and some groups of panels of a group of
/// channels.
struct BlockedTile {
  const BlockedPlan &plan;
  const float *x, *w;
  const float *bias, *residual; ///< Null when absent.
  /// The bias of the last group of panels, whose channels end within a block,
  /// and zeros; null where blocks are whole.
  const float *lastBias;
  float *y;
  int64_t pixelBegin, pixelEnd;
  int64_t panelBegin, panelEnd;
  void *scratch;
  OffsetTable &table; ///< In `scratch`; blocked x only.

  void run() const;

private:
  void runBlocked() const;
  void runPoints(BlockedArguments t, int64_t panel, int64_t panels,
                 bool isFirst, bool isLast) const;
  void runPlain() const;
  /// Pixels of a call with a table, at most.
  int64_t mostOfCall() const {
    constexpr int64_t twice = 2 * kMostPixels;
    const bool fits = taps() * twice * callsOf(twice) <= kMostOffsets;
    return panelEnd - panelBegin <= kTwinPanelsApart && fits ? twice
                                                             : kMostPixels;
  }
  /// Those of a call of a plain x.
  int64_t mostOfPlain() const {
    constexpr int64_t twice = 2 * kMostPixels;
    const int64_t bytes = 2 * terms() * int64_t{sizeof(int64_t)} +
                          plan.inChannels * plan.kernelH * stripWidth(twice) *
                              int64_t{sizeof(float)};
    return panelEnd - panelBegin <= kTwinPanelsApart && bytes <= kStripBytes
               ? twice
               : kMostPixels;
  }
  int64_t callsOf(int64_t most) const {
    return (pixelEnd - pixelBegin + most - 1) / most;
  }
  /// Has the table of [pixelBegin, pixelEnd).
  void fillTable() const;
  template <int most> void fillTableOf() const;
  void packStrip(int64_t row, int64_t begin, int64_t width, float *strip) const;
  void fillTerms(int64_t *offsets, int64_t channelStride,
                 int64_t rowStride) const;
  void callPlain(const BlockedArguments &row, int64_t begin, int64_t end,
                 int64_t first, int64_t last, int64_t calls) const;
  /// Calls function(panel, panels, w, stride) for panels that a kernel takes at
  /// once, with their weights and the distance of rows.
  template <typename Function> void forPanels(Function &&function) const;
  /// The sums of panels [panel, panel + panels).
  void call(BlockedArguments t, BlockedKernel kernel, int64_t pixel,
            int64_t pixels, int64_t panel, int64_t panels, bool isFirst,
            bool isLast) const;
  /// Has call c of `calls` fetch its part of the weights behind those of t.
  void fetchBehind(BlockedArguments &t, int64_t c, int64_t calls) const;
  /// To a plain y.
  void writePlain(int64_t panel, int64_t panels) const {
    PlainPixels{plan, bias, residual, y, pixelBegin, pixelEnd}.write(
        plainSums(), panel, panels);
  }
  const float *biasOf(int64_t panel) const {
    const int64_t lastGroup =
        (plan.outChannels - 1) / (kPanelGroup * kChannelBlock) * kPanelGroup;
    return lastBias && panel >= lastGroup
               ? lastBias + (panel - lastGroup) * kChannelBlock
               : bias + panel * kChannelBlock;
  }
  int64_t taps() const { return plan.kernelH * plan.kernelW; }
  int64_t terms() const { return plan.inChannels * taps(); }
  /// Windows are one pixel, next to each other and inside of the image.
  bool arePoints() const {
    return taps() == 1 && plan.padLeft == 0 && plan.padTop <= 0 &&
           plan.outW == plan.inW && plan.strideW == 1 && plan.strideH == 1 &&
           plan.outH - 1 - plan.padTop < plan.inH;
  }
  /// Behind the offsets.
  float *plainSums() const {
    return reinterpret_cast<float *>(static_cast<int64_t *>(scratch) +
                                     kMostOffsets);
  }
  int64_t stripWidth(int64_t pixels) const;
};

/// Pixels are dealt out evenly to calls: item `index` begins there. What is
/// divided is the same for all of them.
[[gnu::always_inline]] inline int64_t shareOf(int64_t total, int64_t index,
                                              int64_t parts) {
  return total / parts * index + least(index, total % parts);
}

template <typename Function>
[[gnu::always_inline]] inline void
BlockedTile::forPanels(Function &&function) const {
  for (int64_t first = panelBegin; first < panelEnd; first += kPanelGroup) {
    const int64_t last = least(first + kPanelGroup, panelEnd);
    const float *group = w + first * kChannelBlock * terms();
    for (int64_t panel = first; panel < last; panel += kMostPanels)
      function(panel, least<int64_t>(kMostPanels, last - panel),
               group + (panel - first) * kChannelBlock,
               (last - first) * kChannelBlock);
  }
}

inline void BlockedTile::call(BlockedArguments t, BlockedKernel kernel,
                              int64_t pixel, int64_t pixels, int64_t panel,
                              int64_t panels, bool isFirst, bool isLast) const {
  t.accumulate = !isFirst;
  if (plan.isPlainY) {
    t.yPanel = (pixelEnd - pixelBegin) * kChannelBlock;
    t.y = plainSums() + (pixel - pixelBegin) * kChannelBlock;
    return kernel(t);
  }
  const int64_t at = (panel * plan.outPlane + pixel) * kChannelBlock;
  t.y = y + at;
  t.yPanel = plan.outPlane * kChannelBlock;
  t.bias = isFirst && bias ? biasOf(panel) : nullptr;
  t.residual = isFirst && residual ? residual + at : nullptr;
  t.clamp = isLast && isClamp(plan.epilogue);
  t.low = clampLow(plan.epilogue);
  t.high = clampHigh(plan.epilogue);
  kernel(t);
  if (isLast)
    activateRest(t.y, t.yPanel, panels, pixels * kChannelBlock, plan.epilogue);
}

inline void BlockedTile::fillTable() const {
  const int64_t most = mostOfCall();
  if (table.width == most && table.pixelBegin == pixelBegin &&
      table.pixelEnd == pixelEnd)
    return;
  table = {table.offsets, pixelBegin, pixelEnd, most};
  if constexpr (kTwinPanelsApart > 0)
    if (most != kMostPixels)
      return fillTableOf<2 * kMostPixels>();
  fillTableOf<kMostPixels>();
}

/// Vectors of so many pixels of a call, at each tap.
template <int most> inline void BlockedTile::fillTableOf() const {
  constexpr int lanes = 8, vectors = (most + lanes - 1) / lanes;
  typedef uint64_t Numbers __attribute__((vector_size(lanes * 8)));
  // What is stored may be members of the plan, for all that the compiler knows.
  const uint64_t inH = plan.inH, inW = plan.inW;
  const int64_t width = plan.outW * plan.strideW - plan.padLeft;
  const int64_t count = pixelEnd - pixelBegin, calls = callsOf(most);
  int64_t top = pixelBegin / plan.outW * plan.strideH - plan.padTop;
  int64_t left = pixelBegin % plan.outW * plan.strideW - plan.padLeft;
  int64_t *offset = table.offsets;
  for (int64_t c = 0; c < calls; ++c) {
    const int64_t pixels =
        shareOf(count, c + 1, calls) - shareOf(count, c, calls);
    // As unsigned numbers what lies outside is large. So does a pixel that is
    // not there: the call before may have one more, and fetches as many.
    Numbers tops[vectors], lefts[vectors], origins[vectors];
    for (int i = 0; i < vectors * lanes; ++i) {
      const bool isThere = i < pixels;
      tops[i / lanes][i % lanes] = isThere ? top : inH;
      lefts[i / lanes][i % lanes] = left;
      origins[i / lanes][i % lanes] = (top * inW + left) * kChannelBlock;
      left += isThere ? plan.strideW : 0;
      if (left == width) { // A division for each pixel would take longer.
        left = -plan.padLeft;
        top += plan.strideH;
      }
    }
    for (int64_t k = 0; k < plan.kernelH; ++k)
      for (int64_t j = 0; j < plan.kernelW; ++j, offset += most) {
        const uint64_t down = k * plan.dilationH, right = j * plan.dilationW;
        const uint64_t step = (down * inW + right) * kChannelBlock;
        DLC_UNROLL for (int v = 0; v < vectors; ++v) {
          const auto isInside =
              (tops[v] + down < inH) & (lefts[v] + right < inW);
          const Numbers found =
              isInside ? origins[v] + step : Numbers{} + kOutside;
          constexpr int last = most - (vectors - 1) * lanes;
          __builtin_memcpy(offset + v * lanes, &found,
                           (v + 1 < vectors ? lanes : last) * sizeof(*offset));
        }
      }
  }
}

/// Weights that the second cache holds are read by one tile after the other.
inline void BlockedTile::fetchBehind(BlockedArguments &t, int64_t c,
                                     int64_t calls) const {
  t.ahead = nullptr;
  t.aheadLines = 0;
  if (!plan.isPanelSlowest)
    return;
  const int64_t panels = blocksOf(plan.outChannels);
  const int64_t left = w + panels * kChannelBlock * terms() - t.w;
  // Whole rows where a kernel takes all panels of a group, else its panel.
  constexpr bool areWhole = kMostPanels == kPanelGroup;
  const int64_t lines = areWhole ? t.wStride : kChannelBlock;
  const int64_t share = (lines + calls - 1) / calls;
  t.aheadStride = areWhole ? kChannelBlock : t.wStride;
  const int64_t step = t.blocks * taps() * share * t.aheadStride;
  const int64_t rows = (t.blocks * kChannelBlock + t.rest) * taps();
  const int64_t first = rows * t.wStride + c * step;
  if (first + step > left)
    return;
  t.ahead = t.w + first;
  t.aheadLines = share;
}

/// The pixels of a call lie next to each other.
inline void BlockedTile::runPoints(BlockedArguments t, int64_t panel,
                                   int64_t panels, bool isFirst,
                                   bool isLast) const {
  const int64_t count = pixelEnd - pixelBegin;
  const int64_t most = panels <= kTwinPanels ? 2 * kMostPixels : kMostPixels;
  const int64_t calls = (count + most - 1) / most;
  const float *first =
      t.x + (pixelBegin - plan.padTop * plan.inW) * kChannelBlock;
  for (int64_t c = 0; c < calls; ++c) {
    const int64_t begin = shareOf(count, c, calls);
    const int64_t pixels = shareOf(count, c + 1, calls) - begin;
    t.x = first + begin * kChannelBlock;
    t.hasNext = c + 1 < calls;
    fetchBehind(t, c, calls);
    call(t, blockedKernelOf<BlockedForm::Points>(pixels, panels),
         pixelBegin + begin, pixels, panel, panels, isFirst, isLast);
  }
}

inline void BlockedTile::runBlocked() const {
  const int64_t count = pixelEnd - pixelBegin;
  const bool isOfPoints = arePoints();
  if (!isOfPoints)
    fillTable();
  const int64_t calls = isOfPoints ? 0 : callsOf(table.width);
  const int64_t rest = plan.inChannels % kChannelBlock;
  const int64_t inBlocks = blocksOf(plan.inChannels);
  BlockedArguments t = {};
  t.taps = taps();
  t.offsetStride = table.width;
  t.blockStride = plan.inH * plan.inW * kChannelBlock;
  forPanels([&](int64_t panel, int64_t panels, const float *weights,
                int64_t stride) {
    t.wStride = stride;
    t.w = weights;
    int64_t block = 0;
    do {
      const bool isFirst = block == 0;
      const int64_t next = least(block + plan.kBlock, inBlocks);
      const bool isLast = next == inBlocks;
      t.rest = isLast ? rest : 0;
      t.blocks = next - block - (t.rest != 0);
      t.x = x + block * t.blockStride;
      if (isOfPoints)
        runPoints(t, panel, panels, isFirst, isLast);
      for (int64_t c = 0; c < calls; ++c) {
        const int64_t begin = shareOf(count, c, calls);
        const int64_t pixels = shareOf(count, c + 1, calls) - begin;
        t.offsets = table.offsets + c * taps() * table.width;
        t.nextOffsets =
            t.taps == 1 && c + 1 < calls ? t.offsets + table.width : nullptr;
        fetchBehind(t, c, calls);
        call(t, blockedKernelOf<BlockedForm::Table>(pixels, panels),
             pixelBegin + begin, pixels, panel, panels, isFirst, isLast);
      }
      t.w += (t.blocks * kChannelBlock + t.rest) * taps() * stride;
      block = next;
    } while (block < inBlocks);
    if (plan.isPlainY)
      writePlain(panel, panels);
  });
}

/// Floats of a row of a strip of so many pixels.
inline int64_t BlockedTile::stripWidth(int64_t pixels) const {
  const int64_t width =
      (pixels - 1) * plan.strideW + (plan.kernelW - 1) * plan.dilationW + 1;
  return (width + kLanes - 1) / kLanes * kLanes;
}

/// What the windows of a few outputs from `begin` on, in a row, read: a row for
/// each channel and row of taps.
inline void BlockedTile::packStrip(int64_t row, int64_t begin, int64_t width,
                                   float *strip) const {
  const int64_t left = begin * plan.strideW - plan.padLeft;
  for (int64_t c = 0; c < plan.inChannels; ++c) {
    for (int64_t i = 0; i < plan.kernelH; ++i) {
      const int64_t inY = row * plan.strideH - plan.padTop + i * plan.dilationH;
      const bool isInside = inY >= 0 && inY < plan.inH;
      const float *source = x + (c * plan.inH + inY) * plan.inW + left;
      for (int64_t j = 0; j < width; j += kLanes, strip += kLanes)
        store(strip, isInside
                         ? maskedLoad(source + j,
                                      lanes(-left - j, plan.inW - left - j))
                         : Vec{});
    }
  }
}

/// Of each term, in rows of x that lie so far apart.
inline void BlockedTile::fillTerms(int64_t *offsets, int64_t channelStride,
                                   int64_t rowStride) const {
  for (int64_t c = 0; c < plan.inChannels; ++c)
    for (int64_t i = 0; i < plan.kernelH; ++i)
      for (int64_t j = 0; j < plan.kernelW; ++j)
        *offsets++ = c * channelStride + i * rowStride + j * plan.dilationW;
}

/// Calls [first, last) of `calls` for outputs [begin, end) of a row: x is that
/// of the first of them.
inline void BlockedTile::callPlain(const BlockedArguments &row, int64_t begin,
                                   int64_t end, int64_t first, int64_t last,
                                   int64_t calls) const {
  BlockedArguments t = row;
  const int64_t start = shareOf(end - begin, first, calls);
  forPanels(
      [&](int64_t panel, int64_t panels, const float *weights, int64_t stride) {
        t.w = weights;
        t.wStride = stride;
        for (int64_t c = first; c < last; ++c) {
          const int64_t before = shareOf(end - begin, c, calls);
          const int64_t pixels = shareOf(end - begin, c + 1, calls) - before;
          t.x = row.x + (before - start) * plan.strideW;
          call(t, blockedKernelOf<BlockedForm::Plain>(pixels, panels),
               begin + before, pixels, panel, panels, true, true);
        }
      });
}

/// Windows inside of the image read x where it is, others a strip.
inline void BlockedTile::runPlain() const {
  auto *direct = static_cast<int64_t *>(scratch);
  int64_t *ofStrip = nullptr;
  fillTerms(direct, plan.inH * plan.inW, plan.dilationH * plan.inW);
  const int64_t most = mostOfPlain(), width = stripWidth(most);
  BlockedArguments t = {};
  t.taps = terms();
  t.pixelStride = plan.strideW;
  // Part of a row at a time.
  for (int64_t begin = pixelBegin, end; begin < pixelEnd; begin = end) {
    const int64_t row = begin / plan.outW, start = row * plan.outW;
    end = least(start + plan.outW, pixelEnd);
    const int64_t count = end - begin;
    const int64_t calls = (count + most - 1) / most;
    const int64_t top = row * plan.strideH - plan.padTop;
    const int64_t left = (begin - start) * plan.strideW - plan.padLeft;
    const bool hasRows =
        top >= 0 && top + (plan.kernelH - 1) * plan.dilationH < plan.inH;
    const int64_t reach = (plan.kernelW - 1) * plan.dilationW;
    auto isInside = [&](int64_t first, int64_t last) {
      return hasRows && left + first * plan.strideW >= 0 &&
             left + (last - 1) * plan.strideW + reach < plan.inW;
    };
    auto isCallInside = [&](int64_t c) {
      return isInside(shareOf(count, c, calls), shareOf(count, c + 1, calls));
    };
    for (int64_t c = 0, next; c < calls; c = next) {
      next = c + 1;
      const bool isWhole = c == 0 && isInside(0, count);
      if (isWhole || isCallInside(c)) {
        next = isWhole ? calls : next;
        while (next < calls && isCallInside(next))
          ++next;
        t.x =
            x + top * plan.inW + left + shareOf(count, c, calls) * plan.strideW;
        t.offsets = direct;
      } else {
        if (!ofStrip) {
          ofStrip = direct + terms();
          fillTerms(ofStrip, plan.kernelH * width, width);
        }
        auto *strip = reinterpret_cast<float *>(ofStrip + terms());
        const int64_t before = shareOf(count, c, calls);
        packStrip(row, begin - start + before, width, strip);
        t.x = strip;
        t.offsets = ofStrip;
      }
      callPlain(t, begin, end, c, next, calls);
    }
  }
}

inline void BlockedTile::run() const {
  if (plan.isPlainX)
    runPlain();
  else
    runBlocked();
}

/// Pixels that a tile has room for: of plain ones on the stack, and in the
/// table of offsets.
inline int64_t mostPixelsTogether(const BlockedPlan &plan) {
  const int64_t calls =
      kMostOffsets / (plan.kernelH * plan.kernelW * kMostPixels);
  return least(kMostPixelsOfTile, calls * kMostPixels);
}

void runBlockedConv(const BlockedPlan &plan, void *const *arguments,
                    int64_t begin, int64_t end) {
  alignas(64) char scratch[kStripBytes];
  OffsetTable table = {reinterpret_cast<int64_t *>(scratch), 0, 0, 0};
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const int64_t panels = blocksOf(plan.outChannels);
  const int64_t inSize =
      (plan.isPlainX ? plan.inChannels
                     : blocksOf(plan.inChannels) * kChannelBlock) *
      plan.inH * plan.inW;
  const int64_t outSize =
      (plan.isPlainY ? plan.outChannels : panels * kChannelBlock) *
      plan.outPlane;
  const int64_t wSize =
      panels * kChannelBlock * plan.inChannels * plan.kernelH * plan.kernelW;
  const int64_t groups = (panels + kPanelGroup - 1) / kPanelGroup;
  const int64_t mostTogether = mostPixelsTogether(plan);
  // Of one group, if channels end within a block.
  alignas(64) float lastBias[kPanelGroup * kChannelBlock] = {};
  const bool hasLastBias =
      bias && !plan.isPlainY && plan.outChannels % kChannelBlock != 0;
  if (hasLastBias) {
    const int64_t first = (groups - 1) * kPanelGroup * kChannelBlock;
    __builtin_memcpy(lastBias, bias + first,
                     (plan.outChannels - first) * sizeof(float));
  }
  for (int64_t tile = begin, next; tile < end; tile = next) {
    next = tile + 1;
    int64_t rest = tile, pixelIndex, pixelLast, groupIndex, group;
    auto pixelOf = [&](int64_t block) {
      return shareOf(plan.pixels, block, plan.pixelBlocks);
    };
    if (plan.isPanelSlowest) {
      pixelIndex = rest % plan.pixelBlocks;
      rest /= plan.pixelBlocks;
      groupIndex = rest % plan.groupBlocks;
      rest /= plan.groupBlocks;
      group = rest % plan.group;
      // Tiles of the same weights are one: those are read once.
      pixelLast = pixelIndex + 1;
      while (next < end && pixelLast < plan.pixelBlocks &&
             pixelOf(pixelLast + 1) - pixelOf(pixelIndex) <= mostTogether) {
        ++next;
        ++pixelLast;
      }
    } else {
      groupIndex = rest % plan.groupBlocks;
      rest /= plan.groupBlocks;
      group = rest % plan.group;
      rest /= plan.group;
      pixelIndex = rest % plan.pixelBlocks;
      pixelLast = pixelIndex + 1;
      rest = rest / plan.pixelBlocks * plan.group + group;
    }
    const int64_t firstGroup = shareOf(groups, groupIndex, plan.groupBlocks);
    const int64_t lastGroup = shareOf(groups, groupIndex + 1, plan.groupBlocks);
    BlockedTile{plan, // From here on `rest` is of image and group.
                x + rest * inSize,
                w + group * wSize,
                bias ? bias + group * plan.outChannels : nullptr,
                residual ? residual + rest * outSize : nullptr,
                hasLastBias ? lastBias : nullptr,
                y + rest * outSize,
                pixelOf(pixelIndex),
                pixelOf(pixelLast),
                firstGroup * kPanelGroup,
                least(lastGroup * kPanelGroup, panels),
                scratch,
                table}
        .run();
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDTILES_H
