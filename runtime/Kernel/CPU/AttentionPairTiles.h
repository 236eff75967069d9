// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.attention whose operands are rounded, on tiles of bfloat16.
// See Vector.h for who may include it; that file includes the tiles before.
//
// Keys are packed as pairs of features, values as pairs of keys, as tiles read
// them; up to two tiles of rows at a time are multiplied with all keys of a
// block, weighed as those of floats are, rounded, and multiplied with the
// values.

#ifndef DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRTILES_H
#define DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRTILES_H

#include "AttentionTiles.h"
#include "PairTiles.h"

namespace dlc::rt::cpu {
namespace {

/// What is packed of keys and values, and scores and weights of rows.
constexpr int64_t kPairAttentionBytes = 384 * 1024;
/// Rows at a time.
constexpr int64_t kTallRows = 2 * kTile;
/// Rows of what is packed do not all lie in the same sets of a cache.
constexpr int64_t kRowGap = 16;

struct PairAttentionScratch {
  alignas(64) uint16_t queries[kTallRows * kMaxFeatures];
  alignas(64) float sums[kTallRows * kPanelColumns];
  alignas(64) char packed[kPairAttentionBytes];
};

/// `count` columns of two rows, which lie `step` apart, as pairs, and zeros up
/// to `width`; without `odd` it is zeros.
template <typename Source>
inline void packPairRows(const Source *even, const Source *odd, int64_t step,
                         int64_t count, uint32_t *target, int64_t width) {
  for (int64_t j = 0; j < width; j += kLanes) {
    const int64_t there = least<int64_t>(count - j, kLanes);
    auto rowOf = [&](const Source *row) __attribute__((always_inline)) {
      if (!row || there <= 0)
        return Vec{};
      if (step == 1)
        return loadElements(row + j, there);
      Vec values = {};
      for (int64_t lane = 0; lane < there; ++lane)
        values[lane] = valueAt(row + (j + lane) * step);
      return values;
    };
    store(reinterpret_cast<float *>(target + j),
          reinterpret_cast<Vec>(roundedOf(rowOf(even)) >> 16 |
                                roundedOf(rowOf(odd))));
  }
}

/// By products on tiles.
template <typename Source>
class PairAttention : public AttentionTile<PairAttention<Source>, Source> {
public:
  using Base = AttentionTile<PairAttention, Source>;
  using Base::plan, Base::q, Base::k, Base::v, Base::y;

  PairAttention(const AttentionPlan &plan, AttentionRows &state,
                PairAttentionScratch &scratch);

  /// Rows of a tile register, of which `tiles` has that many.
  void begin(Tiles &newTiles, int64_t rows) {
    tiles = &newTiles;
    tileRows = rows;
  }

  int64_t rowsAtOnce() const { return 2 * tileRows; }
  int64_t keyBlock() const { return mostKeys; }
  void packKeys(int64_t keyBegin, int64_t keyEnd);
  void runRows(int64_t row, int64_t count, int64_t keyBegin, int64_t keyEnd);

private:
  void packQueries(int64_t row, int64_t count);
  template <int tall> void score(int64_t keys);
  template <int tall> void sumValues(int64_t column, int64_t keys);
  /// Of the terms a line of `a` at a time; gives the sums of 32 columns.
  template <int tall>
  void multiply(const uint16_t *a, int64_t aStep, int64_t aStride,
                const uint32_t *b, int64_t bStride, int64_t lines, float *sums,
                int64_t sumStride);

  int64_t keyStride() const { return mostKeys + kRowGap; }
  int64_t valueStride() const { return columns + kRowGap; }
  int64_t weightStride() const { return mostKeys + 2 * kRowGap; }

