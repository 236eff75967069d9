// SPDX-License-Identifier: Apache-2.0
//
// What bits of registers stand for.

#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXVALUES_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXVALUES_H

#include "Ptx.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fake {

inline bool has(const Instruction &at, const char *word) {
  return std::find(at.words.begin(), at.words.end(), word) != at.words.end();
}

inline uint64_t masked(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1);
}
inline int64_t extended(uint64_t value, unsigned bits) {
  return bits >= 64 ? int64_t(value)
                    : int64_t(value << (64 - bits)) >> (64 - bits);
}

inline double halfToDouble(uint16_t half) {
  int exponent = half >> 10 & 31, mantissa = half & 1023;
  double value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                 : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                : std::ldexp(mantissa, -24);
  return half & 0x8000 ? -value : value;
}

/// To nearest even: `value` is exact, so this rounds once.
inline uint16_t doubleToHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  value = std::fabs(value);
  if (std::isnan(value))
    return 0x7FFF;
  if (value >= 65520)
    return sign | 0x7C00;
  if (value == 0)
    return sign;
  int exponent = 0;
  std::frexp(value, &exponent);
  int unit = std::max(exponent - 11, -24);
  double units = std::nearbyint(std::ldexp(value, -unit));
  if (unit == -24)
    return sign | uint16_t(units);
  return sign | uint16_t(units + (unit + 24) * 1024.0);
}

inline double toDouble(uint64_t value, char type, unsigned bits) {
  if (type == 'h')
    return std::bit_cast<float>(uint32_t(value) << 16);
  return bits == 64   ? std::bit_cast<double>(value)
         : bits == 32 ? std::bit_cast<float>(uint32_t(value))
                      : halfToDouble(uint16_t(value));
}

inline uint64_t fromDouble(double value, char type, unsigned bits) {
  if (type == 'h') {
    float single = float(value);
    uint32_t word = std::bit_cast<uint32_t>(single);
    if (std::isnan(single))
      return 0x7FFF;
    return uint16_t((word + 0x7FFF + (word >> 16 & 1)) >> 16);
  }
  return bits == 64   ? std::bit_cast<uint64_t>(value)
         : bits == 32 ? std::bit_cast<uint32_t>(float(value))
                      : doubleToHalf(value);
}

template <typename T> T bitsAs(uint64_t value) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(value);
  else
    return std::bit_cast<T>(uint32_t(value));
}
template <typename T> uint64_t asBits(T value) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<uint64_t>(value);
  else
    return std::bit_cast<uint32_t>(value);
}

} // namespace fake

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXVALUES_H
