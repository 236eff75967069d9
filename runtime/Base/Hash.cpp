// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace dlc::rt;

static constexpr uint64_t prime1 = 0x9E3779B185EBCA87;
static constexpr uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
static constexpr uint64_t prime3 = 0x165667B19E3779F9;
static constexpr uint64_t prime4 = 0x85EBCA77C2B2AE63;
static constexpr uint64_t prime5 = 0x27D4EB2F165667C5;

template <typename T> static T load(const std::byte *bytes) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

static uint64_t mixLane(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * prime2, 31) * prime1;
}

static uint64_t mergeLane(uint64_t hash, uint64_t lane) {
  return (hash ^ mixLane(0, lane)) * prime1 + prime4;
}

XXHash64::XXHash64(uint64_t seed)
    : seed(seed),
      lanes{seed + prime1 + prime2, seed + prime2, seed, seed - prime1} {}

void XXHash64::mixStripe(const std::byte *at) {
  for (int i = 0; i < 4; ++i)
    lanes[i] = mixLane(lanes[i], load<uint64_t>(at + 8 * i));
}

void XXHash64::update(std::span<const std::byte> bytes) {
  size_t held = length % stripe;
  length += bytes.size();
  if (held + bytes.size() < stripe) {
    std::copy(bytes.begin(), bytes.end(), rest.begin() + held);
    return;
  }
  if (held) {
    auto filling = bytes.first(stripe - held);
    std::copy(filling.begin(), filling.end(), rest.begin() + held);
    mixStripe(rest.data());
    bytes = bytes.subspan(filling.size());
  }
  for (; bytes.size() >= stripe; bytes = bytes.subspan(stripe))
    mixStripe(bytes.data());
  std::copy(bytes.begin(), bytes.end(), rest.begin());
}

uint64_t XXHash64::digest() const {
  uint64_t hash = seed + prime5;
  if (length >= stripe) {
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) +
           std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = mergeLane(hash, lane);
  }
  hash += length;
  const std::byte *at = rest.data();
  const std::byte *end = at + length % stripe;
  for (; end - at >= 8; at += 8)
    hash =
        std::rotl(hash ^ mixLane(0, load<uint64_t>(at)), 27) * prime1 + prime4;
  for (; end - at >= 4; at += 4)
    hash = std::rotl(hash ^ load<uint32_t>(at) * prime1, 23) * prime2 + prime3;
  for (; at != end; ++at)
    hash =
        std::rotl(hash ^ std::to_integer<uint64_t>(*at) * prime5, 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

uint64_t dlc::rt::xxHash64(std::span<const std::byte> bytes, uint64_t seed) {
  XXHash64 hash(seed);
  hash.update(bytes);
  return hash.digest();
}
