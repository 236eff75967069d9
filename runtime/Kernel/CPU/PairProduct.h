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
#include "WriteResults.h"

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

/// Columns of which sums are kept where results are of bfloat16, at most.
constexpr int64_t kShortColumns = 256;
/// Rows of sums do not all lie in the same sets of a cache.
constexpr int64_t kShortStride = kShortColumns + kPanelWidth;

/// Sums of a block of at most kShortColumns columns, which write(sums) has.
template <typename Rows, typename Write>
inline void runToSums(PairBlock block, const Rows &from, PairScratch &scratch,
                      Write &&write) {
  alignas(64) float sums[kMostPairRows * kShortStride];
  const Epilogue none;
  PairBlock{block.b,      block.terms,   block.width, block.rows,
            block.column, block.columns, sums,        kShortStride,
            kPanelWidth,  nullptr,       nullptr,     none}
      .run(from, scratch);
  write(sums);
}

template <typename Source>
inline void runPairMatmulOf(const MatmulPlan &plan, void *const *arguments,
                            int64_t begin, int64_t end) {
  PairScratch scratch;
  int64_t tile = begin;
  while (tile < end) {
    const MatmulRun part(plan, tile, end, INT64_MAX);
    tile += part.count;
    const RoundedMatrix<Source> from = {
        static_cast<const Source *>(arguments[0]) +
            batchOffset(plan, plan.aSteps, part.batch) + part.row * plan.lda,
        plan.lda};
    PairBlock block{static_cast<const uint32_t *>(arguments[1]) +
                        batchOffset(plan, plan.bSteps, part.batch),
                    plan.k,
                    paddedColumns(plan.n),
                    part.rows,
                    part.column,
                    part.columns,
                    nullptr,
                    plan.n,
                    kPanelWidth,
                    nullptr,
                    nullptr,
                    plan.epilogue};
    if (!plan.isShortC && !plan.isShortResidual) {
      const auto *bias = static_cast<const float *>(arguments[2]);
      const auto *residual = static_cast<const float *>(arguments[3]);
      block.c = static_cast<float *>(arguments[4]) + part.at;
      block.bias = bias ? bias + part.column : nullptr;
      block.residual = residual ? residual + part.at : nullptr;
      block.run(from, scratch);
      continue;
    }
    for (int64_t first = 0; first < part.columns; first += kShortColumns) {
      block.column = part.column + first;
      block.columns = least(kShortColumns, part.columns - first);
      runToSums(block, from, scratch, [&](float *sums) {
        writeMatrix(plan, arguments, sums, kShortStride, block.column,
                    part.at + first, part.rows, block.columns);
      });
    }
  }
}

/// Tiles of the grid that follow each other in one row of it are one block, in
/// which a is rounded once.
void runPairMatmul(const MatmulPlan &plan, void *const *arguments,
                   int64_t begin, int64_t end) {
  (plan.isShortA ? runPairMatmulOf<uint16_t>
                 : runPairMatmulOf<float>)(plan, arguments, begin, end);
}

/// Some tiles of the grid of a convolution that share their pixels.
class PairConv {
public:
  PairConv(const BlockedPlan &plan, void *const *arguments, const ConvRun &part,
           PairScratch &scratch)
      : plan(plan), arguments(arguments), part(part),
        width(paddedColumns(plan.outChannels)), scratch(scratch),
        bias(part.biasOf(arguments)) {}

  template <typename Source> void run();

private:
  template <typename Element> Element *ofImage(void *y) const {
    return y ? static_cast<Element *>(y) + part.outputOffset() : nullptr;
  }
  PairBlock blockOf(int64_t terms) const;
  template <typename Rows> void runToBlocks(PairBlock block, const Rows &from);
  template <typename Rows> void runToShort(PairBlock block, const Rows &from);
  template <typename Rows> void runToPlain(PairBlock block, const Rows &from);

  const BlockedPlan &plan;
  void *const *arguments;
  const ConvRun &part;
  const int64_t width;
  PairScratch &scratch;
  const float *const bias;
};

inline PairBlock PairConv::blockOf(int64_t terms) const {
  return {static_cast<const uint32_t *>(arguments[1]) +
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
}

template <typename Rows>
inline void PairConv::runToBlocks(PairBlock block, const Rows &from) {
  const auto *residual = ofImage<float>(arguments[3]);
  const int64_t at = block.column * plan.outPlane + part.pixel * kChannelBlock;
  block.c = ofImage<float>(arguments[4]) + at;
  block.cPanel = plan.outPlane * kChannelBlock;
  block.bias = bias ? bias + block.column : nullptr;
  block.residual = residual ? residual + at : nullptr;
  block.run(from, scratch);
}

/// Where results, or residuals, are bfloat16.
template <typename Rows>
inline void PairConv::runToShort(PairBlock block, const Rows &from) {
  const int64_t end = part.column + part.columns;
  for (block.column = part.column; block.column < end;
       block.column += kShortColumns) {
    block.columns = least(kShortColumns, end - block.column);
    runToSums(block, from, scratch, [&](float *sums) {
      writePixels(part, arguments, sums, kShortStride, block.column,
                  block.columns, part.pixel, part.pixels);
    });
  }
}

/// Channels are summed some at a time; few networks have more of them.
template <typename Rows>
inline void PairConv::runToPlain(PairBlock block, const Rows &from) {
  alignas(64) float sums[kMostPixelsOfTile * kPackedColumns];
  const PlainPixels to = {plan,
                          bias,
                          ofImage<float>(arguments[3]),
                          ofImage<float>(arguments[4]),
                          part.pixel,
                          part.pixel + part.pixels};
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

template <typename Source> inline void PairConv::run() {
  const bool hasShorts = plan.isShortY || plan.isShortResidual;
  const auto *x =
      static_cast<const Source *>(arguments[0]) + part.inputOffset();
  if constexpr (sizeof(Source) == sizeof(float))
    if (plan.isPlainX) {
      const PlainRows plain(plan, x, part.pixel);
      const PairBlock block = blockOf(plain.lines() * kLineTerms);
      return hasShorts ? runToShort(block, RoundedPlain{plain})
                       : runToBlocks(block, RoundedPlain{plain});
    }
  int64_t offsets[kMostSplitTaps * kSplitRows];
  const PixelRowsOf<Source> rows(plan, x, part.pixel, part.pixels, offsets,
                                 true);
  const PairBlock block =
      blockOf(plan.inChannels * plan.kernelH * plan.kernelW);
  const RoundedPixels<Source> from{rows};
  if (plan.isPlainY)
    runToPlain(block, from);
  else if (hasShorts)
    runToShort(block, from);
  else
    runToBlocks(block, from);
}

void runPairConv(const BlockedPlan &plan, void *const *arguments, int64_t begin,
                 int64_t end) {
  PairScratch scratch;
  int64_t tile = begin;
  while (tile < end) {
    const ConvRun part(plan, paddedColumns(plan.outChannels), tile, end,
                       INT64_MAX);
    tile += part.count;
    PairConv conv(plan, arguments, part, scratch);
    if (plan.isShortX)
      conv.run<uint16_t>();
    else
      conv.run<float>();
  }
}

constexpr PairKernels thisPairKernels = {runPairMatmul, nullptr, nullptr,
                                         runPairConv};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PAIRPRODUCT_H
