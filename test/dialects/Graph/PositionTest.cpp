// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Position.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <random>

using namespace dlc::graph;
using llvm::SmallVector;

namespace {

/// The index with these coefficients.
Index make(llvm::ArrayRef<int64_t> coefficients, int64_t constant) {
  Index index;
  index.coefficients.assign(coefficients.begin(), coefficients.end());
  index.constant = constant;
  return index;
}

/// Calls `visit` with the value of each of `indices` in every iteration.
template <typename F>
void forEach(const Loops &loops, llvm::ArrayRef<Index> indices, F visit) {
  int64_t total = 1;
  for (int64_t extent : loops.extents)
    total *= extent;
  for (int64_t number = 0; number < total; ++number) {
    SmallVector<int64_t> values;
    for (const Index &index : indices) {
      int64_t rest = number, value = index.constant;
      for (size_t i = loops.extents.size(); i-- > 0;) {
        value += index.coefficients[i] * (rest % loops.extents[i]);
        rest /= loops.extents[i];
      }
      values.push_back(value);
    }
    visit(values);
  }
}

/// Cuts `loops` as compareTo() asks until it knows; checks every answer and
/// returns the number of parts.
int countParts(const Index &index, int64_t bound, const Loops &loops) {
  std::optional<LoopSplit> split;
  int side = compareTo(index, bound, loops, split);
  if (side) {
    forEach(loops, index, [&](llvm::ArrayRef<int64_t> values) {
      EXPECT_EQ(values[0] >= bound, side > 0);
    });
    return 1;
  }
  if (!split || split->at <= 0 || split->at >= loops.extents[split->loop]) {
    ADD_FAILURE() << "no cut that makes loops shorter";
    return 0;
  }
  Loops low = loops, high = loops;
  low.extents[split->loop] = split->at;
  high.extents[split->loop] -= split->at;
  Index shifted = index + index.coefficients[split->loop] * split->at;
  return countParts(index, bound, low) + countParts(shifted, bound, high);
}

} // namespace

TEST(Position, DividesWhereBothPartsAreLinear) {
  Loops loops{0, {4, 6}};
  std::optional<LoopSplit> split;
  auto parts = divide(make({6, 1}, 0), 6, loops, split);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->first, make({1, 0}, 0));
  EXPECT_EQ(parts->second, make({0, 1}, 0));
  parts = divide(make({6, 1}, 24), 24, loops, split);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->first, make({0, 0}, 1));
  // 0, ..., 23 in one loop: in blocks of 6, both would be linear.
  Loops one{0, {24}};
  EXPECT_FALSE(divide(make({1}, 0), 6, one, split));
  ASSERT_TRUE(split);
  EXPECT_TRUE(split->isFactor);
  EXPECT_EQ(split->at, 6);
}

TEST(Position, ComparesPartByPart) {
  // The grid of a concatenation in blocks: 256 channels and 32.
  EXPECT_LE(countParts(make({36, 1}, 0), 256, {1, {8, 36}}), 3);
  EXPECT_EQ(countParts(make({1}, 0), 5, {0, {9}}), 2);
  EXPECT_EQ(countParts(make({-1}, 8), 5, {0, {9}}), 2);
  EXPECT_EQ(countParts(make({1}, 0), 9, {0, {9}}), 1);
  EXPECT_EQ(countParts(make({0, 3}, 2), 7, {0, {1, 4}}), 2);
}

TEST(Position, ComparesWhateverTheCoefficients) {
  std::mt19937 random(7);
  auto number = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    Loops loops;
    SmallVector<int64_t> coefficients;
    for (int loop = number(1, 3); loop > 0; --loop) {
      loops.extents.push_back(number(1, 7));
      coefficients.push_back(number(-6, 6));
    }
    Index index = make(coefficients, number(-10, 10));
    EXPECT_GE(countParts(index, number(-10, 20), loops), 1);
  }
}

TEST(Position, ReshapesAsRowMajorDoes) {
  Loops loops{0, {4, 6, 5}};
  SmallVector<Index> at = {Index::loop(loops, 0), Index::loop(loops, 1),
                           Index::loop(loops, 2)};
  std::optional<LoopSplit> split;
  auto there = reshapeIndex(at, {4, 6, 5}, {1, 24, 5, 1}, loops, split);
  ASSERT_TRUE(there);
  SmallVector<Index> both(at);
  llvm::append_range(both, *there);
  forEach(loops, both, [](llvm::ArrayRef<int64_t> v) {
    EXPECT_EQ((v[0] * 6 + v[1]) * 5 + v[2], v[4] * 5 + v[5]);
    EXPECT_EQ(v[3], 0);
    EXPECT_EQ(v[6], 0);
  });
  EXPECT_FALSE(reshapeIndex(at, {4, 6, 5}, {8, 15}, loops, split));
}

TEST(Position, BroadcastsFromTheBack) {
  Loops loops{0, {4, 6}};
  SmallVector<Index> at = {Index::loop(loops, 0), Index::loop(loops, 1)};
  auto there = broadcastPosition(at, {6}, loops);
  ASSERT_EQ(there.size(), 1u);
  EXPECT_EQ(there[0], at[1]);
  there = broadcastPosition(at, {4, 1}, loops);
  EXPECT_EQ(there[0], at[0]);
  EXPECT_EQ(there[1], Index::number(loops, 0));
}
