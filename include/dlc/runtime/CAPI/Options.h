// SPDX-License-Identifier: Apache-2.0
//
// Structures that callers of other versions know another part of, for every
// implementation of the C API.

#ifndef DLC_RUNTIME_CAPI_OPTIONS_H
#define DLC_RUNTIME_CAPI_OPTIONS_H

#include "dlc/runtime/Base/Status.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace dlc::rt {

/// A structure that the caller says the size of has at least that field.
inline Status checkStructSize(size_t size) {
  if (size < sizeof(size_t))
    return makeError(StatusCode::InvalidArgument,
                     "expected structSize to be set, got %zu", size);
  return Status::ok();
}

/// Fills as much of `*target` as its caller knows of. Errors: InvalidArgument
/// (structSize).
template <typename T> Status fillStruct(T *target, T value) {
  DLC_RETURN_IF_ERROR(checkStructSize(target->structSize));
  value.structSize = target->structSize;
  std::memcpy(target, &value, std::min(sizeof(T), target->structSize));
  return Status::ok();
}

/// Copies the options that the caller knows of over the defaults in `known`.
/// What a newer caller sets beyond our structure must not be dropped silently.
/// Errors: InvalidArgument (structSize), Unsupported.
template <typename T> Status readOptions(const T &given, T &known) {
  size_t size = given.structSize;
  DLC_RETURN_IF_ERROR(checkStructSize(size));
  const char *bytes = reinterpret_cast<const char *>(&given);
  for (size_t i = sizeof(known); i < size; ++i)
    if (bytes[i])
      return makeError(StatusCode::Unsupported,
                       "expected options of at most %zu bytes, got a value at "
                       "byte %zu: it needs a newer version",
                       sizeof(known), i);
  std::memcpy(&known, bytes, std::min(size, sizeof(known)));
  return Status::ok();
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_CAPI_OPTIONS_H
