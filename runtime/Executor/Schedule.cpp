// SPDX-License-Identifier: Apache-2.0

#include "Schedule.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

using namespace dlc::rt;

namespace {

constexpr uint32_t none = UINT32_MAX;

/// Who used each byte of one space last: ranges that do not overlap.
class UseMap {
public:
  using Launches = std::span<const ScheduledLaunch>;

  /// Records a use by `launch` and calls `follow` for each earlier launch that
  /// it comes after; returns how many ranges it looked at.
  template <typename Follow>
  size_t record(const MemoryUse &use, uint32_t launch, Launches launches,
                Follow follow);

private:
  struct Range {
    uint64_t end;
    uint32_t writer = none;
    /// Since the write, the last one of each stream.
    std::vector<uint32_t> readers = {};
  };
  using Ranges = std::map<uint64_t, Range>; // By their begin.

  void splitAt(uint64_t place);
  void fillGaps(uint64_t begin, uint64_t end);

  Ranges ranges;
};

/// Finds what comes before what.
class OrderFinder {
public:
  OrderFinder(std::span<const ScheduledLaunch> launches, uint32_t streams)
      : launches(launches), lastOfStream(streams, none),
        awaited(streams, std::vector<uint32_t>(streams, none)) {}

  Status run();
  /// Launches of other streams that each launch comes after.
  std::vector<std::vector<uint32_t>> before;

private:
  std::span<const ScheduledLaunch> launches;
  std::vector<uint32_t> lastOfStream;
  /// The last launch of each stream that each stream has waited for.
  std::vector<std::vector<uint32_t>> awaited;
  std::unordered_map<uint32_t, UseMap> spaces;
};

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Makes `place` a border when it is inside a range.
void UseMap::splitAt(uint64_t place) {
  auto after = ranges.upper_bound(place);
  if (after == ranges.begin())
    return;
  auto range = std::prev(after);
  if (range->first == place || range->second.end <= place)
    return;
  Range upper = range->second;
  range->second.end = place;
  ranges.emplace_hint(after, place, std::move(upper));
}

/// Gives every byte of [begin, end) a range.
void UseMap::fillGaps(uint64_t begin, uint64_t end) {
  auto range = ranges.lower_bound(begin);
  while (begin != end) {
    bool isGap = range == ranges.end() || range->first >= end;
    uint64_t next = isGap ? end : range->first;
    if (begin != next)
      ranges.emplace_hint(range, begin, Range{next});
    begin = isGap ? end : range->second.end;
    if (!isGap)
      ++range;
  }
}

template <typename Follow>
size_t UseMap::record(const MemoryUse &use, uint32_t launch, Launches launches,
                      Follow follow) {
  splitAt(use.begin);
  splitAt(use.end);
  fillGaps(use.begin, use.end);
  auto first = ranges.find(use.begin);
  auto last = ranges.lower_bound(use.end);
  size_t visits = 0;
  for (auto range = first; range != last; ++range) {
    Range &piece = range->second;
    visits += 1 + piece.readers.size();
    if (piece.writer != none)
      follow(piece.writer);
    if (use.isWrite) {
      std::for_each(piece.readers.begin(), piece.readers.end(), follow);
      continue;
    }
    auto isSameStream = [&](uint32_t reader) {
      return launches[reader].stream == launches[launch].stream;
    };
    std::erase_if(piece.readers, isSameStream);
    piece.readers.push_back(launch);
  }
  if (use.isWrite) {
    ranges.erase(first, last);
    ranges.emplace(use.begin, Range{use.end, launch});
  }
  return visits;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

Status OrderFinder::run() {
  // Honest plans look at a few pieces a use.
  constexpr size_t mostVisits = size_t(1) << 24;
  size_t visits = 0;
  before.resize(launches.size());
  for (uint32_t launch = 0; launch != launches.size(); ++launch) {
    uint32_t stream = launches[launch].stream;
    auto follow = [&](uint32_t earlier) {
      uint32_t other = launches[earlier].stream;
      uint32_t &seen = awaited[stream][other];
      // What this stream has waited for is in the past of all that follows.
      if (other == stream || (seen != none && seen >= earlier))
        return;
      seen = earlier;
      before[launch].push_back(earlier);
    };
    for (const MemoryUse &use : launches[launch].uses)
      if (use.begin != use.end)
        visits += spaces[use.space].record(use, launch, launches, follow);
    if (visits > mostVisits)
      return makeError(StatusCode::Unsupported,
                       "expected launches that share little memory, got more "
                       "than %zu pieces",
                       mostVisits);
  }
  return Status::ok();
}

/// Cuts each stream before a launch that waits for another stream and after
/// one that another stream waits for.
static std::vector<bool>
findCuts(std::span<const ScheduledLaunch> launches, uint32_t streams,
         const std::vector<std::vector<uint32_t>> &before) {
  std::vector<bool> isAwaited(launches.size(), false);
  for (const std::vector<uint32_t> &list : before)
    for (uint32_t launch : list)
      isAwaited[launch] = true;
  std::vector<bool> beginsSegment(launches.size());
  std::vector<uint32_t> previous(streams, none);
  for (uint32_t launch = 0; launch != launches.size(); ++launch) {
    uint32_t &last = previous[launches[launch].stream];
    beginsSegment[launch] =
        last == none || isAwaited[last] || !before[launch].empty();
    last = launch;
  }
  return beginsSegment;
}

Result<Schedule>
dlc::rt::makeSchedule(std::span<const ScheduledLaunch> launches,
                      uint32_t streams) {
  OrderFinder finder(launches, streams);
  DLC_RETURN_IF_ERROR(finder.run());
  std::vector<bool> beginsSegment = findCuts(launches, streams, finder.before);

  std::vector<uint32_t> segmentOf(launches.size());
  std::vector<uint32_t> current(streams, none);
  std::vector<std::vector<uint32_t>> members;
  std::vector<TaskGraph::Edge> edges;
  for (uint32_t launch = 0; launch != launches.size(); ++launch) {
    uint32_t &segment = current[launches[launch].stream];
    if (beginsSegment[launch]) {
      uint32_t next = members.size();
      if (segment != none)
        edges.push_back({segment, next});
      segment = next;
      members.emplace_back();
    }
    members[segment].push_back(launch);
    segmentOf[launch] = segment;
    for (uint32_t earlier : finder.before[launch])
      edges.push_back({segmentOf[earlier], segment});
  }

  Schedule schedule;
  for (const std::vector<uint32_t> &list : members) {
    schedule.segments.push_back(
        {uint32_t(schedule.order.size()), uint32_t(list.size())});
    schedule.order.insert(schedule.order.end(), list.begin(), list.end());
  }
  // Without names: a failure names its launch.
  Result<TaskGraph> graph = TaskGraph::create(members.size(), edges);
  if (!graph.isOk())
    return std::move(graph.status());
  schedule.graph = std::move(*graph);
  return schedule;
}
