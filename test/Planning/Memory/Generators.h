// SPDX-License-Identifier: Apache-2.0
//
// Generated packing problems.

#ifndef DLC_TEST_PLANNING_MEMORY_GENERATORS_H
#define DLC_TEST_PLANNING_MEMORY_GENERATORS_H

#include "dlc/Planning/Memory/InPlace.h"
#include "dlc/Planning/Memory/Problem.h"

namespace dlc::planning::testing {

/// The same numbers on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// In [low, high].
  int64_t range(int64_t low, int64_t high) {
    return low +
           static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return range(1, 100) <= percent; }

private:
  uint64_t state;
};

/// Cuts a rectangle of `duration` times `height` into `count` buffers, so the
/// optimum is `height` exactly. A share of the cuts are pinwheels of five
/// pieces, which no sequence of straight cuts makes.
Problem cutRectangle(int count, int64_t duration, int64_t height,
                     int pinwheelPercent, uint64_t seed);

enum class Network { ChainWithSkips, Inception, Training, UNet };

/// The buffers of a convolutional network of about `count` tensors, in order
/// of execution, with scratch buffers, all aligned to 64. `inPlace`, when
/// given, gets a candidate for every operand of the size of the result.
Problem networkLike(Network kind, int count, uint64_t seed,
                    std::vector<InPlaceCandidate> *inPlace = nullptr);

enum class Tiny { Plain, Aligned, Pinned, InPlaceChains, Views };

/// A few small buffers, for brute force. With Views, buffers are tied at
/// arbitrary distances, so groups have ledges and holes.
Problem tinyProblem(Tiny kind, uint64_t seed);

} // namespace dlc::planning::testing

#endif // DLC_TEST_PLANNING_MEMORY_GENERATORS_H
