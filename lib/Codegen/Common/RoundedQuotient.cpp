// SPDX-License-Identifier: Apache-2.0

#include "RoundedQuotient.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

using namespace dlc::codegen;

namespace {

constexpr int kDigits = 24; ///< Of a significand.

/// What stands for a division by y, 1 <= y < 2.
RoundedQuotient reciprocalOf(float y) {
  auto high = static_cast<float>(1.0 / y);
  if (static_cast<double>(high) * y > 1)
    high = std::nextafterf(high, 0.0f);
  // Exact: the product has 48 digits.
  const double rest = 1 - static_cast<double>(high) * y;
  return {high, static_cast<float>(rest / y)};
}

/// Whether x, whose quotient by y is next to m / 2^24 but for a power of two,
/// is rounded as it, and so are its multiples by powers of two. Integers differ
/// where a float beside m is half way between two of them, which is so for one
/// power of two each.
bool isRounded(const RoundedQuotient &quotient, float x, float y, uint32_t m) {
  constexpr int mostBits = 22;
  const int bits = std::ilogb(x / y);
  for (const uint32_t beside : {m - 1, m + 1}) {
    const int own = kDigits - 1 - std::countr_zero(beside);
    if (own >= mostBits)
      continue;
    const float scaled = std::ldexp(x, own - bits);
    const float sum = std::fma(scaled, quotient.high, scaled * quotient.low);
    if (std::nearbyint(sum) != std::nearbyint(scaled / y))
      return false;
  }
  return true;
}

/// The odd number that times `odd` is 1, but for bits above the 32nd.
uint32_t inverseOf(uint32_t odd) {
  uint32_t inverse = odd; // Of three bits; each step doubles them.
  for (int i = 0; i < 4; ++i)
    inverse *= 2 - odd * inverse;
  return inverse;
}

} // namespace

// Sums differ from quotients by less than 2^-46 of them before they are
// rounded, so that they are rounded differently only next to a number half way
// between two floats: of digits X and Y of x and y,
//
//   X 2^s = M Y + r,   2^24 < M < 2^25,   M and Y odd,   |r| < 2^-21 Y < 8,
//
// where r is odd, as M Y is and X 2^s is not. Given r and s, this says what M
// is but for multiples of 2^s, which leaves some dozens of x to try.
std::optional<RoundedQuotient> RoundedQuotient::of(float divisor) {
  constexpr int mostExponent = 60, mostRest = 9;
  if (!std::isfinite(divisor) || divisor == 0 ||
      std::abs(std::ilogb(divisor)) >= mostExponent)
    return std::nullopt;
  const int exponent = std::ilogb(divisor);
  const float y = std::ldexp(std::fabs(divisor), -exponent);
  const RoundedQuotient quotient = reciprocalOf(y);
  auto digits = static_cast<uint32_t>(std::ldexp(y, kDigits - 1));
  while (digits % 2 == 0)
    digits /= 2;
  // Of fewer digits there is no r but 0.
  constexpr int fewestDigits = kDigits - 3;
  const int count = std::bit_width(digits);
  for (int s = count - 1; s <= count + 1 && count >= fewestDigits; ++s)
    for (int r = -mostRest; r <= mostRest; r += 2) {
      const uint64_t step = uint64_t{1} << s;
      const auto first = static_cast<uint32_t>(-r) * inverseOf(digits);
      for (uint64_t m = first % step; m < uint64_t{1} << (kDigits + 1);
           m += step) {
        if (m < uint64_t{1} << kDigits)
          continue;
        const uint64_t x = (m * digits + r) >> s;
        if (std::bit_width(x) == kDigits &&
            !isRounded(quotient, static_cast<float>(x), y,
                       static_cast<uint32_t>(m)))
          return std::nullopt;
      }
    }
  const float sign = divisor < 0 ? -1.0f : 1.0f;
  return RoundedQuotient{sign * std::ldexp(quotient.high, -exponent),
                         sign * std::ldexp(quotient.low, -exponent)};
}
