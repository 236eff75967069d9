// SPDX-License-Identifier: Apache-2.0
//
// Products of floats that are rounded to bfloat16 on tiles of bfloat16. See
// Vector.h for who may include it; that file includes the tiles before.
//
// Tiles of b are read where they lie packed: sixteen rows of pairs. Rows of a
// are rounded once for a block of terms. Sums that are complete are written
// from the first cache, two tiles by two.

#ifndef DLC_RUNTIME_KERNEL_CPU_PAIRTILES_H
#define DLC_RUNTIME_KERNEL_CPU_PAIRTILES_H

#include "BlockedDepthwiseTiles.h"
#include "GridRuns.h"
#include "PlainPixels.h"
#include "RoundedWinogradTiles.h"
#include "SplitConv.h"
#include "SplitMatmul.h"
#include "TileRows.h"
#include "WriteResults.h"

namespace dlc::rt::cpu {
namespace {

/// Pairs of a tile.
constexpr int64_t kTilePairs = kTileTerms / 2;
static_assert(kTileTerms == kLineTerms);

/// Columns whose sums are kept from one block of terms to the next, at most.
constexpr int64_t kHeldColumns = 512;
/// Rows of sums do not all lie in the same sets of a cache.
constexpr int64_t kSumStride = kHeldColumns + kTile;

struct PairTileScratch {
  /// The last tile may have more rows than there are lines.
  alignas(64) uint16_t a[(kMostTileRows + kTile) * kLineTerms];
  alignas(64) uint32_t last[2][kTilePairs * kTile];
  alignas(64) float sums[kSplitRows * kSumStride];
  alignas(64) float written[2 * kTile * kPanelColumns];
};

/// The sums of at most kSplitRows rows by any number of columns, or by
/// kHeldColumns where rows have several blocks of terms.
class PairTileBlock {
public:
  /// `b` is of all columns, `width` of them with their padding; those of this
  /// block begin with `column`, a multiple of kPackedColumns.
  PairTileBlock(const uint32_t *b, int64_t terms, int64_t width, int64_t column,
                int64_t columns, PairTileScratch &scratch)
      : b(b), terms(terms), width(width), column(column), columns(columns),
        scratch(scratch) {}

  /// Calls write(sums, stride, row, rows, first, count) for rows from `row` on
  /// and `count` columns of this block from `first` on: at most two tiles of
  /// each.
  template <typename Lines, typename Write>
  void run(const Lines &from, Write &&write);

  /// Lines of a tap that tiles of so many rows read.
  static int64_t linesRead(int64_t rows) {
    const int64_t tiles = (rows + kTile - 1) / kTile;
    return tiles * ((rows + tiles - 1) / tiles);
  }

private:
  /// One or two tiles of rows by as many of columns.
  struct Part {
    const uint16_t *a;  ///< Line of the first row, of the first tap.
    int64_t begin, end; ///< Groups of terms.
    int64_t first;      ///< Column.
    float *sums;
    int64_t sumStride;
    bool isFirst; ///< Of the blocks of terms: there are no sums yet.
    float *held;  ///< Those there are, kSumStride from row to row.
    /// Rows of pairs of a tile of the columns behind that are fetched while
    /// this part is computed.
    int64_t fetchBegin, fetchEnd;
  };

  template <int tall, int wide>
  void multiply(Tiles &tiles, const TileLines &lines, const Part &part);

