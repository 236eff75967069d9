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
      : plan(plan), x(x), first(first), firstTop(topOf(first)),
        firstLeft(leftOf(first)) {}

  /// That there are.
  int64_t count() const { return plan.inChannels * plan.kernelH; }
  /// Lines of 32 terms for all of them.
  int64_t lines() const {
    const int64_t together = kLineTerms / plan.rowTerms;
    return (count() + together - 1) / together;
  }

  /// Of pixels of one row, `columns` of them from pixel `first` + `row` on,
  /// those of x that are under row `index` of their taps, in order and rounded,
  /// with `step` elements from pixel to pixel.
  void round(int64_t index, int64_t row, int64_t columns,
             uint16_t *target) const;

  /// Calls function(row, count) for pixels of one row of an image at a time.
  template <typename Function>
  void forRows(int64_t rows, Function &&function) const {
    for (int64_t row = 0; row < rows;) {
      const int64_t left = plan.outW - (first + row) % plan.outW;
      const int64_t count = least(left, rows - row);
      function(row, count);
      row += count;
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
  const int64_t firstTop, firstLeft;

  /// Of what is under the first tap.
  int64_t topOf(int64_t pixel) const {
    return pixel / plan.outW * plan.strideH - plan.padTop;
  }
  int64_t leftOf(int64_t pixel) const {
    return pixel % plan.outW * plan.strideW - plan.padLeft;
  }
};

inline void PlainRows::round(int64_t index, int64_t row, int64_t columns,
                             uint16_t *target) const {
  // Divisions of 64 bits would take as long as rounding.
  const int64_t channel =
      static_cast<uint32_t>(index) / static_cast<uint32_t>(plan.kernelH);
  const int64_t top = (row == 0 ? firstTop : topOf(first + row)) +
                      (index - channel * plan.kernelH) * plan.dilationH;
  const int64_t left = row == 0 ? firstLeft : leftOf(first + row);
  const int64_t count = (columns - 1) * plan.strideW + kLineTerms;
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
