// SPDX-License-Identifier: Apache-2.0
//
// What the launches of a program say of streams and memory.

#include "ProgramState.h"

#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace dlc::rt;

/// More streams than any device has queues; finding the order takes a table of
/// their pairs.
static constexpr size_t mostStreams = 64;

/// Numbers the pairs of device and stream in the order of their first launch.
static Status numberStreams(Program::State &state,
                            std::vector<ScheduledLaunch> &launches) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;
  for (size_t i = 0; i != launches.size(); ++i) {
    const LaunchNames &names = state.names[i];
    launches[i].stream =
        numbers.try_emplace({names.device, names.stream}, numbers.size())
            .first->second;
    if (numbers.size() > mostStreams)
      return makeError(StatusCode::Unsupported,
                       "expected at most %zu streams, got more", mostStreams);
  }
  state.streamCount = numbers.size();
  return Status::ok();
}

/// The memory of `value` as a use; none for what no launch writes. An input is
/// in the space of the output that updates it.
static void addUse(const Program::State &state, uint32_t value, bool isWrite,
                   std::vector<MemoryUse> &uses) {
  const ValueRecord &record = state.values[value];
  uint32_t firstOutput = state.devices.size();
  uint32_t firstPooled = firstOutput + state.outputs.size();
  uint64_t end = record.offset + record.bytes;
  switch (record.place) {
  case Place::Constant:
    return;
  case Place::Input:
    if (std::optional<size_t> output = state.updatedBy[record.index])
      uses.push_back(
          {firstOutput + uint32_t(*output), record.offset, end, isWrite});
    return;
  case Place::Arena:
    uses.push_back({record.device, record.offset, end, isWrite});
    return;
  case Place::Output:
    if (!record.isStatic) // Memory and shape are found while running.
      end = UINT64_MAX;
    uses.push_back({firstOutput + record.index, record.offset, end, isWrite});
    return;
  case Place::Pool:
    uses.push_back({firstPooled + value, 0, 1, isWrite});
    return;
  }
}

static std::vector<MemoryUse> usesOf(const Program::State &state,
                                     const LaunchRecord &launch) {
  std::vector<MemoryUse> uses;
  std::span<const int32_t> arguments = state.argumentsOf(launch);
  for (size_t i = 0; i != arguments.size(); ++i)
    if (arguments[i] >= 0)
      addUse(state, arguments[i], i >= launch.inputCount, uses);
  // Memory that goes back to the pool: nobody may use it any more.
  for (uint32_t i = 0; i != launch.releasedCount; ++i)
    addUse(state, state.released[launch.firstReleased + i], /*isWrite=*/true,
           uses);
  return uses;
}

Status dlc::rt::scheduleProgram(Program::State &state) {
  std::vector<ScheduledLaunch> launches(state.launches.size());
  DLC_RETURN_IF_ERROR(numberStreams(state, launches));
  if (state.streamCount <= 1)
    return Status::ok();
  for (size_t i = 0; i != launches.size(); ++i)
    launches[i].uses = usesOf(state, state.launches[i]);
  Result<Schedule> schedule = makeSchedule(launches, state.streamCount);
  if (!schedule.isOk())
    return std::move(schedule.status());
  state.schedule = std::move(*schedule);
  state.statistics.segments = state.schedule.segments.size();
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Launches that are one grid
//===----------------------------------------------------------------------===//

/// Products of two counts of tiles are numbers of 64 bits.
static constexpr int64_t mostTilesAtOnce = (int64_t(1) << 31) / mostAtOnce;

/// Whether the launch is nothing but tiles.
static bool isGrid(const LaunchRecord &launch) {
  return (launch.kind == LaunchKind::Generated ||
          launch.kind == LaunchKind::Library) &&
         !launch.allocates && !launch.releasedCount &&
         launch.tiles <= mostTilesAtOnce;
}

/// Joins what follows the first of `launches`, as far as it may run beside it,
/// and returns how many launches that are.
static uint32_t joinFollowing(Program::State &state,
                              std::span<const uint32_t> launches) {
  LaunchRecord &first = state.launches[launches[0]];
  if (!isGrid(first))
    return 1;
  std::vector<MemoryUse> uses = usesOf(state, first);
  auto isOrdered = [&](const MemoryUse &use) {
    return std::ranges::any_of(
        uses, [&](const MemoryUse &other) { return use.isOrderedWith(other); });
  };
  size_t most = std::min<size_t>(launches.size(), mostAtOnce);
  uint32_t count = 1;
  for (; count != most; ++count) {
    const LaunchRecord &next = state.launches[launches[count]];
    if (!isGrid(next))
      break;
    std::vector<MemoryUse> more = usesOf(state, next);
    if (std::ranges::any_of(more, isOrdered))
      break;
    uses.insert(uses.end(), more.begin(), more.end());
  }
  return count;
}

static void joinInOrder(Program::State &state,
                        std::span<const uint32_t> launches) {
  for (size_t i = 0; i != launches.size();) {
    uint32_t count = joinFollowing(state, launches.subspan(i));
    state.launches[launches[i]].atOnce = count;
    int64_t tiles = 0;
    uint64_t nanoseconds = 0;
    for (uint32_t launch : launches.subspan(i, count)) {
      tiles += state.launches[launch].tiles;
      nanoseconds += state.launches[launch].nanoseconds;
    }
    if (tiles > 1 && nanoseconds >= WorkerPool::shareAbove)
      state.sharedNanoseconds += nanoseconds;
    i += count;
  }
}

void dlc::rt::joinLaunches(Program::State &state) {
  const Schedule &schedule = state.schedule;
  if (schedule.segments.empty()) {
    std::vector<uint32_t> all(state.launches.size());
    std::iota(all.begin(), all.end(), 0);
    return joinInOrder(state, all);
  }
  for (const Segment &segment : schedule.segments)
    joinInOrder(state, std::span(schedule.order)
                           .subspan(segment.firstLaunch, segment.launchCount));
}
