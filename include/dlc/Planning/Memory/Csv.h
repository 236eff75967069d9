// SPDX-License-Identifier: Apache-2.0
//
// Packing problems and packings as text, so that a hard case is a file.
//
// The format is the one of MiniMalloc: a header, then one buffer per line.
// Columns go by name, in any order: `id`, `lower`, `upper` and `size` are
// required; `alignment`, `offset` (a pin; may be empty), `alias_of` (the id of
// another buffer; may be empty) and `alias_delta` are optional. There is no
// quoting: an id is any non-empty text without comma or line end.

#ifndef DLC_PLANNING_MEMORY_CSV_H
#define DLC_PLANNING_MEMORY_CSV_H

#include "dlc/Planning/Memory/Problem.h"
#include "dlc/Planning/Memory/Solution.h"
#include "dlc/Planning/Memory/Solver.h"

#include <string>
#include <string_view>

namespace dlc::planning {

/// Reads a problem (without capacity). Untrusted text is welcome: on failure
/// the message names the line and `problem` is left as it was. Lines end in
/// LF or CRLF; empty lines are allowed at the end only.
[[nodiscard]] Error readCsv(std::string_view text, Problem &problem);

/// Writes the problem, pins in column `offset`; readCsv() reads it back.
/// Optional columns appear when some buffer needs them.
std::string writeCsv(const Problem &problem);

/// Writes the problem with the offsets of its solution in column `offset`.
/// Requires one offset per buffer.
std::string writeCsv(const Problem &problem, const Solution &solution);

/// What planCsv() found.
struct PlanReport {
  Solution solution;
  double milliseconds = 0; ///< Wall time of solve() alone.

  /// "arena=1048576 lower_bound=1039360 ms=6.1", sizes in bytes.
  std::string summary() const;
};

/// The whole of `dlc plan-memory`: reads a problem, solves and validates it,
/// and writes the solution. `capacity` is in bytes; a packing that does not
/// fit is an error (the report is filled all the same).
[[nodiscard]] Error planCsv(std::string_view text,
                            std::optional<int64_t> capacity,
                            const SolverOptions &options, std::string &output,
                            PlanReport &report);

} // namespace dlc::planning

#endif // DLC_PLANNING_MEMORY_CSV_H
