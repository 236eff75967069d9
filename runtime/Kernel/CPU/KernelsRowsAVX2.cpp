// SPDX-License-Identifier: Apache-2.0
//
// Pooling and softmax for AVX2; see CMakeLists.txt for its
// flags.

#define DLC_VECTOR_BYTES 32
#include "RowTiles.h"

constinit const dlc::rt::cpu::RowKernels dlc::rt::cpu::avx2Rows =
    dlc::rt::cpu::theseRows;
