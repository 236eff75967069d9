// SPDX-License-Identifier: Apache-2.0
//
// Products of bytes for AVX2; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 32
#include "IntegerTiles.h"

constinit const dlc::rt::cpu::IntegerKernels dlc::rt::cpu::avx2Integers =
    dlc::rt::cpu::thisIntegerKernels;