  PairAttentionScratch &scratch;
  Tiles *tiles = nullptr;
  int64_t tileRows = 0;
  int64_t lines;     ///< Of 32 features.
  int64_t columns;   ///< Of values, padded.
  int64_t mostKeys;  ///< Of a block: a multiple of 32.
  uint32_t *keys;    ///< [lines][16][keyStride], pairs of features.
  uint32_t *values;  ///< [mostKeys/2][valueStride], pairs of keys.
  float *scores;     ///< [kTallRows][keyStride].
  uint16_t *weights; ///< [kTallRows][weightStride].
};

template <typename Source>
inline PairAttention<Source>::PairAttention(const AttentionPlan &plan,
                                            AttentionRows &state,
                                            PairAttentionScratch &scratch)
    : Base{plan, state}, scratch(scratch),
      lines((plan.features + kLineTerms - 1) / kLineTerms),
      columns(roundUp(plan.values, kPanelColumns)) {
  constexpr int64_t word = sizeof(uint32_t), half = sizeof(uint16_t);
  const int64_t perKey = lines * kTilePairs * word + valueStride() * half +
                         kTallRows * (word + half);
  const int64_t gaps = kRowGap * word * (lines * kTilePairs + 2 * kTallRows);
  const int64_t most =
      (kPairAttentionBytes - gaps) / perKey / kLineTerms * kLineTerms;
  const int64_t blocks = (plan.keys + most - 1) / most;
  mostKeys = roundUp((plan.keys + blocks - 1) / blocks, kLineTerms);
  keys = reinterpret_cast<uint32_t *>(scratch.packed);
  values = keys + lines * kTilePairs * keyStride();
  scores = reinterpret_cast<float *>(values + mostKeys / 2 * valueStride());
  weights = reinterpret_cast<uint16_t *>(scores + kTallRows * keyStride());
}

template <typename Source>
inline void PairAttention<Source>::packKeys(int64_t keyBegin, int64_t keyEnd) {
  const int64_t count = keyEnd - keyBegin;
  const int64_t padded = roundUp(count, kLineTerms);
  const Source *first = k + keyBegin * plan.k.columnStep;
  if (plan.k.rowStep == 1) {
    // Sixteen keys become lines, whose pairs are turned round.
    alignas(64) uint16_t turned[kTile * kMaxFeatures];
    const int64_t terms = lines * kLineTerms;
    for (int64_t key = 0; key < padded; key += kTile) {
      for (int64_t i = 0; i < kTile; ++i) {
        uint16_t *line = turned + i * terms;
        const int64_t there = key + i < count ? plan.features : 0;
        roundTerms(first + (key + i) * plan.k.columnStep, there, line);
        __builtin_memset(line + there, 0, (terms - there) * sizeof(*line));
      }
      packTransposed(reinterpret_cast<const float *>(turned),
                     lines * kTilePairs, lines * kTilePairs, kTile,
                     reinterpret_cast<float *>(keys + key), keyStride());
    }
  } else {
    for (int64_t pair = 0; pair < lines * kTilePairs; ++pair) {
      const Source *row = first + 2 * pair * plan.k.rowStep;
      packPairRows(2 * pair < plan.features ? row : nullptr,
                   2 * pair + 1 < plan.features ? row + plan.k.rowStep
                                                : nullptr,
                   plan.k.columnStep, count, keys + pair * keyStride(), padded);
    }
  }
  for (int64_t key = 0; key < padded; key += 2) {
    const Source *row = v + (keyBegin + key) * plan.v.rowStep;
    packPairRows(key < count ? row : nullptr,
                 key + 1 < count ? row + plan.v.rowStep : nullptr,
                 plan.v.columnStep, plan.values,
                 values + key / 2 * valueStride(), columns);
  }
}

template <typename Source>
inline void PairAttention<Source>::packQueries(int64_t row, int64_t count) {
  constexpr int64_t step = kTallRows * kLineTerms;
  const Source *from = q + row * plan.q.rowStep;
  for (int64_t i = 0; i < count; ++i, from += plan.q.rowStep)
    for (int64_t line = 0; line < lines; ++line) {
      uint16_t *to = scratch.queries + line * step + i * kLineTerms;
      const int64_t first = line * kLineTerms;
      const int64_t there = least(plan.features - first, kLineTerms);
      if (plan.q.columnStep == 1) {
        roundTerms(from + first, there, to);
      } else {
        alignas(64) float terms[kLineTerms];
        for (int64_t l = 0; l < there; ++l)
          terms[l] = valueAt(from + (first + l) * plan.q.columnStep);
        roundTerms(terms, there, to);
      }
      for (int64_t l = there; l < kLineTerms; ++l)
        to[l] = 0;
    }
}

template <typename Source>
template <int tall>
inline void PairAttention<Source>::multiply(const uint16_t *a, int64_t aStep,
                                            int64_t aStride, const uint32_t *b,
                                            int64_t bStride, int64_t lineCount,
                                            float *sums, int64_t sumStride) {
  const int64_t aBytes = aStride * int64_t{sizeof(uint16_t)};
  const int64_t bBytes = bStride * int64_t{sizeof(uint32_t)};
  const int64_t sumBytes = sumStride * int64_t{sizeof(float)};
  tiles->template zero<0>();
  tiles->template zero<1>();
  if constexpr (tall == 2) {
    tiles->template zero<2>();
    tiles->template zero<3>();
  }
  for (int64_t line = 0; line < lineCount; ++line) {
    tiles->template load<4>(a, aBytes);
    tiles->template load<6>(b, bBytes);
    tiles->template multiply<0, 0>();
    tiles->template load<7>(b + kTile, bBytes);
    tiles->template multiply<0, 1>();
    if constexpr (tall == 2) {
      tiles->template load<5>(a + tileRows * aStride, aBytes);
      tiles->template multiply<1, 0>();
      tiles->template multiply<1, 1>();
    }
    a += aStep;
    b += kTilePairs * bStride;
  }
  tiles->template store<0>(sums, sumBytes);
  tiles->template store<1>(sums + kTile, sumBytes);
  if constexpr (tall == 2) {
    tiles->template store<2>(sums + tileRows * sumStride, sumBytes);
    tiles->template store<3>(sums + tileRows * sumStride + kTile, sumBytes);
  }
}

template <typename Source>
template <int tall>
inline void PairAttention<Source>::score(int64_t count) {
  for (int64_t key = 0; key < count; key += kPanelColumns)
    multiply<tall>(scratch.queries, kTallRows * kLineTerms, kLineTerms,
                   keys + key, keyStride(), lines, scores + key, keyStride());
}

template <typename Source>
template <int tall>
inline void PairAttention<Source>::sumValues(int64_t column, int64_t count) {
  multiply<tall>(weights, kLineTerms, weightStride(), values + column,
                 valueStride(), (count + kLineTerms - 1) / kLineTerms,
                 scratch.sums, kPanelColumns);
}

template <typename Source>
inline void PairAttention<Source>::runRows(int64_t row, int64_t count,
                                           int64_t keyBegin, int64_t keyEnd) {
  const int64_t own = keyEnd - keyBegin;
  const bool isTall = count > tileRows;
  packQueries(row, count);
  isTall ? score<2>(own) : score<1>(own);
  float factors[kTallRows];
  for (int64_t i = 0; i < count; ++i) {
    float *scored = scores + i * keyStride();
    uint16_t *weight = weights + i * weightStride();
    factors[i] = this->weighRow(row + i, keyBegin, own, scored);
    roundTerms(scored, own, weight);
    for (int64_t key = own; key % kLineTerms != 0; ++key)
      weight[key] = 0;
  }
  for (int64_t column = 0; column < plan.values; column += kPanelColumns) {
    isTall ? sumValues<2>(column, own) : sumValues<1>(column, own);
    for (int64_t i = 0; i < count; ++i) {
      const float *sums = scratch.sums + i * kPanelColumns;
      float *target = y + (row + i) * plan.y.rowStep + column;
      const int64_t there = least(plan.values - column, kPanelColumns);
      const Vec factor = splat(factors[i]);
      for (int64_t p = 0; p < there; p += kLanes) {
        Vec sum = load(sums + p);
        if (keyBegin > 0)
          sum += loadFirst(target + p, there - p) * factor;
        storeFirst(target + p, sum, there - p);
      }
    }
  }
}

template <typename Source>
inline void runPairAttentionOf(const AttentionPlan &plan,
                               void *const *arguments, int64_t begin,
                               int64_t end) {
  PairAttentionScratch scratch;
  AttentionRows state;
  PairAttention<Source> attention(plan, state, scratch);
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t first = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t rows = least(plan.rowBlock, plan.rows - first);
    const int64_t count = (rows + kTile - 1) / kTile;
    const int64_t tileRows = (rows + count - 1) / count;
    Tiles tiles(static_cast<int>(tileRows));
    attention.begin(tiles, tileRows);
    runTileOf<Source>(plan, arguments, tile, attention);
  }
}

inline void runPairAttention(const AttentionPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  (plan.isShort ? runPairAttentionOf<uint16_t>
                : runPairAttentionOf<float>)(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRTILES_H
