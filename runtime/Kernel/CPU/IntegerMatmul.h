// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.integer_matmul: checks, plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERMATMUL_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERMATMUL_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isIntegerMatmulSupported(const KernelCall &call, std::string &why);
/// As packedMatmulBytes() and packMatmul().
size_t packedIntegerMatmulBytes(const KernelCall &call, size_t operand);
void packIntegerMatmul(const KernelCall &call, size_t operand,
                       const void *source, void *target);
/// For a b that is not packed, which is while running; else 0.
size_t integerMatmulWorkspaceBytes(const KernelCall &call);
KernelCost integerMatmulCost(const KernelCall &call);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERMATMUL_H
