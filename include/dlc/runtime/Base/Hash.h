// SPDX-License-Identifier: Apache-2.0
//
// XXH64, the hash that artifacts carry (https://xxhash.com, specification
// 0.2.0). It finds accidents, not attacks.

#ifndef DLC_RUNTIME_BASE_HASH_H
#define DLC_RUNTIME_BASE_HASH_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace dlc::rt {

/// The XXH64 of `bytes`: the same on every machine.
uint64_t xxHash64(std::span<const std::byte> bytes, uint64_t seed = 0);

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_HASH_H
