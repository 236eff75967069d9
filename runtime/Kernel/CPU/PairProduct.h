// SPDX-License-Identifier: Apache-2.0
//
// Blocks of products of floats that are rounded to bfloat16. See Vector.h for
// who may include it.
//
// Rows of a are rounded once for a block of terms, columns of b lie packed as
// pairs in memory, [columns/64][terms/2][64]: half the bytes of floats.

#ifndef DLC_RUNTIME_KERNEL_CPU_PAIRPRODUCT_H
#define DLC_RUNTIME_KERNEL_CPU_PAIRPRODUCT_H

#include "BatchOffset.h"
#include "GridRuns.h"
#include "PairKernel.h"
#include "PairRows.h"
#include "PlainPixels.h"
#include "PlainRows.h"

namespace dlc::rt::cpu {
namespace {

/// Terms that are summed in one chain, at most.
constexpr int64_t kPairTerms = 2048 / sizeof(Rounded);
/// Sixteen of them of all rows, and some more, so that not all of a row lie in
/// one set of a cache.
constexpr int64_t kPairBlock = (kMostPairRows + 1) * kChannelBlock;

struct PairScratch {
  alignas(64) Rounded a[kPairTerms / kChannelBlock * kPairBlock];
};

/// Some rows by some columns.
struct PairBlock {
  const uint32_t *b; ///< Of all columns.
  int64_t terms;
  int64_t width; ///< Of all columns: a multiple of kPanelWidth.
  int64_t rows;  ///< At most kMostPairRows.
  /// Those of this block; the first one is a multiple of kPackedColumns.
  int64_t column, columns;
  float *c;                 ///< Of the first row and column.
  int64_t cStride, cPanel;  ///< As PairArguments have them.
  const float *bias;        ///< Of the first column; null when absent.
  const float *residual;    ///< As c.
  const Epilogue &epilogue; ///< Of whoever calls.

