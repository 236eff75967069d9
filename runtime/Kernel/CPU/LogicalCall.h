// SPDX-License-Identifier: Apache-2.0
//
// Programs store a packed operand as the vector of floats that it is, and its
// shape before packing in the attribute that packedShapeName() says. The
// kernels see the call as if nothing had been packed.

#ifndef DLC_RUNTIME_KERNEL_CPU_LOGICALCALL_H
#define DLC_RUNTIME_KERNEL_CPU_LOGICALCALL_H

#include "dlc/runtime/Kernel/Library.h"

#include <vector>

namespace dlc::rt::cpu {

/// A call with operands in the shapes they had before packing, and without the
/// attributes that say so. Borrows from the call it was made of.
class LogicalCall {
public:
  explicit LogicalCall(const KernelCall &call);
  KernelCall view() const { return {inputs, outputs, attributes}; }

private:
  std::vector<TensorType> inputs;
  std::span<const TensorType> outputs;
  Attributes attributes;
};

/// That operand `operand` of `call`, when it is packed, holds what packing
/// wrote: `bytes`.
Status checkPackedSize(const KernelCall &call, size_t operand, size_t bytes);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_LOGICALCALL_H
