// SPDX-License-Identifier: Apache-2.0
//
// Attention of rounded operands for AVX512-BF16; see CMakeLists.txt for its
// flags.

#define DLC_VECTOR_BYTES 64
#include "AttentionPairVectors.h"

constinit const dlc::rt::cpu::AttentionKernels
    dlc::rt::cpu::avx512bf16Attention = {dlc::rt::cpu::runPairAttention};
