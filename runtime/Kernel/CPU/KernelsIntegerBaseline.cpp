// SPDX-License-Identifier: Apache-2.0
//
// Products of bytes for the baseline; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 16
#include "IntegerTiles.h"

constinit const dlc::rt::cpu::IntegerKernels dlc::rt::cpu::baselineIntegers =
    dlc::rt::cpu::thisIntegerKernels;
