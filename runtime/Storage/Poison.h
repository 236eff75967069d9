// SPDX-License-Identifier: Apache-2.0
//
// Tells AddressSanitizer which memory of a pool is free, so that it reports a
// use after release. Without the sanitizer nothing is left of it.

#ifndef DLC_LIB_RUNTIME_STORAGE_POISON_H
#define DLC_LIB_RUNTIME_STORAGE_POISON_H

#include "dlc/runtime/Storage/Source.h"

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define DLC_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DLC_POISONS 1
#endif
#endif

#ifdef DLC_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace dlc::rt {

#ifdef DLC_POISONS
/// Bytes after each block that stay poisoned, to catch writes past its end.
inline constexpr size_t redZoneBytes = 64;
inline void poison(const MemorySource &source, void *start, size_t bytes) {
  if (source.isOfHost())
    __asan_poison_memory_region(start, bytes);
}
inline void unpoison(const MemorySource &source, void *start, size_t bytes) {
  if (source.isOfHost())
    __asan_unpoison_memory_region(start, bytes);
}
#else
inline constexpr size_t redZoneBytes = 0;
inline void poison(const MemorySource &, void *, size_t) {}
inline void unpoison(const MemorySource &, void *, size_t) {}
#endif

} // namespace dlc::rt

#endif // DLC_LIB_RUNTIME_STORAGE_POISON_H
