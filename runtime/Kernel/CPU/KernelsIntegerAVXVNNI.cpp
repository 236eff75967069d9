// SPDX-License-Identifier: Apache-2.0
//
// Products of bytes for AVX-VNNI, the instructions of VNNI on processors
// without AVX-512; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 32
#include "IntegerTiles.h"

constinit const dlc::rt::cpu::IntegerKernels dlc::rt::cpu::avxVnniIntegers =
    dlc::rt::cpu::thisIntegerKernels;
