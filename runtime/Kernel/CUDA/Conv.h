// SPDX-License-Identifier: Apache-2.0
//
// cudnn.conv: see CUDALibrary.h.

#ifndef DLC_LIB_RUNTIME_KERNEL_CUDA_CONV_H
#define DLC_LIB_RUNTIME_KERNEL_CUDA_CONV_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cuda {

bool isConvSupported(const KernelCall &call, std::string &why);
bool convWantsFinite(const KernelCall &call, size_t input);
size_t convWorkspaceBytes(const KernelCall &call);
KernelCost convCost(const KernelCall &call);
bool isConvFaster(const KernelCall &call);
Status prepareConv(Device &device, const KernelCall &call,
                   std::shared_ptr<void> &library,
                   std::unique_ptr<DeviceCall> &prepared);

} // namespace dlc::rt::cuda

#endif // DLC_LIB_RUNTIME_KERNEL_CUDA_CONV_H
