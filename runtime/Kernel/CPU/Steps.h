// SPDX-License-Identifier: Apache-2.0
//
// Calls that other kernels compute one after the other, with what is between
// them in the workspace.

#ifndef DLC_RUNTIME_KERNEL_CPU_STEPS_H
#define DLC_RUNTIME_KERNEL_CPU_STEPS_H

#include "../Reference/Walk.h"

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

/// Where an operand of a step is: in an argument of the call, so many bytes
/// behind its beginning.
struct StepOperand {
  size_t argument;
  size_t offset = 0;

  StepOperand behind(int64_t floats) const {
    return {argument, offset + static_cast<size_t>(floats) * sizeof(float)};
  }
};

/// What lies between steps is made in pieces of about so many floats, which a
/// large cache holds: memory does not grow with images.
inline constexpr int64_t kStepFloats = int64_t(1) << 21;

/// Bytes of a tensor of known shape.
inline size_t bytesOfTensor(const TensorType &type) {
  return static_cast<size_t>(byteCount(type.type, type.shape).value_or(0));
}

/// The steps of a call.
class Steps {
public:
  /// Arguments of the call: inputs, the result and, the last one, the
  /// workspace.
  explicit Steps(size_t inputs) : result{inputs}, workspace{inputs + 1} {}

  /// A new place in the workspace for `bytes`.
  StepOperand reserve(size_t bytes);
  size_t workspaceBytes() const { return usedBytes; }

  /// Adds a kernel, with all that follows it on the same operands. Steps may
  /// share one.
  void add(std::shared_ptr<const PreparedKernel> kernel,
           std::vector<StepOperand> operands);
  /// Adds a copy from one place to another.
  void addCopy(ref::ElementCopy copy, StepOperand source, StepOperand target);

  /// All steps as one chain. Not empty.
  std::unique_ptr<PreparedKernel> finish() &&;

  const StepOperand result;

private:
  struct Step {
    std::shared_ptr<const PreparedKernel> kernel;
    std::vector<StepOperand> operands;
  };

  const StepOperand workspace;
  size_t usedBytes = 0;
  std::vector<Step> steps;
};

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_STEPS_H
