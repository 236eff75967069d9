// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Memory.h"

#include "dlc/runtime/Base/System.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

using namespace dlc::rt;

/// From this size on huge pages are asked for: second-level TLBs reach 8 to 12
/// MB of small ones, and an arena's scratch is often touched only in parts,
/// of which each would cost a huge page. Elsewhere small pages are as fast.
static constexpr size_t hugePagesFrom = 16 << 20;

static Status outOfMemory(size_t bytes) {
  return makeError(StatusCode::OutOfMemory, "cannot allocate %zu bytes", bytes);
}

AlignedBuffer::~AlignedBuffer() {
  if (release)
    release(owner);
  else
    std::free(start);
}

AlignedBuffer AlignedBuffer::adopt(std::span<std::byte> memory,
                                   void (*release)(void *), void *owner) {
  AlignedBuffer buffer;
  buffer.start = memory.data();
  buffer.length = memory.size();
  buffer.release = release;
  buffer.owner = owner;
  return buffer;
}

Result<AlignedBuffer> AlignedBuffer::allocate(size_t bytes) {
  void *memory = nullptr;
  if (bytes > memoryLimit())
    return outOfMemory(bytes);
  // An empty buffer still has an address, so that null means absent.
  if (posix_memalign(&memory, DLC_ALIGNMENT, std::max<size_t>(bytes, 1)))
    return outOfMemory(bytes);
  AlignedBuffer buffer;
  buffer.start = static_cast<std::byte *>(memory);
  buffer.length = bytes;
  return buffer;
}

PageBuffer::~PageBuffer() {
  if (start)
    munmap(start, std::max<size_t>(length, 1));
}

Result<PageBuffer> PageBuffer::allocate(size_t bytes) {
  if (bytes > memoryLimit())
    return outOfMemory(bytes);
  size_t mapped = std::max<size_t>(bytes, 1);
  void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return outOfMemory(bytes);
  if (mapped >= hugePagesFrom)
    (void)madvise(memory, mapped, MADV_HUGEPAGE); // Advice: may be ignored.
  PageBuffer buffer;
  buffer.start = static_cast<std::byte *>(memory);
  buffer.length = bytes;
  return buffer;
}
