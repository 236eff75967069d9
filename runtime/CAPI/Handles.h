// SPDX-License-Identifier: Apache-2.0
//
// Handles and values that several files of the C API take.

#ifndef DLC_RUNTIME_CAPI_HANDLES_H
#define DLC_RUNTIME_CAPI_HANDLES_H

#include "dlc-c/NDArray.h"
#include "dlc-c/Profiler.h"
#include "dlc-c/Runtime.h"
#include "dlc/abi/Tensor.h"
#include "dlc/runtime/Base/ForkGuard.h"
#include "dlc/runtime/Base/Shared.h"
#include "dlc/runtime/CAPI/Known.h"
#include "dlc/runtime/CAPI/Status.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Engine/Engine.h"
#include "dlc/runtime/Engine/Profiler.h"
#include "dlc/runtime/NDArray/NDArray.h"

#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>

/// Arrays share the engine; the handle's end closes it (see dlcEngineDestroy).
struct DlcEngineImpl {
  std::shared_ptr<dlc::rt::Engine> engine;
};

struct DlcProfilerImpl {
  std::shared_ptr<dlc::rt::Profiler> profiler;
  std::string text = {}; ///< What was handed out last.
};

namespace dlc::rt {

/// A storage with the profiler that it tells, for as long as it does; in the
/// child of a fork() none, as at first.
struct ProfiledStorage {
  explicit ProfiledStorage(const StorageOptions &options = {})
      : options(options), storage(options) {}
  ~ProfiledStorage() { setProfiler(nullptr); } // Blocks may live on.

  void setProfiler(std::shared_ptr<Profiler> next) {
    if (guard.isChild()) [[unlikely]]
      guard.adopt([this] {
        // A thread that is not here may hold the mutex, in the middle of a
        // change: it begins anew, and is not ended before.
        std::construct_at(&told);
      });
    std::lock_guard lock(told.mutex);
    storage.setObserver(next.get());
    told.profiler.swap(next); // After that nobody is told the one before.
  }

  const StorageOptions options;
  Storage storage;

private:
  struct Told {
    std::mutex mutex; ///< Guards `profiler`.
    std::shared_ptr<Profiler> profiler;
  };
  ForkGuard guard;
  Told told;
};

/// The storage alone, which keeps all of it.
inline std::shared_ptr<Storage>
storageOf(const std::shared_ptr<ProfiledStorage> &shared) {
  return {shared, &shared->storage};
}

} // namespace dlc::rt

struct DlcStorageImpl {
  std::shared_ptr<dlc::rt::ProfiledStorage> shared;
  dlc::rt::Storage &storage() const { return shared->storage; }
};

struct DlcResourcesImpl {
  std::shared_ptr<dlc::rt::ResourceManager> manager;
};

namespace dlc::rt {
/// Null: the defaults.
Status readResourceOptions(const DlcResourceOptions *given,
                           ResourceOptions &options);
} // namespace dlc::rt

struct DlcArrayRuntimeImpl {
  std::shared_ptr<dlc::rt::ArrayRuntime> runtime;
  std::shared_ptr<dlc::rt::ProfiledStorage> storage;
};

struct DlcNDArrayImpl {
  dlc::rt::NDArray array;
};

struct DlcPoolImpl {
  std::unique_ptr<dlc::rt::WorkerPool> pool;
};

namespace dlc::rt {

inline Status missing(const char *what) {
  return makeError(StatusCode::InvalidArgument, "expected %s, got null", what);
}

/// A profiler that there is, and is this process's.
inline Status checkProfiler(DlcProfiler profiler) {
  if (!profiler)
    return missing("a profiler");
  if (profiler->profiler->isInherited())
    return makeError(StatusCode::Unavailable,
                     "the profiler belongs to another process, of which this "
                     "is a fork(); make one of its own");
  return Status::ok();
}

inline Status noMemory(const char *what) {
  return makeError(StatusCode::OutOfMemory, "no memory for %s", what);
}

inline Status outOfRange(const char *what, int64_t value) {
  return makeError(StatusCode::InvalidArgument, "expected %s, got %lld", what,
                   static_cast<long long>(value));
}

/// What a caller gave is an element type.
inline Status checkElementType(const DlcDataType &type) {
  int32_t number = numberOf(type);
  if (number > DLC_INVALID_TYPE && number <= kLastType)
    return Status::ok();
  return outOfRange("an element type", number);
}

inline Status checkIndex(size_t index, size_t count) {
  if (index < count)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected an index below %zu, got %zu", count, index);
}

inline Status toShape(const int64_t *shape, int32_t rank,
                      std::span<const int64_t> &result) {
  if (rank < 0 || rank > DLC_MAX_RANK)
    return makeError(StatusCode::InvalidArgument,
                     "expected a rank of 0 to %d, got %d", DLC_MAX_RANK,
                     int(rank));
  if (rank && !shape)
    return missing("a shape");
  result = {shape, size_t(rank)};
  return Status::ok();
}

inline Status toUse(DlcVariableUse given, VariableUse &use) {
  if (given != DLC_USE_READ && given != DLC_USE_WRITE)
    return makeError(StatusCode::InvalidArgument,
                     "expected a read or a write, got %d", int(given));
  use = given == DLC_USE_READ ? VariableUse::Read : VariableUse::Write;
  return Status::ok();
}

inline Status toContext(DlcContext given, Context &context) {
  if (unsigned(given.kind) >= deviceKindCount || given.index < 0 ||
      given.index > INT16_MAX)
    return makeError(StatusCode::InvalidArgument,
                     "expected a device, got kind %d with number %d",
                     int(given.kind), int(given.index));
  context = {DeviceKind(given.kind), int16_t(given.index)};
  return Status::ok();
}

/// The array of a handle; a null one for null, which all functions refuse.
inline const NDArray &toArray(DlcNDArray array) {
  static const NDArray none;
  return array ? array->array : none;
}

/// No caller has more; a negative count is a huge one.
inline Status checkArrayCount(size_t count) {
  return count <= INT32_MAX
             ? Status::ok()
             : makeError(StatusCode::InvalidArgument,
                         "expected at most 2147483647 arrays, got %zu", count);
}

inline Status toArrays(const DlcNDArray *arrays, size_t count,
                       std::vector<NDArray> &result) {
  DLC_RETURN_IF_ERROR(checkArrayCount(count));
  if (count && !arrays)
    return missing("arrays");
  for (size_t i = 0; i != count; ++i)
    result.push_back(toArray(arrays[i]));
  return Status::ok();
}

/// Moves what a handle is made of into a new one.
template <typename Handle, typename... Parts>
DlcStatus makeHandle(Handle **place, Parts &&...parts) {
  auto *made = new (std::nothrow) Handle{std::forward<Parts>(parts)...};
  if (!made)
    return wrap(noMemory("a handle"));
  *place = made;
  return nullptr;
}

/// Moves a result into a new handle.
inline DlcStatus handOut(Result<NDArray> result, DlcNDArray *array) {
  if (!result.isOk())
    return wrap(std::move(result.status()));
  return makeHandle(array, std::move(*result));
}

inline DlcVariable fromVariable(Variable variable) {
  return {variable.index, variable.stamp};
}

inline DlcContext fromContext(Context context) {
  return {DlcDeviceKind(context.kind), context.index};
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_CAPI_HANDLES_H
