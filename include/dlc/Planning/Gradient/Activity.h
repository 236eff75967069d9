// SPDX-License-Identifier: Apache-2.0
//
// Which operations a backward pass visits, in which order, and for which of
// their operands it builds gradients: a problem over plain data, and its only
// solution. The sets are the varied and the useful variables of Griewank and
// Walther, Evaluating Derivatives, section 6.2.

#ifndef DLC_PLANNING_GRADIENT_ACTIVITY_H
#define DLC_PLANNING_GRADIENT_ACTIVITY_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlc::planning::gradient {

/// One operation. Values are indices into Problem::isContinuous.
struct Operation {
  std::vector<uint32_t> operands;
  std::vector<uint32_t> results;
};

/// Operations in an order in which each value is made before it is used. A
/// value that no operation makes comes from outside.
struct Problem {
  /// Of each value: small changes of it have a meaning (it is of floats).
  std::vector<bool> isContinuous;
  std::vector<Operation> operations;
  std::vector<uint32_t> heads;   ///< Values whose gradients are given.
  std::vector<uint32_t> sources; ///< Values whose gradients are asked for.
};

/// A visit of an operation on the way back.
struct Step {
  uint32_t operation;
  std::vector<bool> wanted; ///< Of each operand: its gradient is of use.

  bool operator==(const Step &) const = default;
};

struct Solution {
  /// Of each value: it is continuous, depends on a source, and a head depends
  /// on it, all through continuous values.
  std::vector<bool> isActive;
  /// The operations with active results, last first: when one is visited, all
  /// that use its results have been. Each wants what is active.
  std::vector<Step> steps;
};

/// Linear in the number of operands and results.
Solution solve(const Problem &problem);

/// What is wrong with the solution, or nullopt. Follows paths where solve()
/// sweeps: quadratic, for tests.
std::optional<std::string> validate(const Problem &problem,
                                    const Solution &solution);

} // namespace dlc::planning::gradient

#endif // DLC_PLANNING_GRADIENT_ACTIVITY_H
