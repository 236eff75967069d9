// SPDX-License-Identifier: Apache-2.0
//
// Products of floats that are rounded to bfloat16, summed in f32: the
// microkernels, with the instruction of AVX512-BF16 or without. See Vector.h
// for who may include it.
//
// Elements lie in pairs, of terms 2l and 2l + 1 of one row of a or one column
// of b: that is what the instruction multiplies, and a vector of pairs of b is
// as wide as one of sums. Without it the halves of pairs are floats after a
// shift or a mask.

#ifndef DLC_RUNTIME_KERNEL_CPU_PAIRKERNEL_H
#define DLC_RUNTIME_KERNEL_CPU_PAIRKERNEL_H

#include "Activations.h"
#include "PairRows.h"

namespace dlc::rt::cpu {
namespace {

/// How elements of a lie where the kernels read them.
#ifdef __AVX512BF16__
using Rounded = uint16_t;
#else
using Rounded = float;
#endif

/// A pair of terms of each row of a, those of a row behind those of the one
/// before, and the row of b that they meet.
struct PairColumn {
  const Rounded *terms;
  int64_t pair;
  bool isHalf; ///< The second terms are zeros.
};

/// One call of a kernel: sums of rows of a, some vectors of columns of b, as
/// floats or rounded.
template <typename Result> struct PairArguments {
  TermRows<Rounded> a;
  const PairColumn *columns; ///< In place of a; null where rows are in lines.
  int64_t firstRow;          ///< Of a, or the columns.
  const uint32_t *b;         ///< Pairs.
  int64_t bStride;   ///< From row to row.
  /// Rows of b that come later, of which two are fetched with each sixteen
  /// terms, as BlockedArguments have it, and how far these lie apart, and from
  /// the next two. A row of this call and 0 where none are: a branch would take
  /// longer.
  const uint32_t *ahead;
  int64_t aheadStride, aheadStep;
  int64_t pairs; ///< Or columns.
  Result *c;
  /// From row to row, and from one block of columns to the next.
  int64_t cStride, cPanel;
  bool accumulate;   ///< Add the sum to c, as TileArguments have it; floats.
  const float *bias; ///< Null when absent.
  const Result *residual; ///< Null when absent; lies as c.
  bool clamp;             ///< End with a clamp to [low, high].
  float low, high;
};

template <typename Result>
using PairKernel = void (*)(const PairArguments<Result> &);

constexpr int kPairRows = 6;
/// With 32 registers, and with 16.
constexpr int kPairVectors = kLanes == 16 ? 4 : 2;
/// Rows of a kernel of half as many vectors, if they lie right behind each
/// other: of few terms a call takes as long to begin and to end as it sums.
constexpr int kTallPairRows = kLanes == 16 ? 12 : kPairRows;
constexpr int kTallPairVectors = kPairVectors / 2;

/// Of the first of a vector's columns in c, whose blocks are as those of
/// channels.
template <typename Result>
[[gnu::always_inline]] inline int64_t columnOffset(int64_t column,
                                                   int64_t cPanel) {
  return column / blockOf<Result> * cPanel + column % blockOf<Result>;
}

[[gnu::always_inline]] inline Words loadPairs(const uint32_t *source) {
  return reinterpret_cast<Words>(load(reinterpret_cast<const float *>(source)));
}

#ifdef __AVX512BF16__
/// The instruction adds the products of both halves.
constexpr int kPairSteps = 1;
template <int> [[gnu::always_inline]] inline Words rowOf(const uint32_t *b) {
  return loadPairs(b);
}
template <int> [[gnu::always_inline]] inline Words factorOf(const uint16_t *a) {
  uint32_t pair;
  __builtin_memcpy(&pair, a, sizeof(pair));
  return pair + Words{};
}
[[gnu::always_inline]] inline Vec addProducts(Vec sum, Words a, Words b) {
  return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}
#else
constexpr int kPairSteps = 2;
template <int step> [[gnu::always_inline]] inline Vec rowOf(const uint32_t *b) {
  const Words pairs = loadPairs(b);
  return reinterpret_cast<Vec>(step == 0 ? pairs << 16 : pairs & 0xffff0000u);
}
template <int step> [[gnu::always_inline]] inline Vec factorOf(const float *a) {
  return splat(a[step]);
}
[[gnu::always_inline]] inline Vec addProducts(Vec sum, Vec a, Vec b) {
  return sum + a * b;
}
#endif

template <int rows, int vectors> struct PairSums {
  Vec sums[rows][vectors];

  template <typename Result>
  [[gnu::always_inline]] void start(const PairArguments<Result> &t) {
    DLC_UNROLL for (int v = 0; v < vectors; ++v) {
      const Vec bias = t.bias ? load(t.bias + v * kLanes) : Vec{};
      const Result *residual = t.residual;
      if (residual) {
        residual += columnOffset<Result>(v * kLanes, t.cPanel);
        DLC_UNROLL for (int i = 0; i < rows; ++i) sums[i][v] =
            bias + loadElements(residual + i * t.cStride, kLanes);
      } else {
        DLC_UNROLL for (int i = 0; i < rows; ++i) sums[i][v] = bias;
      }
    }
  }

  /// termsOf(i) is where a row's terms are.
  template <int step, typename Function>
  [[gnu::always_inline]] void add(Function &&termsOf, const uint32_t *b) {
    decltype(rowOf<step>(b)) row[vectors];
    DLC_UNROLL for (int v = 0; v < vectors; ++v) row[v] =
        rowOf<step>(b + v * kLanes);
    DLC_UNROLL for (int i = 0; i < rows; ++i) {
      const auto factor = factorOf<step>(termsOf(i));
      DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] =
          addProducts(sums[i][v], factor, row[v]);
      DLC_KEEP_LOADS_HERE();
    }
  }

