// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.conv with algorithm = "winograd": plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_WINOGRAD_H
#define DLC_RUNTIME_KERNEL_CPU_WINOGRAD_H

#include "ConvShape.h"

namespace dlc::rt::cpu {

/// Those of such a convolution, in tiles of so many outputs in each direction.
WinogradTensors winogradTensorsOf(const ConvShape &shape, int64_t outputs);

/// That F(4x4, 3x3), or what TwoTapWinogradTiles.h has,
/// computes such a convolution.
Status checkWinograd(const ConvShape &shape);

/// All below: of a shape that checkWinograd() accepts.

/// Two kernels for each part of the tiles whose transformed inputs fit in the
/// workspace: the transform, and the products. Errors: InvalidArgument when the
/// call has no workspace of winogradWorkspaceBytes(), or of as many as earlier
/// versions asked for.
Status prepareWinograd(const KernelCall &call, const ConvShape &shape,
                       const KernelSet &kernels, const PairKernels &pairs,
                       std::unique_ptr<PreparedKernel> &prepared);

size_t winogradWorkspaceBytes(const ConvShape &shape);
size_t packedWinogradBytes(const ConvShape &shape);
void packWinograd(const ConvShape &shape, const float *source, float *target);
/// Without what goes in and out, and without packing weights that are not.
KernelCost winogradCost(const ConvShape &shape);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_WINOGRAD_H
