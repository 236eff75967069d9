// SPDX-License-Identifier: Apache-2.0
//
// The order of a program's launches when they are on more than one stream.

#ifndef DLC_RUNTIME_EXECUTOR_SCHEDULE_H
#define DLC_RUNTIME_EXECUTOR_SCHEDULE_H

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Engine/TaskGraph.h"
#include "dlc/runtime/Executor/Program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace dlc::rt {

/// One use of memory by a launch: bytes [begin, end) of a space, which is an
/// arena, an output or a value of the pool. Spaces do not overlap.
struct MemoryUse {
  uint32_t space;
  uint64_t begin, end;
  bool isWrite;

  /// Whether the two have an order: they share bytes, and not both read.
  bool isOrderedWith(const MemoryUse &other) const {
    return space == other.space && (isWrite || other.isWrite) &&
           begin < other.end && other.begin < end;
  }
};

/// A launch as its order sees it.
struct ScheduledLaunch {
  /// Launches of one stream run in their order in the plan.
  uint32_t stream;
  std::vector<MemoryUse> uses;
};

/// Launches of one stream that nothing of another stream comes between: one
/// task.
struct Segment {
  uint32_t firstLaunch, launchCount; ///< A range of Schedule::order.
};

/// What runs when.
struct Schedule {
  std::vector<uint32_t> order; ///< Launches, segment by segment.
  std::vector<Segment> segments;
  TaskGraph graph; ///< A task for each segment.
};

/// Orders launches that use the same memory, unless both read, as they are
/// ordered in the plan, and all of one stream; streams are numbered below
/// `streams`. Errors: Unsupported (so many pieces of memory that finding the
/// order would take very long).
Result<Schedule> makeSchedule(std::span<const ScheduledLaunch> launches,
                              uint32_t streams);

/// The schedule of a program whose launches are on more than one stream;
/// without tasks for all others. Errors: Unsupported.
Status scheduleProgram(Program::State &state);

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_SCHEDULE_H
