// SPDX-License-Identifier: Apache-2.0
//
// Splits reserved memory into blocks and joins freed neighbours again. What it
// knows of a block is kept outside of it, so the memory may be a device's.

#ifndef DLC_RUNTIME_STORAGE_HEAP_H
#define DLC_RUNTIME_STORAGE_HEAP_H

#include "dlc/runtime/Storage/Source.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace dlc::rt {

/// A queue of a device whose work runs in order. Stream 0 is the host: what
/// used a block of it is over when the block is released.
using StreamId = uint32_t;
inline constexpr StreamId maxStreams = 64;

/// A piece of a region. Neighbours cover the region without gaps.
struct HeapBlock {
  enum class State : uint8_t {
    Unmapped, ///< Addresses alone.
    Free,     ///< Memory for the next request of its stream.
    Used,
  };

  std::byte *start = nullptr;
  size_t bytes = 0;
  HeapBlock *before = nullptr, *after = nullptr;  ///< In address order.
  HeapBlock *previous = nullptr, *next = nullptr; ///< In a list of its size.
  StreamId stream = 0; ///< Who may take it while it is free.
  State state = State::Unmapped;
};

/// Blocks of one kind, found by size: two-level segregated fit (Masmano et
/// al., ECRTS 2004) with 32 lists to a doubling.
class HeapBins {
public:
  void insert(HeapBlock *block);
  void remove(HeapBlock *block);
  /// A block of at least `bytes`, of the smallest size that a few steps find;
  /// null when there is none.
  HeapBlock *find(size_t bytes) const;
  /// The first block of a list whose sizes start at `bytes` or below, and the
  /// one after it: a walk by rising sizes, null at the end. The walk may remove
  /// a block once it knows the following one.
  HeapBlock *firstOfAtLeast(size_t bytes) const;
  HeapBlock *following(const HeapBlock *block) const;
  HeapBlock *largest() const; ///< Null when there is none.

  static constexpr unsigned fineBits = 5;
  static constexpr unsigned unitBits = 6; ///< Blocks are multiples of 64.
  static constexpr unsigned rows = 64 - unitBits - fineBits + 1;

private:
  HeapBlock *firstFrom(unsigned bin) const;

  std::array<HeapBlock *, size_t(rows) << fineBits> lists = {};
  std::array<uint32_t, rows> filled = {}; ///< A bit for each list of a row.
  uint64_t filledRows = 0;
};

struct HeapStatistics {
  size_t committedBytes = 0;     ///< Memory taken from the source.
  size_t usedBytes = 0;          ///< In blocks that are allocated.
  size_t peakCommittedBytes = 0; ///< Since the start or resetPeaks().
  size_t peakUsedBytes = 0;
  size_t largestFreeBytes = 0; ///< Of one stream and one piece.
  size_t usedBlocks = 0;
  uint64_t commits = 0, decommits = 0; ///< Calls of the source.
};

/// For one thread at a time. When it must grow beyond what it ever held and
/// more than a ninth of that would be free, free memory goes back to the system
/// first: fragmentation costs addresses, not memory. Where requests repeat, as
/// those of a program that runs again and again, that would go on for ever:
/// there what may be free grows by a quarter of what went back so far, to half
/// of the most that was in use. A stream's freed blocks serve that stream alone
/// until synchronized(); those of stream 0 serve all.
class Heap {
public:
  /// Borrows `source`. `byteCap` bounds the memory taken from it.
  explicit Heap(MemorySource &source, size_t byteCap = SIZE_MAX,
                bool repeats = false);
  ~Heap(); ///< No block is in use. Gives everything back.
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;

  /// A block of at least `bytes`, aligned to DLC_ALIGNMENT; null when there is
  /// no memory, and then `whyNot` says why. `stream` is below maxStreams.
  HeapBlock *allocate(size_t bytes, StreamId stream, Status &whyNot);
  /// Returns a block of allocate() to its stream.
  void release(HeapBlock *block);
  /// The same; gives whole granules back to the source when more than
  /// `keptBytes` are free.
  void release(HeapBlock *block, size_t keptBytes);

  /// All work of `stream` on blocks released so far is over: they serve any.
  void synchronized(StreamId stream);
  bool hasFree(StreamId stream) const; ///< Blocks that serve `stream` alone.
  /// Takes all those, linked by `next`: nobody has them until putBack(), after
  /// which they serve any stream. For streams other than 0.
  HeapBlock *takeFree(StreamId stream);
  void putBack(HeapBlock *list);

  /// Gives the granules of stream 0's larger free blocks back to the source.
  /// Returns how many bytes.
  size_t trim();

  size_t usedBlocks() const { return counts.usedBlocks; }
  HeapStatistics statistics() const;
  void resetPeaks();

private:
  /// Blocks' records in chunks that live as long as the heap.
  struct Chunk;

  HeapBlock *newRecord();
  bool reserveRecords(unsigned count);
  void freeRecord(HeapBlock *block);

  HeapBlock *split(HeapBlock *block, size_t bytes);
  void absorbNext(HeapBlock *block);
  HeapBlock *join(HeapBlock *block);
  HeapBlock *addFree(HeapBlock *block, StreamId stream);
  HeapBlock *findFree(size_t bytes, StreamId stream) const;
  HeapBlock *take(HeapBlock *block, size_t bytes, StreamId stream);
  HeapBlock *grow(size_t bytes, StreamId stream, Status &whyNot);
  HeapBlock *addRegion(size_t bytes, Status &whyNot);
  void makeUpFor(size_t bytes);
  size_t growthFor(const HeapBlock *block, size_t needed) const;
  Status refuseMore(StreamId stream) const;
  HeapBlock *commit(HeapBlock *block, size_t needed, StreamId stream,
                    Status &whyNot);
  size_t decommit(HeapBlock *block);
  void addUnmapped(HeapBlock *block);

  MemorySource &source;
  const size_t byteCap;
  const bool repeats;     ///< Requests do.
  size_t madeUpBytes = 0; ///< That went back before growing.
  const size_t granule;
  /// Smaller pieces are not worth a call, nor a mapping of their own, of which
  /// Linux allows a process 65,530.
  const size_t leastDecommit;
  HeapStatistics counts;
  HeapBins common; ///< Free blocks of stream 0.
  HeapBins unmapped;
  /// Free blocks of each stream; null until it allocates.
  std::array<HeapBins *, maxStreams> streams = {};
  Chunk *chunks = nullptr;
  HeapBlock *freeRecords = nullptr; ///< Linked by `next`.
  size_t freeRecordCount = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_STORAGE_HEAP_H
