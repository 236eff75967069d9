// SPDX-License-Identifier: Apache-2.0
//
// Sizes of the blocks that caches hold.

#ifndef DLC_RUNTIME_STORAGE_SIZECLASS_H
#define DLC_RUNTIME_STORAGE_SIZECLASS_H

#include <bit>
#include <cstddef>

namespace dlc::rt {

/// Multiples of 64 bytes up to 512, then eight classes to a doubling, so that
/// at most a ninth of a block is unused, up to largestCached.
struct SizeClass {
  static constexpr size_t unit = 64;
  static constexpr size_t largestCached = size_t(64) << 10;
  static constexpr unsigned count = 8 * 8;

  /// The smallest class of at least `bytes`, which is at most largestCached.
  static constexpr unsigned ofRequest(size_t bytes) {
    return bytes ? ofUnits((bytes + unit - 1) / unit - 1) : 0;
  }
  /// The largest class of at most `bytes`, which is at least `unit`.
  static constexpr unsigned ofBlock(size_t bytes) {
    return ofUnits(bytes / unit) - 1;
  }
  static constexpr size_t bytes(unsigned index) {
    if (index < 8)
      return (index + 1) * unit;
    return (size_t(8 + index % 8 + 1) << (index / 8 - 1)) * unit;
  }

private:
  /// How many classes have blocks of at most `units` units.
  static constexpr unsigned ofUnits(size_t units) {
    if (units < 8)
      return unsigned(units);
    unsigned exponent = unsigned(std::bit_width(units)) - 4;
    return 8 * exponent + unsigned(units >> exponent);
  }
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_STORAGE_SIZECLASS_H
