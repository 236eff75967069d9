// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.pool and cpu.softmax. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_ROWTILES_H
#define DLC_RUNTIME_KERNEL_CPU_ROWTILES_H

#include "Activations.h"
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
  return plan.countsPadding ? tapsBelow(extent, at, extent.in + extent.end)
                            : tapsWithin(extent, at, extent.in).count();
}

/// NaN is greatest.
template <bool isMax> inline float combined(float old, float value) {
  if constexpr (isMax)
    return value > old || value != value ? value : old;
  else
    return old + value;
}

/// One tap of windows [begin, end), of which that of the first is row[0].
template <bool isMax, int stride>
inline void combineTap(float *y, const float *row, int64_t begin, int64_t end,
                       int64_t anyStride) {
  const int64_t step = stride ? stride : anyStride;
  for (int64_t i = begin; i < end; ++i)
    y[i] = combined<isMax>(y[i], row[(i - begin) * step]);
}

template <bool isMax>
inline void combineRow(const PoolExtent &width, float *y, const float *row) {
  for (int64_t tap = 0; tap < width.kernel; ++tap) {
    // Windows from which on the tap is in the row, and as far as it is.
    const int64_t shift = width.begin - tap * width.dilation;
    const int64_t begin =
        shift > 0 ? (shift + width.stride - 1) / width.stride : 0;
    const int64_t last = width.in - 1 + shift;
    const int64_t end =
        last < 0 ? 0 : least(width.out, last / width.stride + 1);
    if (begin >= end)
      continue;
    const float *first = row + begin * width.stride - shift;
    if (width.stride == 1)
      combineTap<isMax, 1>(y, first, begin, end, 1);
    else if (width.stride == 2)
      combineTap<isMax, 2>(y, first, begin, end, 2);
    else if (width.stride == 4)
      combineTap<isMax, 4>(y, first, begin, end, 4);
    else
      combineTap<isMax, 0>(y, first, begin, end, width.stride);
  }
}

/// The mean of nothing is 0.
inline void divideRow(const PoolPlan &plan, float *y, int64_t position) {
  const int64_t rows = countedTaps(plan, plan.height, position);
  for (int64_t i = 0; i < plan.width.out; ++i) {
    const int64_t count = rows * countedTaps(plan, plan.width, i);
    y[i] = count ? y[i] / static_cast<float>(count) : 0;
  }
}

template <bool isMax>
inline void poolRow(const PoolPlan &plan, const float *x, float *y,
                    int64_t position) {
  for (int64_t i = 0; i < plan.width.out; ++i)
    y[i] = isMax ? -__builtin_inff() : 0;
  const int64_t at = startOf(plan.height, position);
  const Taps taps = tapsWithin(plan.height, at, plan.height.in);
  for (int64_t tap = taps.first; tap < taps.end; ++tap)
    combineRow<isMax>(plan.width, y,
                      x + (at + tap * plan.height.dilation) * plan.width.in);
  if constexpr (!isMax)
    divideRow(plan, y, position);
}

void runPool(const PoolPlan &plan, void *const *arguments, int64_t begin,
             int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t plane = tile / plan.rowBlocks;
    const int64_t first = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t last = least(first + plan.rowBlock, plan.height.out);
    const float *x = static_cast<const float *>(arguments[0]) +
                     plane * plan.height.in * plan.width.in;
    float *y = static_cast<float *>(arguments[1]) +
               plane * plan.height.out * plan.width.out;
    for (int64_t row = first; row < last; ++row) {
      float *target = y + row * plan.width.out;
      plan.isMax ? poolRow<true>(plan, x, target, row)
                 : poolRow<false>(plan, x, target, row);
    }
  }
}

/// Lanes behind `count` are `rest`.
inline Vec loadOr(const float *source, int64_t count, float rest) {
  if (count >= kLanes)
    return load(source);
  Vec value = splat(rest);
  __builtin_memcpy(&value, source, count * sizeof(float));
  return value;
}

template <typename Function> inline float foldLanes(Vec value, Function fold) {
  float result = value[0];
  for (int lane = 1; lane < kLanes; ++lane)
    result = fold(result, value[lane]);
  return result;
}

/// A NaN is seen in the sum, not here.
inline float greatestOf(const float *x, int64_t length) {
  Vec greatest = splat(-__builtin_inff());
  for (int64_t i = 0; i < length; i += kLanes) {
    const Vec value = loadOr(x + i, length - i, -__builtin_inff());
    greatest = value > greatest ? value : greatest;
  }
  return foldLanes(greatest, [](float a, float b) { return b > a ? b : a; });
}

