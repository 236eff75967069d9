// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Kernel/Library.h"

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"
#include "dlc/runtime/Kernel/CUDA/CUDALibrary.h"

using namespace dlc::rt;

/// Every library of this build; a new one adds its entries here.
static constexpr std::span<const LibraryEntry> (*libraries[])() = {
    cpu::libraryEntries,
    cuda::libraryEntries,
};

const LibraryEntry *dlc::rt::lookupLibraryEntry(std::string_view name) {
  for (auto entriesOf : libraries)
    for (const LibraryEntry &entry : entriesOf())
      if (entry.name == name)
        return &entry;
  return nullptr;
}
