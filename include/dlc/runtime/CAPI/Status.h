// SPDX-License-Identifier: Apache-2.0
//
// From Status to the C API's DlcStatus, for every implementation of the API.

#ifndef DLC_RUNTIME_CAPI_STATUS_H
#define DLC_RUNTIME_CAPI_STATUS_H

#include "dlc-c/Common.h"
#include "dlc/runtime/Base/Status.h"

namespace dlc::rt {

/// Null when `status` is OK; otherwise a handle for the caller to destroy.
DlcStatus wrap(Status status);

/// What `status` says; ends the handle.
Status unwrap(DlcStatus status);

} // namespace dlc::rt

#endif // DLC_RUNTIME_CAPI_STATUS_H