  const uint32_t *b;
  const int64_t terms, width, column, columns;
  PairTileScratch &scratch;
  int64_t tileRows = 0; ///< Rows are dealt out evenly.
};

template <int tall, int wide>
inline void PairTileBlock::multiply(Tiles &tiles, const TileLines &lines,
                                    const Part &part) {
  const int64_t rowBytes = lines.rowStep * int64_t{sizeof(uint16_t)};
  const auto forSums = [&](float *sums, int64_t stride, auto &&function)
      __attribute__((always_inline)) {
    function.template operator()<0>(sums);
    if constexpr (wide == 2)
      function.template operator()<1>(sums + kTile);
    float *below = sums + tileRows * stride;
    if constexpr (tall == 2)
      function.template operator()<2>(below);
    if constexpr (tall == 2 && wide == 2)
      function.template operator()<3>(below + kTile);
  };
  if (!part.isFirst)
    forSums(
        part.held,
        kSumStride, [&]<int sum>(float *at) __attribute__((always_inline)) {
          tiles.template load<sum>(at, kSumStride * int64_t{sizeof(float)});
        });
  else
    forSums(
        part.held,
        kSumStride, [&]<int sum>(float *) __attribute__((always_inline)) {
          tiles.template zero<sum>();
        });
  const int64_t inside = part.first % kPackedColumns;
  const int64_t group = column + part.first - inside;
  const int64_t stride = least(kPackedColumns, width - group);
  const int64_t allPairs = (terms + 1) / 2;
  int64_t pair = part.begin * lines.taps * kTilePairs;
  const uint32_t *from = b + group * allPairs + pair * stride + inside;
  const int64_t behind =
      inside + kPanelColumns < stride
          ? kPanelColumns
          : kPackedColumns * allPairs - inside; // Those of the next 64.
  const uint16_t *ofGroup = part.a;
  for (int64_t i = part.begin; i < part.end; ++i) {
    for (int64_t tap = 0; tap < lines.taps; ++tap) {
      const uint16_t *a = ofGroup + lines.shifts[tap] * kLineTerms;
      const uint32_t *tile[2] = {from, from + (wide - 1) * kTile};
      int64_t tileStride = stride;
      const int64_t pairs = allPairs - pair;
      if (pairs < kTilePairs) [[unlikely]] { // Behind are other columns.
        for (int t = 0; t < wide; ++t) {
          for (int64_t l = 0; l < kTilePairs * kTile; ++l)
            scratch.last[t][l] =
                l / kTile < pairs ? tile[t][l / kTile * stride + l % kTile] : 0;
          tile[t] = scratch.last[t];
        }
        tileStride = kTile;
      }
      tiles.load<4>(a, rowBytes);
      tiles.load<6>(tile[0], tileStride * int64_t{sizeof(uint32_t)});
      tiles.multiply<0, 0>();
      if constexpr (wide == 2) {
        tiles.load<7>(tile[1], tileStride * int64_t{sizeof(uint32_t)});
        tiles.multiply<0, 1>();
      }
      if constexpr (tall == 2) {
        tiles.load<5>(a + tileRows * lines.rowStep, rowBytes);
        tiles.multiply<1, 0>();
      }
      if constexpr (tall == 2 && wide == 2)
        tiles.multiply<1, 1>();
      for (int64_t l = part.fetchBegin; l < part.fetchEnd; ++l)
        DLC_UNROLL for (int64_t j = 0; j < kPanelColumns; j += kTile)
            __builtin_prefetch(from + behind + l * stride + j, 0, 2);
      from += kTilePairs * stride;
      pair += kTilePairs;
    }
    ofGroup += lines.lines * kLineTerms;
  }
  forSums(
      part.sums,
      part.sumStride, [&]<int sum>(float *at) __attribute__((always_inline)) {
        tiles.template store<sum>(at, part.sumStride * int64_t{sizeof(float)});
      });
}

template <typename Lines, typename Write>
inline void PairTileBlock::run(const Lines &from, Write &&write) {
  const int64_t rows = from.rows, rowTiles = (rows + kTile - 1) / kTile;
  tileRows = (rows + rowTiles - 1) / rowTiles;
  const int64_t groups = from.groups, step = from.groupsOfBlock();
  Tiles tiles(static_cast<int>(tileRows));
  Part part = {};
  do {
    part.end = least(part.begin + step, groups);
    part.isFirst = part.begin == 0;
    const bool isLast = part.end == groups;
    const uint16_t *a = from.at(part.begin, part.end, scratch.a);
    for (part.first = 0; part.first < columns; part.first += kPanelColumns)
      for (int64_t tile = 0; tile < rowTiles; tile += 2) {
        const bool isTall = tile + 1 < rowTiles;
        const bool isWide = columns - part.first > kTile;
        const auto function = isTall
                                  ? (isWide ? &PairTileBlock::multiply<2, 2>
                                            : &PairTileBlock::multiply<2, 1>)
                                  : (isWide ? &PairTileBlock::multiply<1, 2>
                                            : &PairTileBlock::multiply<1, 1>);
        const int64_t row = tile * tileRows;
        part.held = scratch.sums + row * kSumStride + part.first;
        part.a = a + row * from.rowStep;
        part.sums = isLast ? scratch.written : part.held;
        part.sumStride = isLast ? kPanelColumns : kSumStride;
        const bool fetches = part.first + kPanelColumns < columns;
        part.fetchBegin = fetches ? kTilePairs * tile / rowTiles : 0;
        part.fetchEnd =
            fetches ? kTilePairs * least(tile + 2, rowTiles) / rowTiles : 0;
        (this->*function)(tiles, from, part);
        if (isLast)
          write(part.sums, part.sumStride, row,
                least((isTall ? 2 : 1) * tileRows, rows - row), part.first,
                least(kPanelColumns, columns - part.first));
      }
    part.begin = part.end;
  } while (part.begin < groups);
}

/// The plan's rows from `row` of its batch on, of floats or bfloat16.
template <typename Source>
inline MatrixLines<Source> matrixLines(const MatmulPlan &plan, const void *a,
                                       int64_t row, int64_t rows, int64_t lines,
                                       int64_t batch = 0) {
  return {static_cast<const Source *>(a) +
              batchOffset(plan, plan.aSteps, batch) + row * plan.lda,
          plan.lda, rows, plan.k, lines};
}

void runPairTileMatmul(const MatmulPlan &plan, void *const *arguments,
                       int64_t begin, int64_t end) {
  PairTileScratch scratch;
  const int64_t groups = (plan.k + kLineTerms - 1) / kLineTerms;
  int64_t tile = begin;
  while (tile < end) {
    const bool isOneBlock = plan.k <= kMostTileRows / kSplitRows * kLineTerms;
    const MatmulRun part(plan, tile, end,
                         isOneBlock ? INT64_MAX : kHeldColumns);
    PairTileBlock block(static_cast<const uint32_t *>(arguments[1]) +
                            batchOffset(plan, plan.bSteps, part.batch),
                        plan.k, paddedColumns(plan.n), part.column,
                        part.columns, scratch);
    const auto write = [&](float *sums, int64_t stride, int64_t row,
                           int64_t rows, int64_t first, int64_t columns) {
      writeMatrix(plan, arguments, sums, stride, part.column + first,
                  part.at + row * plan.n + first, rows, columns);
    };
    const int64_t first =
        batchOffset(plan, plan.aSteps, part.batch) + part.row * plan.lda;
    if (plan.readsRows &&
        first + PairTileBlock::linesRead(part.rows) * plan.lda <=
            plan.rowsInMemory * plan.lda)
      block.run(
          MatrixRowLines(static_cast<const uint16_t *>(arguments[0]) + first,
                         plan.lda, part.rows, plan.k),
          write);
    else if (plan.isRoundedBefore)
      block.run(RoundedLines{{part.rows, groups, 1, &kNoShift, plan.rowBlock},
                             static_cast<const uint16_t *>(arguments[0]) +
                                 part.row * groups * kLineTerms},
                write);
    else if (plan.isShortA)
      block.run(matrixLines<uint16_t>(plan, arguments[0], part.row, part.rows,
                                      part.rows, part.batch),
                write);
    else
      block.run(matrixLines<float>(plan, arguments[0], part.row, part.rows,
                                   part.rows, part.batch),
                write);
    tile += part.count;
  }
}

void roundPairTileRows(const MatmulPlan &plan, void *const *arguments,
                       int64_t begin, int64_t end) {
  const int64_t groups = (plan.k + kLineTerms - 1) / kLineTerms;
  const int64_t parts = (plan.rowBlock + kRoundedRows - 1) / kRoundedRows;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t block = tile / parts * plan.rowBlock;
    const int64_t row = tile % parts * kRoundedRows;
    const int64_t rows =
        least(least(plan.rowBlock, plan.m - block) - row, kRoundedRows);
    auto *target = static_cast<uint16_t *>(arguments[1]) +
                   (block * groups + row) * kLineTerms;
    if (rows <= 0)
      continue;
    if (plan.isShortA)
      matrixLines<uint16_t>(plan, arguments[0], block + row, rows,
                            plan.rowBlock)
          .round(0, groups, target);
    else
      matrixLines<float>(plan, arguments[0], block + row, rows, plan.rowBlock)
          .round(0, groups, target);
  }
}

/// Those of a block of pixels, among the lines that are rounded before.
inline uint16_t *linesOf(const BlockedPlan &plan, void *lines,
                         const ConvRun &part) {
  const int64_t groups = (plan.inChannels + kLineTerms - 1) / kLineTerms;
  const int64_t block = part.outer * plan.pixelBlocks + part.pixelIndex;
  return static_cast<uint16_t *>(lines) +
         block * groups * plan.blockLines * kLineTerms;
}

template <typename Source>
inline void roundPixelsOf(const BlockedPlan &plan, void *const *arguments,
                          int64_t begin, int64_t end) {
  int64_t offsets[kMostSplitTaps];
  const int64_t groups = (plan.inChannels + kLineTerms - 1) / kLineTerms;
  const int64_t parts = (groups + kRoundedGroups - 1) / kRoundedGroups;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t block = tile / parts;
    const ConvRun part(plan, plan.outChannels, ConvRun::tileOf(plan, block),
                       INT64_MAX, 0);
    const StripLines<Source> strip(
        plan, static_cast<const Source *>(arguments[0]) + part.inputOffset(),
        part.pixel, part.pixels, offsets);
    const int64_t first = tile % parts * kRoundedGroups;
    strip.round(first, least(first + kRoundedGroups, groups),
                linesOf(plan, arguments[1], part) +
                    first * plan.blockLines * kLineTerms);
  }
}

