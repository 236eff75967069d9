// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.attention. See Vector.h for who may include it.
//
// A tile is some rows of one matrix. It takes the keys block by block: their
// panels are packed into the stack, and six rows at a time are multiplied with
// them, become weights, and are multiplied with the values. Rows keep the
// greatest of their scores and the sum of their weights from block to block
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018;
// Dao et al., "FlashAttention", 2022). Other than there, what is summed so far
// is divided by its weights already: nothing overflows that would not when
// weights are computed first.

#ifndef DLC_RUNTIME_KERNEL_CPU_ATTENTIONTILES_H
#define DLC_RUNTIME_KERNEL_CPU_ATTENTIONTILES_H

#include "AttentionSet.h"
#include "Folds.h"
#include "MicroKernel.h"
#include "PairRows.h"
#include "Transpose.h"

namespace dlc::rt::cpu {
namespace {

constexpr float kInfinity = __builtin_inff();

/// Offset of matrix `index`.
inline int64_t offsetOf(const MatrixView &view, int64_t index) {
  int64_t offset = 0;
  for (int d = view.rank - 1; d >= 0; --d) {
    offset += index % view.dims[d] * view.steps[d];
    index /= view.dims[d];
  }
  return offset;
}

inline int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

[[gnu::always_inline]] inline float valueAt(const float *source) {
  return *source;
}
[[gnu::always_inline]] inline float valueAt(const uint16_t *source) {
  const uint32_t bits = uint32_t{*source} << 16;
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

/// As that of floats, four columns at a time through a copy of them.
inline void packTransposed(const uint16_t *source, int64_t stride,
                           int64_t terms, int64_t columns, float *target,
                           int64_t width) {
  alignas(64) float copy[4 * kMaxFeatures];
  for (int64_t j = 0; j < columns; j += 4) {
    const int64_t count = least<int64_t>(columns - j, 4);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t l = 0; l < terms; l += kLanes)
        storeFirst(copy + i * kMaxFeatures + l,
                   loadElements(source + (j + i) * stride + l, terms - l),
                   terms - l);
    packTransposed(copy, kMaxFeatures, terms, count, target + j, width);
  }
}

/// Element (l, j) of a panel's rows lies at source[l * rowStep + j *
/// columnStep]; columns up to `width` are zero.
template <typename Source>
inline void packPanel(const Source *source, int64_t rowStep, int64_t columnStep,
                      int64_t rows, int64_t columns, float *target,
                      int64_t width) {
  if (columnStep == 1) {
    for (int64_t l = 0; l < rows; ++l, source += rowStep, target += width) {
      int64_t j = 0;
      for (; j < columns; j += kLanes)
        store(target + j, loadElements(source + j, columns - j));
      for (; j < width; j += kLanes)
        store(target + j, Vec{});
    }
    return;
  }
  if (columns < width)
    for (int64_t l = 0; l < rows; ++l)
      for (int64_t j = columns / kLanes * kLanes; j < width; j += kLanes)
        store(target + l * width + j, Vec{});
  if (rowStep == 1)
    return packTransposed(source, columnStep, rows, columns, target, width);
  for (int64_t l = 0; l < rows; ++l)
    for (int64_t j = 0; j < columns; ++j)
      target[l * width + j] = valueAt(source + l * rowStep + j * columnStep);
}

/// `count` booleans as numbers, the others 0.
inline IntVec loadBooleans(const uint8_t *source, int64_t count) {
  typedef uint8_t Bytes __attribute__((vector_size(kLanes)));
  Bytes bytes = {};
  __builtin_memcpy(&bytes, source, least<int64_t>(count, kLanes));
  return __builtin_convertvector(bytes, IntVec);
}

inline float greatestOf(Vec x) {
  return foldLanes(x, [](Quad a, Quad b) __attribute__((always_inline)) {
    return a > b ? a : b;
  });
}

inline float sumOf(Vec x) { return foldLanes<SumFold>(x); }

/// Rows that turning keys round costs more than summing lanes for each of them.
constexpr int64_t kRowsOfLanes = 4;
static_assert(kRowsOfLanes <= 2 * kMaxRows, "queries are scaled");

/// How many keys and columns are packed together, so that all fits in the
/// scratch memory: queries, scores, panels of keys and of values.
struct AttentionBlocks {
  explicit AttentionBlocks(const AttentionPlan &plan);
  /// Few rows do not pay for packing: what is dense is read where it is, and
  /// queries are scaled instead of keys.
  bool hasFewRows;
  /// Nor for turning round keys whose elements lie next to each other: they are
  /// multiplied lane by lane, and lanes are summed.
  bool sumsLanes;
  int64_t vectors;      ///< Of keys in a panel.
  int64_t keyBlock;     ///< A multiple of them.
  int64_t valueVectors; ///< Of values in a panel.
  int64_t valueColumns; ///< All of them, padded.
};

inline AttentionBlocks::AttentionBlocks(const AttentionPlan &plan)
    : hasFewRows(plan.rows <= 2 * kMaxRows && !plan.isRounded),
      sumsLanes(hasFewRows && plan.rows <= kRowsOfLanes && plan.k.rowStep == 1),
      vectors(plan.rows < 4 ? kVectorsOf[plan.rows] : kMatmulVectors),
      valueVectors(least(vectors, roundUp(plan.values, kLanes) / kLanes)),
      valueColumns(roundUp(plan.values, valueVectors * kLanes)) {
  constexpr int64_t whole = kAttentionScratchBytes / sizeof(float);
  const int64_t perKey = kMaxRows + plan.features + valueColumns;
  const int64_t most = (whole - kMaxRows * plan.features) / perKey;
  while (vectors > 1 && vectors * kLanes > most)
    vectors /= 2;
  while (vectors > 1 && vectors / 2 * kLanes >= plan.keys)
    vectors /= 2;
  const int64_t width = vectors * kLanes;
  const int64_t blocks =
      (plan.keys + most / width * width - 1) / (most / width * width);
  keyBlock = roundUp((plan.keys + blocks - 1) / blocks, width);
}

/// What is known of the rows of a tile so far.
struct AttentionRows {
  bool hides = false; ///< Keys that a row does not see are left out.
  float greatest[kMaxAttentionRows], sums[kMaxAttentionRows];
};

/// Some rows of a matrix, whose scores `Own` computes, for some keys at a time,
/// and multiplies with the values: rowsAtOnce(), keyBlock(), packKeys() and
/// runRows().
template <typename Own, typename Source> struct AttentionTile {
  const AttentionPlan &plan;
  AttentionRows &state;
  /// Of this matrix.
  const Source *q = nullptr, *k = nullptr, *v = nullptr;
  const char *masks[kMaxMasks] = {};
  float *y = nullptr;
  int64_t rowBegin = 0, rowEnd = 0;

  void run();

protected:
  /// Makes weights of the scores of a row, such that those of all blocks so far
  /// sum to one; gives what weights of earlier blocks are to be multiplied
  /// with. While every score is minus infinity weights are zero.
  float weighRow(int64_t row, int64_t keyBegin, int64_t keys, float *scores);

private:
  Own &own() { return *static_cast<Own *>(this); }
  void runBlocks();
  bool isHiddenInVain() const;
  int64_t visibleKeys(int64_t lastRow) const;
  bool mayHideKeys() const;
  float maskRow(int64_t row, int64_t keyBegin, int64_t keys, float *scores);
  template <bool hasMask>
  float scaleRow(const float *mask, int64_t keys, float *scores);
  void applyMask(int mask, int64_t row, int64_t keyBegin, int64_t keys,
                 float *scores);
};

/// By sums of floats.
template <typename Source>
struct FloatAttention : AttentionTile<FloatAttention<Source>, Source> {
  using Base = AttentionTile<FloatAttention, Source>;
  using Base::plan, Base::q, Base::k, Base::v, Base::y;