/// The sum of e^(x - greatest), with the terms in y where that is not null.
inline float sumPowers(const float *x, float greatest, int64_t length,
                       float *y) {
  Vec sum = {};
  for (int64_t i = 0; i < length; i += kLanes) {
    const int64_t count = length - i;
    // Behind the row minus infinity: no term, or one that is no number where
    // the sum is none either.
    const Vec term = expOf(loadOr(x + i, count, -__builtin_inff()) - greatest);
    if (y)
      storeFirst(y + i, term, count);
    sum += term;
  }
  return foldLanes(sum, [](float a, float b) { return a + b; });
}

inline void softmaxRow(const float *x, float *y, int64_t length) {
  const float sum = sumPowers(x, greatestOf(x, length), length, y);
  for (int64_t i = 0; i < length; i += kLanes)
    storeFirst(y + i, loadFirst(y + i, length - i) / sum, length - i);
}

inline void logSoftmaxRow(const float *x, float *y, int64_t length) {
  const float greatest = greatestOf(x, length);
  const float sum = sumPowers(x, greatest, length, nullptr);
  const float log = __builtin_logf(sum);
  for (int64_t i = 0; i < length; i += kLanes)
    storeFirst(y + i, (loadFirst(x + i, length - i) - greatest) - log,
               length - i);
}

/// The logarithm of each lane.
inline Vec logOf(Vec value) {
  for (int lane = 0; lane < kLanes; ++lane)
    value[lane] = __builtin_logf(value[lane]);
  return value;
}

/// `count` rows beside each other, of which x[0] and y[0] are the first
/// elements.
inline void softmaxLanes(const SoftmaxPlan &plan, const float *x, float *y,
                         int64_t count) {
  Vec greatest = splat(-__builtin_inff()), sum = {};
  for (int64_t i = 0; i < plan.length; ++i) {
    const Vec value = loadFirst(x + i * plan.inner, count);
    greatest = value > greatest ? value : greatest;
  }
  for (int64_t i = 0; i < plan.length; ++i) {
    const Vec power = expOf(loadFirst(x + i * plan.inner, count) - greatest);
    if (!plan.isLog)
      storeFirst(y + i * plan.inner, power, count);
    sum += power;
  }
  const Vec log = plan.isLog ? logOf(sum) : Vec{};
  for (int64_t i = 0; i < plan.length; ++i) {
    const int64_t at = i * plan.inner;
    const Vec value = plan.isLog ? (loadFirst(x + at, count) - greatest) - log
                                 : loadFirst(y + at, count) / sum;
    storeFirst(y + at, value, count);
  }
}

/// Rows that are shorter are computed a lane for each.
constexpr int64_t kShortRow = 8;

inline void softmaxShortRows(const SoftmaxPlan &plan, const float *x, float *y,
                             int64_t rows) {
  SoftmaxPlan turned = plan;
  turned.inner = kLanes;
  float columns[kShortRow * kLanes] = {};
  for (int64_t row = 0; row < rows; row += kLanes) {
    const int64_t count = least(rows - row, int64_t{kLanes});
    for (int64_t lane = 0; lane < count; ++lane)
      for (int64_t i = 0; i < plan.length; ++i)
        columns[i * kLanes + lane] = x[(row + lane) * plan.length + i];
    softmaxLanes(turned, columns, columns, kLanes);
    for (int64_t lane = 0; lane < count; ++lane)
      for (int64_t i = 0; i < plan.length; ++i)
        y[(row + lane) * plan.length + i] = columns[i * kLanes + lane];
  }
}

inline void softmaxColumns(const SoftmaxPlan &plan, void *const *arguments,
                           int64_t tile) {
  const int64_t first = tile % plan.columnBlocks * plan.columnBlock;
  const int64_t last = least(first + plan.columnBlock, plan.inner);
  const int64_t matrix = tile / plan.columnBlocks * plan.length * plan.inner;
  for (int64_t column = first; column < last; column += kLanes)
    softmaxLanes(
        plan, static_cast<const float *>(arguments[0]) + matrix + column,
        static_cast<float *>(arguments[1]) + matrix + column, last - column);
}

void runSoftmax(const SoftmaxPlan &plan, void *const *arguments, int64_t begin,
                int64_t end) {
  if (plan.inner > 1) {
    for (int64_t tile = begin; tile < end; ++tile)
      softmaxColumns(plan, arguments, tile);
    return;
  }
  const int64_t first = begin * plan.rowBlock;
  const int64_t last = least(end * plan.rowBlock, plan.rows);
  const float *x =
      static_cast<const float *>(arguments[0]) + first * plan.length;
  float *y = static_cast<float *>(arguments[1]) + first * plan.length;
  if (plan.length <= kShortRow)
    return softmaxShortRows(plan, x, y, last - first);
  for (int64_t row = first; row < last;
       ++row, x += plan.length, y += plan.length) {
    plan.isLog ? logSoftmaxRow(x, y, plan.length)
               : softmaxRow(x, y, plan.length);
  }
}

constexpr RowKernels theseRows = {runPool, runSoftmax};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ROWTILES_H
