// SPDX-License-Identifier: Apache-2.0
//
// Products of bytes on the tiles of AMX; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 64
#include "AMXTiles.h"
#include "IntegerByteTiles.h"

constinit const dlc::rt::cpu::IntegerKernels dlc::rt::cpu::amxIntegers =
    dlc::rt::cpu::thisByteTiles;
