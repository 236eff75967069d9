// SPDX-License-Identifier: Apache-2.0
//
// Indices that come as data: gathers and scatters check each before use.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_INDEX_H
#define DLC_RUNTIME_KERNEL_REFERENCE_INDEX_H

#include "ShapeRule.h"
#include "Walk.h"

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

/// Calls function(offset, position) for each element of `indices`, which says
/// where along `axis` it is in a tensor of that shape; along other dimensions
/// it is where the index is.
template <typename Function>
Status forEachIndexed(std::span<const int64_t> shape, const TensorView &indices,
                      int64_t axis, Function &&function) {
  if (indices.size() == 0)
    return Status::ok();
  const Walk walk = rowMajorWalk(shape);
  const size_t last = shape.size() - 1;
  const int64_t extent = shape[axis], inner = indices.shape[last];
  const bool isAlongLast = static_cast<int64_t>(last) == axis;
  auto visit = [&](const auto *numbers) {
    int64_t position = 0;
    for (IndexCounter at(std::span(indices.shape).first(last)); !at.isDone();
         at.next()) {
      uint64_t base = 0;
      for (size_t i = 0; i < last; ++i)
        base += static_cast<int64_t>(i) == axis ? 0 : walk.strides[i] * at[i];
      for (int64_t j = 0; j < inner; ++j, ++position) {
        int64_t index = numbers[position];
        if (index < -extent || index >= extent)
          return readIndex(indices, position, extent, index);
        index += index < 0 ? extent : 0;
        function(base + walk.strides[axis] * index + (isAlongLast ? 0 : j),
                 position);
      }
    }
    return Status::ok();
  };
  return indices.type == DLC_I32 ? visit(indices.as<int32_t>())
                                 : visit(indices.as<int64_t>());
}

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_INDEX_H
