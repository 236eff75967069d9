// SPDX-License-Identifier: Apache-2.0
//
// The kernels of rounded floats for AVX-512; see CMakeLists.txt for its
// flags.

#define DLC_VECTOR_BYTES 64
#include "PairProduct.h"

constinit const dlc::rt::cpu::PairKernels dlc::rt::cpu::avx512Pairs =
    dlc::rt::cpu::thisPairKernels;
