// SPDX-License-Identifier: Apache-2.0
//
// cublaslt.matmul: see CUDALibrary.h.

#ifndef DLC_LIB_RUNTIME_KERNEL_CUDA_MATMUL_H
#define DLC_LIB_RUNTIME_KERNEL_CUDA_MATMUL_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cuda {

bool isMatmulSupported(const KernelCall &call, std::string &why);
size_t matmulWorkspaceBytes(const KernelCall &call);
KernelCost matmulCost(const KernelCall &call);
bool isMatmulFaster(const KernelCall &call);
Status prepareMatmul(Device &device, const KernelCall &call,
                     std::shared_ptr<void> &library,
                     std::unique_ptr<DeviceCall> &prepared);

} // namespace dlc::rt::cuda

#endif // DLC_LIB_RUNTIME_KERNEL_CUDA_MATMUL_H
