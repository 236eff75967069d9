// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.max_pool_gradient: checks and plan.

#ifndef DLC_RUNTIME_KERNEL_CPU_MAXPOOLGRADIENT_H
#define DLC_RUNTIME_KERNEL_CPU_MAXPOOLGRADIENT_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isMaxPoolGradientSupported(const KernelCall &call, std::string &why);
KernelCost maxPoolGradientCost(const KernelCall &call);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_MAXPOOLGRADIENT_H
