// SPDX-License-Identifier: Apache-2.0
//
// The kernels of rounded floats for any machine; see CMakeLists.txt for its
// flags.

#define DLC_VECTOR_BYTES 16
#include "PairProduct.h"

constinit const dlc::rt::cpu::PairKernels dlc::rt::cpu::baselinePairs =
    dlc::rt::cpu::thisPairKernels;
