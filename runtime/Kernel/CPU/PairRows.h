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

/// Numbers of sixteen bits, as many as a vector has floats.
typedef uint16_t Shorts __attribute__((vector_size(DLC_VECTOR_BYTES / 2)));

/// Bfloat16 as floats; as operands denormals are zeros.
[[gnu::always_inline]] inline Vec loadShort(const uint16_t *source) {
  Shorts values;
  __builtin_memcpy(&values, source, sizeof(values));
  return reinterpret_cast<Vec>(__builtin_convertvector(values, Words) << 16);
}
[[gnu::always_inline]] inline Vec loadFirstShort(const uint16_t *source,
                                                 int64_t count) {
  if (count >= kLanes)
    return loadShort(source);
  uint16_t values[kLanes] = {};
  for (int64_t lane = 0; lane < count; ++lane)
    values[lane] = source[lane];
  return loadShort(values);
}
[[gnu::always_inline]] inline Vec loadElements(const float *source,
                                               int64_t count) {
  return loadFirst(source, count);
}
[[gnu::always_inline]] inline Vec loadElements(const uint16_t *source,
                                               int64_t count) {
  return loadFirstShort(source, count);
}
[[gnu::always_inline]] inline Vec operandOf(Vec value) {
  const auto x = reinterpret_cast<Words>(value);
  return reinterpret_cast<Vec>((x & 0x7fffffffu) < 0x00800000u ? x & 0x80000000u
                                                               : x);
}

/// Stores the first `count` lanes, rounded.
[[gnu::always_inline]] inline void storeFirstShort(uint16_t *target, Vec value,
                                                   int64_t count) {
#ifdef __AVX512BF16__
  const auto values = (__m256i)_mm512_cvtneps_pbh(value);
#else
  const Shorts values = __builtin_convertvector(roundedOf(value) >> 16, Shorts);
#endif
  if (count >= kLanes) {
    __builtin_memcpy(target, &values, sizeof(values));
    return;
  }
  uint16_t all[kLanes];
  __builtin_memcpy(all, &values, sizeof(values));
  for (int64_t lane = 0; lane < count; ++lane)
    target[lane] = all[lane];
}

[[gnu::always_inline]] inline void storeElements(uint16_t *target, Vec value,
                                                 int64_t count) {
  storeFirstShort(target, value, count);
}
[[gnu::always_inline]] inline void storeElements(float *target, Vec value,
                                                 int64_t count) {
  storeFirst(target, value, count);
}

/// Stores a vector of operands: rounded, as kernels read them.
[[gnu::always_inline]] inline void storeOperands(uint16_t *target, Vec value) {
  storeFirstShort(target, value, kLanes);
}
[[gnu::always_inline]] inline void storeOperands(float *target, Vec value) {
  store(target, reinterpret_cast<Vec>(roundedOf(value)));
}

/// Two vectors that are complete.
[[gnu::always_inline]] inline void storeTwoShort(uint16_t *target, Vec low,
                                                 Vec high) {
#ifdef __AVX512BF16__
  _mm512_storeu_si512(target, (__m512i)_mm512_cvtne2ps_pbh(high, low));
#else
  storeFirstShort(target, low, kLanes);
  storeFirstShort(target + kLanes, high, kLanes);
#endif
}

/// Two vectors of which each second element is one's, the first one `even`'s.
[[gnu::always_inline]] inline void storeAlternating(uint16_t *target, Vec even,
                                                    Vec odd) {
#ifdef __AVX512BF16__
  constexpr auto order = [] {
    typedef uint16_t Places __attribute__((vector_size(64)));
    Places places = {};
    for (int i = 0; i < 32; ++i)
      places[i] = static_cast<uint16_t>(i / 2 + i % 2 * 16);
    return places;
  }();
  _mm512_storeu_si512(
      target, _mm512_permutexvar_epi16(
                  (__m512i)order, (__m512i)_mm512_cvtne2ps_pbh(odd, even)));
#else
  const Words pairs = roundedOf(even) >> 16 | roundedOf(odd);
  store(reinterpret_cast<float *>(target), reinterpret_cast<Vec>(pairs));
#endif
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
  int64_t i = 0;
#ifdef __AVX512BF16__
  for (; i + 2 * kLanes <= count; i += 2 * kLanes)
    storeRounded(source + i, source + i + kLanes, target + i);
#endif
  for (; i < count; i += kLanes)
    storeFirstShort(target + i, loadFirst(source + i, count - i), count - i);
}
inline void roundTerms(const float *source, int64_t count, float *target) {
  for (int64_t i = 0; i < count; i += kLanes)
    storeFirst(
        target + i,
        reinterpret_cast<Vec>(roundedOf(loadFirst(source + i, count - i))),
        count - i);
}
/// What is rounded already.
[[gnu::always_inline]] inline void roundTerms(const uint16_t *source,
                                              int64_t count, uint16_t *target) {
  __builtin_memcpy(target, source, count * sizeof(*target));
}
inline void roundTerms(const uint16_t *source, int64_t count, float *target) {
  for (int64_t i = 0; i < count; i += kLanes)
    storeFirst(target + i, operandOf(loadFirstShort(source + i, count - i)),
               count - i);
}

