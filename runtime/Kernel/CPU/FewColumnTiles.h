// SPDX-License-Identifier: Apache-2.0
//
// Products to few columns, or from few rows: dot products of rows of either
// operand, where terms are many, and otherwise many rows at once, of which each
// is less than a vector. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_FEWCOLUMNTILES_H
#define DLC_RUNTIME_KERNEL_CPU_FEWCOLUMNTILES_H

#include "Activations.h"
#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Rows of a matrix, so far apart.
struct DotRows {
  const float *first;
  int64_t stride, count;
};

/// Of four rows that meet others at once, and those others.
constexpr int64_t kRowsOfDots = 4;
constexpr int kMostDots = kLanes == 16 ? 4 : 2;

/// Calls write(j, sums), those of four rows with row j of y, for `count` rows
/// of y from `first` on.
template <int count, typename Write>
[[gnu::always_inline]] inline void
dotBlock(const float *const (&x)[kRowsOfDots], const DotRows &y, int64_t first,
         int64_t k, Write &&write) {
  Vec sums[count][kRowsOfDots] = {};
  const float *others[count];
  DLC_UNROLL for (int j = 0; j < count; ++j) others[j] =
      y.first + (first + j) * y.stride;
  const int64_t wide = k / kLanes * kLanes;
  auto add = [&](auto &&loadAt) __attribute__((always_inline)) {
    Vec rows[kRowsOfDots];
    DLC_UNROLL for (int i = 0; i < kRowsOfDots; ++i) rows[i] = loadAt(x[i]);
    DLC_UNROLL for (int j = 0; j < count; ++j) {
      const Vec other = loadAt(others[j]);
      DLC_UNROLL for (int i = 0; i < kRowsOfDots; ++i) sums[j][i] +=
          other * rows[i];
    }
  };
  for (int64_t l = 0; l < wide; l += kLanes)
    add([=](const float *row)
            __attribute__((always_inline)) { return load(row + l); });
  if (wide < k) {
    const LaneMask mask = lanes(0, k - wide);
    add([=](const float *row) __attribute__((always_inline)) {
      return maskedLoad(row + wide, mask);
    });
  }
  DLC_UNROLL for (int j = 0; j < count; ++j)
      write(first + j, sumLanes(sums[j]));
}

/// Calls write(i, j, sum) for all rows i of x, which are read once, four at a
/// time, and the few j of y.
template <typename Write>
inline void dotProducts(const DotRows &x, const DotRows &y, int64_t k,
                        Write &&write) {
  for (int64_t i = 0; i < x.count; i += kRowsOfDots) {
    const int64_t rows = least(kRowsOfDots, x.count - i);
    const float *four[kRowsOfDots];
    for (int64_t r = 0; r < kRowsOfDots; ++r)
      four[r] = x.first + (i + least(r, rows - 1)) * x.stride;
    auto writeAll = [&](int64_t j, Quad sums) __attribute__((always_inline)) {
      for (int64_t r = 0; r < rows; ++r)
        write(i + r, j, sums[r]);
    };
    int64_t j = 0;
    for (; j + kMostDots <= y.count; j += kMostDots)
      dotBlock<kMostDots>(four, y, j, k, writeAll);
    for (; j < y.count; ++j)
      dotBlock<1>(four, y, j, k, writeAll);
  }
}

/// Rows of a times fewer columns than a vector has lanes.
struct NarrowProduct {
  const float *a;
  int64_t lda;
  const float *b; ///< Rows of columns.
  int64_t bStride;
  int64_t k, columns;
  const float *bias, *residual; ///< Null when absent; residual lies as c.
  float *c;                     ///< Its rows are `columns` apart.
  Vec low, high;                ///< The bounds of a clamp, or infinite ones.

  void run(int64_t rows) const;

private:
  template <int rows> void runRows(int64_t row) const;
};

/// Sums of a vector each: enough of them to hide how long one takes.
constexpr int kNarrowRows = kLanes == 16 ? 16 : 8;

template <int rows> inline void NarrowProduct::runRows(int64_t row) const {
  const LaneMask mask = lanes(0, columns);
  const float *from = a + row * lda;
  Vec sums[rows];
  const Vec start = bias ? maskedLoad(bias, mask) : Vec{};
  DLC_UNROLL for (int i = 0; i < rows; ++i) sums[i] = start;
  const float *rowOfB = b;
  for (int64_t l = 0; l < k; ++l, rowOfB += bStride) {
    const Vec terms = maskedLoad(rowOfB, mask);
    DLC_UNROLL for (int i = 0; i < rows; ++i) sums[i] +=
        splat(from[i * lda + l]) * terms;
    DLC_KEEP_LOADS_HERE();
  }
  const int64_t at = row * columns;
  DLC_UNROLL for (int i = 0; i < rows; ++i) {
    if (residual)
      sums[i] += maskedLoad(residual + at + i * columns, mask);
    storeFirst(c + at + i * columns, minOf(maxOf(sums[i], low), high), columns);
  }
}

inline void NarrowProduct::run(int64_t rows) const {
  int64_t row = 0;
  for (; row + kNarrowRows <= rows; row += kNarrowRows)
    runRows<kNarrowRows>(row);
  for (; row + 4 <= rows; row += 4)
    runRows<4>(row);
  for (; row < rows; ++row)
    runRows<1>(row);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_FEWCOLUMNTILES_H
