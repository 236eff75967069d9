// SPDX-License-Identifier: Apache-2.0
//
// The kernels on tiles of bfloat16 for AMX; see CMakeLists.txt for its flags.

#define DLC_VECTOR_BYTES 64
#include "AMXTiles.h"
#include "KernelSet.h"

/// Every machine with AMX runs these.
static constexpr const dlc::rt::cpu::KernelSet &kPlainKernels =
    dlc::rt::cpu::avx512Kernels;

#include "AttentionPairTiles.h"
#include "PairTiles.h"
#include "SplitKernels.h"

constinit const dlc::rt::cpu::SplitKernels dlc::rt::cpu::amxSplitKernels =
    dlc::rt::cpu::thisSplitKernels;
constinit const dlc::rt::cpu::PairKernels dlc::rt::cpu::amxPairTiles =
    dlc::rt::cpu::thisPairTiles;
constinit const dlc::rt::cpu::AttentionKernels dlc::rt::cpu::amxAttentionTiles =
    {dlc::rt::cpu::runPairAttention};
