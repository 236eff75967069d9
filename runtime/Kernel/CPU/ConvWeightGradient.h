// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.conv_weight_gradient: checks and plan.

#ifndef DLC_RUNTIME_KERNEL_CPU_CONVWEIGHTGRADIENT_H
#define DLC_RUNTIME_KERNEL_CPU_CONVWEIGHTGRADIENT_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isConvWeightGradientSupported(const KernelCall &call, std::string &why);
KernelCost convWeightGradientCost(const KernelCall &call);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CONVWEIGHTGRADIENT_H
