// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.attention whose operands are rounded, where products of
// bfloat16 are faster than those of floats. See Vector.h for who may include
// it.
//
// Keys are packed as pairs of features, values as pairs of keys, as products
// read them; some rows at a time are multiplied with all keys of a block,
// weighed as those of floats are, rounded, and multiplied with the values.

#ifndef DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRS_H
#define DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRS_H

#include "AttentionTiles.h"
#include "PairRows.h"

namespace dlc::rt::cpu {
namespace {

/// What is packed of keys and values, and scores and weights of rows.
constexpr int64_t kPairAttentionBytes = 384 * 1024;
/// Rows at a time, at most.
constexpr int64_t kTallRows = 32;
constexpr int64_t kLinePairs = kLineTerms / 2;
/// What keys and columns of values are padded to.
constexpr int64_t kPairColumns = 32;
/// From one line of all queries to the next.
constexpr int64_t kQueryStep = kTallRows * kLineTerms;
/// Columns of values of which sums are kept.
constexpr int64_t kSumColumns = 64;
/// Rows of what is packed do not all lie in the same sets of a cache.
constexpr int64_t kRowGap = 16;

struct PairAttentionScratch {
  alignas(64) uint16_t queries[kTallRows * kMaxFeatures];
  alignas(64) float sums[kTallRows * kSumColumns];
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

/// `Product` multiplies for a tile of the grid: rowsAtOnce(), and multiply() of
/// rows of `a` by columns of pairs, which are a multiple of kPairColumns.
template <typename Source, typename Product>
class PairAttention
    : public AttentionTile<PairAttention<Source, Product>, Source> {
public:
  using Base = AttentionTile<PairAttention, Source>;
  using Base::plan, Base::q, Base::k, Base::v, Base::y;

  PairAttention(const AttentionPlan &plan, AttentionRows &state,
                PairAttentionScratch &scratch);

  void begin(Product &own) { product = &own; }

  int64_t rowsAtOnce() const { return product->rowsAtOnce(); }
  int64_t keyBlock() const { return mostKeys; }
  void packKeys(int64_t keyBegin, int64_t keyEnd);
  void runRows(int64_t row, int64_t count, int64_t keyBegin, int64_t keyEnd);

private:
  void packQueries(int64_t row, int64_t count);
  int64_t keyStride() const { return mostKeys + kRowGap; }
  int64_t valueStride() const { return columns + kRowGap; }
  int64_t weightStride() const { return mostKeys + 2 * kRowGap; }

  PairAttentionScratch &scratch;
  Product *product = nullptr;
  int64_t lines;     ///< Of 32 features.
  int64_t columns;   ///< Of values, padded.
  int64_t mostKeys;  ///< Of a block: a multiple of 32.
  uint32_t *keys;    ///< [lines][16][keyStride], pairs of features.
  uint32_t *values;  ///< [mostKeys/2][valueStride], pairs of keys.
  float *scores;     ///< [kTallRows][keyStride].
  uint16_t *weights; ///< [kTallRows][weightStride].
};

template <typename Source, typename Product>
inline PairAttention<Source, Product>::PairAttention(
    const AttentionPlan &plan, AttentionRows &state,
    PairAttentionScratch &scratch)
    : Base{plan, state}, scratch(scratch),
      lines((plan.features + kLineTerms - 1) / kLineTerms),
      columns(roundUp(plan.values, kPairColumns)) {
  constexpr int64_t word = sizeof(uint32_t), half = sizeof(uint16_t);
  const int64_t perKey = lines * kLinePairs * word + valueStride() * half +
                         kTallRows * (word + half);
  const int64_t gaps = kRowGap * word * (lines * kLinePairs + 2 * kTallRows);
  const int64_t most =
      (kPairAttentionBytes - gaps) / perKey / kLineTerms * kLineTerms;
  const int64_t blocks = (plan.keys + most - 1) / most;
  mostKeys = roundUp((plan.keys + blocks - 1) / blocks, kLineTerms);
  keys = reinterpret_cast<uint32_t *>(scratch.packed);
  values = keys + lines * kLinePairs * keyStride();
  scores = reinterpret_cast<float *>(values + mostKeys / 2 * valueStride());
  weights = reinterpret_cast<uint16_t *>(scores + kTallRows * keyStride());
}

template <typename Source, typename Product>
inline void PairAttention<Source, Product>::packKeys(int64_t keyBegin,
                                                     int64_t keyEnd) {
  const int64_t count = keyEnd - keyBegin;
  const int64_t padded = roundUp(count, kLineTerms);
  const Source *first = k + keyBegin * plan.k.columnStep;
  if (plan.k.rowStep == 1) {
    // Sixteen keys become lines, whose pairs are turned round.
    alignas(64) uint16_t turned[kChannelBlock * kMaxFeatures];
    const int64_t terms = lines * kLineTerms;
    for (int64_t key = 0; key < padded; key += kChannelBlock) {
      for (int64_t i = 0; i < kChannelBlock; ++i) {
        uint16_t *line = turned + i * terms;
        const int64_t there = key + i < count ? plan.features : 0;
        roundTerms(first + (key + i) * plan.k.columnStep, there, line);
        __builtin_memset(line + there, 0, (terms - there) * sizeof(*line));
      }
      packTransposed(reinterpret_cast<const float *>(turned),
                     lines * kLinePairs, lines * kLinePairs, kChannelBlock,
                     reinterpret_cast<float *>(keys + key), keyStride());
    }
  } else {
    for (int64_t pair = 0; pair < lines * kLinePairs; ++pair) {
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

template <typename Source, typename Product>
inline void PairAttention<Source, Product>::packQueries(int64_t row,
                                                        int64_t count) {
  const Source *from = q + row * plan.q.rowStep;
  for (int64_t i = 0; i < count; ++i, from += plan.q.rowStep)
    for (int64_t line = 0; line < lines; ++line) {
      uint16_t *to = scratch.queries + line * kQueryStep + i * kLineTerms;
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

template <typename Source, typename Product>
inline void PairAttention<Source, Product>::runRows(int64_t row, int64_t count,
                                                    int64_t keyBegin,
                                                    int64_t keyEnd) {
  const int64_t own = keyEnd - keyBegin;
  packQueries(row, count);
  product->multiply(count, {scratch.queries, kLineTerms, kQueryStep}, keys,
                    keyStride(), lines, roundUp(own, kPairColumns), scores,
                    keyStride());
  float factors[kTallRows];
  for (int64_t i = 0; i < count; ++i) {
    float *scored = scores + i * keyStride();
    uint16_t *weight = weights + i * weightStride();
    factors[i] = this->weighRow(row + i, keyBegin, own, scored);
    roundTerms(scored, own, weight);
    for (int64_t key = own; key % kLineTerms != 0; ++key)
      weight[key] = 0;
  }
  for (int64_t column = 0; column < plan.values; column += kSumColumns) {
    product->multiply(
        count, {weights, weightStride(), kLineTerms}, values + column,
        valueStride(), (own + kLineTerms - 1) / kLineTerms,
        least(columns - column, kSumColumns), scratch.sums, kSumColumns);
    for (int64_t i = 0; i < count; ++i) {
      const float *sums = scratch.sums + i * kSumColumns;
      float *target = y + (row + i) * plan.y.rowStep + column;
      const int64_t there = least(plan.values - column, kSumColumns);
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

template <typename Source, typename Product>
inline void runPairAttentionOf(const AttentionPlan &plan,
                               void *const *arguments, int64_t begin,
                               int64_t end) {
  PairAttentionScratch scratch;
  AttentionRows state;
  PairAttention<Source, Product> attention(plan, state, scratch);
  for (int64_t tile = begin; tile < end; ++tile) {
    Product product(plan, tile);
    attention.begin(product);
    runTileOf<Source>(plan, arguments, tile, attention);
  }
}

template <typename Product>
inline void runPairAttentionBy(const AttentionPlan &plan,
                               void *const *arguments, int64_t begin,
                               int64_t end) {
  (plan.isShort
       ? runPairAttentionOf<uint16_t, Product>
       : runPairAttentionOf<float, Product>)(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRS_H
