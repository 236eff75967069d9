// SPDX-License-Identifier: Apache-2.0
//
// Conversions of the 16-bit float types, in bits: exact where possible, else
// rounded to nearest, ties to even. Written out rather than left to _Float16,
// so that every compiler and processor gives the same bits.

#ifndef DLC_RUNTIME_BASE_HALF_H
#define DLC_RUNTIME_BASE_HALF_H

#include <bit>
#include <cstdint>

namespace dlc::rt {

/// The value of an IEEE binary16.
inline float floatFromHalf(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0) {
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  uint32_t widened = exponent == 0x1f ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

/// The binary16 nearest to `value`; NaN stays NaN, large values become
/// infinite.
inline uint16_t halfFromFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return sign | 0x7e00 | ((bits >> 13) & 0x3ff);
  if (bits >= 0x47800000) // 2^16 and more
    return sign | 0x7c00;
  if (bits >= 0x38800000) { // normal: a carry out of the fraction is right
    bits += 0xfff + ((bits >> 13) & 1);
    return sign | ((bits - 0x38000000) >> 13);
  }
  if (bits < 0x33000000) // below half of the smallest subnormal
    return sign;
  uint32_t shift = 126 - (bits >> 23);
  uint32_t fraction = (bits & 0x7fffff) | 0x800000;
  uint32_t result = fraction >> shift;
  uint32_t rest = fraction & ((1u << shift) - 1), middle = 1u << (shift - 1);
  result += rest > middle || (rest == middle && (result & 1));
  return sign | result;
}

/// The value of a bfloat16.
inline float floatFromBFloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// The bfloat16 nearest to `value`; NaN stays NaN.
inline uint16_t bfloat16FromFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return (bits >> 16) | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

/// Rounds to float so that a second rounding, to half or less of the bits,
/// gives what one rounding would: an inexact result gets an odd last bit.
inline float floatRoundedToOdd(double value) {
  float nearest = static_cast<float>(value);
  double back = nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (!(back < value || back > value) || (bits & 1))
    return nearest; // exact, NaN, or odd already
  bool tooLarge = (back > value) == (value > 0);
  return std::bit_cast<float>(tooLarge ? bits - 1 : bits + 1);
}

inline uint16_t halfFromDouble(double value) {
  return halfFromFloat(floatRoundedToOdd(value));
}

inline uint16_t bfloat16FromDouble(double value) {
  return bfloat16FromFloat(floatRoundedToOdd(value));
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_HALF_H
