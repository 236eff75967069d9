// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/Pool.h"

#include "dlc/abi/Tensor.h"

#include <bit>
#include <cassert>
#include <cstdlib>

using namespace dlc::rt;

namespace {

/// A size class: its number and the bytes of its blocks.
struct SizeClass {
  size_t index;
  size_t bytes;
};

} // namespace

/// The smallest class of at least `bytes`, which is at most largestKept. Class
/// 4 * k + q holds blocks of 64 * 2^k * (4 + q) / 4 bytes, rounded to 64.
static SizeClass classOf(size_t bytes) {
  size_t units = (bytes + DLC_ALIGNMENT - 1) / DLC_ALIGNMENT;
  if (units <= 4) // 64, 128, 192, 256: exact.
    return {units ? units - 1 : 0, DLC_ALIGNMENT * (units ? units : 1)};
  size_t exponent = std::bit_width(units - 1) - 1;
  size_t step = size_t(1) << (exponent - 2);
  size_t quarter = (units - 1 - (size_t(1) << exponent)) / step + 1;
  return {4 * (exponent - 1) + quarter - 1,
          DLC_ALIGNMENT * ((size_t(1) << exponent) + quarter * step)};
}

Pool::~Pool() {
  assert(used == 0 && "a block outlives its pool");
  trim();
}

void *Pool::allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  size_t blockBytes = (bytes + DLC_ALIGNMENT - 1) & -size_t(DLC_ALIGNMENT);
  if (bytes <= largestKept) {
    SizeClass size = classOf(bytes);
    blockBytes = size.bytes;
    std::vector<void *> &blocks = freeBlocks[size.index];
    if (!blocks.empty()) {
      void *block = blocks.back();
      blocks.pop_back();
      kept -= blockBytes;
      used += blockBytes;
      return block;
    }
  }
  void *block = nullptr;
  if (posix_memalign(&block, DLC_ALIGNMENT, blockBytes))
    return nullptr;
  used += blockBytes;
  return block;
}

void Pool::release(void *block, size_t bytes) {
  if (!block)
    return;
  if (bytes > largestKept) {
    used -= (bytes + DLC_ALIGNMENT - 1) & -size_t(DLC_ALIGNMENT);
    return std::free(block);
  }
  SizeClass size = classOf(bytes);
  freeBlocks[size.index].push_back(block);
  used -= size.bytes;
  kept += size.bytes;
}

void Pool::trim() {
  for (std::vector<void *> &blocks : freeBlocks) {
    for (void *block : blocks)
      std::free(block);
    blocks.clear();
  }
  kept = 0;
}
