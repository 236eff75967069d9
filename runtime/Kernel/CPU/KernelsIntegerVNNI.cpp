// SPDX-License-Identifier: Apache-2.0
//
// Products of bytes for AVX512-VNNI; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 64
#include "IntegerTiles.h"

constinit const dlc::rt::cpu::IntegerKernels dlc::rt::cpu::vnniIntegers =
    dlc::rt::cpu::thisIntegerKernels;
