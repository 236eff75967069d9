// SPDX-License-Identifier: Apache-2.0
//
// The kernels on tiles with tiles in software, for any machine.

#define DLC_VECTOR_BYTES 16
#include "KernelSet.h"
#include "ModelTiles.h"

static constexpr const dlc::rt::cpu::KernelSet &kPlainKernels =
    dlc::rt::cpu::baselineKernels;

#include "AttentionPairTiles.h"
#include "IntegerByteTiles.h"
#include "PairTiles.h"
#include "SplitKernels.h"

constinit const dlc::rt::cpu::SplitKernels dlc::rt::cpu::modelSplitKernels =
    dlc::rt::cpu::thisSplitKernels;
constinit const dlc::rt::cpu::PairKernels dlc::rt::cpu::modelPairTiles =
    dlc::rt::cpu::thisPairTiles;
constinit const dlc::rt::cpu::IntegerKernels dlc::rt::cpu::modelIntegers =
    dlc::rt::cpu::thisByteTiles;
constinit const dlc::rt::cpu::AttentionKernels
    dlc::rt::cpu::modelAttentionTiles = {dlc::rt::cpu::runPairAttention};
