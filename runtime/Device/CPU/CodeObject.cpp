// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/CPU/CodeObject.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace dlc::rt;

CodeObject::~CodeObject() {
  if (handle)
    dlclose(handle);
  if (descriptor >= 0)
    close(descriptor);
}

static Status writeAll(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return makeError(StatusCode::Unavailable,
                       "cannot copy the object to memory: %s",
                       std::strerror(errno));
    bytes = bytes.subspan(count);
  }
  return Status::ok();
}

Result<CodeObject> CodeObject::load(std::span<const std::byte> elf) {
  if (elf.size() < 64 || std::memcmp(elf.data(), "\177ELF", 4))
    return makeError(StatusCode::DataLoss, "the object is not an ELF file");
  CodeObject object;
  object.descriptor = memfd_create("dlc-kernels", MFD_CLOEXEC);
  if (object.descriptor < 0)
    return makeError(StatusCode::Unavailable,
                     "cannot create a file in memory: %s",
                     std::strerror(errno));
  DLC_RETURN_IF_ERROR(writeAll(object.descriptor, elf));
  std::string path = "/proc/self/fd/" + std::to_string(object.descriptor);
  object.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object.handle)
    return makeError(StatusCode::DataLoss, "cannot load the object: %s",
                     dlerror());
  return object;
}

Result<DlcKernelFunction> CodeObject::find(const std::string &symbol) const {
  void *address = dlsym(handle, symbol.c_str());
  if (!address)
    return makeError(StatusCode::NotFound, "the object has no symbol '%s'",
                     symbol.c_str());
  return reinterpret_cast<DlcKernelFunction>(address);
}
