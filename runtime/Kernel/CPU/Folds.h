// SPDX-License-Identifier: Apache-2.0
//
// Elements as their sum, the greatest or the least of them. See Vector.h for
// who may include it.
//
// Sums of two halves are added up: the error of a long sum is hardly more than
// that of a short one.

#ifndef DLC_RUNTIME_KERNEL_CPU_FOLDS_H
#define DLC_RUNTIME_KERNEL_CPU_FOLDS_H

#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// All lanes folded, halves onto each other: in their order each would wait for
/// the one before.
template <typename Function>
[[gnu::always_inline]] inline float foldLanes(Vec x, Function &&fold) {
  Quad parts[kLanes / 4];
  __builtin_memcpy(parts, &x, sizeof(parts));
  DLC_UNROLL for (int count = kLanes / 8; count > 0; count /= 2)
      DLC_UNROLL for (int q = 0; q < count; ++q) parts[q] =
          fold(parts[q], parts[q + count]);
  Quad quad = parts[0];
  quad = fold(quad, __builtin_shufflevector(quad, quad, 2, 3, 0, 1));
  quad = fold(quad, __builtin_shufflevector(quad, quad, 1, 0, 3, 2));
  return quad[0];
}

struct SumFold {
  static constexpr float nothing = 0;
  template <typename T> static T of(T a, T b) { return a + b; }
};
/// `b` where it is NaN, else `chosen`, which compilers would choose together
/// with that, by comparing twice: the fence leaves them an instruction for it.
/// Floats have none, since it would keep loops from becoming vectors.
template <typename T>
[[gnu::always_inline]] inline T orElseNaN(T chosen, T b) {
  if constexpr (sizeof(T) > sizeof(float))
    asm("" : "+v"(chosen));
  return b != b ? b : chosen;
}

/// NaN is the greatest, and below the least.
struct GreatestFold {
  static constexpr float nothing = -__builtin_inff();
  template <typename T> static T of(T a, T b) {
    return orElseNaN<T>(b > a ? b : a, b);
  }
};
struct LeastFold {
  static constexpr float nothing = __builtin_inff();
  template <typename T> static T of(T a, T b) {
    return orElseNaN<T>(b < a ? b : a, b);
  }
};

/// All lanes.
template <typename Fold> inline float foldLanes(Vec x) {
  return foldLanes(
      x, [](Quad a, Quad b)
             __attribute__((always_inline)) { return Fold::of(a, b); });
}

/// Terms that are folded one after the other, of each lane.
constexpr int64_t kFoldedTerms = 128;

/// `length` elements that lie behind each other, in lanes, but for what is left
/// of a vector.
template <typename Fold>
inline Vec foldVectors(const float *x, int64_t length) {
  if (length > kFoldedTerms * kLanes) {
    const int64_t half = length / (2 * kLanes) * kLanes;
    return Fold::of(foldVectors<Fold>(x, half),
                    foldVectors<Fold>(x + half, length - half));
  }
  constexpr int chains = 4;
  Vec partial[chains];
  for (Vec &chain : partial)
    chain = splat(Fold::nothing);
  int64_t i = 0;
  for (; i + chains * kLanes <= length; i += chains * kLanes) {
    DLC_UNROLL for (int j = 0; j < chains; ++j) partial[j] =
        Fold::of(partial[j], load(x + i + j * kLanes));
  }
  for (; i + kLanes <= length; i += kLanes)
    partial[0] = Fold::of(partial[0], load(x + i));
  return Fold::of(Fold::of(partial[0], partial[1]),
                  Fold::of(partial[2], partial[3]));
}

template <typename Fold> inline float foldRow(const float *x, int64_t length) {
  float total = Fold::nothing;
  if (length >= kLanes)
    total = foldLanes<Fold>(foldVectors<Fold>(x, length));
  for (int64_t i = length / kLanes * kLanes; i < length; ++i)
    total = Fold::of(total, x[i]);
  return total;
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_FOLDS_H
