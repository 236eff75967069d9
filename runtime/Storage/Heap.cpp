// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/Heap.h"

#include "Poison.h"
#include "dlc/runtime/Base/Memory.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <new>

using namespace dlc::rt;

using State = HeapBlock::State;

//===----------------------------------------------------------------------===//
// Records of blocks
//===----------------------------------------------------------------------===//

struct Heap::Chunk {
  static constexpr size_t count = 120; ///< About two small pages.
  Chunk *next;
  HeapBlock blocks[count];
};

bool Heap::reserveRecords(unsigned count) {
  if (freeRecordCount >= count)
    return true;
  auto *chunk = new (std::nothrow) Chunk;
  if (!chunk)
    return false;
  chunk->next = chunks;
  chunks = chunk;
  for (HeapBlock &block : chunk->blocks)
    freeRecord(&block);
  return true;
}

HeapBlock *Heap::newRecord() {
  if (!reserveRecords(1))
    return nullptr;
  HeapBlock *block = freeRecords;
  freeRecords = block->next;
  --freeRecordCount;
  *block = HeapBlock();
  return block;
}

void Heap::freeRecord(HeapBlock *block) {
  block->next = freeRecords;
  freeRecords = block;
  ++freeRecordCount;
}

//===----------------------------------------------------------------------===//
// Splitting and joining
//===----------------------------------------------------------------------===//

/// Cuts `block` down to `bytes` and returns the rest, of the same state and in
/// no list; null, and nothing changed, when there is no record for it.
HeapBlock *Heap::split(HeapBlock *block, size_t bytes) {
  HeapBlock *rest = newRecord();
  if (!rest)
    return nullptr;
  rest->start = block->start + bytes;
  rest->bytes = block->bytes - bytes;
  rest->stream = block->stream;
  rest->state = block->state;
  rest->before = block;
  rest->after = block->after;
  if (rest->after)
    rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  return rest;
}

/// Makes one block of `block` and the one after it, which is in no list.
void Heap::absorbNext(HeapBlock *block) {
  HeapBlock *next = block->after;
  block->bytes += next->bytes;
  block->after = next->after;
  if (block->after)
    block->after->before = block;
  freeRecord(next);
}

/// Joins a block that is in no list with its neighbours of the same state and
/// stream, and returns the whole.
HeapBlock *Heap::join(HeapBlock *block) {
  HeapBins &bins =
      block->state == State::Unmapped ? unmapped : *streams[block->stream];
  auto joins = [&](const HeapBlock *other) {
    return other && other->state == block->state &&
           other->stream == block->stream;
  };
  if (joins(block->after)) {
    bins.remove(block->after);
    absorbNext(block);
  }
  if (joins(block->before)) {
    block = block->before;
    bins.remove(block);
    absorbNext(block);
  }
  return block;
}

HeapBlock *Heap::addFree(HeapBlock *block, StreamId stream) {
  block->state = State::Free;
  block->stream = stream;
  block = join(block);
  streams[stream]->insert(block);
  return block;
}

/// Lists addresses without memory, or gives up their region when that is all
/// that it has.
void Heap::addUnmapped(HeapBlock *block) {
  block->state = State::Unmapped;
  block->stream = 0;
  block = join(block);
  if (block->before || block->after)
    return unmapped.insert(block);
  source.unreserve(block->start, block->bytes);
  freeRecord(block);
}

//===----------------------------------------------------------------------===//
// Growing
//===----------------------------------------------------------------------===//

HeapBlock *Heap::addRegion(size_t bytes, Status &whyNot) {
  if (!reserveRecords(1)) {
    whyNot = Status(StatusCode::OutOfMemory, "no memory for records");
    return nullptr;
  }
  // Addresses may be limited (RLIMIT_AS): be content with fewer.
  size_t region = std::max(bytes, source.regionBytes());
  Result<std::byte *> start = source.reserve(region);
  while (!start.isOk() && region > bytes) {
    region = std::max(bytes, alignUp(region / 8, granule));
    start = source.reserve(region);
  }
  if (!start.isOk()) {
    whyNot = std::move(start.status());
    return nullptr;
  }
  HeapBlock *block = newRecord();
  block->start = *start;
  block->bytes = region;
  unmapped.insert(block);
  return block;
}

/// Before growing by `bytes` to a new peak: gives free granules back, the
/// largest pieces first, as long as more is free than the heap may keep.
void Heap::makeUpFor(size_t bytes) {
  size_t committed = counts.committedBytes + alignUp(bytes, granule);
  if (committed <= counts.peakCommittedBytes)
    return;
  size_t used = counts.usedBytes + bytes, allowed = used + used / 8;
  if (repeats)
    allowed += std::min(madeUpBytes / 4, counts.peakUsedBytes / 2);
  while (committed > allowed) {
    HeapBlock *block = common.largest();
    size_t freed = block ? decommit(block) : 0;
    if (!freed)
      return;
    committed -= freed;
    madeUpBytes += freed;
  }
}

