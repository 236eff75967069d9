// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.softmax. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_ROWTILES_H
#define DLC_RUNTIME_KERNEL_CPU_ROWTILES_H

#include "Activations.h"
#include "NormTiles.h"
#include "PoolRowTiles.h"
#include "ReduceTiles.h"

namespace dlc::rt::cpu {
namespace {

/// Lanes behind `count` are `rest`.
inline Vec loadOr(const float *source, int64_t count, float rest) {
  if (count >= kLanes)
    return load(source);
  Vec value = splat(rest);
  __builtin_memcpy(&value, source, count * sizeof(float));
  return value;
}

/// The sum of e^(x - greatest), with the terms in y where that is not null.
inline float sumPowers(const float *x, float greatest, int64_t length,
                       float *y) {
  Vec sum = {};
  for (int64_t i = 0; i < length; i += kLanes) {
    const int64_t count = length - i;
    // Behind the row minus infinity: no term, or one that is no number where
    // the sum is none either.
    const Vec term =
        weightOf(loadOr(x + i, count, -__builtin_inff()) - greatest);
    if (y)
      storeFirst(y + i, term, count);
    sum += term;
  }
  return foldLanes<SumFold>(sum);
}

inline void softmaxRow(const float *x, float *y, int64_t length) {
  const float greatest = foldRow<GreatestFold>(x, length);
  const float factor = 1 / sumPowers(x, greatest, length, y);
  for (int64_t i = 0; i < length; i += kLanes)
    storeFirst(y + i, loadFirst(y + i, length - i) * factor, length - i);
}

inline void logSoftmaxRow(const float *x, float *y, int64_t length) {
  const float greatest = foldRow<GreatestFold>(x, length);
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
    const Vec power = weightOf(loadFirst(x + i * plan.inner, count) - greatest);
    if (!plan.isLog)
      storeFirst(y + i * plan.inner, power, count);
    sum += power;
  }
  const Vec log = plan.isLog ? logOf(sum) : Vec{}, factor = 1.0f / sum;
  for (int64_t i = 0; i < plan.length; ++i) {
    const int64_t at = i * plan.inner;
    const Vec value = plan.isLog ? (loadFirst(x + at, count) - greatest) - log
                                 : loadFirst(y + at, count) * factor;
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

constexpr RowKernels theseRows = {runPool,     runSoftmax,     runReduce,
                                  runNormRows, runNormMoments, runNormParts};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ROWTILES_H
