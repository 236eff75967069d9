// SPDX-License-Identifier: Apache-2.0
//
// Rows of floats rounded to bfloat16, or of bfloat16, as tiles read them: 32
// terms of a row are a line of 64 bytes, and those of the next row the next
// line. See Vector.h for who may include it.
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
/// (group * lines + shifts[tap]) * kLineTerms + row * rowStep. What there is to
/// read them gives with `at(begin, end, scratch)` the first one of groups
/// [begin, end).
struct TileLines {
  int64_t rows;   ///< Those of tiles; not all may have a result.
  int64_t groups; ///< Of terms.
  int64_t taps;
  const int64_t *shifts; ///< Of the taps, in lines.
  int64_t lines;         ///< Of a group.
  int64_t rowStep = kLineTerms;

  /// Groups that are rounded at a time: as even as they can be.
  int64_t groupsOfBlock() const {
    const int64_t most = kMostTileRows / lines;
    const int64_t blocks = (groups + most - 1) / most;
    return blocks > 0 ? (groups + blocks - 1) / blocks : 1;
  }
};

constexpr int64_t kNoShift = 0;

/// Lines that are there already.
struct RoundedLines : TileLines {
  const uint16_t *a;

  const uint16_t *at(int64_t begin, int64_t, uint16_t *) const {
    return a + begin * lines * kLineTerms;
  }
};

/// Rows of a matrix of bfloat16 where they are, all of their terms.
struct MatrixRowLines : TileLines {
  MatrixRowLines(const uint16_t *a, int64_t stride, int64_t rowCount,
                 int64_t terms)
      : TileLines{rowCount, terms / kLineTerms, 1, &kNoShift, 1, stride}, a(a) {
  }

  const uint16_t *a;

  int64_t groupsOfBlock() const { return groups; }
  const uint16_t *at(int64_t, int64_t, uint16_t *) const { return a; }
};

/// Lines that `Own` writes for some groups at a time: round(begin, end,
/// target).
template <typename Own> struct WrittenLines : TileLines {
  const uint16_t *at(int64_t begin, int64_t end, uint16_t *scratch) const {
    static_cast<const Own *>(this)->round(begin, end, scratch);
    return scratch;
  }
};

/// Of a matrix.
template <typename Source>
struct MatrixLines : WrittenLines<MatrixLines<Source>> {
  using TileLines::lines, TileLines::rows;

  /// A group has `lines`, of which those behind the rows are not written.
  MatrixLines(const Source *a, int64_t stride, int64_t rowCount, int64_t terms,
              int64_t lines)
      : WrittenLines<MatrixLines>{{rowCount,
                                   (terms + kLineTerms - 1) / kLineTerms, 1,
                                   &kNoShift, lines}},
        a(a), stride(stride), terms(terms) {}

