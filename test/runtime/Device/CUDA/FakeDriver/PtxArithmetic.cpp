// SPDX-License-Identifier: Apache-2.0
//
// What instructions compute of the values of one thread.

#include "PtxBlock.h"
#include "PtxOps.h"
#include "PtxValues.h"

using namespace fake;

/// Operations on f32 and f64 in their own precision.
template <typename T>
static bool computeFloat(const Instruction &at, const uint64_t *v,
                         uint64_t &result) {
  T a = bitsAs<T>(v[0]), b = bitsAs<T>(v[1]), c = bitsAs<T>(v[2]), r;
  bool keepsNaN = has(at, "NaN");
  switch (at.op) {
  case op_add:
    r = a + b;
    break;
  case op_sub:
    r = a - b;
    break;
  case op_mul:
    r = a * b;
    break;
  case op_div:
    r = a / b;
    break;
  case op_fma:
  case op_mad:
    r = std::fma(a, b, c);
    break;
  case op_neg:
    r = -a;
    break;
  case op_abs:
    r = std::fabs(a);
    break;
  case op_min:
  case op_max: {
    bool isMin = at.op == op_min;
    if (std::isnan(a) || std::isnan(b))
      r = keepsNaN ? T(NAN) : (std::isnan(a) ? b : a);
    else if (a == b)
      r = (std::signbit(a) == isMin) ? a : b;
    else
      r = (a < b) == isMin ? a : b;
    break;
  }
  case op_sqrt:
    r = std::sqrt(a);
    break;
  case op_rcp:
    r = 1 / a;
    break;
  case op_rsqrt:
    r = 1 / std::sqrt(a);
    break;
  case op_ex2:
    r = std::exp2(a);
    break;
  case op_lg2:
    r = std::log2(a);
    break;
  case op_copysign:
    r = std::copysign(b, a);
    break;
  default:
    return false;
  }
  result = asBits(r);
  return true;
}

bool Block::compare(const Instruction &at, uint64_t a, uint64_t b) {
  const std::string &how = at.words[1];
  if (at.type == 'f' || at.type == 'h') {
    double x = toDouble(a, at.type, at.bits), y = toDouble(b, at.type, at.bits);
    bool isNaN = std::isnan(x) || std::isnan(y);
    if (how == "num" || how == "nan")
      return isNaN == (how == "nan");
    bool isUnordered = how.size() == 3;
    if (isNaN)
      return isUnordered;
    std::string plain = how.substr(0, 2);
    return plain == "eq"   ? x == y
           : plain == "ne" ? x != y
           : plain == "lt" ? x < y
           : plain == "le" ? x <= y
           : plain == "gt" ? x > y
                           : x >= y;
  }
  a = masked(a, at.bits);
  b = masked(b, at.bits);
  if (how == "eq" || how == "ne")
    return (a == b) == (how == "eq");
  if (at.type == 's') {
    int64_t x = extended(a, at.bits), y = extended(b, at.bits);
    return how == "lt"   ? x < y
           : how == "le" ? x <= y
           : how == "gt" ? x > y
                         : x >= y;
  }
  if (how == "lt" || how == "lo")
    return a < b;
  if (how == "le" || how == "ls")
    return a <= b;
  if (how == "gt" || how == "hi")
    return a > b;
  return a >= b;
}

/// cvt.ROUND.TO.FROM
uint64_t Block::convert(const Instruction &at, uint64_t value) {
  if (has(at, "tf32")) { // To nearest, away from zero, with 10 bits.
    if (!has(at, "rna"))
      fail("unknown rounding", at);
    const uint32_t bits = uint32_t(value), magnitude = bits & 0x7fffffff;
    return magnitude < 0x7f800000 ? (bits + 0x1000) & ~uint32_t(0x1fff) : bits;
  }
  bool toFloat = at.type == 'f' || at.type == 'h';
  bool fromFloat = at.type2 == 'f' || at.type2 == 'h';
  auto rounded = [&](double x) {
    return has(at, "rni")   ? std::nearbyint(x)
           : has(at, "rmi") ? std::floor(x)
           : has(at, "rpi") ? std::ceil(x)
           : has(at, "rzi") ? std::trunc(x)
                            : x;
  };
  if (fromFloat) {
    double x = rounded(toDouble(value, at.type2, at.bits2));
    if (toFloat) {
      if (has(at, "sat"))
        x = std::isnan(x) ? 0 : std::clamp(x, 0.0, 1.0);
      return fromDouble(x, at.type, at.bits);
    }
    if (std::isnan(x))
      return at.bits == 64 ? uint64_t(1) << 63 : 0;
    if (at.type == 's') {
      double limit = std::ldexp(1.0, at.bits - 1);
      if (x >= limit)
        return uint64_t(limit) - 1;
      return uint64_t(int64_t(std::max(x, -limit)));
    }
    double limit = std::ldexp(1.0, at.bits);
    return x <= 0       ? 0
           : x >= limit ? masked(~uint64_t(0), at.bits)
                        : uint64_t(x);
  }
  bool isSigned = at.type2 == 's';
  uint64_t wide =
      isSigned ? uint64_t(extended(value, at.bits2)) : masked(value, at.bits2);
  if (!toFloat) {
    if (has(at, "sat"))
      fail("unknown saturation", at);
    // Registers are wider: they have the sign.
    return at.type == 's' ? uint64_t(extended(wide, at.bits))
                          : masked(wide, at.bits);
  }
  if (at.bits == 64)
    return asBits(isSigned ? double(int64_t(wide)) : double(wide));
  if (at.bits == 32)
    return asBits(isSigned ? float(int64_t(wide)) : float(wide));
  double exact = isSigned ? double(int64_t(wide)) : double(wide);
  return fromDouble(exact, at.type, at.bits);
}

