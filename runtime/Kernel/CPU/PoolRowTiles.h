// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.pool. See Vector.h for who may include it.
//
// Windows are combined down their columns first, rows of memory at a time, and
// then along the rows that this gives. Some of these lie behind each other, a
// multiple of the step apart, so that all of their windows are one long row:
// rows of few windows are as fast as others. Windows of channels that lie side
// by side are vectors already.

#ifndef DLC_RUNTIME_KERNEL_CPU_POOLROWTILES_H
#define DLC_RUNTIME_KERNEL_CPU_POOLROWTILES_H

#include "Folds.h"
#include "RowSet.h"

namespace dlc::rt::cpu {
namespace {

/// The taps k of a window at `at` for which at + k * dilation is in [0, limit).
struct Taps {
  int64_t first, end;
  int64_t count() const { return end > first ? end - first : 0; }
};

inline int64_t tapsBelow(const PoolExtent &extent, int64_t at, int64_t limit) {
  if (at >= limit)
    return 0;
  return least(extent.kernel, (limit - at - 1) / extent.dilation + 1);
}

inline Taps tapsWithin(const PoolExtent &extent, int64_t at, int64_t limit) {
  return {tapsBelow(extent, at, 0), tapsBelow(extent, at, limit)};
}

/// Where a window begins.
inline int64_t startOf(const PoolExtent &extent, int64_t position) {
  return position * extent.stride - extent.begin;
}

/// How many elements a mean of the window at `position` is over, those that are
/// padded among them or not.
inline int64_t countedTaps(const PoolPlan &plan, const PoolExtent &extent,
                           int64_t position) {
  const int64_t at = startOf(extent, position);
  // Most windows are within, and divisions take longer than what is counted.
  if (at >= 0 && at + (extent.kernel - 1) * extent.dilation < extent.in)
    return extent.kernel;
  return plan.countsPadding ? tapsBelow(extent, at, extent.in + extent.end)
                            : tapsWithin(extent, at, extent.in).count();
}

/// y[i] takes in x[i * step]; the first time there is nothing in y.
template <typename Fold, int stride>
inline void combineTap(float *y, const float *x, int64_t count,
                       int64_t anyStride, bool isFirst) {
  const int64_t step = stride ? stride : anyStride;
  if (isFirst)
    for (int64_t i = 0; i < count; ++i)
      y[i] = x[i * step];
  else
    for (int64_t i = 0; i < count; ++i)
      y[i] = Fold::of(y[i], x[i * step]);
}

template <typename Fold>
inline void combineTap(float *y, const float *x, int64_t count, int64_t stride,
                       bool isFirst) {
  switch (stride) {
  case 2:
    return combineTap<Fold, 2>(y, x, count, 2, isFirst);
  case 3:
    return combineTap<Fold, 3>(y, x, count, 3, isFirst);
  case 4:
    return combineTap<Fold, 4>(y, x, count, 4, isFirst);
  default:
    return combineTap<Fold, 0>(y, x, count, stride, isFirst);
  }
}

/// `count` neighbours, each of `taps` that lie `tapStep` apart.
template <typename Fold>
inline void combineRun(float *y, const float *x, int64_t count, int64_t taps,
                       int64_t tapStep) {
  for (int64_t i = 0; i < count; i += kLanes) {
    Vec value = splat(Fold::nothing);
    for (int64_t tap = 0; tap < taps; ++tap)
      value = Fold::of(value, loadFirst(x + tap * tapStep + i, count - i));
    storeFirst(y + i, value, count - i);
  }
}

/// The same of x, which is overwritten: a window of twice as many taps is two
/// of them, so that each takes no more steps than its number has bits, twice.
template <typename Fold>
inline void combineTwice(float *y, float *x, int64_t count, int64_t taps,
                         int64_t tapStep) {
  auto combine = [](float *to, const float *from, const float *with,
                    int64_t length) __attribute__((always_inline)) {
    int64_t i = 0;
    for (; i + kLanes <= length; i += kLanes)
      store(to + i, Fold::of(load(from + i), load(with + i)));
    if (const int64_t left = length - i)
      storeFirst(to + i,
                 Fold::of(loadFirst(from + i, left), loadFirst(with + i, left)),
                 left);
  };
  int64_t length = count + (taps - 1) * tapStep, known = 0;
  for (int64_t size = 1;; size *= 2) {
    if (known == 0 && (taps & size))
      __builtin_memcpy(y, x, count * sizeof(float));
    else if (taps & size)
      combine(y, y, x + known * tapStep, count);
    known += taps & size;
    if (known == taps)
      return;
    length -= size * tapStep;
    combine(x, x, x + size * tapStep, length);
  }
}

/// Whether windows of the extent, which lie next to each other, are combined so
/// in fewer steps.
inline bool isCombinedTwice(const PoolExtent &extent) {
  constexpr int64_t fewest = 4;
  return extent.stride == 1 && extent.kernel >= fewest;
}

/// Columns from `column` on, `pitch` of them, down each of which `taps` of a
/// window at row `at` are combined: nothing beside the image.
template <typename Fold>
inline void combineDown(const PoolPlan &plan, const float *x, int64_t at,
                        Taps taps, int64_t column, float *row) {
  const int64_t all = plan.pitch;
  const int64_t within = plan.width.in - column;
  int64_t begin = least(column < 0 ? -column : 0, all);
  int64_t end = within < begin ? begin : least(within, all);
  if (taps.count() == 0)
    begin = end = all;
  for (int64_t i = 0; i < begin * plan.inner; ++i)
    row[i] = Fold::nothing;
  for (int64_t i = end * plan.inner; i < all * plan.inner; ++i)
    row[i] = Fold::nothing;
  const int64_t firstRow = at + taps.first * plan.height.dilation;
  const float *first =
      x + (firstRow * plan.width.in + column + begin) * plan.inner;
  const int64_t count = (end - begin) * plan.inner;
  if (taps.count() == 1)
    __builtin_memcpy(row + begin * plan.inner, first, count * sizeof(float));
  else
    combineRun<Fold>(row + begin * plan.inner, first, count, taps.count(),
                     plan.height.dilation * plan.width.in * plan.inner);
}

/// `count` windows of rows that are `plan.pitch` apart, one after the other.
template <typename Fold>
inline void combineAlong(const PoolPlan &plan, const float *rows, int64_t count,
                         float *y) {
  const PoolExtent &width = plan.width;
  const int64_t inner = plan.inner, tapStep = width.dilation * inner;
  if (width.stride == 1)
    return combineRun<Fold>(y, rows, count * inner, width.kernel, tapStep);
  if (inner > 1) {
    for (int64_t i = 0; i < count; ++i)
      combineRun<Fold>(y + i * inner, rows + i * width.stride * inner, inner,
                       width.kernel, tapStep);
    return;
  }
  for (int64_t tap = 0; tap < width.kernel; ++tap)
    combineTap<Fold>(y, rows + tap * tapStep, count, width.stride, tap == 0);
}

/// The windows of rows [first, last) in columns [column, column + columns): of
/// a plane x to a plane y.
template <typename Fold>
inline void poolColumns(const PoolPlan &plan, const float *x, float *y,
                        int64_t first, int64_t last, int64_t column,
                        int64_t columns) {
  alignas(64) float scratch[2][PoolPlan::scratch];
  const PoolExtent &height = plan.height, &width = plan.width;
  const int64_t inner = plan.inner, rowSize = plan.pitch * inner;
  const int64_t perRow = plan.pitch / width.stride;
  const int64_t from = startOf(width, column);
  int64_t most = PoolPlan::scratch / rowSize;
  // Rows that windows share are read for all of them.
  const int64_t shared = height.kernel - 1;
  const bool isTwice =
      isCombinedTwice(height) && height.dilation == 1 && most > 2 * shared;
  if (isTwice)
    most -= shared;
  for (int64_t row = first; row < last; row += most) {
    const int64_t count = least(most, last - row);
    float *rows = scratch[0], *results = scratch[1];
    if (isTwice) {
      for (int64_t i = 0; i < count + shared; ++i) {
        const int64_t at = startOf(height, row) + i;
        const Taps self = {0, at >= 0 && at < height.in};
        combineDown<Fold>(plan, x, at, self, from, results + i * rowSize);
      }
      combineTwice<Fold>(rows, results, count * rowSize, height.kernel,
                         rowSize);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = startOf(height, row + i);
        combineDown<Fold>(plan, x, at, tapsWithin(height, at, height.in), from,
                          rows + i * rowSize);
      }
    }
    const int64_t windows = (count - 1) * perRow + columns;
    if (isCombinedTwice(width))
      combineTwice<Fold>(results, rows, windows * inner, width.kernel,
                         width.dilation * inner);
    else
      combineAlong<Fold>(plan, rows, windows, results);
    for (int64_t i = 0; i < count; ++i)
      __builtin_memcpy(y + ((row + i) * width.out + column) * inner,
                       results + i * perRow * inner,
                       columns * inner * sizeof(float));
  }
}

/// `count` elements side by side of the window of so many rows and columns, of
/// which the first ones are at x.
template <typename Fold>
inline Vec windowOf(const PoolPlan &plan, const float *x, int64_t rows,
                    int64_t columns, int64_t count) {
  const int64_t rowStep = plan.height.dilation * plan.width.in * plan.inner;
  const int64_t columnStep = plan.width.dilation * plan.inner;
  Vec value = splat(Fold::nothing);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      value = Fold::of(
          value, loadFirst(x + row * rowStep + column * columnStep, count));
  return value;
}

/// Windows of vectors, or wider than that: each by itself, from memory.
template <typename Fold>
inline void poolEach(const PoolPlan &plan, const float *x, float *y,
                     int64_t position) {
  const PoolExtent &width = plan.width;
  const int64_t at = startOf(plan.height, position), inner = plan.inner;
  const Taps down = tapsWithin(plan.height, at, plan.height.in);
  const int64_t span = (width.kernel - 1) * width.dilation + 1;
  const int64_t firstRow = at + down.first * plan.height.dilation;
  for (int64_t i = 0; i < width.out; ++i) {
    const int64_t from = startOf(width, i);
    const bool isWithin = from >= 0 && from + span <= width.in;
    const Taps along =
        isWithin ? Taps{0, width.kernel} : tapsWithin(width, from, width.in);
    const float *window =
        x + (firstRow * width.in + from + along.first * width.dilation) * inner;
    float *values = y + (position * width.out + i) * inner;
    for (int64_t j = 0; j < inner; j += kLanes)
      storeFirst(values + j,
                 windowOf<Fold>(plan, window + j, down.count(), along.count(),
                                inner - j),
                 inner - j);
  }
}

/// Positions [first, end) of windows that lie within a row.
inline Taps positionsWithin(const PoolExtent &extent) {
  const int64_t span = (extent.kernel - 1) * extent.dilation + 1;
  const int64_t last = extent.in + extent.begin - span;
  const int64_t first =
      least((extent.begin + extent.stride - 1) / extent.stride, extent.out);
  const int64_t end = last < 0 ? 0 : last / extent.stride + 1;
  return {first, end < first ? first : least(end, extent.out)};
}

/// How many columns windows count, of so many from `begin` on, which planes
/// share.
struct CountedColumns {
  void find(const PoolPlan &plan, int64_t first, int64_t some) {
    if (first == begin)
      return;
    begin = first;
    const Taps within = positionsWithin(plan.width);
    for (int64_t i = 0; i < some; ++i) {
      const int64_t at = begin + i;
      counts[i] = static_cast<float>(at >= within.first && at < within.end
                                         ? plan.width.kernel
                                         : countedTaps(plan, plan.width, at));
    }
  }

