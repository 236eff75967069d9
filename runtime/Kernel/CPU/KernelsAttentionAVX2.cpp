// SPDX-License-Identifier: Apache-2.0
//
// Attention for AVX2 with FMA; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 32
#include "AttentionTiles.h"

constinit const dlc::rt::cpu::AttentionKernels dlc::rt::cpu::avx2Attention = {
    dlc::rt::cpu::runAttention};
