// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.matmul: checks, plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_MATMUL_H
#define DLC_RUNTIME_KERNEL_CPU_MATMUL_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isMatmulSupported(const KernelCall &call, std::string &why);
/// 0 and no effect unless the call is supported and `operand` is b. Whether
/// the call says already that the operand is packed does not matter.
size_t packedMatmulBytes(const KernelCall &call, size_t operand);
void packMatmul(const KernelCall &call, size_t operand, const void *source,
                void *target);
KernelCost matmulCost(const KernelCall &call);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_MATMUL_H