/// How much of an unmapped block to commit when `needed` is the least: a 32nd
/// of what there is ahead of need, so that a growing pool calls the system
/// seldom and never holds much more than was asked for.
size_t Heap::growthFor(const HeapBlock *block, size_t needed) const {
  size_t ahead = std::min(counts.committedBytes / 32, size_t(16) << 20);
  size_t wanted = alignUp(std::max({needed, ahead, leastDecommit}), granule);
  return std::min({wanted, block->bytes,
                   (byteCap - counts.committedBytes) & ~(granule - 1)});
}

/// Why nothing more is committed for `stream`.
Status Heap::refuseMore(StreamId stream) const {
  size_t others = 0, most = 0;
  StreamId largest = 0;
  for (StreamId other = 1; other != maxStreams; ++other) {
    if (other == stream || !streams[other])
      continue;
    size_t bytes = 0;
    for (HeapBlock *block = streams[other]->firstOfAtLeast(0); block;
         block = streams[other]->following(block))
      bytes += block->bytes;
    others += bytes;
    if (bytes > most) {
      most = bytes;
      largest = other;
    }
  }
  std::string text = "of a limit of " + std::to_string(byteCap) + " bytes, " +
                     std::to_string(counts.usedBytes) + " are in use";
  if (size_t rest = counts.committedBytes - counts.usedBytes - others)
    text += ", " + std::to_string(rest) + " free in pieces too small";
  if (others)
    text += ", " + std::to_string(others) +
            " free for other streams until those are synchronized (stream " +
            std::to_string(largest) + ")";
  return Status(StatusCode::OutOfMemory, std::move(text));
}

/// Commits at least `needed` bytes at the start of an unmapped block; the rest
/// of it stays unmapped. Returns the piece, free and in no list.
HeapBlock *Heap::commit(HeapBlock *block, size_t needed, StreamId stream,
                        Status &whyNot) {
  if (byteCap - counts.committedBytes < needed) {
    whyNot = refuseMore(stream);
    return nullptr;
  }
  if (!reserveRecords(1)) {
    whyNot = Status(StatusCode::OutOfMemory, "no memory for records");
    return nullptr;
  }
  size_t size = growthFor(block, needed);
  Status status = source.commit(block->start, size);
  if (!status.isOk() && size > needed)
    status = source.commit(block->start, size = needed);
  if (!status.isOk()) {
    whyNot = std::move(status);
    return nullptr;
  }
  poison(source, block->start, size);
  ++counts.commits;
  counts.committedBytes += size;
  counts.peakCommittedBytes =
      std::max(counts.peakCommittedBytes, counts.committedBytes);
  unmapped.remove(block);
  if (size < block->bytes)
    unmapped.insert(split(block, size));
  block->state = State::Free;
  return block;
}

