// SPDX-License-Identifier: Apache-2.0
//
// Calls of one plan.

#ifndef DLC_RUNTIME_KERNEL_CPU_PREPAREDPLAN_H
#define DLC_RUNTIME_KERNEL_CPU_PREPAREDPLAN_H

#include "Check.h"

namespace dlc::rt::cpu {

/// A plan and the function that runs its tiles, which takes operands as they
/// are.
template <typename Plan> class PreparedPlan final : public PreparedKernel {
public:
  using Function = void (*)(const Plan &plan, void *const *arguments,
                            int64_t begin, int64_t end);

  PreparedPlan(const Plan &plan, int64_t tileCount, Function function)
      : plan(plan), tileCount(tileCount), function(function) {}

  int64_t tiles() const override { return tileCount; }

  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    function(plan, arguments, begin, end);
  }

private:
  const Plan plan;
  const int64_t tileCount;
  const Function function;
};

/// The same of a function that takes five arguments: x, w, bias, residual, y.
template <typename Plan> class PreparedFive final : public PreparedKernel {
public:
  using Function = PreparedPlan<Plan>::Function;

  PreparedFive(const KernelCall &call, const Plan &plan, int64_t tileCount,
               Function function)
      : plan(plan), tileCount(tileCount), function(function), arguments(call) {}

  int64_t tiles() const override { return tileCount; }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *five[5];
    arguments.fill(given, five);
    function(plan, five, begin, end);
  }

private:
  const Plan plan;
  const int64_t tileCount;
  const Function function;
  const FiveArguments arguments;
};

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PREPAREDPLAN_H
