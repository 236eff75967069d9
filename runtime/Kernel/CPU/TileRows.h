// SPDX-License-Identifier: Apache-2.0
//
// Rows of floats rounded to bfloat16 as tiles read them: 32 terms of a row are
// a line of 64 bytes, and those of the next row the next line. See Vector.h for
// who may include it.
//
// Rows have groups of terms, each of 32 for each of some taps. Where a tap's
// line of a row is that of the first tap some rows on, as under windows that
// move along an image, an element is rounded once for all of them.

#ifndef DLC_RUNTIME_KERNEL_CPU_TILEROWS_H
#define DLC_RUNTIME_KERNEL_CPU_TILEROWS_H

#include "PlainRows.h"

namespace dlc::rt::cpu {
namespace {

/// Where lines are: that of a group, tap and row at
/// (group * lines + shifts[tap] + row) * kLineTerms.
struct TileLines {
  int64_t rows;   ///< Those of tiles; not all may have a result.
  int64_t groups; ///< Of terms.
  int64_t taps;
  const int64_t *shifts; ///< Of the taps, in lines.
  int64_t lines;         ///< Of a group.

  /// Groups that are rounded at a time: as even as they can be.
  int64_t groupsOfBlock() const {
    const int64_t most = kMostTileRows / lines;
    const int64_t blocks = (groups + most - 1) / most;
    return blocks > 0 ? (groups + blocks - 1) / blocks : 1;
  }
};

constexpr int64_t kNoShift = 0;

/// A line of the sixteen terms at each of two places.
[[gnu::always_inline]] inline void
roundLine(const float *low, const float *high, uint16_t *target) {
#ifdef __AVX512BF16__
  storeRounded(low, high, target);
#else
  roundTerms(low, kChannelBlock, target);
  roundTerms(high, kChannelBlock, target + kChannelBlock);
#endif
}

/// Lines that are there already.
struct RoundedLines : TileLines {
  const uint16_t *a;

  const uint16_t *at(int64_t group) const {
    return a + group * lines * kLineTerms;
  }
};

/// Of a matrix.
struct MatrixLines : TileLines {
  /// A group has `lines`, of which those behind the rows are not written.
  MatrixLines(const float *a, int64_t stride, int64_t rowCount, int64_t terms,
              int64_t lines)
      : TileLines{rowCount, (terms + kLineTerms - 1) / kLineTerms, 1, &kNoShift,
                  lines},
        a(a), stride(stride), terms(terms) {}

  void round(int64_t begin, int64_t end, uint16_t *target) const {
    const int64_t whole = least(end, terms / kLineTerms);
    for (int64_t row = 0; row < rows; ++row) {
      const float *from = a + row * stride;
      uint16_t *to = target + row * kLineTerms;
      for (int64_t group = begin; group < end;
           ++group, to += lines * kLineTerms) {
        const float *at = from + group * kLineTerms;
        if (group < whole) {
          roundLine(at, at + kChannelBlock, to);
          continue;
        }
        const int64_t rest = terms - group * kLineTerms;
        roundTerms(at, rest, to);
        for (int64_t i = rest; i < kLineTerms; ++i)
          to[i] = 0;
      }
    }
  }

private:
  const float *a;
  int64_t stride, terms;
};

/// Of the elements of a blocked tensor under pixels, which are written down for
/// each tap.
struct PixelLines : TileLines {
  PixelLines(const PixelRows &pixels, int64_t count, int64_t terms)
      : TileLines{count, (terms + kLineTerms - 1) / kLineTerms, 1, &kNoShift,
                  count},
        pixels(pixels), terms(terms) {}

  void round(int64_t begin, int64_t end, uint16_t *target) const {
    for (int64_t group = begin; group < end; ++group) {
      const int64_t term = group * kLineTerms;
      const PixelRows::Terms low = pixels.terms(term);
      const bool isWhole = term + kChannelBlock < terms;
      const PixelRows::Terms high =
          isWhole ? pixels.terms(term + kChannelBlock) : low;
      for (int64_t row = 0; row < rows; ++row, target += kLineTerms)
        roundLine(pixels.at(low, row),
                  isWhole ? pixels.at(high, row) : kNoTerms, target);
    }
  }

private:
  const PixelRows &pixels;
  int64_t terms;
};

/// Of an image in blocks of channels under neighbouring pixels, whose lines all
/// taps share: rows of the image between their borders of zeros, one plane for
/// each remainder of positions by the strides. Tiles have rows for the borders
/// between two rows of pixels, too.
class StripLines : public TileLines {
public:
  /// Of pixels [first, first + count); `shifts` holds kMostSplitTaps. What does
  /// not fit has no lines; of those that are rounded before all have as many.
  StripLines(const BlockedPlan &plan, const float *x, int64_t first,
             int64_t count, int64_t *shifts);

