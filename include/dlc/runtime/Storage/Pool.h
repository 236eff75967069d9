// SPDX-License-Identifier: Apache-2.0
//
// Memory for values whose size is known only while a program runs.

#ifndef DLC_RUNTIME_STORAGE_POOL_H
#define DLC_RUNTIME_STORAGE_POOL_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlc::rt {

/// Blocks of DLC_ALIGNMENT-aligned memory, kept after release for the next
/// request of about the same size: four classes to a doubling, so that at most
/// a fifth of a block is unused. Blocks above `largestKept` go back to the
/// system at once. For one thread.
class Pool {
public:
  static constexpr size_t largestKept = size_t(64) << 20;

  Pool() = default;
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool(); ///< Every block has been released.

  /// At least `bytes` bytes, which may be 0; null when there is no memory.
  void *allocate(size_t bytes);
  /// `bytes` is what allocate() was asked for. Null is ignored.
  void release(void *block, size_t bytes);
  /// Gives the kept blocks back to the system.
  void trim();

  /// Bytes of blocks in use and of blocks kept.
  size_t usedBytes() const { return used; }
  size_t keptBytes() const { return kept; }

private:
  static constexpr size_t classCount = 4 * 21;
  std::array<std::vector<void *>, classCount> freeBlocks;
  size_t used = 0;
  size_t kept = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_STORAGE_POOL_H
