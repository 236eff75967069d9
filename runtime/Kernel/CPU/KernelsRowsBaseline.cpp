// SPDX-License-Identifier: Apache-2.0
//
// Pooling and softmax for the baseline of the target; see CMakeLists.txt for
// its flags.

#define DLC_VECTOR_BYTES 16
#include "RowTiles.h"

constinit const dlc::rt::cpu::RowKernels dlc::rt::cpu::baselineRows =
    dlc::rt::cpu::theseRows;
