// SPDX-License-Identifier: Apache-2.0
//
// First layers of rounded floats: their taps, of a few channels, are no lines
// of terms. Rows of x are rounded once for a row of pixels, and read there in
// pairs of neighbours, a step apart from pixel to pixel. See Vector.h for who
// may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_PLAINCOLUMNS_H
#define DLC_RUNTIME_KERNEL_CPU_PLAINCOLUMNS_H

#include "PairKernel.h"
#include "PlainRows.h"

namespace dlc::rt::cpu {
namespace {

/// Pairs of neighbours in a row of x, under pixels of one row: what lies under
/// one pixel and the next is the same, a step apart.
struct PlainColumns {
  const PlainRows &from;
  const PlainRows::Row &row;

  /// Those of terms [begin, end), multiples of kLineTerms, for the `rows`
  /// pixels of the row; how many. The terms are in `memory`, which has room for
  /// as many lines of kMostPairRows and one, aligned as these.
  int64_t columns(int64_t rows, int64_t begin, int64_t end, Rounded *memory,
                  PairColumn *columns) const;

private:
  /// What is written for a pair, or for all that share it. That fits: two rooms
  /// for four terms, or fewer for each, of a pixel more for each pair.
  static_assert(kSplitRows + kLineTerms / 2 <= kMostPairRows);
  static int64_t roomOf(int64_t count) {
    return (2 * count + kLineTerms - 1) / kLineTerms * kLineTerms;
  }
};

[[gnu::always_inline]] inline void writePair(uint32_t pair, uint16_t *target) {
  __builtin_memcpy(target, &pair, sizeof(pair));
}
[[gnu::always_inline]] inline void writePair(uint32_t pair, float *target) {
  const uint32_t halves[] = {pair << 16, pair & 0xffff0000u};
  __builtin_memcpy(target, halves, sizeof(halves));
}

/// Pairs of each `step`-th element and, if `isWhole`, the one behind, or zero.
template <bool isWhole>
[[gnu::always_inline]] inline void
writePairsOf(const uint16_t *__restrict source, int64_t step, int64_t count,
             Rounded *__restrict target) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t pair;
    __builtin_memcpy(&pair, source + i * step, sizeof(pair));
    writePair(isWhole ? pair : pair & 0xffff, target + 2 * i);
  }
}
template <bool isWhole>
inline void writePairs(const uint16_t *source, int64_t step, int64_t count,
                       Rounded *target) {
  // The compiler makes vectors of what it knows.
  if (step == 1)
    writePairsOf<isWhole>(source, 1, count, target);
  else if (step == 2)
    writePairsOf<isWhole>(source, 2, count, target);
  else
    writePairsOf<isWhole>(source, step, count, target);
}

inline int64_t PlainColumns::columns(int64_t rows, int64_t begin, int64_t end,
                                     Rounded *memory,
                                     PairColumn *columns) const {
  const int64_t taps = from.taps(), step = from.step();
  const int64_t whole = taps / 2, ofRow = from.rowTerms() / 2;
  // From a pair to the next, in pairs that pixels share; not of few pixels.
  const int64_t apart = step == 1 ? 2 : 1;
  const bool areShared = step <= 2 && rows >= taps;
  // Those in steps of two are what is rounded.
  constexpr bool areShort = sizeof(Rounded) == sizeof(uint16_t);
  const bool areThere = areShort && areShared && step == 2 && whole > 0;
  const int64_t first = begin / from.rowTerms();
  const int64_t last = least(end / from.rowTerms(), from.count());
  PairColumn *column = columns;
  Rounded *to = memory;
  uint16_t buffer[PlainRows::kMostRounded];
  for (int64_t index = first; index < last; ++index) {
    uint16_t *rounded = areThere ? reinterpret_cast<uint16_t *>(to) : buffer;
    from.round(index, row, rounded);
    const int64_t pair = (index - first) * ofRow;
    for (int64_t j = 0; j < whole; ++j, ++column) {
      const bool isNew = !areShared || j == 0;
      const int64_t count = areShared ? rows + apart * (whole - 1) : rows;
      if (isNew && !areThere)
        writePairs<true>(rounded + 2 * j, step, count, to);
      *column = {to + (areShared ? 2 * apart * j : 0), pair + j, false};
      if (!areShared || j + 1 == whole)
        to += roomOf(count + areThere); // With what a last tap reads.
    }
    if (taps % 2 != 0) {
      writePairs<false>(rounded + 2 * whole, step, rows, to);
      *column++ = {to, pair + whole, true};
      to += roomOf(rows);
    }
  }
  return column - columns;
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PLAINCOLUMNS_H
