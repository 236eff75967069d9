// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.norm. See Vector.h for who may include it.
//
// Means and squares of differences are of a few thousand elements at a time, in
// floats, and those of parts are put together in doubles (Chan, Golub and
// LeVeque, Algorithms for computing the sample variance, 1983). A mean is two
// floats: what a single one rounds away may be more than elements differ by.

#ifndef DLC_RUNTIME_KERNEL_CPU_NORMTILES_H
#define DLC_RUNTIME_KERNEL_CPU_NORMTILES_H

#include "Folds.h"
#include "RowSet.h"

namespace dlc::rt::cpu {
namespace {

/// Of elements whose sum or whose squares floats cannot hold, or whose squares
/// are nothing beside an epsilon of nothing.
inline NormMoments momentsOfDoubles(const NormPlan &plan, const float *x,
                                    int64_t length) {
  NormMoments moments = {};
  for (int64_t i = 0; i < length && plan.isCentered; ++i)
    moments.mean += x[i];
  moments.mean /= static_cast<double>(length);
  for (int64_t i = 0; i < length; ++i)
    moments.squares += (x[i] - moments.mean) * (x[i] - moments.mean);
  return moments;
}

/// Of a row, or a part of one, that a cache holds.
inline NormMoments momentsOf(const NormPlan &plan, const float *x,
                             int64_t length) {
  constexpr int chains = 4;
  constexpr float least = 1e-30f;
  const auto count = static_cast<double>(length);
  const float mean =
      plan.isCentered ? foldRow<SumFold>(x, length) / static_cast<float>(length)
                      : 0;
  Vec rests[chains] = {}, squares[chains] = {};
  const auto add = [&](Vec difference, int chain)
      __attribute__((always_inline)) {
    rests[chain] += difference;
    squares[chain] += difference * difference;
  };
  int64_t i = 0;
  for (; i + chains * kLanes <= length; i += chains * kLanes) {
    DLC_UNROLL for (int j = 0; j < chains; ++j)
        add(load(x + i + j * kLanes) - mean, j);
  }
  for (; i + kLanes <= length; i += kLanes)
    add(load(x + i) - mean, 0);
  float rest =
      foldLanes<SumFold>((rests[0] + rests[1]) + (rests[2] + rests[3]));
  float square =
      foldLanes<SumFold>((squares[0] + squares[1]) + (squares[2] + squares[3]));
  for (; i < length; ++i) {
    const float difference = x[i] - mean;
    rest += difference;
    square += difference * difference;
  }
  const bool isLost =
      !(square < __builtin_inff()) || (square < least && plan.epsilon < least);
  if (isLost) [[unlikely]]
    return momentsOfDoubles(plan, x, length);
  NormMoments moments = {mean, square};
  if (plan.isCentered) {
    moments.mean += rest / count;
    moments.squares -= rest * (rest / count);
  }
  return moments;
}

/// What becomes of the elements of a row: ((x * unit - mean) - rest) * factor,
/// where the unit is a power of two, with which differences and their factor
/// are floats.
struct NormRow {
  NormRow(const NormPlan &plan, const NormMoments &moments) : unit(1) {
    constexpr double large = 0x1p100, small = 0x1p-100;
    const double deviation = __builtin_sqrt(
        moments.squares / static_cast<double>(plan.length) + plan.epsilon);
    const double reach = __builtin_fabs(moments.mean) + deviation;
    if (reach > large)
      unit = 0x1p-64f;
    else if (deviation < small && reach < 1)
      unit = 0x1p64f;
    const double center = moments.mean * unit;
    mean = static_cast<float>(center);
    factor = static_cast<float>(1 / (deviation * unit));
    rest = static_cast<float>(center - mean) * factor;
  }

  [[gnu::always_inline]] Vec of(Vec x) const {
    return (x * unit - mean) * factor - rest;
  }

  float unit, mean, factor, rest;
};

/// Elements [begin, end) of row `row`.
inline void writeNorm(const NormPlan &plan, void *const *arguments, int64_t row,
                      const NormRow &norm, int64_t begin, int64_t end) {
  const float *x = static_cast<const float *>(arguments[0]) + row * plan.length;
  const auto *scale = static_cast<const float *>(arguments[1]);
  const auto *bias =
      plan.hasBias ? static_cast<const float *>(arguments[2]) : nullptr;
  float *y = static_cast<float *>(arguments[plan.inputs]) + row * plan.length;
  if (plan.channels == 0) {
    for (int64_t i = begin; i < end; i += kLanes) {
      const int64_t count = end - i;
      Vec value =
          norm.of(loadFirst(x + i, count)) * loadFirst(scale + i, count);
      if (bias)
        value += loadFirst(bias + i, count);
      storeFirst(y + i, value, count);
    }
    return;
  }
  const int64_t first = row * (plan.length / plan.inner) % plan.channels;
  while (begin < end) {
    const int64_t channel = begin / plan.inner;
    const int64_t last = least(end, (channel + 1) * plan.inner);
    const float factor = scale[first + channel];
    const float added = bias ? bias[first + channel] : 0;
    for (int64_t i = begin; i < last; i += kLanes)
      storeFirst(y + i, norm.of(loadFirst(x + i, last - i)) * factor + added,
                 last - i);
    begin = last;
  }
}

inline NormMoments together(const NormPlan &plan, const NormMoments *parts) {
  const auto countOf = [&](int64_t part) {
    return static_cast<double>(
        least(plan.part, plan.length - part * plan.part));
  };
  NormMoments all = {};
  for (int64_t i = 0; i < plan.parts; ++i)
    all.mean += parts[i].mean * countOf(i) / static_cast<double>(plan.length);
  for (int64_t i = 0; i < plan.parts; ++i) {
    const double apart = parts[i].mean - all.mean;
    all.squares += parts[i].squares + apart * apart * countOf(i);
  }
  return all;
}

void runNormRows(const NormPlan &plan, void *const *arguments, int64_t begin,
                 int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  const int64_t last = least(end * plan.rowBlock, plan.rows);
  for (int64_t row = begin * plan.rowBlock; row < last; ++row) {
    const NormMoments moments =
        momentsOf(plan, x + row * plan.length, plan.length);
    writeNorm(plan, arguments, row, NormRow(plan, moments), 0, plan.length);
  }
}

/// Parts are numbered row, part of it.
void runNormMoments(const NormPlan &plan, void *const *arguments, int64_t begin,
                    int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  auto *moments = static_cast<NormMoments *>(arguments[plan.inputs + 1]);
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t first = tile % plan.parts * plan.part;
    moments[tile] = momentsOf(plan, x + tile / plan.parts * plan.length + first,
                              least(plan.part, plan.length - first));
  }
}

void runNormParts(const NormPlan &plan, void *const *arguments, int64_t begin,
                  int64_t end) {
  const auto *moments =
      static_cast<const NormMoments *>(arguments[plan.inputs + 1]);
  for (int64_t tile = begin, next; tile < end; tile = next) {
    const int64_t row = tile / plan.parts;
    next = least((row + 1) * plan.parts, end);
    const NormRow norm(plan, together(plan, moments + row * plan.parts));
    writeNorm(plan, arguments, row, norm, tile % plan.parts * plan.part,
              least(plan.length, (next - row * plan.parts) * plan.part));
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_NORMTILES_H
