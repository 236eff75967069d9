// SPDX-License-Identifier: Apache-2.0
//
// A device with memory of its own, which works through queues while the host
// goes on: what the executor and storage ask of it. The host itself is none.

#ifndef DLC_RUNTIME_DEVICE_DEVICE_H
#define DLC_RUNTIME_DEVICE_DEVICE_H

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Device/Context.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dlc::rt {

class Device;

/// How a kernel is spread over a device.
struct DeviceGrid {
  uint32_t blocks = 1;      ///< Groups of threads that know nothing of others.
  uint32_t threads = 1;     ///< Of each block.
  uint32_t sharedBytes = 0; ///< Memory of each block, beside what it declares.
};

/// Kernels on a device, valid while this lives. Any thread may ask.
class DeviceCode {
public:
  virtual ~DeviceCode();
  /// A function as launch() takes it, which may be launched with `grid`.
  /// Errors: NotFound; Unsupported (a grid that the device does not have).
  virtual Result<void *> find(const std::string &symbol,
                              const DeviceGrid &grid) = 0;
};

/// A call of a library that the device's maker has, ready. Any thread may queue
/// it, also several at once. Destroyed before its device.
class DeviceCall {
public:
  virtual ~DeviceCall();
  /// Queues the call on what such libraries take for a queue (of CUDA's, a
  /// CUstream), whose device is that of the calling thread. `parameters`: the
  /// address of each argument, null for an absent one, read before this
  /// returns.
  virtual Status queue(void *stream, void *const *parameters) const = 0;
};

/// A moment in the work of a queue. For one thread at a time.
class DeviceEvent {
public:
  virtual ~DeviceEvent();
  /// Waits until what was queued before the last record() is done; at once
  /// without one. Errors: Unavailable (the device failed).
  virtual Status synchronize() = 0;
  /// The device's time from what `earlier` is to what this is, both over and
  /// both from createEvent(true).
  virtual Result<uint64_t> nanosecondsSince(DeviceEvent &earlier) = 0;
};

/// Work that was noted, to be queued as one piece. Its arguments stay as they
/// were.
class DeviceRecording {
public:
  virtual ~DeviceRecording();
};

/// Work that a device does in order. What fails on the device is told by a
/// later call. For one thread at a time; destroyed when its work is over.
class DeviceQueue {
public:
  virtual ~DeviceQueue();
  /// `parameters`: the address of each argument, read before this returns.
  virtual Status launch(void *function, const DeviceGrid &grid,
                        void *const *parameters) = 0;
  virtual Status launch(const DeviceCall &call, void *const *parameters) = 0;
  /// Bytes between memory of this device and that of the host, or of this
  /// device alone. Memory of the host is touched until synchronize(); the
  /// calling thread goes on at once where that is locked
  /// (Device::allocateLocked()).
  virtual Status copy(void *target, const void *source, size_t bytes) = 0;
  /// Bytes from memory of `owner`, another device of the same kind, to that of
  /// this one: through the host unless Device::openTo() says otherwise.
  virtual Status copyFrom(const Device &owner, void *target, const void *source,
                          size_t bytes) = 0;
  /// The event is then what was queued so far.
  virtual Status record(DeviceEvent &event) = 0;
  /// Keeps the queue busy for some tens of microseconds, where the device can:
  /// what is queued meanwhile begins as soon as it may, however slow the host
  /// is, for those who time it.
  virtual Status delay() = 0;
  /// What is queued from now on comes after `event`, of a queue of a device of
  /// the same kind.
  virtual Status wait(DeviceEvent &event) = 0;
  /// Waits until all is done. Errors: Unavailable (the device failed).
  virtual Status synchronize() = 0;

  /// Launches from here to endRecording() are noted and not done.
  virtual Status beginRecording() = 0;
  virtual Result<std::unique_ptr<DeviceRecording>> endRecording() = 0;
  /// Queues what a queue of this device has noted. One place in a queue at a
  /// time.
  virtual Status replay(DeviceRecording &recording) = 0;
};

/// Free and total bytes of a device's memory, for all of its users.
struct DeviceMemory {
  size_t free = 0, total = 0;
};

/// Any thread may call what is here. Errors of all: Unavailable (the device
/// failed, or was lost), with the operation's name.
class Device {
public:
  virtual ~Device();

  virtual Context context() const = 0;
  /// "NVIDIA H100 80GB HBM3 (sm_90)".
  virtual const std::string &name() const = 0;

  /// Whether an object is machine code for devices of this kind at all.
  virtual bool isFor(std::string_view triple) const = 0;
  /// Why an object with these features, which isFor() this kind, does not fit;
  /// empty when it does.
  virtual std::string misfitOf(std::span<const std::string> features) const = 0;
  /// Loads an object. Errors: DataLoss, OutOfMemory, Unsupported (not for this
  /// device after all; another one may be).
  virtual Result<std::unique_ptr<DeviceCode>>
  load(std::span<const std::byte> object) = 0;

  virtual Result<std::unique_ptr<DeviceQueue>> createQueue() = 0;
  /// `isTimed`: one that knows when it was.
  virtual Result<std::unique_ptr<DeviceEvent>>
  createEvent(bool isTimed = false) = 0;

  /// Does `work` with the device as that of the calling thread, as libraries of
  /// its maker want it.
  virtual Status use(const std::function<Status()> &work) = 0;

  virtual Result<DeviceMemory> memory() = 0;
  // Addresses and the memory behind them, as MemorySource has them.
  virtual size_t granule() const = 0;
  virtual Result<std::byte *> reserve(size_t bytes) = 0;
  virtual Status commit(std::byte *start, size_t bytes) = 0;
  /// Of memory that commit() gave.
  virtual bool decommit(std::byte *start, size_t bytes) = 0;
  /// Of addresses without memory.
  virtual void unreserve(std::byte *start, size_t bytes) = 0;

  /// Lets `reader`, another device of the same kind, reach what commit() gives
  /// from now on, so that copies to it do without the host. False where it
  /// cannot.
  virtual Result<bool> openTo(const Device &reader) = 0;

  /// Memory of the host that the system keeps where it is, for all devices of
  /// this kind; none of it is for the child of a fork(). Errors: OutOfMemory
  /// (none, or none that may be locked).
  virtual Result<std::byte *> allocateLocked(size_t bytes) = 0;
  virtual void releaseLocked(std::byte *start) = 0;
};

/// Opens the device of that name: the driver is looked for when this is first
/// asked for one. Errors: InvalidArgument (a device of the host), Unavailable
/// (no driver, no such device, one that is too old).
Result<std::shared_ptr<Device>> openDevice(Context context);

} // namespace dlc::rt

#endif // DLC_RUNTIME_DEVICE_DEVICE_H
