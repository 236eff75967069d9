// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.conv on blocked tensors: checks, plans, packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDCONV_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDCONV_H

#include "ConvShape.h"

namespace dlc::rt::cpu {

/// That the kernels compute such a convolution.
Status checkBlocked(const ConvShape &shape);

/// All below: of a shape that checkBlocked() accepts, without an algorithm.

/// Weights that are not packed are packed into the workspace first. Errors:
/// InvalidArgument when there is no workspace of blockedWorkspaceBytes().
Status prepareBlocked(const KernelCall &call, const ConvShape &shape,
                      const KernelSet &kernels,
                      std::unique_ptr<PreparedKernel> &prepared);

size_t blockedWorkspaceBytes(const ConvShape &shape);
size_t packedBlockedBytes(const ConvShape &shape);
void packBlocked(const ConvShape &shape, const float *source, float *target);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDCONV_H
