// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.conv with algorithm = "winograd" of rounded floats,
// as RoundedWinogradTiles.h has it: checks, plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_ROUNDEDWINOGRAD_H
#define DLC_RUNTIME_KERNEL_CPU_ROUNDEDWINOGRAD_H

#include "ConvShape.h"

namespace dlc::rt::cpu {

/// Whether it computes such a convolution: of 3x3 taps, strides and dilations
/// of one, one group, two blocked tensors of a multiple of 32 channels each and
/// weights that are packed for it.
bool canRoundWinograd(const ConvShape &shape);

/// All below: of a shape of which it can.

Status prepareRoundedWinograd(const KernelCall &call, const ConvShape &shape,
                              const PairKernels &pairs,
                              std::unique_ptr<PreparedKernel> &prepared);
size_t roundedWinogradWorkspaceBytes(const ConvShape &shape);
size_t packedRoundedWinogradBytes(const ConvShape &shape);
void packRoundedWinograd(const ConvShape &shape, const float *source,
                         float *target);
/// As winogradCost().
KernelCost roundedWinogradCost(const ConvShape &shape);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ROUNDEDWINOGRAD_H
