// SPDX-License-Identifier: Apache-2.0
//
// Products of floats that are rounded to bfloat16 on tiles of bfloat16. See
// Vector.h for who may include it; that file includes the tiles before.
//
// Tiles of b are read where they lie packed: sixteen rows of pairs. Rows of a
// are rounded once for a block of terms.

#ifndef DLC_RUNTIME_KERNEL_CPU_PAIRTILES_H
#define DLC_RUNTIME_KERNEL_CPU_PAIRTILES_H

#include "GridRuns.h"
#include "PairRows.h"
#include "SplitConv.h"
#include "SplitMatmul.h"

namespace dlc::rt::cpu {
namespace {

/// Terms of a block, and a row of them and some more, so that rows do not all
/// lie in one set of a cache.
constexpr int64_t kPairTileTerms = 512, kPairTileStride = kPairTileTerms + 32;
/// Pairs of a tile.
constexpr int64_t kTilePairs = kTileTerms / 2;

struct PairTileScratch {
  alignas(64) uint16_t a[kSplitRows * kPairTileStride];
  alignas(64) uint32_t last[2][kTilePairs * kTile];
  alignas(64) float sums[kSplitRows * kSplitColumns];
};

/// The sums of at most kSplitRows rows by kSplitColumns columns.
class PairTileBlock {
public:
  /// `b` is of all columns, `width` of them with their padding; those of this
  /// block begin with `column`, a multiple of kPackedColumns.
  PairTileBlock(const uint32_t *b, int64_t terms, int64_t width, int64_t rows,
                int64_t column, int64_t columns, PairTileScratch &scratch)
      : b(b), terms(terms), width(width), rows(rows), column(column),
        columns(columns), scratch(scratch),
        rowTiles((rows + kTile - 1) / kTile),
        tileRows((rows + rowTiles - 1) / rowTiles) {}

  /// Element (row, column) of the sums is at sums[row * sumStride() + column].
  template <typename Rows> void run(const Rows &from);
  int64_t sumStride() const { return (columns + kTile - 1) / kTile * kTile; }

private:
  /// Of one or two tiles of rows by as many of columns, from `row` and `first`
  /// on, for terms from `begin` on.
  template <int tall, int wide>
  void multiply(Tiles &tiles, int64_t row, int64_t first, int64_t begin,
                int64_t end);

