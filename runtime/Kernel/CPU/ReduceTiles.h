// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.reduce. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_REDUCETILES_H
#define DLC_RUNTIME_KERNEL_CPU_REDUCETILES_H

#include "Folds.h"
#include "RowSet.h"

namespace dlc::rt::cpu {
namespace {

/// As many vectors of columns, whose elements lie `inner` apart; of the last
/// one `lanes`.
template <typename Fold, int vectors>
inline void foldColumns(const float *x, int64_t length, int64_t inner,
                        int64_t lanes, Vec (&sums)[vectors]) {
  if (length > kFoldedTerms) {
    const int64_t half = length / 2;
    Vec others[vectors];
    foldColumns<Fold, vectors>(x, half, inner, lanes, sums);
    foldColumns<Fold, vectors>(x + half * inner, length - half, inner, lanes,
                               others);
    for (int i = 0; i < vectors; ++i)
      sums[i] = Fold::of(sums[i], others[i]);
    return;
  }
  for (Vec &sum : sums)
    sum = splat(Fold::nothing);
  for (int64_t term = 0; term < length; ++term) {
    const float *row = x + term * inner;
    DLC_UNROLL for (int i = 0; i < vectors; ++i) sums[i] = Fold::of(
        sums[i], vectors > 1 || lanes == kLanes ? load(row + i * kLanes)
                                                : loadFirst(row, lanes));
  }
}

template <typename Fold, int vectors>
inline void reduceColumns(const ReducePlan &plan, const float *x, int64_t lanes,
                          float divisor, float *y) {
  Vec sums[vectors];
  foldColumns<Fold, vectors>(x, plan.length, plan.inner, lanes, sums);
  for (int i = 0; i < vectors; ++i)
    storeFirst(y + i * kLanes, sums[i] / divisor, vectors > 1 ? kLanes : lanes);
}

template <typename Fold>
inline void reduceTile(const ReducePlan &plan, const float *x, float *y,
                       int64_t tile) {
  constexpr int many = 4;
  const float divisor = plan.isMean ? static_cast<float>(plan.length) : 1.0f;
  if (plan.inner == 1) {
    const int64_t last = least((tile + 1) * plan.rowBlock, plan.rows);
    for (int64_t row = tile * plan.rowBlock; row < last; ++row)
      y[row] = foldRow<Fold>(x + row * plan.length, plan.length) / divisor;
    return;
  }
  const int64_t row = tile / plan.columnBlocks;
  int64_t column = tile % plan.columnBlocks * plan.columnBlock;
  const int64_t last = least(column + plan.columnBlock, plan.inner);
  x += row * plan.length * plan.inner;
  y += row * plan.inner;
  for (; column + many * kLanes <= last; column += many * kLanes)
    reduceColumns<Fold, many>(plan, x + column, kLanes, divisor, y + column);
  for (; column < last; column += kLanes)
    reduceColumns<Fold, 1>(plan, x + column,
                           least<int64_t>(kLanes, last - column), divisor,
                           y + column);
}

void runReduce(const ReducePlan &plan, void *const *arguments, int64_t begin,
               int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  auto *y = static_cast<float *>(arguments[plan.resultAt]);
  for (int64_t tile = begin; tile < end; ++tile)
    switch (plan.fold) {
    case ReducePlan::Fold::Sum:
      reduceTile<SumFold>(plan, x, y, tile);
      break;
    case ReducePlan::Fold::Greatest:
      reduceTile<GreatestFold>(plan, x, y, tile);
      break;
    case ReducePlan::Fold::Least:
      reduceTile<LeastFold>(plan, x, y, tile);
      break;
    }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_REDUCETILES_H
