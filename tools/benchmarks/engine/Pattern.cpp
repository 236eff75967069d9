// SPDX-License-Identifier: Apache-2.0

#include "Peer.h"

#include <numeric>
#include <random>

using namespace dlc::bench;

long dlc::bench::taskIterations = 0;

Pattern dlc::bench::independentWrites(size_t operations) {
  Pattern pattern{"independent", 0, {}, {}};
  // Neighbours in time write far apart.
  for (size_t i = 0; i != operations; ++i)
    pattern.writes.push_back(i * 3 % Pattern::variableCount);
  return pattern;
}

Pattern dlc::bench::chain(size_t operations) {
  return {"chain", 0, {}, std::vector<int>(operations, 0)};
}

Pattern dlc::bench::randomReads(size_t operations, int readCount) {
  Pattern pattern{
      "random " + std::to_string(readCount) + "r1w", readCount, {}, {}};
  std::mt19937 random(1);
  std::vector<int> order(Pattern::variableCount);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i != operations; ++i) {
    for (int k = 0; k != readCount + 1; ++k)
      std::swap(order[k], order[k + random() % (order.size() - k)]);
    pattern.writes.push_back(order[0]);
    pattern.reads.insert(pattern.reads.end(), order.begin() + 1,
                         order.begin() + 1 + readCount);
  }
  return pattern;
}
