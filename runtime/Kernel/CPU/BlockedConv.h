// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.conv on blocked tensors: checks, plans, packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDCONV_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDCONV_H

#include "ConvShape.h"

namespace dlc::rt::cpu {

/// That the kernels compute such a convolution.
Status checkBlocked(const ConvShape &shape);

/// All below: of a shape that checkBlocked() accepts.

/// Weights that are not packed are packed into the workspace first. Errors:
/// InvalidArgument when there is no workspace of blockedWorkspaceBytes().
/// `split` is null where there are none, `pairs` are for shapes that are
/// rounded.
Status prepareBlocked(const KernelCall &call, const ConvShape &shape,
                      const KernelSet &kernels, const SplitKernels *split,
                      const PairKernels &pairs,
                      std::unique_ptr<PreparedKernel> &prepared);

/// In front of what reads weights as packBlocked() packs them at the beginning
/// of its workspace: that they are.
std::unique_ptr<PreparedKernel>
packBefore(const KernelCall &call, const ConvShape &shape,
           const KernelSet &kernels, std::unique_ptr<PreparedKernel> following);

/// Whether the kernels of rounded floats compute it.
bool canRound(const ConvShape &shape);

/// Whether tiles of bfloat16 compute it faster.
bool paysToSplit(const ConvShape &shape);

/// How prepareBlocked() computes one, alone: what is not depthwise, or has a
/// plain x; and what is.
BlockedPlan planBlocked(const ConvShape &shape);
/// The same on tiles of bfloat16, or rounded to it.
BlockedPlan planSplit(const ConvShape &shape);
/// The same of those that are rounded, but for tiles. Few tiles of the grid are
/// made of half the columns, or pixels: threads have as much to do each.
BlockedPlan planPairs(const ConvShape &shape);
BlockedDepthwisePlan planBlockedDepthwise(const ConvShape &shape);
/// Pixels of a tile of such a plan, at most, and of those of planSplit().
int64_t mostPixelsOfTile(const ConvShape &shape);
int64_t mostPixelsOfSplit(const ConvShape &shape);

/// 0 where weights are packed.
size_t blockedWorkspaceBytes(const ConvShape &shape);
size_t packedBlockedBytes(const ConvShape &shape);
void packBlocked(const ConvShape &shape, const float *source, float *target);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDCONV_H
