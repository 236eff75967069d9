// SPDX-License-Identifier: Apache-2.0
//
// Attention of rounded operands on tiles of bfloat16. See Vector.h for who may
// include it; that file includes the tiles before.

#ifndef DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRTILES_H
#define DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRTILES_H

#include "AttentionPairs.h"
#include "PairTiles.h"

namespace dlc::rt::cpu {
namespace {

static_assert(kTallRows == 2 * kTile && kPairColumns == kPanelColumns);

/// Up to two tiles of rows by two of columns.
class TileProduct {
public:
  TileProduct(const AttentionPlan &plan, int64_t tile)
      : tileRows(rowsOf(plan, tile)), tiles(static_cast<int>(tileRows)) {}

  int64_t rowsAtOnce() const { return 2 * tileRows; }

  void multiply(int64_t rows, LineRows<uint16_t> a, const uint32_t *b,
                int64_t bStride, int64_t lines, int64_t columns, float *sums,
                int64_t sumStride) {
    for (int64_t j = 0; j < columns; j += kPairColumns)
      if (rows > tileRows)
        multiplyPanel<2>(a, b + j, bStride, lines, sums + j, sumStride);
      else
        multiplyPanel<1>(a, b + j, bStride, lines, sums + j, sumStride);
  }

private:
  /// Rows are dealt out evenly to tile registers.
  static int64_t rowsOf(const AttentionPlan &plan, int64_t tile) {
    const int64_t first = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t rows = least(plan.rowBlock, plan.rows - first);
    const int64_t count = (rows + kTile - 1) / kTile;
    return (rows + count - 1) / count;
  }
  /// Of the terms a line of `a` at a time; gives the sums of 32 columns.
  template <int tall>
  void multiplyPanel(LineRows<uint16_t> a, const uint32_t *b, int64_t bStride,
                     int64_t lines, float *sums, int64_t sumStride) {
    const int64_t aBytes = a.row * int64_t{sizeof(uint16_t)};
    const int64_t bBytes = bStride * int64_t{sizeof(uint32_t)};
    const int64_t sumBytes = sumStride * int64_t{sizeof(float)};
    tiles.zero<0>();
    tiles.zero<1>();
    if constexpr (tall == 2) {
      tiles.zero<2>();
      tiles.zero<3>();
    }
    for (int64_t line = 0; line < lines; ++line) {
      tiles.load<4>(a.first, aBytes);
      tiles.load<6>(b, bBytes);
      tiles.multiply<0, 0>();
      tiles.load<7>(b + kTile, bBytes);
      tiles.multiply<0, 1>();
      if constexpr (tall == 2) {
        tiles.load<5>(a.first + tileRows * a.row, aBytes);
        tiles.multiply<1, 0>();
        tiles.multiply<1, 1>();
      }
      a.first += a.line;
      b += kTilePairs * bStride;
    }
    tiles.store<0>(sums, sumBytes);
    tiles.store<1>(sums + kTile, sumBytes);
    if constexpr (tall == 2) {
      tiles.store<2>(sums + tileRows * sumStride, sumBytes);
      tiles.store<3>(sums + tileRows * sumStride + kTile, sumBytes);
    }
  }

  const int64_t tileRows;
  Tiles tiles;
};

inline void runPairAttention(const AttentionPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  runPairAttentionBy<TileProduct>(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRTILES_H
