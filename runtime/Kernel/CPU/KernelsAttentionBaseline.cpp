// SPDX-License-Identifier: Apache-2.0
//
// Attention for the baseline of the target; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 16
#include "AttentionTiles.h"

constinit const dlc::rt::cpu::AttentionKernels dlc::rt::cpu::baselineAttention =
    {dlc::rt::cpu::runAttention};
