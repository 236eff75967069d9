// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/Heap.h"

#include <bit>

using namespace dlc::rt;

static constexpr unsigned fineCount = 1u << HeapBins::fineBits;

/// The list of blocks of `bytes`. The first two rows hold one size a list; in
/// row r the 32 lists share the sizes of a doubling.
static unsigned binOf(size_t bytes) {
  size_t units = bytes >> HeapBins::unitBits;
  if (units < fineCount)
    return unsigned(units);
  unsigned exponent = std::bit_width(units) - 1 - HeapBins::fineBits;
  return (exponent + 1) * fineCount + unsigned(units >> exponent) - fineCount;
}

void HeapBins::insert(HeapBlock *block) {
  unsigned bin = binOf(block->bytes);
  block->previous = nullptr;
  block->next = lists[bin];
  if (block->next)
    block->next->previous = block;
  lists[bin] = block;
  filled[bin / fineCount] |= 1u << bin % fineCount;
  filledRows |= uint64_t(1) << bin / fineCount;
}

void HeapBins::remove(HeapBlock *block) {
  if (block->next)
    block->next->previous = block->previous;
  if (block->previous) {
    block->previous->next = block->next;
    return;
  }
  unsigned bin = binOf(block->bytes), row = bin / fineCount;
  lists[bin] = block->next;
  if (block->next)
    return;
  filled[row] &= ~(1u << bin % fineCount);
  if (!filled[row])
    filledRows &= ~(uint64_t(1) << row);
}

HeapBlock *HeapBins::firstFrom(unsigned bin) const {
  unsigned row = bin / fineCount;
  if (row >= rows)
    return nullptr;
  uint32_t here = filled[row] & (~0u << bin % fineCount);
  if (!here) {
    // Not "row + 1" bits at once: a shift by 64 is undefined.
    uint64_t above = filledRows & (~uint64_t(0) << row) & ~(uint64_t(1) << row);
    if (!above)
      return nullptr;
    row = std::countr_zero(above);
    here = filled[row];
  }
  return lists[row * fineCount + std::countr_zero(here)];
}

HeapBlock *HeapBins::find(size_t bytes) const {
  // Blocks of the list that `bytes` falls into may be too small by up to a
  // 32nd; a few are looked at, since taking a larger one leaves a splinter.
  constexpr unsigned steps = 16;
  unsigned bin = binOf(bytes);
  HeapBlock *best = nullptr;
  HeapBlock *block = lists[bin];
  for (unsigned i = 0; block && i != steps; ++i, block = block->next) {
    if (block->bytes < bytes || (best && block->bytes >= best->bytes))
      continue;
    best = block;
    if (block->bytes == bytes)
      break;
  }
  return best ? best : firstFrom(bin + 1);
}

HeapBlock *HeapBins::firstOfAtLeast(size_t bytes) const {
  return firstFrom(binOf(bytes));
}

HeapBlock *HeapBins::following(const HeapBlock *block) const {
  return block->next ? block->next : firstFrom(binOf(block->bytes) + 1);
}

HeapBlock *HeapBins::largest() const {
  if (!filledRows)
    return nullptr;
  unsigned row = std::bit_width(filledRows) - 1;
  HeapBlock *most = lists[row * fineCount + std::bit_width(filled[row]) - 1];
  for (HeapBlock *block = most; block; block = block->next)
    if (block->bytes > most->bytes)
      most = block;
  return most;
}
