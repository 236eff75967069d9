// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Kernel/Library.h"

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"
#include "dlc/runtime/Kernel/CUDA/CUDALibrary.h"

#include <algorithm>

using namespace dlc::rt;

/// Every library of this build; a new one adds its entries here.
static constexpr std::span<const LibraryEntry> (*libraries[])() = {
    cpu::libraryEntries,
    cuda::libraryEntries,
};

template <typename Predicate>
static const LibraryEntry *findEntry(Predicate isWanted) {
  for (auto entriesOf : libraries)
    for (const LibraryEntry &entry : entriesOf())
      if (isWanted(entry))
        return &entry;
  return nullptr;
}

std::string dlc::rt::packedFormOf(const KernelCall &call, size_t operand,
                                  size_t bytes) {
  const Attributes &attributes = call.attributes;
  std::string form(attributes.getString("algorithm"));
  auto add = [&](int64_t number) { form += ':' + std::to_string(number); };
  add(static_cast<int64_t>(operand));
  add(static_cast<int64_t>(bytes));
  add(attributes.getInt("group", 1));
  add(attributes.getInt("channel_block", 0));
  add(attributes.getInt(kBf16Parts, 0) == 1); // Others pack floats.
  add(call.inputs[0].rank());
  for (std::string_view windows : {"strides", "pads"})
    for (int64_t value : attributes.getInts(windows))
      add(value);
  return form;
}

const LibraryEntry *dlc::rt::lookupLibraryEntry(std::string_view name) {
  return findEntry(
      [&](const LibraryEntry &entry) { return entry.name == name; });
}

const LibraryEntry *
dlc::rt::lookupEntryOfOperation(std::string_view operation) {
  return findEntry([&](const LibraryEntry &entry) {
    return std::ranges::find(entry.operations, operation) !=
           entry.operations.end();
  });
}

/// Libraries compute with floats, and sums of products of bytes.
const LibraryEntry *dlc::rt::lookupEntryOfOperation(std::string_view operation,
                                                    DataType operand,
                                                    DataType result) {
  const bool isOfBytes = operand == DLC_I8 || operand == DLC_U8;
  return result == (isOfBytes ? DLC_I32 : DLC_F32)
             ? lookupEntryOfOperation(operation)
             : nullptr;
}
