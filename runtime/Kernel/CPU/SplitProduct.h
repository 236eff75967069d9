// SPDX-License-Identifier: Apache-2.0
//
// Products of f32 matrices on tiles of bfloat16. See Vector.h for who may
// include it; that file includes the tiles before.
//
// A float is the sum of three bfloat16: its upper half, that of what is left
// then, and that of what is left of this, which is all. Of the nine products of
// the parts of two floats six are summed, in f32; the other three are smaller
// than 2^-21 of the product. With one part, floats are rounded to it.
//
// Rows of a are split once for a block of terms, columns of b in panels of two
// tiles: the next panel while the products of this one run, which leave the
// vector units idle.

#ifndef DLC_RUNTIME_KERNEL_CPU_SPLITPRODUCT_H
#define DLC_RUNTIME_KERNEL_CPU_SPLITPRODUCT_H

#include "KernelSet.h"
#include "PixelRows.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Columns of a tile, and terms of half a tile: those of the first and of the
/// second half make pairs.
constexpr int64_t kTile = 16, kTileTerms = 32;
constexpr int64_t kPanelColumns = 2 * kTile;
/// What a block has at most: terms, so that panels stay in L1, and columns.
constexpr int64_t kSplitTerms = 256, kSplitColumns = 256;
/// Terms that are summed in one chain; blocks of those behind are summed by
/// themselves, as the error of a long sum is that of its parts.
constexpr int64_t kChainTerms = 4096;
/// Elements of a row of a tile.
constexpr int64_t kTileRow = 32;
/// Of a tile of b.
constexpr int64_t kTileSize = kTile * kTileRow;

typedef uint16_t Halves __attribute__((vector_size(DLC_VECTOR_BYTES)));

/// Magnitudes of bfloat16 without their sign; the largest one of each lane.
struct Largest {
  Halves lanes = {};

  [[gnu::always_inline]] void add(Halves values) {
    values += values;
    lanes = values > lanes ? values : lanes;
  }
  [[gnu::always_inline]] void add(const Largest &other) {
    lanes = other.lanes > lanes ? other.lanes : lanes;
  }
  uint32_t value() const {
    uint16_t all[sizeof(Halves) / 2];
    __builtin_memcpy(all, &lanes, sizeof(all));
    uint32_t most = 0;
    for (uint16_t lane : all)
      most = lane > most ? lane : most;
    return most;
  }
};