/// The sixteen terms at each of two places: a whole line of a cache.
template <typename Source, typename Element>
[[gnu::always_inline]] inline void
roundLine(const Source *low, const Source *high, Element *target) {
#ifdef __AVX512BF16__
  if constexpr (sizeof(Source) == sizeof(float))
    return storeRounded(low, high, target);
#endif
  roundTerms(low, kChannelBlock, target);
  roundTerms(high, kChannelBlock, target + kChannelBlock);
}

/// Rows of lines of terms, as far apart as each other.
template <typename Element> struct LineRows {
  const Element *first;
  int64_t row, line; ///< From one to the next.
};

/// Where rounded elements are put: [lines][kMostPairRows + 1][32], so that not
/// all lines of a row lie in one set of a cache.
constexpr int64_t kLineStride = (kMostPairRows + 1) * kLineTerms;
template <typename Element>
[[gnu::always_inline]] inline Element *roundedAt(Element *lines, int64_t row,
                                                 int64_t term) {
  return lines + term / kLineTerms * kLineStride + row * kLineTerms +
         term % kLineTerms;
}

/// A zero behind `terms`, if they end within a pair.
template <typename Element>
inline void endPairs(Element *lines, int64_t rows, int64_t terms) {
  if (terms % 2 != 0)
    for (int64_t i = 0; i < rows; ++i)
      *roundedAt(lines, i, terms) = 0;
}

/// Of a matrix, of floats or bfloat16.
template <typename Source> struct RoundedMatrix {
  const Source *a; ///< Of the first row.
  int64_t stride;

  /// Terms [begin, end) of some rows, to whole pairs.
  template <typename Element>
  void round(int64_t rows, int64_t begin, int64_t end, Element *lines) const {
    const int64_t terms = end - begin;
    for (int64_t i = 0; i < rows; ++i) {
      const Source *row = a + i * stride + begin;
      int64_t l = 0;
      for (; l + kLineTerms <= terms; l += kLineTerms)
        roundLine(row + l, row + l + kChannelBlock, roundedAt(lines, i, l));
      if (l < terms)
        roundTerms(row + l, terms - l, roundedAt(lines, i, l));
    }
    endPairs(lines, rows, terms);
  }

  /// Whether pairs of terms are read where they are: a row ends with a pair.
  bool isInPlace(int64_t terms) const {
    return sizeof(Source) == sizeof(uint16_t) && terms % 2 == 0;
  }
  TermRows<Source> termsFrom(int64_t begin, int64_t rows,
                             int64_t *offsets) const {
    for (int64_t i = 0; i < rows; ++i)
      offsets[i] = i * stride;
    return {a + begin, offsets, 1, 0, kLineTerms, false};
  }
};

/// Of the elements under pixels.
template <typename Source> struct RoundedPixels {
  const PixelRowsOf<Source> &pixels;

  /// As those of RoundedMatrix; the bounds are multiples of kChannelBlock.
  template <typename Element>
  void round(int64_t rows, int64_t begin, int64_t end, Element *lines) const {
    int64_t term = begin;
    for (; term + kLineTerms <= end; term += kLineTerms) {
      const auto low = pixels.terms(term);
      const auto high = pixels.terms(term + kChannelBlock);
      Element *to = roundedAt(lines, 0, term - begin);
      for (int64_t i = 0; i < rows; ++i, to += kLineTerms)
        roundLine(pixels.at(low, i), pixels.at(high, i), to);
    }
    if (term == end)
      return;
    const auto last = pixels.terms(term);
    Element *to = roundedAt(lines, 0, term - begin);
    for (int64_t i = 0; i < rows; ++i)
      roundTerms(pixels.at(last, i), kChannelBlock, to + i * kLineTerms);
  }

  bool isInPlace(int64_t) const { return sizeof(Source) == sizeof(uint16_t); }
  TermRows<Source> termsFrom(int64_t begin, int64_t, int64_t *) const {
    return pixels.linesFrom(begin / kLineTerms);
  }
};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PAIRROWS_H
