// SPDX-License-Identifier: Apache-2.0
//
// What the calls of convolutions and of their gradients have in common.

#ifndef DLC_LIB_RUNTIME_KERNEL_CUDA_CONVCALL_H
#define DLC_LIB_RUNTIME_KERNEL_CUDA_CONVCALL_H

#include "ConvGraph.h"

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cuda {

/// Takes the attributes of windows, group and rounding, and refuses others,
/// but those of an epilogue; and the element type.
Status readConvAttributes(const KernelCall &call, ConvPlan &plan);

/// N, 1, H, W, C, or N, C, H, W, which is plain.
Status readConvImage(const KernelCall &call, const TensorType &type,
                     std::array<int64_t, 4> &dims, bool &isPlain);

/// OC, C, 1, 1 or, as the attribute w_channels_last says, OC, KH, KW, C; where
/// there are five, one group is in front.
Status readConvWeights(const KernelCall &call, ConvPlan &plan);

/// The tensors are those of one convolution that cuDNN has.
Status checkConvShapes(const KernelCall &call, const ConvPlan &plan);

/// Whether some window reaches beyond the image.
bool isPadded(const ConvPlan &plan);

KernelCost costOf(const KernelCall &call, const ConvPlan &plan);

/// The plan made ready: inputs are the two tensors that it reads, the image
/// first if that is one of them and else y, then the bias and the residual;
/// outputs its result and a workspace.
Status prepareConvPlan(Device &device, const KernelCall &call, ConvPlan plan,
                       std::shared_ptr<void> &library,
                       std::unique_ptr<DeviceCall> &prepared);

} // namespace dlc::rt::cuda

#endif // DLC_LIB_RUNTIME_KERNEL_CUDA_CONVCALL_H