void roundPairTilePixels(const BlockedPlan &plan, void *const *arguments,
                         int64_t begin, int64_t end) {
  (plan.isShortX ? roundPixelsOf<uint16_t>
                 : roundPixelsOf<float>)(plan, arguments, begin, end);
}

/// Some tiles of the grid that share their pixels.
class PairTileConv {
public:
  PairTileConv(const BlockedPlan &plan, void *const *arguments,
               const ConvRun &part, PairTileScratch &scratch)
      : plan(plan), arguments(arguments), part(part), scratch(scratch) {}

  void runPlain();
  template <typename Source> void run();

private:
  PairTileBlock blockOf(int64_t terms) {
    return {static_cast<const uint32_t *>(arguments[1]) +
                part.group * plan.outChannels * (terms / 2),
            terms,
            paddedColumns(plan.outChannels),
            part.column,
            part.columns,
            scratch};
  }
  /// Of `count` pixels and at most 32 channels, from `first` of the part on.
  void write(float *sums, int64_t stride, int64_t pixel, int64_t count,
             int64_t first, int64_t columns) const;

  const BlockedPlan &plan;
  void *const *arguments;
  const ConvRun &part;
  PairTileScratch &scratch;
};

inline void PairTileConv::write(float *sums, int64_t stride, int64_t pixel,
                                int64_t count, int64_t first,
                                int64_t columns) const {
  const int64_t column = part.column + first;
  if (!plan.isPlainY)
    return writePixels(part, arguments, sums, stride, column, columns, pixel,
                       count);
  const auto *residual = static_cast<const float *>(arguments[3]);
  const int64_t offset = part.outputOffset();
  alignas(64) float panels[2 * kTile * kPanelColumns];
  for (int64_t j = 0; j < columns; j += kChannelBlock)
    for (int64_t i = 0; i < count; ++i)
      __builtin_memcpy(panels + (j / kChannelBlock * count + i) * kChannelBlock,
                       sums + i * stride + j, kChannelBlock * sizeof(float));
  PlainPixels{plan,
              part.biasOf(arguments),
              residual ? residual + offset : nullptr,
              static_cast<float *>(arguments[4]) + offset,
              pixel,
              pixel + count}
      .write(panels, column / kChannelBlock, columns / kChannelBlock);
}

