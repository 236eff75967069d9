// SPDX-License-Identifier: Apache-2.0
//
// Pooling and softmax for AVX-512; see CMakeLists.txt for its
// flags.

#define DLC_VECTOR_BYTES 64
#include "RowTiles.h"

constinit const dlc::rt::cpu::RowKernels dlc::rt::cpu::avx512Rows =
    dlc::rt::cpu::theseRows;