  /// For all that is known of the arguments, what is stored may be these: they
  /// are read once.
  template <typename Result>
  [[gnu::always_inline]] void finish(const PairArguments<Result> &t) {
    Result *const c = t.c;
    const int64_t stride = t.cStride, panel = t.cPanel;
    if constexpr (sizeof(Result) == sizeof(float))
      if (t.accumulate)
        DLC_UNROLL for (int v = 0; v < vectors; ++v)
            DLC_UNROLL for (int i = 0; i < rows; ++i) sums[i][v] +=
            load(c + columnOffset<Result>(v * kLanes, panel) + i * stride);
    if (t.clamp) {
      const Vec low = splat(t.low), high = splat(t.high);
      DLC_UNROLL for (int v = 0; v < vectors; ++v)
          DLC_UNROLL for (int i = 0; i < rows; ++i) sums[i][v] =
              minOf(maxOf(sums[i][v], low), high);
    }
    constexpr bool isShort = sizeof(Result) == sizeof(uint16_t);
    DLC_UNROLL for (int v = 0; v < vectors; v += isShort ? 2 : 1) {
      Result *to = c + columnOffset<Result>(v * kLanes, panel);
      DLC_UNROLL for (int i = 0; i < rows; ++i) {
        if constexpr (isShort)
          if (v + 1 < vectors) {
            storeTwoShort(to + i * stride, sums[i][v], sums[i][v + 1]);
            continue;
          }
        storeElements(to + i * stride, sums[i][v], kLanes);
      }
    }
  }
};

/// Where some rows of a call are: of a tall one each a line behind the other.
template <int rows> struct RowPointers {
  static constexpr bool isTall = rows > kPairRows;

  [[gnu::always_inline]] void find(const TermRows<Rounded> &from) {
    DLC_UNROLL for (int i = 0; i < count; ++i) first[i] = from.at(i);
  }
  [[gnu::always_inline]] const Rounded *at(int i, int64_t term) const {
    return isTall ? first[0] + i * kLineTerms + term
                  : first[isTall ? 0 : i] + term;
  }
  [[gnu::always_inline]] void advance(int64_t step) {
    DLC_UNROLL for (int i = 0; i < count; ++i) first[i] += step;
  }

private:
  static constexpr int count = isTall ? 1 : rows;
  const Rounded *first[count];
};

template <int rows, int vectors, typename Result>
void pairKernel(const PairArguments<Result> &t) {
  PairSums<rows, vectors> sums;
  sums.start(t);
  TermRows<Rounded> from = t.a;
  from.offsets += t.firstRow;
  RowPointers<rows> a;
  const uint32_t *b = t.b, *ahead = t.ahead;
  const int64_t bStride = t.bStride;
  auto step = [&](int64_t l) __attribute__((always_inline)) {
    auto termsOf = [&](int i) __attribute__((always_inline)) {
      return a.at(i, 2 * l);
    };
    sums.template add<0>(termsOf, b);
    if constexpr (kPairSteps == 2)
      sums.template add<1>(termsOf, b);
    b += bStride;
  };
  constexpr int64_t together = kChannelBlock / 2;
  a.find(from);
  for (int64_t left = t.pairs; left > 0;) {
    const int64_t own = least(left, kLineTerms / 2);
    int64_t first = 0;
    for (; first + together <= own; first += together) {
      DLC_UNROLL for (int64_t l = 0; l < together; ++l) {
        constexpr int64_t lines = (vectors * kLanes + 15) / 16;
        if (l % 4 < lines)
          __builtin_prefetch(ahead + l / 4 * t.aheadStride + l % 4 * 16, 0, 2);
        step(first + l);
      }
      ahead += t.aheadStep;
    }
    for (; first < own; ++first)
      step(first);
    left -= own;
    if (from.taps == 1 && !from.hasZeros) {
      a.advance(from.blockStride);
    } else {
      from.advance();
      a.find(from);
    }
  }
  sums.finish(t);
}

/// The same of columns: first layers, whose terms are no lines, but few.
template <int rows, int vectors, typename Result>
void columnKernel(const PairArguments<Result> &t) {
  PairSums<rows, vectors> sums;
  sums.start(t);
  const PairColumn *column = t.columns, *const end = column + t.pairs;
  const int64_t first = 2 * t.firstRow, bStride = t.bStride;
  const uint32_t *const rowsOfB = t.b;
  for (; column != end; ++column) {
    const Rounded *a = column->terms + first;
    const uint32_t *b = rowsOfB + column->pair * bStride;
    auto termsOf = [&](int i) __attribute__((always_inline)) {
      return a + 2 * i;
    };
    sums.template add<0>(termsOf, b);
    if constexpr (kPairSteps == 2)
      if (!column->isHalf)
        sums.template add<1>(termsOf, b);
  }
  sums.finish(t);
}

template <typename Result, bool areColumns> struct PairKernelTable {
  PairKernel<Result> at[kTallPairRows + 1][kPairVectors + 1] = {};
  constexpr PairKernelTable() { fill<1, 1>(); }

private:
  template <int rows, int vectors> constexpr void fill() {
    if constexpr (vectors <=
                  (rows > kPairRows ? kTallPairVectors : kPairVectors)) {
      if constexpr (areColumns)
        at[rows][vectors] = columnKernel<rows, vectors, Result>;
      else
        at[rows][vectors] = pairKernel<rows, vectors, Result>;
      fill<rows, vectors + 1>();
    } else if constexpr (rows < kTallPairRows) {
      fill<rows + 1, 1>();
    }
  }
};

template <typename Result>
inline void runPairs(const PairArguments<Result> &t, int64_t rows,
                     int64_t vectors) {
  static constexpr PairKernelTable<Result, false> ofLines;
  static constexpr PairKernelTable<Result, true> ofColumns;
  (t.columns ? ofColumns.at : ofLines.at)[rows][vectors](t);
}

/// A call of which `columns` < vectors * kLanes are in c: it sums into a
/// buffer, so that nothing behind them is touched.
template <typename Result>
inline void runPartialPairs(const PairArguments<Result> &t, int64_t rows,
                            int64_t columns, int64_t vectors) {
  alignas(64) float sums[kPairRows * kPairVectors * kLanes];
  PairArguments<float> own = {};
  own.a = t.a;
  own.columns = t.columns;
  own.firstRow = t.firstRow;
  own.b = t.b;
  own.bStride = t.bStride;
  own.ahead = t.ahead;
  own.aheadStride = t.aheadStride;
  own.aheadStep = t.aheadStep;
  own.pairs = t.pairs;
  own.c = sums;
  own.cStride = vectors * kLanes;
  own.cPanel = kPanelWidth;
  runPairs(own, rows, vectors);
  const Vec low = splat(t.low), high = splat(t.high);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; j += kLanes) {
      const int64_t left = columns - j;
      const int64_t at = i * t.cStride + columnOffset<Result>(j, t.cPanel);
      Vec sum = load(sums + i * own.cStride + j);
      if (t.accumulate)
        sum += loadElements(t.c + at, left);
      if (t.bias)
        sum += loadFirst(t.bias + j, left);
      if (t.residual)
        sum += loadElements(t.residual + at, left);
      if (t.clamp)
        sum = minOf(maxOf(sum, low), high);
      storeElements(t.c + at, sum, left);
    }
}

