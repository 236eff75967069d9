// SPDX-License-Identifier: Apache-2.0
//
// The microkernels: a block of c held in registers while k runs. See Vector.h
// for who may include it.
//
// With 16 registers 6x2 and 4x3 vectors of sums leave room for a row of b and
// one element of a, with 32 (AVX-512) 6x4 do; more would spill.

#ifndef DLC_RUNTIME_KERNEL_CPU_MICROKERNEL_H
#define DLC_RUNTIME_KERNEL_CPU_MICROKERNEL_H

#include "Activations.h"
#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// One call of a microkernel: c[rows][columns] = or += a * b over `k` terms.
struct TileArguments {
  /// Rows form: a[i * aStride + l]. Columns form: a[l * aStride + i].
  const float *a;
  int64_t aStride;
  /// Columns form of 2 * kPanelRows rows: from the first such panel of rows to
  /// the second.
  int64_t aPanel;
  /// Columns form: how far behind a lies what the next call reads there, which
  /// is fetched meanwhile: rows of weights are read once, from far away.
  int64_t aAhead;
  /// Row l of b starts at b + l * bStride. Groups of kPanelWidth columns lie
  /// bPanel apart when the kernel is wider than that and `panels` is set,
  /// else next to each other.
  const float *b;
  int64_t bStride, bPanel;
  /// Rows form: what later calls read of b, and how many lines of it are
  /// fetched in the time of four terms: weights come from memory, and the
  /// processor's own prefetching ends with each page.
  const float *ahead;
  int64_t aheadLines;
  float *c;
  int64_t cStride;
  int64_t k;
  /// Add the sum to c; else start from biases and residual. Terms are summed by
  /// themselves before: the error of a long sum is that of its parts.
  bool accumulate;
  const float *rowBias, *columnBias; ///< Null when absent.
  const float *residual;             ///< Rows lie cStride apart.
  bool clamp;                        ///< End with a clamp to [low, high].
  float low, high;
};

constexpr int64_t kLineFloats = 16; ///< Of a line of the cache.

/// Has what is behind `next` fetched while the calls of the part before run,
/// evenly: lines that are asked for faster than they come hold up those that
/// the kernel waits for.
class Ahead {
public:
  Ahead(const float *next, int64_t floats, int64_t terms, int64_t calls)
      : next(next), lines(next ? floats / kLineFloats : 0), groups(terms / 4) {
    const int64_t times = groups * calls;
    rate = times ? (lines + times - 1) / times : 0;
  }

  /// For the next call.
  void into(TileArguments &t) {
    t.ahead = next;
    t.aheadLines = lines > 0 ? rate : 0;
    next += groups * t.aheadLines * kLineFloats;
    lines -= groups * t.aheadLines;
  }

private:
  const float *next;
  int64_t lines, groups, rate;
};

enum class AForm { Rows, Columns };

using MicroKernel = void (*)(const TileArguments &);

template <int rows, int vectors>
[[gnu::always_inline]] inline void startSums(const TileArguments &t,
                                             Vec (&sums)[rows][vectors]) {
  DLC_UNROLL for (int i = 0; i < rows; ++i) {
    Vec start = splat(t.rowBias ? t.rowBias[i] : 0.0f);
    DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] = start;
  }
  if (t.columnBias) {
    DLC_UNROLL for (int v = 0; v < vectors; ++v) {
      Vec bias = load(t.columnBias + v * kLanes);
      DLC_UNROLL for (int i = 0; i < rows; ++i) sums[i][v] += bias;
    }
  }
  if (t.residual) {
    DLC_UNROLL for (int i = 0; i < rows; ++i) {
      DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] +=
          load(t.residual + i * t.cStride + v * kLanes);
    }
  }
}

