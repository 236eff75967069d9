// SPDX-License-Identifier: Apache-2.0
//
// Vectors of the width that the including file sets. Included only by the
// files compiled per instruction set, once in each: all names have internal
// linkage, so no copy can be shared between instruction sets.

#ifndef DLC_RUNTIME_KERNEL_CPU_VECTOR_H
#define DLC_RUNTIME_KERNEL_CPU_VECTOR_H

#ifndef DLC_VECTOR_BYTES
#error "define DLC_VECTOR_BYTES before including the kernels"
#endif

#include <cstdint>
#if DLC_VECTOR_BYTES > 16
#include <immintrin.h>
#endif

#ifdef __clang__
#define DLC_UNROLL _Pragma("clang loop unroll(full)")
#define DLC_KEEP_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define DLC_UNROLL _Pragma("GCC unroll 16")
#define DLC_KEEP_ROLLED _Pragma("GCC unroll 1")
#endif

// Every register is taken: clang's scheduler would move loads up from further
// down and spill sums for them. gcc's does not, and spills with the fence.
#ifdef __clang__
#define DLC_KEEP_LOADS_HERE() asm volatile("" ::: "memory")
#else
#define DLC_KEEP_LOADS_HERE() (void)0
#endif

namespace dlc::rt::cpu {
namespace {

constexpr int kLanes = DLC_VECTOR_BYTES / 4;

typedef float Vec __attribute__((vector_size(DLC_VECTOR_BYTES)));
typedef int32_t IntVec __attribute__((vector_size(DLC_VECTOR_BYTES)));
typedef uint32_t Words __attribute__((vector_size(DLC_VECTOR_BYTES)));
typedef float UnalignedVec
    __attribute__((vector_size(DLC_VECTOR_BYTES), aligned(4), may_alias));
/// Four floats, whatever the width.
typedef float Quad __attribute__((vector_size(16)));
typedef float UnalignedQuad
    __attribute__((vector_size(16), aligned(4), may_alias));

[[gnu::always_inline]] inline Vec load(const float *source) {
  return *reinterpret_cast<const UnalignedVec *>(source);
}
[[gnu::always_inline]] inline void store(float *target, Vec value) {
  *reinterpret_cast<UnalignedVec *>(target) = value;
}
[[gnu::always_inline]] inline Vec splat(float value) {
  return value - Vec{}; // subtracting zero keeps even -0, so it folds away
}

/// c + a * b and c - a * b. clang leaves a product that both need to a multiply
/// of its own.
[[gnu::always_inline]] inline Vec plusProduct(Vec c, float a, Vec b) {
#if defined(__clang__) && defined(__FMA__)
  return __builtin_elementwise_fma(splat(a), b, c);
#else
  return c + a * b;
#endif
}
[[gnu::always_inline]] inline Vec minusProduct(Vec c, float a, Vec b) {
  return plusProduct(c, -a, b);
}

/// max(x, bound) and min(x, bound) that keep a NaN of x.
[[gnu::always_inline]] inline Vec maxOf(Vec x, Vec bound) {
  return bound > x ? bound : x;
}
[[gnu::always_inline]] inline Vec minOf(Vec x, Vec bound) {
  return bound < x ? bound : x;
}

template <typename T> [[gnu::always_inline]] inline T least(T a, T b) {
  return b < a ? b : a;
}
template <typename T> [[gnu::always_inline]] inline T most(T a, T b) {
  return a < b ? b : a;
}

/// Lanes [begin, end) of a vector, for loads that must not touch the others'
/// memory. The bounds may lie outside the vector.
struct LaneMask {
#if DLC_VECTOR_BYTES == 64
  __mmask16 bits;
#elif DLC_VECTOR_BYTES == 32
  __m256i bits;
#else
  int begin, end;
#endif
};

[[gnu::always_inline]] inline LaneMask lanes(int64_t begin, int64_t end) {
  // Clamped before they are narrowed: positions may lie 2^31 outside.
  int first = static_cast<int>(least<int64_t>(most<int64_t>(begin, 0), kLanes));
  int last = static_cast<int>(most<int64_t>(least<int64_t>(end, kLanes), 0));
#if DLC_VECTOR_BYTES == 64
  uint32_t below = last > 0 ? (1u << last) - 1u : 0u;
  uint32_t skip = first < kLanes ? (1u << first) - 1u : 0xffffu;
  return {static_cast<__mmask16>(below & ~skip)};
#elif DLC_VECTOR_BYTES == 32
  IntVec index = {0, 1, 2, 3, 4, 5, 6, 7};
  IntVec inside = (index >= first) & (index < last);
  return {reinterpret_cast<__m256i>(inside)};
#else
  return {first, last};
#endif
}

/// The masked lanes of source[0...]; the others are zero.
[[gnu::always_inline]] inline Vec maskedLoad(const float *source,
                                             LaneMask mask) {
#if DLC_VECTOR_BYTES == 64
  return _mm512_maskz_loadu_ps(mask.bits, source);
#elif DLC_VECTOR_BYTES == 32
  return _mm256_maskload_ps(source, mask.bits);
#else
  Vec value = {};
  for (int lane = mask.begin; lane < mask.end; ++lane)
    value[lane] = source[lane];
  return value;
#endif
}

/// The same with `others` in the other lanes.
[[gnu::always_inline]] inline Vec maskedLoad(const float *source, LaneMask mask,
                                             Vec others) {
#if DLC_VECTOR_BYTES == 64
  return _mm512_mask_loadu_ps(others, mask.bits, source);
#elif DLC_VECTOR_BYTES == 32
  return _mm256_blendv_ps(others, maskedLoad(source, mask),
                          _mm256_castsi256_ps(mask.bits));
#else
  DLC_UNROLL for (int lane = 0; lane < kLanes;
                  ++lane) if (lane >= mask.begin && lane < mask.end)
      others[lane] = source[lane];
  return others;
#endif
}

/// Stores the first `count` lanes.
[[gnu::always_inline]] inline void storeFirst(float *target, Vec value,
                                              int64_t count) {
  if (count >= kLanes)
    return store(target, value);
#if DLC_VECTOR_BYTES == 64
  _mm512_mask_storeu_ps(target, lanes(0, count).bits, value);
#elif DLC_VECTOR_BYTES == 32
  _mm256_maskstore_ps(target, lanes(0, count).bits, value);
#else
  for (int64_t lane = 0; lane < count; ++lane)
    target[lane] = value[lane];
#endif
}

[[gnu::always_inline]] inline Vec loadFirst(const float *source,
                                            int64_t count) {
  return count >= kLanes ? load(source) : maskedLoad(source, lanes(0, count));
}

/// Elements 0, 2, 4, ... of the 2 * kLanes elements of low and high.
[[gnu::always_inline]] inline Vec evenOf(Vec low, Vec high) {
#if DLC_VECTOR_BYTES == 64
  return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18,
                                 20, 22, 24, 26, 28, 30);
#elif DLC_VECTOR_BYTES == 32
  return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
#else
  return __builtin_shufflevector(low, high, 0, 2, 4, 6);
#endif
}

/// The lanes that `i`, `j`, `k` and `l` say of each four lanes: 0 to 3 are
/// those of a, 4 to 7 those of b. Shuffles that stay within four lanes are
/// cheap.
template <int i, int j, int k, int l>
[[gnu::always_inline]] inline Vec shuffleQuads(Vec a, Vec b) {
  constexpr auto at = [](int lane, int quad) {
    return lane < 4 ? 4 * quad + lane : kLanes + 4 * quad + lane - 4;
  };
#define DLC_QUAD(q) at(i, q), at(j, q), at(k, q), at(l, q)
#if DLC_VECTOR_BYTES == 64
  return __builtin_shufflevector(a, b, DLC_QUAD(0), DLC_QUAD(1), DLC_QUAD(2),
                                 DLC_QUAD(3));
#elif DLC_VECTOR_BYTES == 32
  return __builtin_shufflevector(a, b, DLC_QUAD(0), DLC_QUAD(1));
#else
  return __builtin_shufflevector(a, b, DLC_QUAD(0));
#endif
#undef DLC_QUAD
}

/// As evenOf() and for the odd elements, but cheaper and in an order that
/// unmix() undoes: within groups of four lanes, two of low and two of high.
[[gnu::always_inline]] inline Vec mixedEvenOf(Vec low, Vec high) {
  return shuffleQuads<0, 2, 4, 6>(low, high);
}
[[gnu::always_inline]] inline Vec mixedOddOf(Vec low, Vec high) {
  return shuffleQuads<1, 3, 5, 7>(low, high);
}
[[gnu::always_inline]] inline Vec unmix(Vec value) {
#if DLC_VECTOR_BYTES == 64
  return __builtin_shufflevector(value, value, 0, 1, 4, 5, 8, 9, 12, 13, 2, 3,
                                 6, 7, 10, 11, 14, 15);
#elif DLC_VECTOR_BYTES == 32
  return __builtin_shufflevector(value, value, 0, 1, 4, 5, 2, 3, 6, 7);
#else
  return value;
#endif
}

/// Turns round each four lanes of four vectors: element i of group q of vector
/// j becomes element j of group q of vector i.
[[gnu::always_inline]] inline void turnQuads(Vec (&v)[4]) {
  const Vec low01 = shuffleQuads<0, 4, 1, 5>(v[0], v[1]);
  const Vec high01 = shuffleQuads<2, 6, 3, 7>(v[0], v[1]);
  const Vec low23 = shuffleQuads<0, 4, 1, 5>(v[2], v[3]);
  const Vec high23 = shuffleQuads<2, 6, 3, 7>(v[2], v[3]);
  v[0] = shuffleQuads<0, 1, 4, 5>(low01, low23);
  v[1] = shuffleQuads<2, 3, 6, 7>(low01, low23);
  v[2] = shuffleQuads<0, 1, 4, 5>(high01, high23);
  v[3] = shuffleQuads<2, 3, 6, 7>(high01, high23);
}

/// The sums of the lanes of four vectors.
[[gnu::always_inline]] inline Quad sumLanes(const Vec (&v)[4]) {
  Vec turned[4] = {v[0], v[1], v[2], v[3]};
  turnQuads(turned);
  const Vec sums = (turned[0] + turned[1]) + (turned[2] + turned[3]);
  Quad parts[kLanes / 4];
  __builtin_memcpy(parts, &sums, sizeof(parts));
  Quad sum = parts[0];
  DLC_UNROLL for (int q = 1; q < kLanes / 4; ++q) sum += parts[q];
  return sum;
}

/// A vector of the four floats at addressOf(0), addressOf(1), ...
template <typename Function>
[[gnu::always_inline]] inline Vec joinQuads(Function &&addressOf) {
  auto quad = [&](int q) __attribute__((always_inline)) {
    return Quad(*reinterpret_cast<const UnalignedQuad *>(addressOf(q)));
  };
#if DLC_VECTOR_BYTES == 64
  typedef float Half __attribute__((vector_size(32)));
  Half low = __builtin_shufflevector(quad(0), quad(1), 0, 1, 2, 3, 4, 5, 6, 7);
  Half high = __builtin_shufflevector(quad(2), quad(3), 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                 11, 12, 13, 14, 15);
#elif DLC_VECTOR_BYTES == 32
  return __builtin_shufflevector(quad(0), quad(1), 0, 1, 2, 3, 4, 5, 6, 7);
#else
  return quad(0);
#endif
}

/// Stores each four lanes `distance` floats behind the four before.
[[gnu::always_inline]] inline void storeQuads(float *target, int64_t distance,
                                              Vec value) {
  auto put = [&](int q, Quad quad) __attribute__((always_inline)) {
    *reinterpret_cast<UnalignedQuad *>(target + q * distance) = quad;
  };
  put(0, __builtin_shufflevector(value, value, 0, 1, 2, 3));
#if DLC_VECTOR_BYTES >= 32
  put(1, __builtin_shufflevector(value, value, 4, 5, 6, 7));
#endif
#if DLC_VECTOR_BYTES == 64
  put(2, __builtin_shufflevector(value, value, 8, 9, 10, 11));
  put(3, __builtin_shufflevector(value, value, 12, 13, 14, 15));
#endif
}

/// Bitwise or: joins vectors of which each lane is zero in all but one.
[[gnu::always_inline]] inline Vec join(Vec a, Vec b) {
  return reinterpret_cast<Vec>(reinterpret_cast<IntVec>(a) |
                               reinterpret_cast<IntVec>(b));
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_VECTOR_H
