// SPDX-License-Identifier: Apache-2.0
//
// Memory sources over a device that is not the host: its own memory, and that
// of the host which its copies are fast with.

#ifndef DLC_RUNTIME_STORAGE_DEVICESOURCE_H
#define DLC_RUNTIME_STORAGE_DEVICESOURCE_H

#include "dlc/runtime/Device/Device.h"
#include "dlc/runtime/Storage/Source.h"

namespace dlc::rt {

/// The memory of `device`, which lives as long as this. commit() fails with
/// OutOfMemory, and how much is free, or Unavailable.
std::unique_ptr<MemorySource>
createDeviceSource(std::shared_ptr<Device> device);

/// Memory of the host that is locked for `device` and others of its kind, which
/// lives as long as this: a block for each reservation. Unlike that of
/// createPinnedSource() the driver of the device knows it.
std::unique_ptr<MemorySource>
createLockedSource(std::shared_ptr<Device> device);

} // namespace dlc::rt

#endif // DLC_RUNTIME_STORAGE_DEVICESOURCE_H
