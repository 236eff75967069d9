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

#include "RowSet.h"
#include "Vector.h"

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
  return plan.countsPadding ? tapsBelow(extent, at, extent.in + extent.end)
                            : tapsWithin(extent, at, extent.in).count();
}

/// What a window of nothing gives.
template <bool isMax>
inline constexpr float kNothing = isMax ? -__builtin_inff() : 0;

/// NaN is greatest.
template <bool isMax> inline float combined(float old, float value) {
  if constexpr (isMax)
    return value > old || value != value ? value : old;
  else
    return old + value;
}

template <bool isMax> inline Vec combined(Vec old, Vec value) {
  if constexpr (isMax)
    return (value > old) | (value != value) ? value : old;
  else
    return old + value;
}

/// y[i] takes in x[i * step]; the first time there is nothing in y.
template <bool isMax, int stride>
inline void combineTap(float *y, const float *x, int64_t count,
                       int64_t anyStride, bool isFirst) {
  const int64_t step = stride ? stride : anyStride;
  if (isFirst)
    for (int64_t i = 0; i < count; ++i)
      y[i] = x[i * step];
  else
    for (int64_t i = 0; i < count; ++i)
      y[i] = combined<isMax>(y[i], x[i * step]);
}

/// The same of neighbours.
template <bool isMax>
inline void combineRun(float *y, const float *x, int64_t count, bool isFirst) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec value = load(x + i);
    store(y + i, isFirst ? value : combined<isMax>(load(y + i), value));
  }
  combineTap<isMax, 1>(y + i, x + i, count - i, 1, isFirst);
}

template <bool isMax>
inline void combineTap(float *y, const float *x, int64_t count, int64_t stride,
                       bool isFirst) {
  switch (stride) {
  case 1:
    return combineRun<isMax>(y, x, count, isFirst);
  case 2:
    return combineTap<isMax, 2>(y, x, count, 2, isFirst);
  case 3:
    return combineTap<isMax, 3>(y, x, count, 3, isFirst);
  case 4:
    return combineTap<isMax, 4>(y, x, count, 4, isFirst);
  default:
    return combineTap<isMax, 0>(y, x, count, stride, isFirst);
  }
}

/// Column `column` of the windows of row `position` and those behind it, down
/// which they are combined: `pitch` of them, where some lie beside the image.
template <bool isMax>
inline void combineDown(const PoolPlan &plan, const float *x, int64_t position,
                        int64_t column, float *row) {
  const int64_t at = startOf(plan.height, position), all = plan.pitch;
  const Taps taps = tapsWithin(plan.height, at, plan.height.in);
  const int64_t within = plan.width.in - column;
  int64_t begin = least(column < 0 ? -column : 0, all);
  int64_t end = within < begin ? begin : least(within, all);
  if (taps.count() == 0)
    begin = end = all;
  for (int64_t i = 0; i < begin * plan.inner; ++i)
    row[i] = kNothing<isMax>;
  for (int64_t i = end * plan.inner; i < all * plan.inner; ++i)
    row[i] = kNothing<isMax>;
  for (int64_t tap = taps.first; tap < taps.end; ++tap) {
    const int64_t rowOfTap = at + tap * plan.height.dilation;
    combineRun<isMax>(row + begin * plan.inner,
                      x + (rowOfTap * plan.width.in + column + begin) *
                              plan.inner,
                      (end - begin) * plan.inner, tap == taps.first);
  }
}

/// Runs of `length` elements in place of elements.
template <bool isMax>
inline void combineRuns(float *y, const float *x, int64_t count, int64_t stride,
                        int64_t length, bool isFirst) {
  if (stride == 1)
    return combineRun<isMax>(y, x, count * length, isFirst);
  for (int64_t i = 0; i < count; ++i)
    combineRun<isMax>(y + i * length, x + i * stride * length, length, isFirst);
}

/// `count` windows of rows that are `plan.pitch` apart, one after the other.
template <bool isMax>
inline void combineAlong(const PoolPlan &plan, const float *rows, int64_t count,
                         float *y) {
  const PoolExtent &width = plan.width;
  for (int64_t tap = 0; tap < width.kernel; ++tap) {
    const float *first = rows + tap * width.dilation * plan.inner;
    if (plan.inner == 1)
      combineTap<isMax>(y, first, count, width.stride, tap == 0);
    else
      combineRuns<isMax>(y, first, count, width.stride, plan.inner, tap == 0);
  }
}