  bool fits() const { return lines > 0; }

  void round(int64_t begin, int64_t end, uint16_t *target) const;

  /// Calls function(pixel, row, count) for pixels that follow each other and
  /// have results in rows [begin, end).
  template <typename Function>
  void forPixels(int64_t begin, int64_t end, Function &&function) const;

private:
  /// One group of the plane of rows `top` on and columns `left` on.
  void roundPlane(const float *low, const float *high, int64_t top,
                  int64_t left, uint16_t *target) const;

  const BlockedPlan &plan;
  const float *x;
  int64_t firstPixel; ///< Of the first row of pixels.
  int64_t width;      ///< Pixels of a row.
  int64_t pitch;      ///< Lines of a row.
  int64_t height;     ///< Rows of a plane.
  int64_t skipped;    ///< Pixels of the first row that are not of the tile.
  int64_t planes;
  bool isFlat; ///< Rows of pixels lie as those of x: they are one.
  int64_t planeTop[kMostSplitTaps], planeLeft[kMostSplitTaps];
};

inline StripLines::StripLines(const BlockedPlan &plan, const float *x,
                              int64_t first, int64_t count, int64_t *shifts)
    : TileLines{0, plan.inChannels / kLineTerms, plan.kernelH * plan.kernelW,
                shifts, 0},
      plan(plan), x(x), planes(0) {
  const bool isPoint = taps == 1;
  isFlat = isPoint && plan.strideH == 1 && plan.strideW == 1 &&
           plan.padTop <= 0 && plan.padLeft == 0 && plan.inW == plan.outW &&
           plan.outH - plan.padTop <= plan.inH;
  const bool isWhole = plan.inChannels % kLineTerms == 0;
  if (!isPoint && !(plan.hasPairedBlocks && isWhole))
    return;
  groups += !isWhole;
  if (isFlat) {
    firstPixel = first;
    width = pitch = count;
    height = planes = 1;
    skipped = 0;
    shifts[0] = 0;
    rows = count;
    lines = plan.isRoundedBefore ? plan.blockLines : count;
    return;
  }
  width = plan.outW;
  const int64_t firstRow = first / width, last = first + count - 1;
  skipped = first % width;
  firstPixel = first - skipped;
  const int64_t reachH = (plan.kernelH - 1) * plan.dilationH;
  const int64_t reachW = (plan.kernelW - 1) * plan.dilationW;
  pitch = width + reachW / plan.strideW;
  height = last / width - firstRow + 1 + reachH / plan.strideH;
  if (pitch > kMostTileRows || height > kMostTileRows)
    return; // Windows may reach so far that products would overflow.
  rows = (last / width - firstRow) * pitch + last % width - skipped + 1;
  const int64_t top = firstRow * plan.strideH - plan.padTop;
  const int64_t left = -plan.padLeft;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t h = tap / plan.kernelW * plan.dilationH;
    const int64_t w = tap % plan.kernelW * plan.dilationW;
    const int64_t atTop = top + h % plan.strideH;
    const int64_t atLeft = left + w % plan.strideW;
    int64_t plane = 0;
    while (plane < planes &&
           (planeTop[plane] != atTop || planeLeft[plane] != atLeft))
      ++plane;
    if (plane == planes) {
      planeTop[planes] = atTop;
      planeLeft[planes++] = atLeft;
    }
    shifts[tap] = (plane * height + h / plan.strideH) * pitch +
                  w / plan.strideW + skipped;
  }
  if (rows <= kSplitRows && planes * height * pitch <= kMostTileRows)
    lines = plan.isRoundedBefore ? plan.blockLines : planes * height * pitch;
}

inline void StripLines::roundPlane(const float *low, const float *high,
                                   int64_t top, int64_t left,
                                   uint16_t *target) const {
  const int64_t step = plan.strideW * kChannelBlock;
  // Columns [begin, end) of the plane are in x.
  const int64_t begin =
      left >= 0 ? 0 : least((-left + plan.strideW - 1) / plan.strideW, pitch);
  const int64_t inside =
      plan.inW > left ? (plan.inW - left + plan.strideW - 1) / plan.strideW : 0;
  const int64_t end = most(least(inside, pitch), begin);
  constexpr int64_t lineBytes = kLineTerms * sizeof(uint16_t);
  for (int64_t row = 0; row < height;
       ++row, top += plan.strideH, target += pitch * kLineTerms) {
    if (top < 0 || top >= plan.inH) {
      __builtin_memset(target, 0, pitch * lineBytes);
      continue;
    }
    __builtin_memset(target, 0, begin * lineBytes);
    const int64_t first = (top * plan.inW + left) * kChannelBlock;
    for (int64_t i = begin; i < end; ++i)
      roundLine(low + first + i * step,
                high ? high + first + i * step : kNoTerms,
                target + i * kLineTerms);
    __builtin_memset(target + end * kLineTerms, 0, (pitch - end) * lineBytes);
  }
}

inline void StripLines::round(int64_t begin, int64_t end,
                              uint16_t *target) const {
  const int64_t block = plan.inH * plan.inW * kChannelBlock;
  for (int64_t group = begin; group < end;
       ++group, target += lines * kLineTerms) {
    const float *low = x + 2 * group * block;
    const bool isWhole = (group + 1) * kLineTerms <= plan.inChannels;
    const float *high = isWhole ? low + block : nullptr;
    if (isFlat) {
      const int64_t first =
          (firstPixel - plan.padTop * plan.inW) * kChannelBlock;
      for (int64_t i = 0; i < rows; ++i)
        roundLine(low + first + i * kChannelBlock,
                  high ? high + first + i * kChannelBlock : kNoTerms,
                  target + i * kLineTerms);
      continue;
    }
    for (int64_t plane = 0; plane < planes; ++plane)
      roundPlane(low, high, planeTop[plane], planeLeft[plane],
                 target + plane * height * pitch * kLineTerms);
  }
}

template <typename Function>
inline void StripLines::forPixels(int64_t begin, int64_t end,
                                  Function &&function) const {
  for (int64_t row = begin; row < end;) {
    const int64_t line = row + skipped, column = line % pitch;
    if (column < width) {
      const int64_t count = least(width - column, end - row);
      function(firstPixel + line / pitch * width + column, row, count);
      row += count;
    } else {
      row += pitch - column;
    }
  }
}

/// Of a plain image.
class PlainLines : public TileLines {
public:
  PlainLines(const PlainRows &from, int64_t rowCount)
      : TileLines{rowCount, from.lines(), 1, &kNoShift, rowCount}, from(from) {}

