// SPDX-License-Identifier: Apache-2.0
//
// The kernels for AVX-512; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 64
#include "Kernels.h"

constinit const dlc::rt::cpu::KernelSet dlc::rt::cpu::avx512Kernels =
    dlc::rt::cpu::thisKernelSet;
