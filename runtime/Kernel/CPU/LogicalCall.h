// SPDX-License-Identifier: Apache-2.0
//
// Programs store a packed operand as the vector of floats that it is, and its
// shape before packing in the attribute `packed_shape`. The kernels see the
// call as if nothing had been packed.

#ifndef DLC_RUNTIME_KERNEL_CPU_LOGICALCALL_H
#define DLC_RUNTIME_KERNEL_CPU_LOGICALCALL_H

#include "dlc/runtime/Kernel/Library.h"

#include <vector>

namespace dlc::rt::cpu {

/// A call with operand 1 in the shape it had before packing, and without the
/// attribute that says so. Borrows from the call it was made of.
class LogicalCall {
public:
  explicit LogicalCall(const KernelCall &call);
  KernelCall view() const { return {inputs, outputs, attributes}; }

private:
  std::vector<TensorType> inputs;
  std::span<const TensorType> outputs;
  Attributes attributes;
};

/// That a packed operand 1 of `call` holds what packing wrote: `bytes`.
Status checkPackedSize(const KernelCall &call, size_t bytes);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_LOGICALCALL_H
