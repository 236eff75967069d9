// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/Device.h"

#include "dlc/runtime/Device/CUDA/CUDADevice.h"

using namespace dlc::rt;

DeviceCode::~DeviceCode() = default;
DeviceCall::~DeviceCall() = default;
DeviceEvent::~DeviceEvent() = default;
DeviceRecording::~DeviceRecording() = default;
DeviceQueue::~DeviceQueue() = default;
Device::~Device() = default;

Result<std::shared_ptr<Device>> dlc::rt::openDevice(Context context) {
  switch (context.kind) {
  case DeviceKind::CUDA:
    return openCUDADevice(context.index);
  case DeviceKind::Null:
  case DeviceKind::CPU:
  case DeviceKind::CPUPinned:
  case DeviceKind::CPUShared:
    break;
  }
  return makeError(StatusCode::InvalidArgument,
                   "expected a device with memory of its own, got %s",
                   toString(context).c_str());
}