  int64_t begin = -1;
  float counts[PoolPlan::scratch];
};

/// The mean of nothing is 0. What windows are multiplied with is the same for
/// all rows that count as many of their own.
inline void divideRows(const PoolPlan &plan, float *y, int64_t first,
                       int64_t last, CountedColumns &columns) {
  float factors[PoolPlan::scratch];
  const int64_t width = plan.width.out, inner = plan.inner;
  for (int64_t begin = 0; begin < width; begin += PoolPlan::scratch) {
    const int64_t some = least(PoolPlan::scratch, width - begin);
    columns.find(plan, begin, some);
    int64_t known = -1;
    for (int64_t row = first; row < last; ++row) {
      const int64_t rows = countedTaps(plan, plan.height, row);
      for (int64_t i = 0; i < some && rows != known; ++i) {
        const float count = static_cast<float>(rows) * columns.counts[i];
        factors[i] = count > 0 ? 1 / count : 0;
      }
      known = rows;
      float *sums = y + (row * width + begin) * inner;
      if (inner == 1)
        for (int64_t i = 0; i < some; ++i)
          sums[i] *= factors[i];
      else
        for (int64_t i = 0; i < some; ++i, sums += inner)
          for (int64_t j = 0; j < inner; ++j)
            sums[j] *= factors[i];
    }
  }
}

template <typename Fold>
inline void poolRows(const PoolPlan &plan, const float *x, float *y,
                     int64_t first, int64_t last, CountedColumns &columns) {
  if (plan.isWhole)
    y[0] = foldRow<Fold>(x, plan.height.in * plan.width.in);
  else if (plan.columns == 0 || plan.inner % kLanes == 0)
    for (int64_t row = first; row < last; ++row)
      poolEach<Fold>(plan, x, y, row);
  else if (plan.isOneRow)
    combineAlong<Fold>(plan, x + first * plan.width.in * plan.inner,
                       (last - first) * plan.width.out,
                       y + first * plan.width.out * plan.inner);
  else
    for (int64_t column = 0; column < plan.width.out; column += plan.columns)
      poolColumns<Fold>(plan, x, y, first, last, column,
                        least(plan.columns, plan.width.out - column));
  if (!plan.isMax)
    divideRows(plan, y, first, last, columns);
}

void runPool(const PoolPlan &plan, void *const *arguments, int64_t begin,
             int64_t end) {
  CountedColumns columns;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t plane = tile / plan.rowBlocks;
    const int64_t first = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t last = least(first + plan.rowBlock, plan.height.out);
    const float *x = static_cast<const float *>(arguments[0]) +
                     plane * plan.height.in * plan.width.in * plan.inner;
    float *y = static_cast<float *>(arguments[1]) +
               plane * plan.height.out * plan.width.out * plan.inner;
    plan.isMax ? poolRows<GreatestFold>(plan, x, y, first, last, columns)
               : poolRows<SumFold>(plan, x, y, first, last, columns);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_POOLROWTILES_H
