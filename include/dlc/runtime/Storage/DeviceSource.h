// SPDX-License-Identifier: Apache-2.0
//
// A memory source over a device that is not the host.

#ifndef DLC_RUNTIME_STORAGE_DEVICESOURCE_H
#define DLC_RUNTIME_STORAGE_DEVICESOURCE_H

#include "dlc/runtime/Device/Device.h"
#include "dlc/runtime/Storage/Source.h"

namespace dlc::rt {

/// The memory of `device`, which lives as long as this. commit() fails with
/// OutOfMemory, and how much is free, or Unavailable.
std::unique_ptr<MemorySource>
createDeviceSource(std::shared_ptr<Device> device);

} // namespace dlc::rt

#endif // DLC_RUNTIME_STORAGE_DEVICESOURCE_H
