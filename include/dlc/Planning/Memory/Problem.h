// SPDX-License-Identifier: Apache-2.0
//
// The static memory packing problem: buffers with known lives and sizes, to be
// given fixed offsets in one arena.

#ifndef DLC_PLANNING_MEMORY_PROBLEM_H
#define DLC_PLANNING_MEMORY_PROBLEM_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlc::planning {

/// Nothing when all is well; otherwise what was expected and what was found.
using Error = std::optional<std::string>;

/// One buffer. It holds `size` bytes during the half-open life
/// [lower, upper), in whatever unit of time the caller counts (steps of a
/// program, say). Buffers whose lives only touch do not meet.
struct Buffer {
  std::string id;        ///< Unique; messages and files use it.
  int64_t lower = 0;     ///< First time of the life, not negative.
  int64_t upper = 0;     ///< First time after it; above lower.
  int64_t size = 0;      ///< Bytes; 0 takes no memory.
  int64_t alignment = 1; ///< A power of two that divides the offset.
  std::optional<int64_t> pinnedOffset; ///< The only offset allowed, if any.

  bool operator==(const Buffer &) const = default;
};

/// Ties two buffers at a fixed distance, in bytes:
/// offset(view) = offset(base) + delta. A view of a larger buffer and a result
/// computed in place are both such ties.
struct Alias {
  size_t view = 0;   ///< Index into Problem::buffers.
  size_t base = 0;   ///< Index into Problem::buffers.
  int64_t delta = 0; ///< May be negative.

  bool operator==(const Alias &) const = default;
};

/// A packing problem. Buffers that aliases tie together, directly or through
/// others, form one alias group. Buffers of one group may share bytes at the
/// same time; at any time the group holds exactly the bytes that its live
/// buffers cover, no more.
struct Problem {
  std::vector<Buffer> buffers;
  std::vector<Alias> aliases;
  /// Bytes of the arena. When present, any packing that fits is as good as
  /// another; when absent, the smallest arena is sought.
  std::optional<int64_t> capacity;

  bool operator==(const Problem &) const = default;
};

/// Says whether the problem is well formed: every field in its range, aliases
/// and pins free of contradiction, no two pinned groups on the same bytes, and
/// sums far enough from overflow (2^60) that solving needs no checks.
/// A well-formed problem without capacity always has a packing.
[[nodiscard]] Error checkProblem(const Problem &problem);

} // namespace dlc::planning

#endif // DLC_PLANNING_MEMORY_PROBLEM_H
