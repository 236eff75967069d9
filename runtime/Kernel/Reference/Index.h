// SPDX-License-Identifier: Apache-2.0
//
// Indices that come as data: gathers and scatters check each before use.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_INDEX_H
#define DLC_RUNTIME_KERNEL_REFERENCE_INDEX_H

#include "ShapeRule.h"

#include <cinttypes>

namespace dlc::rt::ref {

/// Reads element `position` of an i32 or i64 tensor as an index into a
/// dimension of size `extent`; negative indices count from its end.
inline Status readIndex(const TensorView &indices, int64_t position,
                        int64_t extent, int64_t &index) {
  index = indices.type == DLC_I32 ? indices.as<int32_t>()[position]
                                  : indices.as<int64_t>()[position];
  if (index < -extent || index >= extent)
    return DLC_INVALID("expected an index in [%" PRId64 ", %" PRId64
                       "), got %" PRId64 " at position %" PRId64,
                       -extent, extent, index, position);
  if (index < 0)
    index += extent;
  return Status::ok();
}

/// Reads the coordinates at `position` and after as one offset into a tensor,
/// for its dimensions from `first` on.
inline Status readIndexTuple(const TensorView &indices, int64_t position,
                             std::span<const int64_t> shape,
                             std::span<const uint64_t> strides, size_t first,
                             size_t count, uint64_t &offset) {
  offset = 0;
  for (size_t i = 0; i < count; ++i) {
    int64_t index;
    DLC_RETURN_IF_ERROR(
        readIndex(indices, position + i, shape[first + i], index));
    offset += strides[first + i] * index;
  }
  return Status::ok();
}

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_INDEX_H
