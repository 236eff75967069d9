// SPDX-License-Identifier: Apache-2.0
//
// A small generator whose numbers are the same on every platform (the
// distributions of the standard library are not).

#ifndef DLC_LIB_PLANNING_MEMORY_RANDOM_H
#define DLC_LIB_PLANNING_MEMORY_RANDOM_H

#include <cstdint>

namespace dlc::planning {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_RANDOM_H
