// SPDX-License-Identifier: Apache-2.0
//
// All kernels for the vector width that the including file sets, as a table.

#ifndef DLC_RUNTIME_KERNEL_CPU_KERNELS_H
#define DLC_RUNTIME_KERNEL_CPU_KERNELS_H

#include "BlockedDepthwiseTiles.h"
#include "BlockedPoolTiles.h"
#include "BlockedTiles.h"
#include "BlockedWeightTiles.h"
#include "BlockedWinogradTiles.h"
#include "ConvTiles.h"
#include "ConvWeightTiles.h"
#include "DefinedConvTiles.h"
#include "DepthwiseTiles.h"
#include "FewChannelTiles.h"
#include "MatmulTiles.h"
#include "PhaseWinogradTiles.h"
#include "PoolTiles.h"
#include "StripWeightTiles.h"
#include "TwoTapWinogradTiles.h"
#include "WinogradTiles.h"
#include "WinogradWeightTiles.h"

namespace dlc::rt::cpu {
namespace {

constexpr KernelSet thisKernelSet = {kLanes,
                                     runMatmul,
                                     runConv,
                                     runFewChannels,
                                     runConvWeightGradient,
                                     runBlockedWeightGradient,
                                     runStripWeightGradient,
                                     runWinogradWeightInput,
                                     runWinogradWeightProduct,
                                     runWinogradWeightResult,
                                     runDepthwise,
                                     runWinogradInput,
                                     runWinogradProduct,
                                     runBlockedConv,
                                     runBlockedDepthwiseOf<float, float>,
                                     packPanels,
                                     runBlockedWinogradInput,
                                     runBlockedWinogradProduct,
                                     runTwoTapWinogradInput,
                                     runTwoTapWinogradProduct,
                                     runPhaseWinograd,
                                     runMaxPoolGradient,
                                     runBlockedMaxPoolGradient,
                                     runDefinedConv};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_KERNELS_H
