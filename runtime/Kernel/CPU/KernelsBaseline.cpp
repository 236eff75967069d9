// SPDX-License-Identifier: Apache-2.0
//
// The kernels for any machine of the target architecture: 128-bit vectors.

#define DLC_VECTOR_BYTES 16
#include "Kernels.h"

constinit const dlc::rt::cpu::KernelSet dlc::rt::cpu::baselineKernels =
    dlc::rt::cpu::thisKernelSet;
