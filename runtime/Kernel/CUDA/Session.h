// SPDX-License-Identifier: Apache-2.0
//
// What the libraries of NVIDIA have in common.

#ifndef DLC_LIB_RUNTIME_KERNEL_CUDA_SESSION_H
#define DLC_LIB_RUNTIME_KERNEL_CUDA_SESSION_H

#include "dlc/runtime/Device/Device.h"

#include <memory>
#include <mutex>
#include <new>

/// Returns from the enclosing function when a call of a library fails.
#define DLC_LIBRARY_CHECK(library, name, ...)                                  \
  do {                                                                         \
    if (auto dlcCode = (library).name(__VA_ARGS__)) [[unlikely]]               \
      return (library).error(#name, dlcCode);                                  \
  } while (false)

namespace dlc::rt::cuda {

/// A library in use on a device: what the calls of a program share.
template <typename Library> class Session {
public:
  Session(Device &device, std::shared_ptr<const Library> library)
      : device(device), library(std::move(library)) {}
  Session(const Session &) = delete;
  ~Session() {
    if (handle)
      (void)device.use([&] {
        library->destroy(handle);
        return Status::ok();
      });
  }

  /// Opens the library unless `session` is one that has it.
  static Status open(Device &device, std::shared_ptr<void> &session) {
    if (session)
      return Status::ok();
    Result<std::shared_ptr<const Library>> library = Library::open();
    if (!library.isOk())
      return std::move(library.status());
    std::shared_ptr<Session> opened(new (std::nothrow)
                                        Session(device, std::move(*library)));
    if (!opened)
      return makeError(StatusCode::OutOfMemory, "no memory for a library");
    DLC_RETURN_IF_ERROR(device.use([&]() -> Status {
      DLC_LIBRARY_CHECK(*opened->library, create, &opened->handle);
      return Status::ok();
    }));
    session = std::move(opened);
    return Status::ok();
  }

  Device &device;
  const std::shared_ptr<const Library> library;
  typename Library::Handle handle = nullptr;
  std::mutex mutex; ///< Guards the handle where a call changes it.
};

/// Opens the library for a call of it, Call(session, plan, inputs), which is
/// then prepared on the device.
template <typename Library, typename Call, typename Plan>
Status prepareCall(Device &device, const Plan &plan, size_t inputs,
                   std::shared_ptr<void> &library,
                   std::unique_ptr<DeviceCall> &prepared) {
  using Opened = Session<Library>;
  DLC_RETURN_IF_ERROR(Opened::open(device, library));
  std::unique_ptr<Call> ready(new (std::nothrow) Call(
      std::static_pointer_cast<Opened>(library), plan, inputs));
  if (!ready)
    return makeError(StatusCode::OutOfMemory, "no memory for a call");
  DLC_RETURN_IF_ERROR(device.use([&] { return ready->prepare(); }));
  prepared = std::move(ready);
  return Status::ok();
}

/// What is made on a device and ends there; in the child of a fork(), where
/// nothing of the device works, it is left alone.
template <typename T> class OnDevice {
public:
  explicit OnDevice(Device &device) : device(device) {}
  OnDevice(const OnDevice &) = delete;
  ~OnDevice() {
    auto end = [&] {
      held.reset();
      return Status::ok();
    };
    if (held && !device.use(end).isOk())
      (void)held.release();
  }

  Device &device;
  std::unique_ptr<T> held;
};

} // namespace dlc::rt::cuda

#endif // DLC_LIB_RUNTIME_KERNEL_CUDA_SESSION_H