  void round(int64_t begin, int64_t end, uint16_t *target) const {
    switch (from.rowTerms()) {
    case 4:
      return roundRows<4>(begin, end, target);
    case 8:
      return roundRows<8>(begin, end, target);
    case 16:
      return roundRows<16>(begin, end, target);
    default:
      return roundRows<32>(begin, end, target);
    }
  }

private:
  template <int terms>
  void roundRows(int64_t begin, int64_t end, uint16_t *target) const {
    alignas(64) uint16_t mask[terms]; // Behind the taps may be NaN.
    for (int i = 0; i < terms; ++i)
      mask[i] = i < from.taps() ? 0xffff : 0;
    alignas(64) uint16_t rounded[PlainRows::kMostRounded];
    constexpr int64_t together = kLineTerms / terms;
    const int64_t step = from.step();
    from.forRows(rows, [&](int64_t row, int64_t count) {
      for (int64_t index = begin * together; index < end * together; ++index) {
        uint16_t *to = target +
                       ((index / together - begin) * lines + row) * kLineTerms +
                       index % together * terms;
        if (index >= from.count()) {
          for (int64_t i = 0; i < count; ++i)
            __builtin_memset(to + i * kLineTerms, 0, sizeof(mask));
          continue;
        }
        from.round(index, row, count, rounded);
        for (int64_t i = 0; i < count; ++i) {
          uint16_t value[terms];
          __builtin_memcpy(value, rounded + i * step, sizeof(value));
          DLC_UNROLL for (int l = 0; l < terms; ++l) value[l] &= mask[l];
          __builtin_memcpy(to + i * kLineTerms, value, sizeof(value));
        }
      }
    });
  }

  const PlainRows &from;
};

/// That was rounded before.
struct RoundedStrip : StripLines {
  const uint16_t *a;

  const uint16_t *at(int64_t group) const {
    return a + group * lines * kLineTerms;
  }
};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_TILEROWS_H
