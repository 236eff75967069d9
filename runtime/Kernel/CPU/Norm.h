// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.norm: checks and plan. It computes operations whose
// shapes are found while running; where they are known, code is generated.

#ifndef DLC_RUNTIME_KERNEL_CPU_NORM_H
#define DLC_RUNTIME_KERNEL_CPU_NORM_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isNormSupported(const KernelCall &call, std::string &why);
size_t normWorkspaceBytes(const KernelCall &call);
KernelCost normCost(const KernelCall &call);
/// As LibraryEntry::fromOperation, of layer_norm, rms_norm and group_norm.
bool normFromOperation(std::string_view operation, const KernelCall &call,
                       ConstantOperands, Attributes &attributes);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_NORM_H
