// SPDX-License-Identifier: Apache-2.0
//
// Calls that other kernels compute one after the other, with what is between
// them in the workspace.

#ifndef DLC_RUNTIME_KERNEL_CPU_STEPS_H
#define DLC_RUNTIME_KERNEL_CPU_STEPS_H

#include "../Reference/Walk.h"

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

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

/// A call of another kernel, with types of its own.
struct StepCall {
  std::vector<TensorType> inputs, outputs;
  Attributes attributes;

  /// Refers to this object.
  KernelCall view() const { return {inputs, outputs, attributes}; }
};

/// The steps of a call.
class Steps {
public:
  /// Makes a kernel ready, as entries of the library do.
  using Prepare = Status (*)(const KernelCall &call, Isa isa,
                             std::unique_ptr<PreparedKernel> &prepared);

  /// Arguments of the call: inputs, the result and, the last one, the
  /// workspace. Other calls are made ready by `prepare`, and left out where it
  /// is null: then only the workspace can be asked for.
  explicit Steps(const KernelCall &call, Prepare prepare = nullptr,
                 Isa isa = Isa::Baseline)
      : result{call.inputs.size()}, workspace{call.inputs.size() + 1},
        prepare(prepare), isa(isa) {}

  /// A new place in the workspace for `bytes`.
  StepOperand reserve(size_t bytes);
  size_t workspaceBytes() const { return usedBytes; }

  /// Adds another call, which calls that are the same share.
  Status addCall(const StepCall &call, std::vector<StepOperand> operands);
  void add(std::unique_ptr<PreparedKernel> kernel,
           std::vector<StepOperand> operands);
  /// Adds a copy from one place to another.
  void addCopy(ref::ElementCopy copy, StepOperand source, StepOperand target);

  /// All steps as one chain. Not empty.
  std::unique_ptr<PreparedKernel> finish() &&;

  const StepOperand result;

private:
  /// A kernel with all that follows it.
  using Chain = std::shared_ptr<const PreparedKernel>;
  struct Step {
    Chain kernel;
    std::vector<StepOperand> operands;
  };

  void addChain(const Chain &chain, const std::vector<StepOperand> &operands);

  const StepOperand workspace;
  const Prepare prepare;
  const Isa isa;
  size_t usedBytes = 0;
  std::vector<Step> steps;
  std::vector<std::pair<StepCall, Chain>> ready;
};

/// Adds the steps of a call. Errors: InvalidArgument where it has none.
using AddSteps = Status (*)(const KernelCall &call, Steps &steps);

/// The workspace of a call, 0 where it has no steps.
size_t workspaceOfSteps(const KernelCall &call, AddSteps addSteps);

/// Makes a call of steps ready, with what it has of a workspace.
Status prepareSteps(const KernelCall &call, AddSteps addSteps,
                    Steps::Prepare prepare, Isa isa,
                    std::unique_ptr<PreparedKernel> &prepared);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_STEPS_H