/// A free block of at least `bytes`, in no list, made with new memory.
HeapBlock *Heap::grow(size_t bytes, StreamId stream, Status &whyNot) {
  makeUpFor(bytes);
  size_t needed = alignUp(bytes, granule);
  HeapBlock *block = unmapped.find(needed);
  if (!block)
    block = addRegion(needed, whyNot);
  if (!block)
    return nullptr;
  // What lies free before the new memory is part of the block.
  HeapBlock *before = block->before;
  bool extends = before && before->state == State::Free &&
                 (before->stream == stream || before->stream == 0);
  if (extends && before->bytes >= bytes) { // Far down a long list.
    streams[before->stream]->remove(before);
    return before;
  }
  if (extends)
    needed = alignUp(bytes - before->bytes, granule);
  HeapBlock *made = commit(block, needed, stream, whyNot);
  if (!made) { // A region that came for it alone goes back.
    unmapped.remove(block);
    addUnmapped(block);
    return nullptr;
  }
  made->stream = extends ? before->stream : 0;
  return join(made);
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Heap::Heap(MemorySource &source, size_t byteCap, bool repeats)
    : source(source), byteCap(byteCap), repeats(repeats),
      granule(source.granule()),
      leastDecommit(std::max(granule, size_t(64) << 10)) {
  streams[0] = &common;
}

Heap::~Heap() {
  assert(counts.usedBlocks == 0 && "a block outlives its heap");
  for (StreamId stream = 1; stream != maxStreams; ++stream) {
    synchronized(stream);
    delete streams[stream];
  }
  // The first block of a region knows how long the region is.
  for (HeapBins *bins : {&common, &unmapped})
    for (HeapBlock *block = bins->firstOfAtLeast(0); block;
         block = bins->following(block)) {
      if (block->before)
        continue;
      size_t region = 0;
      for (HeapBlock *part = block; part; part = part->after) {
        region += part->bytes;
        if (part->state == State::Free)
          unpoison(source, part->start, part->bytes);
      }
      source.unreserve(block->start, region);
    }
  while (chunks)
    delete std::exchange(chunks, chunks->next);
}

HeapBlock *Heap::findFree(size_t bytes, StreamId stream) const {
  HeapBlock *block = streams[stream]->find(bytes);
  return block || !stream ? block : common.find(bytes);
}

/// Turns a free block in no list into a used one of `bytes`.
HeapBlock *Heap::take(HeapBlock *block, size_t bytes, StreamId stream) {
  // Without a record for the rest the block stays larger than asked for.
  if (block->bytes > bytes)
    if (HeapBlock *rest = split(block, bytes))
      streams[rest->stream]->insert(rest);
  block->state = State::Used;
  block->stream = stream;
  ++counts.usedBlocks;
  counts.usedBytes += block->bytes;
  counts.peakUsedBytes = std::max(counts.peakUsedBytes, counts.usedBytes);
  return block;
}

HeapBlock *Heap::allocate(size_t bytes, StreamId stream, Status &whyNot) {
  if (bytes > SIZE_MAX / 4) { // Roundings below must not overflow.
    whyNot = makeError(StatusCode::OutOfMemory, "the size is too large");
    return nullptr;
  }
  bytes = alignUp(std::max<size_t>(bytes, 1), DLC_ALIGNMENT);
  if (!streams[stream] && !(streams[stream] = new (std::nothrow) HeapBins)) {
    whyNot = Status(StatusCode::OutOfMemory, "no memory for records");
    return nullptr;
  }
  HeapBlock *block = findFree(bytes, stream);
  if (block)
    streams[block->stream]->remove(block);
  else
    block = grow(bytes, stream, whyNot);
  return block ? take(block, bytes, stream) : nullptr;
}

void Heap::release(HeapBlock *block) { release(block, SIZE_MAX); }

void Heap::release(HeapBlock *block, size_t keptBytes) {
  assert(block->state == State::Used && "released twice");
  --counts.usedBlocks;
  counts.usedBytes -= block->bytes;
  block = addFree(block, block->stream);
  if (counts.committedBytes - counts.usedBytes > keptBytes && !block->stream)
    decommit(block);
}

void Heap::synchronized(StreamId stream) { putBack(takeFree(stream)); }

HeapBlock *Heap::takeFree(StreamId stream) {
  HeapBlock *list = nullptr;
  while (stream && hasFree(stream)) {
    HeapBlock *block = streams[stream]->firstOfAtLeast(0);
    streams[stream]->remove(block);
    block->state = State::Used; // Neighbours do not join it.
    block->next = std::exchange(list, block);
  }
  return list;
}

void Heap::putBack(HeapBlock *list) {
  while (list)
    addFree(std::exchange(list, list->next), 0);
}

bool Heap::hasFree(StreamId stream) const {
  return stream < maxStreams && streams[stream] &&
         streams[stream]->firstOfAtLeast(0);
}

/// Gives back the whole granules of a free block, unless the hole would be a
/// new one and small. Returns their bytes.
size_t Heap::decommit(HeapBlock *block) {
  auto address = reinterpret_cast<uintptr_t>(block->start);
  size_t head = -address & (granule - 1);
  auto isHole = [](const HeapBlock *other) {
    return other && other->state == State::Unmapped;
  };
  bool widensHole = isHole(block->before) || isHole(block->after);
  size_t least = widensHole ? granule : leastDecommit;
  if (block->bytes < head + least || !reserveRecords(2))
    return 0;
  size_t size = (block->bytes - head) & ~(granule - 1);
  unpoison(source, block->start + head, size);
  if (!source.decommit(block->start + head, size)) {
    poison(source, block->start + head, size);
    return 0;
  }
  ++counts.decommits;
  counts.committedBytes -= size;
  HeapBins &bins = *streams[block->stream];
  bins.remove(block);
  HeapBlock *middle = head ? split(block, head) : block;
  if (head)
    bins.insert(block);
  if (size < middle->bytes)
    bins.insert(split(middle, size));
  addUnmapped(middle);
  return size;
}

size_t Heap::trim() {
  size_t total = 0, bytes;
  do { // Until nothing is next to a hole any more.
    bytes = 0;
    // What decommit() puts back is below a granule, behind where the walk is.
    for (HeapBlock *block = common.firstOfAtLeast(granule); block;) {
      HeapBlock *next = common.following(block);
      bytes += decommit(block);
      block = next;
    }
    total += bytes;
  } while (bytes);
  return total;
}

HeapStatistics Heap::statistics() const {
  HeapStatistics statistics = counts;
  for (const HeapBins *bins : streams)
    if (const HeapBlock *block = bins ? bins->largest() : nullptr)
      statistics.largestFreeBytes =
          std::max(statistics.largestFreeBytes, block->bytes);
  return statistics;
}

void Heap::resetPeaks() {
  counts.peakCommittedBytes = counts.committedBytes;
  counts.peakUsedBytes = counts.usedBytes;
}
