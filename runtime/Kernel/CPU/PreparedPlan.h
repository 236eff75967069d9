// SPDX-License-Identifier: Apache-2.0
//
// Calls that take their operands as they are.

#ifndef DLC_RUNTIME_KERNEL_CPU_PREPAREDPLAN_H
#define DLC_RUNTIME_KERNEL_CPU_PREPAREDPLAN_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

/// A plan and the function that runs its tiles.
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

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PREPAREDPLAN_H
