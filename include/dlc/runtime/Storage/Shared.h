// SPDX-License-Identifier: Apache-2.0
//
// Memory that several processes use at once, for data loaders: one fills a
// block and sends its handle, the other opens it; no byte is copied.

#ifndef DLC_RUNTIME_STORAGE_SHARED_H
#define DLC_RUNTIME_STORAGE_SHARED_H

#include "dlc/runtime/Storage/Manager.h"

#include <string>
#include <string_view>

namespace dlc::rt {

/// How another process of the same user finds a shared block. Good as long as
/// the process that made it has the block, or a copy of its descriptor.
struct SharedHandle {
  int32_t process = 0;
  int32_t descriptor = -1;
  uint64_t inode = 0; ///< Finds a descriptor that has been closed and reused.

  /// Reads what toString() writes. Errors: InvalidArgument.
  static Result<SharedHandle> parse(std::string_view text);
};

/// "shared:PROCESS:DESCRIPTOR:INODE", to send as text.
std::string toString(const SharedHandle &handle);

/// Gives out blocks of anonymous memory files (memfd_create): no name is left
/// behind when a process dies, and the system frees the memory with the last
/// process that has it. Every block is mapped by itself; nothing is pooled,
/// since others may still look at what one process released.
///
/// Blocks are sealed against shrinking, so that no process can make another
/// one fault. What they hold comes from another process: check it.
class SharedManager : public StorageManager {
public:
  /// A handle to a block of allocate() or open(). Errors: InvalidArgument (a
  /// block of another manager, or one that came here by fork()).
  virtual Result<SharedHandle> share(const Allocation &block) = 0;
  /// A new descriptor of the block, the caller's to close. It keeps the memory
  /// alive and can be sent over a socket (SCM_RIGHTS) to a process that may
  /// not look into this one. Errors: as share(), Unavailable.
  virtual Result<int> duplicateDescriptor(const Allocation &block) = 0;

  /// The memory of another process, or another mapping of memory of this one.
  /// Errors: NotFound (the process or the block is gone), InvalidArgument (not
  /// a block of this kind), Unavailable.
  virtual Result<Allocation> open(const SharedHandle &handle) = 0;
  /// The same from a descriptor, which stays the caller's.
  virtual Result<Allocation> openDescriptor(int descriptor) = 0;

  /// How many blocks, in all processes, have the memory of `block`: those of
  /// allocate() and open(). A process that died counts on. 0 for a block of
  /// another manager.
  virtual uint32_t references(const Allocation &block) const = 0;

protected:
  using StorageManager::StorageManager;
};

/// Owned as other managers: blocks may outlive it. `byteCap` bounds what it
/// maps.
std::unique_ptr<SharedManager, AbandonManager>
createSharedManager(Context context, size_t byteCap = SIZE_MAX);

} // namespace dlc::rt

#endif // DLC_RUNTIME_STORAGE_SHARED_H
