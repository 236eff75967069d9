// SPDX-License-Identifier: Apache-2.0
//
// The step in front of a product or a convolution on tiles that rounds what all
// its tiles read.

#ifndef DLC_RUNTIME_KERNEL_CPU_ROUNDBEFORE_H
#define DLC_RUNTIME_KERNEL_CPU_ROUNDBEFORE_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

/// Writes the first input, rounded, into the workspace.
template <typename Plan> class RoundBefore final : public PreparedKernel {
public:
  using Function = void (*)(const Plan &, void *const *, int64_t, int64_t);

  RoundBefore(const KernelCall &call, const Plan &plan, Function function,
              int64_t tileCount, std::unique_ptr<PreparedKernel> following)
      : plan(plan), function(function), tileCount(tileCount),
        workspace(call.inputs.size() + 1), following(std::move(following)) {}

  int64_t tiles() const override { return tileCount; }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *two[] = {given[0], given[workspace]};
    function(plan, two, begin, end);
  }

  const PreparedKernel *next() const override { return following.get(); }

private:
  const Plan plan;
  const Function function;
  const int64_t tileCount;
  const size_t workspace; ///< Which argument it is.
  const std::unique_ptr<PreparedKernel> following;
};

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ROUNDBEFORE_H
