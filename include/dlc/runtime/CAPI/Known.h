// SPDX-License-Identifier: Apache-2.0
//
// What callers of the C API know of variables, for every implementation of it.

#ifndef DLC_RUNTIME_CAPI_KNOWN_H
#define DLC_RUNTIME_CAPI_KNOWN_H

#include "dlc/abi/Tensor.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"

#include <cstring>
#include <vector>

namespace dlc::rt {

/// Notes a shape in `shapes`, a map by name; dims below 0 are open. Errors:
/// InvalidArgument (null, a rank out of range, a second shape of the name).
template <typename Map>
Status noteShape(const char *name, const int64_t *dims, int64_t rank,
                 Map &shapes) {
  if (!name || (rank > 0 && !dims))
    return makeError(StatusCode::InvalidArgument, "expected %s, got null",
                     name ? "the shape of an input" : "the name of an input");
  if (rank < 0 || rank > DLC_MAX_RANK)
    return makeError(StatusCode::InvalidArgument,
                     "expected a rank of 0 to %d for input '%s', got %lld",
                     DLC_MAX_RANK, name, static_cast<long long>(rank));
  std::vector<int64_t> shape(dims, dims + rank);
  for (int64_t &dim : shape)
    dim = dim < 0 ? kUnknownDim : dim;
  if (!shapes.emplace(name, std::move(shape)).second)
    return makeError(StatusCode::InvalidArgument,
                     "expected one shape for input '%s', got two", name);
  return Status::ok();
}

/// What a caller gave as an element type, which need not be one.
inline int32_t numberOf(const DlcDataType &type) {
  int32_t number;
  static_assert(sizeof(number) == sizeof(type));
  std::memcpy(&number, &type, sizeof(number));
  return number;
}

/// Notes an element type in `types`, a map by name. Errors: InvalidArgument
/// (null, no element type of programs, a second one of the name).
template <typename Map>
Status noteType(const char *name, const DlcDataType &type, Map &types) {
  if (!name)
    return makeError(StatusCode::InvalidArgument,
                     "expected the name of an input, got null");
  int32_t number = numberOf(type);
  if (number <= DLC_INVALID_TYPE || number > kLastType)
    return makeError(StatusCode::InvalidArgument,
                     "expected an element type of input '%s', got %d", name,
                     number);
  if (!isComputable(type))
    return makeError(StatusCode::InvalidArgument,
                     "expected an element type of programs for input '%s', got "
                     "%s",
                     name, std::string(nameOf(type)).c_str());
  if (!types.emplace(name, type).second)
    return makeError(StatusCode::InvalidArgument,
                     "expected one type for input '%s', got two", name);
  return Status::ok();
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_CAPI_KNOWN_H
