// SPDX-License-Identifier: Apache-2.0

#include "Cudnn.h"

#include "Session.h"

#include <algorithm>
#include <dlfcn.h>
#include <new>
#include <string_view>

using namespace dlc::rt;
using namespace dlc::rt::cuda::cudnn;

/// The name that the library exports for a member, for messages.
static const char *symbolOf(std::string_view member) {
#define DLC_CUDNN_NAME(name, symbol, result, arguments)                        \
  if (member == #name)                                                         \
    return #symbol;
  DLC_CUDNN_FUNCTIONS(DLC_CUDNN_NAME)
#undef DLC_CUDNN_NAME
  return "the library";
}

static StatusCode statusOf(Code code) {
  if (code == hostAllocationFailed || code == deviceAllocationFailed)
    return StatusCode::OutOfMemory;
  constexpr int range = 1000;
  return code / range == notSupported / range ? StatusCode::Unsupported
                                              : StatusCode::Unavailable;
}

Status Library::error(const char *function, Code code) const {
  const char *text = getErrorString(code);
  return makeError(statusOf(code), "%s failed with error %d (%s)",
                   symbolOf(function), code, text ? text : "no description");
}

Result<std::shared_ptr<const Library>> Library::open() {
  std::shared_ptr<Library> opened(new (std::nothrow) Library);
  if (!opened)
    return makeError(StatusCode::OutOfMemory, "no memory for a library");
  // It is never closed: like the driver's, its threads may outlive us.
  opened->library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (!opened->library)
    return makeError(StatusCode::Unavailable, "there is no libcudnn.so.9");
#define DLC_CUDNN_RESOLVE(name, symbol, result, arguments)                     \
  opened->name = reinterpret_cast<decltype(opened->name)>(                     \
      dlsym(opened->library, #symbol));                                        \
  if (!opened->name)                                                           \
    return makeError(StatusCode::Unavailable, "libcudnn has no " #symbol);
  DLC_CUDNN_FUNCTIONS(DLC_CUDNN_RESOLVE)
#undef DLC_CUDNN_RESOLVE
  return std::shared_ptr<const Library>(std::move(opened));
}

Status Descriptor::create(const Library &library, Kind kind, Descriptor &made) {
  Descriptor descriptor;
  descriptor.library = &library;
  DLC_LIBRARY_CHECK(library, descriptorCreate, kind, &descriptor.raw);
  made = std::move(descriptor);
  return Status::ok();
}

Status Descriptor::setAll(Name name, Type type, int64_t count,
                          const void *values) {
  DLC_LIBRARY_CHECK(*library, descriptorSet, raw, name, type, count, values);
  return Status::ok();
}

Status Descriptor::finalize() {
  DLC_LIBRARY_CHECK(*library, descriptorFinalize, raw);
  return Status::ok();
}

Status Descriptor::getAll(Name name, Type type, int64_t most, void *values,
                          size_t &count) const {
  int64_t known = 0;
  DLC_LIBRARY_CHECK(*library, descriptorGet, raw, name, type, most, &known,
                    values);
  count = size_t(std::clamp<int64_t>(known, 0, most));
  return Status::ok();
}