/// Rows of pairs of b, and as many that are read later, or null.
struct PairColumns {
  const uint32_t *first;
  int64_t stride, count;
  const uint32_t *next;
};

/// Has a call of several, that read the same rows of b, fetch its part of those
/// that are read after them, or none.
template <typename Result>
inline void fetchPart(PairArguments<Result> &t, int64_t call,
                      const uint32_t *next, int64_t stride) {
  const int64_t rows = t.pairs / kChannelBlock * 4; // By a call.
  const bool fetches = next && rows > 0 && (call + 1) * rows <= t.pairs;
  t.ahead = fetches ? next + call * rows * stride : t.b;
  t.aheadStride = fetches ? stride : 0;
  t.aheadStep = 2 * t.aheadStride;
}

/// Sums of some rows for as many columns as one call has, or fewer: whole
/// vectors.
inline void multiplyPairs(int64_t rows, LineRows<Rounded> a, PairColumns b,
                          int64_t columns, float *sums, int64_t sumStride) {
  const int64_t calls = (rows + kPairRows - 1) / kPairRows;
  int64_t offsets[kPairRows];
  for (int64_t i = 0; i < kPairRows; ++i)
    offsets[i] = i * a.row;
  PairArguments<float> t = {};
  t.a = {a.first, offsets, 1, 0, a.line, false};
  t.b = b.first;
  t.bStride = b.stride;
  t.pairs = b.count;
  t.c = sums;
  t.cStride = sumStride;
  t.cPanel = kPanelWidth;
  for (int64_t call = 0; call < calls; ++call) {
    fetchPart(t, call, b.next, b.stride);
    const int64_t own = rows / calls + (call < rows % calls);
    runPairs(t, own, columns / kLanes);
    t.a.block += own * a.row;
    t.c += own * sumStride;
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PAIRKERNEL_H
