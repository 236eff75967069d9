// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.depthwise_chain: checks, plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_DEPTHWISECHAIN_H
#define DLC_RUNTIME_KERNEL_CPU_DEPTHWISECHAIN_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isDepthwiseChainSupported(const KernelCall &call, std::string &why);
/// 0 and no effect unless the call is supported and has such weights.
size_t packedDepthwiseChainBytes(const KernelCall &call, size_t operand);
void packDepthwiseChain(const KernelCall &call, size_t operand,
                        const void *source, void *target);
/// 0 unless the call is supported.
size_t depthwiseChainWorkspaceBytes(const KernelCall &call);
KernelCost depthwiseChainCost(const KernelCall &call);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_DEPTHWISECHAIN_H
