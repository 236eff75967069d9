// SPDX-License-Identifier: Apache-2.0
//
// Rows of floats that are rounded to bfloat16. See Vector.h for who may include
// it.

#ifndef DLC_RUNTIME_KERNEL_CPU_PAIRROWS_H
#define DLC_RUNTIME_KERNEL_CPU_PAIRROWS_H

#include "PixelRows.h"

namespace dlc::rt::cpu {
namespace {

/// Rounds to the nearest bfloat16, of two the even one: beyond the largest one
/// to infinity. Denormals are zeros, NaN stays NaN. In the upper halves.
[[gnu::always_inline]] inline Words roundedOf(Vec value) {
  const auto x = reinterpret_cast<Words>(value);
  const Words size = x & 0x7fffffffu;
  Words rounded = x + 0x7fffu + (x >> 16 & 1u);
  rounded = size > 0x7f800000u ? x | 0x400000u : rounded;
  rounded = size < 0x00800000u ? x & 0x80000000u : rounded;
  return rounded & 0xffff0000u;
}

#ifdef __AVX512BF16__
/// The sixteen floats at each of two places, to any multiple of two bytes.
[[gnu::always_inline]] inline void
storeRounded(const float *low, const float *high, void *target) {
  _mm512_storeu_si512(target,
                      (__m512i)_mm512_cvtne2ps_pbh(load(high), load(low)));
}
#endif

/// Rounds `count` floats so.
inline void roundTerms(const float *source, int64_t count, uint16_t *target) {
#ifdef __AVX512BF16__
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes)
    storeRounded(source + i, source + i + kLanes, target + i);
  for (; i + kLanes <= count; i += kLanes)
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(target + i),
                        (__m256i)_mm512_cvtneps_pbh(load(source + i)));
  if (i < count) {
    const auto half = _mm512_cvtneps_pbh(loadFirst(source + i, count - i));
    _mm256_mask_storeu_epi16(target + i, lanes(0, count - i).bits,
                             (__m256i)half);
  }
#else
  for (int64_t i = 0; i < count; i += kLanes) {
    const Words rounded = roundedOf(loadFirst(source + i, count - i));
    for (int lane = 0; lane < kLanes && i + lane < count; ++lane)
      target[i + lane] = static_cast<uint16_t>(rounded[lane] >> 16);
  }
#endif
}
inline void roundTerms(const float *source, int64_t count, float *target) {
  for (int64_t i = 0; i < count; i += kLanes)
    storeFirst(
        target + i,
        reinterpret_cast<Vec>(roundedOf(loadFirst(source + i, count - i))),
        count - i);
}

/// Sixteen terms of two rows, which follow each other: a whole line of a cache.
template <typename Element>
[[gnu::always_inline]] inline void
roundTwoRows(const float *source, int64_t stride, Element *target) {
#ifdef __AVX512BF16__
  storeRounded(source, source + stride, target);
#else
  roundTerms(source, kChannelBlock, target);
  roundTerms(source + stride, kChannelBlock, target + kChannelBlock);
#endif
}

/// What blocks of terms are multiples of, but for the last one.
constexpr int64_t kPairGranule = 32;

/// Where rounded elements lie: sixteen terms of a row next to each other, and
/// `row` elements behind those of the row before, `block` behind those in front
/// of them.
struct RoundedPlace {
  int64_t row, block;

  template <typename Element>
  [[gnu::always_inline]] Element *at(Element *target, int64_t rowIndex,
                                     int64_t term) const {
    return target + term / kChannelBlock * block + rowIndex * row +
           term % kChannelBlock;
  }
  /// Zeros behind `terms`, up to a multiple of kPairGranule.
  template <typename Element>
  void pad(Element *target, int64_t rows, int64_t terms) const {
    for (; terms % kPairGranule != 0; ++terms)
      for (int64_t i = 0; i < rows; ++i)
        *at(target, i, terms) = 0;
  }
};

/// Of a matrix.
struct RoundedMatrix {
  const float *a; ///< Of the first row.
  int64_t stride;

  /// Terms [begin, end) of some rows, padded.
  template <typename Element>
  void round(int64_t rows, int64_t begin, int64_t end, Element *target,
             RoundedPlace place) const {
    const int64_t terms = end - begin;
    int64_t i = 0;
    if (place.row == kChannelBlock && terms % kChannelBlock == 0)
      for (; i + 2 <= rows; i += 2)
        for (int64_t l = 0; l < terms; l += kChannelBlock)
          roundTwoRows(a + i * stride + begin + l, stride,
                       place.at(target, i, l));
    for (; i < rows; ++i) {
      const float *row = a + i * stride + begin;
      int64_t l = 0;
      for (; l + kChannelBlock <= terms; l += kChannelBlock)
        roundTerms(row + l, kChannelBlock, place.at(target, i, l));
      if (l < terms)
        roundTerms(row + l, terms - l, place.at(target, i, l));
    }
    place.pad(target, rows, terms);
  }
};

/// Of the elements under pixels.
struct RoundedPixels {
  const PixelRows &pixels;

  /// As that of RoundedMatrix; the bounds are multiples of kChannelBlock.
  template <typename Element>
  void round(int64_t rows, int64_t begin, int64_t end, Element *target,
             RoundedPlace place) const {
    for (int64_t term = begin; term < end; term += kChannelBlock) {
      const PixelRows::Terms from = pixels.terms(term);
      Element *to = place.at(target, 0, term - begin);
      if (pixels.areAdjacent() && place.row == kChannelBlock) {
        roundTerms(pixels.at(from, 0), rows * kChannelBlock, to);
        continue;
      }
      for (int64_t i = 0; i < rows; ++i)
        roundTerms(pixels.at(from, i), kChannelBlock, to + i * place.row);
    }
    place.pad(target, rows, end - begin);
  }
};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PAIRROWS_H
