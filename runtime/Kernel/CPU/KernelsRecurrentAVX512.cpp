// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers for AVX-512; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 64
#include "RecurrentTiles.h"

constinit const dlc::rt::cpu::RecurrentKernels dlc::rt::cpu::avx512Recurrent = {
    dlc::rt::cpu::runRecurrent, dlc::rt::cpu::packRecurrence};
