// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/Source.h"

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/System.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace dlc::rt;

MemorySource::~MemorySource() = default;

namespace {

constexpr size_t hugePageBytes = size_t(2) << 20;

/// 16 GiB of addresses, or less when the process may not have many.
size_t fairRegion() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  return std::clamp<rlim_t>(limit.rlim_cur / 64, hugePageBytes,
                            rlim_t(16) << 30) &
         ~(hugePageBytes - 1);
}

/// Pages in private mappings. Addresses are reserved without access, so that
/// the system counts and gives no memory for them, and a use of freed memory
/// faults once its pages are gone.
class HostSource : public MemorySource {
public:
  size_t granule() const override { return pageBytes; }
  size_t regionBytes() const override { return usualRegion; }
  size_t mostBytes() const override { return memoryLimit(); }

  Result<std::byte *> reserve(size_t bytes) override;
  Status commit(std::byte *start, size_t bytes) override;
  bool decommit(std::byte *start, size_t bytes) override;
  void unreserve(std::byte *start, size_t bytes) override;

private:
  const size_t pageBytes = size_t(sysconf(_SC_PAGESIZE));
  const size_t usualRegion = fairRegion();
};

class PinnedSource final : public HostSource {
public:
  size_t regionBytes() const override { return size_t(1) << 30; }
  Status commit(std::byte *start, size_t bytes) override;
};

class MallocSource final : public MemorySource {
public:
  size_t granule() const override { return 1; }
  size_t regionBytes() const override { return 1; }
  size_t mostBytes() const override { return memoryLimit(); }

  Result<std::byte *> reserve(size_t bytes) override {
    void *memory = nullptr;
    if (bytes > mostBytes() || posix_memalign(&memory, DLC_ALIGNMENT, bytes))
      return makeError(StatusCode::OutOfMemory, "malloc has no %zu bytes",
                       bytes);
    return static_cast<std::byte *>(memory);
  }
  Status commit(std::byte *, size_t) override { return Status::ok(); }
  bool decommit(std::byte *, size_t) override { return false; }
  void unreserve(std::byte *start, size_t) override { std::free(start); }
};

} // namespace

// Linux counts private pages as promised once they may be written, so these,
// which may not, need no MAP_NORESERVE; with it commit() would not be counted
// either.
static constexpr int reserveFlags = MAP_PRIVATE | MAP_ANONYMOUS;

/// Aligned for huge pages where the reservation can hold one.
Result<std::byte *> HostSource::reserve(size_t bytes) {
  size_t alignment = bytes < hugePageBytes ? granule() : hugePageBytes;
  size_t mapped;
  if (__builtin_add_overflow(bytes, alignment, &mapped))
    return makeError(StatusCode::OutOfMemory, "no %zu bytes of addresses",
                     bytes);
  void *memory = mmap(nullptr, mapped, PROT_NONE, reserveFlags, -1, 0);
  if (memory == MAP_FAILED)
    return makeError(StatusCode::OutOfMemory,
                     "cannot reserve %zu bytes of addresses: %s", bytes,
                     std::strerror(errno));
  auto *first = static_cast<std::byte *>(memory);
  size_t skipped = -reinterpret_cast<uintptr_t>(first) % alignment;
  if (skipped)
    munmap(first, skipped);
  if (skipped != alignment)
    munmap(first + skipped + bytes, alignment - skipped);
  // Everywhere, so that all pieces look alike to the kernel and neighbours
  // become one mapping; only advice.
  (void)madvise(first + skipped, bytes, MADV_HUGEPAGE);
  return first + skipped;
}

Status HostSource::commit(std::byte *start, size_t bytes) {
  // A system that promises freely would end the process at the first use.
  if (size_t limit = mostBytes(); bytes > limit)
    return makeError(StatusCode::OutOfMemory,
                     "expected at most the %zu bytes that the process may "
                     "have, got %zu",
                     limit, bytes);
  if (mprotect(start, bytes, PROT_READ | PROT_WRITE) == 0)
    return Status::ok();
  return makeError(StatusCode::OutOfMemory, "the system has no %zu bytes: %s",
                   bytes, std::strerror(errno));
}

bool HostSource::decommit(std::byte *start, size_t bytes) {
  // A new mapping in place of the old one: unlike MADV_DONTNEED it also gives
  // back what the system's commit limit counted.
  if (mmap(start, bytes, PROT_NONE, reserveFlags | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    return false;
  (void)madvise(start, bytes, MADV_HUGEPAGE);
  return true;
}

void HostSource::unreserve(std::byte *start, size_t bytes) {
  munmap(start, bytes);
}

Status PinnedSource::commit(std::byte *start, size_t bytes) {
  DLC_RETURN_IF_ERROR(HostSource::commit(start, bytes));
  if (mlock(start, bytes) == 0)
    return Status::ok();
  Status status(StatusCode::Unavailable, std::strerror(errno));
  decommit(start, bytes);
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return std::move(status).withContext(
      "cannot lock " + std::to_string(bytes) + " bytes, the process may lock " +
      (limit.rlim_cur == RLIM_INFINITY ? "any number of"
                                       : std::to_string(limit.rlim_cur)) +
      " bytes");
}

std::unique_ptr<MemorySource> dlc::rt::createHostSource() {
  return std::unique_ptr<MemorySource>(new (std::nothrow) HostSource);
}
std::unique_ptr<MemorySource> dlc::rt::createPinnedSource() {
  return std::unique_ptr<MemorySource>(new (std::nothrow) PinnedSource);
}
std::unique_ptr<MemorySource> dlc::rt::createMallocSource() {
  return std::unique_ptr<MemorySource>(new (std::nothrow) MallocSource);
}
