// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv_transpose: transposed convolutions as a product with all kernel
// elements, of which each result is a sum. For shapes that are found while
// running; where they are known, the compiler makes plain convolutions of them.

#ifndef DLC_RUNTIME_KERNEL_CPU_CONVTRANSPOSE_H
#define DLC_RUNTIME_KERNEL_CPU_CONVTRANSPOSE_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isConvTransposeSupported(const KernelCall &call, std::string &why);
/// 0 and no effect unless the call is supported and `operand` is w. Whether
/// the call says already that the operand is packed does not matter.
size_t packedConvTransposeBytes(const KernelCall &call, size_t operand);
void packConvTranspose(const KernelCall &call, size_t operand,
                       const void *source, void *target);
size_t convTransposeWorkspaceBytes(const KernelCall &call);
KernelCost convTransposeCost(const KernelCall &call);
/// As LibraryEntry::fromOperation.
bool convTransposeFromOperation(std::string_view operation,
                                const KernelCall &call, ConstantOperands,
                                Attributes &attributes);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CONVTRANSPOSE_H
