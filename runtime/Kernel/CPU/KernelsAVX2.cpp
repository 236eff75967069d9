// SPDX-License-Identifier: Apache-2.0
//
// The kernels for AVX2 with FMA; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 32
#include "Kernels.h"

constinit const dlc::rt::cpu::KernelSet dlc::rt::cpu::avx2Kernels =
    dlc::rt::cpu::thisKernelSet;
