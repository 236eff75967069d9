// SPDX-License-Identifier: Apache-2.0
//
// The order of a program's launches that needs least memory at its peak: a
// problem over plain data, heuristics that solve it and a validator that shares
// no code with them.

#ifndef DLC_PLANNING_SCHEDULE_SCHEDULE_H
#define DLC_PLANNING_SCHEDULE_SCHEDULE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlc::planning::schedule {

/// One launch. Buffers are indices into Problem::bufferBytes.
struct Task {
  std::vector<uint32_t> reads;
  std::vector<uint32_t> writes;
  /// Buffers from outside whose memory the task writes something else to: other
  /// tasks that read them come before it.
  std::vector<uint32_t> overwrites;
};

/// Tasks in an order that is legal as it stands. Each buffer is written by at
/// most one task; a buffer that no task writes lives outside and costs nothing,
/// and is overwritten by at most one.
/// A buffer is live from its writer to its last reader.
///
/// Buffers may be parts of one piece of memory, a whole: all of its bytes,
/// which are those of its parts, are live from the writer of the first part to
/// the last reader of any. A buffer is part of one whole at most.
struct Problem {
  std::vector<int64_t> bufferBytes;
  std::vector<Task> tasks;
  std::vector<std::vector<uint32_t>> wholes; ///< Their parts.
};

/// `order[i]` is the task that runs at step i.
struct Solution {
  std::vector<uint32_t> order;
  int64_t peakBytes = 0;
  const char *how = ""; ///< The heuristic that won, for remarks.
};

/// Bytes live at the worst step of `order`, a permutation of the tasks.
int64_t peakBytes(const Problem &problem, const std::vector<uint32_t> &order);

/// The best of: the given order, list schedules that prefer the ready task
/// which frees most (forwards, and backwards from the end), and each of the
/// three with tasks that add to what is live right before their readers.
/// Deterministic; O(n w) for n tasks and at most w of them ready at once.
Solution solve(const Problem &problem);

/// What is wrong with the solution, or nullopt: `order` must be a permutation
/// in which each buffer is written before it is read and read before it is
/// overwritten, with the stated peak.
std::optional<std::string> validate(const Problem &problem,
                                    const Solution &solution);

} // namespace dlc::planning::schedule

#endif // DLC_PLANNING_SCHEDULE_SCHEDULE_H
