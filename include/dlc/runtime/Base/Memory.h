// SPDX-License-Identifier: Apache-2.0
//
// Owned memory of the runtime: aligned, and never a crash when there is none.

#ifndef DLC_RUNTIME_BASE_MEMORY_H
#define DLC_RUNTIME_BASE_MEMORY_H

#include "dlc/abi/Tensor.h"
#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

namespace dlc::rt {

inline bool isAligned(const void *pointer, size_t alignment) {
  return reinterpret_cast<uintptr_t>(pointer) % alignment == 0;
}

/// `value` rounded up to a multiple of `alignment`, a power of two. The caller
/// makes sure that it does not overflow.
constexpr uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// A block of DLC_ALIGNMENT-aligned memory, from the heap or of somebody else.
/// Its bytes are not initialised.
class AlignedBuffer {
public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer &&other) noexcept { swap(other); }
  AlignedBuffer &operator=(AlignedBuffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~AlignedBuffer();

  /// A buffer of `bytes`, which may be 0; OutOfMemory when there is none.
  static Result<AlignedBuffer> allocate(size_t bytes);
  /// A buffer over memory that is not null and aligned alike; calls
  /// `release(owner)` when it goes.
  static AlignedBuffer adopt(std::span<std::byte> memory,
                             void (*release)(void *owner), void *owner);

  std::byte *data() const { return start; }
  size_t size() const { return length; }
  std::span<std::byte> bytes() const { return {start, length}; }

private:
  void swap(AlignedBuffer &other) {
    std::swap(start, other.start);
    std::swap(length, other.length);
    std::swap(release, other.release);
    std::swap(owner, other.owner);
  }
  std::byte *start = nullptr;
  size_t length = 0;
  void (*release)(void *) = nullptr; ///< Null: it is the heap's.
  void *owner = nullptr;
};

/// Who gives memory for what is read: AlignedBuffer::allocate, or another of
/// its kind.
using BufferAllocator = std::function<Result<AlignedBuffer>(size_t bytes)>;

/// Zeroed pages from the system, taken at the first touch. For arenas.
class PageBuffer {
public:
  PageBuffer() = default;
  PageBuffer(PageBuffer &&other) noexcept { swap(other); }
  PageBuffer &operator=(PageBuffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~PageBuffer();

  /// `bytes` of memory, which may be 0; OutOfMemory when there is none. Asks
  /// for huge pages where they help.
  static Result<PageBuffer> allocate(size_t bytes);

  std::byte *data() const { return start; }
  size_t size() const { return length; }

private:
  void swap(PageBuffer &other) {
    std::swap(start, other.start);
    std::swap(length, other.length);
  }
  std::byte *start = nullptr;
  size_t length = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_MEMORY_H
