// SPDX-License-Identifier: Apache-2.0
//
// cpu.einsum: sums of products of two tensors, as Einstein's convention writes
// them, by products of matrices of which some are rearranged before. For shapes
// that are found while running; where they are known, the compiler does this.

#ifndef DLC_RUNTIME_KERNEL_CPU_EINSUM_H
#define DLC_RUNTIME_KERNEL_CPU_EINSUM_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isEinsumSupported(const KernelCall &call, std::string &why);
size_t einsumWorkspaceBytes(const KernelCall &call);
KernelCost einsumCost(const KernelCall &call);
/// As LibraryEntry::fromOperation.
bool einsumFromOperation(std::string_view operation, const KernelCall &call,
                         ConstantOperands, Attributes &attributes);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_EINSUM_H
