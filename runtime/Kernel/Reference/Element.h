// SPDX-License-Identifier: Apache-2.0
//
// Element types in templates. Every type has a wide type in which its values
// are computed: double for floats, int64_t for signed integers, uint64_t for
// unsigned integers and bool. One rounding at the end (floats) or a truncation
// modulo 2^bits (integers) then gives the element.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_ELEMENT_H
#define DLC_RUNTIME_KERNEL_REFERENCE_ELEMENT_H

#include "dlc/runtime/Base/Half.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace dlc::rt::ref {

/// Converts as C++ does, but defined for every value: a float becomes the
/// nearest integer towards zero that the type holds, NaN becomes 0. Integers
/// wrap.
template <typename To, typename From> To convertTo(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // 2^63 and its like are exact in double; the largest integers are not.
    constexpr double past =
        2.0 * (uint64_t(1) << (std::numeric_limits<To>::digits - 1));
    constexpr To least = std::numeric_limits<To>::min();
    if (std::isnan(value))
      return 0;
    if (value >= past)
      return std::numeric_limits<To>::max();
    return value <= static_cast<double>(least) ? least : static_cast<To>(value);
  }
  return static_cast<To>(value);
}

/// How elements of a plain C++ type are read and written.
template <DataType id, typename T, typename WideT> struct PlainElement {
  static constexpr DataType type = id;
  using Storage = T;
  using Wide = WideT;
  static Wide decode(T stored) { return static_cast<Wide>(stored); }
  template <typename From> static T encode(From value) {
    return convertTo<T>(value);
  }
};

template <DataType type> struct Element;
template <> struct Element<DLC_I8> : PlainElement<DLC_I8, int8_t, int64_t> {};
template <>
struct Element<DLC_I16> : PlainElement<DLC_I16, int16_t, int64_t> {};
template <>
struct Element<DLC_I32> : PlainElement<DLC_I32, int32_t, int64_t> {};
template <>
struct Element<DLC_I64> : PlainElement<DLC_I64, int64_t, int64_t> {};
template <> struct Element<DLC_U8> : PlainElement<DLC_U8, uint8_t, uint64_t> {};
template <>
struct Element<DLC_U16> : PlainElement<DLC_U16, uint16_t, uint64_t> {};
template <>
struct Element<DLC_U32> : PlainElement<DLC_U32, uint32_t, uint64_t> {};
template <>
struct Element<DLC_U64> : PlainElement<DLC_U64, uint64_t, uint64_t> {};
template <> struct Element<DLC_F32> : PlainElement<DLC_F32, float, double> {};
template <> struct Element<DLC_F64> : PlainElement<DLC_F64, double, double> {};

/// Bytes other than 0 and 1 read as true: they must not become a C++ bool.
template <> struct Element<DLC_BOOL> {
  static constexpr DataType type = DLC_BOOL;
  using Storage = uint8_t;
  using Wide = uint64_t;
  static Wide decode(uint8_t stored) { return stored != 0; }
  template <typename From> static uint8_t encode(From value) {
    return value != From(0);
  }
};

/// An integer as a double that rounds to the 16-bit floats as the integer
/// itself would: the bits that double cannot hold leave an odd last bit.
template <typename From> double toOddDouble(From value) {
  if constexpr (std::is_integral_v<From>) {
    uint64_t bits = static_cast<uint64_t>(value);
    uint64_t magnitude = value < 0 ? 0 - bits : bits;
    if (magnitude >> 53) {
      uint64_t odd = magnitude >> 11 | ((magnitude & 0x7ff) != 0);
      double result = static_cast<double>(odd) * 0x1p11;
      return value < 0 ? -result : result;
    }
  }
  return static_cast<double>(value);
}

template <> struct Element<DLC_F16> {
  static constexpr DataType type = DLC_F16;
  using Storage = uint16_t;
  using Wide = double;
  static Wide decode(uint16_t stored) { return floatFromHalf(stored); }
  template <typename From> static uint16_t encode(From value) {
    return halfFromDouble(toOddDouble(value));
  }
};

template <> struct Element<DLC_BF16> {
  static constexpr DataType type = DLC_BF16;
  using Storage = uint16_t;
  using Wide = double;
  static Wide decode(uint16_t stored) { return floatFromBFloat16(stored); }
  template <typename From> static uint16_t encode(From value) {
    return bfloat16FromDouble(toOddDouble(value));
  }
};

/// Reads element `i` of a tensor of type E in E's wide type.
template <typename E>
typename E::Wide loadElement(const void *data, int64_t i) {
  return E::decode(static_cast<const typename E::Storage *>(data)[i]);
}

/// Writes element `i` of a tensor of type E, converting as `cast` does.
template <typename E, typename From>
void storeElement(void *data, int64_t i, From value) {
  static_cast<typename E::Storage *>(data)[i] = E::encode(value);
}

/// The type for sums and products of E: double for floats; integers modulo
/// 2^64, which is right modulo any smaller power and never overflows.
template <typename E>
using Accumulator =
    std::conditional_t<std::is_floating_point_v<typename E::Wide>, double,
                       uint64_t>;

/// Arithmetic in a wide type; signed integers wrap as unsigned ones do.
template <typename T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                std::type_identity<T>>::type;
template <typename T> T addWide(T a, T b) {
  return static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b);
}
template <typename T> T subtractWide(T a, T b) {
  return static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b);
}
template <typename T> T multiplyWide(T a, T b) {
  return static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b);
}

/// Calls `function(Element<type>())`, which returns a Status.
template <typename F> Status dispatch(DataType type, F &&function) {
  switch (type) {
  case DLC_BOOL:
    return function(Element<DLC_BOOL>());
  case DLC_I8:
    return function(Element<DLC_I8>());
  case DLC_I16:
    return function(Element<DLC_I16>());
  case DLC_I32:
    return function(Element<DLC_I32>());
  case DLC_I64:
    return function(Element<DLC_I64>());
  case DLC_U8:
    return function(Element<DLC_U8>());
  case DLC_U16:
    return function(Element<DLC_U16>());
  case DLC_U32:
    return function(Element<DLC_U32>());
  case DLC_U64:
    return function(Element<DLC_U64>());
  case DLC_F16:
    return function(Element<DLC_F16>());
  case DLC_BF16:
    return function(Element<DLC_BF16>());
  case DLC_F32:
    return function(Element<DLC_F32>());
  case DLC_F64:
    return function(Element<DLC_F64>());
  default:
    break;
  }
  return makeError(StatusCode::Internal, "no plain element type: %d",
                   static_cast<int>(type));
}

/// As dispatch(), for the float types only: fewer instantiations.
template <typename F> Status dispatchFloat(DataType type, F &&function) {
  switch (type) {
  case DLC_F16:
    return function(Element<DLC_F16>());
  case DLC_BF16:
    return function(Element<DLC_BF16>());
  case DLC_F32:
    return function(Element<DLC_F32>());
  case DLC_F64:
    return function(Element<DLC_F64>());
  default:
    return makeError(StatusCode::Internal, "no float type: %d",
                     static_cast<int>(type));
  }
}

/// Calls `function(Wide())` with the wide type of `type`: three instantiations
/// instead of thirteen.
template <typename F> Status dispatchWide(DataType type, F &&function) {
  if (isFloat(type))
    return function(double());
  if (isSignedInteger(type))
    return function(int64_t());
  return function(uint64_t());
}

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_ELEMENT_H
