// SPDX-License-Identifier: Apache-2.0
//
// The order of launches on several streams, against its definition.

#include "runtime/Executor/Schedule.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace dlc::rt;

namespace {

using Launches = std::vector<ScheduledLaunch>;

MemoryUse reads(uint32_t space, uint64_t begin, uint64_t end) {
  return {space, begin, end, false};
}
MemoryUse writes(uint32_t space, uint64_t begin, uint64_t end) {
  return {space, begin, end, true};
}

Schedule schedule(const Launches &launches, uint32_t streams) {
  Result<Schedule> result = makeSchedule(launches, streams);
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return std::move(*result);
}

/// Segments as lists of launches.
std::vector<std::vector<uint32_t>> segmentsOf(const Schedule &schedule) {
  std::vector<std::vector<uint32_t>> result;
  for (const Segment &segment : schedule.segments) {
    auto first = schedule.order.begin() + segment.firstLaunch;
    result.emplace_back(first, first + segment.launchCount);
  }
  return result;
}

using Matrix = std::vector<std::vector<bool>>;

/// All pairs that follow from `direct`, whose pairs ascend.
Matrix closureOf(Matrix direct) {
  size_t count = direct.size();
  for (size_t after = 0; after != count; ++after)
    for (size_t middle = after; middle-- != 0;)
      if (direct[middle][after])
        for (size_t before = 0; before != middle; ++before)
          if (direct[before][middle])
            direct[before][after] = true;
  return direct;
}

bool conflict(const ScheduledLaunch &a, const ScheduledLaunch &b) {
  for (const MemoryUse &x : a.uses)
    for (const MemoryUse &y : b.uses)
      if (x.space == y.space && (x.isWrite || y.isWrite) &&
          std::max(x.begin, y.begin) < std::min(x.end, y.end))
        return true;
  return false;
}

/// The order that the streams and the memory ask for.
Matrix expectedOrder(const Launches &launches) {
  Matrix order(launches.size(), std::vector<bool>(launches.size()));
  for (size_t a = 0; a != launches.size(); ++a)
    for (size_t b = a + 1; b != launches.size(); ++b)
      order[a][b] = launches[a].stream == launches[b].stream ||
                    conflict(launches[a], launches[b]);
  return closureOf(std::move(order));
}

/// The order that running the segments of `schedule` makes.
Matrix actualOrder(const Schedule &schedule, size_t count) {
  Matrix order(count, std::vector<bool>(count));
  std::vector<std::vector<uint32_t>> segments = segmentsOf(schedule);
  for (uint32_t i = 0; i != segments.size(); ++i) {
    for (size_t k = 1; k < segments[i].size(); ++k)
      order[segments[i][k - 1]][segments[i][k]] = true;
    for (uint32_t after : schedule.graph.successorsOf(i))
      order[segments[i].back()][segments[after].front()] = true;
  }
  return closureOf(std::move(order));
}

} // namespace

TEST(Schedule, JoinsWhatNothingComesBetween) {
  // Two streams of three launches; the second waits for the first once.
  Launches launches = {{0, {writes(0, 0, 4)}}, {0, {writes(0, 4, 8)}},
                       {1, {writes(1, 0, 4)}}, {1, {reads(0, 4, 8)}},
                       {0, {writes(0, 8, 9)}}, {1, {writes(1, 4, 8)}}};
  Schedule result = schedule(launches, 2);
  EXPECT_EQ(segmentsOf(result),
            (std::vector<std::vector<uint32_t>>{{0, 1}, {2}, {3, 5}, {4}}));
  EXPECT_EQ(result.graph.successorsOf(0), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(result.graph.successorsOf(1), (std::vector<uint32_t>{2}));
  EXPECT_EQ(result.graph.edgeCount(), 3u);
}

TEST(Schedule, OrdersReadsAndWrites) {
  auto edgesOf = [](MemoryUse first, MemoryUse second) {
    return schedule({{0, {first}}, {1, {second}}}, 2).graph.edgeCount();
  };
  EXPECT_EQ(edgesOf(writes(0, 0, 8), reads(0, 4, 12)), 1u);
  EXPECT_EQ(edgesOf(reads(0, 0, 8), writes(0, 7, 8)), 1u);
  EXPECT_EQ(edgesOf(writes(0, 4, 5), writes(0, 0, 8)), 1u);
  EXPECT_EQ(edgesOf(reads(0, 0, 8), reads(0, 0, 8)), 0u);
  EXPECT_EQ(edgesOf(writes(0, 0, 8), writes(0, 8, 9)), 0u);
  EXPECT_EQ(edgesOf(writes(0, 0, 8), writes(1, 0, 8)), 0u);
  EXPECT_EQ(edgesOf(writes(0, 4, 4), writes(0, 0, 8)), 0u);
}

TEST(Schedule, IsTheOrderThatMemoryAsksForAndNoMore) {
  std::mt19937 random(1);
  for (int round = 0; round != 300; ++round) {
    uint32_t streams = 1 + random() % 5;
    uint32_t spaces = 1 + random() % 4, size = 1 + random() % 40;
    Launches launches(random() % 40);
    for (ScheduledLaunch &launch : launches) {
      launch.stream = random() % streams;
      for (unsigned i = random() % 4; i-- != 0;) {
        uint64_t begin = random() % size;
        uint64_t end = begin + random() % (size - begin + 1);
        launch.uses.push_back(
            {uint32_t(random() % spaces), begin, end, random() % 3 == 0});
      }
    }
    Schedule result = schedule(launches, streams);
    std::vector<bool> isCovered(launches.size(), false);
    for (uint32_t launch : result.order)
      isCovered[launch] = true;
    ASSERT_EQ(result.order.size(), launches.size());
    ASSERT_EQ(std::count(isCovered.begin(), isCovered.end(), false), 0);
    ASSERT_TRUE(actualOrder(result, launches.size()) ==
                expectedOrder(launches))
        << "round " << round;
  }
}

TEST(Schedule, RefusesToSearchForEver) {
  // Each launch reads thousands of pieces that others have written.
  Launches launches;
  constexpr uint64_t pieces = 20'000;
  for (uint64_t i = 0; i != pieces; ++i)
    launches.push_back({0, {writes(0, i, i + 1)}});
  for (uint64_t i = 0; i != 2'000; ++i)
    launches.push_back({1, {reads(0, 0, pieces)}});
  Result<Schedule> result = makeSchedule(launches, 2);
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().code(), StatusCode::Unsupported);
}