inline void PairTileConv::runPlain() {
  const PlainRows rows(
      plan, static_cast<const float *>(arguments[0]) + part.inputOffset(),
      part.pixel);
  blockOf(rows.lines() * kLineTerms)
      .run(PlainLines(rows, part.pixels),
           [&](float *sums, int64_t stride, int64_t row, int64_t count,
               int64_t first, int64_t columns) {
             write(sums, stride, part.pixel + row, count, first, columns);
           });
}

template <typename Source> inline void PairTileConv::run() {
  int64_t offsets[kMostSplitTaps * kSplitRows];
  const int64_t terms = plan.inChannels * plan.kernelH * plan.kernelW;
  const auto *x =
      static_cast<const Source *>(arguments[0]) + part.inputOffset();
  const StripLines<Source> strip(plan, x, part.pixel, part.pixels, offsets);
  PairTileBlock block = blockOf(terms);
  const auto writeStrip = [&](float *sums, int64_t stride, int64_t row,
                              int64_t rows, int64_t first, int64_t columns) {
    strip.forPixels(row, row + rows,
                    [&](int64_t pixel, int64_t at, int64_t count) {
                      write(sums + (at - row) * stride, stride, pixel, count,
                            first, columns);
                    });
  };
  if (plan.isRoundedBefore)
    return block.run(RoundedLines{strip, linesOf(plan, arguments[0], part)},
                     writeStrip);
  if constexpr (sizeof(Source) == sizeof(uint16_t))
    if (strip.isFlat()) {
      const int64_t plane = plan.inH * plan.inW;
      const bool isLast = part.outer + 1 == plan.batch * plan.group;
      const int64_t behind = isLast ? plane - strip.firstInside() : INT64_MAX;
      return block.run(
          ImageLines(strip, x, plane, block.linesRead(part.pixels), behind),
          writeStrip);
    }
  if (strip.fits())
    return block.run(strip, writeStrip);
  const PixelRowsOf<Source> rows(plan, x, part.pixel, part.pixels, offsets);
  block.run(PixelLines<Source>(rows, part.pixels, terms),
            [&](float *sums, int64_t stride, int64_t row, int64_t count,
                int64_t first, int64_t columns) {
              write(sums, stride, part.pixel + row, count, first, columns);
            });
}

