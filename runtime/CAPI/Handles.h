// SPDX-License-Identifier: Apache-2.0
//
// Handles and values that several files of the C API take.

#ifndef DLC_RUNTIME_CAPI_HANDLES_H
#define DLC_RUNTIME_CAPI_HANDLES_H

#include "dlc-c/NDArray.h"
#include "dlc-c/Runtime.h"
#include "dlc/abi/Tensor.h"
#include "dlc/runtime/CAPI/Status.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Engine/Engine.h"
#include "dlc/runtime/NDArray/NDArray.h"

#include <memory>
#include <span>

/// Arrays share the engine; the handle's end closes it (see dlcEngineDestroy).
struct DlcEngineImpl {
  std::shared_ptr<dlc::rt::Engine> engine;
};

struct DlcArrayRuntimeImpl {
  std::shared_ptr<dlc::rt::ArrayRuntime> runtime;
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

inline Status toArrays(const DlcNDArray *arrays, size_t count,
                       std::vector<NDArray> &result) {
  if (count && !arrays)
    return missing("arrays");
  for (size_t i = 0; i != count; ++i)
    result.push_back(toArray(arrays[i]));
  return Status::ok();
}

/// Moves a result into a new handle.
inline DlcStatus handOut(Result<NDArray> result, DlcNDArray *array) {
  if (!result.isOk())
    return wrap(std::move(result.status()));
  *array = new DlcNDArrayImpl{std::move(*result)};
  return nullptr;
}

inline DlcContext fromContext(Context context) {
  return {DlcDeviceKind(context.kind), context.index};
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_CAPI_HANDLES_H