template <int rows, int vectors>
[[gnu::always_inline]] inline void storeSums(const TileArguments &t,
                                             Vec (&sums)[rows][vectors]) {
  if (t.accumulate) {
    DLC_UNROLL for (int i = 0; i < rows; ++i) {
      DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] +=
          load(t.c + i * t.cStride + v * kLanes);
    }
  }
  if (t.clamp) {
    Vec low = splat(t.low), high = splat(t.high);
    DLC_UNROLL for (int i = 0; i < rows; ++i) {
      DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] =
          minOf(maxOf(sums[i][v], low), high);
    }
  }
  DLC_UNROLL for (int i = 0; i < rows; ++i) {
    DLC_UNROLL for (int v = 0; v < vectors; ++v)
        store(t.c + i * t.cStride + v * kLanes, sums[i][v]);
  }
}

/// Offset of vector v within a row of b.
template <bool panels>
[[gnu::always_inline]] inline int64_t bOffset(int v, int64_t bPanel) {
  if constexpr (panels) {
    constexpr int perPanel = kPanelWidth / kLanes;
    return (v / perPanel) * bPanel + (v % perPanel) * kLanes;
  }
  return v * kLanes;
}

template <int rows, int vectors, AForm form, bool panels>
void microKernel(const TileArguments &t) {
  Vec sums[rows][vectors];
  startSums<rows, vectors>(t, sums);
  const float *a = t.a;
  const float *b = t.b;
  const int64_t aStride = t.aStride, bStride = t.bStride, bPanel = t.bPanel;
  [[maybe_unused]] const int64_t aPanel = t.aPanel;
  auto step = [&](int64_t l) __attribute__((always_inline)) {
    auto factorOf = [&](int i) __attribute__((always_inline)) {
      if constexpr (form == AForm::Rows)
        return splat(a[i * aStride + l]);
      if constexpr (rows == 2 * kPanelRows)
        return splat(a[i / kPanelRows * aPanel + i % kPanelRows]);
      return splat(a[i]);
    };
    auto rowOf = [&](int v) __attribute__((always_inline)) {
      return load(b + bOffset<panels>(v, bPanel));
    };
    if constexpr (rows < vectors) {
      Vec factors[rows];
      DLC_UNROLL for (int i = 0; i < rows; ++i) factors[i] = factorOf(i);
      DLC_UNROLL for (int v = 0; v < vectors; ++v) {
        Vec row = rowOf(v);
        DLC_UNROLL for (int i = 0; i < rows; ++i) sums[i][v] +=
            factors[i] * row;
        DLC_KEEP_LOADS_HERE();
      }
    } else {
      Vec row[vectors];
      DLC_UNROLL for (int v = 0; v < vectors; ++v) row[v] = rowOf(v);
      DLC_UNROLL for (int i = 0; i < rows; ++i) {
        Vec factor = factorOf(i);
        DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] +=
            factor * row[v];
        DLC_KEEP_LOADS_HERE();
      }
    }
    b += bStride;
    if constexpr (form == AForm::Columns)
      a += aStride;
  };
  const int64_t k = t.k;
  [[maybe_unused]] const float *ahead = t.ahead;
  [[maybe_unused]] const int64_t aheadLines = t.aheadLines;
  int64_t l = 0;
  for (; l + 4 <= k; l += 4) {
    if constexpr (form == AForm::Columns) {
      __builtin_prefetch(a + t.aAhead);
      if constexpr (rows == 2 * kPanelRows)
        __builtin_prefetch(a + t.aPanel + t.aAhead);
    } else {
      for (int64_t i = 0; i < aheadLines; ++i, ahead += kLineFloats)
        __builtin_prefetch(ahead, 0, 2);
    }
    step(0);
    step(1);
    step(2);
    step(3);
    if constexpr (form == AForm::Rows)
      a += 4;
  }
  for (; l < k; ++l) {
    step(0);
    if constexpr (form == AForm::Rows)
      a += 1;
  }
  storeSums<rows, vectors>(t, sums);
}

