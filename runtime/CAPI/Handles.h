// SPDX-License-Identifier: Apache-2.0
//
// Handles and values that several files of the C API take.

#ifndef DLC_RUNTIME_CAPI_HANDLES_H
#define DLC_RUNTIME_CAPI_HANDLES_H

#include "dlc-c/Engine.h"
#include "dlc/runtime/Engine/Engine.h"

#include <memory>

/// Arrays share the engine; the handle's end closes it (see dlcEngineDestroy).
struct DlcEngineImpl {
  std::shared_ptr<dlc::rt::Engine> engine;
};

namespace dlc::rt {

inline Status missing(const char *what) {
  return makeError(StatusCode::InvalidArgument, "expected %s, got null", what);
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

inline DlcContext fromContext(Context context) {
  return {DlcDeviceKind(context.kind), context.index};
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_CAPI_HANDLES_H