void runPairTileConv(const BlockedPlan &plan, void *const *arguments,
                     int64_t begin, int64_t end) {
  PairTileScratch scratch;
  int64_t tile = begin;
  while (tile < end) {
    const ConvRun part(plan, paddedColumns(plan.outChannels), tile, end,
                       kSplitColumns);
    PairTileConv conv(plan, arguments, part, scratch);
    if (plan.isPlainX)
      conv.runPlain();
    else if (plan.isShortX)
      conv.run<uint16_t>();
    else
      conv.run<float>();
    tile += part.count;
  }
}

void runPairTileWinograd(const RoundedWinogradPlan &plan,
                         void *const *arguments, int64_t begin, int64_t end) {
  PairTileScratch scratch;
  forSquares<uint16_t>(
      plan, arguments, begin, end,
      [&](int64_t count, const uint16_t *lines, const uint32_t *pairs,
          int64_t columns, float *sums, const uint32_t *) {
        const int64_t groups = plan.inChannels / kLineTerms;
        PairTileBlock(pairs, plan.inChannels, columns, 0, columns, scratch)
            .run(RoundedLines{{count, groups, 1, &kNoShift, plan.blockTiles},
                              lines},
                 [&](float *written, int64_t stride, int64_t row, int64_t rows,
                     int64_t first, int64_t own) {
                   for (int64_t i = 0; i < rows; ++i)
                     __builtin_memcpy(sums + (row + i) * kPackedColumns + first,
                                      written + i * stride,
                                      own * sizeof(float));
                 });
      });
}

constexpr PairKernels thisPairTiles = {
    runPairTileMatmul, roundPairTileRows, roundPairTilePixels,
    runPairTileConv,   runShortDepthwise, runPairTileWinograd};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PAIRTILES_H
