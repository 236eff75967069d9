// SPDX-License-Identifier: Apache-2.0
//
// Products of bytes for AVX-512; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 64
#include "IntegerTiles.h"

constinit const dlc::rt::cpu::IntegerKernels dlc::rt::cpu::avx512Integers =
    dlc::rt::cpu::thisIntegerKernels;
