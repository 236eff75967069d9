// SPDX-License-Identifier: Apache-2.0
//
// Checks that cpu.matmul and cpu.conv share.

#ifndef DLC_RUNTIME_KERNEL_CPU_CHECK_H
#define DLC_RUNTIME_KERNEL_CPU_CHECK_H

#include "../Check.h"
#include "../Reference/Window.h"
#include "KernelSet.h"

#include <vector>

namespace dlc::rt::cpu {

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// To a multiple of `step`.
inline int64_t roundUp(int64_t value, int64_t step) {
  return ceilDiv(value, step) * step;
}

/// The call has 2 to 4 inputs, of which bias and residual may be absent, and
/// one output; all are static f32 of at most 2^45 elements.
Status checkOperands(const KernelCall &call, int64_t minRank, int64_t maxRank);

/// As checkOperands, of a call without a residual whose operands have elements;
/// it may have a workspace.
Status checkStepOperands(const KernelCall &call, int64_t minRank,
                         int64_t maxRank);

/// Errors: InvalidArgument where one has no elements.
Status checkElements(std::span<const TensorType> types);

/// Gives a call the strides, dilations and pads of a window over the trailing
/// dimensions of x, whose kernel is known: those that automatic padding asks
/// for, too. False where it does not fit.
bool setWindow(const TensorType &x, ref::Window window, bool ceilMode,
               Attributes &attributes);

/// The first output is what the shape rule of an operation gives, whose inputs
/// and attributes the call has. Errors: InvalidArgument.
Status checkByShapeRule(std::string_view operation, const KernelCall &call);

/// The call with its first output alone.
KernelCall withoutWorkspace(const KernelCall &call);

/// A call of floats that are rounded, without its workspace: operand 0, the
/// residual and the result may be of bfloat16, and are f32 in the view.
class FloatView {
public:
  /// Nothing may be of bfloat16 unless floats `areRounded`. Errors:
  /// InvalidArgument where the result is, and the residual not.
  Status read(const KernelCall &call, bool areRounded);
  /// Refers to this object.
  KernelCall view() const { return {inputs, outputs, *attributes}; }

  /// Which were.
  bool isShortX = false, isShortY = false, isShortResidual = false;
  std::vector<TensorType> inputs, outputs;

private:
  const Attributes *attributes = nullptr;
};

/// The attribute kBf16Parts.
Status readParts(const Attributes &attributes, int64_t &parts);

Status readEpilogue(const Attributes &attributes, Epilogue &epilogue);

/// Of a call whose floats are rounded and whose operand 1 is packed as pairs:
/// machines with instructions for it are twice as fast at least.
void setRounded(const KernelCall &call, KernelCost &cost);

/// Completes the arguments of a call to the five that the kernels take, null
/// where an operand is absent.
struct FiveArguments {
  FiveArguments(const KernelCall &call);
  void fill(void *const *arguments, void **five) const;
  int64_t inputs;
  bool bias, residual;
};

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CHECK_H