/// The windows of rows [first, last) in columns [column, column + columns): of
/// a plane x to a plane y.
template <bool isMax>
inline void poolColumns(const PoolPlan &plan, const float *x, float *y,
                        int64_t first, int64_t last, int64_t column,
                        int64_t columns) {
  alignas(64) float rows[PoolPlan::scratch];
  alignas(64) float results[PoolPlan::scratch];
  const int64_t perRow = plan.pitch / plan.width.stride;
  const int64_t most = PoolPlan::scratch / (plan.pitch * plan.inner);
  const int64_t from = startOf(plan.width, column);
  for (int64_t row = first; row < last; row += most) {
    const int64_t count = least(most, last - row);
    for (int64_t i = 0; i < count; ++i)
      combineDown<isMax>(plan, x, row + i, from,
                         rows + i * plan.pitch * plan.inner);
    combineAlong<isMax>(plan, rows, (count - 1) * perRow + columns, results);
    for (int64_t i = 0; i < count; ++i)
      __builtin_memcpy(y + ((row + i) * plan.width.out + column) * plan.inner,
                       results + i * perRow * plan.inner,
                       columns * plan.inner * sizeof(float));
  }
}

/// Elements [j, j + kLanes) of the window that has `rows` and `columns`, the
/// first of which are those of `x`.
template <bool isMax>
inline Vec windowOf(const PoolPlan &plan, const float *x, int64_t rows,
                    int64_t columns) {
  const int64_t rowStep = plan.height.dilation * plan.width.in * plan.inner;
  const int64_t columnStep = plan.width.dilation * plan.inner;
  Vec value = splat(kNothing<isMax>);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      value =
          combined<isMax>(value, load(x + row * rowStep + column * columnStep));
  return value;
}

/// Windows of vectors, or wider than that: each by itself, from memory.
template <bool isMax>
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
    int64_t j = 0;
    for (; j + kLanes <= inner; j += kLanes)
      store(values + j,
            windowOf<isMax>(plan, window + j, down.count(), along.count()));
    for (; j < inner; ++j) {
      float value = kNothing<isMax>;
      for (int64_t row = 0; row < down.count(); ++row)
        for (int64_t column = 0; column < along.count(); ++column)
          value = combined<isMax>(
              value, window[(row * plan.height.dilation * width.in +
                             column * width.dilation) *
                                inner +
                            j]);
      values[j] = value;
    }
  }
}

/// The mean of nothing is 0.
inline void divideRows(const PoolPlan &plan, float *y, int64_t first,
                       int64_t last) {
  constexpr int64_t most = 512;
  float counts[most];
  for (int64_t column = 0; column < plan.width.out; column += most) {
    const int64_t columns = least(most, plan.width.out - column);
    for (int64_t i = 0; i < columns; ++i)
      counts[i] = static_cast<float>(countedTaps(plan, plan.width, column + i));
    for (int64_t row = first; row < last; ++row) {
      float *sums = y + (row * plan.width.out + column) * plan.inner;
      const auto rows = static_cast<float>(countedTaps(plan, plan.height, row));
      for (int64_t i = 0; i < columns; ++i)
        for (int64_t j = i * plan.inner; j < (i + 1) * plan.inner; ++j) {
          const float count = rows * counts[i];
          sums[j] = count > 0 ? sums[j] / count : 0;
        }
    }
  }
}

template <bool isMax>
inline void poolRows(const PoolPlan &plan, const float *x, float *y,
                     int64_t first, int64_t last) {
  if (plan.columns == 0 || plan.inner % kLanes == 0)
    for (int64_t row = first; row < last; ++row)
      poolEach<isMax>(plan, x, y, row);
  else if (plan.isOneRow)
    combineAlong<isMax>(plan, x + first * plan.width.in * plan.inner,
                        (last - first) * plan.width.out,
                        y + first * plan.width.out * plan.inner);
  else
    for (int64_t column = 0; column < plan.width.out; column += plan.columns)
      poolColumns<isMax>(plan, x, y, first, last, column,
                         least(plan.columns, plan.width.out - column));
  if constexpr (!isMax)
    divideRows(plan, y, first, last);
}

void runPool(const PoolPlan &plan, void *const *arguments, int64_t begin,
             int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t plane = tile / plan.rowBlocks;
    const int64_t first = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t last = least(first + plan.rowBlock, plan.height.out);
    const float *x = static_cast<const float *>(arguments[0]) +
                     plane * plan.height.in * plan.width.in * plan.inner;
    float *y = static_cast<float *>(arguments[1]) +
               plane * plan.height.out * plan.width.out * plan.inner;
    plan.isMax ? poolRows<true>(plan, x, y, first, last)
               : poolRows<false>(plan, x, y, first, last);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_POOLROWTILES_H