/// Splits kLanes pairs, parts lie `partStride` elements apart.
template <int parts>
[[gnu::always_inline]] inline void
splitPairs(Vec first, Vec second, uint16_t *target, int64_t partStride,
           Largest &largest) {
  Words x = reinterpret_cast<Words>(first), y = reinterpret_cast<Words>(second);
  if constexpr (parts == 1) { // Rounded to nearest.
    x += 0x8000u;
    y += 0x8000u;
  }
  DLC_UNROLL for (int part = 0; part < parts; ++part) {
    const Words xUpper = x & 0xffff0000u, yUpper = y & 0xffff0000u;
    const Words pair = (x >> 16) | yUpper;
    if (part == 0)
      largest.add(reinterpret_cast<Halves>(pair));
    store(reinterpret_cast<float *>(target + part * partStride),
          reinterpret_cast<Vec>(pair));
    if (part + 1 < parts) {
      x = reinterpret_cast<Words>(reinterpret_cast<Vec>(x) -
                                  reinterpret_cast<Vec>(xUpper));
      y = reinterpret_cast<Words>(reinterpret_cast<Vec>(y) -
                                  reinterpret_cast<Vec>(yUpper));
    }
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Columns of b as they lie in memory: element (l, j) of a panel's tile t at
/// tile[t][l * stride + j], of which `columns` are there.
struct PanelOfB {
  const float *tile[2];
  int64_t stride;
  int64_t columns; ///< At most kPanelColumns.
  int64_t tiles() const { return columns > kTile ? 2 : 1; }
};

/// Columns of b, [k][n], from `first` on: packed, or rows of `stride` where
/// packedWidth is 0.
struct MatrixPanels {
  const float *b;
  int64_t k, n, stride, packedWidth;
  int64_t first;

  PanelOfB panel(int64_t column, int64_t end) const {
    PanelOfB panel = {{tileAt(first + column), nullptr},
                      strideAt(first + column),
                      end - column};
    panel.tile[1] =
        panel.tiles() == 2 ? tileAt(first + column + kTile) : panel.tile[0];
    if (packedWidth) // Padded to whole tiles.
      panel.columns = panel.tiles() * kTile;
    return panel;
  }

private:
  int64_t strideAt(int64_t column) const {
    if (!packedWidth)
      return stride;
    const int64_t padded = (n + kPanelWidth - 1) / kPanelWidth;
    const int64_t begin = column - column % packedWidth;
    return least(packedWidth, padded * kPanelWidth - begin);
  }
  const float *tileAt(int64_t column) const {
    if (!packedWidth)
      return b + column;
    const int64_t inside = column % packedWidth;
    return b + (column - inside) * k + inside;
  }
};

/// Splits a panel for some terms to [terms/32][tiles][parts][16][32], four rows
/// of a tile at a time; rows behind the terms are zero.
template <int parts> class PanelSplitter {
public:
  void start(const PanelOfB &of, int64_t firstTerm, int64_t count,
             uint16_t *to) {
    panel = of;
    panel.tile[0] += firstTerm * panel.stride;
    panel.tile[1] += firstTerm * panel.stride;
    terms = count;
    end = (terms + kTileTerms - 1) / kTileTerms * kTileTerms;
    tiles = panel.columns > kTile ? 2 : 1;
    term = tile = 0;
    target = to;
    largest = {};
  }
  bool isDone() const { return term >= end; }

  [[gnu::noinline]] void step() {
    const int64_t stride = panel.stride;
    const float *first = panel.tile[tile] + term * stride;
    uint16_t *to = target +
                   (term / kTileTerms * tiles + tile) * parts * kTileSize +
                   term % kTile * kTileRow;
    const int64_t valid = panel.columns - tile * kTile;
    if (valid >= kTile && term + kTile + kStepRows <= terms) {
      Largest seen = largest;
      DLC_UNROLL for (int row = 0; row < kStepRows; ++row) {
        const float *second = first + kTile * stride;
        DLC_UNROLL for (int64_t j = 0; j < kTile; j += kLanes)
            splitPairs<parts>(load(first + j), load(second + j), to + 2 * j,
                              kTileSize, seen);
        first += stride;
        to += kTileRow;
      }
      largest = seen;
    } else {
      stepAtEdge(first, to, valid);
    }
    if (++tile < tiles)
      return;
    tile = 0;
    term += kStepRows;
    if (term % kTile == 0)
      term += kTile;
  }
  void finish() {
    while (!isDone())
      step();
  }
  const Largest &seen() const { return largest; }
  /// That a panel of 32 terms takes.
  static constexpr int64_t kStepsOfTiles = 2 * kTile / 4;

private:
  static constexpr int kStepRows = 4;

  void stepAtEdge(const float *first, uint16_t *to, int64_t valid) {
    for (int row = 0; row < kStepRows; ++row, to += kTileRow) {
      const float *low =
          term + row < terms ? first + row * panel.stride : kNoTerms;
      const float *high = term + row + kTile < terms
                              ? first + (row + kTile) * panel.stride
                              : kNoTerms;
      for (int64_t j = 0; j < kTile; j += kLanes)
        splitPairs<parts>(maskedLoad(low + j, lanes(0, valid - j)),
                          maskedLoad(high + j, lanes(0, valid - j)), to + 2 * j,
                          kTileSize, largest);
    }
  }

  PanelOfB panel = {};
  int64_t terms = 0, tiles = 0;
  int64_t end = 0;            ///< Of the terms, in whole tiles.
  int64_t term = 0, tile = 0; ///< Of the next step.
  uint16_t *target = nullptr;
  Largest largest;
};

/// Splits `count` rows for terms [begin, end) to
/// [terms/32][rowTiles][parts][tileRows][32]; rows behind are zero.
/// rows.at(rows.terms(term), row) says where sixteen terms are, from `term` on.
template <int parts, typename Rows>
inline void splitRows(const Rows &rows, int64_t count, int64_t rowTiles,
                      int64_t tileRows, int64_t begin, int64_t end,
                      uint16_t *target, Largest &largest) {
  const int64_t size = tileRows * kTileRow;
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    for (int64_t term = begin; term < end; term += kTileTerms) {
      uint16_t *to = target + ((term - begin) / kTileTerms * rowTiles + tile) *
                                  parts * size;
      const int64_t last = (tile + 1) * tileRows;
      const auto low = rows.terms(term);
      const auto high = rows.terms(least(term + kTile, end - 1));
      for (int64_t row = tile * tileRows; row < last; ++row, to += kTileRow) {
        const float *first = row < count ? rows.at(low, row) : kNoTerms;
        const float *second =
            row < count && term + kTile < end ? rows.at(high, row) : kNoTerms;
        const int64_t valid = end - term;
        DLC_UNROLL for (int64_t j = 0; j < kTile; j += kLanes) {
          if (valid >= kTileTerms || first == kNoTerms)
            splitPairs<parts>(load(first + j), load(second + j), to + 2 * j,
                              size, largest);
          else
            splitPairs<parts>(
                maskedLoad(first + j, lanes(0, valid - j)),
                maskedLoad(second + j, lanes(0, valid - kTile - j)), to + 2 * j,
                size, largest);
        }
      }
    }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// The products of parts that are summed: such that few of them need other
/// tiles than the one before.
template <int parts> struct PartProducts;
template <> struct PartProducts<1> {
  static constexpr int count = 1, a[] = {0}, b[] = {0};
};
template <> struct PartProducts<3> {
  static constexpr int count = 6, a[] = {0, 0, 1, 1, 2, 0},
                       b[] = {2, 1, 1, 0, 0, 0};
};

/// A block of one or two tiles of rows by as many of columns.
struct SplitArguments {
  const uint16_t *a; ///< Of the first row.
  int64_t aPart;     ///< From one part of a tile to the next, in elements.
  int64_t aTile;     ///< From one tile of rows to the other.
  int64_t aStep;     ///< From 32 terms to the next.
  const uint16_t *b;
  int64_t steps; ///< Of 32 terms.
  /// After which of the products of a step some of the next panel is split.
  uint32_t splitsAfter;
  bool accumulate; ///< Start from the sums.
  float *sums;
  int64_t sumStride, sumTile; ///< From row to row, and from tile to tile.
};

template <int parts, int rowTiles, int columnTiles> struct SplitKernel {
  using Products = PartProducts<parts>;
  static constexpr int64_t stride = 64; ///< Bytes of a row of a tile.

  Tiles &tiles;
  const SplitArguments &t;
  PanelSplitter<parts> &next;

  template <int index>
  [[gnu::always_inline]] void product(const uint16_t *a, const uint16_t *b) {
    constexpr int partA = Products::a[index], partB = Products::b[index];
    constexpr int before = index > 0 ? index - 1 : 0;
    if constexpr (index == 0 || partA != Products::a[before]) {
      tiles.template load<4>(a + partA * t.aPart, stride);
      if constexpr (rowTiles == 2)
        tiles.template load<5>(a + t.aTile + partA * t.aPart, stride);
    }
    if constexpr (index == 0 || partB != Products::b[before]) {
      tiles.template load<6>(b + partB * kTileSize, stride);
      if constexpr (columnTiles == 2)
        tiles.template load<7>(b + (parts + partB) * kTileSize, stride);
    }
    constexpr int first = index * rowTiles * columnTiles;
    tiles.template multiply<0, 0>();
    split<first>();
    if constexpr (rowTiles == 2) {
      tiles.template multiply<1, 0>();
      split<first + 1>();
    }
    if constexpr (columnTiles == 2) {
      tiles.template multiply<0, 1>();
      split<first + rowTiles>();
    }
    if constexpr (rowTiles == 2 && columnTiles == 2) {
      tiles.template multiply<1, 1>();
      split<first + 3>();
    }
    if constexpr (index + 1 < Products::count)
      product<index + 1>(a, b);
  }

  template <int index> [[gnu::always_inline]] void split() {
    if ((t.splitsAfter >> index & 1) && !next.isDone())
      next.step();
  }

  /// Calls function<sum>(where it is in memory) for each tile of sums.
  template <typename Function>
  [[gnu::always_inline]] void forSums(Function &&function) {
    function.template operator()<0>(t.sums);
    if constexpr (columnTiles == 2)
      function.template operator()<1>(t.sums + kTile);
    if constexpr (rowTiles == 2)
      function.template operator()<2>(t.sums + t.sumTile);
    if constexpr (rowTiles == 2 && columnTiles == 2)
      function.template operator()<3>(t.sums + t.sumTile + kTile);
  }

  [[gnu::always_inline]] void run() {
    const int64_t sumStride = t.sumStride * int64_t{sizeof(float)};
    if (t.accumulate)
      forSums([&]<int sum>(float *at) __attribute__((always_inline)) {
        tiles.template load<sum>(at, sumStride);
      });
    else
      forSums([&]<int sum>(float *) __attribute__((always_inline)) {
        tiles.template zero<sum>();
      });
    const uint16_t *a = t.a, *b = t.b;
    for (int64_t step = 0; step < t.steps; ++step) {
      product<0>(a, b);
      a += t.aStep;
      b += columnTiles * parts * kTileSize;
    }
    forSums([&]<int sum>(float *at) __attribute__((always_inline)) {
      tiles.template store<sum>(at, sumStride);
    });
  }
};

template <int parts, int rowTiles, int columnTiles>
void splitKernel(Tiles &tiles, const SplitArguments &t,
                 PanelSplitter<parts> &next) {
  SplitKernel<parts, rowTiles, columnTiles>{tiles, t, next}.run();
}

/// Such bits that about `steps` of `products` have one, evenly.
inline uint32_t spread(int64_t steps, int64_t products) {
  uint32_t bits = 0;
  for (int64_t i = 0; i < products; ++i)
    if ((i + 1) * steps / products > i * steps / products)
      bits |= uint32_t{1} << i;
  return bits;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// What one block works in.
template <int parts> struct SplitScratch {
  alignas(
      64) uint16_t a[kSplitTerms / kTileTerms * kSplitRows * parts * kTileRow];
  alignas(64) uint16_t b[2][kSplitTerms * kTile * parts * 2];
  alignas(64) float sums[kSplitRows * kSplitColumns];
  alignas(64) float block[2 * kTile * kPanelColumns];
  Largest ofPanels[kSplitColumns / kPanelColumns];
};

/// The sums of a block: at most kSplitRows rows by kSplitColumns columns.
/// `rows` as splitRows() has it; panel(column, end) gives a PanelOfB of columns
/// [column, end).
template <int parts, typename Rows, typename Panels> class SplitBlock {
public:
  SplitBlock(const Rows &rows, const Panels &panels, int64_t count,
             int64_t columns, int64_t terms, SplitScratch<parts> &scratch)
      : rows(rows), panels(panels), count(count), columns(columns),
        terms(terms), scratch(scratch), rowTiles((count + kTile - 1) / kTile),
        tileRows((count + rowTiles - 1) / rowTiles) {}

  /// Element (row, column) of the sums is at sums[row * sumStride() + column].
  void run();
  int64_t sumStride() const { return (columns + kTile - 1) / kTile * kTile; }
  /// Whether the sums of columns [begin, end) are as exact as they shall be:
  /// no element was out of range, and what denormal parts would have added is
  /// nothing beside the largest sum.
  bool isExact(int64_t begin, int64_t end) const;

private:
  int64_t panelCount() const {
    return (columns + kPanelColumns - 1) / kPanelColumns;
  }
  PanelOfB panelAt(int64_t index) const {
    const int64_t column = index * kPanelColumns;
    return panels.panel(column, least(column + kPanelColumns, columns));
  }
  void multiply(Tiles &tiles, int64_t panel, int64_t block,
                const uint16_t *split, PanelSplitter<parts> &next);
  void addBlock(int64_t row, int64_t rowCount, int64_t column, int64_t width);

  const Rows &rows;
  const Panels &panels;
  const int64_t count, columns, terms;
  SplitScratch<parts> &scratch;
  const int64_t rowTiles;
  const int64_t tileRows;          ///< Of a tile: they are dealt out evenly.
  uint32_t splitsAfter[2][2] = {}; ///< By tiles of rows and of columns.
  Largest ofRows;
};

template <int parts, typename Rows, typename Panels>
inline void
SplitBlock<parts, Rows, Panels>::addBlock(int64_t row, int64_t rowCount,
                                          int64_t column, int64_t width) {
  for (int64_t i = 0; i < rowCount; ++i) {
    float *to = scratch.sums + (row + i) * sumStride() + column;
    const float *from = scratch.block + i * width;
    for (int64_t j = 0; j < width; j += kLanes)
      store(to + j, load(to + j) + load(from + j));
  }
}

/// All rows by one panel, for the terms of one block.
template <int parts, typename Rows, typename Panels>
inline void
SplitBlock<parts, Rows, Panels>::multiply(Tiles &tiles, int64_t panel,
                                          int64_t block, const uint16_t *split,
                                          PanelSplitter<parts> &next) {
  const int64_t column = panel * kPanelColumns;
  const int64_t columnTiles = columns - column > kTile ? 2 : 1;
  const int64_t begin = block * kSplitTerms;
  const int64_t count = least(terms - begin, kSplitTerms);
  const bool isApart = begin >= kChainTerms;
  SplitArguments t = {};
  t.aPart = tileRows * kTileRow;
  t.aTile = parts * t.aPart;
  t.aStep = rowTiles * t.aTile;
  t.b = split;
  t.steps = (count + kTileTerms - 1) / kTileTerms;
  for (int64_t tile = 0; tile < rowTiles; tile += 2) {
    const int64_t tall = least<int64_t>(rowTiles - tile, 2);
    t.a = scratch.a + tile * t.aTile;
    t.splitsAfter = splitsAfter[tall - 1][columnTiles - 1];
    const int64_t row = tile * tileRows;
    t.accumulate = block > 0 && !isApart;
    t.sumStride = isApart ? columnTiles * kTile : sumStride();
    t.sums =
        isApart ? scratch.block : scratch.sums + row * sumStride() + column;
    t.sumTile = tileRows * t.sumStride;
    using Kernel =
        void (*)(Tiles &, const SplitArguments &, PanelSplitter<parts> &);
    static constexpr Kernel kernels[2][2] = {
        {splitKernel<parts, 1, 1>, splitKernel<parts, 1, 2>},
        {splitKernel<parts, 2, 1>, splitKernel<parts, 2, 2>}};
    kernels[tall - 1][columnTiles - 1](tiles, t, next);
    if (isApart)
      addBlock(row, tall * tileRows, column, t.sumStride);
  }
}

template <int parts, typename Rows, typename Panels>
inline void SplitBlock<parts, Rows, Panels>::run() {
  const int64_t pairs = (rowTiles + 1) / 2;
  const int64_t steps =
      (PanelSplitter<parts>::kStepsOfTiles + pairs - 1) / pairs;
  for (int64_t i = 0; i < 4; ++i)
    splitsAfter[i / 2][i % 2] =
        spread(steps, PartProducts<parts>::count * (i / 2 + 1) * (i % 2 + 1));
  const int64_t blocks = (terms + kSplitTerms - 1) / kSplitTerms;
  const int64_t all = panelCount();
  Tiles tiles(static_cast<int>(tileRows));
  PanelSplitter<parts> splitter;
  auto start = [&](int64_t index) {
    const int64_t begin = index / all * kSplitTerms;
    splitter.start(panelAt(index % all), begin,
                   least(terms - begin, kSplitTerms), scratch.b[index % 2]);
  };
  for (int64_t i = 0; i < all; ++i)
    scratch.ofPanels[i] = {};
  for (int64_t index = 0; index < blocks * all; ++index) {
    const int64_t block = index / all, panel = index % all;
    if (panel == 0) {
      const int64_t begin = block * kSplitTerms;
      splitRows<parts>(rows, count, rowTiles, tileRows, begin,
                       least(begin + kSplitTerms, terms), scratch.a, ofRows);
    }
    if (index == 0)
      start(index);
    splitter.finish();
    scratch.ofPanels[panel].add(splitter.seen());
    if (index + 1 < blocks * all)
      start(index + 1);
    multiply(tiles, panel, block, scratch.b[index % 2], splitter);
  }
}

template <int parts, typename Rows, typename Panels>
inline bool SplitBlock<parts, Rows, Panels>::isExact(int64_t begin,
                                                     int64_t end) const {
  Largest ofColumns;
  for (int64_t i = begin / kPanelColumns; i * kPanelColumns < end; ++i)
    ofColumns.add(scratch.ofPanels[i]);
  const uint32_t a = ofRows.value(), b = ofColumns.value();
  // Products below 2^100: no sum of them overflows that does not without.
  constexpr uint32_t limit = (127 + 50) << 8;
  if (a >= limit || b >= limit)
    return false;
  Words most = {};
  for (int64_t row = 0; row < count; ++row) {
    const float *sums = scratch.sums + row * sumStride();
    for (int64_t column = begin; column < end; column += kLanes) {
      const Words bits =
          reinterpret_cast<Words>(loadFirst(sums + column, end - column)) &
          0x7fffffffu;
      most = bits > most ? bits : most;
    }
  }
  uint32_t largest = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    largest = most[lane] > largest ? most[lane] : largest;
  auto magnitude = [](uint32_t half) {
    // Of a power of two above.
    const uint32_t bits = ((half >> 8) + 1) << 23;
    float value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
  };
  float sum;
  __builtin_memcpy(&sum, &largest, sizeof(sum));
  // Each part below 2^-126 counts as none, and so does each such product; that
  // shall be less than 2^-24 of the largest sum.
  const float lost = (magnitude(a) + magnitude(b) + 1) * 0x1p-124f;
  return sum >= lost * static_cast<float>(terms) * 0x1p24f;
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_SPLITPRODUCT_H