uint64_t Block::compute(const Instruction &at, const uint64_t *v) {
  unsigned bits = at.bits;
  uint64_t result = 0;
  bool isLogic =
      at.op == op_and || at.op == op_or || at.op == op_xor || at.op == op_not;
  if (!isLogic && at.type == 'f' && bits >= 32) {
    if (bits == 32 ? computeFloat<float>(at, v, result)
                   : computeFloat<double>(at, v, result))
      return result;
    fail("unknown operation", at);
  }
  if (!isLogic && (at.type == 'f' || at.type == 'h')) {
    // In double, where sums and products of halves are exact.
    uint64_t wide[3];
    for (int i = 0; i != 3; ++i)
      wide[i] = asBits(toDouble(v[i], at.type, bits));
    if (computeFloat<double>(at, wide, result))
      return fromDouble(std::bit_cast<double>(result), at.type, bits);
    fail("unknown operation", at);
  }
  bool isSigned = at.type == 's';
  uint64_t a = masked(v[0], bits), b = masked(v[1], bits);
  int64_t sa = extended(a, bits), sb = extended(b, bits);
  switch (at.op) {
  case op_add:
    return masked(a + b, bits);
  case op_sub:
    return masked(a - b, bits);
  case op_mul:
  case op_mad: {
    uint64_t addend = at.op == op_mad ? v[2] : 0;
    if (has(at, "wide"))
      return masked((isSigned ? uint64_t(sa * sb) : a * b) + addend, bits * 2);
    if (has(at, "hi")) {
      auto high = isSigned ? uint64_t(__int128(sa) * sb >> bits)
                           : uint64_t((unsigned __int128)(a)*b >> bits);
      return masked(high + addend, bits);
    }
    return masked(a * b + addend, bits);
  }
  case op_div:
  case op_rem: {
    if (!b || (isSigned && sb == -1))
      return at.op == op_rem ? (b ? 0 : a)
                             : masked(b ? 0 - a : ~uint64_t(0), bits);
    uint64_t quotient = isSigned ? uint64_t(sa / sb) : a / b;
    uint64_t rest = isSigned ? uint64_t(sa % sb) : a % b;
    return masked(at.op == op_div ? quotient : rest, bits);
  }
  case op_neg:
    return masked(0 - a, bits);
  case op_abs:
    return masked(sa < 0 ? 0 - a : a, bits);
  case op_min:
    return isSigned ? (sa < sb ? a : b) : std::min(a, b);
  case op_max:
    return isSigned ? (sa > sb ? a : b) : std::max(a, b);
  case op_and:
    return a & b;
  case op_or:
    return a | b;
  case op_xor:
    return a ^ b;
  case op_not:
    return masked(~a, bits);
  case op_shl: {
    uint32_t count = uint32_t(v[1]);
    return count >= bits ? 0 : masked(a << count, bits);
  }
  case op_shr: {
    uint32_t count =
        std::min<uint32_t>(uint32_t(v[1]), isSigned ? bits - 1 : bits);
    return count >= bits && !isSigned ? 0
           : isSigned                 ? masked(uint64_t(sa >> count), bits)
                                      : a >> count;
  }
  case op_popc:
    return std::popcount(a);
  case op_clz:
    return bits == 32 ? std::countl_zero(uint32_t(a)) : std::countl_zero(a);
  case op_shf: {
    uint32_t count = has(at, "wrap") ? v[2] & 31 : std::min<uint32_t>(v[2], 32);
    uint64_t pair = b << 32 | a;
    return masked(at.words[1] == "l" ? (pair << count) >> 32 : pair >> count,
                  32);
  }
  case op_bfe: {
    unsigned start = v[1] & 255, length = v[2] & 255;
    if (!length)
      return 0;
    uint64_t field = start >= bits ? 0 : masked(a >> start, length);
    return isSigned ? masked(uint64_t(extended(field, length)), bits) : field;
  }
  case op_prmt: {
    uint64_t pair = b << 32 | a;
    for (int i = 0; i != 4; ++i) {
      unsigned selector = v[2] >> (4 * i) & 15;
      uint64_t byte = pair >> (8 * (selector & 7)) & 255;
      if (selector & 8)
        byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * i);
    }
    return result;
  }
  case op_lop3: {
    uint32_t c = uint32_t(v[2]), table = uint32_t(v[3]);
    for (int i = 0; i != 32; ++i) {
      unsigned row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
      result |= uint64_t(table >> row & 1) << i;
    }
    return result;
  }
  default:
    fail("unknown operation", at);
  }
}
