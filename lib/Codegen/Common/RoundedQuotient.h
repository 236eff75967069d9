// SPDX-License-Identifier: Apache-2.0
//
// Quotients by a constant that are rounded to integers, without a division.
// Plain data.

#ifndef DLC_LIB_CODEGEN_COMMON_ROUNDEDQUOTIENT_H
#define DLC_LIB_CODEGEN_COMMON_ROUNDEDQUOTIENT_H

#include <optional>

namespace dlc::codegen {

/// fma(x, high, x * low) rounds to the same integer, of ties to the even one,
/// as x / divisor does, of all f32 x whose quotient is below 2^22; others are
/// off by a unit in the last place at most, infinities and NaN stay what they
/// are.
///
/// Where low is 0, x * high alone is meant.
///
/// high + low is 1 / divisor in twice the precision (Brisebarre, Muller, Raina,
/// "Accelerating correctly rounded floating-point division when the divisor is
/// known in advance", IEEE Transactions on Computers 53 (8), 2004), here with
/// high towards zero: both have the sign of the divisor, and none of the sums
/// is one of infinities of both signs.
struct RoundedQuotient {
  float high, low;

  /// Nullopt where that is not so of the divisor, which is asked of all x that
  /// could differ, or where it is not between 2^-60 and 2^60.
  static std::optional<RoundedQuotient> of(float divisor);
};

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_ROUNDEDQUOTIENT_H
