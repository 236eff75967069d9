// SPDX-License-Identifier: Apache-2.0
//
// The elements of a plain tensor under pixels of a convolution, rounded to
// bfloat16: first layers, of few channels. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_PLAINROWS_H
#define DLC_RUNTIME_KERNEL_CPU_PLAINROWS_H

#include "PairRows.h"

namespace dlc::rt::cpu {
namespace {

/// The elements of a plain x under pixels: rows of taps, each a row of one
/// channel, of plan.rowTerms terms, those behind the taps zeros.
class PlainRows {
public:
  PlainRows(const BlockedPlan &plan, const float *x, int64_t first)
      : plan(plan), x(x), first(first) {}

  /// That there are.
  int64_t count() const { return plan.inChannels * plan.kernelH; }
  /// Lines of 32 terms for all of them.
  int64_t lines() const {
    const int64_t together = kLineTerms / plan.rowTerms;
    return (count() + together - 1) / together;
  }

  /// Pixels of one row of an image.
  struct Row {
    int64_t first, count; ///< From the first pixel on.
    int64_t top, left;    ///< What is under the first tap of the first one.
  };

  /// Of pixels those of x that are under row `index` of their taps, in order
  /// and rounded, with `step` elements from pixel to pixel.
  void round(int64_t index, const Row &row, uint16_t *target) const;

  /// Calls function(row) for each of them of `pixels` pixels.
  template <typename Function>
  void forRows(int64_t pixels, Function &&function) const {
    for (Row row = {}; row.first < pixels; row.first += row.count) {
      const int64_t y = (first + row.first) / plan.outW;
      const int64_t column = first + row.first - y * plan.outW;
      row.count = least(plan.outW - column, pixels - row.first);
      row.top = y * plan.strideH - plan.padTop;
      row.left = column * plan.strideW - plan.padLeft;
      function(row);
    }
  }
  int64_t step() const { return plan.strideW; }
  int64_t rowTerms() const { return plan.rowTerms; }
  int64_t taps() const { return plan.kernelW; }
  /// What round() writes at most.
  static constexpr int64_t kMostRounded =
      (kSplitRows - 1) * kMostPlainStep + 2 * kLineTerms;

private:
  const BlockedPlan &plan;
  const float *x;
  const int64_t first;
};

inline void PlainRows::round(int64_t index, const Row &row,
                             uint16_t *target) const {
  const int64_t channel = index / plan.kernelH, left = row.left;
  const int64_t top =
      row.top + (index - channel * plan.kernelH) * plan.dilationH;
  const int64_t count = (row.count - 1) * plan.strideW + kLineTerms;
  const bool isInside = top >= 0 && top < plan.inH;
  const int64_t begin =
      isInside ? most<int64_t>(least(-left, count), 0) : count;
  const int64_t end = most(least(plan.inW - left, count), begin);
  __builtin_memset(target, 0, begin * sizeof(*target));
  if (begin < end)
    roundTerms(x + (channel * plan.inH + top) * plan.inW + left + begin,
               end - begin, target + begin);
  __builtin_memset(target + end, 0, (count - end) * sizeof(*target));
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PLAINROWS_H
