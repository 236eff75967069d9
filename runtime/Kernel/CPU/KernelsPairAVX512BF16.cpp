// SPDX-License-Identifier: Apache-2.0
//
// The kernels of rounded floats for AVX512-BF16; see CMakeLists.txt for its
// flags.

#define DLC_VECTOR_BYTES 64
#include "PairProduct.h"

constinit const dlc::rt::cpu::PairKernels dlc::rt::cpu::avx512bf16Pairs =
    dlc::rt::cpu::thisPairKernels;
