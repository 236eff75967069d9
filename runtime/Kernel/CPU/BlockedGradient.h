// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.conv_weight_gradient on blocked tensors: checks and
// plans.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDGRADIENT_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDGRADIENT_H

#include "ConvShape.h"

namespace dlc::rt::cpu {

/// That blocked tensors, or F(4x4, 3x3) where that is asked for, can have such
/// a gradient.
Status checkBlockedGradient(const ConvShape &shape);

/// All below: of a shape that checkBlockedGradient() accepts.

/// Errors: InvalidArgument when the call lacks the workspace of
/// blockedGradientWorkspace().
Status prepareBlockedGradient(const KernelCall &call, const ConvShape &shape,
                              const KernelSet &kernels,
                              std::unique_ptr<PreparedKernel> &prepared);

size_t blockedGradientWorkspace(const ConvShape &shape);
/// Of F(4x4, 3x3) alone.
KernelCost winogradGradientCost(const ConvShape &shape);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDGRADIENT_H