  const AttentionBlocks &blocks;
  float *scratch;

  int64_t rowsAtOnce() const { return kMaxRows; }
  int64_t keyBlock() const { return blocks.keyBlock; }
  void packKeys(int64_t keyBegin, int64_t keyEnd);
  void runRows(int64_t row, int64_t count, int64_t keyBegin, int64_t keyEnd);

private:
  const float *queriesOf(int64_t row, int64_t count, int64_t &stride);
  void score(int64_t row, int64_t count, int64_t keyBegin, int64_t keys);
  void scoreByLanes(int64_t count, int64_t keyBegin, int64_t keys);
  /// Whether the panel that begins there is read where it is in memory.
  bool readsKeys(int64_t key) const {
    return blocks.sumsLanes || (blocks.hasFewRows && plan.k.columnStep == 1 &&
                                key + blocks.vectors * kLanes <= plan.keys);
  }
  bool readsValues(int64_t column) const {
    return blocks.hasFewRows && plan.v.columnStep == 1 &&
           column + blocks.valueVectors * kLanes <= plan.values;
  }
  /// In place, where operands are.
  void round(float *values, int64_t count) const {
    if (plan.isRounded)
      roundTerms(values, count, values);
  }

  /// Of keys whose numbers are a multiple of the block.
  int64_t scoreStride() const { return blocks.keyBlock; }
  float *queries() const { return scratch; }
  float *scores() const { return queries() + kMaxRows * plan.features; }
  float *keyPanels() const { return scores() + kMaxRows * scoreStride(); }
  float *valuePanels() const {
    return keyPanels() + plan.features * blocks.keyBlock;
  }
};

/// Keys up to the last one that a row sees, causally.
template <typename Own, typename Source>
inline int64_t AttentionTile<Own, Source>::visibleKeys(int64_t row) const {
  return state.hides
             ? least(most<int64_t>(row + plan.causalOffset + 1, 0), plan.keys)
             : plan.keys;
}

/// Whether keys that are hidden from some rows can be left out there: their
/// weights are zero, and so are these times any values that are finite.
template <typename Own, typename Source>
inline bool AttentionTile<Own, Source>::mayHideKeys() const {
  if (plan.maskCount == 0 || plan.forms[plan.maskCount - 1] != MaskForm::Causal)
    return false;
  Vec sum = {};
  float rest = 0;
  for (int64_t key = most<int64_t>(rowBegin + plan.causalOffset + 1, 0);
       key < plan.keys; ++key) {
    const Source *row = v + key * plan.v.rowStep;
    int64_t p = 0;
    if (plan.v.columnStep == 1)
      for (; p + kLanes <= plan.values; p += kLanes)
        sum += loadElements(row + p, kLanes) * 0.0f;
    for (; p < plan.values; ++p)
      rest += valueAt(row + p * plan.v.columnStep) * 0.0f;
  }
  return rest + sumOf(sum) == 0.0f;
}

/// Packs a block of keys and values. Keys are scaled instead of queries, which
/// then are read in place, unless there are few of these.
template <typename Source>
inline void FloatAttention<Source>::packKeys(int64_t keyBegin, int64_t keyEnd) {
  const int64_t width = blocks.vectors * kLanes;
  const MatrixView &keys = plan.k, &values = plan.v;
  const Vec scale = splat(plan.queryScale);
  for (int64_t key = keyBegin; key < keyEnd; key += width) {
    float *panel = keyPanels() + (key - keyBegin) * plan.features;
    if (readsKeys(key))
      continue;
    packPanel(k + key * keys.columnStep, keys.rowStep, keys.columnStep,
              plan.features, least(width, keyEnd - key), panel, width);
    round(panel, plan.features * width);
    if (plan.queryScale != 1.0f && !blocks.hasFewRows)
      for (int64_t i = 0; i < plan.features * width; i += kLanes)
        store(panel + i, load(panel + i) * scale);
  }
  const int64_t columns = blocks.valueVectors * kLanes;
  for (int64_t p = 0; p < plan.values; p += columns) {
    if (readsValues(p))
      continue;
    float *panel = valuePanels() + p * blocks.keyBlock;
    packPanel(v + keyBegin * values.rowStep + p * values.columnStep,
              values.rowStep, values.columnStep, keyEnd - keyBegin,
              least(columns, plan.values - p), panel, columns);
    round(panel, (keyEnd - keyBegin) * columns);
  }
}

/// As score(), four keys at a time, of `count` queries that are copied already.
template <typename Source>
inline void FloatAttention<Source>::scoreByLanes(int64_t count,
                                                 int64_t keyBegin,
                                                 int64_t keys) {
  const int64_t features = plan.features;
  const int64_t whole = features / kLanes * kLanes;
  for (int64_t key = 0; key < keys; key += 4) {
    // Behind the last key it is that one again.
    const Source *from[4];
    DLC_UNROLL for (int64_t j = 0; j < 4; ++j) from[j] =
        k + (keyBegin + least(key + j, keys - 1)) * plan.k.columnStep;
    const float *query = queries();
    for (int64_t i = 0; i < count; ++i, query += features) {
      Vec sums[4] = {};
      for (int64_t l = 0; l < whole; l += kLanes) {
        const Vec terms = load(query + l);
        DLC_UNROLL for (int j = 0; j < 4; ++j) sums[j] +=
            terms * loadElements(from[j] + l, kLanes);
      }
      if (whole < features) {
        const Vec terms = loadFirst(query + whole, features - whole);
        DLC_UNROLL for (int j = 0; j < 4; ++j) sums[j] +=
            terms * loadElements(from[j] + whole, features - whole);
      }
      *reinterpret_cast<UnalignedQuad *>(scores() + i * scoreStride() + key) =
          sumLanes(sums);
    }
  }
}

/// Some queries, where they are or copied.
template <typename Source>
inline const float *
FloatAttention<Source>::queriesOf(int64_t row, int64_t count, int64_t &stride) {
  const MatrixView &view = plan.q;
  const Source *from = q + row * view.rowStep;
  if constexpr (sizeof(Source) == sizeof(float))
    if (view.columnStep == 1 && !blocks.hasFewRows && !plan.isRounded) {
      stride = view.rowStep;
      return from;
    }
  const float factor = blocks.hasFewRows ? plan.queryScale : 1.0f;
  float *copy = queries();
  for (int64_t i = 0; i < count; ++i, from += view.rowStep)
    for (int64_t l = 0; l < plan.features; ++l)
      *copy++ = valueAt(from + l * view.columnStep) * factor;
  round(queries(), count * plan.features);
  stride = plan.features;
  return queries();
}

/// Products of some rows with the keys of the block.
template <typename Source>
inline void FloatAttention<Source>::score(int64_t row, int64_t count,
                                          int64_t keyBegin, int64_t keys) {
  TileArguments t = {};
  t.a = queriesOf(row, count, t.aStride);
  if (blocks.sumsLanes)
    return scoreByLanes(count, keyBegin, keys);
  const int64_t width = blocks.vectors * kLanes;
  // Few rows in front of keys that lie far apart: stay within few pages.
  constexpr int64_t fewTerms = 8;
  const bool isFar =
      count < kMaxRows && blocks.hasFewRows && plan.k.columnStep == 1;
  const int64_t terms = isFar ? fewTerms : plan.features;
  const float *rows = t.a;
  t.cStride = scoreStride();
  for (int64_t l = 0; l < plan.features; l += terms) {
    t.a = rows + l;
    t.k = least(terms, plan.features - l);
    t.accumulate = l > 0;
    for (int64_t key = 0; key < keys; key += width) {
      t.bStride = width;
      t.b = keyPanels() + key * plan.features;
      if constexpr (sizeof(Source) == sizeof(float))
        if (readsKeys(keyBegin + key)) {
          t.bStride = plan.k.rowStep;
          t.b = k + keyBegin + key;
        }
      t.b += l * t.bStride;
      t.c = scores() + key;
      const int64_t vectors =
          least(blocks.vectors, (keys - key + kLanes - 1) / kLanes);
      microKernelOf<AForm::Rows, false>(count, vectors)(t);
    }
  }
}

/// Scales the scores of a row and adds the mask, if there is one; gives the
/// greatest. Behind the last key is minus infinity.
template <typename Own, typename Source>
template <bool hasMask>
inline float AttentionTile<Own, Source>::scaleRow(const float *mask,
                                                  int64_t keys, float *scores) {
  Vec most = splat(-kInfinity);
  const Vec scale = splat(plan.scale);
  int64_t j = 0;
  for (; j + kLanes <= keys; j += kLanes) {
    Vec x = load(scores + j) * scale;
    if constexpr (hasMask)
      x += load(mask + j);
    store(scores + j, x);
    most = maxOf(x, most);
  }
  if (j < keys) {
    Vec x = load(scores + j) * scale;
    if constexpr (hasMask)
      x += loadFirst(mask + j, keys - j);
    store(scores + j, x);
    for (int64_t lane = keys - j; lane < kLanes; ++lane)
      scores[j + lane] = -kInfinity;
    most = maxOf(load(scores + j), most);
  }
  return greatestOf(most);
}

template <typename Own, typename Source>
inline void AttentionTile<Own, Source>::applyMask(int mask, int64_t row,
                                                  int64_t keyBegin,
                                                  int64_t keys, float *scores) {
  const MaskForm form = plan.forms[mask];
  if (form == MaskForm::Causal) {
    int64_t j = most<int64_t>(row + plan.causalOffset + 1 - keyBegin, 0);
    for (; j < keys; ++j)
      scores[j] = plan.fill;
    return;
  }
  const MatrixView &view = plan.masks[mask];
  const int64_t offset = row * view.rowStep + keyBegin * view.columnStep;
  const bool isOne = view.columnStep == 0;
  if (form == MaskForm::Add) {
    const float *added = reinterpret_cast<const float *>(masks[mask]) + offset;
    for (int64_t j = 0; j < keys; j += kLanes)
      store(scores + j,
            load(scores + j) +
                (isOne ? splat(*added) : loadFirst(added + j, keys - j)));
    return;
  }
  const auto *kept = reinterpret_cast<const uint8_t *>(masks[mask]) + offset;
  const IntVec all = IntVec{} + static_cast<int32_t>(*kept);
  const bool keeps = form == MaskForm::Keep;
  const Vec fill = splat(plan.fill);
  for (int64_t j = 0; j < keys; j += kLanes) {
    const IntVec condition = isOne ? all : loadBooleans(kept + j, keys - j);
    const Vec x = load(scores + j);
    store(scores + j,
          (condition != 0) ? (keeps ? x : fill) : (keeps ? fill : x));
  }
}

/// The scores of a row, scaled and masked; gives the greatest.
template <typename Own, typename Source>
inline float AttentionTile<Own, Source>::maskRow(int64_t row, int64_t keyBegin,
                                                 int64_t keys, float *scores) {
  if (plan.maskCount == 0)
    return scaleRow<false>(nullptr, keys, scores);
  const MatrixView &first = plan.masks[0];
  if (plan.maskCount == 1 && plan.forms[0] == MaskForm::Add &&
      first.columnStep == 1)
    return scaleRow<true>(reinterpret_cast<const float *>(masks[0]) +
                              row * first.rowStep + keyBegin,
                          keys, scores);
  const Vec scale = splat(plan.scale);
  for (int64_t j = 0; j < keys; j += kLanes)
    store(scores + j, load(scores + j) * scale);
  for (int mask = 0; mask < plan.maskCount; ++mask)
    applyMask(mask, row, keyBegin, keys, scores);
  Vec most = splat(-kInfinity);
  for (int64_t j = keys; j % kLanes != 0; ++j)
    scores[j] = -kInfinity;
  for (int64_t j = 0; j < keys; j += kLanes)
    most = maxOf(load(scores + j), most);
  return greatestOf(most);
}

template <typename Own, typename Source>
inline float AttentionTile<Own, Source>::weighRow(int64_t row, int64_t keyBegin,
                                                  int64_t keys, float *scores) {
  const float here = maskRow(row, keyBegin, keys, scores);
  float &most = state.greatest[row - rowBegin];
  float &sum = state.sums[row - rowBegin];
  const float before = most;
  most = here > before ? here : before;
  const Vec base = splat(most == -kInfinity ? 0.0f : most);
  Vec sumHere = {};
  for (int64_t j = 0; j < keys; j += kLanes) {
    const Vec weight = weightOf(load(scores + j) - base);
    store(scores + j, weight);
    sumHere += weight;
  }
  const float earlier =
      keyBegin > 0 ? sum * weightOf(splat(before) - base)[0] : 0.0f;
  sum = earlier + sumOf(sumHere);
  const float one = sum == 0.0f ? 0.0f : 1.0f / sum;
  const Vec factor = splat(one);
  for (int64_t j = 0; j < keys; j += kLanes)
    store(scores + j, load(scores + j) * factor);
  return earlier * one;
}

/// Adds what the keys of a block give to some rows of y.
template <typename Source>
inline void FloatAttention<Source>::runRows(int64_t row, int64_t count,
                                            int64_t keyBegin, int64_t keyEnd) {
  const int64_t keys = keyEnd - keyBegin;
  const int64_t values = plan.values;
  score(row, count, keyBegin, keys);
  for (int64_t i = 0; i < count; ++i) {
    float *weights = scores() + i * scoreStride();
    const float factor = this->weighRow(row + i, keyBegin, keys, weights);
    round(weights, keys);
    float *target = y + (row + i) * plan.y.rowStep;
    if (keyBegin > 0)
      for (int64_t p = 0; p < values; p += kLanes)
        storeFirst(target + p, loadFirst(target + p, values - p) * factor,
                   values - p);
  }
  const int64_t width = blocks.valueVectors * kLanes;
  TileArguments t = {};
  t.a = scores();
  t.aStride = scoreStride();
  t.k = keys;
  t.cStride = plan.y.rowStep;
  t.accumulate = keyBegin > 0;
  for (int64_t p = 0; p < values; p += width) {
    t.b = valuePanels() + p * blocks.keyBlock;
    t.bStride = width;
    if constexpr (sizeof(Source) == sizeof(float))
      if (readsValues(p)) {
        t.b = v + keyBegin * plan.v.rowStep + p;
        t.bStride = plan.v.rowStep;
      }
    t.c = y + row * plan.y.rowStep + p;
    const int64_t valid = least(width, values - p);
    const int64_t vectors = (valid + kLanes - 1) / kLanes;
    runTile(microKernelOf<AForm::Rows, false>(count, vectors), t, count, valid,
            vectors);
  }
}

/// Whether a row has weights for hidden keys: what their scores become is not
/// so far below its greatest that they are zero.
template <typename Own, typename Source>
inline bool AttentionTile<Own, Source>::isHiddenInVain() const {
  if (!state.hides || plan.fill == -kInfinity)
    return false;
  constexpr float far = 1 - kLeastExponent;
  for (int64_t i = 0; i < rowEnd - rowBegin; ++i)
    if (!(state.greatest[i] - far > plan.fill))
      return true;
  return false;
}

template <typename Own, typename Source>
inline void AttentionTile<Own, Source>::run() {
  state.hides = mayHideKeys();
  runBlocks();
  if (isHiddenInVain()) {
    state.hides = false;
    runBlocks();
  }
}

template <typename Own, typename Source>
inline void AttentionTile<Own, Source>::runBlocks() {
  for (int64_t i = 0; i < rowEnd - rowBegin; ++i) {
    state.greatest[i] = -kInfinity;
    state.sums[i] = 0;
  }
  // Rows are dealt out evenly, as those of a product are.
  const int64_t rows = rowEnd - rowBegin;
  const int64_t most = own().rowsAtOnce(), calls = (rows + most - 1) / most;
  // The first block is never left out: it begins y.
  const int64_t keys = cpu::most<int64_t>(visibleKeys(rowEnd - 1), 1);
  const int64_t keyBlock = own().keyBlock();
  for (int64_t key = 0; key < keys; key += keyBlock) {
    const int64_t keyEnd = least(key + keyBlock, keys);
    own().packKeys(key, keyEnd);
    int64_t row = rowBegin;
    for (int64_t call = 0; call < calls; ++call) {
      const int64_t count = rows / calls + (call < rows % calls);
      const int64_t end =
          least(keyEnd, cpu::most(visibleKeys(row + count - 1), int64_t{1}));
      if (end > key)
        own().runRows(row, count, key, end);
      row += count;
    }
  }
  for (int64_t i = 0; i < rows; ++i)
    if (state.sums[i] == 0.0f)
      for (int64_t p = 0; p < plan.values; ++p)
        y[(rowBegin + i) * plan.y.rowStep + p] = __builtin_nanf("");
}

/// The rows of a tile, of `Source`, of a class that begins with a tile.
template <typename Source, typename Attention>
inline void runTileOf(const AttentionPlan &plan, void *const *arguments,
                      int64_t tile, Attention &attention) {
  const int64_t matrix = tile / plan.rowBlocks;
  auto operand = [&](int i, const MatrixView &view, int64_t index) {
    return static_cast<const Source *>(arguments[i]) + offsetOf(view, index);
  };
  attention.q = operand(0, plan.q, matrix);
  attention.k = operand(1, plan.k, matrix / plan.shared);
  attention.v = operand(2, plan.v, matrix / plan.shared);
  attention.rowBegin = tile % plan.rowBlocks * plan.rowBlock;
  attention.rowEnd = least(attention.rowBegin + plan.rowBlock, plan.rows);
  int argument = 3;
  for (int mask = 0; mask < plan.maskCount; ++mask) {
    if (plan.forms[mask] == MaskForm::Causal)
      continue;
    const int64_t size = plan.forms[mask] == MaskForm::Add ? sizeof(float) : 1;
    attention.masks[mask] = static_cast<const char *>(arguments[argument++]) +
                            offsetOf(plan.masks[mask], matrix) * size;
  }
  attention.y =
      static_cast<float *>(arguments[argument]) + offsetOf(plan.y, matrix);
  attention.run();
}

template <typename Source>
inline void runAttentionOf(const AttentionPlan &plan, void *const *arguments,
                           int64_t begin, int64_t end) {
  alignas(64) float scratch[kAttentionScratchBytes / sizeof(float)];
  const AttentionBlocks blocks(plan);
  AttentionRows state;
  FloatAttention<Source> attention = {{plan, state}, blocks, scratch};
  for (int64_t tile = begin; tile < end; ++tile)
    runTileOf<Source>(plan, arguments, tile, attention);
}

inline void runAttention(const AttentionPlan &plan, void *const *arguments,
                         int64_t begin, int64_t end) {
  (plan.isShort ? runAttentionOf<uint16_t>
                : runAttentionOf<float>)(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ATTENTIONTILES_H
