// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.attention: checks and plan.

#ifndef DLC_RUNTIME_KERNEL_CPU_ATTENTION_H
#define DLC_RUNTIME_KERNEL_CPU_ATTENTION_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isAttentionSupported(const KernelCall &call, std::string &why);
KernelCost attentionCost(const KernelCall &call);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ATTENTION_H
