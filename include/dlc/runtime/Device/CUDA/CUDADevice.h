// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA GPUs through their driver alone: libcuda.so.1, opened when a program
// needs it. Facts: CUDA Driver API Reference Manual, version 13.0.

#ifndef DLC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define DLC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "dlc/runtime/Device/Device.h"

namespace dlc::rt {

/// The oldest driver: that of CUDA 11.8, which knows the PTX that we write.
inline constexpr int oldestCUDADriver = 11080;
/// The oldest compute capability that programs can be compiled for, times 10.
inline constexpr int oldestComputeCapability = 80;

/// Device `index` as the driver counts (CUDA_VISIBLE_DEVICES), in its primary
/// context, which is shared with other users in the process. Errors:
/// Unavailable, with what is missing.
///
/// In the child of a fork() the driver of the parent does not work: functions
/// of the device and of what it has made refuse with Unavailable, and what ends
/// leaves the driver alone.
///
/// Objects have the triple nvptx64-nvidia-cuda and one feature, sm_XY: machine
/// code (ELF) runs on compute capability X.Z with Z >= Y, PTX on X.Y and all
/// that follow; sm_XYa on X.Y alone. In names of kernels, characters other than
/// letters, digits and _ are $ there.
Result<std::shared_ptr<Device>> openCUDADevice(int index);

} // namespace dlc::rt

#endif // DLC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
