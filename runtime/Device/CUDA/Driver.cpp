// SPDX-License-Identifier: Apache-2.0

#include "Driver.h"

#include "dlc/runtime/Device/CUDA/CUDADevice.h"

#include <dlfcn.h>
#include <new>
#include <string>
#include <string_view>

using namespace dlc::rt;
using namespace dlc::rt::cuda;

Driver::~Driver() {
  // Drivers keep threads; one that was started stays loaded.
}

/// The name that the library exports for a member, for messages.
static const char *symbolOf(std::string_view member) {
#define DLC_CUDA_NAME(name, symbol, arguments)                                 \
  if (member == #name)                                                         \
    return #symbol;
  DLC_CUDA_FUNCTIONS(DLC_CUDA_NAME)
#undef DLC_CUDA_NAME
  return "the driver";
}

static StatusCode statusOf(Code code) {
  switch (code) {
  case errorOutOfMemory:
    return StatusCode::OutOfMemory;
  case errorNotFound:
    return StatusCode::NotFound;
  case errorNoBinary:
  case errorUnsupportedPtx:
    return StatusCode::Unsupported;
  case errorInvalidPtx:
    return StatusCode::DataLoss;
  default:
    return StatusCode::Unavailable;
  }
}

Status Driver::error(const char *function, Code code) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName)
    getErrorName(code, &name);
  if (getErrorString)
    getErrorString(code, &text);
  return makeError(statusOf(code), "%s failed with %s (%s)", symbolOf(function),
                   name ? name : ("error " + std::to_string(code)).c_str(),
                   text ? text : "no description");
}

Status Driver::resolve() {
#define DLC_CUDA_RESOLVE(name, symbol, arguments)                              \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #symbol));            \
  if (!name)                                                                   \
    return makeError(StatusCode::Unavailable,                                  \
                     "the CUDA driver has no " #symbol                         \
                     ": expected one of version 11.8 or newer");
  DLC_CUDA_FUNCTIONS(DLC_CUDA_RESOLVE)
#undef DLC_CUDA_RESOLVE
  return Status::ok();
}

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Status Driver::start() const {
  int version = 0;
  DLC_CUDA_CHECK(*this, driverGetVersion, &version);
  if (version < oldestCUDADriver)
    return makeError(StatusCode::Unavailable,
                     "expected a CUDA driver of version %s or newer, got %s",
                     versionText(oldestCUDADriver).c_str(),
                     versionText(version).c_str());
  Code code = init(0);
  if (code == errorNoDevice)
    return makeError(StatusCode::Unavailable,
                     "the CUDA driver finds no device");
  if (code != success)
    return error("init", code);
  return Status::ok();
}

Result<std::shared_ptr<const Driver>> Driver::open() {
  std::shared_ptr<Driver> driver(new (std::nothrow) Driver);
  if (!driver)
    return makeError(StatusCode::OutOfMemory, "no memory for a driver");
  driver->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver->library)
    return makeError(StatusCode::Unavailable, "there is no CUDA driver: %s",
                     dlerror());
  DLC_RETURN_IF_ERROR(driver->resolve());
  DLC_RETURN_IF_ERROR(driver->start());
  return std::shared_ptr<const Driver>(std::move(driver));
}
