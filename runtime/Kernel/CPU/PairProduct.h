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
#include "BlockedDepthwiseTiles.h"
#include "GridRuns.h"
#include "PairKernel.h"
#include "PairRows.h"
#include "PlainColumns.h"
#include "PlainPixels.h"
#include "RoundedWinogradTiles.h"
#include "WriteResults.h"

namespace dlc::rt::cpu {
namespace {

/// Terms that are summed in one chain, at most.
constexpr int64_t kPairTerms = 2048 / sizeof(Rounded);

struct PairScratch {
  alignas(64) Rounded lines[kPairTerms / kLineTerms * kLineStride];
  int64_t offsets[kMostPairRows];
  PairColumn columns[kPairTerms / 2];
};

/// Whether results are complete in registers, where they can be rounded.
inline bool endsInRegisters(int64_t terms, const Epilogue &epilogue) {
  return terms <= kPairTerms &&
         (isClamp(epilogue) || epilogue.activation == Activation::None);
}

/// Some rows by some columns, whose results are floats or bfloat16.
template <typename Result> struct PairBlock {
  const uint32_t *b; ///< Of all columns.
  int64_t terms;
  int64_t width; ///< Of all columns: a multiple of kPanelWidth.
  int64_t rows;  ///< At most kMostPairRows.
  /// Those of this block; the first one is a multiple of blockOf<uint16_t>.
  int64_t column, columns;
  Result *c;                ///< Of the first row and column.
  int64_t cStride, cPanel;  ///< As PairArguments have them.
  const float *bias;        ///< Of the first column; null when absent.
  const Result *residual;   ///< As c.
  const Epilogue &epilogue; ///< Of whoever calls.

  template <typename Rows> void run(const Rows &from, PairScratch &scratch);

private:
  /// Packed columns that lie together.
  struct Group {
    const uint32_t *pairs; ///< Of a column and a term.
    int64_t stride;        ///< From row to row.
    int64_t count;         ///< Columns from that one on.
  };
  Group groupAt(int64_t at, int64_t term) const {
    const int64_t first = at / kPackedColumns * kPackedColumns;
    const int64_t stride = least(kPackedColumns, width - first);
    return {b + first * ((terms + 1) / 2) + term / 2 * stride + at - first,
            stride, stride - (at - first)};
  }
  /// All rows by the columns of a group from `first` of this block on, for
  /// terms from `begin` on.
  void runGroup(PairArguments<Result> t, int64_t first, int64_t count,
                bool isLast);
  /// Whether the second cache holds b: then one block after the other reads it
  /// there.
  bool isCached() const {
    return width * terms * int64_t{sizeof(uint16_t)} <= kCachedBytes;
  }
  void fetchResidual(const Result *from, int64_t count, int64_t width) const;
  void activate(float *at, int64_t calls, int64_t count) const;
};

template <typename Result>
inline void PairBlock<Result>::activate(float *at, int64_t calls,
                                        int64_t count) const {
  if (cPanel == kPanelWidth) // Rows of a matrix.
    return activateRest(at, cStride, calls, count, epilogue);
  for (int64_t j = 0; j < count; j += kPanelWidth, at += cPanel)
    activateRest(at, cStride, calls, least(count - j, kPanelWidth), epilogue);
}

/// From memory, two calls ahead; results go to the same place.
template <typename Result>
inline void PairBlock<Result>::fetchResidual(const Result *from, int64_t count,
                                             int64_t width) const {
  for (int64_t j = 0; j < width; j += blockOf<Result>, from += cPanel)
    for (int64_t i = 0; i < count; ++i)
      __builtin_prefetch(from + i * cStride, 1, 2);
}

template <typename Result>
inline void PairBlock<Result>::runGroup(PairArguments<Result> t, int64_t first,
                                        int64_t count, bool isLast) {
  const uint32_t *group = t.b;
  const bool isTall =
      (t.columns || t.a.areNext()) && count <= kTallPairVectors * kLanes;
  const int64_t most = isTall ? kTallPairRows : kPairRows;
  const int64_t calls = (rows + most - 1) / most;
  const uint32_t *ahead = t.ahead;
  const int64_t aheadStride = t.aheadStride;
  int64_t row = 0;
  for (int64_t call = 0; call < calls; ++call) {
    // Dealt out evenly, as MatmulTile has them.
    const int64_t own = rows / calls + (call < rows % calls);
    t.firstRow = row;
    for (int64_t j = 0; j < count; j += kPairVectors * kLanes) {
      const int64_t columns = least<int64_t>(count - j, kPairVectors * kLanes);
      const int64_t vectors = (columns + kLanes - 1) / kLanes;
      const int64_t at =
          row * cStride + columnOffset<Result>(first + j, cPanel);
      t.b = group + j;
      fetchPart(t, call, ahead ? ahead + j : nullptr, aheadStride);
      t.c = c + at;
      t.bias = bias && !t.accumulate ? bias + first + j : nullptr;
      t.residual = residual && !t.accumulate ? residual + at : nullptr;
      if (t.residual && row + 2 * own < rows)
        fetchResidual(t.residual + 2 * own * cStride, own, columns);
      if (columns == vectors * kLanes)
        runPairs(t, own, vectors);
      else
        runPartialPairs(t, own, columns, vectors);
      if constexpr (sizeof(Result) == sizeof(float))
        if (isLast)
          activate(t.c, own, columns);
    }
    row += own;
  }
}

/// Rows of terms [begin, end), where they are if they can be read there.
template <typename Rows>
inline TermRows<Rounded> findTerms(const Rows &from, int64_t rows,
                                   int64_t begin, int64_t end,
                                   PairScratch &scratch) {
  if constexpr (requires(TermRows<Rounded> a) {
                  a = from.termsFrom(begin, rows, scratch.offsets);
                })
    if (from.isInPlace(end))
      return from.termsFrom(begin, rows, scratch.offsets);
  from.round(rows, begin, end, scratch.lines);
  return {scratch.lines, kEvenOffsets<kLineTerms>.at, 1, 0, kLineStride, false};
}

template <typename Result>
template <typename Rows>
inline void PairBlock<Result>::run(const Rows &from, PairScratch &scratch) {
  const int64_t blocks = (terms + kPairTerms - 1) / kPairTerms;
  const int64_t even = (terms + blocks - 1) / (blocks > 0 ? blocks : 1);
  const int64_t most = (even + kLineTerms - 1) / kLineTerms * kLineTerms;
  PairArguments<Result> t = {};
  t.cStride = cStride;
  t.cPanel = cPanel;
  t.low = clampLow(epilogue);
  t.high = clampHigh(epilogue);
  int64_t begin = 0;
  do {
    const int64_t end = least(begin + most, terms);
    if constexpr (requires {
                    from.columns(rows, begin, end, nullptr, nullptr);
                  }) {
      t.columns = scratch.columns;
      t.pairs = from.columns(rows, begin, end, scratch.lines, scratch.columns);
    } else {
      t.a = findTerms(from, rows, begin, end, scratch);
      t.pairs = (end - begin + 1) / 2;
    }
    t.accumulate = begin > 0;
    t.clamp = end == terms && isClamp(epilogue);
    for (int64_t first = 0, count; first < columns; first += count) {
      const Group group = groupAt(column + first, begin);
      count = least(group.count, columns - first);
      t.b = group.pairs;
      t.bStride = group.stride;
      // Of the next columns, or of the first ones' next terms.
      t.ahead = nullptr;
      const bool isLast = first + count >= columns;
      if (!isCached() && (!isLast || end < terms)) {
        const Group next = isLast ? groupAt(column, end)
                                  : groupAt(column + first + count, begin);
        t.ahead = next.pairs;
        t.aheadStride = next.stride;
      }
      runGroup(t, first, count, end == terms);
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
inline void runToSums(PairBlock<float> block, const Rows &from,
                      PairScratch &scratch, Write &&write) {
  alignas(64) float sums[kMostPairRows * kShortStride];
  const Epilogue none;
  PairBlock<float>{block.b,      block.terms,   block.width, block.rows,
                   block.column, block.columns, sums,        kShortStride,
                   kPanelWidth,  nullptr,       nullptr,     none}
      .run(from, scratch);
  write(sums);
}

/// Some rows and columns of a product, whose results and residuals are of one
/// type.
template <typename Result>
inline PairBlock<Result> blockOfMatrix(const MatmulPlan &plan,
                                       void *const *arguments,
                                       const MatmulRun &part) {
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const Result *>(arguments[3]);
  return {static_cast<const uint32_t *>(arguments[1]) +
              batchOffset(plan, plan.bSteps, part.batch),
          plan.k,
          paddedColumns(plan.n),
          part.rows,
          part.column,
          part.columns,
          static_cast<Result *>(arguments[4]) + part.at,
          plan.n,
          blockOf<Result>,
          bias ? bias + part.column : nullptr,
          residual ? residual + part.at : nullptr,
          plan.epilogue};
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
    if (plan.isShortC && endsInRegisters(plan.k, plan.epilogue)) {
      blockOfMatrix<uint16_t>(plan, arguments, part).run(from, scratch);
      continue;
    }
    PairBlock block = blockOfMatrix<float>(plan, arguments, part);
    if (!plan.isShortC && !plan.isShortResidual) {
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
  void runPlain(const float *x);
  template <typename Element> Element *ofImage(void *y) const {
    return y ? static_cast<Element *>(y) + part.outputOffset() : nullptr;
  }
  template <typename Result> PairBlock<Result> sumsOf(int64_t terms) const;
  template <typename Rows> void runRows(int64_t terms, const Rows &from);
  template <typename Result, typename Rows>
  void runToBlocks(int64_t terms, const Rows &from);
  template <typename Rows> void runToSums(int64_t terms, const Rows &from);
  template <typename Rows> void runToPlain(int64_t terms, const Rows &from);

  const BlockedPlan &plan;
  void *const *arguments;
  const ConvRun &part;
  const int64_t width;
  PairScratch &scratch;
  const float *const bias;
};

template <typename Result>
inline PairBlock<Result> PairConv::sumsOf(int64_t terms) const {
  return {static_cast<const uint32_t *>(arguments[1]) +
              part.group * width * (terms / 2),
          terms,
          width,
          part.pixels,
          part.column,
          part.columns,
          nullptr,
          blockOf<Result>,
          plan.outPlane * blockOf<Result>,
          nullptr,
          nullptr,
          plan.epilogue};
}

template <typename Result, typename Rows>
inline void PairConv::runToBlocks(int64_t terms, const Rows &from) {
  PairBlock<Result> block = sumsOf<Result>(terms);
  const auto *residual = ofImage<Result>(arguments[3]);
  const int64_t at =
      block.column * plan.outPlane + part.pixel * blockOf<Result>;
  block.c = ofImage<Result>(arguments[4]) + at;
  block.bias = bias ? bias + block.column : nullptr;
  block.residual = residual ? residual + at : nullptr;
  block.run(from, scratch);
}

/// Where results are rounded in a step of their own, or residuals alone are
/// bfloat16.
template <typename Rows>
inline void PairConv::runToSums(int64_t terms, const Rows &from) {
  PairBlock<float> block = sumsOf<float>(terms);
  const int64_t end = part.column + part.columns;
  for (block.column = part.column; block.column < end;
       block.column += kShortColumns) {
    block.columns = least(kShortColumns, end - block.column);
    cpu::runToSums(block, from, scratch, [&](float *sums) {
      writePixels(part, arguments, sums, kShortStride, block.column,
                  block.columns, part.pixel, part.pixels);
    });
  }
}

/// Channels are summed some at a time; few networks have more of them.
template <typename Rows>
inline void PairConv::runToPlain(int64_t terms, const Rows &from) {
  const PairBlock<float> block = sumsOf<float>(terms);
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
    PairBlock<float>{block.b,    block.terms,   block.width,
                     block.rows, column,        columns,
                     sums,       kChannelBlock, block.rows * kChannelBlock,
                     nullptr,    nullptr,       none}
        .run(from, scratch);
    to.write(sums, column / kChannelBlock, columns / kChannelBlock);
  }
}

template <typename Rows>
inline void PairConv::runRows(int64_t terms, const Rows &from) {
  if (plan.isPlainY)
    runToPlain(terms, from);
  else if (!plan.isShortY && !plan.isShortResidual)
    runToBlocks<float>(terms, from);
  else if (plan.isShortY && endsInRegisters(terms, plan.epilogue))
    runToBlocks<uint16_t>(terms, from);
  else
    runToSums(terms, from);
}

/// Pixels of one row of the image at a time: they lie evenly.
inline void PairConv::runPlain(const float *x) {
  const PlainRows plain(plan, x, part.pixel);
  plain.forRows(part.pixels, [&](const PlainRows::Row &row) {
    ConvRun own = part;
    own.pixel += row.first;
    own.pixels = row.count;
    PairConv(plan, arguments, own, scratch)
        .runRows(plain.lines() * kLineTerms, PlainColumns{plain, row});
  });
}

template <typename Source> inline void PairConv::run() {
  const auto *x =
      static_cast<const Source *>(arguments[0]) + part.inputOffset();
  if constexpr (sizeof(Source) == sizeof(float))
    if (plan.isPlainX)
      return runPlain(x);
  int64_t offsets[kMostSplitTaps * kSplitRows];
  const PixelRowsOf<Source> rows(plan, x, part.pixel, part.pixels, offsets);
  runRows(plan.inChannels * plan.kernelH * plan.kernelW,
          RoundedPixels<Source>{rows});
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

/// As RoundedWinogradTiles.h has it.
void runPairWinograd(const RoundedWinogradPlan &plan, void *const *arguments,
                     int64_t begin, int64_t end) {
  constexpr int64_t wide = kPairVectors * kLanes;
  forSquares<Rounded>(
      plan, arguments, begin, end,
      [&](int64_t count, const Rounded *lines, const uint32_t *pairs,
          int64_t columns, float *sums, const uint32_t *next) {
        for (int64_t j = 0; j < columns; j += wide)
          multiplyPairs(count,
                        {lines, kLineTerms, plan.blockTiles * kLineTerms},
                        {pairs + j, columns, plan.inChannels / 2,
                         next ? next + j : nullptr},
                        least(columns - j, wide), sums + j, kPackedColumns);
      });
}

constexpr PairKernels thisPairKernels = {runPairMatmul,     nullptr,
                                         nullptr,           runPairConv,
                                         runShortDepthwise, runPairWinograd};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PAIRPRODUCT_H
