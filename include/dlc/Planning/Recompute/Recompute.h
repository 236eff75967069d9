// SPDX-License-Identifier: Apache-2.0
//
// Which values a program computes again instead of keeping them: a problem over
// plain data. A training step keeps what its backward pass reads; here the
// order of operations has a turn, where most bytes are live, and operations in
// front of it may be repeated behind it, right before their value is read.
//
// Candidates are segmentations of what is in front of the turn, as in Chen, Xu,
// Zhang, Guestrin, Training Deep Nets with Sublinear Memory Cost (2016): when
// the values that would be computed again exceed a number of bytes, what the
// rest needs of them is kept. Over a chain of n equal operations the best
// number leaves O(sqrt n) bytes and computes no operation more than twice.

#ifndef DLC_PLANNING_RECOMPUTE_RECOMPUTE_H
#define DLC_PLANNING_RECOMPUTE_RECOMPUTE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlc::planning::recompute {

/// What an operation says of being computed twice.
enum class Again {
  Never, ///< It must run once.
  Cheap, ///< It moves bytes and computes little.
  Dear,  ///< It takes time that somebody must want to spend.
  Asked, ///< Somebody wants its value to be computed again.
};

/// One operation. Values are indices into Problem::bytes.
struct Operation {
  std::vector<uint32_t> reads;
  std::vector<uint32_t> writes;
  Again again = Again::Never;
  int64_t nanoseconds = 0; ///< Modelled time to compute it.
  /// Of `reads`: those whose memory the first result takes over where it has as
  /// many bytes and nobody reads them later.
  std::vector<uint32_t> inPlace;
};

/// Operations in an order in which each value is made, by one operation, before
/// it is read. A value that no operation makes comes from outside and takes no
/// memory.
struct Problem {
  std::vector<int64_t> bytes; ///< Of each value.
  std::vector<Operation> operations;
};

/// A run of an operation. The second run of one is a repetition; what follows
/// it reads its values, not those of the first.
struct Step {
  uint32_t operation;
  bool isAgain;

  bool operator==(const Step &) const = default;
};

struct Solution {
  std::vector<Step> steps;
  int64_t peakBytes = 0;   ///< Live at the worst step.
  int64_t nanoseconds = 0; ///< Spent on repetitions.
};

/// Without repetitions.
Solution keepAll(const Problem &problem);

/// With repetitions of cheap operations and those asked for only: the smallest
/// peak; of equal ones the one with the least time.
Solution solveCheap(const Problem &problem);

/// The least time for a peak of at most `budget` bytes, or, where nothing that
/// is tried fits, the smallest peak; what is dearer than `most` runs once.
/// Deterministic. Of equal candidates that keep more the best is found
/// greedily. Cost: O(c n) for n operands and c = 160 candidates, and for what
/// is kept as much as 6e7 steps; 80 candidates and no such steps with
/// Again::Cheap.
Solution solve(const Problem &problem, int64_t budget,
               Again most = Again::Dear);

/// Bytes live at the worst step, a step's operands and results among them.
int64_t peakBytes(const Problem &problem, const std::vector<Step> &steps);

/// What is wrong with the solution, or nullopt: each operation runs, in an
/// order in which values exist when they are read; only those that may are
/// repeated, once; peak and time are as stated.
std::optional<std::string> validate(const Problem &problem,
                                    const Solution &solution);

} // namespace dlc::planning::recompute

#endif // DLC_PLANNING_RECOMPUTE_RECOMPUTE_H
