// SPDX-License-Identifier: Apache-2.0
//
// Attention for AVX-512; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 64
#include "AttentionTiles.h"

constinit const dlc::rt::cpu::AttentionKernels dlc::rt::cpu::avx512Attention = {
    dlc::rt::cpu::runAttention};