  template <typename Rows> void run(const Rows &from, PairScratch &scratch);

private:
  /// All rows by the columns of a group from `first` of this block on, for
  /// terms from `begin` on.
  void runGroup(PairArguments t, int64_t first, int64_t count, const Rounded *a,
                bool isLast);
  /// Whether the second cache holds b: then one block after the other reads it
  /// there.
  bool isCached() const {
    return width * terms * int64_t{sizeof(uint16_t)} <= kCachedBytes;
  }
  void fetchResidual(const float *from, int64_t count, int64_t width) const;
  void activate(float *at, int64_t calls, int64_t count) const;
};

inline void PairBlock::activate(float *at, int64_t calls, int64_t count) const {
  if (cPanel == kPanelWidth) // Rows of a matrix.
    return activateRest(at, cStride, calls, count, epilogue);
  for (int64_t j = 0; j < count; j += kPanelWidth, at += cPanel)
    activateRest(at, cStride, calls, least(count - j, kPanelWidth), epilogue);
}

/// From memory, two calls ahead; results go to the same place.
inline void PairBlock::fetchResidual(const float *from, int64_t count,
                                     int64_t width) const {
  for (int64_t j = 0; j < width; j += kPanelWidth, from += cPanel)
    for (int64_t i = 0; i < count; ++i)
      __builtin_prefetch(from + i * cStride, 1, 2);
}

inline void PairBlock::runGroup(PairArguments t, int64_t first, int64_t count,
                                const Rounded *a, bool isLast) {
  const uint32_t *group = t.b;
  const int64_t calls = (rows + kPairRows - 1) / kPairRows;
  const int64_t fetched = t.pairs / kChannelBlock * 4; // By a call.
  const uint32_t *ahead = t.ahead;
  const int64_t aheadStride = t.aheadStride;
  int64_t row = 0;
  for (int64_t call = 0; call < calls; ++call) {
    const bool fetches =
        ahead && (call + 1) * fetched <= t.pairs && fetched > 0;
    // Dealt out evenly, as MatmulTile has them.
    const int64_t own = rows / calls + (call < rows % calls);
    t.a = a + row * kChannelBlock;
    for (int64_t j = 0; j < count; j += kPairVectors * kLanes) {
      const int64_t columns = least<int64_t>(count - j, kPairVectors * kLanes);
      const int64_t vectors = (columns + kLanes - 1) / kLanes;
      const int64_t at = row * cStride + columnOffset(first + j, cPanel);
      t.b = group + j;
      t.ahead = fetches ? ahead + call * fetched * aheadStride + j : t.b;
      t.aheadStride = fetches ? aheadStride : 0;
      t.aheadStep = 2 * t.aheadStride;
      t.c = c + at;
      t.bias = bias && !t.accumulate ? bias + first + j : nullptr;
      t.residual = residual && !t.accumulate ? residual + at : nullptr;
      if (t.residual && row + 2 * own < rows)
        fetchResidual(t.residual + 2 * own * cStride, own, columns);
      if (columns == vectors * kLanes)
        pairKernelOf(own, vectors)(t);
      else
        runPartialPairs(t, own, columns, vectors);
      if (isLast)
        activate(t.c, own, columns);
    }
    row += own;
  }
}

template <typename Rows>
inline void PairBlock::run(const Rows &from, PairScratch &scratch) {
  const int64_t blocks = (terms + kPairTerms - 1) / kPairTerms;
  const int64_t even = (terms + blocks - 1) / (blocks > 0 ? blocks : 1);
  const int64_t most = (even + kPairGranule - 1) / kPairGranule * kPairGranule;
  const int64_t allPairs = (terms + 1) / 2;
  PairArguments t = {};
  t.aBlock = kPairBlock;
  t.cStride = cStride;
  t.cPanel = cPanel;
  t.low = clampLow(epilogue);
  t.high = clampHigh(epilogue);
  int64_t begin = 0;
  do {
    const int64_t end = least(begin + most, terms);
    from.round(rows, begin, end, scratch.a, {kChannelBlock, kPairBlock});
    t.pairs = (end - begin + 1) / 2;
    t.accumulate = begin > 0;
    t.clamp = end == terms && isClamp(epilogue);
    for (int64_t first = 0; first < columns; first += kPackedColumns) {
      t.bStride = least(kPackedColumns, width - column - first);
      t.b = b + (column + first) * allPairs + begin / 2 * t.bStride;
      // Of the next columns, or of the first ones' next terms.
      t.ahead = nullptr;
      const bool isLast = first + kPackedColumns >= columns;
      if (!isCached() && (!isLast || end < terms)) {
        const int64_t next = column + (isLast ? 0 : first + kPackedColumns);
        t.aheadStride = least(kPackedColumns, width - next);
        t.ahead =
            b + next * allPairs + (isLast ? end : begin) / 2 * t.aheadStride;
      }
      runGroup(t, first, least(kPackedColumns, columns - first), scratch.a,
               end == terms);
    }
    begin = end;
  } while (begin < terms);
}

//===----------------------------------------------------------------------===//
// The entries
//===----------------------------------------------------------------------===//

/// Tiles of the grid that follow each other in one row of it are one block, in
/// which a is rounded once.
void runPairMatmul(const MatmulPlan &plan, void *const *arguments,
                   int64_t begin, int64_t end) {
  PairScratch scratch;
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *c = static_cast<float *>(arguments[4]);
  int64_t tile = begin;
  while (tile < end) {
    const MatmulRun part(plan, tile, end, INT64_MAX);
    const RoundedMatrix from = {static_cast<const float *>(arguments[0]) +
                                    batchOffset(plan, plan.aSteps, part.batch) +
                                    part.row * plan.lda,
                                plan.lda};
    PairBlock{static_cast<const uint32_t *>(arguments[1]) +
                  batchOffset(plan, plan.bSteps, part.batch),
              plan.k,
              (plan.n + kPanelWidth - 1) / kPanelWidth * kPanelWidth,
              part.rows,
              part.column,
              part.columns,
              c + part.at,
              plan.n,
              kPanelWidth,
              bias ? bias + part.column : nullptr,
              residual ? residual + part.at : nullptr,
              plan.epilogue}
        .run(from, scratch);
    tile += part.count;
  }
}

/// Channels from block.column on, of pixels from `pixel` on.
template <typename Rows>
inline void runToBlocks(PairBlock block, const Rows &from, const float *bias,
                        const float *residual, float *y, int64_t pixel,
                        int64_t plane, PairScratch &scratch) {
  const int64_t at = block.column * plane + pixel * kChannelBlock;
  block.c = y + at;
  block.cPanel = plane * kChannelBlock;
  block.bias = bias ? bias + block.column : nullptr;
  block.residual = residual ? residual + at : nullptr;
  block.run(from, scratch);
}

/// Channels are summed some at a time; few networks have more of them.
inline void runToPlain(PairBlock block, const RoundedPixels &from,
                       const PlainPixels &to, PairScratch &scratch) {
  alignas(64) float sums[kMostPixelsOfTile * kPackedColumns];
  const Epilogue none;
  const int64_t end = block.column + block.columns;
  for (int64_t column = block.column; column < end; column += kPackedColumns) {
    const int64_t columns = least(kPackedColumns, end - column);
    PairBlock{block.b,    block.terms,   block.width,
              block.rows, column,        columns,
              sums,       kChannelBlock, block.rows * kChannelBlock,
              nullptr,    nullptr,       none}
        .run(from, scratch);
    to.write(sums, column / kChannelBlock, columns / kChannelBlock);
  }
}

/// Tiles as above.
void runPairConv(const BlockedPlan &plan, void *const *arguments, int64_t begin,
                 int64_t end) {
  PairScratch scratch;
  int64_t offsets[kMostSplitTaps * kSplitRows];
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const int64_t width =
      (plan.outChannels + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
  int64_t tile = begin;
  while (tile < end) {
    const ConvRun part(plan, width, tile, end, INT64_MAX);
    tile += part.count;
    const float *x = static_cast<const float *>(arguments[0]) +
                     part.outer * plan.inChannels * plan.inH * plan.inW;
    const PlainRows plain(plan, x, part.pixel);
    const int64_t terms = plan.isPlainX
                              ? plain.lines() * kLineTerms
                              : plan.inChannels * plan.kernelH * plan.kernelW;
    const int64_t size = part.outer * plan.outChannels * plan.outPlane;
    const float *ownBias =
        bias ? bias + part.group * plan.outChannels : nullptr;
    const float *ownResidual = residual ? residual + size : nullptr;
    PairBlock block = {static_cast<const uint32_t *>(arguments[1]) +
                           part.group * width * (terms / 2),
                       terms,
                       width,
                       part.pixels,
                       part.column,
                       part.columns,
                       nullptr,
                       kChannelBlock,
                       0,
                       nullptr,
                       nullptr,
                       plan.epilogue};
    if (plan.isPlainX) {
      runToBlocks(block, RoundedPlain{plain}, ownBias, ownResidual, y + size,
                  part.pixel, plan.outPlane, scratch);
      continue;
    }
    const PixelRows rows(plan, x, part.pixel, part.pixels, offsets, true);
    if (plan.isPlainY)
      runToPlain(block, RoundedPixels{rows},
                 {plan, ownBias, ownResidual, y + size, part.pixel,
                  part.pixel + part.pixels},
                 scratch);
    else
      runToBlocks(block, RoundedPixels{rows}, ownBias, ownResidual, y + size,
                  part.pixel, plan.outPlane, scratch);
  }
}

constexpr PairKernels thisPairKernels = {runPairMatmul, nullptr, nullptr,
                                         runPairConv};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PAIRPRODUCT_H
