// SPDX-License-Identifier: Apache-2.0
//
// Machine code of a compiled program: an ELF shared object loaded from memory.

#ifndef DLC_RUNTIME_DEVICE_CPU_CODEOBJECT_H
#define DLC_RUNTIME_DEVICE_CPU_CODEOBJECT_H

#include "dlc/abi/Kernel.h"
#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <span>
#include <string>

namespace dlc::rt {

/// A loaded shared object. It is code: load() trusts the bytes as much as a
/// program does its libraries. Immutable; may be shared by threads.
class CodeObject {
public:
  CodeObject() = default;
  CodeObject(CodeObject &&other) noexcept { swap(other); }
  CodeObject &operator=(CodeObject &&other) noexcept {
    swap(other);
    return *this;
  }
  ~CodeObject();

  /// Copies the bytes to a file in memory and loads that. The bytes are not
  /// needed afterwards. Errors: DataLoss, Unavailable.
  static Result<CodeObject> load(std::span<const std::byte> elf);

  /// The kernel of that name; NotFound. Valid while this object lives.
  Result<DlcKernelFunction> find(const std::string &symbol) const;

private:
  void swap(CodeObject &other) {
    std::swap(handle, other.handle);
    std::swap(descriptor, other.descriptor);
  }
  void *handle = nullptr;
  /// Stays open as long as the object is loaded: the dynamic loader compares
  /// names, and "/proc/self/fd/5" of a closed file would be taken for the next
  /// object that gets descriptor 5.
  int descriptor = -1;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_DEVICE_CPU_CODEOBJECT_H
