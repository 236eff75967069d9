// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.conv with algorithm = "winograd" where x alone is
// plain, as PhaseWinogradTiles.h has it: checks, plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_PHASEWINOGRAD_H
#define DLC_RUNTIME_KERNEL_CPU_PHASEWINOGRAD_H

#include "ConvShape.h"

namespace dlc::rt::cpu {

/// Whether it is for such a shape to say something about it.
bool hasPhases(const ConvShape &shape);
Status checkPhases(const ConvShape &shape);

/// All below: of a shape that checkPhases() accepts.

std::unique_ptr<PreparedKernel> preparePhases(const KernelCall &call,
                                              const ConvShape &shape,
                                              const KernelSet &kernels);
size_t packedPhaseBytes(const ConvShape &shape);
void packPhases(const ConvShape &shape, const float *source, float *target);
/// As winogradCost().
KernelCost phaseCost(const ConvShape &shape);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PHASEWINOGRAD_H
