// SPDX-License-Identifier: Apache-2.0
//
// What every reader of this folder asks of the elements it was given.

#ifndef DLC_RUNTIME_IO_ELEMENTS_H
#define DLC_RUNTIME_IO_ELEMENTS_H

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"

#include <cstddef>
#include <span>

namespace dlc::rt {

/// All bytes are elements of the type: a bool is 0 or 1, since reading another
/// value as one would be undefined. Reports with `code`.
inline Status checkElements(DataType type, std::span<const std::byte> bytes,
                            StatusCode code) {
  if (type != DLC_BOOL)
    return Status::ok();
  for (std::byte byte : bytes)
    if (std::to_integer<unsigned>(byte) > 1)
      return makeError(code, "expected a bool of 0 or 1, got %u",
                       std::to_integer<unsigned>(byte));
  return Status::ok();
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_IO_ELEMENTS_H
