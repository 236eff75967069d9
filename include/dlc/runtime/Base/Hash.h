// SPDX-License-Identifier: Apache-2.0
//
// XXH64, the hash that artifacts carry (https://xxhash.com, specification
// 0.2.0). It finds accidents, not attacks.

#ifndef DLC_RUNTIME_BASE_HASH_H
#define DLC_RUNTIME_BASE_HASH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dlc::rt {

/// The XXH64 of bytes that come in pieces: where one ends does not matter. A
/// value.
class XXHash64 {
public:
  explicit XXHash64(uint64_t seed = 0);
  void update(std::span<const std::byte> bytes);
  /// The hash of all bytes up to now; more may follow.
  uint64_t digest() const;

private:
  static constexpr size_t stripe = 32;
  void mixStripe(const std::byte *at);

  uint64_t seed;
  std::array<uint64_t, 4> lanes;
  uint64_t length = 0;
  /// The last length % stripe bytes, which make no whole stripe yet.
  std::array<std::byte, stripe> rest;
};

/// The XXH64 of `bytes`: the same on every machine.
uint64_t xxHash64(std::span<const std::byte> bytes, uint64_t seed = 0);

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_HASH_H
