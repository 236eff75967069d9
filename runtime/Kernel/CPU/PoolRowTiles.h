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
  // Divisions would take longer than the taps.
  const int64_t last = limit - at - 1;
  return least(extent.kernel,
               1 + (extent.dilation == 1 ? last : last / extent.dilation));
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
  case 3:
    return combineTap<Fold, 3>(y, x, count, 3, isFirst);
  case 4:
    return combineTap<Fold, 4>(y, x, count, 4, isFirst);
  default:
    return combineTap<Fold, 0>(y, x, count, stride, isFirst);
  }
}

/// Windows two elements apart, each of `taps` that lie `tapStep` apart.
template <typename Fold>
inline void combineEven(float *y, const float *x, int64_t count, int64_t taps,
                        int64_t tapStep) {
  auto combine = [&](int64_t i, auto &&loadTap) __attribute__((always_inline)) {
    const float *first = x + 2 * i;
    Vec value = loadTap(first);
    DLC_KEEP_ROLLED for (int64_t tap = 1; tap < taps; ++tap) value =
        Fold::of(value, loadTap(first + tap * tapStep));
    return value;
  };
  // Of the last vector, the last element may be behind the end.
  int64_t i = 0;
  for (; i + kLanes < count; i += kLanes)
    store(y + i, combine(
                     i, [](const float *from) __attribute__((always_inline)) {
                       return evenOf(load(from), load(from + kLanes));
                     }));
  const int64_t left = 2 * (count - i) - 1;
  storeFirst(y + i,
             combine(
                 i,
                 [&](const float *from) __attribute__((always_inline)) {
                   return evenOf(loadFirst(from, left),
                                 loadFirst(from + kLanes, left - kLanes));
                 }),
             count - i);
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

/// `pitch` columns from `column` on, in vectors, and which lanes are within the
/// image.
struct ColumnMasks {
  ColumnMasks(const PoolPlan &plan, int64_t column)
      : count((plan.pitch * plan.inner + kLanes - 1) / kLanes) {
    const int64_t begin = -column * plan.inner;
    const int64_t end = (plan.width.in - column) * plan.inner;
    for (int64_t i = 0; i < count; ++i)
      of[i] = lanes(begin - i * kLanes, end - i * kLanes);
    firstWhole = begin < 0 ? 0 : (begin + kLanes - 1) / kLanes;
    endWhole = end / kLanes;
  }

  /// Whether vector i is better loaded without its mask.
  bool isWhole(int64_t i) const {
    return kLanes < 16 && i >= firstWhole && i < endWhole;
  }

  int64_t count, firstWhole, endWhole;
  LaneMask of[PoolPlan::scratch / kLanes];
};

/// `taps` of a window at row `at` of an image combined down each column, of
/// which the first is at x[0]. Writes whole vectors.
template <typename Fold>
inline void combineDown(const PoolPlan &plan, const float *x, int64_t at,
                        Taps taps, const ColumnMasks &columns, float *row) {
  const int64_t inRow = plan.width.in * plan.inner;
  const int64_t tapStep = plan.height.dilation * inRow, count = taps.count();
  const Vec nothing = splat(Fold::nothing);
  if (count > 0) // Else it may be anywhere.
    x += at * inRow + taps.first * tapStep;
  for (int64_t i = 0; i < columns.count; ++i, x += kLanes, row += kLanes) {
    auto combine = [&](auto &&loadFrom) __attribute__((always_inline)) {
      Vec value = count ? loadFrom(x) : nothing;
      DLC_KEEP_ROLLED for (int64_t tap = 1; tap < count; ++tap) value =
          Fold::of(value, loadFrom(x + tap * tapStep));
      store(row, value);
    };
    if (columns.isWhole(i))
      combine([](const float *from)
                  __attribute__((always_inline)) { return load(from); });
    else
      combine([&](const float *from) __attribute__((always_inline)) {
        return maskedLoad(from, columns.of[i], nothing);
      });
  }
}

/// `count` windows of rows that are `plan.pitch` apart, one after the other.
template <typename Fold>
inline void combineAlong(const PoolPlan &plan, const float *rows, int64_t count,
                         float *y) {
  const PoolExtent &width = plan.width;
  const int64_t inner = plan.inner, tapStep = width.dilation * inner;
  if (width.stride == 1)
    return combineRun<Fold>(y, rows, count * inner, width.kernel, tapStep);
  if (width.stride == 2 && inner == 1)
    return combineEven<Fold>(y, rows, count, width.kernel, tapStep);
  if (inner > 1) {
    for (int64_t i = 0; i < count; ++i)
      combineRun<Fold>(y + i * inner, rows + i * width.stride * inner, inner,
                       width.kernel, tapStep);
    return;
  }
  for (int64_t tap = 0; tap < width.kernel; ++tap)
    combineTap<Fold>(y, rows + tap * tapStep, count, width.stride, tap == 0);
}

inline float reciprocalOf(int64_t taps) {
  return taps > 0 ? 1 / static_cast<float>(taps) : 0; // the mean of nothing
}

/// What the sums of windows are multiplied with by how many columns they count,
/// which all rows share.
class ColumnFactors {
public:
  static constexpr int64_t most = PoolPlan::scratch;

  /// Those of `count` elements from `begin` on of a row of results.
  const float *find(const PoolPlan &plan, int64_t begin, int64_t count) {
    if (begin == begin_)
      return factors_;
    begin_ = begin;
    int64_t column = begin / plan.inner;
    for (int64_t i = 0, end = 0; i < count; ++column) {
      end = least((column + 1) * plan.inner - begin, count);
      const float factor = reciprocalOf(countedTaps(plan, plan.width, column));
      for (; i < end; ++i)
        factors_[i] = factor;
    }
    return factors_;
  }

private:
  int64_t begin_ = -1;
  float factors_[most + kLanes];
};

/// Sums of whole rows become means.
inline void divideRows(const PoolPlan &plan, float *y, int64_t first,
                       int64_t last, ColumnFactors &columns) {
  const int64_t size = plan.width.out * plan.inner;
  for (int64_t begin = 0; begin < size; begin += ColumnFactors::most) {
    const int64_t count = least(ColumnFactors::most, size - begin);
    const float *factors = columns.find(plan, begin, count);
    for (int64_t row = first; row < last; ++row) {
      const float factor = reciprocalOf(countedTaps(plan, plan.height, row));
      float *sums = y + row * size + begin;
      for (int64_t i = 0; i < count; ++i)
        sums[i] *= factors[i] * factor;
    }
  }
}

/// `count` results, which are sums where their columns have factors.
inline void putRow(float *y, const float *results, int64_t count,
                   const float *columns, float row) {
  for (int64_t i = 0; i < count; i += kLanes) {
    Vec value = load(results + i);
    if (columns)
      value *= load(columns + i) * splat(row);
    storeFirst(y + i, value, count - i);
  }
}

/// The windows of rows [first, last) in columns [column, column + columns): of
/// planes x to planes y. What is combined of each row of theirs lies side by
/// side.
template <typename Fold>
inline void poolColumns(const PoolPlan &plan, const float *x, float *y,
                        int64_t planes, int64_t first, int64_t last,
                        int64_t column, int64_t columns, ColumnFactors &means) {
  // Rows are read and written in whole vectors.
  alignas(64) float scratch[2][PoolPlan::scratch + kLanes];
  const PoolExtent &height = plan.height, &width = plan.width;
  const int64_t inner = plan.inner, rowSize = planes * plan.pitch * inner;
  const int64_t inPlane = height.in * width.in * inner;
  const int64_t outPlane = height.out * width.out * inner;
  const int64_t perPlane = plan.pitch / width.stride;
  const int64_t from = startOf(width, column), size = columns * inner;
  const ColumnMasks masks(plan, from);
  const float *factors =
      plan.isMax ? nullptr : means.find(plan, column * inner, size);
  // Rows that windows share are read for all of them.
  const int64_t shared = height.isTwice ? height.kernel - 1 : 0;
  const int64_t most = PoolPlan::scratch / rowSize - shared;
  for (int64_t row = first; row < last; row += most) {
    const int64_t count = least(most, last - row);
    float *rows = scratch[0], *results = scratch[1];
    float *to = height.isTwice ? results : rows;
    for (int64_t i = 0; i < count + shared; ++i) {
      const int64_t at = startOf(height, row + i);
      const Taps taps = height.isTwice ? Taps{0, at >= 0 && at < height.in}
                                       : tapsWithin(height, at, height.in);
      for (int64_t plane = 0; plane < planes; ++plane, to += plan.pitch * inner)
        combineDown<Fold>(plan, x + plane * inPlane + from * inner, at, taps,
                          masks, to);
    }
    if (height.isTwice)
      combineTwice<Fold>(rows, results, count * rowSize, height.kernel,
                         rowSize);
    const int64_t windows = (count * planes - 1) * perPlane + columns;
    if (width.isTwice)
      combineTwice<Fold>(results, rows, windows * inner, width.kernel,
                         width.dilation * inner);
    else
      combineAlong<Fold>(plan, rows, windows, results);
    const float *result = results;
    for (int64_t i = row; i < row + count; ++i) {
      const float factor =
          plan.isMax ? 1 : reciprocalOf(countedTaps(plan, height, i));
      float *to = y + (i * width.out + column) * inner;
      for (int64_t plane = 0; plane < planes;
           ++plane, result += perPlane * inner)
        putRow(to + plane * outPlane, result, size, factors, factor);
    }
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

/// Rows [first, last) of `planes` planes x to planes y.
template <typename Fold>
inline void poolRows(const PoolPlan &plan, const float *x, float *y,
                     int64_t planes, int64_t first, int64_t last,
                     ColumnFactors &means) {
  const int64_t inPlane = plan.height.in * plan.width.in * plan.inner;
  const int64_t outPlane = plan.height.out * plan.width.out * plan.inner;
  if (plan.columns > 0 && plan.inner % kLanes != 0 && !plan.isWhole &&
      !plan.isOneRow) {
    for (int64_t plane = 0; plane < planes; plane += plan.planesAtOnce)
      for (int64_t column = 0; column < plan.width.out; column += plan.columns)
        poolColumns<Fold>(plan, x + plane * inPlane, y + plane * outPlane,
                          least(plan.planesAtOnce, planes - plane), first, last,
                          column, least(plan.columns, plan.width.out - column),
                          means);
    return;
  }
  for (int64_t plane = 0; plane < planes; ++plane) {
    if (plan.isWhole)
      y[0] = foldRow<Fold>(x, inPlane);
    else if (plan.isOneRow)
      combineAlong<Fold>(plan, x + first * plan.width.in * plan.inner,
                         (last - first) * plan.width.out,
                         y + first * plan.width.out * plan.inner);
    else
      for (int64_t row = first; row < last; ++row)
        poolEach<Fold>(plan, x, y, row);
    if (!plan.isMax)
      divideRows(plan, y, first, last, means);
    x += inPlane;
    y += outPlane;
  }
}

void runPool(const PoolPlan &plan, void *const *arguments, int64_t begin,
             int64_t end) {
  ColumnFactors means;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t plane = tile / plan.rowBlocks * plan.planeBlock;
    const int64_t planes = least(plan.planeBlock, plan.planes - plane);
    const int64_t first = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t last = least(first + plan.rowBlock, plan.height.out);
    const float *x = static_cast<const float *>(arguments[0]) +
                     plane * plan.height.in * plan.width.in * plan.inner;
    float *y = static_cast<float *>(arguments[1]) +
               plane * plan.height.out * plan.width.out * plan.inner;
    plan.isMax ? poolRows<GreatestFold>(plan, x, y, planes, first, last, means)
               : poolRows<SumFold>(plan, x, y, planes, first, last, means);
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_POOLROWTILES_H
