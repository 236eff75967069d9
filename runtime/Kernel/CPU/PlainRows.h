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
};

inline void PlainRows::round(int64_t index, int64_t row, int64_t columns,
                             uint16_t *target) const {
  const int64_t pixel = first + row;
  const int64_t top = pixel / plan.outW * plan.strideH - plan.padTop +
                      index % plan.kernelH * plan.dilationH;
  const int64_t left = pixel % plan.outW * plan.strideW - plan.padLeft;
  const int64_t count = (columns - 1) * plan.strideW + kLineTerms;
  const bool isInside = top >= 0 && top < plan.inH;
  const int64_t begin =
      isInside ? most<int64_t>(least(-left, count), 0) : count;
  const int64_t end = most(least(plan.inW - left, count), begin);
  __builtin_memset(target, 0, begin * sizeof(*target));
  if (begin < end)
    roundTerms(x + (index / plan.kernelH * plan.inH + top) * plan.inW + left +
                   begin,
               end - begin, target + begin);
  __builtin_memset(target + end, 0, (count - end) * sizeof(*target));
}

/// The same as rows of a matrix.
struct RoundedPlain {
  const PlainRows &from;

  /// As that of RoundedMatrix; the bounds are multiples of kLineTerms.
  template <typename Element>
  void round(int64_t rows, int64_t begin, int64_t end, Element *lines) const {
    uint16_t rounded[PlainRows::kMostRounded];
    const int64_t terms = from.rowTerms();
    from.forRows(rows, [&](int64_t row, int64_t count) {
      for (int64_t index = begin / terms; index < end / terms; ++index) {
        const bool isThere = index < from.count();
        if (isThere)
          from.round(index, row, count, rounded);
        for (int64_t i = 0; i < count; ++i)
          for (int64_t tap = 0; tap < terms; ++tap) {
            const uint16_t value = isThere && tap < from.taps()
                                       ? rounded[i * from.step() + tap]
                                       : 0;
            *roundedAt(lines, row + i, index * terms + tap - begin) =
                elementOf(value, Element());
          }
      }
    });
  }

private:
  static uint16_t elementOf(uint16_t rounded, uint16_t) { return rounded; }
  static float elementOf(uint16_t rounded, float) {
    const uint32_t bits = uint32_t{rounded} << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
  }
};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PLAINROWS_H