/// But for two panels of rows.
constexpr int kMaxRows = 6;
constexpr int kMaxVectors = 8;
/// Two panels of rows at once, where there are registers for them.
constexpr int kTwoPanels = kLanes == 16 ? 2 * kPanelRows : kPanelRows;
/// Most vectors of a kernel with that many rows.
constexpr int kVectorsOf[2 * kPanelRows + 1] = {0,
                                                8,
                                                kLanes == 16 ? 8 : 4,
                                                kLanes == 16 ? 6 : 4,
                                                kLanes == 16 ? 6 : 3,
                                                kLanes == 16 ? 4 : 2,
                                                kLanes == 16 ? 4 : 2,
                                                0,
                                                kLanes == 16 ? 3 : 0};
constexpr int kMaxSums = 24; ///< Vectors of any kernel.
/// Vectors of the main tile of a matmul, of 6 rows.
constexpr int64_t kMatmulVectors = kVectorsOf[6];
/// Columns of the main tile of a convolution, of one panel of rows or two.
constexpr int64_t kConvVectors = 3;

/// kernels<form, panels>(rows)[vectors].
template <int rows, AForm form, bool panels> struct KernelRow {
  MicroKernel at[kMaxVectors + 1] = {};
  constexpr KernelRow() { fill<1>(); }
  template <int vectors> constexpr void fill() {
    if constexpr (vectors <= kVectorsOf[rows]) {
      at[vectors] = microKernel<rows, vectors, form, panels>;
      fill<vectors + 1>();
    }
  }
};

template <AForm form, bool panels>
MicroKernel microKernelOf(int64_t rows, int64_t vectors) {
  static constexpr KernelRow<1, form, panels> one;
  static constexpr KernelRow<2, form, panels> two;
  static constexpr KernelRow<3, form, panels> three;
  static constexpr KernelRow<4, form, panels> four;
  static constexpr KernelRow<5, form, panels> five;
  static constexpr KernelRow<6, form, panels> six;
  if constexpr (form == AForm::Columns && kTwoPanels > kPanelRows) {
    static constexpr KernelRow<kTwoPanels, form, panels> twoPanels;
    if (rows == kTwoPanels)
      return twoPanels.at[vectors];
  }
  static constexpr const MicroKernel *table[] = {
      nullptr, one.at, two.at, three.at, four.at, five.at, six.at};
  return table[rows][vectors];
}

/// Runs `kernel` on a block of `columns` < vectors * kLanes valid columns:
/// whole vectors go through a buffer, so that nothing past the valid columns
/// of c, bias and residual is touched.
inline void runPartial(MicroKernel kernel, TileArguments t, int64_t rows,
                       int64_t columns, int64_t vectors) {
  alignas(64) float c[kMaxSums * kLanes];
  alignas(64) float residual[kMaxSums * kLanes];
  alignas(64) float bias[kMaxVectors * kLanes];
  const int64_t width = vectors * kLanes;
  auto copyIn = [&](float *target, const float *source) {
    for (int64_t j = 0; j < width; j += kLanes)
      store(target + j,
            columns > j ? loadFirst(source + j, columns - j) : Vec{});
  };
  for (int64_t i = 0; i < rows; ++i) {
    if (t.accumulate)
      copyIn(c + i * width, t.c + i * t.cStride);
    if (t.residual)
      copyIn(residual + i * width, t.residual + i * t.cStride);
  }
  if (t.columnBias)
    copyIn(bias, t.columnBias);
  float *target = t.c;
  const int64_t stride = t.cStride;
  t.c = c;
  t.cStride = width;
  t.residual = t.residual ? residual : nullptr;
  t.columnBias = t.columnBias ? bias : nullptr;
  kernel(t);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; j += kLanes)
      storeFirst(target + i * stride + j, load(c + i * width + j), columns - j);
}

inline void runTile(MicroKernel kernel, const TileArguments &t, int64_t rows,
                    int64_t columns, int64_t vectors) {
  if (columns == vectors * kLanes)
    return kernel(t);
  runPartial(kernel, t, rows, columns, vectors);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_MICROKERNEL_H
