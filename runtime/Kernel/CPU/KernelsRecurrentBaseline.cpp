// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers for the baseline of the target; see CMakeLists.txt for its
// flags.

#define DLC_VECTOR_BYTES 16
#include "RecurrentTiles.h"

constinit const dlc::rt::cpu::RecurrentKernels dlc::rt::cpu::baselineRecurrent =
    {dlc::rt::cpu::runRecurrent, dlc::rt::cpu::packRecurrence};
