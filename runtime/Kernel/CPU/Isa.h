// SPDX-License-Identifier: Apache-2.0
//
// From instruction sets to the kernels compiled for them.

#ifndef DLC_RUNTIME_KERNEL_CPU_ISA_H
#define DLC_RUNTIME_KERNEL_CPU_ISA_H

#include "KernelSet.h"

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

namespace dlc::rt::cpu {

/// The kernels of that set, or null when this machine cannot run them.
const KernelSet *kernelSetOf(Isa isa);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ISA_H
