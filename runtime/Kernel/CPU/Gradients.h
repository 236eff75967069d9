// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.conv_weight_gradient and cpu.max_pool_gradient:
// checks and plans.

#ifndef DLC_RUNTIME_KERNEL_CPU_GRADIENTS_H
#define DLC_RUNTIME_KERNEL_CPU_GRADIENTS_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isConvWeightGradientSupported(const KernelCall &call, std::string &why);
KernelCost convWeightGradientCost(const KernelCall &call);
size_t convWeightGradientWorkspace(const KernelCall &call);

bool isMaxPoolGradientSupported(const KernelCall &call, std::string &why);
KernelCost maxPoolGradientCost(const KernelCall &call);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_GRADIENTS_H
