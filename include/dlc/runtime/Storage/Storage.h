// SPDX-License-Identifier: Apache-2.0
//
// The memory of all devices of a process, or of a part of it: an object, so
// that two parts do not share their limits.

#ifndef DLC_RUNTIME_STORAGE_STORAGE_H
#define DLC_RUNTIME_STORAGE_STORAGE_H

#include "dlc/runtime/Storage/Manager.h"
#include "dlc/runtime/Storage/Shared.h"

#include <memory>

namespace dlc::rt {

enum class StorageKind : uint8_t {
  Pooled, ///< createPooledManager()
  Naive,  ///< createNaiveManager(): for debugging.
};

struct StorageOptions {
  StorageKind kind = StorageKind::Pooled;
  /// For each device by itself, the byte cap too. Of these, cpu_shared and
  /// managers of the kind Naive take the cap alone.
  PoolOptions pool = {};
};

/// A manager for each device, made when it is first asked for. All functions
/// may be called from any thread. Blocks may outlive the storage. One that
/// found no memory when it was made has none: functions that return a status
/// say so.
///
/// The child of a fork() has managers of its own, made from the same options
/// when it first asks for them; those that came by setManager() it has not.
/// Blocks of the parent can be read, written (in a copy of the child's, but for
/// cpu_shared) and released there, which gives nothing back.
class Storage {
public:
  explicit Storage(const StorageOptions &options = {});
  ~Storage();
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;

  /// The manager of a device, which lives as long as the storage. Errors:
  /// InvalidArgument (not a device), Unsupported (a device without memory in
  /// this process; see setManager()).
  Result<StorageManager *> manager(Context context);
  /// The manager of a cpu_shared device. Errors: InvalidArgument.
  Result<SharedManager *> sharedManager(Context context);

  /// Gives a device its manager, which is that device's: how the code of a
  /// device brings its memory. It takes the place of the one that a device of
  /// the host gets when manager() or allocate() first asks for it. Errors:
  /// InvalidArgument (another device's, or the device has one).
  Status setManager(Context context, StorageManagerPtr manager);

  /// See StorageManager::allocate().
  Result<Allocation> allocate(Context context, size_t bytes,
                              StreamId stream = 0);

  /// Gives free memory of all devices back to the system.
  void trim();

  /// Sets the observer of all managers, also of those yet to come; see
  /// StorageManager::setObserver(). Blocks that outlive the storage are told of
  /// too, unless the last call was with null.
  void setObserver(StorageObserver *observer);

  /// Calls `visit` with each manager that exists by now, by rising context.
  void forEach(const std::function<void(StorageManager &)> &visit);

private:
  struct State;
  State *state();

  ForkGuard guard;
  std::unique_ptr<State> known; ///< Null when there was no memory.
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_STORAGE_STORAGE_H
