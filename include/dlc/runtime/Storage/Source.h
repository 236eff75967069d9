// SPDX-License-Identifier: Apache-2.0
//
// Where a storage manager gets its memory: addresses first, memory behind them
// later, piece by piece, and back again. The pages of the host and the virtual
// memory calls of CUDA (cuMemAddressReserve, cuMemMap) both have this shape.

#ifndef DLC_RUNTIME_STORAGE_SOURCE_H
#define DLC_RUNTIME_STORAGE_SOURCE_H

#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dlc::rt {

/// Reserved addresses and the memory behind them. One thread at a time.
class MemorySource {
public:
  virtual ~MemorySource();

  /// The unit of commit() and decommit() in bytes: a power of two.
  virtual size_t granule() const = 0;
  /// How many bytes of addresses are worth reserving at once: a multiple of
  /// granule(). They cost next to nothing.
  virtual size_t regionBytes() const = 0;
  /// More than this at once commit() always refuses. Asked for when there is
  /// no memory, so it may take a system call.
  virtual size_t mostBytes() const { return SIZE_MAX; }

  /// The host reads and writes the memory, so that a sanitizer can watch it.
  virtual bool isOfHost() const { return true; }

  /// `bytes` of addresses, a multiple of granule() and aligned to it, with no
  /// memory behind them. Errors: OutOfMemory.
  virtual Result<std::byte *> reserve(size_t bytes) = 0;
  /// Puts memory behind a piece of reserved addresses that has none. On error
  /// the piece is as before. Errors: OutOfMemory, Unavailable.
  virtual Status commit(std::byte *start, size_t bytes) = 0;
  /// Gives the memory of a committed piece back to the system and keeps its
  /// addresses. False when that is not possible now: nothing changed.
  virtual bool decommit(std::byte *start, size_t bytes) = 0;
  /// Gives back a whole reservation, committed or not.
  virtual void unreserve(std::byte *start, size_t bytes) = 0;
};

/// Private pages of the host, zero at first, with huge pages where they help.
/// What is beyond memoryLimit() is refused by all sources of the host.
std::unique_ptr<MemorySource> createHostSource();

/// Pages of the host that the system never writes to disk. The driver of a
/// device does not know of it: see createLockedSource(). commit() fails with Unavailable when the process
/// may lock no more (RLIMIT_MEMLOCK).
std::unique_ptr<MemorySource> createPinnedSource();

/// The C library's allocator, a block for each reservation: what tools that
/// watch malloc see best.
std::unique_ptr<MemorySource> createMallocSource();

} // namespace dlc::rt

#endif // DLC_RUNTIME_STORAGE_SOURCE_H