  const uint32_t *b;
  const int64_t terms, width, rows, column, columns;
  PairTileScratch &scratch;
  const int64_t rowTiles, tileRows; ///< Rows are dealt out evenly.
};

template <int tall, int wide>
inline void PairTileBlock::multiply(Tiles &tiles, int64_t row, int64_t first,
                                    int64_t begin, int64_t end) {
  constexpr int64_t aStride = kPairTileStride * int64_t{sizeof(uint16_t)};
  const int64_t sumStride = this->sumStride() * int64_t{sizeof(float)};
  float *sums = scratch.sums + row * this->sumStride() + first;
  const auto forSums = [&](auto &&function) __attribute__((always_inline)) {
    function.template operator()<0>(sums);
    if constexpr (wide == 2)
      function.template operator()<1>(sums + kTile);
    float *below = sums + tileRows * this->sumStride();
    if constexpr (tall == 2)
      function.template operator()<2>(below);
    if constexpr (tall == 2 && wide == 2)
      function.template operator()<3>(below + kTile);
  };
  if (begin > 0)
    forSums([&]<int sum>(float *at) __attribute__((always_inline)) {
      tiles.template load<sum>(at, sumStride);
    });
  else
    forSums([&]<int sum>(float *)
                __attribute__((always_inline)) { tiles.template zero<sum>(); });
  const int64_t inside = first % kPackedColumns,
                group = column + first - inside;
  const int64_t stride = least(kPackedColumns, width - group);
  const int64_t allPairs = (terms + 1) / 2;
  const uint32_t *from = b + group * allPairs + begin / 2 * stride + inside;
  const uint16_t *a = scratch.a + row * kPairTileStride;
  for (int64_t term = begin; term < end; term += kTileTerms) {
    const uint32_t *tile[2] = {from, from + (wide - 1) * kTile};
    int64_t tileStride = stride;
    const int64_t pairs = allPairs - term / 2;
    if (pairs < kTilePairs) { // What lies behind is not of these columns.
      for (int t = 0; t < wide; ++t) {
        for (int64_t i = 0; i < kTilePairs * kTile; ++i)
          scratch.last[t][i] =
              i / kTile < pairs ? tile[t][i / kTile * stride + i % kTile] : 0;
        tile[t] = scratch.last[t];
      }
      tileStride = kTile;
    }
    tiles.load<4>(a, aStride);
    if constexpr (tall == 2)
      tiles.load<5>(a + tileRows * kPairTileStride, aStride);
    tiles.load<6>(tile[0], tileStride * int64_t{sizeof(uint32_t)});
    if constexpr (wide == 2)
      tiles.load<7>(tile[1], tileStride * int64_t{sizeof(uint32_t)});
    tiles.multiply<0, 0>();
    if constexpr (wide == 2)
      tiles.multiply<0, 1>();
    if constexpr (tall == 2)
      tiles.multiply<1, 0>();
    if constexpr (tall == 2 && wide == 2)
      tiles.multiply<1, 1>();
    a += kTileTerms;
    from += kTilePairs * stride;
  }
  forSums([&]<int sum>(float *at) __attribute__((always_inline)) {
    tiles.template store<sum>(at, sumStride);
  });
}

template <typename Rows> inline void PairTileBlock::run(const Rows &from) {
  Tiles tiles(static_cast<int>(tileRows));
  int64_t begin = 0;
  do {
    const int64_t end = least(begin + kPairTileTerms, terms);
    from.round(rows, begin, end, scratch.a, {kPairTileStride, kChannelBlock});
    // The last tile may have more rows than there are.
    for (int64_t i = rows * kPairTileStride;
         i < rowTiles * tileRows * kPairTileStride; ++i)
      scratch.a[i] = 0;
    for (int64_t first = 0; first < columns; first += 2 * kTile)
      for (int64_t tile = 0; tile < rowTiles; tile += 2) {
        const bool isTall = tile + 1 < rowTiles;
        const bool isWide = columns - first > kTile;
        const auto function = isTall
                                  ? (isWide ? &PairTileBlock::multiply<2, 2>
                                            : &PairTileBlock::multiply<2, 1>)
                                  : (isWide ? &PairTileBlock::multiply<1, 2>
                                            : &PairTileBlock::multiply<1, 1>);
        (this->*function)(tiles, tile * tileRows, first, begin, end);
      }
    begin = end;
  } while (begin < terms);
}

void runPairTileMatmul(const MatmulPlan &plan, void *const *arguments,
                       int64_t begin, int64_t end) {
  PairTileScratch scratch;
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *c = static_cast<float *>(arguments[4]);
  int64_t tile = begin;
  while (tile < end) {
    const MatmulRun part(plan, tile, end, kSplitColumns);
    PairTileBlock block(static_cast<const uint32_t *>(arguments[1]) +
                            batchOffset(plan, plan.bSteps, part.batch),
                        plan.k,
                        (plan.n + kPanelWidth - 1) / kPanelWidth * kPanelWidth,
                        part.rows, part.column, part.columns, scratch);
    block.run(RoundedMatrix{static_cast<const float *>(arguments[0]) +
                                batchOffset(plan, plan.aSteps, part.batch) +
                                part.row * plan.lda,
                            plan.lda});
    writeSums(scratch.sums, block.sumStride(),
              bias ? bias + part.column : nullptr,
              residual ? residual + part.at : nullptr, c + part.at, plan.n,
              part.rows, part.columns, plan.epilogue);
    tile += part.count;
  }
}

void runPairTileConv(const BlockedPlan &plan, void *const *arguments,
                     int64_t begin, int64_t end) {
  PairTileScratch scratch;
  int64_t offsets[kMostSplitTaps * kSplitRows];
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  const int64_t terms = plan.inChannels * plan.kernelH * plan.kernelW;
  int64_t tile = begin;
  while (tile < end) {
    const ConvRun part(plan, plan.outChannels, tile, end, kSplitColumns);
    const PixelRows rows(plan,
                         static_cast<const float *>(arguments[0]) +
                             part.outer * plan.inChannels * plan.inH * plan.inW,
                         part.pixel, part.pixels, offsets);
    PairTileBlock block(static_cast<const uint32_t *>(arguments[1]) +
                            part.group * plan.outChannels * (terms / 2),
                        terms, plan.outChannels, part.pixels, part.column,
                        part.columns, scratch);
    block.run(RoundedPixels{rows});
    const int64_t size = part.outer * plan.outChannels * plan.outPlane;
    PixelBlock{plan,
               bias ? bias + part.group * plan.outChannels : nullptr,
               residual ? residual + size : nullptr,
               static_cast<float *>(arguments[4]) + size,
               part.pixel,
               part.pixels}
        .write(scratch.sums, block.sumStride(), part.column / kChannelBlock,
               (part.column + part.columns) / kChannelBlock);
    tile += part.count;
  }
}

constexpr PairKernels thisPairTiles = {runPairTileMatmul, runPairTileConv};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PAIRTILES_H
