// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.integer_conv: checks, plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERCONV_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERCONV_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isIntegerConvSupported(const KernelCall &call, std::string &why);
/// As packedConvBytes() and packConv().
size_t packedIntegerConvBytes(const KernelCall &call, size_t operand);
void packIntegerConv(const KernelCall &call, size_t operand, const void *source,
                     void *target);
/// For images, and for weights that are packed while running.
size_t integerConvWorkspaceBytes(const KernelCall &call);
KernelCost integerConvCost(const KernelCall &call);
/// Gives the call of the library the attributes of the operation; false for
/// padding that is not resolved.
bool integerConvFromOperation(std::string_view operation,
                              const KernelCall &call, ConstantOperands,
                              Attributes &attributes);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERCONV_H