  void round(int64_t begin, int64_t end, uint16_t *target) const {
    const int64_t whole = least(end, terms / kLineTerms);
    for (int64_t row = 0; row < rows; ++row) {
      const Source *from = a + row * stride;
      uint16_t *to = target + row * kLineTerms;
      for (int64_t group = begin; group < end;
           ++group, to += lines * kLineTerms) {
        const Source *at = from + group * kLineTerms;
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
  const Source *a;
  int64_t stride, terms;
};

/// Of the elements of a blocked tensor under pixels, which are written down for
/// each tap.
template <typename Source>
struct PixelLines : WrittenLines<PixelLines<Source>> {
  using TileLines::rows;

  PixelLines(const PixelRowsOf<Source> &pixels, int64_t count, int64_t terms)
      : WrittenLines<PixelLines>{{count, (terms + kLineTerms - 1) / kLineTerms,
                                  1, &kNoShift, count}},
        pixels(pixels), terms(terms) {}

  void round(int64_t begin, int64_t end, uint16_t *target) const {
    for (int64_t group = begin; group < end; ++group) {
      const int64_t term = group * kLineTerms;
      const auto low = pixels.terms(term);
      const bool isWhole = term + kChannelBlock < terms;
      const auto high = isWhole ? pixels.terms(term + kChannelBlock) : low;
      for (int64_t row = 0; row < rows; ++row, target += kLineTerms)
        roundLine(pixels.at(low, row),
                  isWhole ? pixels.at(high, row) : kNoTermsOf<Source>, target);
    }
  }

private:
  const PixelRowsOf<Source> &pixels;
  int64_t terms;
};

/// Of an image in blocks of channels under neighbouring pixels, whose lines all
/// taps share: rows of the image between their borders of zeros, one plane for
/// each remainder of positions by the strides. Tiles have rows for the borders
/// between two rows of pixels, too.
template <typename Source>
class StripLines : public WrittenLines<StripLines<Source>> {
public:
  using TileLines::groups, TileLines::lines, TileLines::rows, TileLines::taps;

  /// Of pixels [first, first + count); `shifts` holds kMostSplitTaps. What does
  /// not fit has no lines; of those that are rounded before all have as many.
  StripLines(const BlockedPlan &plan, const Source *x, int64_t first,
             int64_t count, int64_t *shifts);

  bool fits() const { return lines > 0; }
  /// Whether rows are pixels that follow each other in x, from this one on.
  bool isFlat() const { return flat; }
  int64_t firstInside() const { return firstPixel - plan.padTop * plan.inW; }

  void round(int64_t begin, int64_t end, uint16_t *target) const;

  /// Calls function(pixel, row, count) for pixels that follow each other and
  /// have results in rows [begin, end).
  template <typename Function>
  void forPixels(int64_t begin, int64_t end, Function &&function) const;

private:
  static constexpr bool isShort = sizeof(Source) == sizeof(uint16_t);
  static constexpr int64_t kPixelStep = blockOf<Source>;

  /// One group of the plane of rows `top` on and columns `left` on.
  void roundPlane(const Source *low, const Source *high, int64_t top,
                  int64_t left, uint16_t *target) const;
  static const Source *ofPixel(const Source *high, int64_t at) {
    return high ? high + at : kNoTermsOf<Source>;
  }

  const BlockedPlan &plan;
  const Source *x;
  int64_t firstPixel; ///< Of the first row of pixels.
  int64_t width;      ///< Pixels of a row.
  int64_t pitch;      ///< Lines of a row.
  int64_t height;     ///< Rows of a plane.
  int64_t skipped;    ///< Pixels of the first row that are not of the tile.
  int64_t planes;
  bool flat; ///< Rows of pixels lie as those of x: they are one.
  int64_t planeTop[kMostSplitTaps], planeLeft[kMostSplitTaps];
};

template <typename Source>
inline StripLines<Source>::StripLines(const BlockedPlan &plan, const Source *x,
                                      int64_t first, int64_t count,
                                      int64_t *shifts)
    : WrittenLines<StripLines>{{0, plan.inChannels / kLineTerms,
                                plan.kernelH * plan.kernelW, shifts, 0}},
      plan(plan), x(x), planes(0) {
  const bool isPoint = taps == 1;
  flat = isPoint && plan.strideH == 1 && plan.strideW == 1 &&
         plan.padTop <= 0 && plan.padLeft == 0 && plan.inW == plan.outW &&
         plan.outH - plan.padTop <= plan.inH;
  const bool isWhole = plan.inChannels % kLineTerms == 0;
  if (!isPoint && !(plan.hasPairedBlocks && isWhole))
    return;
  groups += !isWhole;
  if (flat) {
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

template <typename Source>
inline void StripLines<Source>::roundPlane(const Source *low,
                                           const Source *high, int64_t top,
                                           int64_t left,
                                           uint16_t *target) const {
  const int64_t step = plan.strideW * kPixelStep;
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
    const int64_t first = (top * plan.inW + left) * kPixelStep;
    for (int64_t i = begin; i < end; ++i)
      roundLine(low + first + i * step, ofPixel(high, first + i * step),
                target + i * kLineTerms);
    __builtin_memset(target + end * kLineTerms, 0, (pitch - end) * lineBytes);
  }
}

template <typename Source>
inline void StripLines<Source>::round(int64_t begin, int64_t end,
                                      uint16_t *target) const {
  const int64_t block = plan.inH * plan.inW * kChannelBlock;
  for (int64_t group = begin; group < end;
       ++group, target += lines * kLineTerms) {
    const Source *low = x + 2 * group * block;
    const bool isWhole = (group + 1) * kLineTerms <= plan.inChannels;
    const Source *high =
        isWhole ? low + (isShort ? kChannelBlock : block) : nullptr;
    if (flat) {
      const int64_t first = firstInside() * kPixelStep;
      for (int64_t i = 0; i < rows; ++i)
        roundLine(low + first + i * kPixelStep,
                  ofPixel(high, first + i * kPixelStep),
                  target + i * kLineTerms);
      continue;
    }
    for (int64_t plane = 0; plane < planes; ++plane)
      roundPlane(low, high, planeTop[plane], planeLeft[plane],
                 target + plane * height * pitch * kLineTerms);
  }
}

template <typename Source>
template <typename Function>
inline void StripLines<Source>::forPixels(int64_t begin, int64_t end,
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
class PlainLines : public WrittenLines<PlainLines> {
public:
  PlainLines(const PlainRows &from, int64_t rowCount)
      : WrittenLines{{rowCount, from.lines(), 1, &kNoShift, rowCount}},
        from(from) {}

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
    from.forRows(rows, [&](const PlainRows::Row &row) {
      for (int64_t index = begin * together; index < end * together; ++index) {
        uint16_t *to =
            target +
            ((index / together - begin) * lines + row.first) * kLineTerms +
            index % together * terms;
        if (index >= from.count()) {
          for (int64_t i = 0; i < row.count; ++i)
            __builtin_memset(to + i * kLineTerms, 0, sizeof(mask));
          continue;
        }
        from.round(index, row, rounded);
        for (int64_t i = 0; i < row.count; ++i) {
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

/// Of an image of bfloat16 under pixels that follow each other in it: where
/// they are, but for those that a last tile would read behind the image.
class ImageLines : public TileLines {
public:
  /// `behind`: lines that there are from the first pixel on, in the last group.
  ImageLines(const StripLines<uint16_t> &strip, const uint16_t *x,
             int64_t plane, int64_t read, int64_t behind)
      : TileLines(strip), strip(strip), x(x + strip.firstInside() * kLineTerms),
        copiesLast(read > behind) {
    lines = plane;
  }

  int64_t groupsOfBlock() const {
    return copiesLast && groups > 1 ? groups - 1 : groups;
  }
  const uint16_t *at(int64_t begin, int64_t end, uint16_t *scratch) const {
    if (!copiesLast || end < groups)
      return x + begin * lines * kLineTerms;
    strip.round(begin, end, scratch);
    return scratch;
  }

private:
  const StripLines<uint16_t> &strip;
  const uint16_t *x;
  bool copiesLast;
};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_TILEROWS_H
