// SPDX-License-Identifier: Apache-2.0
//
// cudnn.conv_transpose and cudnn.conv_weight_gradient: see CUDALibrary.h.

#ifndef DLC_LIB_RUNTIME_KERNEL_CUDA_CONVGRADIENTS_H
#define DLC_LIB_RUNTIME_KERNEL_CUDA_CONVGRADIENTS_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cuda {

bool isConvTransposeSupported(const KernelCall &call, std::string &why);
bool convTransposeWantsFinite(const KernelCall &call, size_t input);
KernelCost convTransposeCost(const KernelCall &call);
Status prepareConvTranspose(Device &device, const KernelCall &call,
                            std::shared_ptr<void> &library,
                            std::unique_ptr<DeviceCall> &prepared);

bool isConvWeightGradientSupported(const KernelCall &call, std::string &why);
bool convWeightGradientWantsFinite(const KernelCall &call, size_t input);
KernelCost convWeightGradientCost(const KernelCall &call);
Status prepareConvWeightGradient(Device &device, const KernelCall &call,
                                 std::shared_ptr<void> &library,
                                 std::unique_ptr<DeviceCall> &prepared);

/// Of both.
size_t convGradientWorkspaceBytes(const KernelCall &call);
bool isConvGradientFaster(const KernelCall &call);

} // namespace dlc::rt::cuda

#endif // DLC_LIB_RUNTIME_KERNEL_CUDA_CONVGRADIENTS_H
