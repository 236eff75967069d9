// SPDX-License-Identifier: Apache-2.0
//
// Results of bfloat16 of sums of floats. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_SHORTSUMS_H
#define DLC_RUNTIME_KERNEL_CPU_SHORTSUMS_H

#include "Activations.h"
#include "PairRows.h"

namespace dlc::rt::cpu {
namespace {

/// Bounds that leave everything as it is where the activation is no clamp.
struct Bounds {
  explicit Bounds(const Epilogue &epilogue)
      : low(splat(isClamp(epilogue) ? clampLow(epilogue) : -__builtin_inff())),
        high(splat(isClamp(epilogue) ? clampHigh(epilogue)
                                     : __builtin_inff())) {}
  [[gnu::always_inline]] Vec of(Vec value) const {
    return minOf(maxOf(value, low), high);
  }
  const Vec low, high;
};

/// The first two vectors of a row that is complete.
[[gnu::always_inline]] inline void storeTwoShort(uint16_t *target, Vec low,
                                                 Vec high) {
#ifdef __AVX512BF16__
  _mm512_storeu_si512(target, (__m512i)_mm512_cvtne2ps_pbh(high, low));
#else
  storeFirstShort(target, low, kLanes);
  storeFirstShort(target + kLanes, high, kLanes);
#endif
}

/// Two vectors of each row, of which nothing is left out.
template <bool hasResidual>
inline void writeTwoShort(const float *sums, int64_t sumStride,
                          const float *bias, const uint16_t *residual,
                          uint16_t *c, int64_t stride, int64_t rows,
                          const Bounds &bounds) {
  const Vec bias0 = bias ? load(bias) : Vec{};
  const Vec bias1 = bias ? load(bias + kLanes) : Vec{};
  for (int64_t row = 0; row < rows; ++row) {
    Vec value0 = load(sums) + bias0, value1 = load(sums + kLanes) + bias1;
    if constexpr (hasResidual) {
      value0 += loadShort(residual);
      value1 += loadShort(residual + kLanes);
      residual += stride;
    }
    storeTwoShort(c, bounds.of(value0), bounds.of(value1));
    sums += sumStride;
    c += stride;
  }
}

/// c = act(sums + bias + residual), rounded, `columns` of each row; bias and
/// residual are null where absent. Sums may be overwritten.
inline void writeShort(float *sums, int64_t sumStride, const float *bias,
                       const uint16_t *residual, uint16_t *c, int64_t stride,
                       int64_t rows, int64_t columns,
                       const Epilogue &epilogue) {
  const bool isActivatedLast =
      epilogue.activation != Activation::None && !isClamp(epilogue);
  const Bounds bounds(epilogue);
  int64_t j = 0;
  if (!isActivatedLast) {
    const auto write = residual ? writeTwoShort<true> : writeTwoShort<false>;
    for (; j + 2 * kLanes <= columns; j += 2 * kLanes)
      write(sums + j, sumStride, bias ? bias + j : nullptr,
            residual ? residual + j : nullptr, c + j, stride, rows, bounds);
  }
  for (; j < columns; j += kLanes)
    for (int64_t row = 0; row < rows; ++row) {
      float *sum = sums + row * sumStride + j;
      const int64_t count = columns - j, at = row * stride + j;
      Vec value = load(sum);
      if (bias)
        value += loadFirst(bias + j, count);
      if (residual)
        value += loadFirstShort(residual + at, count);
      if (isActivatedLast)
        storeFirst(sum, value, count);
      else
        storeFirstShort(c + at, bounds.of(value), count);
    }
  if (!isActivatedLast)
    return;
  activateRest(sums, sumStride, rows, columns, epilogue);
  for (int64_t row = 0; row < rows; ++row)
    roundTerms(sums + row * sumStride, columns, c + row * stride);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_SHORTSUMS_H
