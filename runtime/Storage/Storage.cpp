// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/Storage.h"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

using namespace dlc::rt;

static Status noStorage() {
  return makeError(StatusCode::OutOfMemory, "no memory for a storage");
}

struct Storage::State {
  static constexpr unsigned quickCount = 16;

  explicit State(const StorageOptions &options) : options(options) {}
  Result<StorageManager *> find(Context context);
  Result<StorageManagerPtr> make(Context context) const;
  std::vector<StorageManager *> all();

  const StorageOptions options;
  /// The managers of low numbers, found without the lock. Set once, with
  /// release, so that an acquire sees the manager whole.
  std::atomic<StorageManager *> quick[deviceKindCount][quickCount] = {};
  std::mutex mutex; ///< Guards what follows; entries are never removed.
  std::map<Context, StorageManagerPtr> managers;
  StorageObserver *observer = nullptr;
};

Result<StorageManagerPtr> Storage::State::make(Context context) const {
  std::unique_ptr<MemorySource> source;
  bool isPooled = options.kind == StorageKind::Pooled;
  switch (context.kind) {
  case DeviceKind::CPUShared: {
    auto manager = createSharedManager(context, options.pool.byteCap);
    return StorageManagerPtr(manager.release());
  }
  case DeviceKind::CPU:
  case DeviceKind::Null:
    source = isPooled ? createHostSource() : createMallocSource();
    break;
  case DeviceKind::CPUPinned:
    source = createPinnedSource();
    break;
  case DeviceKind::CUDA:
    return makeError(StatusCode::Unsupported,
                     "expected a device that has memory in this process, got "
                     "%s, which nobody has given any",
                     toString(context).c_str());
  }
  return isPooled
             ? createPooledManager(context, std::move(source), options.pool)
             : createNaiveManager(context, std::move(source),
                                  options.pool.byteCap);
}

Result<StorageManager *> Storage::State::find(Context context) {
  if (!context.isValid())
    return makeError(StatusCode::InvalidArgument,
                     "expected a device, got kind %u with number %d",
                     unsigned(context.kind), context.index);
  unsigned kind = unsigned(context.kind);
  if (unsigned(context.index) < quickCount)
    if (StorageManager *manager =
            quick[kind][context.index].load(std::memory_order_acquire))
      return manager;
  std::lock_guard lock(mutex);
  StorageManagerPtr &manager = managers[context];
  if (!manager) {
    Result<StorageManagerPtr> made = make(context);
    if (!made.isOk()) {
      managers.erase(context);
      return std::move(made.status());
    }
    manager = std::move(*made);
    if (!manager) {
      managers.erase(context);
      return noStorage();
    }
    manager->setObserver(observer);
  }
  if (unsigned(context.index) < quickCount)
    quick[kind][context.index].store(manager.get(), std::memory_order_release);
  return manager.get();
}

std::vector<StorageManager *> Storage::State::all() {
  std::lock_guard lock(mutex);
  std::vector<StorageManager *> result;
  for (auto &[context, manager] : managers)
    result.push_back(manager.get());
  return result;
}

Storage::Storage(const StorageOptions &options)
    : known(new (std::nothrow) State(options)) {}
Storage::~Storage() = default;

/// The state; in the child of a fork() a fresh one, since a thread that is not
/// there may hold the locks of the parent's.
Storage::State *Storage::state() {
  if (guard.isChild()) [[unlikely]]
    guard.adopt([this] {
      // In its place, for which no memory is needed. What it held stays, with
      // its blocks: it is not ended.
      if (known) {
        StorageOptions options = known->options;
        std::construct_at(known.get(), options);
      }
    });
  return known.get();
}

Result<StorageManager *> Storage::manager(Context context) {
  State *now = state();
  return now ? now->find(context) : noStorage();
}

Result<SharedManager *> Storage::sharedManager(Context context) {
  if (context.kind != DeviceKind::CPUShared)
    return makeError(StatusCode::InvalidArgument,
                     "expected a cpu_shared device, got %s",
                     toString(context).c_str());
  Result<StorageManager *> manager = this->manager(context);
  if (!manager.isOk())
    return std::move(manager.status());
  // setManager() takes none of this kind.
  return static_cast<SharedManager *>(*manager);
}

Status Storage::setManager(Context context, StorageManagerPtr manager) {
  if (!context.isValid() || !manager || manager->context() != context ||
      context.kind == DeviceKind::CPUShared)
    return makeError(StatusCode::InvalidArgument,
                     "expected a manager of %s, other than cpu_shared",
                     toString(context).c_str());
  State *now = state();
  if (!now)
    return noStorage();
  std::lock_guard lock(now->mutex);
  manager->setObserver(now->observer);
  if (!now->managers.try_emplace(context, std::move(manager)).second)
    return makeError(StatusCode::InvalidArgument,
                     "%s already has a storage manager",
                     toString(context).c_str());
  return Status::ok();
}

Result<Allocation> Storage::allocate(Context context, size_t bytes,
                                     StreamId stream) {
  Result<StorageManager *> manager = this->manager(context);
  if (!manager.isOk())
    return std::move(manager.status());
  return (*manager)->allocate(bytes, stream);
}

void Storage::setObserver(StorageObserver *observer) {
  State *now = state();
  if (!now)
    return;
  std::lock_guard lock(now->mutex);
  now->observer = observer;
  for (auto &[context, manager] : now->managers)
    manager->setObserver(observer);
}

void Storage::forEach(const std::function<void(StorageManager &)> &visit) {
  // Without the lock, which the visitor may need and must not wait for.
  if (State *now = state())
    for (StorageManager *manager : now->all())
      visit(*manager);
}

void Storage::trim() {
  forEach([](StorageManager &manager) { manager.trim(); });
}
