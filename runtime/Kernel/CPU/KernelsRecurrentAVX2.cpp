// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers for AVX2 with FMA; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 32
#include "RecurrentTiles.h"

constinit const dlc::rt::cpu::RecurrentKernels dlc::rt::cpu::avx2Recurrent = {
    dlc::rt::cpu::runRecurrent, dlc::rt::cpu::packRecurrence};
